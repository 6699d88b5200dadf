"""What may leave a run that holds private text, decided in one place.

A call that sends something out of such a run needs a person. A person can consent once for a purpose, such as a post:
then calls that a rule allows go out while they are few, short, and hold no passage of the private text. The bounds do
not make a leak impossible. They make it small: a model that obeys a stranger gets out three fragments of three or four
words, and one of up to 15 characters of a key, over the whole run.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final

from toolroll.errors import UsageError
from toolroll.kernel.data.serialize import to_plain_unfiltered

PASSAGE_WORDS: Final = 5
"""Words in a row that make a passage: four words of a usual text occur by chance, five hardly ever."""
PASSAGE_CHARACTERS: Final = 16
"""Characters of one word that make a passage: keys and tokens have more, words of a language have fewer."""
FRAGMENT_WORDS: Final = 3
"""Words in a row that make a fragment: the subject of a text has two, and a search for it must be possible."""
FRAGMENT_CHARACTERS: Final = 8
"""Characters in a row of a word with `PASSAGE_CHARACTERS` or more, one of them a digit: a fragment of a key."""
MAX_WORD_FRAGMENTS: Final = 3
"""In all calls that one consent covers."""
MAX_KEY_FRAGMENTS: Final = 1
"""The same: a second fragment could complete a key."""
MAX_CALL_CHARACTERS: Final = 200
"""Of all words in one call: a long search query has 100."""
MAX_PASSAGES: Final = 200_000
"""That one run remembers, in about 15 MB: some 25 documents of 50 KB. Beyond that a person is asked."""
CONSENTED_KEY: Final = "consented"
"""The name under which a run stores how many calls went out by consent."""
FRAGMENTS_KEY: Final = "consented_fragments"
"""The name under which a run stores how many fragments of private text went out with them: of texts, and of keys."""

_WORD: Final = re.compile(r"\w+")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """A person's yes to calls that send something out of a run with private text, for one purpose and within bounds.

    It replaces no rule: a call that is asked about anyway is still asked about.
    """

    purpose: str
    """What the calls are for, in words, such as `this post`."""
    calls: int
    """The most calls."""
    characters: int = MAX_CALL_CHARACTERS
    """The most characters in the arguments of one call."""
    provider_search: bool = False
    """Whether the provider's own web search may be offered, whose queries nobody sees before they leave."""

    def __post_init__(self) -> None:
        if self.calls < 0 or self.characters < 0:
            raise UsageError(f"A consent is for 0 or more calls and characters, not {self.calls}, {self.characters}.")


class PrivateText:
    """Remembers the passages of private texts as hashes, without the texts."""

    def __init__(self) -> None:
        self._passages: set[int] = set()
        self._words: set[int] = set()
        self._keys: set[int] = set()
        self.is_full: bool = False
        """Whether there was more text than it can remember: then nothing is known to be free of passages."""

    def add(self, text: str) -> None:
        """Remember the passages of a text; those of its strings if it is JSON."""
        for part in _strings(text):
            folded = fold(part)
            self._words.update(map(hash, _word_fragments(folded)))
            self._keys.update(map(hash, _key_fragments(folded)))
            for passage, _ in _passages(folded):
                if len(self._passages) >= MAX_PASSAGES:
                    self.is_full = True
                    return
                self._passages.add(passage)

    def find(self, text: str) -> str | None:
        """Return a passage in an outgoing text that is from a private one; None if there is none."""
        folded = fold(text)
        for passage, words in _outgoing(folded):
            if passage in self._passages:
                return words
        return None

    def count_fragments(self, text: str) -> "Fragments":
        """Return how many fragments of private texts an outgoing text has; those that overlap count as one."""
        folded = fold(text)
        joined = "".join(folded.split())
        return Fragments(
            words=_count_apart(_word_fragments(folded), self._words, FRAGMENT_WORDS),
            keys=_count_apart(_windows(joined, FRAGMENT_CHARACTERS), self._keys, FRAGMENT_CHARACTERS),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragments:
    """How many fragments of private texts went out: words in a row, and characters of keys."""

    words: int = 0
    keys: int = 0

    def __add__(self, other: "Fragments") -> "Fragments":
        return Fragments(words=self.words + other.words, keys=self.keys + other.keys)

    @property
    def is_too_much(self) -> bool:
        """Return whether that is more than one consent covers."""
        return self.words > MAX_WORD_FRAGMENTS or self.keys > MAX_KEY_FRAGMENTS


class Outflow:
    """Counts what goes out by consent, in one run or in several for one purpose; sub-agents share their caller's."""

    def __init__(self, consent: Consent | None = None) -> None:
        self.consent = consent
        self.calls: int = 0
        self.fragments: Fragments = Fragments()
        self.private: PrivateText = PrivateText()
        self._taken: dict[str, str] = {}
        self._last = ""
        self._lock = Lock()

    @property
    def searches_left(self) -> int:
        """Return how many searches of the provider are still covered."""
        consent = self.consent
        return max(consent.calls - self.calls, 0) if consent is not None and consent.provider_search else 0

    def grant(self, consent: Consent) -> None:
        """Note a person's consent; calls that went out before it do not count."""
        with self._lock:
            self.consent, self.calls, self.fragments = consent, 0, Fragments()

    def restore(self, calls: object) -> None:
        """Count the calls that a record says went out before."""
        with self._lock:
            if isinstance(calls, int):
                self.calls = max(self.calls, calls)

    def restore_fragments(self, counts: object) -> None:
        """Count the fragments that a record says went out before."""
        with self._lock:
            match counts:
                case [int(words), int(keys)]:
                    known = self.fragments
                    self.fragments = Fragments(words=max(known.words, words), keys=max(known.keys, keys))
                case _:
                    return

    def count(self, searches: int) -> None:
        """Count searches that the provider has made."""
        with self._lock:
            self.calls += searches

    def take(self, call_id: str, arguments: object) -> str | None:
        """Count a call if the consent covers it; else return, for the person, why it does not.

        The same call is counted once, however often it is judged.
        """
        text = outgoing_text(arguments)
        with self._lock:
            consent = self.consent
            if consent is None:
                return "Nobody has agreed to that beforehand."
            if self._taken.get(call_id) == text:
                return None
            why = self._why_beyond(consent, text)
            if why is None:
                self.calls += 1
                self.fragments += self.private.count_fragments(text)
                self._taken[call_id] = text
                # Passages that are cut in two, the second half in the next call, are found too.
                self._last = f"{self._last} {text}"[-consent.characters :]
            return why

    def _why_beyond(self, consent: Consent, text: str) -> str | None:
        if self.calls >= consent.calls:
            return f"The {consent.calls} calls that were agreed on for {consent.purpose} are used up."
        if len(text) > consent.characters:
            return f"It has {len(text):,} characters; {consent.characters} were agreed on for {consent.purpose}."
        if self.private.is_full:
            return "The run has read more private text than it can compare the call with."
        passage = self.private.find(text) or self._find_continued(text)
        if passage is not None:
            return f"It holds words from private text: {passage!r}."
        found = self.private.count_fragments(text)
        if found != Fragments() and (self.fragments + found).is_too_much:
            return "It holds a fragment of private text, and calls before it held as many as one consent covers."
        return None

    def _find_continued(self, text: str) -> str | None:
        """Return a passage that began at the end of the last call and goes on in this one."""
        last = " ".join(self._last.split()[-(PASSAGE_WORDS - 1) :])[-4 * PASSAGE_CHARACTERS :]
        if not last or self.private.find(last):  # it was free of passages when it left, and more was read since
            return None
        return self.private.find(f"{last} {text}")


def as_outflow(consent: Consent | Outflow | None) -> Outflow | None:
    """Return the count for a consent: a new one, or the one that several runs share."""
    return Outflow(consent) if isinstance(consent, Consent) else consent


def outgoing_text(arguments: object) -> str:
    """Return all the words in the arguments of a call; the names of arguments are the tool's own."""
    plain = to_plain_unfiltered(arguments)
    values = list(plain.values()) if isinstance(plain, Mapping) else [plain]
    return " ".join(text for value in values for text in _leaves(value))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _strings(text: str) -> Iterator[str]:
    """Yield the text, or the strings of the JSON that it is: an escape such as `\\n` would hide the word after it."""
    if text[:1] in ("{", "["):
        try:
            yield from _leaves(json.loads(text))
        except (ValueError, RecursionError):
            yield text
        return
    yield text


def fold(text: str) -> str:
    """Return a text in which letters that look or count as the same are the same."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()


def _passages(folded: str) -> Iterator[tuple[int, str]]:
    words = _WORD.findall(folded)
    for start in range(len(words) - PASSAGE_WORDS + 1):
        passage = " ".join(words[start : start + PASSAGE_WORDS])
        yield hash(passage), passage
    for token in folded.split():
        for passage in _windows(token, PASSAGE_CHARACTERS):
            yield hash(passage), passage


def _outgoing(folded: str) -> Iterator[tuple[int, str]]:
    """Yield the passages of a text that would leave, and those that it would have without its blanks."""
    yield from _passages(folded)
    for passage in _windows("".join(folded.split()), PASSAGE_CHARACTERS):
        yield hash(passage), passage


def _windows(token: str, length: int) -> Iterator[str]:
    return (token[start : start + length] for start in range(len(token) - length + 1))


def _word_fragments(folded: str) -> Iterator[str]:
    words = _WORD.findall(folded)
    return (" ".join(words[start : start + FRAGMENT_WORDS]) for start in range(len(words) - FRAGMENT_WORDS + 1))


def _key_fragments(folded: str) -> Iterator[str]:
    """Yield what would be a fragment of a key in each long word."""
    for token in folded.split():
        if len(token) >= PASSAGE_CHARACTERS:
            yield from (one for one in _windows(token, FRAGMENT_CHARACTERS) if any(map(str.isdigit, one)))


def _count_apart(fragments: Iterable[str], known: Collection[int], length: int) -> int:
    """Return how many of the fragments are known; `length` neighbours overlap, and count as one."""
    count, free = 0, 0
    for place, fragment in enumerate(fragments):
        if place >= free and hash(fragment) in known:
            count, free = count + 1, place + length
    return count
