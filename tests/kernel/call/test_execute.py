"""The executor: whatever comes in, and whatever a tool does, a result comes out (K3, K32-K35, XL6, XJ5)."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernel.stand_ins import Book, Disk, Person
from typing_extensions import TypedDict

from toolroll.errors import FileMissing, JsonRefused, ToolFailure, ToolTimeout
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.execute import execute
from toolroll.kernel.call.result import Done, ToolResult
from toolroll.kernel.define.decorator import define_tool, tool
from toolroll.kernel.define.tool import Tool, ToolDefinition
from toolroll.kernel.define.wrappers import WrapperTool
from toolroll.kernel.failures import is_being_cancelled
from toolroll.safe.limits import MAX_ERROR_MESSAGE_CHARACTERS


@tool
async def double(number: int, label: str = "") -> dict[str, object]:
    """Double a number."""
    return {"label": label, "number": 2 * number}


def test_K3_a_tool_has_a_name_a_description_and_a_definition() -> None:
    assert (double.name, double.description) == ("double", "Double a number.")
    assert double.definition == ToolDefinition(
        name="double", description="Double a number.", parameters=double.parameters
    )
    assert double.definition is double.definition
    assert double.parameters["type"] == "object"
    assert repr(double) == "<tool double (reads)>"


def test_K3_the_fingerprint_changes_with_whatever_a_model_is_told() -> None:
    told = double.definition
    others = [
        ToolDefinition(name="x", description=told.description, parameters=told.parameters),
        ToolDefinition(name=told.name, description="x", parameters=told.parameters),
        ToolDefinition(name=told.name, description=told.description, parameters={}),
    ]
    assert len({told.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert told.fingerprint == double.describe().fingerprint


async def test_K3_execute_raw_goes_from_json_to_a_result() -> None:
    result = await double.execute_raw('{"number": 21, "label": "é"}', Run().context("c"))
    assert (result.type, result.text, result.is_error) == ("json", '{"label":"é","number":42}', False)
    assert (await double.execute_raw('{"number": 1}')).text == '{"label":"","number":2}'


class Empty(TypedDict):
    pass


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Rude(BaseException):
    pass


RAISED: list[BaseException] = [
    ValueError("bad"),
    KeyError("k"),
    OSError(2, "No such file or directory", "x"),
    RecursionError("deep"),
    MemoryError(),
    AssertionError(),
    StopIteration(1),
    StopAsyncIteration(),
    Unspeakable(),
    Rude("rude"),
    SystemExit(3),
    asyncio.CancelledError(),
    ExceptionGroup("several", [ValueError("one"), ValueError("two")]),
    BaseExceptionGroup("several", [Rude(), asyncio.CancelledError()]),
    FileMissing("There is no x.", path="x"),
    ToolTimeout("slow"),
    Exception("\ud800"),
]


def tools_that(act: Callable[[], object]) -> list[Tool]:
    """Tools of every kind that do it."""

    @tool
    async def waits() -> object:
        """Wait."""
        await asyncio.sleep(0)
        return act()

    @tool
    def blocks() -> object:
        """Block."""
        return act()

    given = define_tool(name="given", description="d", input=Empty, execute=lambda _given, _ctx: act())
    return [waits, blocks, given]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
async def test_K3_K32_XL12_whatever_a_tool_raises_becomes_an_error_result(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def act() -> object:
        raise error

    for one in tools_that(act):
        result = await one.execute_raw("{}")
        assert result.is_error
        assert result.code
        assert "Traceback" not in result.text
        result.text.encode()


TRACE = "Traceback (most recent call last):\n"


@pytest.mark.parametrize(
    ("error", "text", "code"),
    [
        (ValueError("bad value"), "Error executing tool: bad value", "tool_error"),
        (ValueError("  \n"), "Error executing tool: ValueError", "tool_error"),
        (KeyError("k"), "Error executing tool: KeyError: 'k'", "tool_error"),
        (KeyError(), "Error executing tool: KeyError", "tool_error"),
        (SystemExit(3), "Error executing tool: SystemExit: 3", "tool_error"),
        (ValueError(-1, 2.5), "Error executing tool: ValueError: (-1, 2.5)", "tool_error"),
        (StopAsyncIteration("rest"), "Error executing tool: StopAsyncIteration: rest", "tool_error"),
        (Unspeakable(), "Error executing tool: <Unspeakable>", "tool_error"),
        (SystemExit(), "Error executing tool: SystemExit", "tool_error"),
        (FileMissing("There is no x.", path="x"), "Error executing tool: There is no x.", "file_not_found"),
        (JsonRefused("Invalid JSON: x."), "Error executing tool: Invalid JSON: x.", "invalid_json"),
        (ExceptionGroup("g", [ValueError("inner")]), "Error executing tool: inner", "tool_error"),
        (ExceptionGroup("g", [ExceptionGroup("h", [ToolFailure("as said")])]), "as said", "tool_failed"),
        (ToolFailure("not there"), "not there", "tool_failed"),
        (ToolFailure({"ok": False, "hint": "é"}), '{"ok":false,"hint":"é"}', "tool_failed"),
        (ToolFailure("gone", code="file_gone"), "gone", "file_gone"),
        (ToolFailure({1, 2}), "[1,2]", "tool_failed"),
        (ToolTimeout("too slow"), "too slow", "timeout"),
        (RuntimeError(f"child failed\n{TRACE}KeyError: 1"), "Error executing tool: child failed", "tool_error"),
        (RuntimeError(f"{TRACE}  File x\nKeyError: 1\n"), "Error executing tool: KeyError: 1", "tool_error"),
        (RuntimeError(TRACE), "Error executing tool: RuntimeError", "tool_error"),
    ],
)  # fmt: skip
async def test_K32_K34_what_the_model_reads_of_an_error(error: BaseException, text: str, code: str) -> None:
    def act() -> object:
        raise error

    for one in tools_that(act):
        result = await one.execute_raw("{}")
        assert (result.text, result.code, result.is_error) == (text, code, True)


async def test_K32_the_log_gets_the_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def act() -> object:
        raise ValueError("for the log")

    for one in tools_that(act):
        caplog.clear()
        await one.execute_raw("{}")
        [record] = caplog.records
        assert record.levelno == logging.ERROR
        assert record.getMessage().startswith(f"tool {one.name} failed\nTraceback (most recent call last)")
        assert record.exc_info is None
        assert "ValueError: for the log" in caplog.text


async def test_K34_what_a_tool_says_on_purpose_is_not_logged_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    def act() -> object:
        raise ToolFailure("expected")

    await tools_that(act)[0].execute_raw("{}")
    assert caplog.records == []


async def test_K32_secrets_in_an_exception_do_not_reach_the_model() -> None:
    secret = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ" * 3

    def act() -> object:
        raise RuntimeError(f"401 for key {secret} at https://user:hunter2secret@example.com/")

    for one in tools_that(act):
        text = (await one.execute_raw("{}")).text
        assert secret not in text
        assert "[redacted:" in text


@pytest.mark.parametrize("size", [MAX_ERROR_MESSAGE_CHARACTERS, MAX_ERROR_MESSAGE_CHARACTERS + 1, 10_000_000])
async def test_K32_a_long_message_is_cut_at_the_limit(size: int) -> None:
    def act() -> object:
        raise RuntimeError("m" * size)

    text = (await tools_that(act)[0].execute_raw("{}")).text.removeprefix("Error executing tool: ")
    kept = "m" * min(size, MAX_ERROR_MESSAGE_CHARACTERS)
    assert text == kept + ("…" if size > MAX_ERROR_MESSAGE_CHARACTERS else "")


async def test_K32_a_secret_is_not_cut_in_half_before_it_is_found() -> None:
    secret = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ" * 3

    def act() -> object:
        raise RuntimeError("x " * (MAX_ERROR_MESSAGE_CHARACTERS // 2 - 10) + secret)

    assert "sk-ant" not in (await tools_that(act)[0].execute_raw("{}")).text


@pytest.mark.parametrize("value", [{"ok": False}, {"success": False, "a": 1}, {"error": True}])
async def test_K32_a_structured_failure_is_an_error(value: dict[str, object]) -> None:
    for one in tools_that(lambda: value):
        result = await one.execute_raw("{}")
        assert (result.is_error, result.code, result.value) == (True, "tool_failed", value)


async def test_K31_K32_a_result_that_cannot_be_written_down_is_an_error() -> None:
    class Trap(dict[str, object]):
        def items(self) -> Any:
            raise KeyError("trap")

    for one in tools_that(lambda: Trap(a=1)):
        result = await one.execute_raw("{}")
        assert (result.text, result.is_error) == ("Error executing tool: KeyError: 'trap'", True)


def finish() -> object:
    raise Done("the end")


@pytest.mark.parametrize("act", [finish, lambda: Done("the end")], ids=["raised", "returned"])
async def test_K35_a_tool_ends_the_run(act: Callable[[], object]) -> None:
    for one in tools_that(act):
        result = await one.execute_raw("{}")
        assert (result.text, result.is_final, result.is_error) == ("the end", True, False)


async def test_K35_done_that_cannot_be_written_down_is_an_error() -> None:
    class Trap(dict[str, object]):
        def items(self) -> Any:
            raise KeyError("trap")

    def act() -> object:
        raise Done(Trap())

    assert (await tools_that(act)[0].execute_raw("{}")).text == "Error executing tool: KeyError: 'trap'"


BAD_ARGUMENTS = [
    ("{", "invalid_json", "line 1 column 1"),
    ('{"number": 1', "invalid_json", "line 1 column 12"),
    ('{"number": 1}}', "invalid_json", "line 1 column 14"),
    ('{"number": NaN}', "invalid_json", "line 1 column 12"),
    ('{"number":1,"number":2}', "invalid_json", "'number' stands twice"),
    ('{"number":' + "9" * 5000 + "}", "invalid_json", "number out of range"),
    ('{"number":' + "[" * 10_000 + "]" * 10_000 + "}", "invalid_json", "recursion limit exceeded"),
    ('{"number":' * 10_000, "invalid_json", "recursion limit exceeded"),
    ('{"label":"' + "a" * 1_048_576 + '"}', "invalid_json", "larger than 524,288 bytes"),
    ("[]", "invalid_json", "not an array"),
    ('"{}"', "invalid_json", "not a string"),
    ("null", "invalid_json", "not null"),
    ("5", "invalid_json", "not a number"),
    ("\ud800", "invalid_json", "surrogate"),
    ("{}", "invalid_arguments", "- number: missing, and required (integer)"),
    ("", "invalid_arguments", "- number: missing, and required (integer)"),
    ('{"number":"x"}', "invalid_arguments", "- number: Input should be a valid integer"),
    ('{"number":1,"nubmer":2}', "invalid_arguments", "- nubmer: there is no such parameter; it takes: number, label"),
    ('{"number":1,"label":[]}', "invalid_arguments", "- label: Input should be a valid string (got [])"),
    ('{"number":[{"a":1}]}', "invalid_arguments", "- number: Input should be a valid integer"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "code", "place"), BAD_ARGUMENTS, ids=lambda value: str(value)[:30])
async def test_K33_XL6_XJ5_bad_arguments_run_nothing_and_say_where_the_fault_is(
    raw: str, code: str, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[int] = []

    @tool
    async def count(number: int, label: str = "") -> int:
        """Count."""
        ran.append(number)
        return number

    result = await count.execute_raw(raw)
    assert (result.is_error, result.code, ran) == (True, code, [])
    assert place in result.text
    assert not result.text.startswith("Error executing tool")
    assert len(result.text) < 1000
    assert caplog.records == []


@given(st.text() | st.text(st.sampled_from('{}[]":,0123number label\\')))
def test_K3_no_text_makes_it_raise(raw: str) -> None:
    result = asyncio.run(double.execute_raw(raw))
    assert isinstance(result, ToolResult)


async def test_K33_a_tool_that_reads_broken_json_itself_does_not_blame_the_call() -> None:
    result = await tools_that(lambda: parse_json("{"))[0].execute_raw("{}")
    assert result.text.startswith("Error executing tool: Invalid JSON")


class Flawed(WrapperTool):
    """Raises where it is told to."""

    def __init__(self, inner: Tool, where: str, error: BaseException) -> None:
        super().__init__(inner)
        self.where = where
        self.error = error

    def _maybe(self, where: str) -> None:
        if where == self.where:
            raise self.error

    @property
    def effect(self) -> Any:
        self._maybe("effect")
        return super().effect

    @property
    def core(self) -> Tool:
        self._maybe("core")
        return super().core

    @property
    def asks(self) -> bool:
        self._maybe("asks")
        return super().asks

    def validate(self, raw: str) -> object:
        self._maybe("validate")
        return super().validate(raw)

    def paths(self, arguments: object) -> tuple[str, ...]:
        self._maybe("paths")
        return super().paths(arguments)

    def why(self, arguments: object) -> str:
        self._maybe("why")
        return super().why(arguments)

    def describe(self) -> ToolDefinition:
        self._maybe("describe")
        return super().describe()

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Any:
        self._maybe("preview")
        if self.where == "no preview":
            return "a text"
        return await super().preview(arguments, ctx, edited)

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        self._maybe("invoke")
        return await super().invoke(permit, ctx)


@pytest.mark.parametrize("error", [ValueError("flaw"), SystemExit(1), asyncio.CancelledError(), Rude("flaw")], ids=repr)
@pytest.mark.parametrize(
    "where", ["core", "asks", "validate", "paths", "why", "describe", "preview", "invoke", "effect"]
)
async def test_K3_a_wrapper_that_breaks_anywhere_breaks_only_its_call(where: str, error: BaseException) -> None:
    person, disk = Person(), Disk()
    writing = Flawed(disk.tool, where, error)
    result = await writing.execute_raw('{"path":"f","text":"new\\n"}', Run(approver=person).context())
    if where == "effect":  # not asked: the core's own counts
        assert disk.writes == ["new\n"]
        result = await Flawed(double, where, error).execute_raw('{"number":1}')
    else:
        assert disk.writes == []
        assert bool(person.asked) == (where == "invoke")
    assert result.is_error
    assert result.text.startswith("Error executing tool: ")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ZeroDivisionError("division by zero"), "Error executing tool: its preview failed: division by zero"),
        (KeyError("k"), "Error executing tool: its preview failed: KeyError: 'k'"),
        (FileMissing("There is no x.", path="x"), "Error executing tool: There is no x."),
        (ToolFailure("as said"), "as said"),
    ],
)
@pytest.mark.parametrize("policy", [None, Policy((Rule(action="allow"),))], ids=["asked", "by rule"])
async def test_K32_K41_a_preview_that_fails_is_named(
    error: Exception, text: str, policy: Policy | None, caplog: pytest.LogCaptureFixture
) -> None:
    def preview(_arguments: object, _ctx: ToolContext, _edited: str | None) -> Preview:
        raise error

    @tool(effect="writes", preview=preview)
    async def put() -> str:
        """Put it there."""
        raise AssertionError("it ran")

    assert (await put.execute_raw("{}", Run(approver=Person(), policy=policy).context())).text == text
    assert ("the preview of put failed" in caplog.text) == (not isinstance(error, ToolFailure))


async def test_K41_what_is_no_preview_cannot_be_approved() -> None:
    disk = Disk()
    writing = Flawed(disk.tool, "no preview", ValueError())
    result = await writing.execute_raw('{"path":"f","text":"new\\n"}', Run(approver=Person()).context())
    assert result.text == "Error executing tool: its preview failed: it returned str, not a Preview"
    assert disk.writes == []


async def test_K3_cancellation_goes_through() -> None:
    started = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    book = Book()
    task = asyncio.create_task(wait.execute_raw("{}", Run(ledger=book).context("c")))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert book.lines == [("intent", "c")]


async def test_K3_a_tool_that_turns_its_cancellation_into_an_error_has_failed() -> None:
    started = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("interrupted") from None
        return "never"

    task = asyncio.create_task(wait.execute_raw("{}"))
    await started.wait()
    task.cancel()
    assert (await task).text == "Error executing tool: interrupted"


async def test_ctrl_c_ends_the_program_not_the_tool() -> None:
    def act() -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await execute(tools_that(act)[0], "{}", ToolContext())


async def test_a_call_that_is_thrown_away_is_closed() -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(0)
        return "never"

    call = wait.execute_raw("{}")
    call.send(None)
    call.close()
    assert call.cr_frame is None  # type: ignore[attr-defined]  # it is a coroutine of the plain kind


async def test_cancellation_outside_of_a_task_is_believed() -> None:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bool] = loop.create_future()
    loop.call_soon(lambda: answer.set_result(is_being_cancelled(asyncio.CancelledError())))
    assert await answer
    assert not is_being_cancelled(asyncio.CancelledError())
    assert not is_being_cancelled(ValueError())


async def test_every_run_is_recorded_before_and_after() -> None:
    book = Book()
    run = Run(ledger=book)
    await double.execute_raw('{"number":1}', run.context("1"))
    await tools_that(lambda: {"ok": False})[0].execute_raw("{}", run.context("2"))
    await double.execute_raw("{}", run.context("3"))
    assert book.lines == [("intent", "1"), ("done", "1"), ("intent", "2"), ("failed", "2")]


async def test_what_cannot_be_recorded_does_not_run() -> None:
    book, ran = Book(), []
    book.fails_on = "intent"
    one = tools_that(lambda: ran.append(1))[0]
    result = await one.execute_raw("{}", Run(ledger=book).context("c"))
    assert result.text == "Error executing tool: [Errno 28] No space left on device"
    assert ran == []


async def test_an_outcome_that_cannot_be_recorded_does_not_undo_the_call(caplog: pytest.LogCaptureFixture) -> None:
    book = Book()
    book.fails_on = "done"
    result = await double.execute_raw('{"number":1}', Run(ledger=book).context("c"))
    assert not result.is_error
    assert "the outcome of double could not be recorded" in caplog.text


def test_XL12_a_tool_that_prints_does_not_disturb_the_result() -> None:
    script = """
import asyncio, json, os, sys
from toolroll.kernel.define.decorator import tool

@tool
def chatty() -> str:
    "Talk."
    print("to stdout"); os.write(1, b"raw"); print("to stderr", file=sys.stderr)
    return "result"

print(asyncio.run(chatty.execute_raw("{}")).text, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stderr.splitlines() == ["to stderr", "result"]


@pytest.mark.parametrize("raw", [b"{}", {}, None, 5], ids=repr)
async def test_K30_only_text_is_arguments(raw: Any) -> None:
    for one in tools_that(lambda: "ran"):
        result = await one.execute_raw(raw)
        assert result.code == "invalid_json"
        assert result.text == f"The arguments must be JSON text (a str), not {type(raw).__name__}."


@pytest.mark.parametrize(
    ("raw", "code"), [("", None), (" \t\r\n", None), ("\u00a0", "invalid_json"), ("\f", "invalid_json")]
)
async def test_K30_only_the_whitespace_of_json_is_no_arguments(raw: str, code: str | None) -> None:
    for one in tools_that(lambda: "ran"):
        assert (await one.execute_raw(raw)).code == code


async def test_XJ_a_byte_order_mark_is_called_by_its_name() -> None:
    for one in tools_that(lambda: "ran"):
        result = await one.execute_raw("\ufeff{}")
        assert result.text == "Invalid JSON: the text begins with a byte order mark. Send it without."
