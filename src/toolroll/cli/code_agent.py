"""What the coding agent has at the terminal: its tools, those of the project that are trusted, and its prompt."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolroll.cli.project_tools import load_trusted_tools
from toolroll.cli.render.prose import notify
from toolroll.home.settings import read_settings
from toolroll.packs.catalog import CatalogEntry
from toolroll.packs.code.agent import project_instructions
from toolroll.packs.code.check_tool import check_tool
from toolroll.packs.code.prompt import read_instructions, system_prompt
from toolroll.packs.code.tools import READING, TOOLS
from toolroll.packs.standard import TOOLS as STANDARD
from toolroll.safe.text import terminal_safe
from toolroll.workspace.workspace import Workspace


def list_code_tools(root: Path, *, read_only: bool, environment: Mapping[str, str]) -> list[CatalogEntry]:
    """The tools of a coding agent in this folder."""
    code = [CatalogEntry(tool=tool, origin="code", place="pack code") for tool in (READING if read_only else TOOLS)]
    standard = [CatalogEntry(tool=tool, origin="standard", place="pack standard") for tool in STANDARD]
    if read_only:
        return [*code, *standard]
    built_in = [*code, *standard, *_check_tools(root, environment)]
    return [*built_in, *load_trusted_tools(root, built_in, environment)]


def build_code_prompt(root: Path, entries: Sequence[CatalogEntry], more: str) -> str:
    """The prompt for these tools and this project."""
    with Workspace(root) as workspace:
        instructions = project_instructions(workspace)
    prompt = system_prompt(instructions=instructions, tools=[entry.tool.name for entry in entries])
    return f"{prompt}\n\n{more}" if more else prompt


def warn_about_instructions(root: Path) -> None:
    """Say where the project's AGENTS.md is not used, or not all of it."""
    with Workspace(root) as workspace:
        note = read_instructions(workspace).note
    if note:
        notify(f"Warning: {terminal_safe(note)}")


def _check_tools(root: Path, environment: Mapping[str, str]) -> list[CatalogEntry]:
    code = read_settings(environment, root=root).code
    if not code.check:
        return []
    return [CatalogEntry(tool=check_tool(code.check, seconds=code.check_seconds), origin="settings", place="settings")]
