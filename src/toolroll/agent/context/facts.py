"""What a compaction must not lose, found in the conversation itself: references, paths, todos. No model is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.agent.context.keeping import Keeper
from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.data.messages import AssistantMessage, Message, TextPart, ToolCall, ToolMessage, ToolResults
from toolroll.kernel.data.serialize import dump_json
from toolroll.outputs.names import EXEMPT
from toolroll.outputs.pack import SHORT_CHARACTERS
from toolroll.safe.text import one_line

TODOS: Final = "todos"
"""What is kept with a run under this name is its plan."""
REFERENCES: Final = "earlier_references"
"""The name under which references that no longer fit are kept."""
BUNDLE: Final = "earlier_outputs"
"""The name under which short outputs are kept together."""
PATH_NAMES: Final = frozenset({"path", "paths", "file", "files", "file_path", "filename", "folder", "directory"})
"""The parameters that hold paths, in our tools and in most others."""
CALL_CHARACTERS: Final = 80
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
    calls = _calls(messages)
    todos = kept.get(TODOS)
    return Facts(
        references=tuple(_references(messages, calls, late)),
        paths=tuple(dict.fromkeys(path for call in calls.values() for path in _paths(call))),
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


def bundled(messages: Sequence[Message], late: Mapping[str, str], keeper: Keeper) -> tuple[str, ...]:
    """A reference to all short outputs of these messages: each has its own, but a list of those says little in much."""
    calls = _calls(messages)
    results = [one for message in messages if isinstance(message, ToolResults) for one in message.results]
    left = [one for one in results if _is_short(one) and one.call_id not in late and one.name not in EXEMPT]
    if not left:
        return ()
    text = "\n".join(f"### {one.name} {calls[one.call_id].arguments}\n{_text(one)}" for one in left)
    ref = keeper.keep(BUNDLE, BUNDLE, text + "\n")
    return () if ref is None else (f"{ref.id}: {len(left)} short outputs together, each under '### tool arguments'",)


def _is_short(result: ToolMessage) -> bool:
    return result.output_ref is None or result.output_ref.byte_size < SHORT_CHARACTERS


def _text(result: ToolMessage) -> str:
    content = result.content
    return content if isinstance(content, str) else "\n".join(one.text for one in content if isinstance(one, TextPart))


def _calls(messages: Iterable[Message]) -> dict[str, ToolCall]:
    turns = (message for message in messages if isinstance(message, AssistantMessage))
    return {call.id: call for turn in turns for call in turn.calls}


def _references(messages: Iterable[Message], calls: Mapping[str, ToolCall], late: Mapping[str, str]) -> Iterator[str]:
    for message in messages:
        for result in message.results if isinstance(message, ToolResults) else ():
            ref = result.output_ref
            ref_id = late.get(result.call_id) if ref is None or _is_short(result) else ref.id
            if ref_id is None:
                continue
            size = "" if ref is None else f", {ref.byte_size:,} bytes, {ref.line_count:,} lines"
            call = f"{result.name} {calls[result.call_id].arguments}"
            yield f"{ref_id}: {one_line(call, CALL_CHARACTERS)}{size}"


def _paths(call: ToolCall) -> Iterator[str]:
    try:
        arguments = parse_object(call.arguments)
    except JsonRefused:
        return
    for name, value in arguments.items():
        if name in PATH_NAMES:
            found = value if isinstance(value, list) else [value]
            yield from (one for one in found if isinstance(one, str) and 0 < len(one) <= MAX_PATH_CHARACTERS)
