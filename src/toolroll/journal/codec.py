"""Records as JSON and back. The format carries a version: older ones load, newer ones are refused."""

from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from toolroll.errors import JournalRefused
from toolroll.journal.records import Record
from toolroll.safe.secrets import redact

FORMAT_VERSION: Final = 1
"""Raised with every change that an older program could misread."""


def encode(record: Record, *, secrets: tuple[str, ...] = ()) -> bytes:
    """The record as JSON bytes, with known secrets and everything that looks like one taken out."""
    text = _adapter().dump_json(record).decode()
    return redact(text, known=secrets).encode()


def decode(body: bytes) -> Record:
    """The record behind JSON bytes."""
    try:
        record: Record = _adapter().validate_json(body)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise JournalRefused(f"A record of the run log cannot be read: {reason}.") from None
    return record


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Any]:
    # Built on first use: the tree of types takes as long as three interpreter starts.
    return TypeAdapter(Annotated[Record, Field(discriminator="kind")])
