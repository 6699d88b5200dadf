"""Change a profile by dot paths, all changes or none (W12, XJ6), and make its versions: the first and each next one.

Nothing here touches a file: the functions take fields and return fields, or raise with every fault.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import BaseModel

from toolroll.errors import ChangeRefused
from toolroll.packs.writing.profiles.names import check_profile_name
from toolroll.packs.writing.profiles.profile_format import ProfileFields
from toolroll.packs.writing.profiles.schema import (
    PlatformStyle,
    ProfileFault,
    StyleProfile,
    Voice,
    check_profile,
    timestamp,
)
from toolroll.packs.writing.texts.messages import Lang, say
from toolroll.safe.paths.names import quote_path

IMMUTABLE: Final = ("profile_name", "profile_type", "created_at", "version", "updated_at", "changelog")
"""What a profile is, and its history: the first three for ever, the others go with each change by themselves."""

MAX_CHANGES: Final = 50
"""In one update: more than a profile has fields."""
MAX_PATH_CHARACTERS: Final = 100
"""Twice the longest path there is."""

_PLATFORMS: Final = ("linkedin", "instagram", "x")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field as it is and as it will be; None where there is nothing."""

    path: str
    old: object
    new: object


def _paths_below(name: str, shape: type[BaseModel]) -> Iterator[str]:
    yield name
    yield from (f"{name}.{field}" for field in shape.model_fields)


PATHS: Final = frozenset(
    [
        *StyleProfile.model_fields,
        *_paths_below("voice", Voice),
        *(path for platform in _PLATFORMS for path in _paths_below(f"platforms.{platform}", PlatformStyle)),
    ]
)
"""Every path that names a field of a profile; entries of lists have none, a list is changed whole."""


def change_fields(fields: ProfileFields, changes: Mapping[str, object]) -> ProfileFields:
    """The fields with all changes made, the old ones left as they are; `ChangeRefused` with every fault."""
    name = str(fields["profile_name"])
    _refuse(name, _path_faults(changes))
    changed = fields
    for path, value in changes.items():
        changed = _replace_field(changed, path.split("."), value)
    found = check_profile(changed)
    _refuse(name, _blank_faults(changes, changed) if isinstance(found, StyleProfile) else found)
    if changed == fields:
        _refuse(name, (ProfileFault(path=next(iter(changes)), problem="is so already: nothing would change"),))
    return changed


def list_changes(fields: ProfileFields, changes: Mapping[str, object]) -> tuple[FieldChange, ...]:
    """What each change replaces by what."""
    return tuple(FieldChange(path=path, old=get_field(fields, path), new=value) for path, value in changes.items())


def _path_faults(changes: Mapping[str, object]) -> tuple[ProfileFault, ...]:
    if not changes:
        return (ProfileFault(path="changes", problem='must name at least one field, as in {"voice.tone": "..."}'),)
    if len(changes) > MAX_CHANGES:
        return (
            ProfileFault(path="changes", problem=f"has more than {MAX_CHANGES} entries: make several updates of it"),
        )
    return tuple(
        ProfileFault(path=quote_path(path[:MAX_PATH_CHARACTERS]), problem=why)
        for path in changes
        if (why := _path_problem(path, changes))
    )


def _blank_faults(changes: Mapping[str, object], changed: ProfileFields) -> tuple[ProfileFault, ...]:
    """The texts of the voice that a change would empty; one that was empty before is no fault of the change."""
    voice = (f"voice.{field}" for field in Voice.model_fields)
    touched = (path for path in voice if path in changes or "voice" in changes)
    values = ((path, get_field(changed, path)) for path in touched)
    return tuple(
        ProfileFault(path=path, problem="must not be blank")
        for path, value in values
        if isinstance(value, str) and not value.strip()
    )


def _path_problem(path: str, changes: Mapping[str, object]) -> str | None:
    if path.partition(".")[0] in IMMUTABLE:
        return "cannot be changed"
    if path not in PATHS:
        return "is no field of a profile that can be changed; a list is changed as a whole"
    if any(other.startswith(f"{path}.") for other in changes):
        return "is changed as a whole and in part: name it once"
    return None


def _replace_field(fields: ProfileFields, steps: Sequence[str], value: object) -> ProfileFields:
    """The fields with one of them replaced; only what lies on the way to it is copied."""
    step, *rest = steps
    # A platform that is not there yet begins empty; what it lacks, the check of the whole profile tells.
    return fields | {step: _replace_field(fields.get(step, {}), rest, value) if rest else deepcopy(value)}


def get_field(fields: ProfileFields, path: str) -> object:
    """Return the value at a dot path; None where there is none."""
    found: object = fields
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _refuse(name: str, faults: tuple[ProfileFault, ...]) -> None:
    if not faults:
        return
    told = tuple(map(str, faults))
    paths = tuple(dict.fromkeys(fault.path for fault in faults))
    message = f"Invalid value for {', '.join(paths)}. Nothing was changed:\n" + "\n".join(f"- {one}" for one in told)
    raise ChangeRefused(message, profile=name, fields=paths, faults=told)


MAX_CHANGELOG_ENTRIES: Final = 100
"""Entries of the history that are kept, the first and the newest: a model reads them all with each draft."""

_GENERATED: Final = ("version", "created_at", "updated_at", "changelog")


def next_version(
    fields: ProfileFields, changes: Mapping[str, object], *, reason: str, now: datetime
) -> tuple[ProfileFields, ProfileFields]:
    """The fields of the next version, and its entry in the history; `ChangeRefused` where a change is wrong."""
    changed = change_fields(fields, changes)
    moment, version = timestamp(now), int(fields["version"]) + 1
    entry: ProfileFields = {
        "version": version,
        "date": moment,
        "action": "updated",
        "description": _changelog_text(changes, reason, history_language(fields)),
        "fields_changed": list(changes),
    }
    history = [*changed["changelog"], entry]
    if len(history) > MAX_CHANGELOG_ENTRIES:
        history = [history[0], *history[-MAX_CHANGELOG_ENTRIES + 1 :]]
    return changed | {"version": version, "updated_at": moment, "changelog": history}, entry


def first_version(draft: Mapping[str, object], *, now: datetime) -> ProfileFields:
    """The fields of a new profile; `ChangeRefused` with every rule that the draft breaks."""
    name, moment = draft.get("profile_name"), timestamp(now)
    if isinstance(name, str):
        check_profile_name(name)
    described = "Profile created." if history_language(draft) == "en" else "Створено профіль."
    entry = {"version": 1, "date": moment, "action": "created", "description": described}
    made = {"version": 1, "created_at": moment, "updated_at": moment, "changelog": [entry]}
    given = {key: value for key, value in draft.items() if key not in _GENERATED}
    fields = {key: (given | made)[key] for key in StyleProfile.model_fields if key in given or key in made}
    found = check_profile(fields | given)
    if not isinstance(found, StyleProfile):
        told = tuple(map(str, found))
        message = "The profile cannot be written:\n" + "\n".join(f"- {one}" for one in told)
        paths = tuple(dict.fromkeys(fault.path for fault in found))
        raise ChangeRefused(message, profile=str(name), fields=paths, faults=told)
    return fields


def history_language(fields: Mapping[str, object]) -> Lang:
    """The language that the history of a profile is in, whoever looks at it: that of the profile."""
    return "en" if fields.get("language") == "en" else "uk"


def _changelog_text(changes: Mapping[str, object], reason: str, lang: Lang) -> str:
    done, why = say("history_updated", lang), say("history_reason", lang)
    return f"{done}: {', '.join(changes)}. {why}: {reason.strip().rstrip('.')}."
