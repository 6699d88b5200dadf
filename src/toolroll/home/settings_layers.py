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
from toolroll.safe.secrets.redact import redact_shown

MAX_SETTINGS_BYTES: Final = 262_144

_SHOWN: Final = (str, int, float)
_FAULTS: Final[Mapping[str, str]] = {
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "greater_than": "must be greater than {gt}",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le:,}",
    "model_type": "must be a table",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "string_unicode": "must be text",
    "tuple_type": "must be a list",
}
"""What is wrong with a value, by the kinds of errors that pydantic has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The values that one place sets, by name, each with its origin."""

    values: Mapping[str, Any]
    origins: Mapping[str, Origin]

    @classmethod
    def of_file(cls, file: SettingsFile, origin: Origin) -> "Layer":
        """Return everything that a file sets."""
        values = explicit_values(file)
        return cls(values=values, origins=dict.fromkeys(values, origin))


def parse_settings(data: bytes, path: Path) -> SettingsFile:
    """Return the settings in the bytes of a file; UsageError names the first that makes no sense."""
    try:
        return SettingsFile.model_validate(tomllib.loads(data.decode()))
    except ValidationError as error:
        raise settings_error(path, describe_fault(error)) from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, a number of 5,000 digits, too deep
        raise settings_error(path, f"{error}.") from None


def describe_fault(error: ValidationError, *, called: str = "") -> str:
    """Describe the first fault in a sentence; `called` replaces the name of the setting."""
    detail = error.errors(include_url=False)[0]
    name = called or quote_path(".".join(str(step) for step in detail["loc"]))
    if detail["type"] == "extra_forbidden":
        near = nearest_setting(name)
        return f"there is no setting '{name}'{f'; did you mean {near}?' if near else '.'}"
    if detail["type"] == "value_error":
        return f"{name}: {detail['ctx']['error']}"  # a sentence of ours
    known = _FAULTS.get(detail["type"])
    text = f"{name} {known.format_map(detail.get('ctx', {}))}" if known else f"{name}: {detail['msg']}"
    value = detail["input"]
    # Redacted: somebody may have put a key where a model or a number belongs.
    return f"{text}; got '{quote_path(redact_shown(str(value)))}'." if isinstance(value, _SHOWN) else f"{text}."


def settings_error(path: Path, fault: str) -> UsageError:
    """Return the error for a file that cannot be used; `fault` is the sentence that says why."""
    return UsageError(f"The settings in '{quote_path(str(path))}' cannot be used: {fault} Repair the file.")


def read_variables(environment: Mapping[str, str]) -> Layer:
    """Return what the TOOLROLL_ variables set; an empty one sets nothing. UsageError names a wrong one."""
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for one in all_settings():
        text = environment.get(one.variable, "")
        if text.strip():
            values[one.name] = check_value(one, one.parse_variable(text), called=one.variable)
            origins[one.name] = Origin(kind="environment", place=one.variable)
    return Layer(values=values, origins=origins)


def check_value(one: Setting, value: object, *, called: str) -> object:
    """Return the value as the setting stores it; UsageError says what is wrong with it."""
    try:
        return explicit_values(SettingsFile.model_validate(nest_values({one.name: value})))[one.name]
    except ValidationError as error:
        raise UsageError(describe_fault(error, called=called)) from None
