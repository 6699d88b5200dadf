"""Recorded runs in lines for a reader, and in fields for a program."""

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic_core import to_jsonable_python

from toolroll.journal.journal import Recording
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    MessageAdded,
    MessagesCompacted,
    ModelTurn,
    OutputsTrimmed,
    Record,
    RunBegan,
    RunEnded,
    StateSet,
    StopDecided,
    UsageAdded,
)
from toolroll.kernel.data.messages import AssistantMessage, Message, TextPart, UserMessage
from toolroll.safe.text import one_line

MAX_LINE_CHARACTERS: Final = 100
DAMAGED: Final = "damaged"
"""In the place of the kind of a record that cannot be read."""


def record_fields(number: int, record: Record) -> dict[str, object]:
    """Return one record for a program."""
    return {"index": number, **to_jsonable_python(record, bytes_mode="base64", fallback=str)}


def format_records(recording: Recording) -> Iterator[str]:
    """Yield the whole record of a run, a line each; what is damaged has a line in its place."""
    damage = list(recording.damaged)
    for number, record in recording:
        while damage and damage[0][0] < number:
            yield _damage_line(*damage.pop(0))
        told = describe_record(record).strip().replace("\n", " ⏎ ")
        shown = one_line(told, MAX_LINE_CHARACTERS, is_spelled=isinstance(record, MessageAdded))  # as in a list of runs
        yield f"{number:>4}  {record.kind:<10} {shown}".rstrip()
    yield from (_damage_line(*one) for one in damage)
    for note in recording.notes:
        yield f"note: {note}"


def _damage_line(number: int, why: str) -> str:
    return f"{number:>4}  {DAMAGED:<10} {one_line(why, MAX_LINE_CHARACTERS)}"


def describe_record(record: Record) -> str:
    """Return what one record of a run says, as text."""
    match record:
        case RunBegan():
            fork = f", forked from {record.forked_from} at {record.at}" if record.forked_from else ""
            return f"{record.model}{fork}, tools: {', '.join(record.tools) or 'none'}"
        case MessageAdded():
            return _text(record.message)
        case ModelTurn():
            calls = "".join(f" [{call.name} {call.arguments}]" for call in record.message.calls)
            return f"{record.message.text}{calls} ({record.usage.total:,} tokens, {record.duration_s:.1f} s)"
        case CallEnded():
            content = record.result.content
            text = content if isinstance(content, str) else "".join(p.text for p in content if isinstance(p, TextPart))
            mark = f"{record.code}: " if record.result.is_error else ""
            return f"{record.result.call_id} {record.result.name}: {mark}{text}"
        case RunEnded() | StopDecided():
            return f"{record.stop_reason} {record.stop_detail}"
        case OutputsTrimmed():
            return f"{len(record.outputs)} outputs: " + ", ".join(
                f"{call_id} -> {ref}" for call_id, ref in record.outputs
            )
        case MessagesCompacted():
            return f"{record.through} messages: {record.summary}"
        case _:
            return describe_call(record)


def describe_call(record: CallIntended | ApprovalQuestion | ApprovalAnswer | StateSet | UsageAdded) -> str:
    """Return what a record about a call says, as text."""
    match record:
        case CallIntended():
            return f"{record.call.id} {record.call.name} ({record.effect}) {record.call.arguments}"
        case ApprovalQuestion():
            return f"{record.call_id} {record.tool}: {record.why} {record.preview}"
        case ApprovalAnswer():
            return f"{record.call_id} {record.decision} {record.reason or ''}"
        case StateSet():
            return f"{record.name}: {_format_value(record.value)}"
        case _:
            return f"{record.call_id} {record.name}: {record.usage.total:,} tokens in {record.run_id}"


def _format_value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {one}" for name, one in value.items() if one is not None)
    return str(value)


def _text(message: Message) -> str:
    match message:
        case UserMessage():
            return "".join(part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in message.content)
        case AssistantMessage():
            return message.text
        case _:
            return f"[{len(message.results)} results]"
