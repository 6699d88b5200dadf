"""The bodies of `profile list`, `show`, `edit`, `delete`, `export` and `import`."""

import os
import stat
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.ghostpen.create_profile import report_written
from toolroll.cli.session import DONE
from toolroll.cli.terminal.editor import edit_text
from toolroll.errors import (
    ChangeRefused,
    FileExists,
    FileMissing,
    FileTooLarge,
    JsonRefused,
    NotAFile,
    ProfileInvalid,
    ToolrollError,
    UsageError,
)
from toolroll.kernel.arguments.parse import parse_json
from toolroll.messages import Template
from toolroll.packs.writing.profiles.changes import changes_between, history_language
from toolroll.packs.writing.profiles.description import describe_profile
from toolroll.packs.writing.profiles.faults import NOT_GROUP, make_fault
from toolroll.packs.writing.profiles.names import DEFAULT, check_profile_name
from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    StoredProfile,
    encode_fields,
    encode_profile,
    parse_foreign_profile,
    parse_profile,
)
from toolroll.packs.writing.profiles.schema import FIXED
from toolroll.packs.writing.profiles.store import BACKUPS, DEFAULT_STAYS, FOLDER, ProfileSummary
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key, name_value, say
from toolroll.packs.writing.tools.post_tools import display_path
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors

TOO_LARGE_FOR_PROFILE: Final = Template(
    "too_large_for_profile", "'{path}' is too large for a profile: it has more than {limit} bytes."
)
NOT_A_PROFILE_FILE: Final = Template(
    "not_a_profile_file", "'{path}' is not a regular file.", "Name the file of a profile."
)


def list_profiles(context: CommandContext) -> int:
    """List all profiles, the personal ones first, and report files that cannot be read."""
    found = context.profiles.listing()
    for one in found.unreadable:
        key: Key = "not_a_profile" if one.is_damaged else "profile_closed"
        context.say(key, file=one.file, problem=describe_error(one.error, context.lang))
    if found.is_damaged:
        context.say("profiles_damaged", files=", ".join(found.damaged))
    if context.session.json:
        profiles, unreadable = [asdict(one) for one in found.profiles], [one.fields for one in found.unreadable]
        context.session.write_json({"profiles": profiles, "total": len(profiles), "unreadable": unreadable})
    elif found.profiles:
        context.write("\n".join(_row(context, one) for one in found.profiles))
    elif not found.unreadable:
        context.say("no_profiles")
    return DONE


def _row(context: CommandContext, one: ProfileSummary) -> str:
    return context.text(
        "profile_row",
        name=one.name,
        type=name_value("profile_type", one.type, context.lang),
        language=name_value("language", one.language, context.lang),
        version=one.version,
        tone=one.tone_summary,
    )


def show_profile(context: CommandContext, name: str) -> int:
    """Show one profile in words, or whole as JSON."""
    stored = context.profiles.read(name)
    profile = stored.profile
    when = datetime.fromisoformat(profile.updated_at).strftime("%Y-%m-%d %H:%M")
    kind = name_value("profile_type", profile.profile_type, context.lang)
    head = context.text("profile_head", name=profile.profile_name, type=kind, version=profile.version, when=when)
    lines = [head, *map(str, describe_profile(stored.fields, context.lang))]
    context.write("\n".join(lines), profile=stored.fields)
    return DONE


def delete_profile(context: CommandContext, name: str) -> int:
    """Delete a profile after a yes and keep a backup; the default one cannot be deleted."""
    if check_profile_name(name) == DEFAULT:
        raise UsageError(DEFAULT_STAYS)
    context.profiles.raw(name)  # an unknown name is reported before anybody is asked
    if (code := context.confirm("ask_delete", name=name)) is not None:
        return code
    context.profiles.delete(name)
    folder = context.data / FOLDER / BACKUPS
    context.say("profile_kept", folder=display_path(folder))
    context.write(context.text("profile_deleted", name=name), deleted=name, backups=str(folder))
    return DONE


def export_profile(context: CommandContext, name: str, output: Path | None) -> int:
    """Write a profile as JSON to stdout, or to a new file."""
    fields = context.profiles.read(name).fields
    if output is None:
        context.write(encode_profile(fields).decode(), is_raw=True, profile=fields)
        return DONE
    try:
        with os_errors(quote_path(str(output))), output.open("xb") as file:
            file.write(encode_profile(fields))
    except FileExists as error:
        raise FileExists(context.text("file_taken", file=error.path), path=error.path) from None
    except FileMissing as error:
        raise FileMissing(context.text("no_folder", folder=quote_path(str(output.parent))), path=error.path) from None
    context.write(context.text("profile_exported", name=name, file=str(output)), exported=name, file=str(output))
    return DONE


def import_profile(context: CommandContext, file: Path, name: str | None) -> int:
    """Import a profile from a file, with its version and history; an existing one is replaced only after a yes."""
    stored = _read(context, file, name)
    name, version = stored.profile.profile_name, stored.profile.version
    replace = context.profiles.has(name)
    if replace and (code := context.confirm("ask_replace", name=name)) is not None:
        return code
    context.profiles.put(stored, replace=replace)
    context.say("profile_imported", name=name, version=version)
    return report_written(context, stored, replaced=replace)


def _read(context: CommandContext, file: Path, name: str | None) -> StoredProfile:
    path = quote_path(str(file))
    data = _bytes(context, file, path)
    if len(data) > MAX_PROFILE_BYTES:
        too_large = TOO_LARGE_FOR_PROFILE(path=path, limit=f"{MAX_PROFILE_BYTES:,}")
        raise FileTooLarge(too_large, path=path, limit_bytes=MAX_PROFILE_BYTES)
    try:
        return parse_foreign_profile(data, name=name)
    except ProfileInvalid as error:
        message = f"'{path}' is not a profile."
        raise ProfileInvalid(message, profile=error.profile, faults=error.faults, file=path) from None


def _bytes(context: CommandContext, file: Path, path: str) -> bytes:
    # Without blocking: opening a pipe waits for its other end, and a device may never end.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    with context.file_errors(path), os.fdopen(os.open(file, flags), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise NotAFile(NOT_A_PROFILE_FILE(path=path), path=path)
        return opened.read(MAX_PROFILE_BYTES + 1)


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
