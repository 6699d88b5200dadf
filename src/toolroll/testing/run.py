"""Calls in tests: through the whole executor, with nothing left to chance."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypedDict, Unpack

from toolroll.errors import UsageError
from toolroll.kernel.approval import Approver
from toolroll.kernel.context import Ledger, Run
from toolroll.kernel.depends import Identity, Maker
from toolroll.kernel.events import KernelEvent
from toolroll.kernel.policy import Policy
from toolroll.kernel.result import ToolResult
from toolroll.kernel.serialize import dump_json
from toolroll.kernel.tool import Tool
from toolroll.testing.fixed import counting_ids, fixed_clock
from toolroll.testing.recording import RecordedRun, RecordingApprover


class RunOptions(TypedDict, total=False):
    """What `make_run` takes: the options of `Run`."""

    run_id: str | None
    deps: Mapping[str, object] | None
    overrides: Mapping[Identity, Maker] | None
    policy: Policy | None
    approver: Approver | None
    ledger: Ledger | None
    on_event: Callable[[KernelEvent], None] | None
    clock: Callable[[], datetime]
    make_id: Callable[[], str]
    logger: logging.Logger


def make_run(**options: Unpack[RunOptions]) -> RecordedRun:
    """A run that is the same every time: `run_1`, a clock that stands still, counted ids, and events that are kept.

    Whoever is asked says yes, unless there is another `approver`; with `approver=None` there is nobody to ask.
    """
    fixed = RunOptions(run_id="run_1", clock=fixed_clock(), make_id=counting_ids(), approver=RecordingApprover())
    return RecordedRun(**(fixed | options))


async def call_tool(tool: Tool, run: Run | None = None, /, **arguments: object) -> ToolResult:
    """What a model would get for these arguments. A run that is not given is made for this call and closed after it."""
    raw = dump_json(arguments)
    if run is not None:
        return await tool.execute_raw(raw, run.context())
    async with make_run() as fresh:
        return await tool.execute_raw(raw, fresh.context())


def call(tool: Tool, run: Run | None = None, /, **arguments: object) -> ToolResult:
    """`call_tool` for code that is not async; each call has an event loop of its own."""
    import asyncio  # noqa: PLC0415 - five interpreter starts, and half of the tests are async and do without

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(call_tool(tool, run, **arguments))
    raise UsageError("call() starts an event loop, and one is running here. Write: await call_tool(...)")
