"""A neutral request as the body of a Chat Completions call, for the many servers that take these. Pure.

They differ in what they take beyond text and calls, so little is sent that is not needed. Tool messages hold text only:
images of results follow in a message of their own, documents that are not text are named.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from toolroll.errors import RequestRefused
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    DocumentPart,
    ImagePart,
    Message,
    Origin,
    Part,
    ReasoningBlock,
    ServerBlock,
    TextBlock,
    TextPart,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.strict.plan import StrictWish, ToolShape, plan_strict
from toolroll.models.chat.settings import CHAT_RULES, ThinkingField, add_settings, tool_choice
from toolroll.models.model import ModelRequest
from toolroll.models.openai.request import NOTHING_SAID, mark_error
from toolroll.models.parts import (
    IMAGE_TYPES,
    arguments_to_send,
    data_url,
    describe_unseen,
    form_in_words,
    readable_text,
    safe_name,
    titled_text,
)
from toolroll.models.settings import SettingRules
from toolroll.models.strict import OPENAI
from toolroll.models.wire_json import Json

CallForm: TypeAlias = Literal["auto", "native", "json"]

IMAGE_FOLLOWS: Final = "[an image, in the next message]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What one server takes. The defaults suit llama.cpp, LM Studio, Ollama, OpenRouter and vLLM."""

    strict: StrictWish = "off"
    stream_usage: bool = True
    """Ask for token counts at the end of a stream. Mistral refuses the question, and counts unasked."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_reasoning: bool = True
    """Send a model its own reasoning back with the calls it led to; DeepSeek and Kimi insist on that."""
    thinking_field: ThinkingField = "reasoning_effort"
    """Where the server reads how much to think."""
    seed_field: Literal["seed", "random_seed"] = "seed"
    rules: SettingRules = CHAT_RULES
    """Which settings the server takes."""
    calls: CallForm = "auto"
    """How tools are called: as the server does it (`native`), as one JSON object in the text (`json`), or as the server
    does it until a call is found in the text, and from then on as JSON (`auto`)."""


def head(request: ModelRequest, *, model: str, stream: bool, max_tokens: int | None, options: ChatOptions) -> Json:
    """Return everything but the conversation; the system text is the first of the messages, which come last."""
    if request.web_search is not None:
        raise RequestRefused("This model server has no web search of its own. Offer a search tool instead.")
    body: Json = {"model": model}
    if max_tokens is not None:
        body[options.max_tokens_field] = max_tokens
    if stream:
        body["stream"] = True
    if stream and options.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = _tools(request, options.strict)
        body |= tool_choice(request)
    calls = bool(request.tools) and request.tool_choice != "none"
    if request.output_schema is not None and not calls:  # llama.cpp refuses to have both
        body["response_format"] = _output_form(request.output_schema)
    # Also in a request without calls, so that what is cached of the run stays the same.
    text = form_in_words(request) if request.output_schema is not None and request.tools else request.system
    system = [{"role": "system", "content": text}] if text else []
    if request.settings is not None:
        body = add_settings(
            body, request.settings, thinking_field=options.thinking_field, seed_field=options.seed_field
        )
    return body | dict(request.extra) | {"messages": system}


def _tools(request: ModelRequest, strict: StrictWish) -> list[Json]:
    shapes = [ToolShape(name=tool.name, schema=tool.parameters) for tool in request.tools]
    tools: list[Json] = []
    for tool, planned in zip(request.tools, plan_strict(shapes, OPENAI, mode=strict).tools, strict=True):
        function: Json = {"name": tool.name, "description": tool.description, "parameters": planned.schema}
        if planned.strict:
            function["strict"] = True
        tools.append({"type": "function", "function": function})
    return tools


def _output_form(schema: Mapping[str, object]) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def join(head: bytes, pieces: list[bytes]) -> bytes:
    """Return the body: the head ends with the list of messages, which the pieces continue."""
    end = b"]}"
    first = head[: -len(end)]
    comma = b"" if first.endswith(b"[") else b","
    return first + comma + b",".join(pieces) + end


def message_json(message: Message, *, to: Origin, options: ChatOptions) -> Iterable[Json]:
    """Return one message for the model it goes to."""
    match message:
        case UserMessage():
            return ({"role": "user", "content": _content(message.content)},)
        case ToolResults():
            return list(_results(message.results))
        case AssistantMessage():
            return (_assistant(message, same_model=message.origin == to, options=options),)
        case _:
            assert_never(message)


def _content(parts: Iterable[Part]) -> object:
    """Return plain text where there is nothing but text: not every server takes a list."""
    listed = [_part(part) for part in parts]
    if all(isinstance(part, str) for part in listed):
        return "\n\n".join(str(part) for part in listed if part) or NOTHING_SAID
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in listed]


def _part(part: Part) -> str | Json:
    match part:
        case TextPart():
            return part.text
        case ImagePart():
            if part.media_type not in IMAGE_TYPES:
                return describe_unseen(part)
            return {"type": "image_url", "image_url": {"url": data_url(part)}}
        case DocumentPart():
            text = readable_text(part)
            return describe_unseen(part) if text is None else titled_text(part, text)
        case _:
            assert_never(part)


def _results(results: Iterable[ToolMessage]) -> Iterator[Json]:
    images: list[Json] = []
    for result in results:
        parts = (result.content,) if isinstance(result.content, str) else [_part(part) for part in result.content]
        images += [part for part in parts if isinstance(part, dict)]
        text = "\n".join(part if isinstance(part, str) else IMAGE_FOLLOWS for part in parts)
        text = mark_error(text) if result.is_error else text
        yield {"role": "tool", "tool_call_id": result.call_id, "content": text}
    if images:
        told: Json = {"type": "text", "text": "[the images of the results above, in their order]"}
        yield {"role": "user", "content": [told, *images]}


def _assistant(message: AssistantMessage, *, same_model: bool, options: ChatOptions) -> Json:
    turn: Json = {"role": "assistant"}
    text = "".join(_texts(message, same_model=same_model))
    calls = [_call(block, same_model=same_model) for block in message.blocks if isinstance(block, CallBlock)]
    if text.strip() or not calls:
        turn["content"] = text if text.strip() else NOTHING_SAID
    else:
        turn["content"] = None
    if calls:
        turn["tool_calls"] = calls
    if calls and same_model and options.send_reasoning:
        for block in message.blocks:
            if isinstance(block, ReasoningBlock) and block.raw is not None:
                turn |= block.raw
    return turn


def _texts(message: AssistantMessage, *, same_model: bool) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, TextBlock):
            yield block.text
        elif isinstance(block, ServerBlock) and block.summary and not same_model:
            yield f"{block.summary}\n"


def _call(block: CallBlock, *, same_model: bool) -> Json:
    call = block.call
    function: Json = {"name": safe_name(call.name), "arguments": arguments_to_send(call)}
    # Some servers keep signatures beside the call.
    kept = dict(block.raw) if same_model and block.raw is not None else {}
    return kept | {"id": call.id, "type": "function", "function": function}
