"""Decode a file so that its text leads back to exactly its bytes.

Whatever the bytes are, there is a text for them, and the text leads back to the same bytes. Where no encoding is known,
the carrier is UTF-8 with surrogate escapes, which loses nothing (measured on 20,000 random contents), and what is added
must be ASCII: what a letter is in there, nobody has said. A guess is never written with. Bytes that the replaced text
has may come again: they are copied, as what they were shown as.
"""

from dataclasses import dataclass

from toolroll.errors import EditRefused
from toolroll.safe.paths.names import quote_path
from toolroll.safe.text import one_line
from toolroll.workspace.text import MARKS, declared_encoding


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedText:
    """A file's text, without its byte-order mark, and how it is written; `is_known` says that the encoding is sure."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    is_known: bool = True

    def encode(self, text: str) -> bytes:
        """Return the bytes for a text in which everything new has been checked."""
        return self.mark + text.encode(self.encoding, "surrogateescape")

    def as_shown(self, text: str) -> str:
        """Return what a text from a reader means here: bytes that nobody knows are shown as Latin-1."""
        if self.is_known:
            return text
        try:
            return text.encode("latin-1").decode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return text

    def check(self, new: str, *, path: str, kept: str = "") -> None:
        """Refuse new text that the file cannot hold: for its encoding (where none is known, `kept` may come again), or
        because of a NUL, by which every reader here would take the file for binary, and no tool could change it back.
        """
        if "\0" in new and "\0" not in self.text:
            raise _nul_refusal(new, path=path)
        encoding = self.encoding if self.is_known else "ascii"
        checked = new if self.is_known else new.translate(dict.fromkeys(map(ord, kept), " "))
        try:
            checked.encode(encoding)
        except UnicodeEncodeError as error:
            raise _encoding_refusal(new, error, path=path, encoding=encoding if self.is_known else None) from None


def decode_exactly(data: bytes) -> EncodedText:
    """Decode a file: by its byte-order mark, as UTF-8, as it declares itself, or as bytes of an unknown encoding."""
    for mark, encoding in MARKS:
        if data.startswith(mark) and (marked := _try_decode(data[len(mark) :], encoding)) is not None:
            return EncodedText(text=marked, encoding=encoding, mark=mark)
    if (text := _try_decode(data, "utf-8")) is not None:
        return EncodedText(text=text)
    declared = declared_encoding(data)
    if declared is not None and (text := _try_decode(data, declared)) is not None:
        return EncodedText(text=text, encoding=declared)
    return EncodedText(text=data.decode("utf-8", "surrogateescape"), is_known=False)


def _try_decode(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    # Some encodings have two spellings for one character: then the text would not lead back.
    return text if text.encode(encoding, "surrogateescape") == data else None


def _nul_refusal(new: str, *, path: str) -> EditRefused:
    name = quote_path(path)
    message = (
        f"The new text of '{name}' has a NUL character (U+0000) in it. With that the file would be binary, and no tool "
        "could read or change it any more. Nothing was changed. Leave it out, or write it as the language of the file "
        "spells it, such as \\0 or \\x00."
    )
    return EditRefused(message, path=name, rule="nul", lines=(new.count("\n", 0, new.index("\0")) + 1,))


def _encoding_refusal(new: str, error: UnicodeEncodeError, *, path: str, encoding: str | None) -> EditRefused:
    character = one_line(new[error.start], 20)
    name = f"'{quote_path(path)}'"
    why = (
        f"{name} is written in {encoding}, which has no '{character}'."
        if encoding
        else f"{name} is not UTF-8 and does not say what it is, so that only ASCII can be added; '{character}' is not."
    )
    message = f"{why} Nothing was changed. Write it with characters that the file can hold."
    return EditRefused(message, path=quote_path(path), rule="encoding", lines=(new.count("\n", 0, error.start) + 1,))
