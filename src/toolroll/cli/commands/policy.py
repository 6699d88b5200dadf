"""`toolroll policy`: what runs unasked, what is asked about, what never runs; and taking back an "always" (C35)."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolroll.cli.commands.changes import root_option
from toolroll.cli.commands.tools import complete_tool_names
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session, output_options, source_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.home.rules import RememberedRule, RuleBook
    from toolroll.home.settings import Settings
    from toolroll.packs.catalog import CatalogEntry
    from toolroll.safe.paths.names import RelativePath
    from toolroll.safe.paths.root import Use
    from toolroll.workspace.workspace import Workspace

_WORDS = {"allow": "runs without asking", "ask": "is asked about", "deny": "never runs"}
_OF_FOLDERS: Final = frozenset({"list_files", "find_files", "search_files"})
"""Tools of the code pack that take a folder: `.` is the project, and a `/` at the end does no harm."""


@click.group()
def policy() -> None:
    """See what tools may do unasked here, and take back what you said "always" to.

    \b
    Examples:
      toolroll policy list
      toolroll policy explain edit src/main.js
    """


@policy.command("list", short_help="List the rules that count in a project.")
@root_option
@output_options
@click.pass_obj
def list_rules(session: Session, *, root: Path | None) -> int:
    """List the rules that count in a project: denied by the settings, and allowed by an "always".

    The numbers are for 'toolroll policy forget'.

    \b
    Example:
      toolroll policy list --root ~/project
    """
    from toolroll.cli.project_tools import show_notes  # noqa: PLC0415 - pydantic: not for --help
    from toolroll.home.rules import workspace_key  # noqa: PLC0415 - as above
    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    settings = read_settings(os.environ, root=root or Path.cwd())
    show_notes(settings)
    denied = settings.code.deny
    here = _rules_here(_book(), workspace_key(root or Path.cwd()))
    if session.json:
        allowed = [{"number": number, **_fields(rule)} for number, rule in enumerate(here, 1)]
        session.write_json({"deny": denied, "allow": allowed})
        return DONE
    lines = [f"deny    {pattern}  ({_whose(settings, number)})" for number, pattern in enumerate(denied)]
    lines += [f"{number:<6}  allow {rule.tool} on {rule.path}  ({_when(rule)})" for number, rule in enumerate(here, 1)]
    if lines:
        session.show("\n".join(lines))
    else:
        notify("There are no rules here: what only reads runs, everything else is asked about.")
    return DONE


@policy.command(short_help="Say what would happen to a call, and why.")
@click.argument("tool", shell_complete=complete_tool_names)
@click.argument("path", required=False)
@root_option
@source_options
@output_options
@click.pass_obj
def explain(
    session: Session,
    tool: str,
    path: str | None,
    *,
    root: Path | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
) -> int:
    """Say whether TOOL on PATH runs, is asked about or never runs, and which rule says so.

    \b
    Examples:
      toolroll policy explain edit src/main.js
      toolroll policy explain read_file .env
    """
    from toolroll.packs.catalog import read_catalog  # noqa: PLC0415 - as above

    entry = read_catalog(packs, sources, wanted=tool).find(tool)
    found = _explained(entry, path, root or Path.cwd())
    if session.json:
        told = {"tool": tool, "path": path, "action": found.action, "because": found.because}
        session.write_json(told)
    else:
        where = f" on {path}" if path else ""
        session.show(f"{found.action}: {tool}{where} {_WORDS[found.action]}, as {found.because}.")
    return DONE


@policy.command(short_help="Take back an 'always'.")
@click.argument("number", type=click.IntRange(min=1))
@root_option
@output_options
@click.pass_obj
def forget(session: Session, number: int, *, root: Path | None) -> int:
    """Forget the rule NUMBER of 'toolroll policy list': from now on it is asked about again.

    \b
    Example:
      toolroll policy forget 1
    """
    from toolroll.home.rules import workspace_key  # noqa: PLC0415 - as above

    book = _book()
    here = _rules_here(book, workspace_key(root or Path.cwd()))
    if number > len(here):
        raise UsageError(f"There is no rule {number} here. See 'toolroll policy list'.")
    rule = here[number - 1]
    book.remove(rule)
    if session.json:
        session.write_json({"forgotten": _fields(rule)})
    else:
        session.show(f"Forgotten: allow {rule.tool} on {rule.path}.")
    return DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explained:
    action: str
    because: str


def _explained(entry: "CatalogEntry", path: str | None, root: Path) -> _Explained:
    from toolroll.home.rules import ToolIdentity, workspace_key  # noqa: PLC0415 - as above
    from toolroll.kernel.approval.policy import Policy  # noqa: PLC0415 - as above

    tool = entry.tool
    if path is not None and entry.origin == "code" and (why := _refused(entry, path, root)):
        return _Explained(action="deny", because=f"the path {why}")
    identity = ToolIdentity(tool=tool.name, fingerprint=tool.describe().fingerprint, place=entry.place)
    rules = _book().rules_for(workspace_key(root), [identity])
    paths = () if path is None else (path,)
    verdict = Policy(rules).judge(tool.name, effect=tool.effect, paths=paths, asks=tool.asks, core=tool.core.name)
    return _Explained(action=verdict.action, because=verdict.because)


def _refused(entry: "CatalogEntry", path: str, root: Path) -> str | None:
    """Why the workspace would not let the tool use this path; None where it would."""
    from toolroll.cli.workspace_settings import workspace_deps  # noqa: PLC0415 - as above
    from toolroll.errors import FileProblem, PathRefused  # noqa: PLC0415 - as above
    from toolroll.workspace.workspace import Workspace  # noqa: PLC0415 - as above

    deny = workspace_deps(root, os.environ)["deny"]
    with Workspace.of_user(root, environment=os.environ, deny=deny) as workspace:  # type: ignore[arg-type]
        try:
            named = workspace.folder(path) if entry.tool.name in _OF_FOLDERS else workspace.path(path)
            use: Use = "read" if entry.tool.effect == "reads" else "write"
            return None if named is None else _why_not(workspace, named, use)
        except (PathRefused, FileProblem) as error:
            return f"is refused: {error.message.rstrip('.')}"


def _why_not(workspace: "Workspace", path: "RelativePath", use: "Use") -> str | None:
    """The same for the path as it is written, and for what it leads to: what is denied is so by any name (XP3)."""
    if why := workspace.why_denied(path, use):
        return why
    there = path
    while not workspace.exists(there):  # and this refuses what leads out, in circles, or to what may not be seen
        there = there.parent
    target = workspace.status(there).resolved
    if target == there:
        return None
    if use == "write" and there != path:
        return f"goes through the link '{there}', and nothing is made through links"
    why = workspace.why_denied(target, use)
    return f"leads to '{target}', which {why}" if why else None


def _whose(settings: "Settings", number: int) -> str:
    return "the project" if settings.origin(f"code.deny[{number}]").kind == "project" else "settings"


def _book() -> "RuleBook":
    from toolroll.home.rules import RuleBook  # noqa: PLC0415 - as above

    return RuleBook.from_environment(os.environ)


def _rules_here(book: "RuleBook", workspace: str) -> "list[RememberedRule]":
    return [rule for rule in book.rules() if rule.workspace == workspace]


def _fields(rule: "RememberedRule") -> dict[str, object]:
    return {"tool": rule.tool, "path": rule.path, "place": rule.place, "added": rule.added.isoformat()}


def _when(rule: "RememberedRule") -> str:
    return f"since {rule.added.astimezone():%Y-%m-%d %H:%M}"
