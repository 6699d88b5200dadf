"""A turn that a model wrote as JSON, read tolerantly: in a fence, after words, in other formats. Pure.

What is neither a call nor an answer is text.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from toolroll.kernel.data.messages import AssistantBlock, CallBlock, ReasoningBlock, TextBlock, ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.models.chat.response import minted
from toolroll.models.model import ModelResponse

MAX_OBJECTS: Final = 20
"""As many calls as the largest models make in one turn; each place that could begin one costs a look at the rest."""

_DECODER: Final = json.JSONDecoder()
_NAMES: Final = ("tool", "name", "function", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_FENCE: Final = "```"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a text comes to: words, and calls by name and arguments."""

    text: str
    calls: tuple[tuple[str, str], ...] = ()


def read_turn(response: ModelResponse, *, as_json: bool = False) -> ModelResponse:
    """The turn behind what was written; calls that the server has found itself stay as they are.

    `as_json` where the answer was asked for by a schema: then a text in it is JSON too.
    """
    message = response.message
    if message.calls:
        return response
    written = written_in(message.text, as_json=as_json)
    calls = enumerate(written.calls)
    blocks: tuple[AssistantBlock, ...] = (
        *(block for block in message.blocks if isinstance(block, ReasoningBlock)),
        *([TextBlock(text=written.text)] if written.text else ()),
        *(
            CallBlock(call=ToolCall(id=minted(response.response_id, n), name=of, arguments=raw))
            for n, (of, raw) in calls
        ),
    )
    stop = "tool_calls" if written.calls and response.stop == "end" else response.stop
    return replace(response, message=replace(message, blocks=blocks), stop=stop)


def written_in(text: str, *, as_json: bool = False) -> Written:
    """The calls in a text, else the answer in it, else the text itself."""
    objects = list(_objects(text))
    calls = tuple(call for _, value in objects for call in _calls(value))
    if calls:
        before = text[: objects[0][0]].partition(_FENCE)[0]
        return Written(text=before.strip(" \n\t["), calls=calls)
    answers = [value["answer"] for _, value in objects if "answer" in value]
    if answers:
        return Written(text="\n\n".join(_shown(one, as_json=as_json) for one in answers))
    return Written(text=text)


def _shown(answer: object, *, as_json: bool) -> str:
    return answer if isinstance(answer, str) and not as_json else dump_json(answer)


def _objects(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The objects in a text, each with its place. What is broken is passed over."""
    at = text.find("{")
    for _ in range(MAX_OBJECTS):
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield at, value
        at = text.find("{", end)


def _calls(value: object) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping):
        return
    listed = value.get("tool_calls")
    if isinstance(listed, list):
        for one in listed:
            yield from _calls(one)
        return
    inner = value.get("function")
    if isinstance(inner, Mapping):
        yield from _calls(inner)
        return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in _ARGUMENTS if isinstance(value.get(key), Mapping | str)), None)
    if isinstance(name, str) and given is not None:
        yield name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    elif isinstance(name, str) and value.keys() == {"tool"}:
        yield name, "{}"
