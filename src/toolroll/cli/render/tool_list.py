"""A list of tools: each with its effect and the first sentence about it, grouped by where the tools are from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import click

from toolroll.packs.registry import first_sentence

if TYPE_CHECKING:
    from toolroll.packs.catalog import CatalogEntry

Line: TypeAlias = dict[str, str]
Group: TypeAlias = tuple[str, str, list[Line]]


def format_tools(entries: "Sequence[CatalogEntry]") -> str:
    """Return tools with their effect and the first sentence about them, by where they are from."""
    groups: dict[str, list[Line]] = {}
    for entry in entries:
        tool = entry.tool
        groups.setdefault(entry.origin, []).append(make_line(tool.name, tool.effect, first_sentence(tool.description)))
    return "\n\n".join(format_group(origin, "", lines) for origin, lines in groups.items())


def make_line(name: str, effect: str, summary: str) -> Line:
    """Return the line of one tool."""
    return {"name": name, "effect": effect, "summary": summary}


def format_group(name: str, summary: str, lines: list[Line]) -> str:
    """Return the tools of one pack, file or module as text for this terminal."""
    formatter = click.get_current_context().make_formatter()
    formatter.write_text(f"{name}: {summary}" if summary else name)
    formatter.indent()
    width = max(len(line["effect"]) for line in lines)
    formatter.write_dl([(line["name"], f"{line['effect']:<{width}}  {line['summary']}") for line in lines])
    return formatter.getvalue().rstrip("\n")
