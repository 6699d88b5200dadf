"""A neutral request as the body of an OpenAI Responses call. Pure: data in, data out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Final, assert_never

from toolroll.errors import RequestRefused
from toolroll.kernel.data.messages import (
    AssistantBlock,
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
    ToolCall,
    ToolMessage,
    ToolResults,
    UnknownBlock,
    UserMessage,
)
from toolroll.kernel.strict.convert import StrictSchema, convert_to_strict
from toolroll.kernel.strict.plan import StrictWish, ToolShape, plan_strict
from toolroll.models.model import ModelRequest, WebSearch
from toolroll.models.openai.settings import add_settings, tool_choice
from toolroll.models.parts import (
    IMAGE_TYPES,
    PDF,
    arguments_to_send,
    data_url,
    describe_unseen,
    readable_text,
    safe_id,
    safe_name,
    titled_text,
)
from toolroll.models.strict import OPENAI
from toolroll.models.wire_json import Json, compact

NOTHING_SAID: Final = "(no text)"
"""Stands for what is empty once degraded."""

ERROR_MARK: Final = "[error] "
"""Results have no flag for failure here: the text says it."""

_KEY_DIGITS: Final = 32


def head(
    request: ModelRequest, *, model: str, stream: bool, max_tokens: int, strict: StrictWish, reasons: bool
) -> Json:
    """Return everything but the messages. The provider stores nothing: reasoning travels with us, encrypted."""
    body: Json = {"model": model, "max_output_tokens": max_tokens, "store": False}
    if stream:
        body["stream"] = True
    include = ["reasoning.encrypted_content"] if reasons else []
    if request.system:
        body["instructions"] = request.system
    tools = _tools(request, strict)
    if request.web_search is not None:
        tools.append(_web_search(request.web_search))
        include.append("web_search_call.action.sources")
        body["max_tool_calls"] = request.web_search.max_uses
    if include:
        body["include"] = include
    if tools:
        body["tools"] = tools
        body |= tool_choice(request)
    if request.output_schema is not None:
        body["text"] = {"format": _output_form(request.output_schema)}
    # Requests that begin alike are sent to where that beginning is cached.
    body["prompt_cache_key"] = sha256(compact([model, request.system, tools])).hexdigest()[:_KEY_DIGITS]
    if request.settings is not None:
        body = add_settings(body, request.settings, model=model)
    return body | dict(request.extra)


def _tools(request: ModelRequest, strict: StrictWish) -> list[Json]:
    shapes = [ToolShape(name=tool.name, schema=tool.parameters) for tool in request.tools]
    plan = plan_strict(shapes, OPENAI, mode=strict)
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": planned.schema,
            # Left out, it would mean yes, and parameters that may be left out would no longer be.
            "strict": planned.strict,
        }
        for tool, planned in zip(request.tools, plan.tools, strict=True)
    ]


def _web_search(search: WebSearch) -> Json:
    if search.blocked_domains:
        raise RequestRefused("OpenAI's web search cannot leave out domains. Name the allowed ones instead.")
    tool: Json = {"type": "web_search"}
    if search.allowed_domains:
        tool["filters"] = {"allowed_domains": list(search.allowed_domains)}
    return tool


def _output_form(schema: Mapping[str, object]) -> Json:
    """Return the form of the answer: strict if nothing is optional, because nulls are not taken out of an answer."""
    form = convert_to_strict(schema, replace(OPENAI, optional="absent"))
    strict = isinstance(form, StrictSchema) and not form.optional_parameters
    sent = form.schema if strict and isinstance(form, StrictSchema) else schema
    return {"type": "json_schema", "name": "answer", "schema": sent, "strict": strict}


def message_items(message: Message, *, to: Origin) -> Iterable[Json]:
    """Return the items of one message for the model it goes to: its own verbatim, the rest in neutral words."""
    match message:
        case UserMessage():
            return ({"role": "user", "content": _content(message.content)},)
        case ToolResults():
            return [_result(result) for result in message.results]
        case AssistantMessage():
            return list(_assistant(message, to)) or [_assistant_item(NOTHING_SAID)]
        case _:
            assert_never(message)


def _content(parts: Iterable[Part]) -> list[Json]:
    return [_part(part) for part in parts] or [_text(NOTHING_SAID)]


def _part(part: Part) -> Json:
    match part:
        case TextPart():
            return _text(part.text)
        case ImagePart():
            if part.media_type not in IMAGE_TYPES:
                return _text(describe_unseen(part))
            return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
        case DocumentPart():
            text = readable_text(part)
            if text is not None:
                return _text(titled_text(part, text))
            if part.media_type != PDF:
                return _text(describe_unseen(part))
            return {"type": "input_file", "filename": part.title or "document.pdf", "file_data": data_url(part)}
        case _:
            assert_never(part)


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _assistant_item(text: str) -> Json:
    return {"role": "assistant", "content": text}


def _result(result: ToolMessage) -> Json:
    output: object = result.content
    if isinstance(result.content, tuple):
        mark = [_text(ERROR_MARK.strip())] if result.is_error else []
        output = mark + _content(result.content)
    elif result.is_error:
        output = mark_error(result.content)
    return {"type": "function_call_output", "call_id": safe_id(result.call_id), "output": output}


def mark_error(text: str) -> str:
    """Make sure that the text of a failed call says so; our own error texts mostly do."""
    return text if text.startswith("Error") else ERROR_MARK + text


def _assistant(message: AssistantMessage, to: Origin) -> Iterator[Json]:
    own = message.origin is not None and message.origin.wire == to.wire
    blocks = _without_loose_thoughts(message.blocks)
    whole = message.origin == to and all(map(_is_kept, blocks))
    for block in blocks:
        item = _item(block, own=own, whole=whole)
        if item:
            yield item


def _without_loose_thoughts(blocks: tuple[AssistantBlock, ...]) -> list[AssistantBlock]:
    """Drop blank text, and reasoning that nothing follows, as in a turn that was cut: the provider refuses it."""
    kept = [block for block in blocks if not (isinstance(block, TextBlock) and not block.text.strip())]
    while kept and isinstance(kept[-1], ReasoningBlock):
        kept.pop()
    return kept


def _is_kept(block: AssistantBlock) -> bool:
    """Return whether the block can be sent back as it came.

    The provider would look up reasoning without its encrypted text by its id, and it stores nothing.
    """
    return not isinstance(block, ReasoningBlock) or bool(block.raw and block.raw.get("encrypted_content"))


def _item(block: AssistantBlock, *, own: bool, whole: bool) -> Json:
    """Return one block, or nothing where it means nothing to this model.

    `whole`: the turn goes back to its model complete. Else ids are left out, by which the provider would know that
    reasoning is missing, and refuse.
    """
    raw = dict(block.raw) if own and block.raw is not None else None
    if raw is not None and not whole:
        raw.pop("id", None)
    match block:
        case TextBlock():
            return _assistant_item(block.text) if raw is None or not whole else raw
        case CallBlock():
            return _call(block.call, raw)
        case ReasoningBlock():
            return raw or {} if whole else {}
        case ServerBlock():
            if raw is not None and whole:
                return raw
            return _assistant_item(block.summary) if block.summary else {}
        case UnknownBlock():
            return raw or {} if whole else {}
        case _:
            assert_never(block)


def _call(call: ToolCall, raw: Json | None) -> Json:
    item: Json = raw if raw is not None else {"type": "function_call"}
    return item | {"call_id": safe_id(call.id), "name": safe_name(call.name), "arguments": arguments_to_send(call)}
