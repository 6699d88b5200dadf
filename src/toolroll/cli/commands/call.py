"""`toolroll call`: one tool without a model, checked, approved and answered as a model would have it."""

import base64
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolroll.cli.commands.changes import root_option
from toolroll.cli.commands.explore import place_options
from toolroll.cli.commands.tools import complete_tool_names
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, Session, output_options, source_options
from toolroll.errors import ToolFailure, UsageError
from toolroll.safe.limits import MAX_ARGUMENTS_BYTES
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    from toolroll.cli.permissions import Permissions
    from toolroll.kernel.call.events import KernelEvent
    from toolroll.kernel.call.result import ToolResult
    from toolroll.kernel.data.messages import Part
    from toolroll.kernel.define.toolset import Toolset

MAX_EVENT_CHARACTERS: Final = 200
"""Of a progress message: it is one line of many."""


@click.command()
@click.argument("name", shell_complete=complete_tool_names)
@click.argument("arguments", default="{}", metavar="[JSON]")
@click.option("--yes", is_flag=True, help="Allow what would be asked about.")
@root_option
@click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="The folder of the writing tools."
)
@place_options
@source_options
@output_options
@click.pass_obj
def call(
    session: Session,
    name: str,
    arguments: str,
    *,
    yes: bool,
    root: Path | None,
    data: Path | None,
    ideas: Path | None,
    repo: str | None,
    branch: str | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
) -> int:
    """Call the tool NAME with arguments as JSON ('-' reads them from stdin).

    What is printed is exactly what a model would read. With --json it is {"tool", "is_error", "content", "output_ref"},
    the content being the value itself. Whatever the tool itself prints goes to stderr.

    A tool that changes something asks first, at the terminal. Where nobody can be asked it does not run, and the exit
    code is 3.

    \b
    Examples:
      toolroll call done '{"message": "Finished."}'
      toolroll call search_files '{"pattern": "TODO"}' --root ~/project
      echo '{"path": "a.txt"}' | toolroll call read_it - --from my_tools.py
    """
    session.claim_stdout()
    set_up_log(session)
    raw = _arguments(arguments)
    places = {"data": data, **_research_places(ideas, repo, branch), **_places(root)}
    from toolroll.cli.permissions import permissions_for  # noqa: PLC0415 - these bring pydantic: four interpreter starts
    from toolroll.packs.catalog import read_catalog  # noqa: PLC0415 - as above

    catalog = read_catalog(packs, sources, wanted=name)
    tools = catalog.tools
    entry = catalog.get(name)
    entries = () if entry is None else (entry,)
    permissions = permissions_for(
        entries, yes=yes, stdin_is_taken=arguments == "-", environment=os.environ, folder=root
    )
    return _answer(session, name, _result(tools, name, raw, permissions, places))


def _arguments(given: str) -> str:
    if given != "-":
        return given
    if sys.stdin is None:
        told = "The arguments were to come from stdin, and it is closed. Pipe JSON in, or write it here."
        raise ToolFailure(told, code="stdin_closed")
    try:
        # One byte more than a tool takes: it is the tool that says what is too much.
        return sys.stdin.buffer.read(MAX_ARGUMENTS_BYTES + 1).decode()
    except UnicodeDecodeError:
        raise UsageError("The arguments on stdin are not UTF-8. Send JSON text in that encoding.") from None


def set_up_log(session: Session) -> None:
    """Tracebacks of failed tools go to the log, and the log to stderr with --debug only.

    asyncio's too: after a second Ctrl-C it logs the task that nobody waits for any more.
    """
    import logging  # noqa: PLC0415 - an interpreter start of its own

    handler = logging.StreamHandler(sys.stderr) if session.debug else logging.NullHandler()
    for name in ("toolroll", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.propagate = False


def _places(root: Path | None) -> dict[str, object]:
    from toolroll.cli.workspace_settings import workspace_deps  # noqa: PLC0415 - as above
    from toolroll.packs.writing.texts.messages import LANG, choose_language  # noqa: PLC0415 - as above

    return {LANG: choose_language(None, os.environ), **workspace_deps(root, os.environ)}


def _research_places(ideas: Path | None, repo: str | None, branch: str | None) -> dict[str, object]:
    from toolroll.cli.actions.explore import ResearchPlace  # noqa: PLC0415 - as above

    place = ResearchPlace(ideas=None if ideas is None else str(ideas), repo=repo, branch=branch)
    return {"ideas": place.ideas, "repository": place.repo, "branch": place.branch}


def _result(
    tools: "Toolset", name: str, raw: str, permissions: "Permissions", places: dict[str, object]
) -> "ToolResult":
    import asyncio  # noqa: PLC0415 - as above

    from toolroll.kernel.call.context import Run  # noqa: PLC0415 - as above
    from toolroll.kernel.call.step import execute_step  # noqa: PLC0415 - as above
    from toolroll.kernel.data.messages import ToolCall  # noqa: PLC0415 - as above

    async def run_it() -> "ToolResult":
        on_event = show_progress if sys.stderr is not None and sys.stderr.isatty() else None
        deps = {"by_person": True, **places}
        async with Run(policy=permissions.policy, approver=permissions.approver, on_event=on_event, deps=deps) as run:
            [result] = await execute_step(tools, [ToolCall(id="call_1", name=name, arguments=raw)], run)
            return result

    return asyncio.run(run_it())


def show_progress(event: "KernelEvent") -> None:
    """Tell a person at the terminal what a running call reports: how far it is, and the todos."""
    if event.event == "progress":
        share = "" if event.fraction is None else f" ({event.fraction:.0%})"
        _say(event.message + share)
    elif event.event == "state_changed" and event.name == "todos":  # others are for programs
        _say(f"{event.name}: {json.dumps(event.value, ensure_ascii=False)}")


def _say(text: str) -> None:
    notify(f"· {one_line(text, MAX_EVENT_CHARACTERS)}", dim=True)


def _answer(session: Session, name: str, result: "ToolResult") -> int:
    if session.json:
        answer = {"tool": name, "is_error": result.is_error, "content": _content(result), "output_ref": None}
        session.write_json(answer)
    else:
        session.write(_text(result))
    if result.code == "needs_approval":
        notify("Call it at a terminal to be asked, or add --yes to allow it.")
        return NEEDS_APPROVAL
    return FAILED if result.is_error else DONE


def _content(result: "ToolResult") -> object:
    if result.type == "json":
        return json.loads(result.text)
    return result.content if isinstance(result.content, str) else [_part(part) for part in result.content]


def _part(part: "Part") -> dict[str, object]:
    if part.type == "text":
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.data).decode("ascii")
    found: dict[str, object] = {"type": part.type, "media_type": part.media_type, "data": data}
    return found if part.type == "image" else found | {"title": part.title}


def _text(result: "ToolResult") -> str:
    if isinstance(result.content, str):
        return result.content
    return "\n".join(
        part.text if part.type == "text" else f"[{part.type} {part.media_type}, {len(part.data):,} bytes]"
        for part in result.content
    )
