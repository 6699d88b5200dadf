"""`run_program`: a program that a model names, by its arguments and never through a shell (S13).

It is off unless the settings switch it on. A person sees the exact words, the folder, the time and what the program can
reach, and is asked each time: no rule and no `--yes` answers. Where the system has bubblewrap, the program runs in a
sandbox in which what the tools may not read is hidden; where it has not, the question says so.
"""

import asyncio
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from toolroll.errors import PathRefused, UsageError
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.define.decorator import define_tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.wrappers import with_approval
from toolroll.packs.code.check_tool import MAX_OUTPUT_BYTES, follow_program
from toolroll.packs.code.failures import CodeTool, tool_errors
from toolroll.packs.code.keys import see_workspace
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.programs.run import minimal_environment, run_program
from toolroll.safe.programs.sandbox import SandboxFolder, sandbox_command, sandbox_environment
from toolroll.workspace.workspace import Workspace

NAME: Final = "run_program"
MAX_WORDS: Final = 200
MAX_WORD_CHARACTERS: Final = 4_000
MAX_WALK_ENTRIES: Final = 500_000
"""Names that are looked at to find what must be hidden: about 2 s."""

ASKED: Final = "A program can do more than its words say. It is asked about each time."
NO_UNDO: Final = "What it changes cannot be undone with toolroll."
NO_SANDBOX: Final = (
    "There is no sandbox on this system (bubblewrap): the program can do all that you can, read and change your files, "
    "and use the network."
)

Word = Annotated[str, Field(max_length=MAX_WORD_CHARACTERS)]


class RunProgram(BaseModel):
    """What `run_program` takes."""

    command: Annotated[
        list[Word],
        Field(
            min_length=1, max_length=MAX_WORDS, description="The program and its arguments, one word each; no shell."
        ),
    ]
    description: Annotated[str, Field(description="In a sentence: what it is for.")]
    folder: Annotated[str, Field(description="The folder to run it in, from the project root.")] = "."
    writes: Annotated[bool, Field(description="Whether it has to change files of the project.")] = False


def program_tool(*, seconds: float, sandbox: str | None) -> Tool:
    """Return the tool; `sandbox` is the path of bubblewrap, None where programs run without one."""

    async def preview(arguments: Mapping[str, Any], ctx: ToolContext, _edited: str | None) -> Preview:
        given = RunProgram.model_validate(arguments)
        with tool_errors():
            folder = _folder(await see_workspace(ctx), given.folder)
        doubts = (ASKED,) if sandbox else (NO_SANDBOX, ASKED)
        lines = [f"run in {folder}", f"for at most {seconds:g} seconds:", shlex.join(given.command), "", _reach(given)]
        text = "\n".join(lines if sandbox else lines[:3])
        notes = (NO_UNDO,) if given.writes or not sandbox else ()
        return Preview(kind="text", text=text, doubts=doubts, notes=notes)

    async def execute(given: RunProgram, ctx: ToolContext) -> ToolResult:
        command, environment = given.command, minimal_environment(os.environ)
        with tool_errors():
            workspace = await see_workspace(ctx)
            folder = _folder(workspace, given.folder)
            if sandbox is not None:
                inside = await asyncio.to_thread(_guard_folder, workspace, writable=given.writes)
                command = sandbox_command(sandbox, command, inside, cwd=folder)
                environment = sandbox_environment(os.environ)
        program = run_program(
            command, timeout_s=seconds, limit_output_bytes=MAX_OUTPUT_BYTES, cwd=folder, env=environment
        )
        return await follow_program(program, ctx, shlex.join(given.command), seconds)

    inside = "in a sandbox without network" if sandbox else "without a sandbox"
    made = define_tool(
        name=NAME,
        description=(
            f"Run a program in the project, {inside}, for at most {seconds:g} seconds. There is no shell: no pipes, no "
            "redirection, no variables. The person is asked each time. Use it only where no other tool does it."
        ),
        input=RunProgram,
        execute=execute,
        effect="writes" if sandbox else "external",
        brings=("private", "untrusted"),
        why="description",
        preview=preview,
    )
    return with_approval(CodeTool(made))


def _reach(given: RunProgram) -> str:
    use = "read and changed" if given.writes else "read, not changed"
    return f"in a sandbox: no network; the project can be {use}, without protected files; your home folder is hidden"


def _folder(workspace: Workspace, name: str) -> Path:
    """Return the folder to run in; an error where it is none, or may not be seen."""
    path = workspace.folder(name)
    root = Path(workspace.root)
    if path is None:
        return root
    workspace.denials.check(path, "read")
    status = workspace.status(path)
    if status.kind != "folder":
        raise PathRefused(f"'{quote_path(name)}' is not a folder.", path=quote_path(name), rule="folder")
    return root.joinpath(*status.resolved.parts)


def _guard_folder(workspace: Workspace, *, writable: bool) -> SandboxFolder:
    """Return the project for a sandbox: what may not be read is hidden, what may not be written is read-only."""
    files: list[str] = []
    folders: list[str] = []
    fixed: list[str] = []
    for path, is_folder, is_hidden in _guarded(workspace):
        if not is_hidden:
            fixed.append(path)
        else:
            (folders if is_folder else files).append(path)
    return SandboxFolder(
        root=Path(workspace.root),
        writable=writable,
        hidden_files=files,
        hidden_folders=folders,
        read_only=fixed if writable else (),
    )


def _guarded(workspace: Workspace) -> Iterator[tuple[str, bool, bool]]:
    """Yield each path that may not be read or not be written, whether it is a folder, and whether it is hidden."""
    seen = 0
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        parts = waiting.pop()
        with os.scandir(Path(workspace.root).joinpath(*parts)) as entries:
            for entry in entries:
                seen += 1
                if seen > MAX_WALK_ENTRIES:
                    raise UsageError(
                        f"The project has more than {MAX_WALK_ENTRIES:,} files, too many to find those that must be "
                        "hidden from a program. Nothing was run."
                    )
                if entry.is_symlink():  # what it leads to is guarded by its own name, or is not there
                    continue
                path = RelativePath(parts=(*parts, entry.name))
                is_folder = entry.is_dir(follow_symlinks=False)
                if workspace.is_denied(path):
                    yield entry.path, is_folder, True
                    continue
                if workspace.why_denied(path, "write"):
                    yield entry.path, is_folder, False
                if is_folder:
                    waiting.append(path.parts)
