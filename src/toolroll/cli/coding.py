"""What the coding agent has at the terminal: its tools, those of the project that are trusted, and its prompt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from toolroll.errors import DefinitionError, FileProblem, PathRefused, ToolrollError
from toolroll.home.rules import workspace_of
from toolroll.home.settings import read_settings
from toolroll.home.trust import TrustBook
from toolroll.packs.catalog import Entry
from toolroll.packs.code.agent import project_instructions
from toolroll.packs.code.checking import check_tool
from toolroll.packs.code.prompt import system_prompt
from toolroll.packs.code.tools import READING, TOOLS
from toolroll.packs.load import load_content
from toolroll.packs.standard import TOOLS as STANDARD
from toolroll.safe.names import parse_path, shown
from toolroll.safe.text import terminal_safe
from toolroll.workspace.limits import DEFAULT_LIMITS
from toolroll.workspace.workspace import Workspace

OWN_TOOLS: Final = ".toolroll/tools"
"""Where a project keeps tools of its own: Python that would run as the person who trusts it."""


def code_entries(root: Path, *, read_only: bool, environment: Mapping[str, str]) -> list[Entry]:
    """The tools of a coding agent in this folder."""
    own = [] if read_only else [*_check(environment), *_trusted(root, environment)]
    code = [Entry(tool=tool, origin="code", place="pack code") for tool in (READING if read_only else TOOLS)]
    standard = [Entry(tool=tool, origin="standard", place="pack standard") for tool in STANDARD]
    return [*code, *standard, *own]


def code_system(root: Path, entries: Sequence[Entry], more: str) -> str:
    """The prompt for these tools and this project."""
    with Workspace(root) as workspace:
        instructions = project_instructions(workspace)
    prompt = system_prompt(instructions=instructions, tools=[entry.tool.name for entry in entries])
    return f"{prompt}\n\n{more}" if more else prompt


def workspace_deps(root: Path | None, environment: Mapping[str, str]) -> dict[str, object]:
    """What tools that work in a folder are told: which one, and what the user's settings say about it."""
    code = read_settings(environment).code
    limits = replace(DEFAULT_LIMITS, **code.limits.model_dump(exclude_none=True))
    return {"root": root or Path.cwd(), "deny": code.deny, "limits": limits}


def own_tool_files(root: Path) -> list[tuple[str, bytes]]:
    """The project's own tool files with their content; none where there is no such folder."""
    # Its folder is protected: no tool reads or writes there. This is for the person who decides about it.
    with Workspace(root, protected=()) as workspace:
        try:
            entries, _ = workspace.entries(parse_path(OWN_TOOLS))
        except (FileProblem, PathRefused):
            return []
        names = [entry.name for entry in entries if entry.kind == "file" and entry.name.endswith(".py")]
        paths = [f"{OWN_TOOLS}/{name}" for name in sorted(names)]
        return [(path, workspace.read(parse_path(path)).data) for path in paths]


def _check(environment: Mapping[str, str]) -> list[Entry]:
    code = read_settings(environment).code
    if not code.check:
        return []
    return [Entry(tool=check_tool(code.check, seconds=code.check_seconds), origin="settings", place="settings")]


def _trusted(root: Path, environment: Mapping[str, str]) -> Iterator[Entry]:
    """The tools of files whose content somebody has trusted; of others it is said that they are there."""
    for path, content in own_tool_files(root):
        try:
            is_trusted = TrustBook.of_user(environment).trusts(workspace_of(root), path, content)
        except ToolrollError as error:
            click.echo(f"Warning: {terminal_safe(error.message)}", err=True)
            return
        if is_trusted:
            yield from _loaded(root, path, content)
        else:
            told = f"Note: '{shown(path)}' has tools of the project's own. Nobody has trusted it: they are not used."
            click.echo(f"{told} Look at it, then: toolroll trust add '{shown(path)}'", err=True)


def _loaded(root: Path, path: str, content: bytes) -> list[Entry]:
    place = str(root.resolve() / path)
    try:
        # The bytes that were trusted, not the file: it could be another one by the time it is read again.
        tools = load_content(content, place)
    except DefinitionError as error:
        click.echo(f"Warning: {terminal_safe(error.message)}", err=True)
        return []
    return [Entry(tool=tool, origin=path, place=place) for tool in tools]
