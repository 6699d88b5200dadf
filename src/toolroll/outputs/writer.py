"""Writing one output, piece by piece, into a folder that gets its name when the output is complete.

Nothing is synced: a `kill -9` at any moment leaves the whole output or none. A power cut can take the latest outputs;
what is left of them is recognized by its size and treated as missing. Known secrets are removed before anything is
written (D6). What only looks like a secret stays, because an output is read back to be worked with (K50).
"""

import logging
import os
import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from toolroll.errors import ToolrollError
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import OutputRef, Part, TextPart
from toolroll.outputs.cut import placeholder
from toolroll.outputs.format import (
    BLOCK_BYTES,
    DATA,
    ID,
    INDEX,
    META,
    PART,
    Kind,
    LineCounter,
    Meta,
    Piece,
    encode_meta,
    find_packed,
)
from toolroll.outputs.run_folder import temporary_name
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE
from toolroll.safe.secrets.redact import known_forms

if TYPE_CHECKING:
    from typing import BinaryIO


LOGGER_NAME: Final = "toolroll.outputs"
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BUFFER_BYTES: Final = 1 << 15
"""For many small pieces; what a pipe holds (64 KiB) goes by it, not through it. Gathering larger pieces for fewer calls
costs more than it saves: memory that one piece uses again and again is then asked for anew."""
_TEXT_SLICE_CHARACTERS: Final = 1 << 16  # of a text that is encoded: memory is bounded, and blocks are counted in place
_NAME_ATTEMPTS: Final = 8  # ids that a test counts may be taken; random ones never are
MARK: Final = b"[redacted:known]"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOrigin:
    """Where an output comes from: the call, and the runs that may read it, the one that made it last."""

    runs: tuple[str, ...]
    call_id: str
    tool: str
    made: float


class SecretMask:
    """Takes known values out of bytes that come in pieces, wherever a piece ends."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._forms = _forms(tuple(secrets))
        # What a value that is not all there yet may have of the end.
        self._reach = max(map(len, self._forms), default=1) - 1
        self._held = b""

    @property
    def is_holding(self) -> bool:
        """Return whether something was fed that did not come out yet."""
        return bool(self._held)

    def feed(self, data: bytes) -> bytes:
        """Take more text, and return what can be stored by now."""
        if not self._forms:
            return data
        return self._out(self._held + data, self._reach)

    def end(self) -> bytes:
        """Return the rest of the text: nothing follows."""
        return self._out(self._held, 0)

    def _out(self, data: bytes, reach: int) -> bytes:
        done = max(len(data) - reach, 0)  # whatever begins before this is all there
        parts: list[bytes] = []
        start = 0
        if any(form in data for form in self._forms):  # a search for each is 20 times as fast as one for all
            for found in _pattern(self._forms).finditer(data):
                if found.start() >= done:
                    break
                parts += (data[start : found.start()], MARK)
                start = found.end()
        done = max(done, start)
        self._held = data[done:]
        return b"".join((*parts, data[start:done]))


def mask_secrets(data: bytes, secrets: Sequence[str]) -> bytes:
    """Return all of an output without known values."""
    if not secrets:
        return data
    masking = SecretMask(secrets)
    return masking.feed(data) + masking.end()


@lru_cache(maxsize=8)
def _forms(secrets: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(form.encode("utf-8", "surrogatepass") for form in known_forms(secrets))


@lru_cache(maxsize=8)
def _pattern(forms: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, forms)))  # the longest first: one known value may begin another


@dataclass(slots=True, kw_only=True)
class _Draft:
    """The folder while it has no name."""

    path: Path
    data: "BinaryIO"
    masking: SecretMask
    lines: LineCounter = field(default_factory=LineCounter)
    pieces: list[Piece] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was put in yet."""
        return self.lines.byte_size == 0 and not self.masking.is_holding

    def put(self, data: bytes) -> None:
        """Add what a tool gave."""
        self.append(self.masking.feed(data))

    def end_piece(self) -> None:
        """Write what was held back: what comes next does not belong to it."""
        self.append(self.masking.end())

    def append(self, data: bytes) -> None:
        """Write and count."""
        self.data.write(data)
        self.lines.feed(data)


class OutputWriter:
    """An output on its way: no trouble with the disk raises; `ref` is None until it is kept, or if it is not.

    Leaving `with` by an exception keeps nothing.
    """

    def __init__(
        self,
        hold: Callable[[], Path],
        origin: OutputOrigin,
        make_id: Callable[[], str],
        secrets: Sequence[str] = (),
        on_whole: Callable[[Path], None] | None = None,
    ) -> None:
        self._secrets = secrets
        self._on_whole = on_whole
        self.ref: OutputRef | None = None
        self._hold = hold
        self._origin = origin
        self._make_id = make_id
        self._kind: Kind = "bytes"
        self._draft: _Draft | None = None

    def write(self, piece: str | bytes) -> None:
        """Add a piece of text or of bytes. Text that is all there is comes back as text."""
        self._try(partial(self._write, piece))

    def write_parts(self, parts: tuple[Part, ...]) -> None:
        """Add parts: texts as they are, everything else in a file of its own, with a line that names it."""
        self._kind = "parts"
        for part in parts:
            self._try(partial(self._write_part, part))

    def __enter__(self) -> Self:
        try:
            self._draft = _new_draft(self._hold(), SecretMask(self._secrets))
        except (OSError, ToolrollError) as error:
            self._fail(error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._try(self._finish)
        self._discard()

    def _try(self, step: Callable[[_Draft], None]) -> None:
        if self._draft is not None:
            try:
                step(self._draft)
            except (OSError, ToolrollError) as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        warn_not_stored(self._origin.tool, error)
        self._discard()

    def _discard(self) -> None:
        draft, self._draft = self._draft, None
        if draft is not None:
            with suppress(OSError):  # what is still held back may not fit either
                draft.data.close()
            shutil.rmtree(draft.path, ignore_errors=True)

    def _write(self, piece: str | bytes, draft: _Draft) -> None:
        if isinstance(piece, str):
            if draft.is_empty and self._kind == "bytes":
                self._kind = "text"
            for start in range(0, len(piece), _TEXT_SLICE_CHARACTERS):
                draft.put(piece[start : start + _TEXT_SLICE_CHARACTERS].encode("utf-8", "surrogatepass"))
            return
        if self._kind == "text":
            self._kind = "bytes"
        draft.put(piece)

    def _write_part(self, part: Part, draft: _Draft) -> None:
        start, line = draft.lines.byte_size, draft.lines.line_count
        if isinstance(part, TextPart):
            self._write(part.text, draft)
            draft.end_piece()
            end = draft.lines.byte_size
            if draft.lines.line_count > draft.lines.ends:  # the next part begins a line of its own
                draft.append(b"\n")
            draft.pieces.append(Piece(type="text", start=start, end=end, line=line, byte_size=0))
            return
        data = mask_secrets(part.data, self._secrets)
        _write_file(draft.path / f"{PART}{len(draft.pieces)}", data)
        draft.append(placeholder(part).encode())
        draft.pieces.append(
            Piece(
                type=part.type,
                start=start,
                end=draft.lines.byte_size,
                line=line,
                byte_size=len(data),
                media_type=part.media_type,
                title=getattr(part, "title", None),
                checksum=zlib.crc32(data),
            )
        )

    def _finish(self, draft: _Draft) -> None:
        draft.end_piece()
        draft.data.close()
        if draft.lines.byte_size > BLOCK_BYTES:
            _write_file(draft.path / INDEX, draft.lines.index)
        meta = self._meta(draft, make_free_id(draft.path.parent, self._make_id))
        _write_file(draft.path / META, encode_meta(meta))
        draft.path.rename(draft.path.parent / meta.id)
        self._draft = None
        if self._on_whole is not None:
            self._on_whole(draft.path.parent / meta.id)
        self.ref = OutputRef(id=meta.id, byte_size=meta.byte_size, line_count=meta.line_count)

    def _meta(self, draft: _Draft, ref_id: str) -> Meta:
        lines, origin = draft.lines, self._origin
        return Meta(
            id=ref_id,
            runs=origin.runs,
            call_id=origin.call_id,
            tool=origin.tool,
            made=origin.made,
            kind=self._kind,
            byte_size=lines.byte_size + sum(piece.byte_size for piece in draft.pieces),
            text_bytes=lines.byte_size,
            line_count=lines.line_count,
            pieces=tuple(draft.pieces),
            checksums=lines.checksums,
            index_checksum=zlib.crc32(lines.index) if lines.byte_size > BLOCK_BYTES else None,
        )


def make_free_id(folder: Path, make_id: Callable[[], str]) -> str:
    """Return an id that no output of the run has yet."""
    if make_id is random_id:
        return make_id()
    for _ in range(_NAME_ATTEMPTS):
        ref_id = make_id()
        if ID.fullmatch(ref_id) and not (folder / ref_id).exists() and find_packed(folder, ref_id) is None:
            return ref_id
    raise FileExistsError("no free id was found for it")


def describe_short(ref_id: str, origin: OutputOrigin, data: bytes, *, is_text: bool) -> Meta:
    """Return what is known of an output that is all there at once, and short."""
    return Meta(
        id=ref_id,
        runs=origin.runs,
        call_id=origin.call_id,
        tool=origin.tool,
        made=origin.made,
        kind="text" if is_text else "bytes",
        byte_size=len(data),
        text_bytes=len(data),
        line_count=data.count(b"\n") + (data[-1:] not in (b"", b"\n")),
        checksums=(zlib.crc32(data),) if data else (),
    )


def warn_not_stored(tool: str, error: Exception) -> None:
    """Say in the log that an output is not kept, and why."""
    logging.getLogger(LOGGER_NAME).warning("the output of %s could not be kept: %s", tool, error)


def _new_draft(folder: Path, masking: SecretMask) -> _Draft:
    path = folder / temporary_name()
    path.mkdir(PRIVATE_FOLDER_MODE)
    try:
        file = os.fdopen(os.open(path / DATA, _NEW_FILE, PRIVATE_FILE_MODE), "wb", buffering=_BUFFER_BYTES)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return _Draft(path=path, data=file, masking=masking)


def _write_file(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, _NEW_FILE, PRIVATE_FILE_MODE), "wb") as file:
        file.write(data)
