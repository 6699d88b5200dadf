"""Ideas as folders: the name an idea gets, whether it was explored before, and which earlier ones are near it."""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from typing import Final

from toolroll.errors import FileMissing
from toolroll.kernel.approval.request import content_hash
from toolroll.packs.research.paths import IDEAS
from toolroll.packs.research.source import DOCUMENT, IdeaEntry
from toolroll.safe.paths.names import quote_path

MAX_SLUG_CHARACTERS: Final = 60
"""About ten words: with the date, a name that any system holds and a person can read."""
RELATED_TOKENS: Final = 2_000
"""For the list of earlier research: some eighty paths, in every request of the run."""

# Paths of dates, words and dashes take more tokens than prose, which has four characters a token.
_CHARACTERS_A_TOKEN: Final = 3
_HASH_DIGITS: Final = 8
_MAX_NAMED: Final = 5
"""Of ideas that a part of a name fits."""
_MIN_WORD_CHARACTERS: Final = 3
_MARKS: Final = re.compile("[\u0300-\u036f]")
_OTHERS: Final = re.compile("[^a-z0-9]+")
# Signs that tell two ideas apart: C, C++ and C# are not the same.
_SIGNS: Final = str.maketrans({"+": " plus ", "#": " sharp ", "&": " and ", "@": " at ", "%": " percent "})
_DATED: Final = re.compile(r"\d{4}-\d{2}-\d{2}-(.+)")


def idea_slug(idea: str) -> str:
    """Return the idea in `[a-z0-9-]`, the same for other spellings of it, never empty, and not too long.

    What does not fit, or cannot be written in Latin letters, is told apart by a hash of the idea.
    """
    same = " ".join(unicodedata.normalize("NFKC", idea).casefold().split())
    plain, lost = _to_latin(same)
    slug = _OTHERS.sub("-", plain.translate(_SIGNS)).strip("-")
    if slug and len(slug) <= MAX_SLUG_CHARACTERS and not lost:
        return slug
    room = MAX_SLUG_CHARACTERS - _HASH_DIGITS - 1
    words = slug[:room].rpartition("-")[0] if len(slug) > room and "-" in slug[:room] else slug[:room]
    return f"{words or 'idea'}-{content_hash(same)[:_HASH_DIGITS]}"


def idea_path(idea: str, *, today: date) -> str:
    """Return the path of the document that a new exploration of the idea writes."""
    return f"{today.isoformat()}-{idea_slug(idea)}/{DOCUMENT}"


def find_existing(idea: str, known: Sequence[IdeaEntry]) -> IdeaEntry | None:
    """Find the newest earlier exploration of the same idea."""
    slug = idea_slug(idea)
    return next((entry for entry in known if path_slug(entry.path) == slug), None)


def path_slug(path: str) -> str:
    """Return the slug in the path of a document."""
    folder = path.partition("/")[0]
    dated = _DATED.fullmatch(folder)
    return dated[1] if dated else folder


def find_idea(named: str, known: Sequence[IdeaEntry]) -> IdeaEntry:
    """Find the idea that a person names by path, folder, slug, words or a part of it; the newest of several.

    Raise FileMissing where a part fits several ideas.
    """
    wanted = named.strip().removeprefix(f"{IDEAS}/").removesuffix(f"/{DOCUMENT}").rstrip("/")
    for entry in known:
        if wanted == entry.path.removesuffix(f"/{DOCUMENT}"):
            return entry
    found = next((entry for entry in known if path_slug(entry.path) == wanted), None) or find_existing(wanted, known)
    if found is not None:
        return found
    partly = _find_part(wanted, known)
    if len({path_slug(entry.path) for entry in partly}) == 1:
        return partly[0]
    shown = quote_path(wanted)
    if not partly:
        raise FileMissing(f"There is no research '{shown}'. See 'toolroll explore list'.", path=shown)
    names = ", ".join(entry.path.removesuffix(f"/{DOCUMENT}") for entry in partly[:_MAX_NAMED])
    more = f", and {len(partly) - _MAX_NAMED:,} more" if len(partly) > _MAX_NAMED else ""
    raise FileMissing(
        f"'{shown}' is a part of several names: {names}{more}. Write more of the one you mean.", path=shown
    )


def _find_part(wanted: str, known: Sequence[IdeaEntry]) -> list[IdeaEntry]:
    """Find the ideas that have this in their names: as it is, or in Latin letters with dashes."""
    plain = _OTHERS.sub("-", _to_latin(wanted.casefold())[0].translate(_SIGNS)).strip("-")
    return [entry for entry in known if plain and plain in entry.path.removesuffix(f"/{DOCUMENT}").casefold()]


def list_related(
    idea: str, known: Sequence[IdeaEntry], *, files: Sequence[str] = (), max_tokens: int = RELATED_TOKENS
) -> str:
    """List the paths of earlier research that fit: those with the same words first, then documents, the newest first.

    `files` are those beside the documents. What was left out is counted in the last line.
    """
    room = max_tokens * _CHARACTERS_A_TOKEN
    lines: list[str] = []
    ranked = _rank(idea, [*(entry.path for entry in known), *files])
    for path in ranked:
        line = f"- `{path}`"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    left = len(ranked) - len(lines)
    return "\n".join([*lines, *([f"({left:,} more are not listed.)"] if left else [])])


def _rank(idea: str, paths: Sequence[str]) -> list[str]:
    wanted = _words(idea_slug(idea))
    return sorted(paths, key=lambda path: -len(wanted & _words(path.removesuffix(DOCUMENT))))


def _words(path: str) -> frozenset[str]:
    return frozenset(word for word in _OTHERS.split(path.casefold()) if len(word) >= _MIN_WORD_CHARACTERS)


def _to_latin(text: str) -> tuple[str, bool]:
    """Return the text in Latin letters as far as possible, and whether letters or digits were lost."""
    if not text.isascii():
        from translitua import translit  # noqa: PLC0415 - half an interpreter start, only for other scripts

        text = _MARKS.sub("", unicodedata.normalize("NFKD", translit(unicodedata.normalize("NFC", text)))).casefold()
    return text, any(not char.isascii() and char.isalnum() for char in text)
