"""Encode the whole new content of a file, as a model wrote it, the way the file is written (C3, C16).

Lines that were there before keep their bytes: their line ends, and what the model could not see. The byte-order mark
and the encoding stay, and so does the last line end, or its absence: models add and drop it by habit. `edit` can
change it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from toolroll.errors import EditRefused
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.edit.encoding import EncodedText, decode_exactly
from toolroll.workspace.edit.lines import Lines, align_lines, has_bare_ends, split_lines
from toolroll.workspace.edit.placeholders import find_placeholders

SHRINK_RATIO: Final = 0.5
"""Less than half of a file is seldom meant: it is pointed out to the person who decides."""
SHRINK_MIN_LINES: Final = 10
"""In a file shorter than that, everything is in view anyway."""
MAX_PLACEHOLDERS_NAMED: Final = 5
KEPT_TEXTS: Final = 2
"""New contents that are kept: each is put together when it is proposed, and once more after the yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeFile:
    """The new content, and what a person should be told about it."""

    data: bytes
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=KEPT_TEXTS)
def encode_whole_file(data: bytes, content: str, *, path: str) -> WholeFile:
    """Return the bytes that the whole new content stands for, or EditRefused."""
    carrier = decode_exactly(data)
    if carrier.text.strip() and not content.strip():
        raise _refusal("is empty, and the file is not. To empty a file, replace its text with edit", path, "empty")
    _check_placeholders(carrier.text, content, path)
    bare_ends = has_bare_ends(carrier.text)
    old = split_lines(carrier.text, bare_ends=bare_ends)
    new = _with_usual_last_end(old, split_lines(content, bare_ends=bare_ends).contents)
    shown_as = _shown_lines(carrier, old)
    key = (lambda line: shown_as.get(line, line)) if shown_as else None
    kept, added = align_lines(old, new, last_end=old.last_end, key=key)
    for number in added:
        carrier.check(kept.contents[number], path=path)
    if kept.text == carrier.text:
        raise _refusal("is what the file holds already. Leave the change out", path, "no_change")
    return WholeFile(data=carrier.encode(kept.text), notes=_notes(old, new))


def encode_person_text(before: bytes | None, after: bytes, text: str, *, path: str) -> bytes:
    """Return the bytes for a text that a person wrote in place of a proposed one.

    It is taken to the letter. Only line ends that an editor or a browser has lost come back: a line that is neither in
    the file nor in the proposal, and ends in a plain newline, takes the end of its neighbours.
    """
    proposed = decode_exactly(after)
    carrier = proposed if before is None else decode_exactly(before)
    bare_ends = has_bare_ends(carrier.text)
    sides = [split_lines(one, bare_ends=bare_ends) for one in (carrier.text, proposed.text)]
    known = {pair for side in sides for pair in zip(side.contents, (*side.ends, ""), strict=True)}
    contents = {content for content, _ in known}
    new = split_lines(text, bare_ends=bare_ends)
    for content in new.contents:
        if content not in contents:
            carrier.check(content, path=path)
    kept, _ = align_lines(sides[1], new.contents, last_end=(sides[1] if sides[1].ends else sides[0]).last_end)
    pairs = zip(new.contents, new.ends, kept.ends, strict=False)
    ends = [end if end != "\n" or (content, end) in known else usual for content, end, usual in pairs]
    return carrier.encode(Lines(contents=new.contents, ends=tuple(ends)).text)


def _with_usual_last_end(old: Lines, new: Sequence[str]) -> tuple[str, ...]:
    if old.contents == ("",):
        return tuple(new)
    is_ended = old.contents[-1] == ""
    bare = tuple(new[:-1]) if new[-1] == "" and len(new) > 1 else tuple(new)
    return (*bare, "") if is_ended else bare


def _shown_lines(carrier: EncodedText, old: Lines) -> dict[str, str]:
    """Return how lines in an unknown encoding were shown (as Latin-1), to recognize those that come back unchanged."""
    if carrier.is_known:
        return {}
    return {line: line.encode("utf-8", "surrogateescape").decode("latin-1") for line in old.contents}


def _check_placeholders(old: str, content: str, path: str) -> None:
    found = find_placeholders(old, content)
    if not found:
        return
    named = "; ".join(f"line {one.line}: {quote_path(one.text)}" for one in found[:MAX_PLACEHOLDERS_NAMED])
    why = f"has lines that stand for text that was left out ({named}). Write all of the file, or use edit for a part"
    lines = tuple(one.line for one in found)
    raise EditRefused(_message(why, path), path=quote_path(path), rule="placeholder", lines=lines)


def _notes(old: Lines, new: Sequence[str]) -> tuple[str, ...]:
    before, after = (sum(bool(line.strip()) for line in lines) for lines in (old.contents, new))
    if before < SHRINK_MIN_LINES or after >= before * SHRINK_RATIO:
        return ()
    return (f"The file shrinks from {before:,} lines to {after:,} (empty ones not counted). Is all of it there?",)


def _refusal(why: str, path: str, rule: str) -> EditRefused:
    return EditRefused(_message(why, path), path=quote_path(path), rule=rule)


def _message(why: str, path: str) -> str:
    return f"The new content of '{quote_path(path)}' {why}. Nothing was changed."
