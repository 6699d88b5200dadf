"""Decode a file's bytes for reading, never for writing back: a guess here is good enough for the eye.

The order is: byte order mark, strict UTF-8, the encoding that the file itself declares, a guess. Lines end at `\\n`
alone (XF4): what `str.splitlines` takes for line ends besides (VT, FF, NEL, U+2028, a bare CR) would shift all numbers
against those of compilers and editors.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Final, Literal

from toolroll.errors import NotText
from toolroll.messages import FILE_NOT_TEXT
from toolroll.safe.paths.names import quote_path

Known = Literal["bom", "utf-8", "declared", "guess"]
LineEnds = Literal["none", "LF", "CRLF", "CR", "mixed"]

# The longer ones first: that of UTF-32 begins like that of UTF-16.
MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, and the encodings that they announce."""

# PEP 263, `<?xml encoding="..."?>`, `@charset "..."`, `<meta charset=...>`: where each of them must stand.
_DECLARED: Final = re.compile(rb"(?:coding|charset)[ \t]*[:=]?[ \t]*[\"']?([A-Za-z][\w.:-]{1,40})")
_DECLARING_LINES: Final = 2
_DECLARING_BYTES: Final = 1_024
# All of them have ASCII in its place, so that `\n` is a line end in bytes as in text. Not here: UTF-7 and other
# encodings in which plain ASCII means something else.
_TRUSTED: Final = re.compile(
    r"(?!cp875)(?:ascii|latin|iso8859|cp125|cp8|cp43|cp7|koi8|mac|shift_jis|cp9|euc|gb|big5|tis|kz|pt)"
)
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_MAX_CONTROLS: Final = 0.1  # of all bytes; text in any of the old encodings has none
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_END_NAMES: Final[dict[str, LineEnds]] = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A file's text without its byte order mark; only when `known` is no guess does it encode to the same bytes."""

    text: str
    encoding: str
    mark: bytes
    known: Known

    @property
    def is_certain(self) -> bool:
        """Return whether the text is what its writer saw."""
        return self.known != "guess"

    @property
    def note(self) -> str | None:
        """Return what a reader has to know about the encoding; None for plain UTF-8."""
        if self.known == "guess":
            return "not UTF-8, and it declares no encoding: shown as Latin-1, letters beyond ASCII may be wrong"
        if self.known == "utf-8":
            return None
        return f"encoded in {self.encoding.upper()}" + (" with a byte order mark" if self.mark else "")

    @property
    def lines(self) -> list[str]:
        """Return the lines without their `\\n`; the last one only if there is something in it."""
        return split_lines(self.text)

    @property
    def line_ends(self) -> LineEnds:
        """Return which line ends there are."""
        found = set(_LINE_END.findall(self.text))
        return _END_NAMES[found.pop()] if len(found) == 1 else ("mixed" if found else "none")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text as `\\n` separates them, and as editors count them: no line after the last end."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def decode(data: bytes, *, path: str) -> Text:
    """Return the text of a file, or NotText where it is binary; `path` is for the error."""
    if marked := _by_mark(data):
        return marked
    if b"\0" in data:
        raise _not_text(path)
    if (text := _strictly(data, "utf-8")) is not None:
        return Text(text=text, encoding="utf-8", mark=b"", known="utf-8")
    declared = declared_encoding(data)
    if declared and (text := _strictly(data, declared)) is not None:
        return Text(text=text, encoding=declared, mark=b"", known="declared")
    if len(data) - len(data.translate(None, _CONTROLS)) > _MAX_CONTROLS * len(data):
        raise _not_text(path)
    return Text(text=data.decode("latin-1"), encoding="latin-1", mark=b"", known="guess")


def declared_encoding(data: bytes) -> str | None:
    """Return Python's name for the encoding that the first two lines declare, if it is one of those for text."""
    head = b"\n".join(data[:_DECLARING_BYTES].split(b"\n")[:_DECLARING_LINES])
    match = _DECLARED.search(head)
    if not match:
        return None
    try:
        name = codecs.lookup(match[1].decode()).name
    except LookupError:
        return None
    return name if _TRUSTED.match(name.replace("-", "_").replace("iso8859_", "iso8859")) else None


def _by_mark(data: bytes) -> Text | None:
    for mark, encoding in MARKS:
        if data.startswith(mark) and (text := _strictly(data[len(mark) :], encoding)) is not None:
            return Text(text=text, encoding=encoding, mark=mark, known="bom")
    return None


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _not_text(path: str) -> NotText:
    name = quote_path(path)
    return NotText(FILE_NOT_TEXT(path=name), path=name)
