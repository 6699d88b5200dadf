"""Which settings exist: their types, and a flat list of them with name, kind, default and summary.

The list is read from the types, so the two cannot differ.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, get_origin

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, field_validator
from pydantic.fields import FieldInfo

from toolroll.errors import UsageError
from toolroll.home.command_settings import CHECK_SECONDS, MAX_COMMANDS, CommandSettings, check_command_names
from toolroll.home.mcp_servers import MAX_SERVERS, ServerSettings
from toolroll.kernel.approval.policy import Rule
from toolroll.safe.limits import APPROVAL_TIMEOUT_S
from toolroll.safe.paths.names import quote_path

PROGRAM_SECONDS: Final = 120.0
"""For a program that a model names."""

MAX_STEPS: Final = 100_000
MAX_COUNT: Final = 1_000_000_000_000
"""A terabyte, or so many of anything: more was a slip of the finger."""
MAX_SECONDS: Final = 31_536_000
"""A year."""

Seconds = Annotated[FiniteFloat, Field(gt=0, le=MAX_SECONDS)]
Steps = Annotated[int, Field(gt=0, le=MAX_STEPS)]
Count = Annotated[int, Field(gt=0, le=MAX_COUNT)]


_RATE: Final = re.compile(
    r"(?P<name>\S{1,200})(?: (?P<requests>[0-9]{1,9}) requests?)?,?(?: (?P<tokens>[0-9]{1,12}) tokens?)?"
)


class _Table(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)


class LimitSettings(_Table):
    """How much of a workspace is read, shown and waited for; what is not set is as usual."""

    file_bytes: Count | None = Field(default=None, description="The largest file that is read or changed.")
    read_lines: Count | None = Field(default=None, description="Lines that one read shows at most.")
    read_bytes: Count | None = Field(default=None, description="Bytes of lines that one read shows at most.")
    line_characters: Count | None = Field(default=None, description="Characters of a line that a read shows.")
    matches: Count | None = Field(default=None, description="Matches that one search shows.")
    kept_matches: Count | None = Field(default=None, description="Matches that one search keeps, to page through.")
    match_characters: Count | None = Field(default=None, description="Characters of a line that a search shows.")
    page_entries: Count | None = Field(default=None, description="Entries on one page of a list of files.")
    found_files: Count | None = Field(default=None, description="Files that are found by name at most.")
    search_seconds: Seconds | None = Field(default=None, description="How long one search may take.")
    search_file_bytes: Count | None = Field(default=None, description="The largest file that is searched.")
    walk_files: Count | None = Field(default=None, description="Files that are looked at in one walk of a project.")


class CodeSettings(_Table):
    """What the coding agent may see and do: paths nobody gets to see, and the command that checks a change."""

    deny: tuple[str, ...] = Field(default=(), description="Paths (globs) that no tool sees or changes. These add up.")
    check: tuple[str, ...] = Field(default=(), description="The command that checks a change; each run is asked about.")
    check_seconds: Seconds = Field(default=CHECK_SECONDS, description="How long the check may take.")
    commands: dict[str, CommandSettings] = Field(
        default_factory=dict, max_length=MAX_COMMANDS, description="More commands, by their names."
    )
    after_edit: str = Field(
        default="", description="The command that runs after changes: check, or one of code.commands."
    )
    programs: Literal["off", "on"] = Field(
        default="off", description="Whether a model may ask to run any program; each run is asked about."
    )
    program_seconds: Seconds = Field(default=PROGRAM_SECONDS, description="How long such a program may take.")
    max_steps: Steps | None = Field(default=None, description="Stop, and ask, after so many model calls.")
    limits: LimitSettings = LimitSettings()

    @field_validator("deny", "check", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("commands")
    @classmethod
    def _have_names(cls, commands: dict[str, CommandSettings]) -> dict[str, CommandSettings]:
        return check_command_names(commands)

    @field_validator("deny")
    @classmethod
    def _are_rules(cls, deny: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in deny:
            try:
                Rule(action="deny", path=pattern)
            except UsageError as error:  # a rule that does not hold must not be found out by what leaks
                raise ValueError(error.message) from None
        return deny


class TimeoutSettings(_Table):
    """How long a model may take; what is not set is as usual."""

    connect_seconds: Seconds | None = Field(default=None, description="How long to wait for a connection to a model.")
    start_seconds: Seconds | None = Field(
        default=None, description="How long to wait for a model server on this machine that is not ready yet."
    )
    first_byte_seconds: Seconds | None = Field(
        default=None, description="How long a model may take to begin its answer."
    )
    gap_seconds: Seconds | None = Field(default=None, description="How long a model may send nothing.")
    content_seconds: Seconds | None = Field(
        default=None, description="How long a model may send nothing but signs of life, or write without streaming."
    )
    turn_seconds: Seconds | None = Field(default=None, description="How long one whole answer may take.")


class WebhookSettings(_Table):
    """Whom jobs tell when they end or wait; what is not set is as usual."""

    url: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="The address that all jobs tell when they end or wait."
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="Private hosts that webhooks may go to; those of this machine also without TLS."
    )

    @field_validator("hosts", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many requests and tokens a minute a model or a provider takes; None is no limit."""

    name: str
    requests: int | None
    tokens: int | None

    @classmethod
    def parse(cls, text: str) -> "Rate":
        """Return what 'anthropic 50 requests 40000 tokens' says; ValueError if it says nothing of the kind."""
        found = _RATE.fullmatch(text.strip())
        if found is None or (found["requests"] is None and found["tokens"] is None):
            raise ValueError(f"'{quote_path(text)}' is no rate. Write it like 'anthropic 50 requests 40000 tokens'.")
        numbers = {name: None if found[name] is None else int(found[name]) for name in ("requests", "tokens")}
        if 0 in numbers.values():
            raise ValueError(f"'{quote_path(text)}' allows nothing. Write at least 1.")
        return cls(name=found["name"], **numbers)


class JobSettings(_Table):
    """How queued work is done, over all workers; what is not set has no limit."""

    concurrency: Count | None = Field(default=None, description="Jobs at a time, over all workers.")
    rates: tuple[str, ...] = Field(
        default=(), description="Requests and tokens a minute of a model or provider, over all workers."
    )

    @field_validator("rates", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("rates")
    @classmethod
    def _are_rates(cls, rates: tuple[str, ...]) -> tuple[str, ...]:
        for text in rates:
            Rate.parse(text)
        return rates


class TerminalSettings(_Table):
    """How the terminal looks and behaves."""

    theme: Literal["auto", "dark", "light"] = Field(
        default="auto", description="The background that colours are chosen for: auto, dark or light."
    )
    keys: Literal["emacs", "vi"] = Field(default="emacs", description="The keys of the line editor: emacs or vi.")
    bell: Literal["off", "on"] = Field(
        default="off", description="Whether the terminal rings when you are asked, or a long answer is there."
    )


class SettingsFile(_Table):
    """What a settings file may contain."""

    model: Annotated[str, Field(min_length=1)] | None = Field(default=None, description="The model that agents ask.")
    calls: Literal["auto", "native", "json"] = Field(
        default="auto", description="How models call tools: native, json (as text), or auto."
    )
    prompts: Literal["auto", "short", "full"] = Field(
        default="auto", description="How much models are told: short, full, or auto, by the size of their window."
    )
    window_tokens: Count | None = Field(default=None, description="Tokens that the model reads; if not known or asked.")
    output_tokens: Count | None = Field(default=None, description="Tokens of one answer of the model at most.")
    approval_seconds: Seconds = Field(
        default=APPROVAL_TIMEOUT_S, description="How long a question about a change waits; no answer is a no."
    )
    database_url: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="A PostgreSQL database for runs, outputs and jobs, shared by many machines."
    )
    timeouts: TimeoutSettings = TimeoutSettings()
    code: CodeSettings = CodeSettings()
    terminal: TerminalSettings = TerminalSettings()
    jobs: JobSettings = JobSettings()
    webhooks: WebhookSettings = WebhookSettings()
    mcp_servers: dict[str, ServerSettings] = Field(
        default_factory=dict,
        max_length=MAX_SERVERS,
        description="MCP servers, by their names: see 'toolroll mcp list'.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value comes from: which layer, and which variable or file of it."""

    kind: Literal["flag", "environment", "project", "user", "default"]
    place: str = ""


DEFAULT: Final = Origin(kind="default")


class Settings(SettingsFile):
    """All settings in effect, and where each comes from; a setting that nobody has set is not in `origins`."""

    origins: Mapping[str, Origin] = Field(default_factory=dict, repr=False)
    """By name (`code.max_steps`); of rules and servers, which add up, also by each (`code.deny[0]`)."""
    notes: tuple[str, ...] = ()
    """What a person should know, such as that the project's settings are not used."""

    def origin(self, name: str) -> Origin:
        """Return where the value of a setting comes from."""
        return self.origins.get(name, DEFAULT)


def explicit_values(table: BaseModel, before: str = "") -> dict[str, Any]:
    """Return what a table sets, by name, and nothing that it leaves to the default."""
    found: dict[str, Any] = {}
    for name in type(table).model_fields:
        if name in table.model_fields_set:
            value = getattr(table, name)
            found |= (
                explicit_values(value, f"{before}{name}.") if isinstance(value, BaseModel) else {before + name: value}
            )
    return found


def nest_values(values: Mapping[str, object]) -> dict[str, Any]:
    """Return the tables that hold these values."""
    whole: dict[str, Any] = {}
    for name, value in values.items():
        *tables, last = name.split(".")
        table = whole
        for one in tables:
            table = table.setdefault(one, {})
        table[last] = value
    return whole


PREFIX: Final = "TOOLROLL_"

Kind: TypeAlias = Literal["text", "whole number", "number", "list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its dotted name, the kind of its value, its default, and what it does."""

    name: str
    kind: Kind
    default: object
    summary: str

    @property
    def variable(self) -> str:
        """Return the variable that sets it: `code.max_steps` is TOOLROLL_CODE_MAX_STEPS."""
        return PREFIX + self.name.replace(".", "_").upper()

    def parse(self, words: Sequence[str], *, called: str = "") -> Any:
        """Return the value that somebody has written; UsageError says that it is not of the kind.

        `called` is what errors call the setting, if not by its name.
        """
        if self.kind == "list":
            return tuple(words)
        if len(words) != 1:
            raise UsageError(f"{called or self.name} must be one value; got {len(words)}.")
        return words[0] if self.kind == "text" else self._parse_number(words[0], called or self.name)

    def parse_variable(self, text: str) -> Any:
        """Return the value in a variable; a list is written as words are in a shell."""
        try:
            words = shlex.split(text) if self.kind == "list" else [text]
        except ValueError as error:
            raise UsageError(f"{self.variable} cannot be used: {error}. Quote its words as in a shell.") from None
        return self.parse(words, called=self.variable)

    def _parse_number(self, text: str, called: str) -> int | float:
        try:
            # int() and float() take digits of any script, and underscores: what nobody meant as a number.
            if text.isascii() and "_" not in text:
                return int(text) if self.kind == "whole number" else float(text)
        except ValueError:
            pass
        raise UsageError(f"{called} must be a {self.kind}; got '{quote_path(text)}'.")


@cache
def all_settings() -> tuple[Setting, ...]:
    """Return all settings, in their order."""
    return tuple(_settings_in(SettingsFile, ""))


def find_setting(name: str) -> Setting:
    """Return the setting of that name; UsageError names the nearest one."""
    found = next((one for one in all_settings() if one.name == name), None)
    if found is not None:
        return found
    near = nearest_setting(name)
    hint = f"Did you mean {near}?" if near else "See 'toolroll config list'."
    raise UsageError(f"There is no setting '{quote_path(name)}'. {hint}")


def nearest_setting(name: str) -> str | None:
    """Return the setting whose name is most like this one; None where none is."""
    names = [one.name for one in all_settings()]
    ends = {one.rpartition(".")[2]: one for one in names}
    word = name.casefold().replace("-", "_")
    found = get_close_matches(word, [*names, *ends], n=1, cutoff=0.7)
    return ends.get(found[0], found[0]) if found else None


def _settings_in(table: type[BaseModel], before: str) -> Iterator[Setting]:
    for name, field in table.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _settings_in(field.annotation, f"{before}{name}.")
        elif get_origin(field.annotation) is not dict:  # servers and commands have names of the user's own
            default = field.get_default()
            yield Setting(name=before + name, kind=_field_kind(field), default=default, summary=field.description or "")


def _field_kind(field: FieldInfo) -> Kind:
    words = str(field.annotation)
    if "tuple" in words:
        return "list"
    if "float" in words:
        return "number"
    return "whole number" if "int" in words else "text"


def format_value(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(format_value(one) for one in value)}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's too; only the delete character is not escaped there, and must be here.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value).lower() if isinstance(value, bool) else repr(value)
