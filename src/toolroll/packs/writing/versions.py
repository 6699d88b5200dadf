"""The versions of a profile: how the first is made of a draft, and each next one of changes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from toolroll.errors import ChangeRefused
from toolroll.packs.writing.changes import change_fields
from toolroll.packs.writing.names import check_profile_name
from toolroll.packs.writing.profile import StyleProfile, check_fields, timestamp
from toolroll.packs.writing.stored import Fields
from toolroll.packs.writing.wording import Lang

MAX_HISTORY: Final = 100
"""Entries of the history that are kept, the first and the newest: a model reads them all with each draft."""

_MADE: Final = ("version", "created_at", "updated_at", "changelog")


def next_version(fields: Fields, changes: Mapping[str, object], *, reason: str, now: datetime) -> tuple[Fields, Fields]:
    """The fields of the next version, and its entry in the history; `ChangeRefused` where a change is wrong."""
    changed = change_fields(fields, changes)
    moment, version = timestamp(now), int(fields["version"]) + 1
    entry: Fields = {
        "version": version,
        "date": moment,
        "action": "updated",
        "description": _told(changes, reason, history_language(fields)),
        "fields_changed": list(changes),
    }
    history = [*changed["changelog"], entry]
    if len(history) > MAX_HISTORY:
        history = [history[0], *history[-MAX_HISTORY + 1 :]]
    return changed | {"version": version, "updated_at": moment, "changelog": history}, entry


def first_version(draft: Mapping[str, object], *, now: datetime) -> Fields:
    """The fields of a new profile; `ChangeRefused` with every rule that the draft breaks."""
    name, moment = draft.get("profile_name"), timestamp(now)
    if isinstance(name, str):
        check_profile_name(name)
    described = "Profile created." if history_language(draft) == "en" else "Створено профіль."
    entry = {"version": 1, "date": moment, "action": "created", "description": described}
    made = {"version": 1, "created_at": moment, "updated_at": moment, "changelog": [entry]}
    given = {key: value for key, value in draft.items() if key not in _MADE}
    fields = {key: (given | made)[key] for key in StyleProfile.model_fields if key in given or key in made}
    found = check_fields(fields | given)
    if not isinstance(found, StyleProfile):
        told = tuple(map(str, found))
        message = "The profile cannot be written:\n" + "\n".join(f"- {one}" for one in told)
        paths = tuple(dict.fromkeys(fault.path for fault in found))
        raise ChangeRefused(message, profile=str(name), fields=paths, faults=told)
    return fields


def history_language(fields: Mapping[str, object]) -> Lang:
    """The language that the history of a profile is in, whoever looks at it: that of the profile."""
    return "en" if fields.get("language") == "en" else "uk"


def _told(changes: Mapping[str, object], reason: str, lang: Lang) -> str:
    done, why = ("Updated", "Reason") if lang == "en" else ("Оновлено", "Причина")
    return f"{done}: {', '.join(changes)}. {why}: {reason.strip().rstrip('.')}."
