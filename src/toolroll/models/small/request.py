"""Tools for models that cannot call them: the turn as one JSON object, a call or an answer. Pure.

Measured with a model of 1.5 billion parameters: native calls 0 of 10, asked for one object 10 of 10. The schema beside
the request makes a server that knows schemas hold even a smaller model to it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, assert_never

from toolroll.kernel.data.messages import AssistantMessage, Message, Origin, ToolResults, UserMessage
from toolroll.kernel.data.serialize import dump_json
from toolroll.models.calls import arguments_to_send
from toolroll.models.chat.request import ChatOptions, head, message_json
from toolroll.models.encode import Json
from toolroll.models.model import ModelRequest

HOW: Final = (
    "You can use tools. Reply with exactly one JSON object and nothing else.\n"
    'To use a tool: {"tool": "NAME", "arguments": {...}}. Its result comes in the next message.\n'
    'When you know the answer: {"answer": ...}.\n'
    "The tools, with the JSON Schema of their arguments:"
)


ANSWER: Final = "the.answer"
"""A dot stands in no tool's name."""


def offers(request: ModelRequest) -> bool:
    """Whether the model may call something."""
    return bool(request.tools) and request.tool_choice != "none"


def small_head(
    request: ModelRequest, *, model: str, stream: bool, max_tokens: int | None, options: ChatOptions
) -> Json:
    """Everything but the conversation: the tools are told in words, and the form of the turn in a schema."""
    plain = replace(request, tools=(), system=_system(request))
    if not offers(request):
        return head(plain, model=model, stream=stream, max_tokens=max_tokens, options=options)
    body = head(replace(plain, output_schema=None), model=model, stream=stream, max_tokens=max_tokens, options=options)
    messages = body.pop("messages")  # which come last
    form = {"name": "turn", "schema": turn_schema(request)}
    return body | {"response_format": {"type": "json_schema", "json_schema": form}, "messages": messages}


def _system(request: ModelRequest) -> str:
    if not offers(request):
        return request.system
    tools = [f"- {tool.name}: {tool.description}\n  {dump_json(tool.parameters)}" for tool in request.tools]
    return "\n".join(([request.system, ""] if request.system else []) + [HOW, *tools])


def turn_schema(request: ModelRequest) -> Json:
    """Any one of the calls, or the answer."""
    shared: Json = {tool.name: _moved(tool.parameters, f"#/$defs/{tool.name}") for tool in request.tools}
    calls = [_closed({"tool": {"const": name}, "arguments": {"$ref": f"#/$defs/{name}"}}) for name in shared]
    answer: object = {"type": "string"}
    if request.output_schema is not None:
        shared[ANSWER] = _moved(request.output_schema, f"#/$defs/{ANSWER}")
        answer = {"$ref": f"#/$defs/{ANSWER}"}
    return {"anyOf": [*calls, _closed({"answer": answer})], "$defs": shared}


def _closed(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _moved(schema: object, place: str) -> object:
    """A schema at another place of a larger one: its references lead there."""
    if isinstance(schema, Mapping):
        return {
            key: _reference(value, place) if key == "$ref" else _moved(value, place) for key, value in schema.items()
        }
    return [_moved(one, place) for one in schema] if isinstance(schema, list | tuple) else schema


def _reference(target: object, place: str) -> object:
    return place + target[1:] if isinstance(target, str) and target.startswith("#") else _moved(target, place)


def small_message_json(message: Message, *, to: Origin, options: ChatOptions) -> Iterable[Json]:
    """One message: calls as the objects that the model would have written, results as what the user says next."""
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
