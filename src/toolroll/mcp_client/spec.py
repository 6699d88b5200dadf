"""Describe an MCP server: how it is reached, which of its tools are used, and what a person has said about them."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from toolroll.errors import UrlRefused, UsageError
from toolroll.home.mcp_servers import ServerSettings
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.data.serialize import canonical_json
from toolroll.safe.net.urls import check_url, is_loopback
from toolroll.safe.paths.names import quote_path

CONNECT_SECONDS: Final = 30.0
"""For `npx` and `uvx`, which may have to download the server first; one that is installed takes a second."""
CALL_SECONDS: Final = 120.0
"""For one call. A server that needs longer says so in its documentation, and the person here."""

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """One MCP server: a `command` that is started here, or the `url` of one that runs elsewhere."""

    name: str
    """Stands before the name of each of its tools: `files__read_file`."""
    command: str = ""
    """The program of a server over stdio."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    cwd: str | None = None
    """The folder it is started in."""
    env: tuple[str, ...] = ()
    """Names of the variables that it is given, beside those that every program needs."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables with their values; `${NAME}` stands for the value of a variable or a stored key."""
    url: str = ""
    """The address of a server over HTTP."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of each request to it; `${NAME}` stands for the value of a variable or a stored key."""
    oauth: bool = False
    """Whether a person logs in to the server in a browser."""
    tools: tuple[str, ...] = ("*",)
    """Which of its tools are used (patterns)."""
    exclude: tuple[str, ...] = ()
    """Which are not (patterns)."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Other names for some of them."""
    allow: tuple[str, ...] = ()
    """Tools (patterns) that run without a question, as long as their definition is the pinned one."""
    reads: tuple[str, ...] = ()
    """Tools (patterns) that you declare to only read, and to send nothing out."""
    local: bool = False
    """Whether you declare that it works on this machine alone and sends nothing out; it may change things here."""
    private: bool = True
    """Whether its results may hold private text; False for one that reads only what is public."""
    connect_seconds: float = CONNECT_SECONDS
    """How long it may take to start and to list its tools."""
    call_seconds: float = CALL_SECONDS
    """How long one call may take."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(
                f"'{quote_path(self.name)}' is no name for an MCP server: use up to 32 letters, digits, '-' and single "
                "'_', such as 'files'."
            )
        if bool(self.command) == bool(self.url):
            raise UsageError(f"The MCP server {self.name} needs a command or a URL, and not both.")
        if self.url:
            _check_address(self.url)
        elif self.headers or self.oauth:
            raise UsageError(f"The MCP server {self.name} is a command: headers and OAuth are for one with a URL.")
        _check_names(self.name, self.env, _VARIABLE, "variable")
        _check_names(self.name, self.variables, _VARIABLE, "variable")
        _check_names(self.name, self.headers, _HEADER, "header")
        for value in (self.connect_seconds, self.call_seconds):
            if not 0 < value < float("inf"):
                raise UsageError(f"A time limit of the MCP server {self.name} is a number above 0, not {value!r}.")

    @classmethod
    def from_settings(cls, name: str, settings: ServerSettings, *, folder: str | None = None) -> "ServerSpec":
        """Return the server that settings name; one of a project is started in its `folder`."""
        options = settings.options
        if folder is not None and settings.command is not None:
            options["cwd"] = str(Path(folder) / (settings.cwd or "."))
        return cls(name=name, **options)

    @property
    def place(self) -> str:
        """Return how the server is reached, in words that a person can check: its command line, or its address."""
        return self.url or shlex.join([self.command, *self.args])

    @property
    def identity(self) -> str:
        """Return a hash of what the server is: another command or address under the same name is another server."""
        return content_hash(canonical_json([self.name, self.command, list(self.args), self.cwd, self.url]))

    def uses(self, tool: str) -> bool:
        """Return whether a tool of the server is used."""
        return _fits(tool, self.tools) and not _fits(tool, self.exclude)

    def allows(self, tool: str) -> bool:
        """Return whether the person has said that this tool needs no question."""
        return _fits(tool, self.allow)

    def only_reads(self, tool: str) -> bool:
        """Return whether the person has declared that this tool only reads."""
        return _fits(tool, self.reads)

    def fill_headers(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the headers with the values of variables in them; UsageError names one that is not set."""
        return {name: self._fill(text, environment) for name, text in self.headers.items()}

    def pick_variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that the server is given; UsageError names one that is not set."""
        named = {name: self._value(name, environment) for name in self.env}
        return {name: self._fill(text, environment) for name, text in self.variables.items()} | named

    @property
    def given_variables(self) -> tuple[str, ...]:
        """Return the names of all variables of yours that the server gets to know, in its environment or headers."""
        texts = (*self.variables.values(), *self.headers.values())
        named = [found[1] for text in texts for found in _REFERENCE.finditer(text)]
        return tuple(dict.fromkeys([*self.env, *named]))

    def _fill(self, text: str, environment: Mapping[str, str]) -> str:
        """Return the text with values of variables; `${NAME:-word}` is the word where the variable is not set."""

        def value(found: re.Match[str]) -> str:
            if found[2] is not None and not environment.get(found[1]):
                return found[2]
            return self._value(found[1], environment)

        return _REFERENCE.sub(value, text)

    def _value(self, name: str, environment: Mapping[str, str]) -> str:
        value = environment.get(name, "")
        if not value:
            raise UsageError(
                f"The MCP server {self.name} needs {name}, which is not set. Set it as a variable, or store it: "
                f"toolroll config key set {name}"
            )
        return value


def _check_address(url: str) -> None:
    """Refuse what is no address of a server. The person names it, so that it may be on a private network."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    check_url(url, schemes=("https", "http"), allow_hosts=frozenset({host}))
    if not url.startswith("https:") and not is_loopback(url):
        raise UrlRefused(
            f"'{quote_path(url)}' is not encrypted. Use https://; http:// is for servers on this machine.",
            url=url,
            rule="scheme",
        )


def _fits(tool: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in patterns)


def _check_names(server: str, names: "Mapping[str, str] | tuple[str, ...]", shape: re.Pattern[str], what: str) -> None:
    for name in names:
        if not shape.fullmatch(name):
            raise UsageError(f"The MCP server {server}: '{quote_path(name)}' is not the name of a {what}.")
