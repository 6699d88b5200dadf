"""Replace secrets before anything is stored, logged or sent on (D6): `[redacted:KIND]`.

Two nets: known values, exactly and in the forms they travel in (URL-encoded, base64, JSON-escaped), which are sure;
and what `makers` and `shapes` take for a secret by its look or its place, which is a guess.
"""

import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from json import dumps
from urllib.parse import quote, quote_plus

from toolroll.safe.limits import MAX_ARGUMENTS_DEPTH, MIN_KNOWN_SECRET_CHARACTERS, MIN_SECRET_CHARACTERS
from toolroll.safe.secrets.key_prefixes import redact_keys, redact_private_keys
from toolroll.safe.secrets.named_secrets import names_a_secret, redact_named, url_passwords, variable_names_a_secret
from toolroll.safe.text import one_line

_LINE_CHARACTERS = 2_000
"""What is searched of a text of which a line is shown: a secret that begins in the line ends in here."""

# A description of a field called `password` is not a password.
_SCHEMA_WORDS = frozenset(
    {"$ref", "allOf", "anyOf", "description", "format", "maxLength", "minLength", "title", "type"}
)


def redact(text: str, *, known: Sequence[str] = ()) -> str:
    """Replace every secret in a text; doing it again changes nothing.

    `known` are exact values. Those under four characters are left, as replacing them would shred ordinary words.
    """
    text = redact_private_keys(text)
    for form in known_forms(tuple(known)):
        if form in text:
            text = _redact_known(text, form)
    return _redact_unknown(text)


def redact_shown(text: str, *, known: Sequence[str] = ()) -> str:
    """Replace every secret in a text that is shown or recorded: `known` ones, and those that this process holds."""
    return redact(text, known=(*known, *held_secrets()))


def redact_line(text: str, max_characters: int) -> str:
    """Show a text on one line without secrets; before it is cut, as half of a secret does not look like one."""
    return one_line(redact_shown(text[: max(_LINE_CHARACTERS, max_characters)]), max_characters)


def held_secrets() -> tuple[str, ...]:
    """Return the secrets of the environment, and the keys that were read from elsewhere (`remember_secret`)."""
    return (*_environment_secrets(tuple(os.environ.items())), *_read_secrets)


def remember_secret(value: str) -> None:
    """Replace this value from now on in all that this process shows: a key that was read from the keyring."""
    if len(value) >= MIN_SECRET_CHARACTERS:
        _read_secrets[value] = None


_read_secrets: dict[str, None] = {}


@lru_cache(maxsize=2)
def _environment_secrets(variables: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return secret_values(dict(variables))


def _redact_unknown(text: str) -> str:
    # Keys that touch hide each other: the second one is seen only when the first is gone. Each round removes one at
    # least, and what stands in its place is none, so there is a last round.
    while (replaced := redact_named(redact_keys(text))) != text:
        text = replaced
    return text


def redact_value(value: object, *, known: Sequence[str] = ()) -> object:
    """Replace every secret in a JSON value, keys included; what stands under a secret's name goes as a whole.

    The result is plain JSON: what is not JSON comes back as redacted text. What is nested too deep goes as a whole too.
    """
    return _redact_inside(value, tuple(known), MAX_ARGUMENTS_DEPTH)


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """List the values of variables named like secrets, and the passwords in URLs: what `known` is for."""
    found = set(_named_secrets(environment))
    for value in environment.values():
        found.update(url_passwords(value))
    return tuple(sorted(value for value in found if len(value) >= MIN_SECRET_CHARACTERS))


def _named_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        a_file = name.upper().endswith("CREDENTIALS") and value.startswith(("/", "~", "."))
        if variable_names_a_secret(name) and not a_file:
            yield value.strip()


@lru_cache(maxsize=8)
def known_forms(known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the forms in which known values travel, the longest first."""
    forms = {form for value in known for form in _forms(value.strip())}
    # The longest first: one known value may begin another.
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _forms(value: str) -> Iterator[str]:
    # Imported here: 3 ms at start, for what only a run with keys needs.
    if len(value) < MIN_KNOWN_SECRET_CHARACTERS:
        return
    raw = value.encode("utf-8", "surrogatepass")
    yield from (value, quote(raw), quote(raw, safe=""), quote_plus(raw))
    for escaped in (dumps(value)[1:-1], dumps(value, ensure_ascii=False)[1:-1]):
        yield from (escaped, escaped.replace("/", "\\/"))
    yield from _base64_forms(raw)


def _base64_forms(raw: bytes) -> Iterator[str]:
    # Inside a longer text (`user:password`) a value starts at one of three offsets; only whole sextets are its own.
    for offset in range(3):
        encoded = b64encode(bytes(offset) + raw).decode("ascii")
        own = encoded[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]
        if len(own) >= MIN_SECRET_CHARACTERS:
            yield from (own, own.replace("+", "-").replace("/", "_"))


def _redact_known(text: str, form: str) -> str:
    # What was already replaced is no text: a value such as "known" must not be found inside the mark for it.
    parts = re.split(r"(\[redacted:[a-z-]+\])", text)
    parts[::2] = [part.replace(form, "[redacted:known]") for part in parts[::2]]
    return "".join(parts)


def _redact_inside(value: object, known: tuple[str, ...], depth: int) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth == 0:
        return "[redacted:too-deep]"
    if isinstance(value, Mapping):
        return {redact(str(key), known=known): _field(str(key), item, known, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_inside(item, known, depth - 1) for item in value]
    return redact(str(value), known=known)


def _field(name: str, value: object, known: tuple[str, ...], depth: int) -> object:
    holds_nothing = value is None or isinstance(value, bool) or value in ("", [], {})
    describes = isinstance(value, Mapping) and _SCHEMA_WORDS.issuperset(value)
    if names_a_secret(name) and not holds_nothing and not describes:
        return "[redacted:field]"
    return _redact_inside(value, known, depth)
