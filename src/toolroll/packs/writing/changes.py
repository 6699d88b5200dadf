"""Changes to a profile by dot paths: all of them or none, and only fields that a profile has (W12, XJ6).

Nothing here touches a file: fields go in, fields come out, or every fault does.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from toolroll.errors import ChangeRefused
from toolroll.packs.writing.profile import Fault, PlatformStyle, StyleProfile, Voice, check_fields
from toolroll.packs.writing.stored import Fields
from toolroll.safe.names import shown

IMMUTABLE: Final = ("profile_name", "profile_type", "created_at", "version", "updated_at", "changelog")
"""What a profile is, and its history: the first three for ever, the others go with each change by themselves."""

MAX_CHANGES: Final = 50
"""In one update: more than a profile has fields."""
MAX_PATH_CHARACTERS: Final = 100
"""Twice the longest path there is."""

_PLATFORMS: Final = ("linkedin", "instagram", "x")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field as it is and as it will be; None where there is nothing."""

    path: str
    old: object
    new: object


def _below(name: str, shape: type[BaseModel]) -> Iterator[str]:
    yield name
    yield from (f"{name}.{field}" for field in shape.model_fields)


PATHS: Final = frozenset(
    [
        *StyleProfile.model_fields,
        *_below("voice", Voice),
        *(path for platform in _PLATFORMS for path in _below(f"platforms.{platform}", PlatformStyle)),
    ]
)
"""Every path that names a field of a profile; entries of lists have none, a list is changed whole."""


def change_fields(fields: Fields, changes: Mapping[str, object]) -> Fields:
    """The fields with all changes made, the old ones left as they are; `ChangeRefused` with every fault."""
    name = str(fields["profile_name"])
    _refuse(name, _faults(changes))
    changed = fields
    for path, value in changes.items():
        changed = _with(changed, path.split("."), value)
    found = check_fields(changed)
    _refuse(name, _blanks(changes, changed) if isinstance(found, StyleProfile) else found)
    if changed == fields:
        _refuse(name, (Fault(path=next(iter(changes)), problem="is so already: nothing would change"),))
    return changed


def differences(fields: Fields, changes: Mapping[str, object]) -> tuple[Difference, ...]:
    """What each change replaces by what."""
    return tuple(Difference(path=path, old=_at(fields, path), new=value) for path, value in changes.items())


def _faults(changes: Mapping[str, object]) -> tuple[Fault, ...]:
    if not changes:
        return (Fault(path="changes", problem='must name at least one field, as in {"voice.tone": "..."}'),)
    if len(changes) > MAX_CHANGES:
        return (Fault(path="changes", problem=f"has more than {MAX_CHANGES} entries: make several updates of it"),)
    return tuple(
        Fault(path=shown(path[:MAX_PATH_CHARACTERS]), problem=why)
        for path in changes
        if (why := _why_not(path, changes))
    )


def _blanks(changes: Mapping[str, object], changed: Fields) -> tuple[Fault, ...]:
    """The texts of the voice that a change would empty; one that was empty before is no fault of the change."""
    voice = (f"voice.{field}" for field in Voice.model_fields)
    touched = (path for path in voice if path in changes or "voice" in changes)
    values = ((path, _at(changed, path)) for path in touched)
    return tuple(
        Fault(path=path, problem="must not be blank")
        for path, value in values
        if isinstance(value, str) and not value.strip()
    )


def _why_not(path: str, changes: Mapping[str, object]) -> str | None:
    if path.partition(".")[0] in IMMUTABLE:
        return "cannot be changed"
    if path not in PATHS:
        return "is no field of a profile that can be changed; a list is changed as a whole"
    if any(other.startswith(f"{path}.") for other in changes):
        return "is changed as a whole and in part: name it once"
    return None


def _with(fields: Fields, steps: Sequence[str], value: object) -> Fields:
    """The fields with one of them replaced; only what lies on the way to it is copied."""
    step, *rest = steps
    # A platform that is not there yet begins empty; what it lacks, the check of the whole profile tells.
    return fields | {step: _with(fields.get(step, {}), rest, value) if rest else deepcopy(value)}


def _at(fields: Fields, path: str) -> object:
    found: object = fields
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _refuse(name: str, faults: tuple[Fault, ...]) -> None:
    if not faults:
        return
    told = tuple(map(str, faults))
    paths = tuple(dict.fromkeys(fault.path for fault in faults))
    message = f"Invalid value for {', '.join(paths)}. Nothing was changed:\n" + "\n".join(f"- {one}" for one in told)
    raise ChangeRefused(message, profile=name, fields=paths, faults=told)
