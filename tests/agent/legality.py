"""The providers' rules for a conversation, written down from their documentation: nothing here is our code's.

Each wire is looked at in its own words, in the JSON that would be sent.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.models.histories import model_of

from toolroll.kernel.data.messages import Message
from toolroll.models.model import Wire

ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
WIRES: tuple[Wire, ...] = ("anthropic", "openai", "chat")

MODELS = {wire: model_of(wire) for wire in WIRES}

Json = dict[str, Any]


def problems(messages: Sequence[Message], *, is_request: bool = False) -> list[str]:
    """All rules that the conversation breaks, over any wire; a request must also leave the next word to the model."""
    rules = {"anthropic": anthropic, "openai": responses, "chat": chat}
    found: list[str] = []
    for wire in WIRES:
        model = MODELS[wire]
        sent = [one for message in messages for one in model.message_json(message)]
        found += [f"{wire}: {problem}" for problem in rules[wire](sent)]
        if is_request and sent[-1].get("role") == "assistant":
            found.append(f"{wire}: the last word is the model's")
    return found


def anthropic(sent: Sequence[Json]) -> Iterator[str]:
    """Messages API: roles, non-empty content, each tool_use answered once, in the next message, before all else."""
    yield from ("the first message is not the user's" for one in sent[:1] if one["role"] != "user")
    seen: set[str] = set()
    for place, one in enumerate(sent):
        blocks: list[Json] = one["content"]
        yield from _content(blocks)
        uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        yield from (f"tool_use id {name!r} stands twice" for name in uses if name in seen)
        yield from (f"tool_use id {name!r} is malformed" for name in uses if not ID.fullmatch(name))
        yield from (f"input of {name!r} is no object" for name in _without_input(blocks))
        seen.update(uses)
        if blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
            yield "the final block of a turn is thinking"
        if len(set(uses)) != len(uses):
            yield "two tool_use blocks of one id"
        yield from _answers(uses, sent[place + 1] if place + 1 < len(sent) else None)
        yield from _orphans(blocks, sent[place - 1] if place else None)


def _content(blocks: Sequence[Json]) -> Iterator[str]:
    if not blocks:
        yield "a message without content"
    yield from ("blank text" for block in blocks if block["type"] == "text" and not block["text"].strip())


def _without_input(blocks: Iterable[Json]) -> Iterator[str]:
    yield from (block["id"] for block in blocks if block["type"] == "tool_use" and not isinstance(block["input"], dict))


def _answers(uses: Sequence[str], after: Json | None) -> Iterator[str]:
    if not uses:
        return
    blocks: list[Json] = after["content"] if after is not None and after["role"] == "user" else []
    first = blocks[: len(uses)]
    if [block.get("tool_use_id") for block in first] != list(uses):
        yield f"the results of {list(uses)} are not the first blocks of the next message, in order"


def _orphans(blocks: Sequence[Json], before: Json | None) -> Iterator[str]:
    asked = [block["id"] for block in before["content"] if block["type"] == "tool_use"] if before else []
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    yield from (f"tool_result {name!r} without its call" for name in answered if name not in asked)
    if len(set(answered)) != len(answered):
        yield "two results of one call"


def responses(sent: Sequence[Json]) -> Iterator[str]:
    """Responses API: every function_call has one output after it, no output is alone, reasoning leads to something."""
    calls = [one["call_id"] for one in sent if one.get("type") == "function_call"]
    outputs = [one["call_id"] for one in sent if one.get("type") == "function_call_output"]
    if len(set(calls)) != len(calls):
        yield "two function calls of one id"
    if sorted(calls) != sorted(outputs):
        yield f"calls {calls} and outputs {outputs} do not pair up"
    asked: set[str] = set()
    for place, one in enumerate(sent):
        match one.get("type"):
            case "function_call":
                asked.add(one["call_id"])
            case "function_call_output" if one["call_id"] not in asked:
                yield "an output before its call"
            case "reasoning" if sent[place + 1 : place + 2] == [] or sent[place + 1].get("role") == "user":
                yield "reasoning without the item that follows it"


def chat(sent: Sequence[Json]) -> Iterator[str]:
    """Chat Completions: the messages after tool_calls are their results, all of them, and there are no others."""
    waiting: list[str] = []
    for one in sent:
        if one["role"] == "tool":
            if one["tool_call_id"] not in waiting:
                yield f"a tool message {one['tool_call_id']!r} that answers nothing"
            else:
                waiting.remove(one["tool_call_id"])
            continue
        if waiting:
            yield f"no results of {waiting}"
        waiting = [call["id"] for call in one.get("tool_calls") or ()]
        yield from ("a call without an id" for name in waiting if not name)
        if len(set(waiting)) != len(waiting):
            yield "two tool calls of one id"
    if waiting:
        yield f"no results of {waiting} at the end"
