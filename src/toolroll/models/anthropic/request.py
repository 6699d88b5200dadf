"""A neutral request as the body of an Anthropic Messages call. Pure: data in, data out."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias, assert_never

from toolroll.kernel.conversation import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    Message,
    Origin,
    ReasoningBlock,
    ServerBlock,
    TextBlock,
    ToolResults,
    UnknownBlock,
    UserMessage,
)
from toolroll.kernel.messages import DocumentPart, ImagePart, Part, TextPart, ToolMessage
from toolroll.kernel.parse import parse_object
from toolroll.kernel.strict.plan import StrictPlan
from toolroll.models.model import ModelRequest, WebSearch

Json: TypeAlias = dict[str, object]

CACHE: Final[Mapping[str, object]] = {"type": "ephemeral"}
WEB_SEARCH_TYPE: Final = "web_search_20260318"
"""The newest; `allowed_callers` keeps it to plain searches, without the provider's code execution."""

NOTHING_SAID: Final = "(no text)"
"""Stands for a turn that is empty once degraded: the API refuses empty content."""


def head(request: ModelRequest, *, model: str, stream: bool, plan: StrictPlan | None = None) -> Json:
    """Everything but the messages; the same for all requests of a run, so that prompt caches hold."""
    body: Json = {"model": model, "max_tokens": request.max_output_tokens}
    if stream:
        body["stream"] = True
    if request.system:
        body["system"] = [{"type": "text", "text": request.system, "cache_control": CACHE}]
    tools = _tools(request, plan)
    if tools:
        body["tools"] = tools
    if request.tool_choice == "none" and tools:
        body["tool_choice"] = {"type": "none"}
    if request.output_schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.output_schema}}
    return body | dict(request.extra)


def _tools(request: ModelRequest, plan: StrictPlan | None) -> list[Json]:
    tools: list[Json] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in request.tools
    ]
    for tool, planned in zip(tools, plan.tools if plan else (), strict=False):
        if planned.strict:
            tool |= {"input_schema": planned.schema, "strict": True}
    if request.web_search is not None:
        tools.append(_web_search(request.web_search))
    return tools


def _web_search(search: WebSearch) -> Json:
    tool: Json = {"type": WEB_SEARCH_TYPE, "name": "web_search", "max_uses": search.max_uses}
    tool["allowed_callers"] = ["direct"]
    if search.allowed_domains:
        tool["allowed_domains"] = list(search.allowed_domains)
    elif search.blocked_domains:
        tool["blocked_domains"] = list(search.blocked_domains)
    return tool


def message_json(message: Message, *, to: Origin) -> Json:
    """One message for the model it goes to: its own blocks verbatim, everything else in neutral words."""
    match message:
        case UserMessage():
            return {"role": "user", "content": _content(message.content)}
        case ToolResults():
            return {"role": "user", "content": [_result(result) for result in message.results]}
        case AssistantMessage():
            return {"role": "assistant", "content": _assistant(message, to)}
        case _:
            assert_never(message)


def _content(parts: Iterable[Part]) -> list[Json]:
    blocks = [_part(part) for part in parts if not (isinstance(part, TextPart) and not part.text)]
    return blocks or [{"type": "text", "text": NOTHING_SAID}]


def _part(part: Part) -> Json:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            return {"type": "image", "source": _source(part.data, part.media_type)}
        case DocumentPart():
            title = {"title": part.title} if part.title else {}
            return {"type": "document", "source": _source(part.data, part.media_type), **title}
        case _:
            assert_never(part)


def _source(data: bytes, media_type: str) -> Json:
    if media_type == "text/plain":
        return {"type": "text", "media_type": media_type, "data": data.decode("utf-8", "replace")}
    return {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}


def _result(result: ToolMessage) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": result.call_id}
    if isinstance(result.content, tuple):
        block["content"] = _content(result.content)
    elif result.content:
        block["content"] = result.content
    if result.is_error:
        block["is_error"] = True
    return block


def _assistant(message: AssistantMessage, to: Origin) -> list[Json]:
    own = message.origin is not None and message.origin.wire == to.wire
    same_model = own and message.origin == to
    blocks = [_block(block, own=own, same_model=same_model) for block in message.blocks]
    return [block for block in blocks if block] or [{"type": "text", "text": NOTHING_SAID}]


def _block(block: AssistantBlock, *, own: bool, same_model: bool) -> Json:
    """One block, or nothing where it means nothing to this model."""
    match block:
        case TextBlock():
            text = block.raw if own and block.raw is not None else {"type": "text", "text": block.text}
            return dict(text) if block.text else {}
        case CallBlock():
            return dict(block.raw) if own and block.raw is not None else _call(block)
        case ReasoningBlock():
            # Signed for the model that thought it: another one refuses the whole request.
            return dict(block.raw or {}) if same_model else {}
        case ServerBlock():
            if own and block.raw is not None:
                return dict(block.raw)
            return {"type": "text", "text": block.summary} if block.summary else {}
        case UnknownBlock():
            return dict(block.raw) if own else {}
        case _:
            assert_never(block)


def _call(block: CallBlock) -> Json:
    call = block.call
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": parse_object(call.arguments)}


def with_breakpoint(message: bytes) -> bytes:
    """An encoded user message whose last block ends the cached prefix.

    Spliced into the bytes: encoding the message a second time for each request would cost as much as all the rest.
    """
    end = b"}]}"
    if not message.endswith(end):
        return message
    return message[: -len(end)] + b',"cache_control":{"type":"ephemeral"}' + end


def last_user(messages: Sequence[Message]) -> int:
    """The message that gets the moving breakpoint: the last one that is not the model's."""
    return max(number for number, message in enumerate(messages) if not isinstance(message, AssistantMessage))
