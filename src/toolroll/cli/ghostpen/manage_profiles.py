"""Profiles listed, shown, removed, handed out and taken in."""

import os
import stat
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Final

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.ghostpen.create_profile import report_written
from toolroll.cli.session import DONE
from toolroll.errors import FileExists, FileMissing, FileTooLarge, NotAFile, ProfileInvalid, UsageError
from toolroll.packs.writing.profiles.cache import ProfileSummary
from toolroll.packs.writing.profiles.description import describe_profile
from toolroll.packs.writing.profiles.names import DEFAULT, check_profile_name
from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    StoredProfile,
    encode_profile,
    parse_foreign_profile,
)
from toolroll.packs.writing.profiles.schema import ProfileType
from toolroll.packs.writing.profiles.store import BACKUPS, FOLDER, ForbiddenFile
from toolroll.packs.writing.texts.error_texts import translate_message
from toolroll.packs.writing.texts.messages import Key
from toolroll.packs.writing.tools.post_tools import display_path
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors

_TYPES: Final[Mapping[ProfileType, Key]] = {"personal": "type_personal", "reference": "type_reference"}


def list_profiles(desk: CommandContext) -> int:
    """All profiles, the personal ones first; what cannot be read is told."""
    found = desk.profiles.listing()
    for one in found.unreadable:
        key: Key = "profile_closed" if isinstance(one, ForbiddenFile) else "not_a_profile"
        desk.say(key, file=one.file, problem=translate_message(one.problem, desk.lang))
    if found.is_damaged:
        desk.say("profiles_damaged", files=", ".join(found.damaged))
    if desk.session.json:
        profiles, unreadable = ([asdict(one) for one in part] for part in (found.profiles, found.unreadable))
        desk.session.write_json({"profiles": profiles, "total": len(profiles), "unreadable": unreadable})
    elif found.profiles:
        desk.write("\n".join(_row(desk, one) for one in found.profiles))
    elif not found.unreadable:
        desk.say("no_profiles")
    return DONE


def _row(desk: CommandContext, one: ProfileSummary) -> str:
    return f"{one.name}  {desk.words(_TYPES[one.type])}, {one.language}, v{one.version}  {one.tone_summary}"


def show_profile(desk: CommandContext, name: str) -> int:
    """One profile in words, or whole as JSON."""
    stored = desk.profiles.read(name)
    profile = stored.profile
    when = datetime.fromisoformat(profile.updated_at).strftime("%Y-%m-%d %H:%M")
    kind = desk.words(_TYPES[profile.profile_type])
    head = desk.words("profile_head", name=profile.profile_name, type=kind, version=profile.version, when=when)
    lines = [head, *map(str, describe_profile(stored.fields, desk.lang))]
    desk.write("\n".join(lines), profile=stored.fields)
    return DONE


def delete_profile(desk: CommandContext, name: str) -> int:
    """Remove a profile after a yes; a backup stays, and so does the default one."""
    if check_profile_name(name) == DEFAULT:
        raise UsageError(desk.words("default_stays"))
    desk.profiles.raw(name)  # a name that is not there is told before anybody is asked
    if (code := desk.not_agreed("ask_delete", name=name)) is not None:
        return code
    desk.profiles.delete(name)
    folder = desk.data / FOLDER / BACKUPS
    desk.say("profile_kept", folder=display_path(folder))
    desk.write(desk.words("profile_deleted", name=name), deleted=name, backups=str(folder))
    return DONE


def export_profile(desk: CommandContext, name: str, output: Path | None) -> int:
    """A profile as JSON, on stdout or in a file that was not there before."""
    fields = desk.profiles.read(name).fields
    if output is None:
        desk.write(encode_profile(fields).decode(), is_raw=True, profile=fields)
        return DONE
    try:
        with os_errors(quote_path(str(output))), output.open("xb") as file:
            file.write(encode_profile(fields))
    except FileExists as error:
        raise FileExists(desk.words("file_taken", file=error.path), path=error.path) from None
    except FileMissing as error:
        raise FileMissing(desk.words("no_folder", folder=quote_path(str(output.parent))), path=error.path) from None
    desk.write(desk.words("profile_exported", name=name, file=str(output)), exported=name, file=str(output))
    return DONE


def import_profile(desk: CommandContext, file: Path, name: str | None) -> int:
    """Take in a profile from a file, with its version and history; one that is there is replaced only after a yes."""
    stored = _read(desk, file, name)
    name, version = stored.profile.profile_name, stored.profile.version
    replace = desk.profiles.has(name)
    if replace and (code := desk.not_agreed("ask_replace", name=name)) is not None:
        return code
    desk.profiles.put(stored, replace=replace)
    desk.say("profile_imported", name=name, version=version)
    return report_written(desk, stored, replaced=replace)


def _read(desk: CommandContext, file: Path, name: str | None) -> StoredProfile:
    path = quote_path(str(file))
    data = _bytes(desk, file, path)
    if len(data) > MAX_PROFILE_BYTES:
        told = f"'{path}' has more than {MAX_PROFILE_BYTES:,} bytes, and no profile has."
        raise FileTooLarge(told, path=path, limit_bytes=MAX_PROFILE_BYTES)
    try:
        return parse_foreign_profile(data, name=name)
    except ProfileInvalid as error:
        told = f"'{path}' is no profile."
        raise ProfileInvalid(told, profile=error.profile, faults=error.faults, file=path) from None


def _bytes(desk: CommandContext, file: Path, path: str) -> bytes:
    # Not waiting: opening a pipe waits for its other end, and a device may never end.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    with desk.reading(path), os.fdopen(os.open(file, flags), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise NotAFile(f"'{path}' is no regular file. Name the file of a profile.", path=path)
        return opened.read(MAX_PROFILE_BYTES + 1)
