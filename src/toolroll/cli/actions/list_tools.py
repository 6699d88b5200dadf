"""What `toolroll tools list` does. The packs are listed from their registry, so that none of them is loaded."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import click

from toolroll.cli.session import DONE, Session
from toolroll.journal.places import find_run_log
from toolroll.packs.registry import PACKS, first_sentence, pack_named

if TYPE_CHECKING:
    from toolroll.packs.catalog import CatalogEntry

Line: TypeAlias = dict[str, str]

Group: TypeAlias = tuple[str, str, list[Line]]


def list_tools(session: Session, packs: tuple[str, ...], sources: tuple[str, ...], *, by_use: bool) -> int:
    """List the tools; return the exit code."""
    groups = _by_use(_list_groups(packs, sources)) if by_use else _list_groups(packs, sources)
    if session.json:
        lines = [line | {"from": origin} for origin, _, found in groups for line in found]
        session.write_json({"tools": lines})
    else:
        session.show("\n\n".join(format_group(*group) for group in groups))
    return DONE


def _list_groups(packs: tuple[str, ...], sources: tuple[str, ...]) -> list[Group]:
    chosen = [pack_named(name) for name in packs] if packs or sources else list(PACKS)
    groups = [
        (pack.name, pack.summary, [make_line(one.name, one.effect, one.summary) for one in pack.tools])
        for pack in chosen
    ]
    return [*groups, *map(_from_source, sources)]


def _by_use(groups: list[Group]) -> list[Group]:
    """Favourites first, also among the groups; what was never used stays in its order behind them."""
    from toolroll.journal.statistics import favourites, read_statistics  # noqa: PLC0415 - pydantic_core, as below

    statistics = read_statistics(find_run_log(os.environ))
    places = {name: place for place, name in enumerate(favourites(statistics))}

    def place(line: Line) -> int:
        return places.get(line["name"], len(places))

    ordered = [(name, summary, sorted(lines, key=place)) for name, summary, lines in groups]
    return sorted(ordered, key=lambda group: min(map(place, group[2]), default=len(places)))


def _from_source(source: str) -> Group:
    from toolroll.packs.catalog import load_tools  # noqa: PLC0415 - pydantic: four interpreter starts

    found = load_tools(source)
    return source, "", [make_line(one.name, one.effect, first_sentence(one.description)) for one in found]


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
