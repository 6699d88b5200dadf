"""`profile edit`: a profile in the person's own editor, checked before it is written, and back there if it is wrong."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.session import DONE
from toolroll.cli.terminal.editor import edit_text
from toolroll.errors import ChangeRefused, JsonRefused, ProfileInvalid, ToolrollError, UsageError
from toolroll.kernel.arguments.parse import parse_json
from toolroll.packs.writing.profiles.changes import IMMUTABLE, PATHS, history_language
from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    StoredProfile,
    encode_profile,
    parse_profile,
)
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import say


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """What an edit came to: the version that is there now, and the fields that are different."""

    version: int
    paths: tuple[str, ...]


def edit_profile(desk: CommandContext, name: str) -> int:
    """Let the person change a profile; nothing is written that breaks a rule, and what was there is kept."""
    try:
        stored = desk.profiles.read(name)
    except ProfileInvalid as error:
        desk.tell(describe_error(error, desk.lang))
        return _repair(desk, name)
    text = encode_profile({key: value for key, value in stored.fields.items() if key not in IMMUTABLE}).decode()
    while True:
        text = _open_editor(desk, text)
        try:
            edited = _apply_edit(desk, stored, text)
        except (ChangeRefused, JsonRefused) as error:
            if not _ask_again(desk, error):
                return desk.left()
            continue
        return _report(desk, name, edited)


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, object]:
    """The changes that make the old fields the new ones, by the finest paths that can say it."""
    # What cannot be changed is not shown; where somebody puts it in all the same, they are told.
    names = [*dict.fromkeys([*(key for key in old if key not in IMMUTABLE), *new])]
    changes: dict[str, object] = {key: new.get(key) for key in names if key not in ("voice", "platforms")}
    changes |= _changes_inside("voice", old.get("voice"), new.get("voice"))
    platforms, others = old.get("platforms"), new.get("platforms")
    if _same_keys(platforms, others):
        for name in platforms:  # type: ignore[union-attr]  # both are groups of the same names
            changes |= _changes_inside(f"platforms.{name}", platforms[name], others[name])  # type: ignore[index]  # as above
    else:
        changes["platforms"] = others
    return {path: value for path, value in changes.items() if value != _at(old, path) or path not in PATHS}


def _changes_inside(path: str, old: object, new: object) -> dict[str, object]:
    if not _same_keys(old, new):
        return {path: new}
    return {f"{path}.{key}": value for key, value in new.items()}  # type: ignore[attr-defined]  # a group of names


def _same_keys(old: object, new: object) -> bool:
    return isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys()


def _at(fields: Mapping[str, Any], path: str) -> object:
    found: Any = fields
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _apply_edit(desk: CommandContext, stored: StoredProfile, text: str) -> EditResult | None:
    """None where nothing is different."""
    fields = parse_json(text, limit_bytes=MAX_PROFILE_BYTES)
    if not isinstance(fields, dict):
        raise JsonRefused("the profile: must be a group of named fields")
    name = stored.profile.profile_name
    changes = changes_between(stored.fields, fields)
    if not changes:
        return None
    reason = say("edit_made_by", history_language(stored.fields))
    done = desk.profiles.update(name, changes, reason=reason, now=datetime.now(UTC), base=stored.hash, by_person=True)
    return EditResult(version=int(done.entry["version"]), paths=done.paths)


def _repair(desk: CommandContext, name: str) -> int:
    """A damaged file as it is, until it is a profile again."""
    text = desk.profiles.raw(name).decode("utf-8", "replace")
    while True:
        text = _open_editor(desk, text)
        try:
            stored = parse_profile(text.encode(), name)
        except ProfileInvalid as error:
            if not _ask_again(desk, error):
                return desk.left()
            continue
        desk.profiles.put(stored, replace=True)
        return _report(desk, name, EditResult(version=stored.profile.version, paths=()))


def _open_editor(desk: CommandContext, text: str) -> str:
    if desk.terminal is None:
        raise UsageError(desk.words("edit_needs_terminal"))
    return edit_text(text, name="profile.json", environment=os.environ, input_fd=desk.terminal.input_fd)


def _ask_again(desk: CommandContext, error: ToolrollError) -> bool:
    told = describe_error(error, desk.lang)
    desk.tell(desk.words("edit_refused", problems=f"- {told}") if isinstance(error, JsonRefused) else told)
    return desk.choose("yes_no", desk.words("ask_edit_again")) == "yes"


def _report(desk: CommandContext, name: str, edited: EditResult | None) -> int:
    if edited is None:
        desk.write(desk.words("edit_same"), profile_name=name, version=None, changed=[])
    else:
        text = desk.words("profile_updated", name=name, version=edited.version)
        desk.write(text, profile_name=name, version=edited.version, changed=list(edited.paths))
    return DONE
