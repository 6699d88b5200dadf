"""`run_check`: the one command that the user's settings name, run after a person's yes (C34).

There is no free-form shell. The command is a fixed vector of arguments: nothing that a model says becomes part of it.
"""

import asyncio
import shlex
from collections.abc import Coroutine, Mapping, Sequence
from typing import Annotated, Final

from pydantic import BaseModel, Field

from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.define.decorator import define_tool
from toolroll.kernel.define.tool import Tool
from toolroll.packs.code.failures import tool_errors, tool_failure
from toolroll.packs.code.keys import WORKSPACE
from toolroll.safe.programs.run import ProgramResult, run_program

MAX_OUTPUT_BYTES: Final = 1_048_576
"""Of what a check prints: the context gets less of it anyway."""

LOOK_S: Final = 0.2
"""How often a running check looks whether the run is being stopped: a person does not notice it."""


class RunCheck(BaseModel):
    """What `run_check` takes: nothing that changes what is run."""

    description: Annotated[str, Field(description="In a sentence: what you want to find out.")] = ""


def check_tool(command: Sequence[str], *, seconds: float) -> Tool:
    """Return the tool that runs this command in the workspace's folder."""
    if not command or not all(command):
        raise UsageError("A check is a command with its arguments, each of them a text that is not empty.")
    shown = shlex.join(command)

    async def preview(_arguments: Mapping[str, object], ctx: ToolContext, _edited: str | None) -> Preview:
        workspace = await ctx.resolve(WORKSPACE)
        return Preview.of_text(f"run in {workspace.root}:\n{shown}")

    async def execute(_given: RunCheck, ctx: ToolContext) -> ToolResult:
        workspace = await ctx.resolve(WORKSPACE)
        program = run_program(command, timeout_s=seconds, limit_output_bytes=MAX_OUTPUT_BYTES, cwd=workspace.root)
        with tool_errors():
            result = await _run_until_stopped(program, ctx)
        if result is None:
            raise tool_failure(f"{shown} was ended before it was done: the user has stopped the run.", code="stopped")
        return _describe_result(result, shown, seconds)

    return define_tool(
        name="run_check",
        description=(
            f"Run the project's check: {shown}. Use it after a change was applied. A person must approve each run. "
            "Gives what it printed, and whether it passed."
        ),
        input=RunCheck,
        execute=execute,
        effect="writes",
        brings=("private", "untrusted"),
        why="description",
        preview=preview,
    )


async def _run_until_stopped(
    program: Coroutine[object, object, ProgramResult], ctx: ToolContext
) -> ProgramResult | None:
    """Return how the program ended; None where the run is being stopped, and the program was ended for that."""
    task = asyncio.ensure_future(program)
    try:
        while not ctx.run.stopping:
            done, _ = await asyncio.wait({task}, timeout=LOOK_S)
            if done:
                return task.result()
        return None
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def _describe_result(result: ProgramResult, command: str, seconds: float) -> ToolResult:
    output = "\n".join(
        part for part in (one.decode("utf-8", "replace").rstrip() for one in (result.stdout, result.stderr)) if part
    )
    if result.ended == "timeout":
        raise tool_failure(f"{command} was stopped after {seconds:g} seconds.\n{output}", code="timeout")
    if result.ended == "output_limit":
        raise tool_failure(
            f"{command} was stopped: it printed more than {MAX_OUTPUT_BYTES:,} bytes.\n{output}", code="output"
        )
    outcome = "passed" if result.exit_code == 0 else f"failed with exit code {result.exit_code}"
    facts = {"passed": result.exit_code == 0, "exit_code": result.exit_code}
    return ToolResult.of_text(f"{command} {outcome}.\n{output}".rstrip(), facts)
