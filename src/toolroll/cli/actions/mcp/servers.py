"""What `toolroll mcp add`, `list`, `test`, `remove` and `login` do: the MCP servers whose tools agents use."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from toolroll.apps.mcp_servers import NamedServer, ServerPool, find_servers, make_server
from toolroll.apps.project import Project
from toolroll.cli.actions.list_tools import format_group, make_line
from toolroll.cli.actions.mcp.serve import check_sdk
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.cli.terminal.surface import show_setting_notes, terminal_surface
from toolroll.errors import ToolrollError, UsageError
from toolroll.home import settings_file
from toolroll.home.keys import with_keys
from toolroll.home.mcp_listings import ListingBook
from toolroll.home.mcp_pins import PinBook
from toolroll.home.mcp_servers import ServerSettings
from toolroll.home.mcp_tokens import McpTokenBook
from toolroll.home.settings import read_settings
from toolroll.home.settings_layers import describe_fault
from toolroll.lazy import load
from toolroll.mcp_client.definition import RemoteDefinition, choose_name
from toolroll.mcp_client.server import MCPServer
from toolroll.mcp_client.spec import ServerSpec
from toolroll.mcp_client.tool import RemoteTool
from toolroll.packs.registry import first_sentence
from toolroll.safe.paths.names import quote_path
from toolroll.safe.secrets.redact import redact, redact_shown
from toolroll.safe.text import one_line

_ASKED: Final = "Every call is asked about until you say otherwise."
_NO_PLACE: Final = (
    "'{word}' looks like a secret, and settings are no place for one. Store it with 'toolroll config key set NAME', "
    "and write --env NAME, or --header 'Authorization: Bearer ${{NAME}}'."
)
_MAX_SHOWN: Final = 300


def add_server(
    session: Session,
    name: str,
    command: tuple[str, ...],
    *,
    url: str | None,
    headers: tuple[str, ...],
    oauth: bool,
    env: tuple[str, ...],
    variables: tuple[str, ...],
    cwd: Path | None,
    tools: tuple[str, ...],
    allow: tuple[str, ...],
    reads: tuple[str, ...],
    local: bool,
    public: bool,
    no_test: bool,
) -> int:
    """Write a server into the settings, and try it; return the exit code."""
    check_sdk()
    if bool(command) == (url is not None):
        raise UsageError(f"Name a command or a --url: toolroll mcp add {quote_path(name)} -- COMMAND ARGS")
    given: dict[str, object] = {
        "command": _find_program(command[0]) if command else None,
        "args": list(command[1:]),
        "cwd": None if cwd is None else str(cwd.resolve()),
        "env": list(env),
        "variables": _split_pairs(variables, "=", "--set NAME=VALUE"),
        "url": url,
        "headers": _split_pairs(headers, ":", "--header 'NAME: VALUE'"),
        "oauth": oauth,
        "tools": list(tools),
        "allow": list(allow),
        "reads": list(reads),
        "local": local,
    }
    table = {key: value for key, value in given.items() if value} | ({"private": False} if public else {})
    _check_secrets([*command, url or ""])
    spec = _check(name, table)
    settings_file.add_server(os.environ, name, table)
    told = f"Added to your settings: {name}, {redact_shown(spec.place)}"
    if session.json and no_test:
        session.write_json({"name": name, "tools": None})
    elif not session.json:
        session.show(told)
    return DONE if no_test else _try_new(session, spec)


def _try_new(session: Session, spec: ServerSpec) -> int:
    server = make_server(spec, os.environ)
    try:
        if spec.oauth and McpTokenBook.from_environment(os.environ).find(spec.identity) is None:
            _log_in(spec)
        _show_tools(session, server)
        notify(_ASKED if not (spec.allow or spec.reads) else "Calls of other tools than you named are asked about.")
    except ToolrollError as error:
        ListingBook.from_environment(os.environ).put_problem(spec.identity, spec.name, error.message)
        notify(f"Warning: it cannot be used yet. {error.message}")
        if session.json:
            session.write_json({"name": spec.name, "tools": None})
    finally:
        server.close()
    return DONE


def list_servers(session: Session, *, root: Path | None) -> int:
    """List the servers that are used in a folder; return the exit code."""
    with Project.open((root or Path.cwd()).resolve(), os.environ) as project:
        surface = terminal_surface()
        show_setting_notes(project.settings, surface)
        named = find_servers(project.root, project.settings, surface)
        if session.json:
            session.write_json({"servers": [_fields(one) for one in named]})
        elif named:
            session.show("\n".join(_describe(one) for one in named))
        else:
            notify("No MCP server is used here. To add one: toolroll mcp add --help")
    return DONE


def test_server(session: Session, name: str, *, root: Path | None) -> int:
    """Connect to a server, and show its tools; return the exit code."""
    check_sdk()
    server = make_server(_find(name, root).spec, os.environ)
    try:
        return _show_tools(session, server)
    except ToolrollError as error:
        ListingBook.from_environment(os.environ).put_problem(server.spec.identity, name, error.message)
        raise
    finally:
        server.close()


def remove_server(session: Session, name: str) -> int:
    """Remove a server from the user's settings; return the exit code."""
    found = read_settings(os.environ).mcp_servers.get(name)
    if found is None or not settings_file.remove_server(os.environ, name):
        session.fail("no_server", f"There is no MCP server '{quote_path(name)}' in your settings. {_known(None)}")
        return FAILED
    try:
        identity = ServerSpec.from_settings(name, found).identity
        PinBook.from_environment(os.environ).remove(identity)
        McpTokenBook.from_environment(os.environ).remove(identity)
        ListingBook.from_environment(os.environ).remove(identity)
    except ToolrollError as error:  # the server itself is gone from the settings
        notify(f"Warning: {error.message}")
    if session.json:
        session.write_json({"removed": name})
    else:
        session.show(f"Removed: {name}. Its tools are no longer used.")
    return DONE


def log_in(session: Session, name: str, *, root: Path | None, out: bool) -> int:
    """Log in to a server, or out; return the exit code."""
    check_sdk()
    spec = _find(name, root).spec
    if not spec.oauth:
        raise UsageError(
            f"The MCP server {name} has no login. Add it with --oauth: toolroll mcp add {name} --url URL --oauth"
        )
    if out:
        McpTokenBook.from_environment(os.environ).remove(spec.identity)
    else:
        _log_in(spec)
    if session.json:
        session.write_json({"name": name, "logged_in": not out})
    else:
        session.show(f"Logged {'out of' if out else 'in to'} {name}.")
    return DONE


def format_pool(pool: ServerPool) -> str:
    """Return the servers of a chat with their tools, as text for this terminal."""
    parts = []
    for one in pool.named:
        server = pool.find(one.spec.name)
        assert server is not None  # the pool has all that it names
        state = "connected" if server.is_open else "started when it is needed"
        lines = []
        if server.load_pinned():
            lines = [make_line(tool.name, _word(tool), _summary(tool.current)) for tool in server.remote_tools]
        head = f"{_describe(one)} ({state})"
        parts.append(format_group(head, "", lines) if lines else head)
    return "\n\n".join(parts)


def _log_in(spec: ServerSpec) -> None:
    tokens = McpTokenBook.from_environment(os.environ)
    asyncio.run(load("toolroll.mcp_client.oauth:log_in")(spec, tokens, with_keys(os.environ), show=notify))


def _show_tools(session: Session, server: MCPServer) -> int:
    found, info = asyncio.run(server.inspect())
    pinned = PinBook.from_environment(os.environ).find(server.spec.identity)
    rows = [(_state(one, pinned), one) for one in found]
    if session.json:
        session.write_json(
            {
                "name": server.spec.name,
                "protocol": info.protocol,
                "server": info.server,
                "version": info.version,
                "tools": [{"name": one.name, "state": state, "title": one.title} for state, one in rows],
                "notes": list(server.notes),
            }
        )
        return DONE
    who = one_line(" ".join(filter(None, (info.server, info.version))), _MAX_SHOWN)
    head = f"{server.spec.name}: {who or 'a server'}, protocol {info.protocol}, {_count(len(found), 'tool')}"
    lines = [make_line(choose_name(server.spec, one.name, ()), state, _summary(one)) for state, one in rows]
    session.show(format_group(head, "", lines) if lines else head)
    for note in server.notes:
        notify(f"Note: {note}")
    return DONE


def _summary(one: RemoteDefinition) -> str:
    words = one.raw.get("description")
    return one_line(first_sentence(words if isinstance(words, str) and words.strip() else one.title), _MAX_SHOWN)


def _state(one: RemoteDefinition, pinned: Mapping[str, Mapping[str, object]]) -> str:
    accepted = pinned.get(one.name)
    if accepted is None:
        return "new"
    same = RemoteDefinition(one.server, one.name, accepted).fingerprint == one.fingerprint
    return "accepted" if same else "changed"


def _word(tool: RemoteTool) -> str:
    if tool.pinned is None:
        return "new"
    return "accepted" if tool.is_pinned else "changed"


def _fields(one: NamedServer) -> dict[str, object]:
    listing = ListingBook.from_environment(os.environ).find(one.spec.identity)
    return {
        "name": one.spec.name,
        "from": one.origin,
        "place": redact_shown(one.spec.place),
        "tools": None if listing is None or listing.problem else [str(tool.get("name")) for tool in listing.tools],
        "accepted": sorted(PinBook.from_environment(os.environ).find(one.spec.identity)),
        "problem": "" if listing is None else listing.problem,
    }


def _describe(one: NamedServer) -> str:
    listing = ListingBook.from_environment(os.environ).find(one.spec.identity)
    accepted = len(PinBook.from_environment(os.environ).find(one.spec.identity))
    if listing is None:
        state = "tools not known yet"
    elif listing.problem:
        state = f"did not answer; try it: toolroll mcp test {one.spec.name}"
    else:
        state = f"{_count(len(listing.tools), 'tool')}, {accepted} accepted"
    origin = "" if one.origin == "settings" else f" (of the project, {one.origin})"
    return f"{one.spec.name}{origin}: {redact_shown(one_line(one.spec.place, _MAX_SHOWN))}; {state}"


def _find(name: str, root: Path | None) -> NamedServer:
    folder = (root or Path.cwd()).resolve()
    with Project.open(folder, os.environ) as project:
        for one in find_servers(folder, project.settings, terminal_surface()):
            if one.spec.name == name:
                return one
    raise UsageError(f"There is no MCP server '{quote_path(name)}'. {_known(root)}")


def _known(root: Path | None) -> str:
    names = sorted(read_settings(os.environ, root=root).mcp_servers)
    return f"There are: {', '.join(names)}." if names else "There are none so far: toolroll mcp add --help"


def _check(name: str, table: Mapping[str, object]) -> ServerSpec:
    try:
        return ServerSpec.from_settings(name, ServerSettings.model_validate(table))
    except ValueError as error:
        found = load("pydantic:ValidationError")
        raise UsageError(describe_fault(error) if isinstance(error, found) else str(error)) from None


def _find_program(word: str) -> str:
    """Return a program that is named by its path so that it is found from any folder."""
    return str(Path(word).absolute()) if "/" in word else word


def _check_secrets(words: Sequence[str]) -> None:
    for word in words:
        if redact(word) != word:
            raise UsageError(_NO_PLACE.format(word=redact_shown(quote_path(word))))


def _split_pairs(words: Sequence[str], sign: str, form: str) -> dict[str, str]:
    pairs = {}
    for word in words:
        name, found, value = word.partition(sign)
        if not found or not name.strip():
            raise UsageError(f"'{quote_path(redact_shown(word))}' is not of the form {form}.")
        pairs[name.strip()] = value.strip() if sign == ":" else value
    return pairs


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
