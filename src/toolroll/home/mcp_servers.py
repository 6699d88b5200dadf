"""MCP servers as settings name them: `[mcp_servers.NAME]` in a settings file, and a project's `.mcp.json`.

Secrets stand in neither: a server is given variables and stored keys by their names. What a project names is started
only after somebody has trusted the file that names it.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator

from toolroll.errors import JsonRefused, UsageError
from toolroll.kernel.arguments.parse import parse_json
from toolroll.safe.paths.names import quote_path
from toolroll.safe.secrets.named_secrets import variable_names_a_secret
from toolroll.safe.secrets.redact import redact

MCP_JSON: Final = ".mcp.json"
"""Where a project names servers for any client; its format is that of Claude Code and others."""
MAX_JSON_BYTES: Final = 262_144
MAX_SERVERS: Final = 100
MAX_SECONDS: Final = 3_600

OF_A_PERSON: Final = ("allow", "reads", "local", "private")
"""What only a person says of a server: a project must not decide what runs without a question."""

_SECRET_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie"})
_REFERENCE: Final = "${"
_TYPES: Final = ("stdio", "http", "streamable-http")

Text = Annotated[str, Field(min_length=1, max_length=4_096)]
Seconds = Annotated[FiniteFloat, Field(gt=0, le=MAX_SECONDS)]


class ServerSettings(BaseModel):
    """How one MCP server is reached, which of its tools are used, and what the person has said about them."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)

    command: Text | None = Field(default=None, description="The program of a server over stdio.")
    args: tuple[str, ...] = Field(default=(), description="Its arguments.")
    cwd: Text | None = Field(default=None, description="The folder that it is started in.")
    env: tuple[str, ...] = Field(default=(), description="Names of variables or stored keys that it is given.")
    variables: dict[str, str] = Field(default_factory=dict, description="Variables with values that are no secrets.")
    url: Text | None = Field(default=None, description="The address of a server over HTTP.")
    headers: dict[str, str] = Field(default_factory=dict, description="Headers; ${NAME} is a variable or stored key.")
    oauth: bool = Field(default=False, description="Whether you log in to the server in a browser.")
    tools: tuple[str, ...] = Field(default=("*",), description="Which of its tools are used (patterns).")
    exclude: tuple[str, ...] = Field(default=(), description="Which are not (patterns).")
    rename: dict[str, str] = Field(default_factory=dict, description="Other names for some of them.")
    allow: tuple[str, ...] = Field(default=(), description="Tools (patterns) that run without a question.")
    reads: tuple[str, ...] = Field(default=(), description="Tools (patterns) that only read and send nothing out.")
    local: bool = Field(default=False, description="Whether it works on this machine alone and sends nothing out.")
    private: bool = Field(default=True, description="Whether its results may hold private text.")
    connect_seconds: Seconds | None = Field(default=None, description="How long it may take to start.")
    call_seconds: Seconds | None = Field(default=None, description="How long one call may take.")

    @field_validator("args", "env", "tools", "exclude", "allow", "reads", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("headers", "variables")
    @classmethod
    def _hold_no_secrets(cls, values: dict[str, str]) -> dict[str, str]:
        for name, value in values.items():
            if _REFERENCE not in value and (_names_a_secret(name) or redact(value) != value):
                raise ValueError(f"'{quote_path(name)}' is a secret. Write ${{NAME}} and set the variable NAME.")
        return values

    @property
    def options(self) -> dict[str, Any]:
        """Return what is set, as the client takes it."""
        return {name: getattr(self, name) for name in self.model_fields_set if getattr(self, name) is not None}


class _JsonServer(BaseModel):
    """A server in `.mcp.json`; what other clients keep there beside it is passed over."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore", frozen=True, strict=True)

    type: str = "stdio"
    command: Text | None = None
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    cwd: Text | None = None
    url: Text | None = None
    headers: dict[str, str] = Field(default_factory=dict)

    def to_settings(self) -> ServerSettings:
        """Return the same as settings; ValueError says why it cannot be used."""
        if self.type not in _TYPES and self.command is None:
            raise ValueError(f"its type is '{quote_path(self.type)}'; use one of {', '.join(_TYPES)}.")
        if any(_REFERENCE in text for text in (self.command or "", *self.args, self.url or "")):
            raise ValueError("${NAME} is filled in only in env and headers, not in a command or an address.")
        values = {
            "command": self.command,
            "args": tuple(self.args) or None,
            "variables": self.env or None,
            "cwd": self.cwd,
            "url": self.url,
            "headers": self.headers or None,
        }
        return ServerSettings(**{name: value for name, value in values.items() if value is not None})  # type: ignore[arg-type]  # checked there


class _JsonFile(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    mcpServers: dict[str, _JsonServer] = Field(default_factory=dict, max_length=MAX_SERVERS)  # noqa: N815 - the format's


def parse_mcp_json(content: bytes) -> dict[str, ServerSettings]:
    """Return the servers that a `.mcp.json` names; UsageError says what is wrong with it."""
    try:
        text = content.decode()
        parse_json(text, limit_bytes=MAX_JSON_BYTES)  # strictly: a second server of one name would win otherwise
        found = _JsonFile.model_validate_json(text).mcpServers
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise _json_error(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}") from None
    except (JsonRefused, UnicodeDecodeError) as error:
        raise _json_error(str(error)) from None
    servers: dict[str, ServerSettings] = {}
    for name, one in found.items():
        try:
            servers[name] = one.to_settings()
        except ValidationError as error:
            raise _json_error(f"{name}: {error.errors(include_url=False)[0]['msg']}") from None
        except ValueError as error:
            raise _json_error(f"{name}: {error}") from None
    return servers


def check_project_servers(servers: Mapping[str, ServerSettings]) -> None:
    """Refuse, with a ValueError, what only the person may say of a server."""
    for name, one in servers.items():
        if said := [field for field in OF_A_PERSON if field in one.model_fields_set]:
            raise ValueError(f"mcp_servers.{quote_path(name)}: {', '.join(said)} is not for a project to say.")


def _names_a_secret(name: str) -> bool:
    return name.casefold() in _SECRET_HEADERS or variable_names_a_secret(name.upper().replace("-", "_"))


def _json_error(fault: str) -> UsageError:
    return UsageError(f"The MCP servers in '{MCP_JSON}' cannot be used: {quote_path(fault.rstrip('.'))}.")
