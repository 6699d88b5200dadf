"""The configuration of programs that use MCP servers: where each keeps it, and how our server is written into it."""

import json
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError

from toolroll.errors import FileMissing, JsonRefused, UsageError
from toolroll.kernel.arguments.parse import parse_object
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import Root

MAX_BYTES: Final = 16_777_216
"""Of a client's configuration; some keep their history in it."""
FILE_MODE: Final = 0o600
ClientName: TypeAlias = Literal["claude-desktop", "claude-code", "cursor", "vscode", "codex", "gemini", "windsurf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProgram:
    """A program that uses MCP servers. `file` is below the home folder, `mac_file` on a Mac, or in the project."""

    title: str
    file: str
    mac_file: str = ""
    key: str = "mcpServers"
    has_type: bool = False
    """Whether an entry says that the server is started as a program."""
    is_in_project: bool = False
    next_step: str


CLIENTS: Final[Mapping[ClientName, ClientProgram]] = {
    "claude-desktop": ClientProgram(
        title="Claude Desktop",
        file=".config/Claude/claude_desktop_config.json",
        mac_file="Library/Application Support/Claude/claude_desktop_config.json",
        next_step="Quit Claude Desktop and start it again.",
    ),
    "claude-code": ClientProgram(
        title="Claude Code",
        file=".mcp.json",
        has_type=True,
        is_in_project=True,
        next_step="Start 'claude' in the project; it asks once whether you trust the server.",
    ),
    "cursor": ClientProgram(
        title="Cursor", file=".cursor/mcp.json", next_step="Open Settings > MCP in Cursor and turn the server on."
    ),
    "vscode": ClientProgram(
        title="VS Code",
        file=".config/Code/User/mcp.json",
        mac_file="Library/Application Support/Code/User/mcp.json",
        key="servers",
        has_type=True,
        next_step="Run 'MCP: List Servers' in VS Code and start it.",
    ),
    "codex": ClientProgram(
        title="Codex", file=".codex/config.toml", key="mcp_servers", next_step="Start 'codex' again; /mcp lists it."
    ),
    "gemini": ClientProgram(
        title="Gemini CLI", file=".gemini/settings.json", next_step="Start 'gemini' again; /mcp lists it."
    ),
    "windsurf": ClientProgram(
        title="Windsurf", file=".codeium/windsurf/mcp_config.json", next_step="Refresh the list of plugins in Cascade."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange:
    """A configuration as it is (None: there is none), and as it would be."""

    path: Path
    before: str | None
    after: str

    def write(self) -> None:
        """Write the file at once; refuse if somebody changed it since it was read."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        expected = None if self.before is None else sha256(self.before.encode()).hexdigest()
        with closing(Root(self.path.parent)) as root:
            name = RelativePath(parts=(self.path.name,))
            root.write_file(name, self.after.encode(), mode=FILE_MODE, expected=expected)


def find_config(client: ClientName, *, home: Path, project: Path) -> Path:
    """Return the file of a client; through links, so that a link to a file elsewhere stays."""
    program = CLIENTS[client]
    if program.is_in_project:
        return (project / program.file).resolve()
    return (home / (program.mac_file if sys.platform == "darwin" and program.mac_file else program.file)).resolve()


def plan_change(
    client: ClientName, path: Path, name: str, command: Sequence[str], env: Mapping[str, str]
) -> ConfigChange:
    """Return the change that adds our server under a name, or replaces the one there; all else stays."""
    before = _read(path)
    program = CLIENTS[client]
    entry: dict[str, object] = {"type": "stdio"} if program.has_type else {}
    entry |= {"command": command[0], "args": list(command[1:])}
    if env:
        entry["env"] = dict(env)
    if path.suffix == ".toml":
        return ConfigChange(path=path, before=before, after=_in_toml(path, before or "", program.key, name, entry))
    return ConfigChange(path=path, before=before, after=_in_json(path, before, program.key, name, entry))


def _read(path: Path) -> str | None:
    try:
        with closing(Root(path.parent)) as root:
            return root.read_bytes(RelativePath(parts=(path.name,)), limit_bytes=MAX_BYTES).decode()
    except FileMissing:
        return None
    except UnicodeDecodeError:
        raise JsonRefused(f"'{path}' is no text. Look at it; nothing was changed.") from None


def _in_json(path: Path, before: str | None, key: str, name: str, entry: Mapping[str, object]) -> str:
    try:
        whole = parse_object(before, limit_bytes=MAX_BYTES) if before and before.strip() else {}
    except JsonRefused as error:
        raise JsonRefused(
            f"'{path}' is not plain JSON. {error.message} Nothing was changed; --print shows what belongs there."
        ) from None
    servers = whole.get(key, {})
    if not isinstance(servers, dict):
        raise UsageError(f"'{key}' in '{path}' is no object. Nothing was changed; --print shows what belongs there.")
    made = {**whole, key: {**servers, name: dict(entry)}}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _in_toml(path: Path, before: str, key: str, name: str, entry: Mapping[str, object]) -> str:
    try:
        document = tomlkit.parse(before)
    except TOMLKitError as error:
        raise UsageError(f"'{path}' is not TOML ({error}). Nothing was changed; --print shows the entry.") from None
    servers = document.setdefault(key, tomlkit.table(is_super_table=True))
    if not isinstance(servers, MutableMapping):
        raise UsageError(f"'{key}' in '{path}' is no table. Nothing was changed; --print shows what belongs there.")
    servers[name] = dict(entry)
    return tomlkit.dumps(document)
