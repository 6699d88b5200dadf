"""Profile names: slugs, and nothing else. A name is checked before a path is made of it (W3)."""

import re
from functools import lru_cache
from typing import Final

from toolroll.errors import PathRefused
from toolroll.messages import Template
from toolroll.safe.paths.names import RelativePath, check_new_name, quote_path

DEFAULT: Final = "default"
MAX_NAME_CHARACTERS: Final = 64
"""Long enough for any name a person types, and far below what file systems hold."""
SUFFIX: Final = ".json"

NAME_INVALID: Final = Template(
    "profile_name_invalid",
    "'{name}' is not a valid profile name.",
    "Use up to {most} lower-case Latin letters, digits and single dashes, as in 'competitor-alex'.",
)
NAME_TOO_LONG: Final = Template(
    "profile_name_too_long",
    "The name '{name}' is too long for a profile: it has {count} characters, and the limit is {most}.",
)
NAME_RESERVED: Final = Template(
    "profile_name_reserved",
    "'{name}' is not a valid profile name: Windows reserves it for a device.",
    "Choose another one.",
)

_SHOWN_CHARACTERS: Final = 32  # of a name that is too long: who typed it knows the rest
_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@lru_cache(maxsize=4096)  # a list checks each of a thousand names three times
def check_profile_name(name: str) -> str:
    """Return the name itself if it is a slug; `PathRefused` says what is wrong with it."""
    if len(name) > MAX_NAME_CHARACTERS:
        beginning = f"{quote_path(name[:_SHOWN_CHARACTERS])}…"
        message = NAME_TOO_LONG(name=beginning, count=len(name), most=MAX_NAME_CHARACTERS)
        raise PathRefused(message, path=quote_path(name), rule="profile_name_length")
    if not _SLUG.fullmatch(name):
        message = NAME_INVALID(name=quote_path(name), most=MAX_NAME_CHARACTERS)
        raise PathRefused(message, path=quote_path(name), rule="profile_name")
    if _is_reserved(name):
        raise PathRefused(NAME_RESERVED(name=name), path=name, rule="profile_name_reserved")
    return name


def _is_reserved(name: str) -> bool:
    """Return whether it names a device on Windows, which data folders travel to."""
    try:
        check_new_name(RelativePath(parts=(name,)))
    except PathRefused:
        return True
    return False


def profile_file(name: str) -> RelativePath:
    """Return the file of a profile, in the folder of profiles."""
    return RelativePath(parts=(check_profile_name(name) + SUFFIX,))


def profile_name_of(file: str) -> str | None:
    """Return the name of the profile in a file; None for a file that cannot be a profile."""
    stem = file.removesuffix(SUFFIX)
    try:
        return check_profile_name(stem) if stem != file else None
    except PathRefused:
        return None
