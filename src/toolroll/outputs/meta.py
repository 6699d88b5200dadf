"""What is known of a kept output beside its bytes: the file `meta.json` in its folder."""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from toolroll.errors import OutputMissing
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Kind = Literal["text", "bytes", "parts"]

FORMAT: Final = 1
"""Raised when an older program could not read what a newer one keeps."""

ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a reference is made of. A name with no dot and no slash in it leads nowhere else."""

_SHOWN_CHARACTERS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One part: a text from byte `start` to `end` of the data, or a file of its own and a line there that names it."""

    type: Literal["text", "image", "document"]
    start: int
    end: int
    line: int
    byte_size: int
    media_type: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """One output. `runs` are the runs that may read it: the one that made it last, its callers before it.

    `text_bytes` is the size of what can be paged and searched, `byte_size` that and the parts that cannot.
    """

    id: str
    runs: tuple[str, ...]
    call_id: str
    tool: str
    made: float
    kind: Kind
    byte_size: int
    text_bytes: int
    line_count: int
    pieces: tuple[Piece, ...] = ()
    format: int = FORMAT


def encode_meta(meta: Meta) -> bytes:
    """The file's content."""
    return _adapter().dump_json(meta)


def decode_meta(data: bytes, ref_id: str) -> Meta:
    """What the file says, or OutputMissing where it is damaged, newer, or about another output."""
    try:
        meta = _adapter().validate_json(data)
    except ValueError:
        raise missing(ref_id) from None
    if meta.format != FORMAT or meta.id != ref_id or not meta.runs:
        raise missing(ref_id)
    return meta


def missing(ref_id: str) -> OutputMissing:
    """The error for a reference that leads nowhere: the same whether it is guessed, foreign, damaged or collected."""
    shown = one_line(ref_id, _SHOWN_CHARACTERS)
    return OutputMissing(f"There is no output '{shown}' in this run. Use a ref that stands in a tool result, as it is.")


@cache
def _adapter() -> "TypeAdapter[Meta]":
    from pydantic import TypeAdapter  # noqa: PLC0415 - made at first use: importing does nothing

    return TypeAdapter(Meta)
