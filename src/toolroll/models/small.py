"""Tools for models that cannot call them: `SmallModel` asks for each turn as one JSON object, a call or an answer.

The functions below it encode such a request and read the calls out of the text. Measured with a model of 1.5 billion
parameters: native calls 0 of 10, asked for one object 10 of 10. The schema beside the request makes a server that knows
schemas hold even a smaller model to it.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, assert_never, cast

from toolroll.kernel.data.messages import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    Message,
    Origin,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.serialize import dump_json, replace_surrogates
from toolroll.models.chat.model import ChatModel
from toolroll.models.chat.request import ChatOptions, head, message_json
from toolroll.models.chat.response import make_call_id
from toolroll.models.model import Delta, ModelRequest, ModelResponse, ReasoningDelta
from toolroll.models.parts import arguments_to_send
from toolroll.models.scripted import split_into_deltas
from toolroll.models.settings import CHOICE_WORDS, SettingRules
from toolroll.models.wire_json import Json

HOW: Final = (
    "You can use tools. Reply with exactly one JSON object and nothing else.\n"
    'To use a tool: {"tool": "NAME", "arguments": {...}}. Its result comes in the next message.\n'
    'When you know the answer: {"answer": ...}.\n'
    "The tools, with the JSON Schema of their arguments:"
)

ANSWER: Final = "the.answer"
"""A dot stands in no tool's name."""

MAX_CALL_DEPTH: Final = 5
"""How deep models wrap a call: a list of calls, a call, its function."""
MAX_OBJECTS: Final = 20
"""As many calls as the largest models make in one turn; each place that could begin one costs a look at the rest."""

_DECODER: Final = json.JSONDecoder()
_NAMES: Final = ("tool", "name", "function", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_FENCE: Final = "```"


class SmallModel(ChatModel):
    """A chat model whose calls are JSON in its text. What it writes is shown when it is whole."""

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the reasoning while it is written, then the call or the answer."""
        pieces = cast("AsyncGenerator[Delta | ModelResponse, None]", super().respond(request, stream=stream))
        has_tools = offers_tools(request)
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, ModelResponse):
                    response = read_turn(piece, as_json=request.output_schema is not None) if has_tools else piece
                    for delta in _find_unshown(response) if has_tools and stream else ():
                        yield delta
                    yield response
                elif not has_tools or isinstance(piece, ReasoningDelta):
                    yield piece

    def setting_rules(self) -> SettingRules:
        """Return what the server takes; a turn is one JSON object, and so one call at most."""
        rules = self._options.rules
        return replace(rules, takes=frozenset(rules.takes) - {"parallel_tool_calls"})

    def head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - as in the base
        """Return everything of a request but its messages."""
        tokens = self._max_tokens(request)
        return small_head(request, model=self.model, stream=stream, max_tokens=tokens, options=self._options)

    def message_json(self, message: Message, /) -> Iterable[Json]:
        """Return one JSON message for each message, also for results."""
        return small_message_json(message, to=self.origin, options=self._options)


def _find_unshown(response: ModelResponse) -> list[Delta]:
    """Return the deltas of a turn that were not shown while it was written: all but the reasoning."""
    return [delta for delta in split_into_deltas(response.message) if not isinstance(delta, ReasoningDelta)]


def offers_tools(request: ModelRequest) -> bool:
    """Return whether the model may call something."""
    return bool(request.tools) and request.tool_choice != "none"


def small_head(
    request: ModelRequest, *, model: str, stream: bool, max_tokens: int | None, options: ChatOptions
) -> Json:
    """Return everything but the conversation: words describe the tools, and a schema the form of the turn."""
    plain = replace(request, tools=(), system=_system(request))
    if not offers_tools(request):
        return head(plain, model=model, stream=stream, max_tokens=max_tokens, options=options)
    body = head(replace(plain, output_schema=None), model=model, stream=stream, max_tokens=max_tokens, options=options)
    messages = body.pop("messages")  # which come last
    form = {"name": "turn", "schema": turn_schema(request)}
    return body | {"response_format": {"type": "json_schema", "json_schema": form}, "messages": messages}


def _system(request: ModelRequest) -> str:
    if not offers_tools(request):
        return request.system
    tools = [f"- {tool.name}: {tool.description}\n  {dump_json(tool.parameters)}" for tool in request.tools]
    return "\n".join(([request.system, ""] if request.system else []) + [HOW, *tools])


def turn_schema(request: ModelRequest) -> Json:
    """Return the schema of a turn: any one of the calls, or the answer."""
    shared: Json = {tool.name: _move_schema(tool.parameters, f"#/$defs/{tool.name}") for tool in request.tools}
    offered = shared if request.tool_choice in CHOICE_WORDS else (request.tool_choice,)
    calls = [_close_object({"tool": {"const": name}, "arguments": {"$ref": f"#/$defs/{name}"}}) for name in offered]
    if request.tool_choice != "auto":  # a call is forced
        return {"anyOf": calls, "$defs": shared}
    answer: object = {"type": "string"}
    if request.output_schema is not None:
        shared[ANSWER] = _move_schema(request.output_schema, f"#/$defs/{ANSWER}")
        answer = {"$ref": f"#/$defs/{ANSWER}"}
    return {"anyOf": [*calls, _close_object({"answer": answer})], "$defs": shared}


def _close_object(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _move_schema(schema: object, place: str) -> object:
    """Move a schema to another place inside a larger one: its references lead there."""
    if isinstance(schema, Mapping):
        return {
            key: _reference(value, place) if key == "$ref" else _move_schema(value, place)
            for key, value in schema.items()
        }
    return [_move_schema(one, place) for one in schema] if isinstance(schema, list | tuple) else schema


def _reference(target: object, place: str) -> object:
    return place + target[1:] if isinstance(target, str) and target.startswith("#") else _move_schema(target, place)


def small_message_json(message: Message, *, to: Origin, options: ChatOptions) -> Iterable[Json]:
    """Return one message: calls as the JSON that the model would have written, results as words of the user."""
    match message:
        case UserMessage():
            return message_json(message, to=to, options=options)
        case AssistantMessage():
            return (_assistant(message),)
        case ToolResults():
            return (_results(message, list(message_json(message, to=to, options=options))),)
        case _:
            assert_never(message)


def _assistant(message: AssistantMessage) -> Json:
    calls = [f'{{"tool": {dump_json(call.name)}, "arguments": {arguments_to_send(call)}}}' for call in message.calls]
    text = [message.text] if message.text.strip() or not calls else []
    return {"role": "assistant", "content": "\n".join([*text, *calls])}


def _results(message: ToolResults, sent: list[Json]) -> Json:
    told = zip(message.results, sent, strict=False)
    text = "\n\n".join(f"Result of {result.name}:\n{one['content']}" for result, one in told)
    images = [part for one in sent[len(message.results) :] for part in _parts(one)]
    return {"role": "user", "content": [{"type": "text", "text": text}, *images] if images else text}


def _parts(sent: Json) -> list[object]:
    content = sent["content"]
    return content if isinstance(content, list) else [content]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedText:
    """What a text comes to: words, and calls by name and arguments."""

    text: str
    calls: tuple[tuple[str, str], ...] = ()


def read_turn(response: ModelResponse, *, as_json: bool = False) -> ModelResponse:
    """Read the calls and the answer out of the text; calls that the server has found itself stay as they are.

    `as_json` where the answer was asked for by a schema: then a text in it is JSON too.
    """
    message = response.message
    if message.calls:
        return response
    parsed = parse_text(message.text, as_json=as_json)
    calls = enumerate(parsed.calls)
    blocks: tuple[AssistantBlock, ...] = (
        *(block for block in message.blocks if isinstance(block, ReasoningBlock)),
        *([TextBlock(text=parsed.text)] if parsed.text else ()),
        *(
            CallBlock(call=ToolCall(id=make_call_id(response.response_id, n), name=of, arguments=raw))
            for n, (of, raw) in calls
        ),
    )
    stop = "tool_calls" if parsed.calls and response.stop == "end" else response.stop
    return replace(response, message=replace(message, blocks=blocks), stop=stop)


def parse_text(text: str, *, as_json: bool = False) -> ParsedText:
    """Find the calls in a text, else the answer in it, else return the text itself."""
    objects = list(_objects(text))
    calls = tuple(call for _, value in objects for call in _calls(value))
    if calls:
        before = text[: objects[0][0]].partition(_FENCE)[0]
        return ParsedText(text=before.strip(" \n\t["), calls=calls)
    answers = [value["answer"] for _, value in objects if "answer" in value]
    if answers:
        return ParsedText(text="\n\n".join(_format_answer(one, as_json=as_json) for one in answers))
    return ParsedText(text=text)


def _format_answer(answer: object, *, as_json: bool) -> str:
    return replace_surrogates(answer) if isinstance(answer, str) and not as_json else dump_json(answer)


def _objects(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Find the objects in a text, each with its place, and skip broken ones."""
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


def _calls(value: object, depth: int = MAX_CALL_DEPTH) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping) or not depth:
        return
    listed = value.get("tool_calls")
    if isinstance(listed, list):
        for one in listed:
            yield from _calls(one, depth - 1)
        return
    inner = value.get("function")
    if isinstance(inner, Mapping):
        yield from _calls(inner, depth - 1)
        return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in _ARGUMENTS if isinstance(value.get(key), Mapping | str)), None)
    if isinstance(name, str) and given is not None:
        yield replace_surrogates(name), replace_surrogates(given) if isinstance(given, str) else dump_json(given)
    elif isinstance(name, str) and value.keys() == {"tool"}:
        yield replace_surrogates(name), "{}"
