"""Say whether other files may use a definition: rules that several languages share."""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

IsExported: TypeAlias = Callable[[str, bytes, str | None], bool]
"""Told the name of a definition, the words before it, and the kind of what it stands in, if anything.

What it stands in decides as well: nothing is exported from what is not.
"""

PRIVATE: Final = re.compile(rb"\b(?:private|fileprivate)\b")

_OPEN_PARENTS: Final = frozenset({"enum", "interface", "trait"})
"""What belongs to these is as open as they are."""


def always_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
    """Export everything."""
    del name, before, parent_kind
    return True


def exported_unless(hiding: re.Pattern[bytes]) -> IsExported:
    """Return the rule that exports a definition unless one of these words stands before it."""

    def is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
        del name
        return parent_kind in _OPEN_PARENTS or hiding.search(before) is None

    return is_exported


def exported_if(showing: re.Pattern[bytes]) -> IsExported:
    """Return the rule that exports a definition where one of these words stands before it."""

    def is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
        del name
        return parent_kind in _OPEN_PARENTS or showing.search(before) is not None

    return is_exported
