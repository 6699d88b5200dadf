"""The layers of settings: a file or the environment variables, each read and checked as a whole."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from toolroll.errors import UsageError
from toolroll.home.settings_schema import (
    Origin,
    Setting,
    SettingsFile,
    all_settings,
    explicit_values,
    nearest_setting,
    nest_values,
)
from toolroll.safe.paths.names import quote_path

MAX_SETTINGS_BYTES: Final = 262_144


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one place says: values by their names, each with its origin."""

    values: Mapping[str, Any]
    origins: Mapping[str, Origin]

    @classmethod
    def of_file(cls, file: SettingsFile, origin: Origin) -> "Layer":
        """All that a file sets."""
        values = explicit_values(file)
        return cls(values=values, origins=dict.fromkeys(values, origin))


def parse_settings(data: bytes, path: Path) -> SettingsFile:
    """The settings in the bytes of a file; UsageError names the first that makes no sense."""
    try:
        return SettingsFile.model_validate(tomllib.loads(data.decode()))
    except ValidationError as error:
        raise settings_error(path, describe_fault(error)) from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, a number of 5,000 digits, too deep
        raise settings_error(path, str(error)) from None


def describe_fault(error: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    detail = error.errors(include_url=False, include_context=False)[0]
    place = quote_path(".".join(str(step) for step in detail["loc"]))
    if detail["type"] != "extra_forbidden":
        return f"{place}: {detail['msg']}"
    near = nearest_setting(place)
    return f"{place} is no setting{f'; did you mean {near}?' if near else ''}"


def settings_error(path: Path, why: str) -> UsageError:
    """The error for a file that cannot be used."""
    told = why.rstrip(".")
    stop = "" if told.endswith("?") else "."
    return UsageError(f"The settings in '{quote_path(str(path))}' cannot be used: {told}{stop} Repair the file.")


def read_variables(environment: Mapping[str, str]) -> Layer:
    """What the variables say; UsageError names one that makes no sense."""
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for one in all_settings():
        text = environment.get(one.variable, "")
        if text.strip():
            values[one.name] = check_value(one, one.read_variable(text), called=one.variable)
            origins[one.name] = Origin(kind="environment", place=one.variable)
    return Layer(values=values, origins=origins)


def check_value(one: Setting, value: object, *, called: str) -> object:
    """The value as the setting keeps it; UsageError says what is wrong with it."""
    try:
        return explicit_values(SettingsFile.model_validate(nest_values({one.name: value})))[one.name]
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False)[0]
        raise UsageError(f"{called} cannot be used: {detail['msg'].rstrip('.')}.") from None
