"""A project's own settings: `.toolroll/settings.toml`, used only as somebody has trusted it, byte for byte (XA9).

Whoever wrote the project must not decide where keys are sent, who is asked, or where data is kept. So a project may set
only what is named here, its rules only deny more, and all of it counts only after `toolroll trust add`, which shows it.
"""

import shlex
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from toolroll.errors import FileMissing, ToolrollError, UsageError
from toolroll.home.command_settings import CommandSettings
from toolroll.home.mcp_servers import MAX_JSON_BYTES, MCP_JSON, ServerSettings, check_project_servers
from toolroll.home.rules import workspace_key
from toolroll.home.settings_layers import MAX_SETTINGS_BYTES, Layer, describe_fault
from toolroll.home.settings_schema import Origin, SettingsFile, explicit_values
from toolroll.home.trust import TrustBook
from toolroll.safe.paths.names import parse_path, quote_path
from toolroll.safe.paths.root import Root
from toolroll.safe.text import one_line

PROJECT_SETTINGS: Final = ".toolroll/settings.toml"
"""Where a project keeps them; no tool reads or writes there."""

_MAY_SET: Final = (
    "model",
    "code.deny",
    "code.check",
    "code.check_seconds",
    "code.commands",
    "code.after_edit",
    "code.max_steps",
    "code.limits.",
    "mcp_servers",
)
_MODELS: Final = ("anthropic:", "openai:", "ollama:")
"""Whose models a project may name. The others say where to connect to, or which file to load: an address by the back
door."""
_MAX_SHOWN: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """The project's settings as they are on the disk."""

    state: Literal["absent", "unreadable", "untrusted", "trusted"]
    content: bytes = b""
    problem: str = ""


def read_project_file(root: Path, environment: Mapping[str, str]) -> ProjectFile:
    """Read the project's settings file, and look up whether somebody has trusted exactly that content."""
    try:
        content = read_project_bytes(root)
        if content is None:
            return ProjectFile(state="absent")
        is_trusted = TrustBook.from_environment(environment).trusts(workspace_key(root), PROJECT_SETTINGS, content)
    except ToolrollError as error:
        return ProjectFile(state="unreadable", problem=error.message)
    return ProjectFile(state="trusted" if is_trusted else "untrusted", content=content)


def read_project_bytes(root: Path) -> bytes | None:
    """Return the bytes of the file; None where there is none. A FileProblem says why it cannot be read."""
    return _read_bytes(root, PROJECT_SETTINGS, MAX_SETTINGS_BYTES)


def read_mcp_json_bytes(root: Path) -> bytes | None:
    """Return the bytes of a project's `.mcp.json`; None where there is none."""
    return _read_bytes(root, MCP_JSON, MAX_JSON_BYTES)


def _read_bytes(root: Path, path: str, limit_bytes: int) -> bytes | None:
    # Not through a workspace: its guard lets nobody in there.
    with closing(Root(root)) as files:
        try:
            return files.read_bytes(parse_path(path), limit_bytes=limit_bytes)
        except FileMissing:
            return None


def read_project_layer(root: Path, environment: Mapping[str, str]) -> tuple[Layer | None, tuple[str, ...]]:
    """Return what the project sets, if it is trusted, and notes for the person.

    A trusted file that makes no sense is an error, as it may hold rules that deny.
    """
    found = read_project_file(root, environment)
    match found.state:
        case "absent":
            return None, ()
        case "unreadable":
            return None, (f"The project's settings are not used. {found.problem}",)
        case "untrusted":
            return None, (untrusted_note(root, PROJECT_SETTINGS, "settings"),)
        case _:
            path = str(root.resolve() / PROJECT_SETTINGS)
            return Layer.of_file(parse_project_settings(found.content), Origin(kind="project", place=path)), ()


def untrusted_note(root: Path, path: str, what: str) -> str:
    """Return the note about a project's own file that nobody has trusted."""
    told = f"'{quote_path(path)}' has {what} of the project's own. Nobody has trusted it: they are not used."
    # Quoted as a shell reads it: whoever named the file must not write the command that is copied from here.
    words = ["toolroll", "trust", "add", quote_path(path)]
    words += [] if root.resolve() == Path.cwd() else ["--root", quote_path(str(root))]
    return f"{told} Look at it, then: {shlex.join(words)}"


def parse_project_settings(content: bytes) -> SettingsFile:
    """Parse the settings in a project's file; UsageError names what a project may not set."""
    try:
        whole = tomllib.loads(content.decode())
        for name in _setting_names(whole):
            _check_name(name)
        file = SettingsFile.model_validate(whole)
        check_project_servers(file.mcp_servers)
    except ValidationError as error:
        raise _project_error(describe_fault(error)) from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, a number of 5,000 digits, too deep
        raise _project_error(f"{error}.") from None
    if file.model is not None and ":" in file.model and not file.model.startswith(_MODELS):
        raise _project_error(
            f"model is '{quote_path(file.model)}'; a project may name models of {', '.join(_MODELS)} only."
        )
    return file


def describe_settings(file: SettingsFile) -> str:
    """Describe what trusting the file means."""
    names = ", ".join(explicit_values(file)) or "nothing"
    check = f" Its check is a command that would run as you: {shlex.join(file.code.check)}" if file.code.check else ""
    commands = [
        one_line(f"Its command {name} would run as you: {shlex.join(one.command)}" + _more_words(one), _MAX_SHOWN)
        for name, one in file.code.commands.items()
    ]
    return "\n".join([f"It sets {names}.{quote_path(check)}", *commands, *describe_servers(file.mcp_servers)])


def _more_words(command: CommandSettings) -> str:
    return "" if command.arguments is None else f" (and arguments of a model that fit {command.arguments})"


def describe_servers(servers: Mapping[str, ServerSettings]) -> list[str]:
    """Describe, a line each, what using these MCP servers means: which command runs, or who is called, with what."""
    lines = []
    for name, one in servers.items():
        if one.url is not None:
            told = f"calls {one.url}"
        else:
            told = f"runs as you: {shlex.join([one.command or '', *one.args])}"
            told += f" (in {one.cwd})" if one.cwd else ""
        given = {**dict.fromkeys(one.env, ""), **one.variables, **one.headers}
        pairs = ", ".join(f"{key}={value}" if value else key for key, value in given.items())
        lines.append(one_line(f"MCP server {name} {told}" + (f"; it is given {pairs}" if pairs else ""), _MAX_SHOWN))
    return lines


def _check_name(name: str) -> None:
    if not any(name == one or (one.endswith(".") and name.startswith(one)) for one in _MAY_SET):
        may = ", ".join(one.rstrip(".") for one in _MAY_SET)
        raise _project_error(f"'{quote_path(name)}' is not for a project to set. It may set: {may}.")


def _setting_names(table: Mapping[str, Any], before: str = "") -> list[str]:
    found: list[str] = []
    for key, value in table.items():
        inner = isinstance(value, dict) and f"{before}{key}" in {"code", "code.limits"}
        found += _setting_names(value, f"{before}{key}.") if inner else [before + key]
    return found


def _project_error(fault: str) -> UsageError:
    told = f"The project's settings in '{PROJECT_SETTINGS}' cannot be used: {fault}"
    return UsageError(f"{told} Repair the file, or trust it no longer (toolroll trust remove {PROJECT_SETTINGS}).")
