"""The lines between `---` and `---` at the beginning of a post: one field a line, in a small part of YAML.

What is written is YAML for every reader, and no value can end its line: whatever is not plainly a word is put in double
quotes, with everything escaped that any reader takes for the end of a line (XJ8). What is read may have been written by
a person, so nothing is an error: a line that is not a field is skipped.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from toolroll.kernel.data.serialize import replace_surrogates

Value: TypeAlias = str | int | None

MAX_HEADER_CHARACTERS: Final = 65_536
"""Ten times the longest topic: a file that never closes its header is not searched to its end."""

_FENCE: Final = "---"
_BOM: Final = "\ufeff"
# Letters and digits with single separators between them: no quote, no `: `, no ` #`, and never the look of a number.
_PLAIN: Final = re.compile(r"[A-Za-z\u0400-\u04ff][A-Za-z0-9\u0400-\u04ff]*(?:[ _/+.:-][A-Za-z0-9\u0400-\u04ff]+)*")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_WORDS_OF_YAML: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
# Not printable by YAML, or an end of line to it or to Python: C0 is JSON's own to escape.
_UNSEEN: Final = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]")
_OPENS: Final = re.compile(r"---[\r \t]*\n")
_CLOSES: Final = re.compile(r"\n---[\r \t]*(?:\n|\Z)")
_FIELD: Final = re.compile(r"(\w[\w-]*):(?:[ \t]+(.*))?")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#.*")
_QUOTED: Final = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*(?:#.*)?""")


def join_front_matter(fields: Mapping[str, Value], body: str) -> str:
    """Return a file of these fields and this text, which `split_front_matter` takes apart again."""
    lines = [f"{name}: {_quote_value(value)}" for name, value in fields.items()]
    return "\n".join([_FENCE, *lines, _FENCE, "", replace_surrogates(body)]) + ("" if body.endswith("\n") else "\n")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of a file and the text after them; no fields where no header is closed."""
    text = text.removeprefix(_BOM)
    header, rest = _split_header(text)
    if header is None:
        return {}, text
    found = (_FIELD.fullmatch(line.rstrip("\r \t")) for line in header)
    return {field[1]: _parse_value(field[2] or "") for field in found if field}, rest


def _split_header(text: str) -> tuple[list[str] | None, str]:
    opened = _OPENS.match(text)
    closed = _CLOSES.search(text, opened.end() - 1, MAX_HEADER_CHARACTERS) if opened else None
    if opened is None or closed is None:
        return None, text
    header = text[opened.end() : closed.start()]
    return header.split("\n"), text[closed.end() :].removeprefix("\r").removeprefix("\n")


def _quote_value(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, int) or _MOMENT.fullmatch(value):
        return str(value)
    if _PLAIN.fullmatch(value) and value.casefold() not in _WORDS_OF_YAML:
        return value
    quoted = json.dumps(replace_surrogates(value), ensure_ascii=False)
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _parse_value(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    if quoted is None:
        return _COMMENT.sub("", value).strip()
    inside = quoted[1]
    return inside[1:-1].replace("''", "'") if inside[0] == "'" else _unescape(inside)


def _unescape(quoted: str) -> str:
    try:
        found = json.loads(quoted, strict=False)
    except ValueError:  # an escape that only YAML has
        return quoted[1:-1]
    return replace_surrogates(str(found))
