"""Describe a definition: its name and owner, its signature, and the first line of its documentation.

All are read from the bytes around the definition: walking to neighbours and parents in the tree takes ten times longer.
"""

import re
from typing import Final

from toolroll.safe.secrets.redact import redact

_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
MAX_SIGNATURE_CHARACTERS: Final = 240
MAX_DOC_CHARACTERS: Final = 160
_MAX_SIGNATURE_BYTES: Final = 1_000  # of source, before blanks are folded: a parameter list of 30 lines
_MAX_COMMENT_LINES: Final = 60  # how far up the first line of a comment is looked for
_MAX_ANNOTATIONS: Final = 12  # lines between a definition and its comment

_LEAD: Final = re.compile(rb"[ \t]*((?:\w+[ \t]+)*)")
_DOCSTRING: Final = re.compile(rb"[rRuU]?(\"\"\"|'''|\"|')\\?")
_ANNOTATION: Final = re.compile(rb"[ \t]*(?:@\w|#\[|\[\w+.*\][ \t]*$|template[ \t]*<.*>[ \t]*$)")
_OPENINGS: Final = ("{", "=>", "=", ":", ";")
_BLOCK_ENDS: Final = (b"*/", b"]]", b"=end")
_MARKS: Final = re.compile(rb"^[ \t]*(?:/\*+!?|\*/|\*|//+!?|#+|--+\[*|=begin)[ \t]?|[ \t]*(?:\*/|\]\]).*$")
_STRING: Final = re.compile(r"""(\"\"\"|'''|["'`])(?:\\.|(?!\1).){8,}+(\1|$)""")
"""Of eight characters or more: shorter ones are versions, modes and the like."""
_SOLID: Final = re.compile(r"[^\s(),]{16}")
_TAGS: Final = re.compile(r"<[^<>]{1,60}>")  # XML documentation of C#

_GENERIC: Final = re.compile(r"[<\[(\])].*", re.DOTALL)
_REFERENCE: Final = re.compile(r"^[*&\s]*(?:'\w+\s+)?(?:(?:mut|dyn)\s+)?")
_SEPARATOR: Final = re.compile(r"::|\\|:")
_MODULE_OBJECT: Final = re.compile(r"^(?:(?:module\.)?exports|this|self)\b\.?|\.?\bprototype$")
_BLANKS: Final = re.compile(r"\s+")
_QUALIFIED: Final = re.compile(r"^(.+)(?:::)((?:operator\b.*|~?\w+))$", re.DOTALL)


def as_utf8(data: bytes) -> bytes:
    """Return the same lines in UTF-8, whatever they were in; names in ASCII, nearly all of them, stay the same."""
    if data.startswith(_UTF_16):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    try:
        data.decode()
    except UnicodeDecodeError:
        # Every byte is a character of Latin-1, so that a comment in any old encoding cannot break the parse.
        return data.decode("latin-1").encode()
    return data


def leading_words(data: bytes, start: int) -> bytes:
    """Return the words before a definition on its own line: `export default`, `pub static`, `const`."""
    return _lead(data, start) or b""


def _lead(data: bytes, start: int) -> bytes | None:
    """Return the words before a definition; None where more stands there: another definition, a bracket."""
    found = _LEAD.fullmatch(data, data.rfind(b"\n", 0, start) + 1, start)
    return found[1] if found else None


def read_signature(data: bytes, start: int, end: int, *, is_whole: bool) -> str:
    """Return the source from `start` to `end` on one line; with no body (`is_whole`), up to where one may begin."""
    text = data[start : min(end, start + _MAX_SIGNATURE_BYTES)]
    if is_whole:
        brace, line = text.find(b"{"), text.find(b"\n")
        text = text[:brace] if brace > 0 else text
        text = text[:line] if line > 0 and b"(" not in text[:line] else text
    words = " ".join((leading_words(data, start) + text).decode("utf-8", "replace").split())
    opening = next((end for end in _OPENINGS if words.endswith(end)), "")
    return _cut(words.removesuffix(opening).rstrip(), MAX_SIGNATURE_CHARACTERS)


def hide_values(text: str) -> str:
    """Return the definition of a value without long strings, which may be keys: the index outlives the file's text."""
    start = text.find("=") + 1  # nothing of a macro stands before a sign
    return redact(text[:start] + _STRING.sub(r"\1…\2", text[start:]))


def hide_secrets(text: str) -> str:
    """Return other text without what looks like a secret; the slow search runs only where something could be one."""
    return redact(text) if _SOLID.search(text) else text


def read_docstring(data: bytes, body: int) -> str | None:
    """Return the first line of a Python docstring that begins where the body does."""
    found = _DOCSTRING.match(data, body)
    if found is None:
        return None
    end = data.find(found[1], found.end())
    text = data[found.end() : end if end >= 0 else found.end() + MAX_DOC_CHARACTERS]
    return _first_line(text.decode("utf-8", "replace").split("\n"))


def read_comment_before(data: bytes, start: int, mark: bytes) -> str | None:
    """Return the first line of the comment right above a definition; annotations may stand between."""
    if _lead(data, start) is None:
        return None
    line_end = data.rfind(b"\n", 0, start)
    for _ in range(_MAX_ANNOTATIONS):
        if line_end < 0:
            return None
        line_start = data.rfind(b"\n", 0, line_end) + 1
        line = data[line_start:line_end].strip()
        if not _ANNOTATION.match(line) or line.startswith(mark):
            return _comment(data, line_start, line_end, mark) if _is_comment(line, mark) else None
        line_end = line_start - 1
    return None


def _is_comment(line: bytes, mark: bytes) -> bool:
    """Return whether all of a line is comment: what stands beside code belongs to that."""
    return line.startswith(mark) or (line.endswith(_BLOCK_ENDS) and line.rfind(b"/*") <= 0)


def _comment(data: bytes, line_start: int, line_end: int, mark: bytes) -> str | None:
    """Return the comment whose last line this is, read upwards to where it begins."""
    lines: list[bytes] = []
    in_block = not data[line_start:line_end].strip().startswith(mark)
    while len(lines) < _MAX_COMMENT_LINES:
        line = data[line_start:line_end]
        is_opening = line.strip().startswith((b"/*", b"--[[", b"=begin"))
        if not in_block and not line.strip().startswith(mark):
            break
        lines.append(line)
        if (in_block and is_opening) or line_start == 0:
            break
        line_start, line_end = data.rfind(b"\n", 0, line_start - 1) + 1, line_start - 1
    return _first_line([_MARKS.sub(b"", line).decode("utf-8", "replace") for line in reversed(lines)])


def _first_line(lines: list[str]) -> str | None:
    for line in lines:
        text = _TAGS.sub("", line).strip()
        if any(character.isalnum() for character in text):
            return _cut(" ".join(text.split()), MAX_DOC_CHARACTERS)
    return None


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def split_name(text: str) -> tuple[str | None, str]:
    """Return what a qualified name belongs to, and the name itself: `a::Foo::run` is `run` of `a.Foo`."""
    if text.isidentifier():  # nearly always
        return None, text
    text = " ".join(text.split())
    if len(text) > 1 and text[0] in "\"'`" and text[-1] == text[0]:
        return None, text[1:-1]
    if found := _QUALIFIED.match(text):
        return owner_path(found[1]), found[2]
    if text.startswith("operator "):  # a conversion of C++ comes with its parameters: `operator bool() const`
        return None, text.partition("(")[0].strip()
    return None, text.removeprefix(":")


def owner_path(text: str) -> str | None:
    """Return the type or table that a receiver, a prototype or an `impl` names, as a dotted path; None for a module."""
    text = _GENERIC.sub("", _REFERENCE.sub("", _receiver(text)))
    return _MODULE_OBJECT.sub("", _SEPARATOR.sub(".", _BLANKS.sub("", text))).strip(".") or None


def _receiver(text: str) -> str:
    """Strip slices and references of Rust (`impl Trait for &[Foo]`), which belong to what is inside."""
    stripped = text.lstrip("&* ")
    return stripped[1:] if stripped.startswith(("[", "(")) else text


def join_names(*parts: str | None) -> str | None:
    """Return a dotted path of those parts that are there."""
    return ".".join(part for part in parts if part) or None
