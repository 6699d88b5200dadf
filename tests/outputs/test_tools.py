"""The two tools as a model calls them."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ImagePart, OutputRef
from toolroll.outputs.cut import cut_for_context
from toolroll.outputs.reader import StoredOutput
from toolroll.outputs.store import OutputStore
from toolroll.outputs.tools import EXEMPT, output_tools

TEXT = "".join(f"line {number}\n" for number in range(10_000))


class Desk:
    """A store and its tools."""

    def __init__(self, folder: Path) -> None:
        self.store = OutputStore(folder, run_id="run")
        self.tools = {tool.name: tool for tool in output_tools(self.store)}

    def keep(self, content: str | tuple[ImagePart, ...]) -> OutputRef:
        ref = self.store.keep("call", "tool", content)
        assert ref is not None
        return ref

    async def call(self, name: str, **arguments: object) -> ToolResult:
        return await self.tools[name].execute_raw(json.dumps(arguments))

    async def follow(self, text: str) -> ToolResult:
        """Make the call that an answer asks for."""
        return await self.tools["tool_output_cache"].execute_raw(onward(text))


def onward(text: str) -> str:
    return text.rpartition("tool_output_cache ")[2].partition("]")[0]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "outputs")


def test_K53_K54_names_parameters_and_defaults_are_the_contract(desk: Desk) -> None:
    page, grep = (tool.definition.parameters for tool in desk.tools.values())
    assert list(desk.tools) == ["tool_output_cache", "tool_output_cache_grep"]
    assert set(desk.tools) == EXEMPT
    assert [tool.effect for tool in desk.tools.values()] == ["reads", "reads"]
    assert shape(page) == {"ref_id": "string", "offset": "integer", "limit": "integer", "column": "integer"}
    assert shape(grep) == {
        "ref_id": "string",
        "pattern": "string",
        "regex": "boolean",
        "before": "integer",
        "after": "integer",
        "max_matches": "integer",
    }
    assert (page["required"], grep["required"]) == (["ref_id"], ["ref_id", "pattern"])
    defaults = shape(page, "default") | shape(grep, "default")
    assert defaults == {
        "ref_id": None,
        "offset": 0,
        "limit": 2_000,
        "column": 0,
        "pattern": None,
        "regex": False,
        "before": 0,
        "after": 0,
        "max_matches": 50,
    }


def shape(schema: Any, word: str = "type") -> dict[str, object]:
    return {name: one.get(word) for name, one in schema["properties"].items()}


async def test_K53_a_cut_output_is_read_to_its_end_by_the_calls_that_the_answers_name(desk: Desk) -> None:
    cut = cut_for_context(TEXT, desk.keep(TEXT), 20_000)
    found = cut.splitlines()[:-2]
    result = await desk.follow(cut)
    while not result.is_error:
        *rows, last = result.text.splitlines()
        found += [row.partition("\t")[2] for row in rows]
        assert len(result.text.encode()) < 52_000
        if last.endswith("This is the end.]"):
            break
        result = await desk.follow(last)
    assert "\n".join(found) + "\n" == TEXT


async def test_K53_a_clipped_line_is_read_on_by_its_window(desk: Desk) -> None:
    text = "é" * 1_000_000
    found = cut_for_context(text, desk.keep(text)).splitlines()
    joined, result = found[0], await desk.follow("\n".join(found))
    for _ in range(100):
        row, last = result.text.splitlines()
        joined += row.partition("\t")[2]
        if last.endswith("This is the end.]"):
            break
        result = await desk.follow(last)
    assert joined == text


async def test_K54_a_search_leads_to_the_page(desk: Desk) -> None:
    ref = desk.keep(TEXT)
    result = await desk.call("tool_output_cache_grep", ref_id=ref.id, pattern="line 77", max_matches=1, after=1)
    assert result.text.startswith("78:line 77\n79-line 78\n...and 110 more\n[1 of 111 matching lines.")
    page = await desk.follow(result.text)
    assert page.text.startswith("    78\tline 77\n")


async def test_K54_as_many_matches_as_there_is_room_for(desk: Desk) -> None:
    result = await desk.call("tool_output_cache_grep", ref_id=desk.keep("\n" * 5_000).id, pattern="^", regex=True)
    assert "...and 4,950 more" in result.text
    most = await desk.call(
        "tool_output_cache_grep", ref_id=desk.keep("\n" * 5_000).id, pattern="^", regex=True, max_matches=10**9
    )
    assert "...and 4,000 more" in most.text


@pytest.mark.parametrize("name", sorted(EXEMPT))
@pytest.mark.parametrize("ref_id", ["../../etc/passwd", "0" * 32, "", "\x1b[31m"], ids=ascii)
async def test_XC1_what_is_not_there_is_an_error_result(desk: Desk, name: str, ref_id: str) -> None:
    arguments = {"ref_id": ref_id, "pattern": "x"} if name.endswith("grep") else {"ref_id": ref_id}
    result = await desk.call(name, **arguments)
    assert (result.is_error, result.code) == (True, "not_found")
    assert "\x1b" not in result.text


async def test_K53_a_small_limit_goes_on_into_the_next_call(desk: Desk) -> None:
    ref = desk.keep(TEXT)
    result = await desk.call("tool_output_cache", ref_id=ref.id, limit=5)
    assert json.loads(onward(result.text)) == {"ref_id": ref.id, "offset": 5, "limit": 5}
    result = await desk.call("tool_output_cache", ref_id=ref.id, limit=999_999)
    assert json.loads(onward(result.text)) == {"ref_id": ref.id, "offset": 2_000}


async def test_K53_K54_what_was_asked_for_and_is_not_given_at_once_is_said(desk: Desk) -> None:
    ref = desk.keep(TEXT).id
    page, usual = [await desk.call("tool_output_cache", ref_id=ref, limit=limit) for limit in (99_999, 2_000)]
    assert page.text == f"{usual.text}\n[limit was 2,000, not 99,999: more is not given at once.]"
    asked = {"before": 101, "after": 100_000, "max_matches": 1_001}
    found = await desk.call("tool_output_cache_grep", ref_id=ref, pattern="line 77", **asked)
    lowered = "before was 100, not 101, after was 100, not 100,000, max_matches was 1,000, not 1,001"
    assert found.text.endswith(f"]\n[{lowered}: more is not given at once.]")
    most = await desk.call("tool_output_cache_grep", ref_id=ref, pattern="line 77", before=100, after=100)
    assert "more is not given at once" not in most.text
    image = desk.keep((ImagePart(data=b"\x89PNG", media_type="image/png"),)).id
    shown = await desk.call("tool_output_cache", ref_id=image, limit=99_999)
    assert [part.type for part in shown.content if not isinstance(part, str)] == ["text", "image", "text"]


async def test_K54_a_bad_pattern_is_an_error_result(desk: Desk) -> None:
    result = await desk.call("tool_output_cache_grep", ref_id=desk.keep("x").id, pattern="(", regex=True)
    assert (result.is_error, result.code) == (True, "invalid_pattern")
    assert "unclosed group" in result.text


async def test_K56_an_image_comes_back_as_a_part(desk: Desk) -> None:
    image = ImagePart(data=b"\x89PNG", media_type="image/png")
    result = await desk.call("tool_output_cache", ref_id=desk.keep((image,)).id)
    assert result.type == "parts"
    assert result.content[1:] == (image,)


@pytest.mark.parametrize("name", ["tool_output_cache", "tool_output_cache_grep"])
async def test_K57_an_output_that_goes_while_it_is_read_is_an_error_result_and_no_fault(
    desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A person may delete a run that is going on."""
    ref, found = desk.keep(TEXT), OutputStore.open

    def opened(store: OutputStore, ref_id: str) -> StoredOutput:
        kept = found(store, ref_id)
        kept.data_path.unlink()
        return kept

    monkeypatch.setattr(OutputStore, "open", opened)
    result = await desk.call(name, ref_id=ref.id, **({"pattern": "line"} if "grep" in name else {}))
    assert (result.is_error, result.code) == (True, "not_found")
    assert result.text.startswith(f"There is no output '{ref.id}' in this run.")
    assert caplog.records == []
