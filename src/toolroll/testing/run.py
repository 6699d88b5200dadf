"""Runs and calls for tests: a fixed clock, counted ids, and calls through the whole executor."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final, Unpack

from toolroll.errors import UsageError
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.threads import is_in_event_loop
from toolroll.testing.recording import RecordedRun, RecordingApprover, RunOptions

START: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""What a fixed clock shows unless it is told otherwise."""

_STANDS_STILL: Final = timedelta(0)


def fixed_clock(start: datetime = START, *, step: timedelta = _STANDS_STILL) -> Callable[[], datetime]:
    """A clock for `Run(clock=...)` that shows `start` and goes on by `step` each time it is read."""
    if start.tzinfo is None:
        raise UsageError(f"A clock needs a time with its zone, not {start!r}. Write datetime(..., tzinfo=UTC).")
    reads = count()
    return lambda: start + next(reads) * step


def counting_ids(prefix: str = "id") -> Callable[[], str]:
    """Ids for `Run(make_id=...)` that count: `id_1`, `id_2`, and so on."""
    numbers = count(1)
    return lambda: f"{prefix}_{next(numbers)}"


def make_run(**options: Unpack[RunOptions]) -> RecordedRun:
    """A run that is the same every time: `run_1`, a clock that stands still, counted ids, and events that are kept.

    Whoever is asked says yes, unless there is another `approver`; with `approver=None` there is nobody to ask.
    """
    fixed = RunOptions(run_id="run_1", clock=fixed_clock(), make_id=counting_ids(), approver=RecordingApprover())
    return RecordedRun(**(fixed | options))


async def call_tool(tool: Tool, run: Run | None = None, /, **arguments: object) -> ToolResult:
    """What a model would get for these arguments. A run that is not given is made for this call and closed after it."""
    _check(tool, run)
    raw = dump_json(arguments)
    if run is not None:
        return await tool.execute_raw(raw, run.context())
    async with make_run() as fresh:
        return await tool.execute_raw(raw, fresh.context())


def _check(tool: object, run: object) -> None:
    if not isinstance(tool, Tool):
        raise UsageError(f"Only a tool can be called like this, not {tool!r}. Make one of it: tool(...).")
    if run is not None and not isinstance(run, Run):
        raise UsageError(
            f"Arguments are given by name: call({tool.name}, name=...). What stands second is a Run, not {run!r}."
        )


def call(tool: Tool, run: Run | None = None, /, **arguments: object) -> ToolResult:
    """`call_tool` for code that is not async; each call has an event loop of its own."""
    import asyncio  # noqa: PLC0415 - five interpreter starts, and half of the tests are async and do without

    if not is_in_event_loop():
        return asyncio.run(call_tool(tool, run, **arguments))
    raise UsageError("call() starts an event loop, and one is running here. Write: await call_tool(...)")
