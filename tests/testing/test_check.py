"""`check_tool` on good tools, and on bad ones: every check is seen failing."""

import importlib
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field, HttpUrl, Json, PastDate, SecretStr, WithJsonSchema
from pydantic_core import PydanticCustomError
from tests.testing.good_tools import addresses, maps, never, nothing, numbers, order, texts, times, tree

from toolroll import Tool, tool
from toolroll.errors import ArgumentsRefused, UsageError
from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.define.wrappers import WrapperTool, renamed
from toolroll.kernel.strict.convert import StrictSchema
from toolroll.testing import Finding, check_tool
from toolroll.testing import report as extra
from toolroll.testing import strict as strict_module
from toolroll.testing.stability import describe_in_child, description_bytes, import_paths

GOOD = [times, numbers, texts, tree, maps, addresses, nothing, order]


@pytest.mark.parametrize("good", GOOD, ids=lambda one: one.name)
def test_K10_K11_K12_a_good_tool_passes_unrun(good: Tool) -> None:
    report = check_tool(good, examples=30)
    assert report.tool == good.name
    assert [line.partition(":")[0] for line in report.held] == ["schema", "bytes", "arguments", "strict"]
    assert {finding.check for finding in report.findings} <= {"strict"}
    assert str(report).startswith(f"{good.name} passed:\n- schema: ")


def failure(bad: Tool) -> str:
    with pytest.raises(AssertionError) as caught:
        check_tool(bad, examples=30)
    text = str(caught.value)
    assert text.startswith(f"{bad.name} did not pass:\n- ")
    return text


class Described(WrapperTool):
    """A tool that is described by another schema than it has."""

    def __init__(self, inner: Tool, parameters: Callable[[], JsonSchema]) -> None:
        super().__init__(inner)
        self._parameters = parameters

    @property
    def parameters(self) -> JsonSchema:
        return self._parameters()


def described(**schema: object) -> Tool:
    return Described(nothing, lambda: schema)


CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({**CLOSED, "required": "all"}, "schema: parameters.required is not draft-07: 'all' is not of type 'array'."),
        ({"type": "string"}, "schema: arguments must be an object, and this schema is of type 'string'."),
        ({"type": "object"}, "schema: parameters takes fields it does not name: additionalProperties is missing."),
        (
            {**CLOSED, "properties": {"a": {"type": "array", "items": {"anyOf": [{"type": "object"}]}}}},
            "schema: parameters.a[] takes fields it does not name",
        ),
        (
            {**CLOSED, "properties": {"a": {"$ref": "#/definitions/A"}}},
            "schema: parameters.a refers to #/definitions/A, which is not there.",
        ),
    ],
)
def test_K10_a_bad_schema_is_found(schema: JsonSchema, problem: str) -> None:
    assert problem in failure(described(**schema))


def test_K10_a_pattern_that_only_one_engine_reads_is_found() -> None:
    @tool
    def letters(text: Annotated[str, Field(pattern=r"^\p{L}+$")]) -> str:
        """Take letters."""
        return never()

    assert "parameters.properties.text.pattern is not draft-07" in failure(letters)


def test_a_default_that_the_schema_does_not_take_is_worth_knowing() -> None:
    @tool
    def sloppy(n: Annotated[int, Field(gt=0)] = 0) -> str:
        """Take a number."""
        return never()

    [finding] = check_tool(sloppy, examples=10).findings
    assert finding.text == "the default of 'n' (0) is not what the schema says 'n' takes."


def test_K12_a_description_that_changes_here_is_found() -> None:
    numbers = iter(range(1000))
    changing = Described(nothing, lambda: {**CLOSED, "description": f"version {next(numbers)}"})
    text = failure(changing)
    assert 'bytes: described twice, it reads differently, from ...scription":"version ' in text
    assert "Prompt caches depend on it" in text


UNSTABLE = """
from typing import Literal
from toolroll import tool
WORDS = {f"word{n}" for n in range(20)}

@tool
def choose(word: Literal[tuple(WORDS)]) -> str:
    "Choose a word."
    return word
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Any]:
    """Write a module and import it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def load_module(name: str, source: str) -> Any:
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
        module = importlib.import_module(name)
        monkeypatch.setitem(sys.modules, name, module)  # so that it is taken away again
        return module

    return load_module


def test_K12_a_description_that_depends_on_hashes_is_found(load: Callable[[str, str], Any]) -> None:
    choose = load("unstable_words", UNSTABLE).choose
    assert "bytes: another process, with other hashes, describes it differently" in failure(choose)


def test_K12_sorted_it_is_the_same_in_another_process(
    load: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = load("stable_words", UNSTABLE.replace("tuple(WORDS)", "tuple(sorted(WORDS))")).choose
    for seed in ("0", "1"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        assert "bytes: the same twice, and in another process" in check_tool(choose, examples=1).held


def test_K12_the_module_that_defines_a_tool_is_asked_first(load: Callable[[str, str], Any]) -> None:
    home = load("words_home", UNSTABLE.replace("tuple(WORDS)", "'a', 'b'"))
    load("a_user_of_words", "from words_home import choose")
    load("words_again", "from words_home import choose")
    assert import_paths(home.choose) == ["words_home:choose", "a_user_of_words:choose", "words_again:choose"]
    assert import_paths(renamed(home.choose, "other")) == []


def test_a_tool_without_a_home_is_only_described_here() -> None:
    held = check_tool(renamed(texts, "other"), examples=1).held
    assert "bytes: the same twice; another process was not asked, for no module has this tool by name" in held


def test_a_home_that_cannot_be_imported_again_is_no_problem(load: Callable[[str, str], Any], tmp_path: Path) -> None:
    choose = load("lost_words", UNSTABLE.replace("tuple(WORDS)", "'a', 'b'")).choose
    (tmp_path / "lost_words.py").unlink()
    [line] = [line for line in check_tool(choose, examples=1).held if line.startswith("bytes")]
    assert line.endswith("could not say (none of these can be imported by name: lost_words:choose)")


def test_K12_the_child_describes_the_first_home_that_can_be_imported(
    load: Callable[[str, str], Any], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    choose = load("child_words", UNSTABLE).choose
    describe_in_child(["not_there:choose", "child_words:choose", "child_words:WORDS"])
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == description_bytes(choose)
    with pytest.raises(SystemExit, match="none of these can be imported by name: not_there:choose"):
        describe_in_child(["not_there:choose"])


def test_arguments_that_fit_the_schema_and_are_refused_are_found() -> None:
    @tool
    def lying(n: Annotated[int, WithJsonSchema({"type": "string", "maxLength": 2})]) -> str:
        """Take a number, and say it is text."""
        return never()

    text = failure(lying)
    assert "arguments: what fits the schema is refused: n: Input should be a valid integer" in text
    assert '\n  example: {"n": ""}' in text


def test_a_validator_that_breaks_is_found() -> None:
    def broken(_: int) -> int:
        raise KeyError("oops")

    @tool
    def breaking(n: Annotated[int, AfterValidator(broken)]) -> str:
        """Break."""
        return never()

    assert "what fits the schema is refused: Error executing tool: KeyError: 'oops'" in failure(breaking)


def test_a_validator_that_changes_its_mind_is_found() -> None:
    refuse = iter([True])

    def moody(n: int) -> int:
        if next(refuse, False):
            raise ValueError("not now")
        return n

    @tool
    def ask(n: Annotated[int, AfterValidator(moody)]) -> str:
        """Take a number, now and then."""
        return never()

    assert "the same arguments are taken once and refused once" in failure(ask)


def even(n: int) -> int:
    if n % 2:
        raise ValueError("must be even")
    return n


def small(n: int) -> int:
    if n > 10:
        raise PydanticCustomError("too_big", "must be small")
    return n


class Picky(WrapperTool):
    """Refuses by itself what the tool inside would take."""

    def validate(self, raw: str) -> object:
        if "a" in raw:
            raise ArgumentsRefused("no vowels")
        return super().validate(raw)


@tool
def pick(n: Annotated[int, AfterValidator(even)]) -> str:
    """Take an even number."""
    return never()


@tool
def limit(n: Annotated[int, AfterValidator(small)]) -> str:
    """Take a small number."""
    return never()


@tool
def links(url: HttpUrl, born: PastDate, price: Decimal) -> str:
    """Take what only a format describes."""
    return never()


@pytest.mark.parametrize(
    ("strict", "text"),
    [
        (pick, "n: Value error, must be even"),
        (limit, "n: must be small"),
        (links, ": Input should be"),
        (Picky(texts), "no vowels"),
    ],
)
def test_code_that_is_stricter_than_its_schema_is_reported_with_an_example(strict: Tool, text: str) -> None:
    report = check_tool(strict, examples=50)
    [finding] = report.findings
    assert finding.check == "arguments"
    assert finding.text.startswith("the code is stricter than the schema can say: ")
    assert text in finding.text or "Date should be in the past" in finding.text
    assert finding.example is not None
    with pytest.raises(ArgumentsRefused):
        strict.validate(finding.example)
    assert f"Worth knowing:\n- {finding}" in str(report)
    assert f"example: {finding.example}" in str(report)


@tool
def keep(secret: SecretStr) -> str:
    """Keep a secret."""
    return never()


@tool
def count(numbers: Iterable[int]) -> str:
    """Count."""
    return never()


@tool
def inner_json(n: Annotated[Json[int], WithJsonSchema({"type": "string", "enum": ["1"]})]) -> str:
    """Take JSON within JSON."""
    return never()


@pytest.mark.parametrize(
    ("lossy", "problem"),
    [
        (keep, 'taken, but when written again as {"secret":"**********"} it means something else.'),
        (count, 'taken, but when written again as {"numbers":[]} it means something else.'),
        (inner_json, 'taken, but not when written again as {"n":1}: n: JSON input should be string'),
    ],
)
def test_arguments_that_do_not_survive_being_written_are_found(lossy: Tool, problem: str) -> None:
    assert problem in failure(lossy)


def test_K11_a_strict_form_whose_nulls_are_refused_is_found() -> None:
    @tool
    def need(n: int) -> str:
        """Need a number."""
        return never()

    optional = {**CLOSED, "properties": {"n": {"type": "integer", "default": 0}}}
    lax = AlsoEmpty(Described(need, lambda: optional))
    text = failure(lax)
    assert "strict: null for what is left out, as openai has models write it, is refused: n: Input should be" in text
    assert '\n  example: {"n": null}' in text


class AlsoEmpty(WrapperTool):
    """Takes a call without arguments, whatever the tool inside says."""

    def validate(self, raw: str) -> object:
        return {} if raw == "{}" else super().validate(raw)


STRICT = {**CLOSED, "required": []}


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({**STRICT, "type": "objekt"}, "parameters.type is not draft-07"),
        ({**STRICT, "properties": {"a": {"type": "string", "minLength": 1}}, "required": ["a"]}, "says minLength"),
        ({**STRICT, "additionalProperties": True}, "parameters is not closed."),
        ({**STRICT, "properties": {"b": {"type": "null"}, "a": {"type": "null"}}}, "does not require a, b."),
        ({**STRICT, "properties": {"a": {"type": "string"}}, "required": ["a"]}, "does not take what the schema takes"),
    ],
)
def test_K11_a_strict_form_that_is_wrong_is_found(
    form: dict[str, object], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The converter makes none of these, so one is put in its place."""
    wrong = StrictSchema(schema=form, optional_parameters=0, union_parameters=0, cost=1)
    monkeypatch.setattr(strict_module, "convert_to_strict", lambda _schema, _rules: wrong)
    assert "- strict: " in failure(nothing)
    assert problem in failure(nothing)


def test_K11_null_that_is_not_the_default_is_worth_knowing() -> None:
    @tool
    def page(size: int | None = 20, offset: int | None = None) -> str:
        """Show a page."""
        return never()

    [finding] = check_tool(page, examples=20).findings
    assert finding == Finding(
        check="strict",
        text="null means something else here than leaving the parameter out.",
        example='{"size": null}',  # the shortest: the form for anthropic may leave the other one out
    )


def test_K11_a_tool_without_a_strict_form_passes_and_says_why() -> None:
    [openai, anthropic] = check_tool(maps, examples=5).findings
    assert openai.text.startswith("sent as it is to openai, not strict: parameters.of: a free-form map")
    assert anthropic.text.startswith("sent as it is to anthropic, not strict: ")


def test_what_no_arguments_can_be_made_up_for_is_worth_knowing() -> None:
    nobody = Described(nothing, lambda: {**CLOSED, "properties": {"a": {"enum": []}}, "required": ["a"]})
    report = check_tool(nobody)
    [finding] = report.findings
    assert finding.text.startswith("no arguments can be made up from this schema (")
    assert report.held[-1] == "arguments: none tried"


def test_all_problems_come_at_once_with_what_is_worth_knowing() -> None:
    versions = iter(range(1000))
    bad = Described(keep, lambda: {**keep.parameters, "description": f"{next(versions)}"})
    text = failure(bad)
    assert "\n- bytes: " in text
    assert "\n- arguments: " in text
    also = failure(Described(count, lambda: {**count.parameters, "properties": {"numbers": {"type": "array"}}}))
    assert "\nAlso worth knowing:\n- strict: sent as it is to openai" in also


@pytest.mark.parametrize("name", extra.PACKAGES)
def test_a_missing_package_is_named_with_how_to_get_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=rf"check_tool needs {name}: .*pip install 'toolroll\[testing\]'"):
        check_tool(nothing)


def test_a_package_that_is_broken_itself_says_so(
    load: Callable[[str, str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_package.py").write_text("import not_there\n", encoding="utf-8")
    monkeypatch.setattr(extra, "PACKAGES", ("broken_package",))
    with pytest.raises(ModuleNotFoundError, match="not_there"):
        check_tool(nothing)
