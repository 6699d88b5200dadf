"""The entries of a run on the page: what was said, each step with its calls, what was asked and answered."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Final

from toolroll.apps.export.html import PageBudget, escape_text
from toolroll.apps.export.run_tree import RunTree
from toolroll.apps.export.timeline import CallView, DamageView, Entry, NoteView, TurnView, build_timeline
from toolroll.journal.records import (
    ApprovalAnswer,
    CallEnded,
    MessageAdded,
    MessagesCompacted,
    OutputsTrimmed,
    RunBegan,
    RunEnded,
    StateSet,
    StopDecided,
    UsageAdded,
)
from toolroll.kernel.data.messages import (
    Message,
    Part,
    ReasoningBlock,
    ServerBlock,
    TextPart,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.safe.text import one_line

SHORT_CHARACTERS: Final = 120
"""Of the arguments beside the name of a call."""
ENTRY_CHARACTERS: Final = 200
"""What an entry takes beside its texts, about: a page of empty entries has an end, too."""


class EntryWriter:
    """Writes the entries of a run and, inside of the calls that made them, of its parts."""

    def __init__(self, run: RunTree, room: PageBudget) -> None:
        self._run = run
        self._room = room
        self._parts = {part.row.run_id: part for part in run.parts}

    def html(self) -> Iterator[str]:
        """Yield one piece an entry, until the page is full; then how much is missing."""
        found = build_timeline(self._run.recording, self._run.times)
        for entry in found:
            if self._room.is_full:
                left = sum(number >= entry.index for number, _ in self._run.recording)
                yield f'<p class="cut">The page is full. {left:,} records more: {escape_text(self._whole)}</p>'
                return
            self._room.left -= ENTRY_CHARACTERS
            yield self._entry(entry)

    @property
    def _whole(self) -> str:
        return f"toolroll runs export {self._run.row.run_id} --format jsonl"

    def _where(self, index: int) -> str:
        return f"Whole: record {index} of {self._whole}"

    def _entry(self, entry: Entry) -> str:
        if isinstance(entry, TurnView):
            return self._turn(entry)
        if isinstance(entry, DamageView):
            title = f"Record {entry.index} is damaged: {escape_text(entry.why)}"
            return f'<article class="note bad"><h3>{title}</h3></article>'
        match entry.record:
            case RunBegan():
                return ""
            case MessageAdded():
                return self._render_message(entry, entry.record)
            case _:
                title, text = self._note(entry)
                body = _pre(text) if text else ""
                return f'<article class="note"><h3>{_when(entry.at)}{title}</h3>{body}</article>'

    def _note(self, entry: NoteView) -> tuple[str, str]:
        """What it says, and a longer text."""
        where = self._where(entry.index)
        match entry.record:
            case RunEnded() | StopDecided():
                detail = f"{entry.record.stop_reason} {entry.record.stop_detail}"
                return f"{entry.record.kind.capitalize()}: {self._room.text(detail.strip(), where=where)}", ""
            case OutputsTrimmed():
                return f"{len(entry.record.outputs)} outputs were replaced by references for the model", ""
            case MessagesCompacted():
                told = f"{entry.record.through} messages were replaced by a summary for the model"
                return told, self._room.text(entry.record.summary, where=where)
            case UsageAdded():
                return f"{escape_text(entry.record.name)}: {entry.record.usage.total:,} tokens", ""
            case StateSet():
                value = json.dumps(entry.record.value, ensure_ascii=False)
                return f"Kept with the run: {escape_text(entry.record.name)}", self._room.text(value, where=where)
            case _:
                return escape_text(entry.record.kind), ""

    def _render_message(self, entry: NoteView, said: MessageAdded) -> str:
        who = "The agent told the model" if said.about else "Said"
        text = self._room.text(_text(said.message), where=self._where(entry.index))
        return f'<article class="said"><h2>{_when(entry.at)}{who}</h2><div class="text">{text}</div></article>'

    def _turn(self, turn: TurnView) -> str:
        answered, where = turn.answered, self._where(turn.index)
        origin = answered.message.origin
        figures = [f"{answered.duration_s:.1f} s", f"{answered.usage.total:,} tokens"]
        figures += [] if answered.cost is None else [f"${answered.cost:.4f}"]
        figures += [escape_text(origin.model)] if origin else []
        figures += ["taken over"] if turn.is_inherited else []
        head = f'<h2>{_when(turn.at)}Step {turn.number} <span class="dim">{" · ".join(figures)}</span></h2>'
        text = f'<div class="text">{self._room.text(answered.message.text, where=where)}</div>'
        aside = "".join(self._blocks(turn))
        calls = "".join(self._call(call, turn) for call in turn.calls.values())
        kept = "".join(self._render_state(turn))
        anchor = "" if self._run.row.parent else f' id="step-{turn.number}"'
        return f'<article class="turn"{anchor}>{head}{aside}{text}{calls}{kept}</article>'

    def _blocks(self, turn: TurnView) -> Iterator[str]:
        where = self._where(turn.index)
        for block in turn.answered.message.blocks:
            if isinstance(block, ReasoningBlock) and block.text:
                yield _folded("Reasoning", self._room.text(block.text, where=where))
            elif isinstance(block, ServerBlock):
                sources = "\n".join(source.url for source in block.sources)
                text = self._room.text(f"{block.summary}\n{sources}".strip(), where=where)
                yield _folded(f"{escape_text(block.tool)} by the provider", text)

    def _render_state(self, turn: TurnView) -> Iterator[str]:
        if turn.kept:
            values = "\n".join(f"{one.name}: {json.dumps(one.value, ensure_ascii=False)}" for one in turn.kept)
            yield _folded("Kept with the run", self._room.text(values, where=self._where(turn.index)))

    def _call(self, call: CallView, turn: TurnView) -> str:
        where = self._where(call.index)
        inner = f"<h3>Arguments</h3>{_pre(self._room.text(_pretty(call.arguments), where=self._where(turn.index)))}"
        for asked in call.asked:
            why = f"Asked: {escape_text(asked.why)}" if asked.why else "Asked"
            inner += f'<h3 class="ask">{why}</h3>{_pre(self._room.diff(asked.preview, where=where))}'
        inner += "".join(self._decision(one, where) for one in call.decided)
        part = self._parts.get(f"{self._run.row.run_id}.{call.call_id}")
        if part is not None:
            inner += f"<h3>In its own run</h3>{''.join(EntryWriter(part, self._room).html())}"
        if call.ended is not None:
            text = self._room.text(_content(call.ended.result), where=_of_whole(call, where))
            inner += f"<h3>Result</h3>{_pre(text)}"
        short = escape(one_line(call.arguments, SHORT_CHARACTERS))
        head = f"{_mark(call.ended)} <b>{escape_text(call.name)}</b> {short} {_took(call.ended)}"
        return f"<details><summary>{head}</summary>{inner}</details>"

    def _decision(self, decided: ApprovalAnswer, where: str) -> str:
        kind, word = ("good", "Approved") if decided.decision == "approve" else ("bad", "Rejected")
        why = f": {self._room.text(decided.reason, where=where)}" if decided.reason else ""
        edited = ""
        if decided.edited is not None:
            edited = f"<h3>Edited to</h3>{_pre(self._room.text(decided.edited, where=where))}"
        return f'<h3 class="{kind}">{word}{why}</h3>{edited}'


def _of_whole(call: CallView, where: str) -> str:
    ref = call.ended.result.output_ref if call.ended else None
    return where if ref is None else f"Whole: toolroll outputs show {ref.id}"


def _pre(text: str) -> str:
    return f'<pre tabindex="0">{text}</pre>'  # reached by the keyboard, so that it can be scrolled there


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>{_pre(text)}</details>"


def _mark(ended: CallEnded | None) -> str:
    if ended is None:
        return '<span class="ask">unfinished</span>'
    return f'<span class="bad">{escape_text(ended.code or "error")}</span>' if ended.result.is_error else "✓"


def _took(ended: CallEnded | None) -> str:
    if ended is None:
        return ""
    ref = ended.result.output_ref
    size = ref.byte_size if ref else len(_content(ended.result).encode("utf-8", "surrogatepass"))
    return f'<span class="dim">{ended.duration_ms:,.0f} ms, {size:,} bytes</span>'


def _when(at: float | None) -> str:
    if at is None:
        return ""
    when = datetime.fromtimestamp(at, UTC)
    return f'<time class="dim" datetime="{when.isoformat(timespec="milliseconds")}">{when:%H:%M:%S}</time> '


def _pretty(arguments: str) -> str:
    try:
        value = json.loads(arguments)
        return json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, Mapping) else arguments
    except (ValueError, RecursionError):
        return arguments


def _text(message: Message) -> str:
    match message:
        case UserMessage():
            return "".join(map(_part, message.content))
        case ToolResults():
            return "\n".join(f"{one.name}: {_content(one)}" for one in message.results)
        case _:
            return message.text


def _content(result: ToolMessage) -> str:
    return result.content if isinstance(result.content, str) else "\n".join(map(_part, result.content))


def _part(part: Part) -> str:
    return part.text if isinstance(part, TextPart) else f"[{part.type}: {part.media_type}, {len(part.data):,} bytes]"
