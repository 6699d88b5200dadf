"""`toolroll tools`: what tools there are, and what a model is told about each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from toolroll.cli.session import DONE, Session, output_options, source_options
from toolroll.errors import ToolFailure, UsageError
from toolroll.packs.registry import PACKS, first_sentence, pack_named

if TYPE_CHECKING:
    from toolroll.cli.render.parameters import Parameter
    from toolroll.packs.catalog import CatalogEntry

Provider = Literal["openai", "anthropic"]


def complete_tool_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of tools that begin so, for the shell."""
    _ = context, parameter
    return [line.name for pack in PACKS for line in pack.tools if line.name.startswith(incomplete)]


@click.group()
def tools() -> None:
    """List the tools, and show what a model is told about one.

    \b
    Examples:
      toolroll tools list
      toolroll tools show read_file
    """


@tools.command("list", short_help="List the tools with their effect.")
@source_options
@click.option("--by-use", is_flag=True, help="Those first that you use and approve most.")
@output_options
@click.pass_obj
def list_tools(session: Session, packs: tuple[str, ...], sources: tuple[str, ...], *, by_use: bool) -> int:
    """List the tools with their effect and the first sentence about them.

    \b
    Examples:
      toolroll tools list
      toolroll tools list --from my_tools.py --json
    """
    groups = _by_use(_listed(packs, sources)) if by_use else _listed(packs, sources)
    if session.json:
        lines = [line | {"from": origin} for origin, _, found in groups for line in found]
        session.write_json({"tools": lines})
    else:
        session.show("\n\n".join(_group_text(*group) for group in groups))
    return DONE


Line = dict[str, str]
Group = tuple[str, str, list[Line]]


def _listed(packs: tuple[str, ...], sources: tuple[str, ...]) -> list[Group]:
    chosen = [pack_named(name) for name in packs] if packs or sources else list(PACKS)
    groups = [
        (pack.name, pack.summary, [_line(one.name, one.effect, one.summary) for one in pack.tools]) for pack in chosen
    ]
    return [*groups, *map(_from_source, sources)]


def _by_use(groups: list[Group]) -> list[Group]:
    """Favourites first, also among the groups; what was never used stays in its order behind them."""
    from toolroll.cli.run_log import read_run_log  # noqa: PLC0415 - as below
    from toolroll.journal.statistics import favourites  # noqa: PLC0415 - as below

    places = {name: place for place, name in enumerate(favourites(read_run_log(lambda journal: journal.statistics())))}

    def place(line: Line) -> int:
        return places.get(line["name"], len(places))

    ordered = [(name, summary, sorted(lines, key=place)) for name, summary, lines in groups]
    return sorted(ordered, key=lambda group: min(map(place, group[2]), default=len(places)))


def format_tools(entries: "Sequence[CatalogEntry]") -> str:
    """Tools with their effect and the first sentence about them, by where they are from."""
    groups: dict[str, list[Line]] = {}
    for entry in entries:
        tool = entry.tool
        groups.setdefault(entry.origin, []).append(_line(tool.name, tool.effect, first_sentence(tool.description)))
    return "\n\n".join(_group_text(origin, "", lines) for origin, lines in groups.items())


def _from_source(source: str) -> Group:
    from toolroll.packs.load import load_tools  # noqa: PLC0415 - brings pydantic: four interpreter starts

    found = load_tools(source)
    return source, "", [_line(one.name, one.effect, first_sentence(one.description)) for one in found]


def _line(name: str, effect: str, summary: str) -> Line:
    return {"name": name, "effect": effect, "summary": summary}


def _group_text(name: str, summary: str, lines: list[Line]) -> str:
    formatter = _formatter()
    formatter.write_text(f"{name}: {summary}" if summary else name)
    formatter.indent()
    width = max(len(line["effect"]) for line in lines)
    formatter.write_dl([(line["name"], f"{line['effect']:<{width}}  {line['summary']}") for line in lines])
    return formatter.getvalue().rstrip("\n")


@tools.command()
@click.argument("name", shell_complete=complete_tool_names)
@source_options
@output_options
@click.pass_obj
def show(session: Session, name: str, packs: tuple[str, ...], sources: tuple[str, ...]) -> int:
    """Show what a tool does, what it takes, and where it is from.

    \b
    Example:
      toolroll tools show read_file
    """
    entry = _entry(name, packs, sources)
    if session.json:
        session.write_json(_as_json(entry))
    else:
        session.show(_as_text(entry))
    return DONE


def _entry(name: str, packs: tuple[str, ...], sources: tuple[str, ...]) -> "CatalogEntry":
    from toolroll.packs.catalog import read_catalog  # noqa: PLC0415 - as above

    return read_catalog(packs, sources, wanted=name).find(name)


def _as_json(entry: "CatalogEntry") -> dict[str, Any]:
    tool = entry.tool
    return {
        "name": tool.name,
        "description": tool.description,
        "effect": tool.effect,
        "asks": tool.effect != "reads" or tool.asks,
        "from": entry.origin,
        "parameters": tool.parameters,
        "fingerprint": tool.definition.fingerprint,
    }


_EFFECTS = {
    "reads": "reads: runs without being asked about",
    "writes": "writes: needs an approval",
    "external": "external: acts outside, needs an approval",
}


def _as_text(entry: "CatalogEntry") -> str:
    from toolroll.cli.render.parameters import list_parameters  # noqa: PLC0415 - only for this

    tool, formatter = entry.tool, _formatter()
    formatter.write(f"{tool.name}\n\n")
    formatter.indent()
    formatter.write_text(tool.description)
    formatter.dedent()
    asks = " (this one asks all the same)" if tool.asks and tool.effect == "reads" else ""
    formatter.write("\n")
    formatter.write_dl([("effect", _EFFECTS[tool.effect] + asks), ("from", entry.origin)])
    return (
        formatter.getvalue() + "\nParameters:\n" + _parameters_text(list_parameters(tool.parameters), formatter.width)
    )


def _parameters_text(parameters: "list[Parameter]", columns: int) -> str:
    """Two columns: the name, and beside it the type and below that what it is for."""
    if not parameters:
        return "  none\n"
    left = min(max(len(one.name) for one in parameters), columns // 2) + 4
    lines: list[str] = []
    for one in parameters:
        told = [f"{one.type} ({'required' if one.is_required else 'optional'})", one.description]
        text = "\n".join(click.wrap_text(line, columns - left) for line in told if line)
        beside = [" " * left + line for line in text.split("\n")]
        name = f"  {one.name}"
        lines += [name.ljust(left) + beside[0][left:], *beside[1:]] if len(name) < left - 1 else [name, *beside]
    return "\n".join(lines) + "\n"


def _formatter() -> click.HelpFormatter:
    return click.get_current_context().make_formatter()


@tools.command(short_help="Print the JSON Schema of a tool's arguments.")
@click.argument("name", shell_complete=complete_tool_names)
@click.option("--strict", is_flag=True, help="The form for strict tool calling.")
@click.option(
    "--provider", type=click.Choice(["openai", "anthropic"]), help="Whose strict form (with --strict; default openai)."
)
@source_options
@output_options
@click.pass_obj
def schema(
    session: Session,
    name: str,
    *,
    strict: bool,
    provider: Provider | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
) -> int:
    """Print the JSON Schema (draft-07) of a tool's arguments, or its strict form.

    \b
    Examples:
      toolroll tools schema write_todos
      toolroll tools schema write_todos --strict --provider anthropic
    """
    if provider is not None and not strict:
        raise UsageError("--provider chooses whose strict form is shown: add --strict.")
    entry = _entry(name, packs, sources)
    parameters = _strict(entry, provider or "openai") if strict else entry.tool.parameters
    if session.json:
        session.write_json(parameters)
    else:
        import json  # noqa: PLC0415 - only for this

        session.write(json.dumps(parameters, indent=2, ensure_ascii=False))
    return DONE


def _strict(entry: "CatalogEntry", provider: Provider) -> object:
    from toolroll.kernel.strict.convert import NotStrict, convert_to_strict  # noqa: PLC0415 - only for this
    from toolroll.models.strict import ANTHROPIC, OPENAI  # noqa: PLC0415 - only for this

    form = convert_to_strict(entry.tool.parameters, OPENAI if provider == "openai" else ANTHROPIC)
    if isinstance(form, NotStrict):
        text = f"{entry.tool.name} has no strict form for {provider}: {'; '.join(form.reasons)}."
        raise ToolFailure(f"{text} It is sent as it is, and its arguments are checked here.", code="not_strict")
    return form.schema
