"""Describe what a diff alone does not show: line ends, encodings, characters that cannot be seen (C33)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from toolroll.kernel.diff.unified import opcodes
from toolroll.safe.text import Finding, suspicious
from toolroll.workspace.edit.encoding import EncodedText

MAX_CHARACTERS_NAMED: Final = 5
"""Odd characters that a note names; the diff spells out all of them."""

_END_NAMES: Final = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}


def content_notes(before: EncodedText | None, after: EncodedText | None) -> Iterator[str]:
    """Yield the notes on one file: as it is, and as it would be; None where there is none."""
    if after is None:
        return
    if before is not None:
        yield from _encoding_notes(before, after)
        yield from _end_notes(before.text, after.text)
    elif after.mark:
        yield f"The file begins with a byte-order mark ({after.encoding.upper()})."
    if not after.is_known:
        yield "The file is not UTF-8 and does not say what it is: its other bytes are shown as U+DC80 to U+DCFF."
    yield from _character_notes("" if before is None else before.text, after.text)


def _encoding_notes(before: EncodedText, after: EncodedText) -> Iterator[str]:
    old, new = _encoding_name(before), _encoding_name(after)
    if old != new:
        yield f"The encoding changes from {old} to {new}."


def _encoding_name(carrier: EncodedText) -> str:
    name = carrier.encoding.upper() if carrier.is_known else "an unknown one"
    return f"{name} with a byte-order mark" if carrier.mark else name


def _end_notes(before: str, after: str) -> Iterator[str]:
    old, new = _ends(before), _ends(after)
    if old and new and set(old) != set(new):
        yield f"The line ends change from {_format_ends(old)} to {_format_ends(new)}."
    elif len(new) > 1:
        yield f"The line ends are mixed: {_format_ends(old)} before, {_format_ends(new)} after."


def _ends(text: str) -> Counter[str]:
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\n": text.count("\n") - crlf, "\r": text.count("\r") - crlf}
    return Counter({end: count for end, count in counts.items() if count})


def _format_ends(ends: Counter[str]) -> str:
    return " and ".join(f"{count:,} {_END_NAMES[end]}" for end, count in ends.most_common())


def _character_notes(before: str, after: str) -> Iterator[str]:
    named: dict[str, list[int]] = {}
    added = list(_added_lines(before, after))
    if not suspicious("\n".join(line for _, line in added), limit=1):  # nearly always, and fifty times as fast
        return
    for number, line in added:
        for finding in suspicious(line):
            named.setdefault(_format_character(finding), []).append(number)
    notes = [
        f"{name} in line {lines[0]}{_format_more(lines)}" for name, lines in list(named.items())[:MAX_CHARACTERS_NAMED]
    ]
    rest = len(named) - len(notes)
    others = f", and {rest} other kinds" if rest > 0 else ""
    yield f"New lines hold characters that would not be seen: {', '.join(notes)}{others}."


def _format_more(lines: Sequence[int]) -> str:
    return f" and {len(lines) - 1} more places" if len(lines) > 1 else ""


def _format_character(finding: Finding) -> str:
    return "a long run of blanks" if finding.kind == "blank run" else f"U+{finding.code_point:04X} {finding.name}"


def _added_lines(before: str, after: str) -> Iterator[tuple[int, str]]:
    old, new = before.split("\n"), after.split("\n")
    for tag, _, _, j1, j2 in opcodes(old, new):
        if tag != "equal":
            yield from ((number + 1, new[number].removesuffix("\r")) for number in range(j1, j2))
