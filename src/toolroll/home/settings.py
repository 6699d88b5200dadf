"""The user's settings: `settings.toml` in their configuration folder. Never from a project (XA9).

model = "sonnet"

[code]
deny = ["secrets/**", "*.pem"]
check = ["npm", "test"]
max_steps = 20

[code.limits]
read_lines = 4000
"""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, field_validator

from toolroll.errors import FileMissing, UsageError
from toolroll.home.folders import find_folders
from toolroll.kernel.policy import Rule
from toolroll.safe.files import private_folder
from toolroll.safe.names import RelativePath, shown
from toolroll.safe.root import Root

MAX_SETTINGS_BYTES: Final = 262_144
CHECK_SECONDS: Final = 300.0
"""For a check command: test suites take minutes."""

_NAME: Final = RelativePath(parts=("settings.toml",))
_OTHERS_CAN_WRITE: Final = 0o022


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class LimitSettings(_Table):
    """How much of a workspace is read, shown and waited for; what is not set is as usual."""

    file_bytes: PositiveInt | None = None
    read_lines: PositiveInt | None = None
    line_characters: PositiveInt | None = None
    matches: PositiveInt | None = None
    kept_matches: PositiveInt | None = None
    match_characters: PositiveInt | None = None
    page_entries: PositiveInt | None = None
    found_files: PositiveInt | None = None
    search_seconds: PositiveFloat | None = None
    search_file_bytes: PositiveInt | None = None
    walk_files: PositiveInt | None = None


class CodeSettings(_Table):
    """What the coding agent may see and do: paths nobody gets to see, and the command that checks a change."""

    deny: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    check_seconds: PositiveFloat = CHECK_SECONDS
    max_steps: PositiveInt | None = None
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


class Settings(_Table):
    """All settings of a user."""

    model: Annotated[str, Field(min_length=1)] | None = None
    code: CodeSettings = CodeSettings()


def settings_path(environment: Mapping[str, str]) -> Path:
    """Where the settings are, or would be."""
    return find_folders(environment).config / _NAME.name


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The user's settings; UsageError says what is wrong with the file, which is then not used at all."""
    path = settings_path(environment)
    if not path.parent.exists():
        return Settings()
    with closing(Root(private_folder(path.parent))) as root:
        try:
            mode = root.stat(_NAME).mode
        except FileMissing:
            return Settings()
        if mode & _OTHERS_CAN_WRITE:
            raise _refusal(path, "other users can write to it. Look through it, then make it yours (chmod 600)")
        return _parsed(root.read_bytes(_NAME, limit_bytes=MAX_SETTINGS_BYTES), path)


def _parsed(data: bytes, path: Path) -> Settings:
    import tomllib  # noqa: PLC0415 - only where there is a file

    try:
        return Settings.model_validate(tomllib.loads(data.decode()))
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(step) for step in detail["loc"])
        raise _refusal(path, f"{shown(place)}: {detail['msg']}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refusal(path, str(error)) from None


def _refusal(path: Path, why: str) -> UsageError:
    return UsageError(f"The settings in '{shown(str(path))}' cannot be used: {why.rstrip('.')}. Repair the file.")
