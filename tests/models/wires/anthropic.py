"""Anthropic Messages, from the server's side: answers, streams, errors, and what a request must be."""

import json
import re
from collections.abc import Iterator, Mapping

from tests.support.model_script import Fault, Issued, Json, Raw, Search, Text, Thinking, Turn, Use, thirds, words

STOPS = {
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "pause": "pause_turn",
    "context_full": "model_context_window_exceeded",
    "stop_sequence": "stop_sequence",
}

TOP = {
    *("model", "max_tokens", "messages", "stream", "system", "tools", "tool_choice", "output_config", "temperature"),
    *("thinking", "metadata", "stop_sequences", "anthropic_version", "top_p", "top_k", "service_tier", "container"),
}
USER_BLOCKS = {"text", "image", "document", "tool_result", "search_result"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_-]+")


def answer(turn: Turn, request: Json, issued: Issued) -> Json:
    """The whole message."""
    content = [block for one in turn.blocks for block in _blocks(one, request, issued)]
    message: Json = {
        "id": issued.id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": content,
        "stop_reason": STOPS.get(turn.stop, turn.stop) if turn.stop != "auto" else _auto(turn),
        "stop_sequence": "END" if turn.stop == "stop_sequence" else None,
    }
    if turn.stop == "refusal":
        message["stop_details"] = {"type": "refusal", "category": "bio", "explanation": "I will not."}
    return message if turn.no_usage else message | {"usage": _usage(turn)}


def _auto(turn: Turn) -> str:
    return "tool_use" if turn.calls else "end_turn"


def _usage(turn: Turn) -> Json:
    hour = turn.count("cache_write_1h", 0)
    written = turn.count("cache_write", 0) + hour
    searches = sum(isinstance(block, Search) and block.found is not None for block in turn.blocks)
    return {
        "input_tokens": turn.count("input", 100),
        "output_tokens": turn.count("output", 20),
        "cache_read_input_tokens": turn.count("cache_read", 0),
        "cache_creation_input_tokens": written,
        "cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour},
        "server_tool_use": {"web_search_requests": searches, "web_fetch_requests": 0} if searches else None,
        "service_tier": "standard",
    }


def _blocks(block: object, request: Json, issued: Issued) -> Iterator[Json]:
    match block:
        case Text():
            yield _text(block, issued)
        case Thinking(redacted=True):
            yield {"type": "redacted_thinking", "data": issued.secret("redacted", request["model"])}
        case Thinking():
            signature = issued.secret("sig", (request["model"], block.text))
            yield {"type": "thinking", "thinking": block.text, "signature": signature}
        case Use():
            arguments = block.arguments
            # Unstreamed, broken arguments cannot be: the provider has parsed them.
            parsed = arguments if not isinstance(arguments, str) else _parsed(arguments)
            yield {
                "type": "tool_use",
                "id": block.id if block.id is not None else issued.id("toolu_"),
                "name": block.name,
                "input": parsed,
                "_written": arguments if isinstance(arguments, str) else json.dumps(arguments),
            }
        case Search():
            yield from _search(block, issued)
        case Raw():
            issued.secrets[json.dumps(block.block, sort_keys=True)] = True
            yield dict(block.block)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _text(block: Text, issued: Issued) -> Json:
    if not block.citations:
        return {"type": "text", "text": block.text, "citations": None}
    citations = [
        {
            "type": "web_search_result_location",
            "url": url,
            "title": title,
            "cited_text": f"about {title}",
            "encrypted_index": issued.secret("index", url),
        }
        for url, title in block.citations
    ]
    return {"type": "text", "text": block.text, "citations": citations}


def _search(block: Search, issued: Issued) -> Iterator[Json]:
    search_id = issued.id("srvtoolu_")
    query = {"query": block.query}
    yield {
        "type": "server_tool_use",
        "id": search_id,
        "name": "web_search",
        "input": query,
        "_written": json.dumps(query),
    }
    if block.found is None:
        return
    content: object = {"type": "web_search_tool_result_error", "error_code": block.found}
    if not isinstance(block.found, str):
        content = [
            {
                "type": "web_search_result",
                "url": url,
                "title": title,
                "page_age": None,
                "encrypted_content": issued.secret("page", url),
            }
            for url, title in block.found
        ]
    yield {"type": "web_search_tool_result", "tool_use_id": search_id, "content": content}


def plain(message: Json) -> Json:
    """What goes out unstreamed."""
    content = [{key: value for key, value in block.items() if key != "_written"} for block in message["content"]]
    return message | {"content": content}


def events(message: Json, fault: Fault) -> Iterator[tuple[str, str]]:
    """The stream of a message: names and data."""
    for event in _events(message, fault):
        yield event["type"], json.dumps(event, ensure_ascii=False)


def _events(message: Json, fault: Fault) -> Iterator[Json]:
    usage = message.get("usage")
    start = message | {"content": [], "stop_reason": None, "stop_sequence": None}
    if usage:
        start["usage"] = {**usage, "output_tokens": 1, "server_tool_use": None}
    start.pop("stop_details", None)
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(message["content"]):
        first, deltas = _streamed(block)
        yield {"type": "content_block_start", "index": index, "content_block": first}
        if fault.noise:
            yield {"type": "ping"}
            yield {"type": "something_new", "index": index}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    totals = {} if not usage else {"output_tokens": usage["output_tokens"], "server_tool_use": usage["server_tool_use"]}
    yield {"type": "message_delta", "delta": end, "usage": totals}
    yield {"type": "message_stop"}


def _streamed(block: Json) -> tuple[Json, list[Json]]:
    """A block's beginning, and what it grows by."""
    match block["type"]:
        case "text":
            first: Json = {"type": "text", "text": ""} | ({"citations": []} if block["citations"] else {})
            cited = [{"type": "citations_delta", "citation": one} for one in block["citations"] or ()]
            return first, cited + [{"type": "text_delta", "text": word} for word in words(block["text"])]
        case "thinking":
            grown: list[Json] = [{"type": "thinking_delta", "thinking": word} for word in words(block["thinking"])]
            signed: Json = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*grown, signed]
        case "tool_use" | "server_tool_use":
            pieces = ["", *thirds(block["_written"])] if block["_written"] != "{}" else [""]
            first = {key: value for key, value in block.items() if key != "_written"} | {"input": {}}
            return first, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case _:
            return block, []


def error(fault: Fault, issued: Issued) -> Json:
    """An error in the wire's form."""
    details = {"details": {"error_code": fault.code}} if fault.code else {}
    said = {"type": fault.kind, "message": fault.message, **details}
    return {"type": "error", "error": said, "request_id": issued.id("req_")}


def error_event(fault: Fault, issued: Issued) -> tuple[str, str]:
    """An error inside a stream."""
    return "error", json.dumps(error(fault, issued))


def faults_of(request: Json, headers: Mapping[str, str], issued: Issued) -> Iterator[str]:
    """Everything for which the provider would refuse the request."""
    if not (headers.get("x-api-key") or headers.get("authorization")):
        yield "x-api-key header is required"
    if not headers.get("anthropic-version"):
        yield "anthropic-version header is required"
    yield from (f"{key}: Extra inputs are not permitted" for key in request.keys() - TOP)
    if not isinstance(request.get("max_tokens"), int) or request["max_tokens"] < 1:
        yield "max_tokens: must be at least 1"
    yield from _head(request)
    messages = request.get("messages")
    if not messages:
        yield "messages: at least one message is required"
        return
    yield from _conversation(messages, request, issued)
    marks = json.dumps(request).count('"cache_control"')
    if marks > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."


def _head(request: Json) -> Iterator[str]:
    for block in request.get("system") or ():
        if not isinstance(block, dict) or not block.get("text", "").strip():
            yield "system: text content blocks must be non-empty"
    tools = request.get("tools", [])
    names = [tool["name"] for tool in tools]
    if len(names) != len(set(names)):
        yield "tools: Tool names must be unique."
    if "tool_choice" in request and not tools:
        yield "tool_choice may only be specified while providing tools."
    for tool in tools:
        yield from (f"tools.{tool['name']}: {fault}" for fault in _tool(tool))


def _tool(tool: Json) -> Iterator[str]:
    if not NAME.fullmatch(tool["name"]):
        yield "String should match pattern"
    if "type" in tool:
        if tool.get("allowed_domains") and tool.get("blocked_domains"):
            yield "only one of allowed_domains and blocked_domains"
    elif tool["input_schema"].get("type") != "object":
        yield "input_schema.type: Input should be 'object'"
    elif tool.get("strict") and tool["input_schema"].get("additionalProperties") is not False:
        yield "For 'object' type, 'additionalProperties' must be explicitly set to false"


def _conversation(messages: list[Json], request: Json, issued: Issued) -> Iterator[str]:
    if messages[0]["role"] != "user":
        yield "messages: first message must use the user role"
    seen: set[str] = set()
    for place, message in enumerate(messages):
        where = f"messages.{place}"
        if message["role"] not in {"user", "assistant"} or set(message) != {"role", "content"}:
            yield f"{where}: unknown role or key"
            return
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if not blocks:
            yield f"{where}: all messages must have non-empty content"
        if message["role"] == "assistant":
            yield from _assistant(where, blocks, seen, request, issued)
            yield from _answered(where, blocks, messages[place + 1 :])
        else:
            before = messages[place - 1] if place else {"role": "none", "content": []}
            yield from _user(where, blocks, before)


def _assistant(where: str, blocks: list[Json], seen: set[str], request: Json, issued: Issued) -> Iterator[str]:
    for block in blocks:
        match block["type"]:
            case "text":
                yield from _said(where, block)
                yield from _cited(where, block, issued)
            case "thinking" | "redacted_thinking":
                yield from _thought(where, block, request, issued)
            case "tool_use":
                yield from _use(where, block, seen)
            case "server_tool_use":
                pass
            case "web_search_tool_result":
                yield from _found(where, block, blocks, issued)
            case kind:
                if json.dumps(block, sort_keys=True) not in issued.secrets:
                    yield f"{where}: unknown block type {kind!r}"


def _thought(where: str, block: Json, request: Json, issued: Issued) -> Iterator[str]:
    if block["type"] == "thinking":
        if issued.secrets.get(block["signature"]) != (request["model"], block["thinking"]):
            yield f"{where}: Invalid `signature` in `thinking` block"
    elif issued.secrets.get(block["data"]) != request["model"]:
        yield f"{where}: Invalid `data` in `redacted_thinking` block"


def _use(where: str, block: Json, seen: set[str]) -> Iterator[str]:
    if not isinstance(block["input"], dict):
        yield f"{where}: tool_use.input: Input should be a valid dictionary"
    if not ID.fullmatch(block["id"]) or not NAME.fullmatch(block["name"]):
        yield f"{where}: tool_use.id or name: String should match pattern"
    if block["id"] in seen:
        yield f"{where}: `tool_use` ids must be unique"
    seen.add(block["id"])


def _said(where: str, block: Json) -> Iterator[str]:
    if not block["text"].strip():
        yield f"{where}: text content blocks must contain non-whitespace text"


def _cited(where: str, block: Json, issued: Issued) -> Iterator[str]:
    for one in block.get("citations") or ():
        if issued.secrets.get(one["encrypted_index"]) != one["url"]:
            yield f"{where}: citation with an unknown encrypted_index"


def _found(where: str, block: Json, blocks: list[Json], issued: Issued) -> Iterator[str]:
    if block["tool_use_id"] not in {one.get("id") for one in blocks if one["type"] == "server_tool_use"}:
        yield f"{where}: web_search_tool_result without its server_tool_use"
    if isinstance(block["content"], list):
        for page in block["content"]:
            if issued.secrets.get(page["encrypted_content"]) != page["url"]:
                yield f"{where}: search result with changed encrypted_content"


def _answered(where: str, blocks: list[Json], rest: list[Json]) -> Iterator[str]:
    """Each call has its result in the next message."""
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if not calls:
        return
    answers = rest[0]["content"] if rest and rest[0]["role"] == "user" else []
    given = [
        block.get("tool_use_id") for block in answers if isinstance(block, dict) and block["type"] == "tool_result"
    ]
    missing = [call for call in calls if call not in given]
    if missing:
        yield f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"


def _user(where: str, blocks: list[Json], before: Json) -> Iterator[str]:
    asked = [one["id"] for one in before["content"] if isinstance(one, dict) and one["type"] == "tool_use"]
    given: list[str] = []
    others = False
    for block in blocks:
        kind = block["type"]
        if kind not in USER_BLOCKS:
            yield f"{where}: unknown block type {kind!r}"
        if kind == "text":
            yield from _said(where, block)
        if kind == "tool_result":
            given.append(block["tool_use_id"])
            if others:
                yield f"{where}: tool_result blocks must come first"
            if block.get("is_error") and not block.get("content"):
                yield f"{where}: tool_result: content cannot be empty if is_error is true"
            yield from _result_content(where, block.get("content", ""))
        else:
            others = True
        yield from _source(where, block)
    yield from (f"{where}: unexpected `tool_use_id`: {one}" for one in given if one not in asked)
    if len(given) != len(set(given)):
        yield f"{where}: each tool_use must have a single result"


def _result_content(where: str, content: object) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        if block["type"] not in {"text", "image", "document", "search_result"}:
            yield f"{where}: tool_result: unknown block type {block['type']!r}"
        if block["type"] == "text":
            yield from _said(where, block)
        yield from _source(where, block)


def _source(where: str, block: Json) -> Iterator[str]:
    source = block.get("source", {})
    allowed = {"image": {"image/jpeg", "image/png", "image/gif", "image/webp"}, "document": {"application/pdf"}}
    if source.get("type") == "base64" and source["media_type"] not in allowed[block["type"]]:
        yield f"{where}: {block['type']}.source.media_type: not supported"
