"""A profile as a file: strict JSON in, every fault told; an older format is brought up to date, a newer one only read.

A file without `schema_version` is of format 1: exactly the fields of a profile. Format 0 is that of drafts from before
0.1, when X was called twitter and profiles had neither a type nor a history.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from toolroll.errors import JsonRefused, ProfileInvalid
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.serialize import replace_surrogates
from toolroll.packs.writing.profiles.names import check_profile_name
from toolroll.packs.writing.profiles.schema import ProfileFault, StyleProfile, check_profile
from toolroll.safe.paths.names import quote_path

MAX_PROFILE_BYTES: Final = 4_194_304
"""A thousand long posts as examples, and as many changes: far more than fits a prompt."""

MAX_VERSION: Final = 1_000_000_000
"""Of a profile that is taken in: nobody has changed one so often, and each change adds one."""

SCHEMA: Final = 1
SCHEMA_FIELD: Final = "schema_version"
_BACKSLASH: Final = ord("\\")

ProfileFields: TypeAlias = dict[str, Any]
"""A profile as plain JSON data, in the order of its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProfile:
    """A profile that was read: checked, as plain fields, and which bytes it was read from."""

    profile: StyleProfile
    fields: ProfileFields
    hash: str
    schema: int = SCHEMA

    @property
    def is_newer(self) -> bool:
        """Whether it is of a format that this program must not write."""
        return self.schema > SCHEMA


def parse_profile(data: bytes, name: str) -> StoredProfile:
    """The profile in a file's bytes; `ProfileInvalid` with all that is wrong with it."""
    fields, schema = _migrate(_parse_fields(data, name), name)
    found = check_profile(fields, lenient=schema > SCHEMA)
    if not isinstance(found, StyleProfile):
        _refuse(name, found, schema)
    if found.profile_name != name:
        problem = f"says '{found.profile_name}', and the file is called '{name}.json': make both the same"
        _refuse(name, (ProfileFault(path="profile_name", problem=problem),), schema)
    return StoredProfile(profile=found, fields=fields, hash=content_hash(data), schema=schema)


def parse_profile_quickly(data: bytes, name: str) -> StyleProfile | None:
    """The profile that `read_stored` would find in these bytes, in a third of the time; None where only that can tell.

    For a list of many: anything out of the ordinary, damaged or of another format, is left to `read_stored`.
    """
    # An escape may stand for a quotation mark, or for half of a character. One byte is found far sooner than two.
    if len(data) > MAX_PROFILE_BYTES or (_BACKSLASH in data and b"\\u" in data):
        return None
    try:
        profile = StyleProfile.model_validate_json(data)
    except ValidationError:
        return None
    # As `parse_json` does it: of a key that stands twice, one is not written again, and its marks are missing.
    again = StyleProfile.__pydantic_serializer__.to_json(profile, exclude_unset=True)
    return profile if profile.profile_name == name and again.count(b'"') == data.count(b'"') else None


def parse_foreign_profile(data: bytes, *, name: str | None = None) -> StoredProfile:
    """The profile in bytes from anywhere, by the name that stands in it or under another one; refused as above."""
    fields = _parse_fields(data, name or "?")
    given = fields.get("profile_name") if name is None else name
    if not isinstance(given, str):
        found = check_profile(_migrate(fields, "?")[0])
        assert not isinstance(found, StyleProfile)  # its name is at fault, if nothing else
        _refuse("?", found)
    check_profile_name(given)
    stored = parse_profile(data if name is None else encode_profile(fields | {"profile_name": given}), given)
    if stored.profile.version > MAX_VERSION:
        _refuse(given, (ProfileFault(path="version", problem=f"must be a number up to {MAX_VERSION}"),))
    return stored


def encode_profile(fields: Mapping[str, object]) -> bytes:
    """The bytes of a profile's file: readable, and the same for the same fields."""
    try:
        return (
            to_json(fields, indent=2) + b"\n"
        )  # twenty times as fast as the standard library, which matters under a lock
    except PydanticSerializationError:  # half of a character
        return (replace_surrogates(json.dumps(fields, ensure_ascii=False, indent=2)) + "\n").encode()


def _parse_fields(data: bytes, name: str) -> ProfileFields:
    try:
        value = parse_json(data, limit_bytes=MAX_PROFILE_BYTES)
    except JsonRefused as error:
        _refuse(name, (ProfileFault(path="", problem=error.message.rstrip(".")),))
    if not isinstance(value, dict):
        _refuse(name, (ProfileFault(path="", problem="must be a group of named fields"),))
    return value


def _migrate(fields: ProfileFields, name: str) -> tuple[ProfileFields, int]:
    schema = fields.get(SCHEMA_FIELD, SCHEMA)
    if type(schema) is not int or schema < 0:
        _refuse(name, (ProfileFault(path=SCHEMA_FIELD, problem="must be a whole number: leave it out"),))
    fields = {key: value for key, value in fields.items() if key != SCHEMA_FIELD}
    for step in _MIGRATIONS[schema:]:
        fields = step(fields)
    return fields, schema


def _from_format_0(fields: ProfileFields) -> ProfileFields:
    """From format 0; what is wrong with it otherwise, the check of the whole tells."""
    platforms = fields.get("platforms")
    if isinstance(platforms, dict):
        platforms = {"x" if key == "twitter" else key: value for key, value in platforms.items()}
    added: ProfileFields = {"profile_type": "personal", "source": "", "changelog": []}
    return {**added, **fields, "platforms": platforms}


_MIGRATIONS: Final[tuple[Callable[[ProfileFields], ProfileFields], ...]] = (_from_format_0,)
"""What brings each format to the next."""


def _refuse(name: str, faults: tuple[ProfileFault, ...], schema: int = SCHEMA) -> NoReturn:
    told = tuple(map(str, faults))
    newer = " It is of a newer format: a newer version of this program may read it." if schema > SCHEMA else ""
    raise ProfileInvalid(
        f"Profile '{quote_path(name)}' is damaged, and its file was left as it is.{newer} What is wrong:\n"
        + "\n".join(f"- {one}" for one in told)
        + "\nRepair the file, or make the profile anew: the damaged one is kept as a backup then.",
        profile=quote_path(name),
        faults=told,
    )
