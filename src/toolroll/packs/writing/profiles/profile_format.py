"""A profile as a file: strict JSON in, every fault reported; older formats are migrated, newer ones only read.

A file without `schema_version` is of format 1. Format 0 is that of drafts from before 0.1, when X was called twitter
and profiles had neither a type nor a history. Fields that appeared after a file was written get the initial value that
`schema` describes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from toolroll.errors import JsonRefused, ProfileInvalid
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.serialize import replace_surrogates
from toolroll.messages import Text
from toolroll.packs.writing.profiles.faults import BAD_FORMAT, NOT_GROUP, OTHER_NAME, TOO_LARGE, list_faults, make_fault
from toolroll.packs.writing.profiles.names import SUFFIX, check_profile_name
from toolroll.packs.writing.profiles.schema import (
    FIRST_FORMAT,
    FORMAT,
    ProfileFields,
    StyleProfile,
    add_new_fields,
    check_profile,
    fill_missing,
)
from toolroll.safe.paths.names import quote_path

MAX_PROFILE_BYTES: Final = 4_194_304
"""A thousand long posts as examples, and as many changes: far more than fits a prompt."""

MAX_VERSION: Final = 1_000_000_000
"""Of a profile that is imported: nobody has changed one so often, and each change adds one."""

FORMAT_FIELD: Final = "schema_version"
_BACKSLASH: Final = ord("\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProfile:
    """A profile that was read: checked, as plain fields, and the hash of the bytes it was read from."""

    profile: StyleProfile
    fields: ProfileFields
    hash: str
    format: int = FORMAT

    @property
    def is_newer(self) -> bool:
        """Return whether it is of a format that this program must not write."""
        return self.format > FORMAT


def parse_profile(data: bytes, name: str) -> StoredProfile:
    """Return the profile in the bytes of a file; `ProfileInvalid` has all that is wrong with it."""
    fields, found_format = _migrate(_parse_fields(data, name), name)
    found = check_profile(fields, lenient=True)
    if not isinstance(found, StyleProfile):
        _refuse(name, found, found_format)
    if found.profile_name != name:
        other = {"inside": found.profile_name, "outside": f"{name}{SUFFIX}"}
        _refuse(name, (make_fault("profile_name", OTHER_NAME(**other)),), found_format)
    return StoredProfile(profile=found, fields=fields, hash=content_hash(data), format=found_format)


def parse_profile_quickly(data: bytes, name: str) -> StyleProfile | None:
    """Return the profile that `parse_profile` would find, in a third of the time; None where only that can tell.

    For a list of many: anything out of the ordinary, damaged or of another format, is left to `parse_profile`.
    """
    # An escape may stand for a quotation mark, or for half of a character. One byte is found far sooner than two.
    if len(data) > MAX_PROFILE_BYTES or (_BACKSLASH in data and b"\\u" in data):
        return None
    try:
        profile = StyleProfile.model_validate_json(data)
    except ValidationError:
        return None
    # Refuse repeated keys, as `parse_json` does: one of them is not written again, so its quotation marks are missing.
    again = StyleProfile.__pydantic_serializer__.to_json(profile, exclude_unset=True)
    return profile if profile.profile_name == name and again.count(b'"') == data.count(b'"') else None


def parse_foreign_profile(data: bytes, *, name: str | None = None) -> StoredProfile:
    """Return the profile in bytes from anywhere, by the name that stands in it or under another one."""
    fields = _parse_fields(data, name or "?")
    given = fields.get("profile_name") if name is None else name
    if not isinstance(given, str):
        found = check_profile(_migrate(fields, "?")[0])
        assert not isinstance(found, StyleProfile)  # its name is at fault, if nothing else
        _refuse("?", found)
    check_profile_name(given)
    stored = parse_profile(data if name is None else encode_fields(fields | {"profile_name": given}), given)
    if stored.profile.version > MAX_VERSION:
        _refuse(given, (make_fault("version", TOO_LARGE(most=MAX_VERSION)),))
    return stored


def encode_profile(fields: Mapping[str, object]) -> bytes:
    """Return the bytes of a profile's file, with the number of its format where that is not the first."""
    return encode_fields(fields if FORMAT == FIRST_FORMAT else {FORMAT_FIELD: FORMAT, **fields})


def encode_fields(fields: Mapping[str, object]) -> bytes:
    """Return fields as readable JSON, the same bytes for the same fields."""
    try:
        # Twenty times as fast as the standard library, which matters under a lock.
        return to_json(fields, indent=2) + b"\n"
    except PydanticSerializationError:  # half of a character
        return (replace_surrogates(json.dumps(fields, ensure_ascii=False, indent=2)) + "\n").encode()


def _parse_fields(data: bytes, name: str) -> ProfileFields:
    try:
        value = parse_json(data, limit_bytes=MAX_PROFILE_BYTES)
    except JsonRefused as error:
        _refuse(name, (make_fault("", error.message),))
    if not isinstance(value, dict):
        _refuse(name, (make_fault("", NOT_GROUP),))
    return value


def _migrate(fields: ProfileFields, name: str) -> tuple[ProfileFields, int]:
    """Return the fields in the current format, and the format that they were in."""
    found = fields.get(FORMAT_FIELD, FIRST_FORMAT)
    if type(found) is not int or found < 0:
        _refuse(name, (make_fault(FORMAT_FIELD, BAD_FORMAT),))
    fields = {key: value for key, value in fields.items() if key != FORMAT_FIELD}
    if found < FIRST_FORMAT:
        fields = _from_format_0(fields)
    return fill_missing(add_new_fields(fields, since=found)), found


def _from_format_0(fields: ProfileFields) -> ProfileFields:
    """Return the fields of format 1; whatever else is wrong, the check of the whole profile finds."""
    platforms = fields.get("platforms")
    if isinstance(platforms, dict):
        platforms = {"x" if key == "twitter" else key: value for key, value in platforms.items()}
    added: ProfileFields = {"profile_type": "personal", "source": "", "changelog": []}
    return {**added, **fields, "platforms": platforms}


def _refuse(name: str, faults: tuple[Text, ...], found_format: int = FORMAT) -> NoReturn:
    newer = " It is of a newer format: a newer version of this program may read it." if found_format > FORMAT else ""
    raise ProfileInvalid(
        f"Profile '{quote_path(name)}' is damaged. The file was not changed.{newer}\n"
        f"{list_faults(faults)}\nRepair the file, or create the profile again: the damaged one is kept as a backup.",
        profile=quote_path(name),
        faults=faults,
    )
