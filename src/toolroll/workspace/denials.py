"""Decide which paths may not be read or written: the one matcher for reading, listing, searching and writing.

Rules are those of `kernel.policy`: they fit a path in any spelling. Beyond them, some names are protected everywhere:
what holds keys is not read, and what would run code is not written (XA9, also where nothing of that name is there yet).
"""

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from toolroll.errors import PathRefused
from toolroll.kernel.approval.policy import Rule
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.protected import PROTECTED_NAMES, WRITE_PROTECTED_NAMES, fold_name, is_protected
from toolroll.safe.paths.root import Use

# Verdicts on folders and on names: a walk asks about the same ones again and again, and 10 times faster so.
_KEPT: Final = 16_384


class Denials:
    """The deny rules and protected names of one workspace. A folder that is denied takes all in it along."""

    def __init__(
        self, deny: Sequence[str] = (), *, protected: Iterable[str] = PROTECTED_NAMES, own: Iterable[str] = ()
    ) -> None:
        self.patterns: tuple[str, ...] = tuple(deny)
        self._given = tuple(protected), tuple(own)
        self._own = frozenset(_fold(path) for path in self._given[1])
        self._rules = tuple(_Denial(pattern) for pattern in deny)
        self._protected: dict[Use, frozenset[str]] = {
            "read": frozenset(self._given[0]),
            "write": frozenset(self._given[0]) | WRITE_PROTECTED_NAMES,
        }
        self.protects_as_usual: bool = self._protected["read"] == PROTECTED_NAMES
        self._folder = lru_cache(maxsize=_KEPT)(self._reason)
        self._is_protected = lru_cache(maxsize=_KEPT)(self._is_protected_name)

    def plus(self, deny: Sequence[str]) -> "Denials":
        """Return these with more rules."""
        protected, own = self._given
        return Denials((*self.patterns, *deny), protected=protected, own=own)

    def reason(self, path: RelativePath, use: Use = "read") -> str | None:
        """Return why a path may not be used, as the end of a sentence about it; None where it may."""
        return self._reason("/".join(path.parts), use)

    def hides(self, path: str) -> bool:
        """Return whether a path, given as names with `/` between them, may not be seen."""
        return self._reason(path, "read") is not None

    def visible(self, paths: Collection[str]) -> Collection[str]:
        """Return those of the paths that may be seen: fifty times as fast as asking `hides` for each."""
        split = [path.rpartition("/") for path in paths]
        folders = {folder for folder in {above for above, _, _ in split} if self._folder(folder, "read")}
        names = {name for name in {name for _, _, name in split} if self._is_protected(name, "read")}
        if not (folders or names or self._rules):
            return paths
        return [
            path
            for path, (above, _, name) in zip(paths, split, strict=True)
            if above not in folders and name not in names and not any(rule.fits(path, name) for rule in self._rules)
        ]

    def check(self, path: RelativePath, use: Use) -> None:
        """Raise PathRefused where a path may not be used: before anything asks whether it exists."""
        if reason := self.reason(path, use):
            text = f"Path '{quote_path(str(path))}' {reason}. Work without it, or ask the person for it."
            raise PathRefused(text, path=quote_path(str(path)), rule="denied")

    def _reason(self, path: str, use: Use) -> str | None:
        if not path:
            return None
        folder, _, name = path.rpartition("/")
        return self._folder(folder, use) or self._own_reason(path, name, use)

    def _own_reason(self, path: str, name: str, use: Use) -> str | None:
        if self._is_protected(name, use):
            return f"is protected against {'reading' if use == 'read' else 'writing'}: '{quote_path(name)}'"
        if self._own and _fold(path) in self._own:
            return "is where toolroll keeps the user's own settings and data"
        rule = next((rule for rule in self._rules if rule.fits(path, name)), None)
        return f"is denied by the rule '{quote_path(rule.pattern)}'" if rule else None

    def _is_protected_name(self, name: str, use: Use) -> bool:
        return is_protected(RelativePath(parts=(name,)), self._protected[use])


def _fold(path: str) -> str:
    return "/".join(map(fold_name, path.split("/")))


class _Denial:
    """One rule, with a quick look at the first and the last name of a path before it is asked.

    The rule itself takes some 50 µs a path, and most paths of a walk have nothing to do with it.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._rule = Rule(action="deny", path=pattern)
        pieces = [piece for piece in pattern.split("/") if piece]
        first, last = pieces[0], pieces[-1]
        self._may_begin = lru_cache(maxsize=_KEPT)(lambda name: _may_be(first, name))
        self._may_end = lru_cache(maxsize=_KEPT)(lambda name: _may_be(last, name))

    def fits(self, path: str, name: str) -> bool:
        """Return whether the rule speaks about that path."""
        quick = self._may_begin(path.partition("/")[0]) and self._may_end(name)
        return quick and self._rule.matches("*", [path])


def _may_be(piece: str, name: str) -> bool:
    """Return whether one name can be what a piece of a pattern stands for; False only where that is certain."""
    folded = fold_name(name.strip())
    # `**` crosses folders, a backslash is one more separator, and a name that folds to nothing is passed over.
    if "**" in piece or "\\" in name or not folded:
        return True
    literal, folded_piece = (text.replace("[", "[[]") for text in (piece, fold_name(piece.strip())))
    return not folded_piece or fnmatchcase(name, literal) or fnmatchcase(folded, folded_piece)
