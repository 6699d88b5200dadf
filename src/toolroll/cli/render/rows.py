"""What a person is shown about a request, as rows of safe text: who wants what and why, and all that would change.

Every text goes through `safe.text.visible` once. A row's gutter is ours alone: no text can begin where a sign, a line
number or a label stands, also when it is folded. Nothing is left out: an argument too long for the summary stands in
full at the end.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolroll.cli.render.calls import describe_call
from toolroll.kernel.approval.request import ApprovalRequest, Effect, Preview, Target, content_hash
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.diff.hunks import Diff, DiffLine, Hunk, Sign, parse_diff, parse_diffs, restore_original
from toolroll.safe.limits import MAX_FINDINGS_SHOWN
from toolroll.safe.text import one_line, suspicious, visible

Look: TypeAlias = Literal["title", "text", "note", "warning", "heading", "added", "removed"]

MAX_SUMMARY_CHARACTERS: Final = 120
"""Of an argument in the summary: about two lines of a terminal."""

MAX_SHORT_CHARACTERS: Final = 40
"""A value this short is repeated in the summary although the preview shows it: it may be a name or a number."""

MAX_LABEL_CHARACTERS: Final = 32
"""Of an argument's name before its value: longer than any of our own, and still a third of a narrow terminal."""

SAME_AS_WHY: Final = "the same as why"
USUAL_COLUMNS: Final = 80
TAB_COLUMNS: Final = 4

_WANTS: Final[Mapping[Effect, str]] = {
    "reads": "asks before it reads",
    "writes": "wants to write",
    "external": "wants to act outside",
}
_TOLD_BY_DIFF: Final = ("edit", "edit_file", "create_file", "apply_changes")
"""Tools of the code pack: what they write is what their diff shows, and nothing else happens."""

_LOOKS: Final[Mapping[Sign, Look]] = {" ": "text", "-": "removed", "+": "added"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line to show. `gutter` is repeated as blanks where the text is folded; `other` is the line it stands for.

    `language` is the ending of the file's name, for the colours of code.
    """

    text: str = ""
    look: Look = "text"
    gutter: str = ""
    other: str | None = None
    language: str = ""


def request_rows(request: ApprovalRequest, *, number: int = 1, total: int = 1) -> list[Row]:
    """Return all of one request, from the title to the last argument.

    Of a change to files the diff says all that the arguments say: then it stands there alone, with the reason (S12).
    """
    place = f" ({number} of {total})" if total > 1 else ""
    summary = _Summary(request)
    if is_told_by_diff(request):
        return _change_rows(request, summary, place)
    return [
        Row(text=f"{request.tool} {_WANTS[request.effect]}{place}", look="title"),
        *summary.rows,
        *(Row(text=describe_link(link), look="warning", gutter="link  ") for link in request.links),
        *(Row(text=visible(note, keep=()), look="note", gutter="note  ") for note in request.preview.remarks),
        *_warning([*summary.texts, *map(str, request.links), *request.preview.remarks, _preview_text(request.preview)]),
        *([] if summary.is_whole else [Row(), *preview_rows(request.preview)]),
        *summary.in_full,
        *([Row()] if summary.passed and (summary.in_full or not summary.is_whole) else []),
        *summary.passed,
    ]


def is_told_by_diff(request: ApprovalRequest) -> bool:
    """Return whether the diff shows all that a call would do, so that its arguments need not be read."""
    preview = request.preview
    return request.tool in _TOLD_BY_DIFF and preview.kind == "diff" and bool(parse_diffs(preview.text))


def argument_rows(request: ApprovalRequest) -> list[Row]:
    """Return the arguments of a request that its diff stands for."""
    summary = _Summary(request)
    return [*summary.rows, *summary.in_full, *summary.passed]


def _change_rows(request: ApprovalRequest, summary: "_Summary", place: str) -> list[Row]:
    words = describe_call(ToolCall(id="", name=request.tool, arguments=dump_json(request.arguments)))
    title = _make_visible(f"{words.verb} {words.about}")
    why = [
        Row(text=_make_visible(line), gutter="why   " if not at else "      ") for at, line in enumerate(summary.why)
    ]
    return [
        Row(text=f"{title}?{place}", look="title"),
        *why,
        *(Row(text=describe_link(link), look="warning", gutter="link  ") for link in request.links),
        *(Row(text=visible(note, keep=()), look="note", gutter="note  ") for note in request.preview.remarks),
        *_warning([*summary.texts, *map(str, request.links), *request.preview.remarks, _preview_text(request.preview)]),
        Row(),
        *preview_rows(request.preview),
    ]


def describe_link(link: Target) -> str:
    """Return what a path really is: shown where that is not what it says."""
    return f"{visible(link.name, keep=())} leads to {visible(link.resolved, keep=())}"


def preview_rows(preview: Preview) -> list[Row]:
    """Return what would happen: a diff line by line with numbers, or the tool's own words."""
    if preview.kind == "text":
        return list(_text_rows(preview.text))
    diffs = parse_diffs(preview.text)
    if diffs is not None:
        return list(_files_rows(diffs))
    if not preview.text:
        return [Row(text="No line would change.", look="note")]
    return list(_raw_rows(preview.text))


def hunk_rows(hunk: Hunk, name: str, *, number: int, total: int) -> list[Row]:
    """Return one hunk alone."""
    title = Row(text=f"{visible(name, keep=())}, change {number} of {total}", look="heading")
    rows = _hunk_rows(hunk, _number_width([hunk]), without_cr=_is_crlf([hunk]), language=_language(name))
    return [title, *rows]


class _Summary:
    """The reason and the arguments, each on a line or two; what did not fit there is in `in_full`.

    In `passed` is what says little: on a small screen it would stand between the reason and the change.
    """

    def __init__(self, request: ApprovalRequest) -> None:
        values = request.arguments if isinstance(request.arguments, dict) else {"arguments": request.arguments}
        self._preview = request.preview
        # A tool without a preview of its own shows its arguments once, not twice.
        self.is_whole = request.preview.text == f"{request.tool} {dump_json(request.arguments)}"
        self._sides = _sides(request.preview)
        self._result = _proven_result(request.preview)
        self._why = request.why.strip()
        self.in_full: list[Row] = []
        self.texts = [request.why]
        self._also = {name: told for name, value in values.items() if (told := self._in_passing(value)) is not None}
        labels = {name: one_line(name, MAX_LABEL_CHARACTERS) for name in values if name not in self._also}
        self._width = max(map(len, ["also" if self._also else "why", *labels.values()])) + 2
        self.rows = [*self._labelled("why", self._why)]
        for name, label in labels.items():
            self.rows += self._argument(label, values[name])
        self.passed = [*self._passed()]

    @property
    def why(self) -> list[str]:
        """Return the reason in lines; nothing where there is none."""
        return self._why.split("\n") if self._why else []

    def _labelled(self, label: str, text: str) -> Iterator[Row]:
        for index, line in enumerate(text.split("\n")):
            gutter = (label if index == 0 else "").ljust(self._width)
            yield Row(text=_make_visible(line), gutter=gutter)

    def _in_passing(self, value: object) -> str | None:
        """What is said of a value that needs no line of its own: it is a default's usual one, or stands there already.

        Not where the reason has several lines: blanks at the end of one would be seen only in the argument.
        """
        is_why = value == self._why and "\n" not in self._why
        return _blank(value) or (SAME_AS_WHY if is_why else None)

    def _passed(self) -> Iterator[Row]:
        if self._also:
            self.texts += self._also
            told = [_make_visible(f"{_key(name)} {said}") for name, said in self._also.items()]
            for index, line in enumerate(_joined(told, USUAL_COLUMNS - self._width)):
                yield Row(text=line, look="note", gutter=("" if index else "also").ljust(self._width))

    def _argument(self, label: str, value: object) -> Iterator[Row]:
        # Every argument is here, whatever its value: a model that could leave one out by its value would.
        if isinstance(value, str) and (told := self._find_in_preview(value)):
            yield Row(text=told, look="note", gutter=label.ljust(self._width))
            return
        text = json.dumps(value, ensure_ascii=False)
        if len(text) <= MAX_SUMMARY_CHARACTERS:
            self.texts += _strings(value)
            yield from self._labelled(label, text)
        elif (items := _objects(value)) and all(map(self._is_brief, items)):
            yield from self._labelled(label, "\n".join(self._items(items)))
        else:
            self.texts += _strings(value)
            yield from self._cut(label, value, text)

    def _cut(self, label: str, value: object, text: str) -> Iterator[Row]:
        cut = one_line(text, MAX_SUMMARY_CHARACTERS)
        yield Row(text=f"{cut} (in full below)", gutter=label.ljust(self._width))
        self.in_full += [Row(), Row(text=f"{label} in full", look="heading")]
        self.in_full += _text_rows(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2))

    def _is_brief(self, item: Mapping[str, object]) -> bool:
        """Whether an object can stand on a line: each value is short, or the preview shows it."""
        return all(len(self._leaf(value)) <= MAX_SUMMARY_CHARACTERS for value in item.values())

    def _items(self, items: Sequence[Mapping[str, object]]) -> Iterator[str]:
        """Each object on a line; what is null, false or empty in all of them is said once."""
        common = set.intersection(*({(name, said) for name in item if (said := _blank(item[name]))} for item in items))
        names = {name for name, _ in common}
        for number, item in enumerate(items, 1):
            self.texts += [text for name in item for text in (name, *self._unseen(item[name]))]
            fields = [f"{_key(name)} {self._leaf(value)}" for name, value in item.items() if name not in names]
            yield f"{number}. {', '.join(fields)}"
        if common:
            yield "each: " + ", ".join(f"{_key(name)} {said}" for name, said in sorted(common))

    def _leaf(self, value: object) -> str:
        """A value inside of an argument. Without quotation marks, no text can pass for "shown below"."""
        told = self._find_in_preview(value) if isinstance(value, str) else None
        return told or json.dumps(value, ensure_ascii=False)

    def _unseen(self, value: object) -> Iterator[str]:
        """The texts in a value that the preview does not show."""
        return (text for text in _strings(value) if text is not value or not self._find_in_preview(text))

    def _find_in_preview(self, value: str) -> str | None:
        """How the preview already shows this text, to the letter; None where it does not."""
        if len(value) <= MAX_SHORT_CHARACTERS or self.is_whole:
            return None
        if any(value in side for side in self._sides):
            return "shown below"
        return "the whole text after the change below" if value == self._result else None


def _sides(preview: Preview) -> tuple[str, ...]:
    """The texts that the preview shows line by line."""
    if preview.kind == "text":
        return (preview.text,)
    hunks = [hunk for diff in parse_diffs(preview.text) or () for hunk in diff.hunks]
    return tuple("".join(side) for hunk in hunks for side in (hunk.old, hunk.new))


def _proven_result(preview: Preview) -> str | None:
    """The text that a diff leads to, where the hash of what it begins with proves that no change is missing from it.

    Without that proof a diff that was cut, or of something else, would stand for lines that nobody has seen.
    """
    diff = parse_diff(preview.text) if preview.kind == "diff" else None
    if diff is None or preview.editable is None:
        return None
    before = restore_original(preview.editable, diff)
    return preview.editable if before is not None and content_hash(before) == preview.base else None


def _preview_text(preview: Preview) -> str:
    """The text of a preview as far as its line ends are not told apart."""
    diffs = parse_diffs(preview.text) if preview.kind == "diff" else None
    if diffs is None:
        return preview.text
    return "".join(diff.text.replace("\r\n", "\n") if _is_crlf(diff.hunks) else diff.text for diff in diffs)


def _warning(texts: Sequence[str]) -> Iterator[Row]:
    """How many characters a person would not have seen; XA6 wants them counted, not only shown."""
    kinds = Counter(finding.kind for text in texts for finding in suspicious(text))
    if count := kinds.total():
        told = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
        many = f"{count}" if count < MAX_FINDINGS_SHOWN else f"{count} or more"
        yield Row(
            text=f"{many} characters that would not be seen are spelled out ({told}).", look="warning", gutter="! "
        )


def _joined(pieces: Sequence[str], columns: int) -> list[str]:
    """Pieces with commas, on lines that are folded between two of them where they can be."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) + len(", ,") <= columns:
            lines[-1] += f", {piece}"
        else:
            lines[-1] += ","
            lines.append(piece)
    return lines


def _blank(value: object) -> str | None:
    """How null, false and the empty text are written; None for every other value."""
    return json.dumps(value) if value is None or value is False or value == "" else None


def _objects(value: object) -> list[dict[str, object]]:
    """The objects that a value is a list of; nothing where it is anything else."""
    is_list = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return list(value) if is_list and isinstance(value, list) else []


def _key(name: str) -> str:
    """A name inside of a line: one that is more than a word is quoted, so that it cannot pass for several."""
    return name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (str(key), *_strings(item))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _text_rows(text: str) -> Iterator[Row]:
    for line in text.removesuffix("\n").split("\n"):
        yield Row(text=_make_visible(line), gutter="│ ")


def _raw_rows(text: str) -> Iterator[Row]:
    """A diff that we cannot read is shown as it is, with its own signs behind our gutter."""
    looks: dict[str, Look] = {"+": "added", "-": "removed"}
    for line in text.removesuffix("\n").split("\n"):
        yield Row(text=_make_visible(line), gutter="│ ", look=looks.get(line[:1], "text"))


def _files_rows(diffs: Sequence[Diff]) -> Iterator[Row]:
    for number, diff in enumerate(diffs):
        if number:
            yield Row()
        yield from _diff_rows(diff)


def _diff_rows(diff: Diff) -> Iterator[Row]:
    without_cr = _is_crlf(diff.hunks)
    ends = ", CRLF line ends" if without_cr else ""
    counts = f"+{diff.count('+')} -{diff.count('-')}"
    yield Row(text=f"{visible(diff.name, keep=())}  {counts}{ends}", look="heading")
    width = _number_width(diff.hunks)
    for hunk in diff.hunks:
        yield from _hunk_rows(hunk, width, without_cr=without_cr, language=_language(diff.name))


def _language(path: str) -> str:
    """The ending of a file's name."""
    return path.rpartition("/")[2].rpartition(".")[2]


def _hunk_rows(hunk: Hunk, width: int, *, without_cr: bool, language: str) -> Iterator[Row]:
    yield Row(text=visible(hunk.heading), look="note")
    old, new = hunk.old_start, hunk.new_start
    others = _counterparts(hunk.lines)
    for index, line in enumerate(hunk.lines):
        old += line.sign != "+"
        new += line.sign != "-"
        number = old if line.sign == "-" else new
        text = _line_text(line, without_cr=without_cr)
        other = _line_text(hunk.lines[others[index]], without_cr=without_cr) if index in others else None
        gutter = f"{number:>{width}} {line.sign} "
        yield Row(text=text, other=other, look=_LOOKS[line.sign], gutter=gutter, language=language)
        if not line.is_ended:
            yield Row(text="no newline at the end", look="note", gutter=" " * (width + 3))


def _counterparts(lines: Sequence[DiffLine]) -> dict[int, int]:
    """Which removed line became which added one: those of a block, in their order."""
    found: dict[int, int] = {}
    removed: list[int] = []
    for index, line in enumerate(lines):
        if line.sign == "-":
            removed.append(index)
        elif line.sign == "+" and removed:
            found[index] = removed.pop(0)
            found[found[index]] = index
        else:
            removed.clear()
    return found


def _line_text(line: DiffLine, *, without_cr: bool) -> str:
    text = _make_visible(line.body.removesuffix("\r") if without_cr else line.body)
    if line.sign == " ":
        return text
    kept = text.rstrip(" ")
    return kept + "·" * (len(text) - len(kept))  # blanks at the end are a change like any other


def _make_visible(line: str) -> str:
    """One line as it is shown; a tab is drawn, so that it never passes for blanks."""
    text = visible(line)
    if "\t" not in text:
        return text
    *pieces, last = text.split("\t")
    drawn = ""
    for piece in pieces:
        drawn += piece
        drawn += "→".ljust(TAB_COLUMNS - len(drawn) % TAB_COLUMNS)
    return drawn + last


def _is_crlf(hunks: Sequence[Hunk]) -> bool:
    """Whether every line ends so; then it is said once instead of on every line."""
    lines = [line for hunk in hunks for line in hunk.lines if line.is_ended]
    return bool(lines) and all(line.body.endswith("\r") for line in lines)


def _number_width(hunks: Sequence[Hunk]) -> int:
    return len(str(max((max(h.old_start + len(h.old), h.new_start + len(h.new)) for h in hunks), default=0)))
