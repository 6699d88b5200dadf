"""Secrets go before anything is stored (D6): out of the values of a record, never out of its JSON text.

A record that holds none, and that is nearly all, comes back as the same object: all its texts are looked at in one go.
What must survive to the byte is not guessed at. Pictures and documents lose known values only, and what a provider has
signed or sealed would be worthless after a chance hit.
"""

import base64
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.serialize import dump_plain, replace_surrogates
from toolroll.safe.limits import MIN_KNOWN_SECRET_CHARACTERS
from toolroll.safe.secrets.named_secrets import names_a_secret
from toolroll.safe.secrets.redact import redact, redact_value

MAX_DEPTH: Final = 100
"""Levels of a value, texts that are JSON included; each takes four frames of the 1,000 that Python allows."""
_APART: Final = "\n" * 6
"""Between texts that are looked at together: no shape of a secret reaches across five line ends."""
_SEALED: Final = frozenset({"encrypted_content", "encrypted_index", "signature"})
_BINARY: Final = frozenset({"base64", "document", "image", "redacted_thinking"})
_TEXTUAL: Final = ("text/", "application/json", "application/xml", "application/yaml")
_WORD_CHARACTERS: Final = 40
_MAX_WORDS: Final = 4_096
_MARK: Final = "[redacted:"
_DATA: Final = "data"
_NUMBERS: Final = frozenset({bool, float, int, type(None)})


def without_secrets(value: dict[str, Any], known: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON object without secrets; the same object where there are none."""
    seen = _find_seen(tuple(known))
    texts = _Texts(seen)
    texts.gather(value, MAX_DEPTH)
    joined = _APART.join(texts.found)
    if texts.is_clear and _is_encodable(joined) and redact(joined, known=known) == joined:
        seen.learn(texts)
        return value
    return _Redaction(known).redact(value)


class _Seen:
    """Keys and short texts that were looked at before: the same few make up half of every record."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.words: set[str] = set()

    def learn(self, texts: "_Texts") -> None:
        """Nothing of this was a secret, or names one."""
        for known in (self.keys, self.words):
            if len(known) > _MAX_WORDS:  # of calls' ids, mostly, which do not come again
                known.clear()
        self.keys.update(key for key in texts.keys if key != _DATA and key not in _SEALED)
        self.words.update(text for text in texts.found if len(text) <= _WORD_CHARACTERS)


@lru_cache(maxsize=8)
def _find_seen(_known: tuple[str, ...]) -> _Seen:
    return _Seen()


def lost_a_secret(text: str) -> bool:
    """Return whether something was taken out of this text: it must not be used as if it were whole."""
    return _MARK in text


class _Texts:
    """All texts of a value, down into those that are JSON themselves; `is_clear` as long as names give nothing away."""

    def __init__(self, seen: _Seen) -> None:
        self.found: dict[str, None] = {}  # each text once, in order: a provider's block repeats what was read from it
        self.keys: list[str] = []
        self.is_clear = True
        self._seen = seen

    def gather(self, value: object, depth: int) -> None:
        """Add the texts of this value."""
        if isinstance(value, str):
            self._gather_text(value, depth)
        elif depth == 0:
            self.is_clear = False
        elif isinstance(value, dict):
            self._gather_fields(value, depth - 1)
        elif isinstance(value, list):
            for item in value:
                self.gather(item, depth - 1)

    def _gather_text(self, text: str, depth: int) -> None:
        if text in self.found:
            return
        parsed = _as_json(text)
        if parsed is None:
            self.found[text] = None
        else:
            self.gather(parsed, depth)

    def _gather_fields(self, fields: Mapping[str, object], depth: int) -> None:
        keys, words = self._seen.keys, self._seen.words
        for key, item in fields.items():
            if key not in keys:
                self._look_at(key, item, fields)
                if _is_sealed(key, item):
                    continue
            # Nearly all fields of a record are numbers or words that were seen before, and a call costs more than this.
            if isinstance(item, str):
                if item not in words:
                    self._gather_text(item, depth)
            elif type(item) not in _NUMBERS:
                self.gather(item, depth)

    def _look_at(self, key: str, item: object, of: Mapping[str, object]) -> None:
        self.found[key] = None
        self.keys.append(key)
        if names_a_secret(key) or _is_bytes(key, item, of):
            self.is_clear = False


class _Redaction:
    def __init__(self, known: Sequence[str]) -> None:
        self._known = tuple(known)

    def redact(self, value: Mapping[str, object]) -> dict[str, Any]:
        """Return the object without secrets."""
        return self._object(value, MAX_DEPTH)

    def _without(self, value: object, depth: int) -> object:
        if isinstance(value, str):
            return self._text(value, depth)
        if not isinstance(value, dict | list):
            return value
        if depth == 0:
            return "[redacted:too-deep]"
        if isinstance(value, list):
            return [self._without(item, depth - 1) for item in value]
        return self._object(value, depth - 1)

    def _object(self, value: Mapping[str, object], depth: int) -> dict[str, Any]:
        return {self._redact(key): self._field(key, item, value, depth) for key, item in value.items()}

    def _field(self, key: str, item: object, of: Mapping[str, object], depth: int) -> object:
        if isinstance(item, str) and _is_bytes(key, item, of):
            return self._bytes(item, str(of.get("media_type", "")))
        if _is_sealed(key, item):
            return item
        if names_a_secret(key):
            named = redact_value({key: item}, known=self._known)
            assert isinstance(named, dict)
            [item] = named.values()
        return self._without(item, depth)

    def _text(self, text: str, depth: int) -> str:
        parsed = _as_json(text)
        if parsed is None:
            return self._redact(text)
        kept = self._without(parsed, depth)
        return text if kept == parsed else dump_plain(kept)

    def _redact(self, text: str) -> str:
        return redact(replace_surrogates(text), known=self._known)

    def _bytes(self, encoded: str, media_type: str) -> str:
        try:
            data = base64.b64decode(encoded, altchars=b"-_" if "-" in encoded or "_" in encoded else None)
        except ValueError:
            return self._redact(encoded)
        kept = self._text_bytes(data) if media_type.startswith(_TEXTUAL) else self._binary(data)
        return encoded if kept == data else base64.urlsafe_b64encode(kept).decode("ascii")

    def _text_bytes(self, data: bytes) -> bytes:
        return redact(data.decode("utf-8", "surrogateescape"), known=self._known).encode("utf-8", "surrogateescape")

    def _binary(self, data: bytes) -> bytes:
        for value in self._known:
            raw = value.encode("utf-8", "surrogatepass")
            if len(raw) >= MIN_KNOWN_SECRET_CHARACTERS:
                data = data.replace(raw, b"*" * len(raw))  # of the same length: offsets in the file stay true
        return data


def _as_json(text: str) -> object | None:
    """The object or list behind a text that is one: a call's arguments, a result."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return parse_json(text)
    except JsonRefused:
        return None


def _is_encodable(text: str) -> bool:
    return text.isascii() or text == replace_surrogates(text)


def _is_sealed(key: str, item: object) -> bool:
    return key in _SEALED and isinstance(item, str)


def _is_bytes(key: str, item: object, of: Mapping[str, object]) -> bool:
    if key != _DATA or not isinstance(item, str):
        return False
    kind = of.get("type")  # of a provider's block: anything that JSON has
    return isinstance(kind, str) and kind in _BINARY
