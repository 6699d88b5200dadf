"""The body of `profile edit`: a profile in the person's editor, checked before it is saved, opened again if wrong."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.session import DONE
from toolroll.cli.terminal.editor import edit_text
from toolroll.errors import ChangeRefused, JsonRefused, ProfileInvalid, ToolrollError, UsageError
from toolroll.kernel.arguments.parse import parse_json
from toolroll.packs.writing.profiles.changes import changes_between, history_language
from toolroll.packs.writing.profiles.faults import NOT_GROUP, make_fault
from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    StoredProfile,
    encode_fields,
    parse_profile,
)
from toolroll.packs.writing.profiles.schema import FIXED
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import say


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """What an edit has changed: the version now, and the paths of the fields."""

    version: int
    paths: tuple[str, ...]


def edit_profile(context: CommandContext, name: str) -> int:
    """Let the person change a profile; nothing is saved that breaks a rule, and the old version is kept."""
    try:
        stored = context.profiles.read(name)
    except ProfileInvalid as error:
        context.show(describe_error(error, context.lang))
        return _repair(context, name)
    text = encode_fields({key: value for key, value in stored.fields.items() if key not in FIXED}).decode()
    while True:
        text = _open_editor(context, text)
        try:
            edited = _apply_edit(context, stored, text)
        except (ChangeRefused, JsonRefused) as error:
            if not _ask_again(context, error):
                return context.fail_declined()
            continue
        return _report(context, name, edited)


def _apply_edit(context: CommandContext, stored: StoredProfile, text: str) -> EditResult | None:
    """Save the edited text as a new version; return None where nothing is different."""
    fields = parse_json(text, limit_bytes=MAX_PROFILE_BYTES)
    if not isinstance(fields, dict):
        raise JsonRefused(make_fault("", NOT_GROUP))
    name = stored.profile.profile_name
    changes = changes_between(stored.fields, fields)
    if not changes:
        return None
    reason = say("edit_made_by", history_language(stored.fields))
    done = context.profiles.update(
        name, changes, reason=reason, now=datetime.now(UTC), base=stored.hash, by_person=True
    )
    return EditResult(version=int(done.entry["version"]), paths=done.paths)


def _repair(context: CommandContext, name: str) -> int:
    """Let the person edit a damaged file until it is a profile again."""
    text = context.profiles.raw(name).decode("utf-8", "replace")
    while True:
        text = _open_editor(context, text)
        try:
            stored = parse_profile(text.encode(), name)
        except ProfileInvalid as error:
            if not _ask_again(context, error):
                return context.fail_declined()
            continue
        context.profiles.put(stored, replace=True)
        return _report(context, name, EditResult(version=stored.profile.version, paths=()))


def _open_editor(context: CommandContext, text: str) -> str:
    if context.terminal is None:
        raise UsageError(context.text("edit_needs_terminal"))
    return edit_text(text, name="profile.json", environment=os.environ, input_fd=context.terminal.input_fd)


def _ask_again(context: CommandContext, error: ToolrollError) -> bool:
    problem = describe_error(error, context.lang)
    context.show(context.text("edit_refused", problems=f"- {problem}") if isinstance(error, JsonRefused) else problem)
    return context.ask_yes_no(context.text("ask_edit_again"))


def _report(context: CommandContext, name: str, edited: EditResult | None) -> int:
    if edited is None:
        context.write(context.text("edit_same"), profile_name=name, version=None, changed=[])
    else:
        text = context.text("profile_updated", name=name, version=edited.version)
        context.write(text, profile_name=name, version=edited.version, changed=list(edited.paths))
    return DONE
