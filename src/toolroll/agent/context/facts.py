"""What a compaction must not lose, found in the conversation itself: references, paths, todos. No model is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.agent.context.keeping import Keeper
from toolroll.errors import JsonRefused
from toolroll.kernel.conversation import AssistantMessage, Message, ToolResults
from toolroll.kernel.messages import ToolCall
from toolroll.kernel.parse import parse_object
from toolroll.kernel.serialize import dump_json
from toolroll.safe.text import one_line

TODOS: Final = "todos"
"""What is kept with a run under this name is its plan."""
REFERENCES: Final = "earlier_references"
"""The name under which references that no longer fit are kept."""
PATH_NAMES: Final = frozenset({"path", "paths", "file", "files", "file_path", "filename", "folder", "directory"})
"""The parameters that hold paths, in our tools and in most others."""
ARGUMENTS_CHARACTERS: Final = 60
MAX_PATH_CHARACTERS: Final = 200
MAX_TODOS_CHARACTERS: Final = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Lines for a model to read, the oldest first."""

    references: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    todos: str = ""


def facts_in(messages: Sequence[Message], kept: Mapping[str, object], late: Mapping[str, str]) -> Facts:
    """The facts of that part of a conversation; `late` are references that were made when outputs were trimmed."""
    calls = [call for message in messages if isinstance(message, AssistantMessage) for call in message.calls]
    todos = kept.get(TODOS)
    return Facts(
        references=tuple(_references(messages, {call.id: call for call in calls}, late)),
        paths=tuple(dict.fromkeys(path for call in calls for path in _paths(call))),
        todos="" if todos is None else one_line(dump_json(todos), MAX_TODOS_CHARACTERS),
    )


def within(lines: Sequence[str], characters: int) -> tuple[str, ...]:
    """The newest lines that fit."""
    found: list[str] = []
    for line in reversed(lines):
        characters -= len(line) + 1
        if characters < 0:
            break
        found.append(line)
    return tuple(reversed(found))


def referred(lines: Sequence[str], characters: int, keeper: Keeper | None) -> tuple[str, ...]:
    """The newest references that fit, after one that leads to all the others: none of them is ever lost."""
    shown = within(lines, characters)
    older = lines[: len(lines) - len(shown)]
    if not older or keeper is None:
        return shown
    ref = keeper.keep(REFERENCES, REFERENCES, "\n".join(older) + "\n")
    if ref is None:
        return shown
    return (f"{ref.id}: the list of {len(older)} earlier references, a line each, with the first output first", *shown)


def _references(messages: Iterable[Message], calls: Mapping[str, ToolCall], late: Mapping[str, str]) -> Iterator[str]:
    for message in messages:
        for result in message.results if isinstance(message, ToolResults) else ():
            ref, call = result.output_ref, calls.get(result.call_id)
            ref_id = late.get(result.call_id) if ref is None else ref.id
            if ref_id is None:
                continue
            size = "" if ref is None else f", {ref.byte_size:,} bytes, {ref.line_count:,} lines"
            arguments = "" if call is None else f" {one_line(call.arguments, ARGUMENTS_CHARACTERS)}"
            yield f"{ref_id}: {one_line(result.name, ARGUMENTS_CHARACTERS)}{arguments}{size}"


def _paths(call: ToolCall) -> Iterator[str]:
    try:
        arguments = parse_object(call.arguments)
    except JsonRefused:
        return
    for name, value in arguments.items():
        if name in PATH_NAMES:
            found = value if isinstance(value, list) else [value]
            yield from (one for one in found if isinstance(one, str) and 0 < len(one) <= MAX_PATH_CHARACTERS)
