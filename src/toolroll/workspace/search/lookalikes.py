"""Tell apart paths that look the same: `é` is one character or two, and a file system may hold both (C33, XP7)."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from toolroll.safe.paths.names import MAX_SHOWN_CHARACTERS, quote_path
from toolroll.safe.paths.protected import fold_name
from toolroll.safe.text import one_line

Lookalikes = frozenset[str]
MAX_COMPARED_NAMES: Final = 20_000
"""Of a folder: comparing them takes about 10 ms."""
_LATIN: Final = str.maketrans(
    "АВЕКМНОРСТУХІЈЅаеорсухіјѕһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονι",  # Cyrillic, then Greek
    "ABEKMHOPCTYXIJSaeopcyxijshdqwABEZHIKMNOPTYXovi",
)
"""Letters of other scripts that most fonts draw like Latin ones."""


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


def find_twins(name: str, others: Iterable[str]) -> list[str]:
    """Return the names that a reader takes for this one: in another case or composition, or of look-alike letters."""
    look = _appearance(name)
    return [one for one in islice(others, MAX_COMPARED_NAMES) if one != name and _appearance(one) == look]


def spell_name(name: str) -> str:
    """Return a name with everything beyond ASCII spelled out, so that twins can be told apart."""
    return one_line(_spell(name), MAX_SHOWN_CHARACTERS, is_spelled=True)


def _appearance(name: str) -> str:
    return fold_name(name if name.isascii() else name.translate(_LATIN))


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
