"""Tell apart paths that look the same: `é` is one character or two, and a file system may hold both (C33, XP7)."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from toolroll.safe.paths.names import MAX_SHOWN_CHARACTERS, quote_path
from toolroll.safe.text import one_line

Lookalikes = frozenset[str]


def find_lookalikes(names: Iterable[str]) -> Lookalikes:
    """Return those paths, and folders on the way to them, that look like another one and are spelled the odd way.

    The usual spelling is the composed one (NFC), which is what people type and models write. It is never among them.
    """
    looks = defaultdict[str, set[str]](set)
    for name in names:
        if not name.isascii():
            for path in _prefixes(name):
                looks[unicodedata.normalize("NFC", path)].add(path)
    return frozenset(path for look, alike in looks.items() if len(alike) > 1 for path in alike - {look})


def spell_lookalike(path: str, lookalikes: Lookalikes) -> str:
    """Return the path on one line with every character visible; in lookalike names, all beyond ASCII is spelled out."""
    ways = list(_prefixes(path)) if lookalikes else []
    if lookalikes.isdisjoint(ways):
        return quote_path(path)
    names = [(way.rpartition("/")[2], way in lookalikes) for way in ways]
    spelled = "/".join(_spell(name) if is_twin else quote_path(name) for name, is_twin in names)
    return one_line(spelled, MAX_SHOWN_CHARACTERS, is_spelled=True)


def _prefixes(path: str) -> Iterator[str]:
    """Return the folders on the way to a path, and the path."""
    parts = path.split("/")
    return ("/".join(parts[: count + 1]) for count in range(len(parts)))


def _spell(name: str) -> str:
    # All of them, as it is not always a mark that differs: Hangul is composed of letters.
    return "".join(one if one.isascii() and one.isprintable() else f"‹U+{ord(one):04X}›" for one in name)
