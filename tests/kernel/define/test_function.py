"""The two tools at the core: checking arguments, running, showing what would happen."""

import asyncio
import functools
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator
from tests.support.clock import time_passes
from typing_extensions import TypedDict

from toolroll import (
    Approve,
    DependencyKey,
    Depends,
    Policy,
    Preview,
    Reject,
    Rule,
    Run,
    Tool,
    ToolContext,
    ToolFailure,
    define_tool,
    tool,
)
from toolroll.errors import ArgumentsRefused, JsonRefused
from toolroll.kernel.define.function import run_and_close
from toolroll.safe.limits import MAX_ARGUMENTS_BYTES

WAIT_S = 60.0


class Point(BaseModel):
    x: int
    y: int = 0


@tool
async def place(point: Point, name: str = "p") -> str:
    """Place a point."""
    return f"{name} at {point.x}, {point.y}"


# --- From text to arguments -------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", ["", "  ", "\n", "{}", " {} "])
async def test_K3_no_text_counts_as_no_arguments(raw: str) -> None:
    @tool("Say.")
    async def say(word: str = "hello") -> str:
        return word

    assert (await say.execute_raw(raw)).text == "hello"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("{", "invalid_json"),
        ("[]", "invalid_json"),
        ('"x"', "invalid_json"),
        ("null", "invalid_json"),
        ("{} {}", "invalid_json"),
        ('{"point": {"x": 1}, "point": {"x": 2}}', "invalid_json"),
        ('{"point": {"x": 1}, "name": "\ud800"}', "invalid_json"),
        ('{"point": ' + "[" * 10_000 + "]" * 10_000 + "}", "invalid_json"),
        ('{"point": {"x": 1}, "name": "' + "x" * MAX_ARGUMENTS_BYTES + '"}', "invalid_json"),
        ("{}", "invalid_arguments"),
        ('{"point": {"x": "one"}}', "invalid_arguments"),
        ('{"point": {"x": 1, "z": 1}}', "invalid_arguments"),
        ('{"point": null}', "invalid_arguments"),
    ],
)
async def test_K3_XL6_arguments_that_are_not_right_never_reach_the_tool(raw: str, code: str) -> None:
    result = await place.execute_raw(raw)
    assert (result.is_error, result.code) == (True, code)
    with pytest.raises((JsonRefused, ArgumentsRefused)):
        place.validate(raw)


@given(st.text())
def test_K3_XL6_no_text_makes_validation_fall(raw: str) -> None:
    with pytest.raises((JsonRefused, ArgumentsRefused)):
        place.validate(raw)


async def test_K3_large_arguments_within_the_limit_are_taken() -> None:
    name = "x" * (MAX_ARGUMENTS_BYTES // 2)
    assert (await place.execute_raw(f'{{"point": {{"x": 1}}, "name": "{name}"}}')).text == f"{name} at 1, 0"


async def test_K10_values_are_read_from_the_text_itself() -> None:
    """A date in a strict field is a string in JSON, and only there; no arguments are so large that this changes."""

    @tool("Show.")
    async def show(day: Annotated[date, Field(strict=True)], text: str = "") -> str:
        return f"{day:%d.%m.%Y}"

    assert (await show.execute_raw('{"day": "2026-01-02"}')).text == "02.01.2026"
    assert (await show.execute_raw('{"day": "2026-01-02", "text": null}')).text == "02.01.2026"
    large = "x" * (MAX_ARGUMENTS_BYTES // 3)
    assert (await show.execute_raw(f'{{"day": "2026-01-02", "text": "{large}"}}')).text == "02.01.2026"


async def test_K11_nulls_that_stand_for_left_out_are_removed_at_every_level() -> None:
    assert (await place.execute_raw('{"point": {"x": 1, "y": null}, "name": null}')).text == "p at 1, 0"


async def test_K11_what_is_still_wrong_then_is_what_the_model_reads() -> None:
    result = await place.execute_raw('{"point": {"x": "one", "y": null}, "name": null}')
    assert result.text == (
        "Invalid arguments for place:\n"
        '- point.x: Input should be a valid integer, unable to parse string as an integer (got "one")'
    )


async def test_K3_a_validator_of_the_users_that_breaks_is_an_error_result() -> None:
    class Broken(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def check(cls, x: int) -> int:
            raise KeyError("a bug")

    @tool("Take.")
    async def take(broken: Broken) -> str:
        return "ran"

    result = await take.execute_raw('{"broken": {"x": 1}}')
    assert (result.is_error, result.code) == (True, "tool_error")


# --- Running ----------------------------------------------------------------------------------------------


async def test_K5_a_sync_tool_does_not_block_the_loop() -> None:
    beats = 0
    enough = threading.Event()

    async def heart() -> None:
        nonlocal beats
        while not enough.is_set():
            beats += 1
            if beats == 100:
                enough.set()
            await asyncio.sleep(0)

    @tool("Wait.")
    def wait() -> bool:
        return enough.wait(WAIT_S)

    heartbeat = asyncio.create_task(heart())
    assert (await wait.execute_raw("{}")).value is True
    await heartbeat
    assert beats == 100


async def test_K5_sync_tools_run_side_by_side() -> None:
    barrier = threading.Barrier(5, timeout=WAIT_S)

    @tool("Meet.")
    def meet() -> int:
        return barrier.wait()

    results = await asyncio.gather(*(meet.execute_raw("{}") for _ in range(5)))
    assert sorted(int(result.text) for result in results) == [0, 1, 2, 3, 4]


async def test_K5_past_its_timeout_a_call_ends_as_an_error() -> None:
    began, stopped = threading.Event(), threading.Event()

    @tool("Hang.", timeout=60)
    def hang(ctx: ToolContext) -> None:
        began.set()
        while not ctx.cancelled:
            pass
        stopped.set()

    @tool("Hang.", timeout=60)
    async def hang_later() -> None:
        began.set()
        await asyncio.Event().wait()

    for made, end in ((hang, "; it may still be running."), (hang_later, " and was stopped.")):
        began.clear()
        call = asyncio.create_task(made.execute_raw("{}"))
        assert await asyncio.to_thread(began.wait, WAIT_S)  # else its time may be up before a thread takes it
        time_passes(60)
        result = await call
        assert (result.is_error, result.code) == (True, "timeout")
        assert result.text == f"{made.name} did not end within 60 seconds{end}"
    assert await asyncio.to_thread(stopped.wait, WAIT_S)


async def test_K3_XL12_nothing_that_a_tool_raises_gets_out() -> None:
    for error in (ValueError("boom"), SystemExit(3), StopIteration(), asyncio.CancelledError(), ToolFailure("no")):

        @tool("Fail.")
        def fail(error: Annotated[BaseException, Depends(functools.partial(lambda e: e, error))]) -> None:
            raise error

        @tool("Fail.")
        async def fail_later(error: Annotated[BaseException, Depends(functools.partial(lambda e: e, error))]) -> None:
            raise error

        for made in (fail, fail_later):
            assert (await made.execute_raw("{}")).is_error


async def test_K3_a_cancellation_gets_out() -> None:
    started = asyncio.Event()

    @tool("Wait.")
    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(wait.execute_raw("{}"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_K5_a_sync_function_that_hands_back_a_coroutine_is_awaited() -> None:
    async def later(x: int) -> int:
        return x

    def now(x: int) -> Any:
        return later(x)

    assert (await tool("Now.")(now).execute_raw('{"x": 3}')).value == 3


async def test_K1_direct_calls_neither_check_nor_inject() -> None:
    @tool("Take.")
    def take(x: int, ctx: ToolContext) -> list[object]:
        return [x, ctx]

    assert take("anything", None) == ["anything", None]  # type: ignore[arg-type]  # the point of it


# --- What is shown to rules and people ----------------------------------------------------------------------


class Files(BaseModel):
    source: Path = Field(alias="from")
    more: list[str] = []
    reason: str = Field("", alias="why")


class FilesDict(TypedDict):
    source: str


@dataclass
class FilesData:
    source: str
    more: tuple[str, ...] = ()


def nothing(given: Any, ctx: ToolContext) -> str:
    return "ran"


def file_tool(shape: Any, **options: Any) -> Tool:
    return define_tool(name="read", description="Read.", input=shape, execute=nothing, **options)


@tool(paths=["source", "more", "by_name", "made"], why="reason")
def read(
    source: str = Field(".env", alias="from"),
    more: list[str] = [],  # noqa: B006 - as users write it
    by_name: dict[str, list[str]] | None = None,
    made: str = Field(default_factory=lambda: "secret"),
    reason: str = Field("", alias="why"),
    limit: int = 3,
) -> str:
    """Read files."""
    return "ran"


def test_K43_the_paths_of_a_call_are_all_that_it_names() -> None:
    raw = '{"from": "a", "more": ["b", "c"], "by_name": {"x": ["d"], "y": []}, "made": "e"}'
    assert read.paths(read.validate(raw)) == ("a", "b", "c", "x", "d", "y", "e")


def test_K43_a_path_that_is_left_out_counts_as_its_default() -> None:
    """A rule about `.env` must hold for a tool that reads it unless told otherwise."""
    assert read.paths(read.validate("{}")) == (".env", "secret")
    assert place.paths(place.validate('{"point": {"x": 1}}')) == ()


@pytest.mark.parametrize(
    ("shape", "raw", "options", "paths"),
    [
        (Files, '{"from": "a", "more": ["b"]}', {"paths": ["source", "more"]}, ("a", "b")),
        (FilesDict, '{"source": "a"}', {"paths": ["source"]}, ("a",)),
        (FilesData, '{"source": "a", "more": ["b"]}', {"paths": ["more", "source"]}, ("b", "a")),
    ],
)
def test_K43_paths_are_found_by_field_whatever_the_model_calls_it(
    shape: Any, raw: str, options: dict[str, Any], paths: tuple[str, ...]
) -> None:
    made = file_tool(shape, **options)
    assert made.paths(made.validate(raw)) == paths


async def test_K43_XA4_a_deny_rule_holds_for_aliases_lists_and_defaults() -> None:
    run = Run(policy=Policy((Rule(action="deny", path="**/.env"),)))
    aliased = file_tool(Files, paths=["source", "more"])
    for made, raw in (
        (read, "{}"),
        (read, '{"from": "x", "more": ["a", "b/.env"]}'),
        (aliased, '{"from": "b/.env"}'),
        (aliased, '{"from": "x", "more": [".env"]}'),
    ):
        assert (await made.execute_raw(raw, run.context())).code == "denied"
    assert (await read.execute_raw('{"from": "x"}', run.context())).text == "ran"


def test_K41_the_reason_for_a_call_is_the_models_or_the_description() -> None:
    assert read.why(read.validate('{"why": "because"}')) == "because"
    assert read.why(read.validate("{}")) == "Read files."
    assert place.why(place.validate('{"point": {"x": 1}}')) == "Place a point."
    aliased = file_tool(Files, why="reason")
    assert aliased.why(aliased.validate('{"from": "a", "why": "because"}')) == "because"
    assert aliased.why(aliased.validate('{"from": "a"}')) == "Read."


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("Replace a passage. The person sees it. Read first.", "Replace a passage."),
        ("Replace text, e.g. a name, in v1.2 of it. More.", "Replace text, e.g. a name, in v1.2 of it."),
        ("Replace a passage\n\nRead first", "Replace a passage"),
        ("Replace!", "Replace!"),
    ],
)
def test_K41_a_person_reads_the_first_sentence_of_a_description(description: str, shown: str) -> None:
    made = define_tool(name="place", description=description, input=Files, execute=lambda given, ctx: "ran")
    assert made.why(made.validate('{"from": "a"}')) == shown


async def test_K41_without_a_preview_of_its_own_a_tool_shows_its_arguments() -> None:
    shown = await place.preview(place.validate('{"point": {"x": 1}}'), ToolContext())
    assert (shown.kind, shown.text) == ("text", 'place {"point":{"x":1,"y":0}}')


class Asked:
    """An approver that keeps what it was asked and gives one answer."""

    def __init__(self, answer: Approve | Reject) -> None:
        self.answer = answer
        self.seen: list[Any] = []

    def decide(self, requests: Any, /) -> list[Approve | Reject]:
        self.seen += requests
        return [self.answer for _ in requests]


def show(arguments: dict[str, Any], ctx: ToolContext, edited: str | None) -> Preview:
    return Preview.of_text(f"{ctx.call_id} {arguments} {edited}")


async def show_later(arguments: dict[str, Any], ctx: ToolContext, edited: str | None) -> Preview:
    await asyncio.sleep(0)
    return show(arguments, ctx, edited)


class Shower:
    async def __call__(self, *given: Any) -> Preview:
        return show(*given)


def show_in_turn(*given: Any) -> Any:
    return show_later(*given)


@pytest.mark.parametrize("maker", [show, show_later, Shower(), show_in_turn])
async def test_K41_a_preview_sees_the_arguments_with_their_defaults(maker: Any) -> None:
    @tool("Write.", effect="writes", preview=maker)
    def write(path: str, mode: str = "w") -> None: ...

    shown = await write.preview(write.validate('{"path": "a"}'), ToolContext(call_id="c"), "new")
    assert shown.text == "c {'mode': 'w', 'path': 'a'} new"


async def test_K41_K5_a_sync_preview_does_not_block_the_loop() -> None:
    beat = threading.Event()

    def slow(arguments: dict[str, Any], ctx: ToolContext, edited: str | None) -> Preview:
        return Preview.of_text(str(beat.wait(WAIT_S)))

    asyncio.get_running_loop().call_soon(beat.set)
    made = tool("Write.", effect="writes", preview=slow, name="write")(lambda: 1)
    assert (await made.preview({}, ToolContext())).text == "True"


async def test_K41_a_preview_that_is_none_is_an_error_and_nothing_runs() -> None:
    ran: list[int] = []
    made = tool("Write.", effect="writes", preview=lambda *given: "text", name="write")(lambda: ran.append(1))
    result = await made.execute_raw("{}", Run(approver=Asked(Approve())).context())
    assert (result.is_error, ran) == (True, [])
    assert result.text == "Error executing tool: its preview failed: it returned str, not a Preview"


@pytest.mark.parametrize("answer", [Approve(), Reject()])
async def test_K20_what_a_preview_was_given_is_torn_down_before_the_person_answers(answer: Approve | Reject) -> None:
    steps: list[str] = []

    async def connect() -> AsyncIterator[str]:
        steps.append("open")
        yield "db"
        steps.append("close")

    key: DependencyKey[str] = DependencyKey("db", connect)

    async def look(arguments: dict[str, Any], ctx: ToolContext, edited: str | None) -> Preview:
        return Preview.of_text(await ctx.resolve(key))

    @tool("Write.", effect="writes", preview=look)
    async def write(ctx: ToolContext) -> str:
        return await ctx.resolve(key)

    await write.execute_raw("{}", Run(approver=Asked(answer)).context())
    assert steps
    assert steps == ["open", "close"] * (len(steps) // 2)


async def test_K41_XA1_a_person_approves_what_a_factory_made() -> None:
    made_values = iter(["first", "second", "third"])
    ran: list[str] = []

    @tool("Write.", effect="writes")
    def write(name: str = Field(default_factory=lambda: next(made_values))) -> None:
        ran.append(name)

    asked = Asked(Approve())
    result = await write.execute_raw("{}", Run(approver=asked).context())
    assert not result.is_error
    assert [request.arguments for request in asked.seen] == [{"name": "first"}]
    assert ran == ["first"]


# --- Closing ----------------------------------------------------------------------------------------------


async def test_K20_a_call_that_is_cancelled_before_it_starts_leaves_nothing_behind() -> None:
    steps: list[str] = []

    def connect() -> Iterator[str]:
        steps.append("open")
        yield "db"

    @tool("Use.")
    async def use(db: Annotated[str, Depends(connect)]) -> str:
        return db

    task = asyncio.create_task(use.execute_raw("{}"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == []


async def test_K20_an_error_goes_before_one_of_the_tear_down(caplog: pytest.LogCaptureFixture) -> None:
    async def connect() -> AsyncIterator[str]:
        yield "db"
        raise ValueError("tear-down")

    async def fail() -> object:
        await ctx.resolve(DependencyKey("db", connect))
        raise KeyError("work")

    ctx = ToolContext(call_id="c7")
    with caplog.at_level(logging.ERROR), pytest.raises(KeyError, match="work"):
        await run_and_close(fail, ctx)
    assert "the tear-down of call c7 failed too" in caplog.text


class Hidden(BaseModel):
    path: str = Field(exclude=True)
    note: str = ""


@tool(effect="writes", paths=["files", "targets"])
async def scatter(files: dict[str, str] | None = None, targets: list[Hidden] | None = None) -> str:
    """Write files."""
    return "wrote"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ('{"files": {".git/config": "drafts/x"}}', "denied"),
        ('{"files": {"drafts/x": ".git/config"}}', "denied"),
        ('{"files": {"src/a": "drafts/x"}}', "needs_approval"),
        ('{"files": {"drafts/a": "src/x"}}', "needs_approval"),
        ('{"files": {"drafts/a": "drafts/x"}}', None),
        ('{"targets": [{"path": ".git/config", "note": "drafts/x"}]}', "denied"),
        ('{"targets": [{"path": "src/a", "note": "drafts/x"}]}', "needs_approval"),
        ('{"targets": [{"path": "drafts/a", "note": "drafts/x"}]}', None),
    ],
)
async def test_XA4_keys_and_left_out_fields_are_paths_too(raw: str, code: str | None) -> None:
    rules = (Rule(action="deny", path="**/.git/**"), Rule(action="allow", path="drafts/**"))
    assert (await scatter.execute_raw(raw, Run(policy=Policy(rules)).context())).code == code


async def test_XA4_the_preview_shows_what_json_would_leave_out() -> None:
    arguments = scatter.validate('{"targets": [{"path": "p"}]}')
    assert (await scatter.preview(arguments, ToolContext())).text == 'scatter {"targets":[{"path":"p","note":""}]}'
    sets = file_tool(FilesData, paths=["more"])
    assert sets.paths(FilesData(source="s", more=frozenset({"b", "a"}))) == ("a", "b")  # type: ignore[arg-type]  # sorted
