"""What `toolroll policy` does: it explains what happens to a call and why, and forgets remembered rules (C35)."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.cli.terminal.surface import show_setting_notes, terminal_surface
from toolroll.errors import FileProblem, PathRefused, UsageError
from toolroll.home.rules import RememberedRule, RuleBook, ToolIdentity, workspace_key
from toolroll.home.settings import Settings, read_settings
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import unique_paths
from toolroll.packs.catalog import CatalogEntry, read_catalog
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import Use
from toolroll.safe.text import visible
from toolroll.workspace.workspace import Workspace

_WORDS = {"allow": "runs without asking", "ask": "is asked about", "deny": "never runs"}
_OF_FOLDERS: Final = frozenset({"list_files", "find_files", "search_files"})
"""Tools of the code pack that take a folder: `.` is the project, and a `/` at the end does no harm."""


def list_rules(session: Session, *, root: Path | None) -> int:
    """List the rules that count in a project; return the exit code."""
    settings = read_settings(os.environ, root=root or Path.cwd())
    show_setting_notes(settings, terminal_surface())
    denied = settings.code.deny
    here = _rules_here(_book(), workspace_key(root or Path.cwd()))
    if session.json:
        allowed = [{"number": number, **_fields(rule)} for number, rule in enumerate(here, 1)]
        session.write_json({"deny": denied, "allow": allowed})
        return DONE
    lines = [f"deny    {pattern}  ({_whose(settings, number)})" for number, pattern in enumerate(denied)]
    lines += [f"{number:<6}  {rule.rule}  ({_when(rule)})" for number, rule in enumerate(here, 1)]
    if lines:
        session.show("\n".join(lines))
    else:
        notify("There are no rules here: what only reads runs, everything else is asked about.")
    return DONE


def explain_call(
    session: Session,
    tool: str,
    path: str | None,
    *,
    root: Path | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
) -> int:
    """Show what would happen to a call, and why; return the exit code."""
    entry = read_catalog(packs, sources, wanted=tool).find(tool)
    found = _explained(entry, path, root or Path.cwd())
    if session.json:
        told = {"tool": tool, "path": path, "action": found.action, "because": found.because}
        session.write_json(told if found.leads_to is None else told | {"leads_to": found.leads_to})
    else:
        leads_to = f" (which leads to {visible(found.leads_to, keep=())})" if found.leads_to else ""
        where = f" on {visible(path, keep=())}{leads_to}" if path else ""
        session.show(f"{found.action}: {tool}{where} {_WORDS[found.action]}, as {found.because}.")
    return DONE


def forget_rule(session: Session, number: int, *, root: Path | None) -> int:
    """Forget a remembered rule; return the exit code."""
    book = _book()
    here = _rules_here(book, workspace_key(root or Path.cwd()))
    if number > len(here):
        raise UsageError(f"There is no rule {number} here. See 'toolroll policy list'.")
    rule = here[number - 1]
    book.remove(rule)
    if session.json:
        session.write_json({"forgotten": _fields(rule)})
    else:
        session.show(f"Forgotten: {rule.rule}.")
    return DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explained:
    action: str
    because: str
    leads_to: str | None = None
    """The path without links, where that is another one."""


def _explained(entry: CatalogEntry, path: str | None, root: Path) -> _Explained:
    tool = entry.tool
    resolved = path
    if path is not None and entry.origin == "code":
        if why := _refused(entry, path, root):
            return _Explained(action="deny", because=f"the path {why}")
        resolved = _resolve(path, root)
    identity = ToolIdentity(tool=tool.name, fingerprint=tool.describe().fingerprint, place=entry.place)
    rules = _book().rules_for(workspace_key(root), [identity])
    paths = unique_paths(one for one in (path, resolved) if one is not None)
    verdict = Policy(rules).judge(tool.name, effect=tool.effect, paths=paths, asks=tool.asks, core=tool.core.name)
    leads_to = None if resolved == path else resolved
    return _Explained(action=verdict.action, because=verdict.because, leads_to=leads_to)


def _resolve(path: str, root: Path) -> str:
    with Workspace.of_user(root, environment=os.environ) as workspace:
        return str(workspace.resolve(workspace.folder(path)))


def _refused(entry: CatalogEntry, path: str, root: Path) -> str | None:
    """Why the workspace would not let the tool use this path; None where it would."""
    deny = read_settings(os.environ, root=root).code.deny
    with Workspace.of_user(root, environment=os.environ, deny=deny) as workspace:
        try:
            named = workspace.folder(path) if entry.tool.name in _OF_FOLDERS else workspace.path(path)
            use: Use = "read" if entry.tool.effect == "reads" else "write"
            return None if named is None else _why_not(workspace, named, use)
        except (PathRefused, FileProblem) as error:
            return f"is refused: {error.message.rstrip('.')}"


def _why_not(workspace: Workspace, path: RelativePath, use: Use) -> str | None:
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


def _whose(settings: Settings, number: int) -> str:
    return "the project" if settings.origin(f"code.deny[{number}]").kind == "project" else "settings"


def _book() -> RuleBook:
    return RuleBook.from_environment(os.environ)


def _rules_here(book: RuleBook, workspace: str) -> list[RememberedRule]:
    return [rule for rule in book.rules() if rule.workspace == workspace]


def _fields(rule: RememberedRule) -> dict[str, object]:
    return {"tool": rule.tool, "path": rule.path, "place": rule.place, "added": rule.added.isoformat()}


def _when(rule: RememberedRule) -> str:
    return f"since {rule.added.astimezone():%Y-%m-%d %H:%M}"
