"""What `toolroll tools show` and `schema` do: they show what a model reads about a tool."""

import json
from typing import Any, Literal

import click

from toolroll.cli.render.parameters import Parameter, list_parameters
from toolroll.cli.session import DONE, Session
from toolroll.errors import ToolFailure, UsageError
from toolroll.kernel.strict.convert import NotStrict, convert_to_strict
from toolroll.models.strict import ANTHROPIC, OPENAI
from toolroll.packs.catalog import CatalogEntry, read_catalog

Provider = Literal["openai", "anthropic"]
_EFFECTS = {
    "reads": "reads: runs without being asked about",
    "writes": "writes: needs an approval",
    "external": "external: acts outside, needs an approval",
}


def show_tool(session: Session, name: str, packs: tuple[str, ...], sources: tuple[str, ...]) -> int:
    """Show what a tool does and takes; return the exit code."""
    entry = _entry(name, packs, sources)
    if session.json:
        session.write_json(_as_json(entry))
    else:
        session.show(_as_text(entry))
    return DONE


def show_schema(
    session: Session,
    name: str,
    *,
    strict: bool,
    provider: Provider | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
) -> int:
    """Show the JSON Schema of a tool's arguments; return the exit code."""
    if provider is not None and not strict:
        raise UsageError("--provider chooses whose strict form is shown: add --strict.")
    entry = _entry(name, packs, sources)
    parameters = _strict(entry, provider or "openai") if strict else entry.tool.parameters
    if session.json:
        session.write_json(parameters)
    else:
        session.write(json.dumps(parameters, indent=2, ensure_ascii=False))
    return DONE


def _entry(name: str, packs: tuple[str, ...], sources: tuple[str, ...]) -> CatalogEntry:
    return read_catalog(packs, sources, wanted=name).find(name)


def _as_json(entry: CatalogEntry) -> dict[str, Any]:
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


def _as_text(entry: CatalogEntry) -> str:
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


def _parameters_text(parameters: list[Parameter], columns: int) -> str:
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


def _strict(entry: CatalogEntry, provider: Provider) -> object:
    form = convert_to_strict(entry.tool.parameters, OPENAI if provider == "openai" else ANTHROPIC)
    if isinstance(form, NotStrict):
        text = f"{entry.tool.name} has no strict form for {provider}: {'; '.join(form.reasons)}."
        raise ToolFailure(f"{text} It is sent as it is, and its arguments are checked here.", code="not_strict")
    return form.schema
