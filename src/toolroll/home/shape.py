"""What settings there can be, as types: tables of checked values, and the whole with where each value is from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, field_validator

from toolroll.errors import UsageError
from toolroll.kernel.approval.policy import Rule
from toolroll.safe.limits import APPROVAL_TIMEOUT_S

CHECK_SECONDS: Final = 300.0
"""For a check command: test suites take minutes."""

MAX_STEPS: Final = 100_000
MAX_COUNT: Final = 1_000_000_000_000
"""A terabyte, or so many of anything: more was a slip of the finger."""
MAX_SECONDS: Final = 31_536_000
"""A year."""

Seconds = Annotated[FiniteFloat, Field(gt=0, le=MAX_SECONDS)]
Steps = Annotated[int, Field(gt=0, le=MAX_STEPS)]
Count = Annotated[int, Field(gt=0, le=MAX_COUNT)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class LimitSettings(_Table):
    """How much of a workspace is read, shown and waited for; what is not set is as usual."""

    file_bytes: Count | None = Field(default=None, description="The largest file that is read or changed.")
    read_lines: Count | None = Field(default=None, description="Lines that one read shows at most.")
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
    max_steps: Steps | None = Field(default=None, description="Stop, and ask, after so many model calls.")
    limits: LimitSettings = LimitSettings()

    @field_validator("deny", "check", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("deny")
    @classmethod
    def _are_rules(cls, deny: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in deny:
            try:
                Rule(action="deny", path=pattern)
            except UsageError as error:  # a rule that does not hold must not be found out by what leaks
                raise ValueError(error.message) from None
        return deny


class SettingsFile(_Table):
    """What can stand in a file of settings."""

    model: Annotated[str, Field(min_length=1)] | None = Field(default=None, description="The model that agents ask.")
    approval_seconds: Seconds = Field(
        default=APPROVAL_TIMEOUT_S, description="How long a question about a change waits; no answer is a no."
    )
    code: CodeSettings = CodeSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value is from: which layer, and which variable or file of it."""

    kind: Literal["flag", "environment", "project", "user", "default"]
    place: str = ""


DEFAULT: Final = Origin(kind="default")


class Settings(SettingsFile):
    """All settings that count here, with where each is from; what nobody has set is not among `origins`."""

    origins: Mapping[str, Origin] = Field(default_factory=dict, repr=False)
    """By name (`code.max_steps`); of rules that add up also by each rule (`code.deny[0]`)."""
    notes: tuple[str, ...] = ()
    """What a person should know, such as that the project's settings are not used."""

    def origin(self, name: str) -> Origin:
        """Where the value of a setting is from."""
        return self.origins.get(name, DEFAULT)


def set_values(table: BaseModel, before: str = "") -> dict[str, Any]:
    """What a table sets, by name, and nothing that it leaves to the default."""
    found: dict[str, Any] = {}
    for name in type(table).model_fields:
        if name in table.model_fields_set:
            value = getattr(table, name)
            found |= set_values(value, f"{before}{name}.") if isinstance(value, BaseModel) else {before + name: value}
    return found


def nested(values: Mapping[str, object]) -> dict[str, Any]:
    """The tables that these values stand in."""
    whole: dict[str, Any] = {}
    for name, value in values.items():
        *tables, last = name.split(".")
        table = whole
        for one in tables:
            table = table.setdefault(one, {})
        table[last] = value
    return whole
