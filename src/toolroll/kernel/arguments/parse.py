"""Parse strict JSON: what a model or a file sends is read once, by one parser, or refused with the reason.

The parser is pydantic-core's. It stops at 200 levels of nesting and at absurd numbers by itself, but lets two things
pass that RFC 8259 leaves open and attackers use: a key that stands twice (who reads which one?) and a float too large
for a double. Both are looked for here. Bytes are UTF-8 without a byte order mark (RFC 8259, 8.1), or refused.
"""

import json
import math
from typing import Final

from pydantic_core import from_json, to_json

from toolroll.errors import JsonRefused
from toolroll.messages import (
    JSON_BYTE_ORDER_MARK,
    JSON_DUPLICATE_KEY,
    JSON_HALF_CHARACTER,
    JSON_INVALID,
    JSON_INVALID_AT,
    JSON_NOT_UTF8,
    JSON_NUMBER_TOO_LARGE,
    JSON_TOO_LARGE,
)
from toolroll.safe.limits import MAX_ARGUMENTS_BYTES

_KIND: Final = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}

_CAPITAL_I: Final = ord("I")  # looked for first: a single byte is found four times as fast as a word
BLANKS: Final = " \t\n\r"  # what RFC 8259 takes for whitespace; `str.strip` alone takes form feeds and more
_BYTE_ORDER_MARK: Final = "\ufeff"
_SHOWN_CHARACTERS: Final = 40  # of a key or number in a message: enough to find it


def parse_json(text: str | bytes, *, limit_bytes: int = MAX_ARGUMENTS_BYTES) -> object:
    """Return the value of strict JSON text; `JsonRefused` says what is wrong and where."""
    if len(text) > limit_bytes or (not text.isascii() and _utf8_length(text) > limit_bytes):
        raise JsonRefused(JSON_TOO_LARGE(limit=f"{limit_bytes:,}"))
    text = text if isinstance(text, str) else _decode(text)
    if text.startswith(_BYTE_ORDER_MARK):  # RFC 8259, 8.1: must not be added
        raise JsonRefused(JSON_BYTE_ORDER_MARK())
    try:
        value: object = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise _invalid(text, error) from None
    except TypeError:
        raise JsonRefused(JSON_HALF_CHARACTER()) from None
    _refuse_ambiguity(text, value)
    return value


def parse_object(text: str, *, limit_bytes: int = MAX_ARGUMENTS_BYTES) -> dict[str, object]:
    """Return the object that a tool's arguments must be. Empty text counts as no arguments: some servers send that."""
    value = parse_json(text, limit_bytes=limit_bytes) if text.strip(BLANKS) else {}
    if not isinstance(value, dict):
        kind = _KIND.get(type(value), "null")
        raise JsonRefused(f"The arguments must be a JSON object such as {{}}, not {kind}.")
    return value


def _invalid(text: str, error: ValueError) -> JsonRefused:
    """Return the error with the place as numbers, which the fast parser only has in its English sentence."""
    try:
        json.loads(text)
    except json.JSONDecodeError as same:
        return JsonRefused(JSON_INVALID_AT(reason=error, line=same.lineno, column=same.colno))
    except (RecursionError, ValueError):
        pass
    return JsonRefused(JSON_INVALID(reason=error))


def _refuse_ambiguity(text: str, value: object) -> None:
    # Writing the value back keeps every quotation mark but those of keys that were overwritten. So equal counts prove
    # that no key stood twice, unless an escape (\u0022) could have made up the difference: then look closely. This
    # costs half of what a second parse with a hook would.
    again = to_json(value)
    suspicious = ("\\" in text and "\\u" in text) or (_CAPITAL_I in again and b"Infinity" in again)
    if suspicious or again.count(b'"') != text.count('"'):
        # Whole numbers are not needed again, and reading one of 4,300 digits is slow.
        json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_int=str)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add() is None
        raise JsonRefused(JSON_DUPLICATE_KEY(name=repr(_short(twice))))
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise JsonRefused(JSON_NUMBER_TOO_LARGE(number=_short(digits)))
    return number


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise JsonRefused(JSON_NOT_UTF8(position=error.start, reason=error.reason)) from None


def _utf8_length(text: str | bytes) -> int:
    return len(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
