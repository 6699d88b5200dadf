"""What `toolroll call` does: it calls one tool, checked, approved and answered as for a model."""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path

from toolroll.apps.permissions import Permissions, permissions_for
from toolroll.apps.project import Project, ResearchPlace
from toolroll.cli.render.plain import show_progress
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, Session
from toolroll.cli.terminal.surface import terminal_surface
from toolroll.errors import ToolFailure, UsageError
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.messages import Part, ToolCall
from toolroll.kernel.define.tool import Toolset
from toolroll.packs.catalog import read_catalog
from toolroll.packs.writing.texts.messages import LANG, choose_language
from toolroll.safe.limits import MAX_ARGUMENTS_BYTES


def call_tool(
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
    """Call a tool, and show its result; return the exit code."""
    session.claim_stdout()
    session.set_up_logging()
    raw = _arguments(arguments)
    place = ResearchPlace(ideas=None if ideas is None else str(ideas), repo=repo, branch=branch)
    surface = terminal_surface(stdin_is_taken=arguments == "-")
    with Project.open(root or Path.cwd(), os.environ) as project:
        deps = {
            "by_person": True,
            "data": data,
            "ideas": place.ideas,
            "repository": place.repo,
            "branch": place.branch,
            LANG: choose_language(None, os.environ),
            **project.deps,
        }
        catalog = read_catalog(packs, sources, wanted=name)
        entry = catalog.get(name)
        entries = () if entry is None else (entry,)
        folder = root or Path.cwd()
        permissions = permissions_for(entries, surface, settings=project.settings, folder=folder, yes=yes)
        call = ToolCall(id="call_1", name=name, arguments=raw)
        return _show_result(session, name, asyncio.run(_execute(catalog.tools, call, permissions, deps)))


def _arguments(given: str) -> str:
    if given != "-":
        return given
    if sys.stdin is None:
        message = "The arguments were to come from stdin, which is closed. Pipe JSON in, or write it here."
        raise ToolFailure(message, code="stdin_closed")
    try:
        # One byte more than a tool takes: it is the tool that says what is too much.
        return sys.stdin.buffer.read(MAX_ARGUMENTS_BYTES + 1).decode()
    except UnicodeDecodeError:
        raise UsageError("The arguments on stdin are not UTF-8. Send JSON text in that encoding.") from None


async def _execute(tools: Toolset, call: ToolCall, permissions: Permissions, deps: dict[str, object]) -> ToolResult:
    on_event = show_progress if sys.stderr is not None and sys.stderr.isatty() else None
    async with Run(policy=permissions.policy, approver=permissions.approver, on_event=on_event, deps=deps) as run:
        [result] = await execute_step(tools, [call], run)
        return result


def _show_result(session: Session, name: str, result: ToolResult) -> int:
    if session.json:
        answer = {"tool": name, "is_error": result.is_error, "content": _content(result), "output_ref": None}
        session.write_json(answer)
    else:
        session.write(_text(result))
    if result.code == "needs_approval":
        notify("Call it at a terminal to be asked, or add --yes to allow it.")
        return NEEDS_APPROVAL
    return FAILED if result.is_error else DONE


def _content(result: ToolResult) -> object:
    if result.type == "json":
        return json.loads(result.text)
    return result.content if isinstance(result.content, str) else [_part(part) for part in result.content]


def _part(part: Part) -> dict[str, object]:
    if part.type == "text":
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.data).decode("ascii")
    found: dict[str, object] = {"type": part.type, "media_type": part.media_type, "data": data}
    return found if part.type == "image" else found | {"title": part.title}


def _text(result: ToolResult) -> str:
    if isinstance(result.content, str):
        return result.content
    return "\n".join(
        part.text if part.type == "text" else f"[{part.type} {part.media_type}, {len(part.data):,} bytes]"
        for part in result.content
    )
