"""One place that says something about settings: a file or the environment, checked as a whole."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from toolroll.errors import UsageError
from toolroll.home.declared import nearest
from toolroll.home.shape import Origin, SettingsFile, set_values
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
        values = set_values(file)
        return cls(values=values, origins=dict.fromkeys(values, origin))


def parse_file(data: bytes, path: Path) -> SettingsFile:
    """The settings in the bytes of a file; UsageError names the first that makes no sense."""
    try:
        return SettingsFile.model_validate(tomllib.loads(data.decode()))
    except ValidationError as error:
        raise refusal(path, first_fault(error)) from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, a number of 5,000 digits, too deep
        raise refusal(path, str(error)) from None


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    detail = error.errors(include_url=False, include_context=False)[0]
    place = quote_path(".".join(str(step) for step in detail["loc"]))
    if detail["type"] != "extra_forbidden":
        return f"{place}: {detail['msg']}"
    near = nearest(place)
    return f"{place} is no setting{f'; did you mean {near}?' if near else ''}"


def refusal(path: Path, why: str) -> UsageError:
    """The error for a file that cannot be used."""
    told = why.rstrip(".")
    stop = "" if told.endswith("?") else "."
    return UsageError(f"The settings in '{quote_path(str(path))}' cannot be used: {told}{stop} Repair the file.")
