"""What nobody gets to see or to write: the one matcher for reading, listing, searching, indexing and writing.

Rules are those of `kernel.policy`: they fit a path in any spelling. Beyond them, some names are protected everywhere:
what holds keys is not read, and what would run code is not written (XA9, also where nothing of that name is there yet).
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from toolroll.errors import PathRefused
from toolroll.kernel.policy import Rule
from toolroll.safe.names import RelativePath, shown
from toolroll.safe.protected import PROTECTED_NAMES, WRITE_PROTECTED_NAMES, is_protected
from toolroll.safe.root import Use

Parts = tuple[str, ...]

_KEPT_FOLDERS: Final = 16_384  # verdicts on folders: a walk asks about the same ones for every file in them


class Denials:
    """The deny rules and protected names of one workspace. A folder that is denied takes all in it along."""

    def __init__(self, deny: Sequence[str] = (), *, protected: Iterable[str] = PROTECTED_NAMES) -> None:
        self.patterns = tuple(deny)
        self._rules = tuple(Rule(action="deny", path=pattern) for pattern in deny)
        self._protected: dict[Use, frozenset[str]] = {
            "read": frozenset(protected),
            "write": frozenset(protected) | WRITE_PROTECTED_NAMES,
        }
        self._folder = lru_cache(maxsize=_KEPT_FOLDERS)(self._reason)

    def reason(self, path: RelativePath, use: Use = "read") -> str | None:
        """Why a path may not be used, as the end of a sentence about it; None where it may."""
        return self._reason(path.parts, use)

    def check(self, path: RelativePath, use: Use) -> None:
        """PathRefused where a path may not be used: before anything asks whether it exists."""
        if reason := self.reason(path, use):
            text = f"Path '{shown(str(path))}' {reason}. Work without it, or ask the person for it."
            raise PathRefused(text, path=shown(str(path)), rule="denied")

    def _reason(self, parts: Parts, use: Use) -> str | None:
        if not parts:
            return None
        return self._folder(parts[:-1], use) or self._own_reason(parts, use)

    def _own_reason(self, parts: Parts, use: Use) -> str | None:
        if is_protected(RelativePath(parts=parts[-1:]), self._protected[use]):
            return f"is protected against {'reading' if use == 'read' else 'writing'}: '{shown(parts[-1])}'"
        path = "/".join(parts)
        rule = next((rule for rule in self._rules if rule.matches("*", [path])), None)
        return f"is denied by the rule '{shown(rule.path or '')}'" if rule else None
