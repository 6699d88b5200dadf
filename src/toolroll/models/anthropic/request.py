"""A neutral request as the body of an Anthropic Messages call. Pure: data in, data out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, assert_never

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
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
from toolroll.kernel.strict.rules import StrictRules
from toolroll.models.anthropic.settings import add_settings, cache_mark, tool_choice
from toolroll.models.model import ModelRequest, WebSearch
from toolroll.models.parts import (
    IMAGE_TYPES,
    PDF,
    base64_of,
    describe_unseen,
    form_in_words,
    readable_text,
    safe_id,
    safe_name,
)
from toolroll.models.strict import ANTHROPIC
from toolroll.models.wire_json import Json

WEB_SEARCH_TYPE: Final = "web_search_20260318"
"""The newest; `allowed_callers` keeps it to plain searches, without the provider's code execution."""

NOTHING_SAID: Final = "(no text)"
"""Stands for a turn that is empty once degraded: the API refuses empty content."""

MOVING_BREAKPOINTS: Final = 2
"""At the last two messages that are not the model's: the first ends what the request before has written into the cache,
also where one step brought more than the 20 blocks that the provider looks back; the second ends what this one adds."""


def head(request: ModelRequest, *, model: str, stream: bool, max_tokens: int, strict: StrictWish = "prefer") -> Json:
    """Return everything but the messages: the same for all requests of a run, so that prompt caches hold."""
    body: Json = {"model": model, "max_tokens": max_tokens}
    if stream:
        body["stream"] = True
    mark = cache_mark(request.settings)
    output = None if request.output_schema is None else _output_form(request.output_schema)
    tools = _tools(request, strict, _left_for_tools(output))
    system = form_in_words(request) if request.output_schema is not None and output is None else request.system
    if system:
        text: Json = {"type": "text", "text": system}
        body["system"] = [text if mark is None else text | {"cache_control": mark}]
    elif tools and mark is not None:
        tools[-1]["cache_control"] = mark
    if tools:
        body["tools"] = tools
    choice = tool_choice(request) if tools else None
    if choice is not None:
        body["tool_choice"] = choice
    if output is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": output.schema}}
    if request.settings is not None:
        body = add_settings(body, request.settings, model=model, max_tokens=max_tokens)
    return body | dict(request.extra)


def _output_form(schema: Mapping[str, object]) -> StrictSchema | None:
    """Return the form of the answer, or None for a schema without a strict form, which the provider would refuse.

    The answer is validated in any case. Optional parameters stay absent: nulls are not taken out of an answer.
    """
    form = convert_to_strict(schema, replace(ANTHROPIC, optional="absent"))
    return form if isinstance(form, StrictSchema) else None


def _left_for_tools(output: StrictSchema | None) -> StrictRules:
    """Return the rules with the budgets that the form of the answer leaves for the strict tools."""
    if output is None:
        return ANTHROPIC
    return replace(
        ANTHROPIC,
        max_optional_parameters=max(0, (ANTHROPIC.max_optional_parameters or 0) - output.optional_parameters),
        max_union_parameters=max(0, (ANTHROPIC.max_union_parameters or 0) - output.union_parameters),
    )


def _tools(request: ModelRequest, strict: StrictWish, rules: StrictRules) -> list[Json]:
    shapes = [ToolShape(name=tool.name, schema=tool.parameters) for tool in request.tools]
    plan = plan_strict(shapes, rules, mode=strict)
    tools: list[Json] = []
    for tool, planned in zip(request.tools, plan.tools, strict=True):
        told: Json = {"name": tool.name, "description": tool.description, "input_schema": planned.schema}
        tools.append(told | {"strict": True} if planned.strict else told)
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
    """Return one message for the model it goes to: its own blocks verbatim, everything else in neutral words."""
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
    # Text of nothing but blanks is refused like an empty one.
    blocks = [_part(part) for part in parts if not (isinstance(part, TextPart) and not part.text.strip())]
    return blocks or [_text(NOTHING_SAID)]


def _part(part: Part) -> Json:
    match part:
        case TextPart():
            return _text(part.text)
        case ImagePart():
            if part.media_type not in IMAGE_TYPES:
                return _text(describe_unseen(part))
            return {"type": "image", "source": _bytes(part)}
        case DocumentPart():
            return _document(part)
        case _:
            assert_never(part)


def _document(part: DocumentPart) -> Json:
    text = readable_text(part)
    if text is None and part.media_type != PDF:
        return _text(describe_unseen(part))
    source: Json = _bytes(part) if text is None else {"type": "text", "media_type": "text/plain", "data": text}
    block: Json = {"type": "document", "source": source}
    return block | {"title": part.title} if part.title else block


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _bytes(part: ImagePart | DocumentPart) -> Json:
    return {"type": "base64", "media_type": part.media_type, "data": base64_of(part)}


def _result(result: ToolMessage) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": safe_id(result.call_id)}
    if isinstance(result.content, tuple):
        block["content"] = _content(result.content)
    elif result.content.strip():
        block["content"] = result.content
    if result.is_error:  # which may not be empty
        block = {"content": NOTHING_SAID} | block | {"is_error": True}
    return block


def _assistant(message: AssistantMessage, to: Origin) -> list[Json]:
    own = message.origin is not None and message.origin.wire == to.wire
    same_model = own and message.origin == to
    blocks = [_block(block, own=own, same_model=same_model) for block in message.blocks]
    return [block for block in blocks if block] or [_text(NOTHING_SAID)]


def _block(block: AssistantBlock, *, own: bool, same_model: bool) -> Json:
    """Return one block, or nothing where it means nothing to this model."""
    match block:
        case TextBlock():
            if not block.text.strip():
                return {}
            return dict(block.raw) if own and block.raw is not None else _text(block.text)
        case CallBlock():
            return _call(block.call, dict(block.raw) if own and block.raw is not None else None)
        case ReasoningBlock():
            # Signed for the model that thought it: another one refuses the whole request.
            return dict(block.raw or {}) if same_model else {}
        case ServerBlock():
            if own and block.raw is not None:
                return dict(block.raw)
            return _text(block.summary) if block.summary else {}
        case UnknownBlock():
            return dict(block.raw) if own else {}
        case _:
            assert_never(block)


def _call(call: ToolCall, raw: Json | None) -> Json:
    block: Json = raw if raw is not None else {"type": "tool_use"}
    if not isinstance(block.get("input"), dict):
        block["input"] = _input(call)
    return block | {"id": safe_id(call.id), "name": safe_name(call.name)}


def _input(call: ToolCall) -> Json:
    try:
        return parse_object(call.arguments)
    except JsonRefused:  # never run, and answered with what is wrong with it
        return {}


def with_breakpoint(message: bytes, mark: bytes) -> bytes:
    """Return an encoded user message whose last block ends the cached prefix.

    Spliced into the bytes: encoding the message a second time for each request would cost as much as all the rest.
    """
    end = b"}]}"  # of the block, of the content, of the message
    return message.removesuffix(end) + mark + end


def breakpoints(messages: Sequence[Message]) -> list[int]:
    """Return the messages that get the moving breakpoints: the last ones that are not the model's."""
    found: list[int] = []
    for number in range(len(messages) - 1, -1, -1):
        if not isinstance(messages[number], AssistantMessage):
            found.append(number)
            if len(found) == MOVING_BREAKPOINTS:
                break
    return found
