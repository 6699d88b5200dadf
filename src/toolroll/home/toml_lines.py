"""Changing one value in a TOML file and nothing else of it: comments, order, blank lines and line ends stay.

tomllib is the only reader here, also of single statements: a line belongs to the statement that it completes. Whatever
is written is read again first, and must mean exactly what was there with that one change; else it is not written.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from toolroll.errors import UsageError

MAX_STATEMENT_LINES: Final = 1_000
"""Of one value: each line more is one more attempt to read it."""

_HAND: Final = "That cannot be changed here without touching the rest. Change it in the file itself."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """One key with its value, or (without a key) the header of a table; `start` and `end` are lines."""

    table: tuple[str, ...]
    key: tuple[str, ...]
    start: int
    end: int

    @property
    def path(self) -> tuple[str, ...]:
        return self.table + self.key


def set_toml_value(text: str, name: str, value: object) -> str:
    """The text with that value for `name` (`code.max_steps`)."""
    path = tuple(name.split("."))
    wanted = tomllib.loads(text)
    _put(wanted, path, list(value) if isinstance(value, tuple) else value)
    return _first_that_means(wanted, _with_value(text, path, format_toml(value)))


def remove_toml_value(text: str, name: str) -> str:
    """The text without a value for `name`; the text itself where it has none."""
    path = tuple(name.split("."))
    wanted = tomllib.loads(text)
    if not _drop(wanted, path):
        return text
    return _first_that_means(wanted, _without(text, path), is_pruned=True)


def format_toml(value: object) -> str:
    """The value as TOML writes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(format_toml(one) for one in value)}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's too; only the delete character is not escaped there, and must be here.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def _first_that_means(wanted: Mapping[str, Any], texts: Iterator[str], *, is_pruned: bool = False) -> str:
    meant = _pruned(wanted) if is_pruned else wanted
    found = next((text for text in texts if _means(text, meant, is_pruned=is_pruned)), None)
    if found is None:
        raise UsageError(_HAND)
    return found


def _with_value(text: str, path: tuple[str, ...], value: str) -> Iterator[str]:
    """Ways to write it, the most natural first."""
    lines, end = _lines(text)
    statements = list(_statements(lines))
    for one in statements:
        if one.key and one.path == path:
            yield _joined(lines, one.start, one.end, [_replaced(lines[one.start : one.end], value)], end)
    table, key = path[:-1], path[-1]
    beside = [one for one in statements if one.table == table]
    if beside:
        at = beside[-1].end
        yield _joined(lines, at, at, [f"{key} = {value}"], end)
    if not table:
        at = _before_tables(lines, statements)
        gap = [""] if at < len(lines) and lines[at].strip() else []
        yield _joined(lines, at, at, [f"{key} = {value}", *gap], end)
    else:
        gap = [""] if lines and lines[-1].strip() else []
        yield _joined(lines, len(lines), len(lines), [*gap, f"[{'.'.join(table)}]", f"{key} = {value}"], end)
    yield from _dotted(lines, statements, path, value, end)


def _dotted(
    lines: Sequence[str], statements: Sequence[_Statement], path: tuple[str, ...], value: str, end: str
) -> Iterator[str]:
    """Beside a key that is written with dots, as its table cannot be opened a second time."""
    for one in reversed(statements):
        if one.key and len(one.key) > 1 and path[: len(one.table)] == one.table:
            written = ".".join(path[len(one.table) :])
            yield _joined(lines, one.end, one.end, [f"{written} = {value}"], end)


def _without(text: str, path: tuple[str, ...]) -> Iterator[str]:
    lines, end = _lines(text)
    for one in _statements(lines):
        if one.key and one.path == path:
            yield _joined(lines, one.start, one.end, [], end)


def _lines(text: str) -> tuple[list[str], str]:
    """The lines, and how they end."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")  # not splitlines: TOML knows no other line end, and strings may hold the others
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines], end


def _joined(lines: Sequence[str], start: int, stop: int, new: Sequence[str], end: str) -> str:
    return "".join(line + end for line in [*lines[:start], *new, *lines[stop:]])


def _statements(lines: Sequence[str]) -> Iterator[_Statement]:
    """Every header and every key of a file that can be read."""
    table: tuple[str, ...] = ()
    at = 0
    while at < len(lines):
        bare = lines[at].strip()
        if not bare or bare.startswith("#"):
            at += 1
            continue
        stop = _end_of(lines, at)
        if bare.startswith("["):
            table = _key_of(tomllib.loads(lines[at]))
            yield _Statement(table=table, key=(), start=at, end=stop)
        else:
            key = _key_of(tomllib.loads(lines[at][: _equals(lines[at])] + "= 0"))
            yield _Statement(table=table, key=key, start=at, end=stop)
        at = stop


def _end_of(lines: Sequence[str], start: int) -> int:
    for stop in range(start + 1, min(len(lines), start + MAX_STATEMENT_LINES) + 1):
        try:
            tomllib.loads("\n".join(lines[start:stop]))
        except tomllib.TOMLDecodeError:
            continue
        return stop
    raise UsageError(_HAND)


def _key_of(parsed: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of a header, all the way down."""
    found: list[str] = []
    value: Any = parsed
    while isinstance(value, dict) and value:
        [name] = value
        found.append(name)
        value = value[name]
    return tuple(found)


def _replaced(lines: Sequence[str], value: str) -> str:
    """The statement with another value; a comment behind it stays."""
    text = "\n".join(lines)
    meant = tomllib.loads(text)
    at = _equals(text)
    comment = next((text[cut:] for cut in _comments(text, at) if _means(text[:cut], meant)), "")
    space = text[: len(text) - len(comment)]
    behind = space[len(space.rstrip(" \t")) :] if comment else ""
    return f"{text[: at + 1]} {value}{behind}{comment}"


def _equals(text: str) -> int:
    return next(at for at, sign in enumerate(text) if sign == "=" and _is_key(text[:at]))


def _is_key(text: str) -> bool:
    try:
        tomllib.loads(f"{text}= 0")
    except tomllib.TOMLDecodeError:
        return False
    return True


def _comments(text: str, after: int) -> Iterator[int]:
    """Where a comment might begin that ends the text."""
    last = text.rfind("\n") + 1
    yield from (at for at in range(max(after, last), len(text)) if text[at] == "#")


def _means(text: str, meant: Mapping[str, Any], *, is_pruned: bool = False) -> bool:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return (_pruned(found) if is_pruned else found) == meant


def _before_tables(lines: Sequence[str], statements: Sequence[_Statement]) -> int:
    """Where keys without a table go where there are none: above the first header and the comments on top of it."""
    first = next((one.start for one in statements if not one.key), None)
    if first is None:
        return len(lines)
    while first > 0 and lines[first - 1].strip().startswith("#"):
        first -= 1
    return first


def _put(table: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    for name in path[:-1]:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise UsageError(_HAND)
        table = inner
    table[path[-1]] = value


def _drop(table: dict[str, Any], path: tuple[str, ...]) -> bool:
    for name in path[:-1]:
        inner = table.get(name)
        if not isinstance(inner, dict):
            return False
        table = inner
    return table.pop(path[-1], None) is not None


def _pruned(table: Mapping[str, Any]) -> dict[str, Any]:
    """Without tables that are empty: a key with dots leaves none behind."""
    inner = {key: _pruned(value) if isinstance(value, dict) else deepcopy(value) for key, value in table.items()}
    return {key: value for key, value in inner.items() if value != {}}
