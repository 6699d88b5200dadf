"""The commands that the settings name, such as `run_check`: each runs after a person's yes (C34, S13).

There is no free-form shell. A command is a fixed vector of words; where the settings allow arguments, a model adds
words that fit a pattern, each of them a word of its own to the program.
"""

import asyncio
import shlex
from collections.abc import Coroutine, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field, create_model

from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.define.decorator import define_tool
from toolroll.kernel.define.tool import Tool
from toolroll.packs.code.failures import CodeTool, tool_errors, tool_failure
from toolroll.packs.code.keys import WORKSPACE
from toolroll.safe.programs.run import ProgramResult, run_program

CHECK: Final = "check"
"""The name of the command that `code.check` names."""
PREFIX: Final = "run_"
"""Begins the name of a tool that runs a command."""

MAX_OUTPUT_BYTES: Final = 1_048_576
"""Of what a program prints: the context gets less of it anyway."""
MAX_ARGUMENTS: Final = 100
MAX_ARGUMENT_CHARACTERS: Final = 1_000

LOOK_S: Final = 0.2
"""How often a running program looks whether the run is being stopped: a person does not notice it."""


class RunCheck(BaseModel):
    """What a command takes that is the same each time: nothing that changes what is run."""

    description: Annotated[str, Field(description="In a sentence: what you want to find out.")] = ""


def check_tool(command: Sequence[str], *, seconds: float) -> Tool:
    """Return the tool that runs this command in the workspace's folder."""
    return command_tool(CHECK, command, seconds=seconds)


def command_tool(name: str, command: Sequence[str], *, seconds: float, pattern: str | None = None) -> Tool:
    """Return the tool `run_NAME`, which runs this command in the workspace's folder.

    With `pattern`, a regular expression, a model may add arguments that fit it as a whole.
    """
    if not command or not all(command):
        raise UsageError("A check is a command with its arguments, each of them a text that is not empty.")
    shown = shlex.join(command)

    async def preview(arguments: Mapping[str, object], ctx: ToolContext, _edited: str | None) -> Preview:
        workspace = await ctx.resolve(WORKSPACE)
        words = shlex.join([*command, *_added(arguments.get("arguments"))])
        return Preview.of_text(f"run in {workspace.root}\nfor at most {seconds:g} seconds:\n{words}")

    async def execute(given: RunCheck, ctx: ToolContext) -> ToolResult:
        words = [*command, *_added(getattr(given, "arguments", None))]
        workspace = await ctx.resolve(WORKSPACE)
        program = run_program(words, timeout_s=seconds, limit_output_bytes=MAX_OUTPUT_BYTES, cwd=workspace.root)
        return await follow_program(program, ctx, shlex.join(words), seconds)

    about = "the project's check" if name == CHECK else f"the project's command '{name}'"
    added = "" if pattern is None else f" with arguments of yours behind it, each of which fits {pattern}"
    made = define_tool(
        name=f"{PREFIX}{name}",
        description=(
            f"Run {about}: {shown}{added}. Use it after a change was applied. A person must approve each run. "
            "Gives what it printed, and whether it passed."
        ),
        input=RunCheck if pattern is None else _input_with_arguments(pattern),
        execute=execute,
        effect="writes",
        brings=("private", "untrusted"),
        why="description",
        preview=preview,
    )
    return CodeTool(made)


def _input_with_arguments(pattern: str) -> type[RunCheck]:
    # pydantic's own patterns: they take linear time, whatever a model writes.
    fits = Field(min_length=1, max_length=MAX_ARGUMENT_CHARACTERS, pattern=f"^(?:{pattern})$")
    word = Annotated[str, fits, AfterValidator(_check_no_option)]
    text = "Words to add to the command, each as one argument; none begins with a dash."
    words = Annotated[list[word], Field(max_length=MAX_ARGUMENTS, description=text)]
    return create_model("RunWithArguments", __base__=RunCheck, arguments=(words, []))


def _check_no_option(word: str) -> str:
    """Refuse what a program would take for an option, however wide the pattern is."""
    if word.startswith("-"):
        raise ValueError(f"an argument must not begin with a dash, as {word!r} does")
    return word


def _added(arguments: Any) -> list[str]:
    return [] if arguments is None else list(arguments)


async def follow_program(
    program: Coroutine[object, object, ProgramResult], ctx: ToolContext, shown: str, seconds: float
) -> ToolResult:
    """Wait for the end of a program, and return what a model reads of it."""
    with tool_errors():
        result = await _run_until_stopped(program, ctx)
    if result is None:
        raise tool_failure(f"{shown} was ended before it was done: the user has stopped the run.", code="stopped")
    return _describe_result(result, shown, seconds)


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
