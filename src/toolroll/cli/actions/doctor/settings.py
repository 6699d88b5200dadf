"""Settings and the project: what the files and variables say, and what of the project's own is trusted."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Final

from toolroll.apps.project_tools import project_tool_files
from toolroll.cli.actions.doctor.findings import Database, Finding, Status
from toolroll.cli.terminal.surface import terminal_surface
from toolroll.errors import ToolrollError
from toolroll.home.project_settings import PROJECT_SETTINGS, parse_project_settings, read_project_file
from toolroll.home.rules import RuleBook, workspace_key
from toolroll.home.settings import read_user_layer, settings_path
from toolroll.home.settings_layers import read_variables
from toolroll.home.settings_schema import PREFIX, all_settings
from toolroll.home.trust import TrustBook
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.changes.history import FILE_NAME
from toolroll.workspace.changes.records import HISTORY
from toolroll.workspace.workspace import state_folder

INSTRUCTIONS: Final = "AGENTS.md"
_NOT_SETTINGS: Final = {"TOOLROLL_HOME", "TOOLROLL_QUESTION_PAUSE", "TOOLROLL_ROUNDS"}


def check_settings(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what the user has set, and whether it makes sense."""
    yield from _of_user(environment)
    yield from _variables(environment)


def _of_user(environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        place = quote_path(str(settings_path(environment)))
        layer = read_user_layer(environment)
        told = "none yet" if layer is None else f"sets {', '.join(layer.values) or 'nothing'}"
        yield _found("settings", "settings.toml", f"{place}: {told}")
        kept = len(RuleBook.from_environment(environment).rules())
        yield _found("settings", "always", f"{kept:,} remembered approval{'' if kept == 1 else 's'}")
    except ToolrollError as error:
        yield _found("settings", "settings.toml", error.message, "broken")


def _variables(environment: Mapping[str, str]) -> Iterator[Finding]:
    known = {one.variable for one in all_settings()} | _NOT_SETTINGS
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            fix = f"did you mean {near[0]}?" if near else "see 'toolroll config list --json'"
            yield _found("settings", quote_path(name), "is no setting, and does nothing", "warning", fix)
    try:
        layer = read_variables(environment)
    except ToolrollError as error:
        yield _found("settings", "variables", error.message, "broken")
    else:
        if layer.values:
            yield _found("settings", "variables", f"set {', '.join(layer.values)}")


def check_project(root: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what the project brings, and what of it is used."""
    yield _found("project", "folder", quote_path(str(root.resolve())))
    has = (root / INSTRUCTIONS).is_file()
    text = f"{INSTRUCTIONS} is read" if has else f"there is no {INSTRUCTIONS}, which agents would be told"
    yield _found("project", "instructions", text, "ok" if has else "missing")
    yield _undo_history(root, environment)
    yield _own_settings(root, environment)
    yield from _own_tools(root, environment)


def _undo_history(root: Path, environment: Mapping[str, str]) -> Finding:
    path, made = state_folder(root, environment) / FILE_NAME, "made with the first change"
    name = "undo history"
    return Database(area="project", name=name, path=path, table="changes", newest=HISTORY.version, made=made).look()


def _own_settings(root: Path, environment: Mapping[str, str]) -> Finding:
    found = read_project_file(root, environment)
    match found.state:
        case "absent":
            return _found("project", "settings", "none of its own")
        case "unreadable":
            return _found("project", "settings", found.problem, "broken")
        case "untrusted":
            fix = f"toolroll trust add {PROJECT_SETTINGS}"
            return _found("project", "settings", "not trusted, so not used", "missing", fix)
        case _:
            try:
                parse_project_settings(found.content)
            except ToolrollError as error:
                return _found("project", "settings", error.message, "broken")
            return _found("project", "settings", "trusted as they are")


def _own_tools(root: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        book, place = TrustBook.from_environment(environment), workspace_key(root)
        for path, content in project_tool_files(root, terminal_surface()):
            if book.trusts(place, path, content):
                yield _found("project", "tools", f"{quote_path(path)} is trusted as it is")
            else:
                yield _found(
                    "project", "tools", f"{quote_path(path)} is not trusted, so not used", "missing", _trust(path)
                )
    except ToolrollError as error:
        yield _found("project", "tools", error.message, "broken")


def _trust(path: str) -> str:
    return f"toolroll trust add {quote(quote_path(path))}"


def _found(area: str, name: str, text: str, status: Status = "ok", fix: str = "") -> Finding:
    return Finding(area=area, name=name, status=status, text=text, fix=fix)
