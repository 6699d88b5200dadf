"""Change a profile by dot paths, all changes or none (W12, XJ6), and make its versions: the first and each next one.

Nothing here touches a file: the functions take fields and return fields, or raise `ChangeRefused` with every fault.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from toolroll.errors import ChangeRefused
from toolroll.messages import Text
from toolroll.packs.writing.profiles.faults import (
    BLANK,
    CHANGED_TWICE,
    FIXED_FIELD,
    NO_CHANGE,
    NO_CHANGES,
    NOT_CHANGEABLE,
    TOO_MANY_CHANGES,
    fault_paths,
    list_faults,
    make_fault,
)
from toolroll.packs.writing.profiles.names import check_profile_name
from toolroll.packs.writing.profiles.schema import (
    FIXED,
    GENERATED,
    PATHS,
    ProfileFields,
    StyleProfile,
    Voice,
    add_new_fields,
    check_profile,
    timestamp,
)
from toolroll.packs.writing.texts.messages import Lang, say
from toolroll.safe.paths.names import quote_path

MAX_CHANGES: Final = 50
"""In one update: more than a profile has fields."""
MAX_PATH_CHARACTERS: Final = 100
"""Twice the longest path there is."""
MAX_CHANGELOG_ENTRIES: Final = 100
"""Entries of the history that are kept, the first and the newest: a model reads them all with each draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field as it is and as it will be; None where there is nothing."""

    path: str
    old: object
    new: object


def change_fields(fields: ProfileFields, changes: Mapping[str, object]) -> ProfileFields:
    """Return the fields with all changes made; the old ones are left as they are."""
    name = str(fields["profile_name"])
    _refuse(name, _path_faults(changes))
    changed = fields
    for path, value in changes.items():
        changed = _replace_field(changed, path.split("."), value)
    found = check_profile(changed, lenient=True)
    _refuse(name, _blank_faults(changes, changed) if isinstance(found, StyleProfile) else found)
    if changed == fields:
        _refuse(name, (make_fault(next(iter(changes)), NO_CHANGE),))
    return changed


def list_changes(fields: ProfileFields, changes: Mapping[str, object]) -> tuple[FieldChange, ...]:
    """Return what each change replaces by what."""
    return tuple(FieldChange(path=path, old=get_field(fields, path), new=value) for path, value in changes.items())


def get_field(fields: Mapping[str, object], path: str) -> object:
    """Return the value at a dot path; None where there is none."""
    found: object = fields
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def changes_between(old: ProfileFields, new: Mapping[str, object]) -> dict[str, object]:
    """Return the changes that make the old fields the new ones, by the finest paths that can say it.

    Fields that cannot be changed count only where the new ones have them: then the change is refused.
    """
    names = dict.fromkeys([*(name for name in old if name not in FIXED), *new])
    changes = {path: value for name in names for path, value in _finest(name, old.get(name), new.get(name)).items()}
    return {path: value for path, value in changes.items() if value != get_field(old, path) or path not in PATHS}


def _finest(path: str, old: object, new: object) -> dict[str, object]:
    """Return the value itself, or its parts where both are groups of the same fields and these have paths."""
    has_paths = any(known.startswith(f"{path}.") for known in PATHS)
    if not (has_paths and isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys()):
        return {path: new}
    return {inner: value for key in new for inner, value in _finest(f"{path}.{key}", old[key], new[key]).items()}


def next_version(
    fields: ProfileFields, changes: Mapping[str, object], *, reason: str, now: datetime
) -> tuple[ProfileFields, ProfileFields]:
    """Return the fields of the next version, and its entry in the history."""
    changed = change_fields(fields, changes)
    moment, version = timestamp(now), int(fields["version"]) + 1
    described = {"fields": ", ".join(changes), "reason": reason.strip().rstrip(".")}
    entry: ProfileFields = {
        "version": version,
        "date": moment,
        "action": "updated",
        "description": say("history_updated", history_language(fields), **described),
        "fields_changed": list(changes),
    }
    history = [*changed["changelog"], entry]
    if len(history) > MAX_CHANGELOG_ENTRIES:
        history = [history[0], *history[-MAX_CHANGELOG_ENTRIES + 1 :]]
    return changed | {"version": version, "updated_at": moment, "changelog": history}, entry


def first_version(draft: Mapping[str, object], *, now: datetime) -> ProfileFields:
    """Return the fields of a new profile: what the draft says, with version, times and history added."""
    name, moment = draft.get("profile_name"), timestamp(now)
    if isinstance(name, str):
        check_profile_name(name)
    described = say("history_created", history_language(draft))
    entry = {"version": 1, "date": moment, "action": "created", "description": described}
    made = {"version": 1, "created_at": moment, "updated_at": moment, "changelog": [entry]}
    given = add_new_fields({key: value for key, value in draft.items() if key not in GENERATED})
    fields = {key: (given | made)[key] for key in StyleProfile.model_fields if key in given or key in made}
    found = check_profile(fields | given)
    if not isinstance(found, StyleProfile):
        paths = fault_paths(found)
        message = f"The profile cannot be written:\n{list_faults(found)}"
        raise ChangeRefused(message, profile=str(name), fields=paths, faults=found)
    return fields


def history_language(fields: Mapping[str, object]) -> Lang:
    """Return the language of a profile's history, whoever looks at it: that of the profile."""
    return "en" if fields.get("language") == "en" else "uk"


def _path_faults(changes: Mapping[str, object]) -> tuple[Text, ...]:
    if not changes:
        return (make_fault("changes", NO_CHANGES),)
    if len(changes) > MAX_CHANGES:
        return (make_fault("changes", TOO_MANY_CHANGES(most=MAX_CHANGES)),)
    return tuple(
        make_fault(quote_path(path[:MAX_PATH_CHARACTERS]), problem)
        for path in changes
        if (problem := _path_problem(path, changes))
    )


def _path_problem(path: str, changes: Mapping[str, object]) -> Text | None:
    if path.partition(".")[0] in FIXED:
        return FIXED_FIELD
    if path not in PATHS:
        return NOT_CHANGEABLE
    if any(other.startswith(f"{path}.") for other in changes):
        return CHANGED_TWICE
    return None


def _blank_faults(changes: Mapping[str, object], changed: ProfileFields) -> tuple[Text, ...]:
    """Return the texts of the voice that a change would empty; one that was empty before is no fault of the change."""
    voice = (f"voice.{field}" for field in Voice.model_fields)
    touched = (path for path in voice if path in changes or "voice" in changes)
    values = ((path, get_field(changed, path)) for path in touched)
    return tuple(make_fault(path, BLANK) for path, value in values if isinstance(value, str) and not value.strip())


def _replace_field(fields: ProfileFields, steps: Sequence[str], value: object) -> ProfileFields:
    """Return the fields with one of them replaced; only what lies on the way to it is copied."""
    step, *rest = steps
    # A platform that is not there yet begins empty; the check of the whole profile says what it lacks.
    return fields | {step: _replace_field(fields.get(step, {}), rest, value) if rest else deepcopy(value)}


def _refuse(name: str, faults: tuple[Text, ...]) -> None:
    if not faults:
        return
    paths = fault_paths(faults)
    message = f"Invalid value for {', '.join(paths)}. Nothing was changed:\n{list_faults(faults)}"
    raise ChangeRefused(message, profile=name, fields=paths, faults=faults)
