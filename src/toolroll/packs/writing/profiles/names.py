"""Profile names: slugs, and nothing else. A name is checked before a path is made of it (W3)."""

import re
from functools import lru_cache
from typing import Final

from toolroll.errors import PathRefused
from toolroll.safe.paths.names import RelativePath, check_new_name, quote_path

DEFAULT: Final = "default"
MAX_NAME_CHARACTERS: Final = 64
"""Long enough for any name a person types, and far below what file systems hold."""
SUFFIX: Final = ".json"

_SHOWN_CHARACTERS: Final = 32  # of a name that is too long: who typed it knows the rest
_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@lru_cache(maxsize=4096)  # a list checks each of a thousand names three times
def check_profile_name(name: str) -> str:
    """The name itself where it is a slug; `PathRefused` says what is wrong with it."""
    if len(name) > MAX_NAME_CHARACTERS:
        told = (
            f"The name '{quote_path(name[:_SHOWN_CHARACTERS])}…' is too long for a profile: it has {len(name)} "
            f"characters, and at most {MAX_NAME_CHARACTERS} are taken."
        )
        raise PathRefused(told, path=quote_path(name), rule="profile_name_length")
    if not _SLUG.fullmatch(name):
        told = (
            f"'{quote_path(name)}' cannot be the name of a profile. Use up to {MAX_NAME_CHARACTERS} small Latin "
            "letters, digits, and single dashes between, as in 'competitor-alex'."
        )
        raise PathRefused(told, path=quote_path(name), rule="profile_name")
    if _is_reserved(name):
        told = f"'{name}' cannot be the name of a profile: Windows keeps it for a device. Choose another one."
        raise PathRefused(told, path=name, rule="profile_name_reserved")
    return name


def _is_reserved(name: str) -> bool:
    """Whether it names a device on Windows, which data folders travel to."""
    try:
        check_new_name(RelativePath(parts=(name,)))
    except PathRefused:
        return True
    return False


def profile_file(name: str) -> RelativePath:
    """The file of a profile, in the folder of profiles."""
    return RelativePath(parts=(check_profile_name(name) + SUFFIX,))


def profile_name_of(file: str) -> str | None:
    """The profile that a file is of; None for a file that can be of none."""
    stem = file.removesuffix(SUFFIX)
    try:
        return check_profile_name(stem) if stem != file else None
    except PathRefused:
        return None
