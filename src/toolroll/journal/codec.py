"""Records as JSON and back. The format carries a version: older ones load, newer ones are refused.

Long texts stand beside the record under their hash, so that what is said twice is stored once. In the record stands
`NUL + hash`; a text that begins with NUL itself gets one more, so that no text is taken for a hash.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json, to_json, to_jsonable_python

from toolroll.errors import JournalRefused
from toolroll.journal.record_check import check_record
from toolroll.journal.records import MessageAdded, Record
from toolroll.journal.redaction import without_secrets
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.data.messages import Message, TextPart, UserMessage

LONG_CHARACTERS: Final = 2_048
"""From here on a text is stored by its hash: half of a page of SQLite, so that a row seldom needs more than one."""

_NUL: Final = "\0"
_OLD_OPENING: Final = "[This is not from the user: the conversation before this point was replaced by a summary of it.]"
"""How summaries began before messages had `is_summary`; it stays as it is, whatever they begin with today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A record as it is stored: its JSON, and the long texts of it by their hash."""

    body: bytes
    contents: dict[str, bytes] = field(default_factory=dict)


def encode(record: Record, *, secrets: Sequence[str] = ()) -> Encoded:
    """Return the record as JSON, with known secrets and everything that looks like one taken out.

    One that could not be read back is refused: what is announced before it happens must be known afterwards.
    """
    check_record(record)
    try:
        return _encode(record, secrets)
    except ValueError as error:  # a value that refers to itself, half of a surrogate pair, an endless number
        raise JournalRefused(f"What the run keeps ({record.kind}) cannot be stored: {error}.") from None


def _encode(record: Record, secrets: Sequence[str]) -> Encoded:
    value: dict[str, Any] = to_jsonable_python(record, bytes_mode="base64", fallback=str)
    tools = value.pop("tools", None)  # a fingerprint under the name of a tool such as `read_secret` is none itself
    value = without_secrets(value, secrets)
    if tools is not None:
        value = {**value, "tools": tools}
    body = to_json(value)
    if b"\\u0000" not in body and (len(body) < LONG_CHARACTERS or not _holds_long(value)):
        return Encoded(body=body)
    contents: dict[str, bytes] = {}
    return Encoded(body=to_json(_map_texts(value, lambda text: _move_out(text, contents))), contents=contents)


def decode(body: bytes, content_of: Callable[[str], bytes]) -> Record:
    """Return the record behind its JSON; `content_of` gives the text of a hash, or raises `JournalRefused`."""
    try:
        if b"\\u0000" in body:
            body = to_json(_map_texts(from_json(body), lambda text: _move_in(text, content_of)))
        record: Record = _adapter().validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise JournalRefused(f"A record of the run log cannot be read: {place}: {fault['msg']}.") from None
    except ValueError as error:
        raise JournalRefused(f"A record of the run log cannot be read: {error}.") from None
    return replace(record, message=mark_old_summary(record.message)) if isinstance(record, MessageAdded) else record


def mark_old_summary(message: Message) -> Message:
    """Return the message, marked if it is a summary of a time when only its opening line said so.

    One that is taken for a summary wrongly, as somebody has quoted that line, is only trusted less.
    """
    if not isinstance(message, UserMessage) or message.is_summary or not message.content:
        return message
    first = message.content[0]
    is_old = isinstance(first, TextPart) and first.text.startswith(_OLD_OPENING)
    return replace(message, is_summary=True) if is_old else message


def _map_texts(value: object, change: Callable[[str], str]) -> object:
    """The JSON value with every text changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_texts(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_texts(item, change) for item in value]
    return value


def _holds_long(value: object) -> bool:
    """Whether a text of it is stored by its hash; half of what `_map_texts` costs, and mostly the answer is no."""
    if isinstance(value, str):
        return len(value) >= LONG_CHARACTERS
    if isinstance(value, dict):
        return any(map(_holds_long, value.values()))
    return isinstance(value, list) and any(map(_holds_long, value))


def _move_out(text: str, contents: dict[str, bytes]) -> str:
    if len(text) < LONG_CHARACTERS:
        return _NUL + text if text.startswith(_NUL) else text
    name = content_hash(text)
    contents[name] = text.encode()
    return _NUL + name


def _move_in(text: str, content_of: Callable[[str], bytes]) -> str:
    if not text.startswith(_NUL):
        return text
    if text.startswith(_NUL * 2):
        return text[1:]
    return content_of(text[1:]).decode()


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Any]:
    # Built on first use: the tree of types takes as long as three interpreter starts.
    config = ConfigDict(val_json_bytes="base64")
    return TypeAdapter(Annotated[Record, Field(discriminator="kind")], config=config)
