"""What a return value becomes (K30), what a message holds (K31), and what counts as failed (K32)."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, computed_field
from pydantic.dataclasses import dataclass as checked_dataclass

from toolroll.kernel.call.result import Done, ToolResult, reports_failure, to_result
from toolroll.kernel.data.messages import DocumentPart, ImagePart, Part, TextPart, ToolMessage

TEXT = TextPart(text="see")
IMAGE = ImagePart(data=b"\x89PNG", media_type="image/png")
DOCUMENT = DocumentPart(data=b"%PDF", media_type="application/pdf", title="t")


class Sum(BaseModel):
    total: int


@dataclass
class Box:
    total: int


class Row(TypedDict):
    total: int


@pytest.mark.parametrize("text", ["", "plain", '{"ok": false}', "Привіт"])
def test_K30_a_string_is_text(text: str) -> None:
    result = to_result(text)
    assert (result.type, result.value, result.text, result.is_error) == ("text", text, text, False)
    assert result.content == text


@pytest.mark.parametrize(
    "value",
    [[TEXT], [TEXT, IMAGE, DOCUMENT], (IMAGE, TEXT), [IMAGE]],
)
def test_K30_a_list_of_nothing_but_parts_is_parts(value: list[Part]) -> None:
    result = to_result(value)
    assert (result.type, result.content) == ("parts", tuple(value))
    assert result.text == ("see" if TEXT in value else "")


@pytest.mark.parametrize("part", [TEXT, IMAGE, DOCUMENT])
def test_K30_a_single_part_is_parts(part: Part) -> None:
    assert to_result(part).content == (part,)


def test_K30_the_texts_among_parts_are_joined() -> None:
    assert to_result([TEXT, IMAGE, TextPart(text="more")]).text == "see\nmore"


@pytest.mark.parametrize("value", [[], (), [TEXT, "x"], ["x", IMAGE], [1], {"a": TEXT}])
def test_K30_a_list_of_anything_else_is_json(value: object) -> None:
    result = to_result(value)
    assert (result.type, result.value) == ("json", value)


@pytest.mark.parametrize(
    "made",
    [ToolResult.of_text("a"), ToolResult.of_json([1]), ToolResult.failure("b", code="c"), ToolResult("text", 1, "x")],
)
def test_K30_a_result_stays_as_it_is(made: ToolResult) -> None:
    assert to_result(made) is made


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Sum(total=1), '{"total":1}'),
        (Box(1), '{"total":1}'),
        (Row(total=1), '{"total":1}'),
        ([Sum(total=1), Box(2)], '[{"total":1},{"total":2}]'),
        (None, "null"),
        (5, "5"),
        (True, "true"),
        (b"bytes", '"bytes"'),
        (SimpleNamespace(a=1), '"namespace(a=1)"'),
    ],
)
def test_K30_everything_else_is_json_and_keeps_its_value(value: object, text: str) -> None:
    result = to_result(value)
    assert (result.type, result.text, result.is_error, result.code) == ("json", text, False, None)
    assert result.value is value


def test_K31_a_message_holds_text_json_or_parts() -> None:
    assert to_result("a").to_message(call_id="c", name="n") == ToolMessage(call_id="c", name="n", content="a")
    assert to_result({"é": 1}).to_message(call_id="c", name="n").content == '{"é":1}'
    assert to_result([IMAGE, TEXT]).to_message(call_id="c", name="n").content == (IMAGE, TEXT)
    failed = ToolResult.failure({"why": "x"}, code="y").to_message(call_id="c", name="n")
    assert (failed.content, failed.is_error) == ('{"why":"x"}', True)


def test_K31_no_content_holds_half_of_a_surrogate_pair() -> None:
    half = "a\ud800"
    results = [
        to_result(half),
        to_result([half]),
        to_result([TextPart(text=half), IMAGE]),
        ToolResult.failure(half, code="x"),
        ToolResult.failure({"a": half}, code="x"),
        to_result(Done(half)),
    ]
    for result in results:
        assert "a\ufffd" in result.text
        content = (
            result.content
            if isinstance(result.content, str)
            else "".join(part.text for part in result.content if isinstance(part, TextPart))
        )
        content.encode()


class OkModel(BaseModel):
    ok: bool = False
    error: str = "reason"


class SuccessModel(BaseModel):
    success: bool = False
    tags: set[str] = set()


class ErrorModel(BaseModel):
    error: bool = True


class AliasedModel(BaseModel):
    went_well: Annotated[bool, Field(serialization_alias="success")] = False


class OpenModel(BaseModel):
    model_config = ConfigDict(extra="allow")


class ComputedModel(BaseModel):
    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def ok(self) -> bool:
        return False


class RootedModel(RootModel[dict[str, bool]]):
    pass


@dataclass
class OkData:
    ok: bool = False


@dataclass(slots=True, frozen=True)
class SlottedData:
    success: bool = False


@checked_dataclass
class CheckedData:
    error: bool = True


FAILED: list[object] = [
    {"ok": False},
    {"ok": False, "success": True},
    {"success": False, "why": "x"},
    {"error": True},
    OrderedDict(error=True),
    MappingProxyType({"ok": False}),
    OkModel(),
    SuccessModel(),
    ErrorModel(),
    AliasedModel(),
    OpenModel.model_validate({"ok": False}),
    ComputedModel(),
    RootedModel({"ok": False}),
    OkData(),
    SlottedData(),
    CheckedData(),
]


@pytest.mark.parametrize("value", FAILED, ids=repr)
def test_K32_one_rule_for_structured_failures(value: object) -> None:
    result = to_result(value)
    assert (result.is_error, result.code, result.type) == (True, "tool_failed", "json")
    assert result.value is value
    assert result.to_message(call_id="c", name="n").is_error


class HiddenModel(BaseModel):
    ok: Annotated[bool, Field(exclude=True)] = False
    total: int = 1


class RenamedModel(BaseModel):
    ok: Annotated[bool, Field(serialization_alias="checked")] = False


FINE: list[object] = [
    {"ok": True},
    {"success": True, "error": False},
    {"error": None},
    {"error": "a text about it"},
    {"ok": 0},
    {"ok": None},
    {"error": 1},
    {"result": {"ok": False}},
    [{"ok": False}],
    "ok: false",
    OkModel(ok=True, error="none"),
    ErrorModel(error=False),
    OkData(ok=True),
    SlottedData(success=True),
    OkModel,
    OkData,
    HiddenModel(),
    RenamedModel(),
    RootedModel({"ok": True}),
    None,
]


@pytest.mark.parametrize("value", FINE, ids=repr)
def test_K32_what_does_not_say_so_has_not_failed(value: object) -> None:
    result = to_result(value)
    assert (result.is_error, result.code) == (False, None)


@pytest.mark.parametrize(
    ("value", "failed"), [({"ok": False}, True), ({"ok": True}, False), ([], False), ("ok", False), (None, False)]
)
def test_K32_the_rule_by_itself(value: Mapping[str, object], failed: bool) -> None:
    assert reports_failure(value) is failed


def test_K34_a_failure_is_text_or_json() -> None:
    text = ToolResult.failure("not there", code="missing")
    assert (text.type, text.text, text.is_error, text.code) == ("text", "not there", True, "missing")
    json = ToolResult.failure({"ok": True, "n": 1}, code="odd")
    assert (json.type, json.text, json.is_error, json.code) == ("json", '{"ok":true,"n":1}', True, "odd")


def test_K35_done_is_final() -> None:
    result = to_result(Done("finished"))
    assert (result.type, result.text, result.is_final, result.is_error) == ("text", "finished", True, False)
    assert to_result(Done()).text == ""
    assert str(Done("why")) == "why"


class Odd(Done):
    def __init__(self) -> None:
        pass


def test_K35_done_with_something_else_than_text_ends_the_run_too() -> None:
    message: str = {"answer": 42}  # type: ignore[assignment]  # what an unchecked caller may pass
    result = to_result(Done(message))
    assert (result.text, result.is_final) == ('{"answer":42}', True)
    assert to_result(Odd()).is_final
