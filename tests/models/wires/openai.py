"""OpenAI Responses, from the server's side: answers, streams, errors, and what a request must be."""

import json
import re
from collections.abc import Iterator, Mapping

from tests.support.model_script import Fault, Issued, Json, Raw, Search, Text, Thinking, Turn, Use, thirds, words

INCOMPLETE = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}
TOP = {
    *("model", "input", "instructions", "tools", "tool_choice", "max_output_tokens", "max_tool_calls", "store"),
    *("include", "stream", "text", "prompt_cache_key", "reasoning", "temperature", "parallel_tool_calls"),
    *("top_p", "service_tier", "prompt_cache_retention", "prompt_cache_options"),
}
INCLUDES = {"reasoning.encrypted_content", "web_search_call.action.sources"}
USER_PARTS = {"input_text", "input_image", "input_file"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
WITHOUT_REASONING = ("gpt-4", "gpt-3")


def answer(turn: Turn, request: Json, issued: Issued) -> Json:
    """The whole response."""
    output = [_item(block, request, issued, turn) for block in turn.blocks]
    thought = ""
    for item in output:
        if item["type"] == "reasoning":
            thought = item["id"]
        elif thought:
            issued.needs[item["id"]] = thought
    reason = INCOMPLETE.get(turn.stop, turn.stop) if turn.stop != "auto" else None
    response: Json = {
        "id": issued.id("resp_"),
        "object": "response",
        "created_at": 1_760_000_000,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": request["model"],
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "store": request.get("store", True),
    }
    if "failed" in turn.options:
        response |= {"status": "failed", "error": {"code": "server_error", "message": "The model has failed."}}
    if "odd_status" in turn.options:
        response |= {"status": "cancelled"}
    response["usage"] = None if turn.no_usage else _usage(turn)
    return response


def _usage(turn: Turn) -> Json:
    read, written = turn.count("cache_read", 0), turn.count("cache_write", 0)
    total, output = turn.count("input", 100) + read + written, turn.count("output", 20)
    return {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": total + output,
    }


def _item(block: object, request: Json, issued: Issued, turn: Turn) -> Json:
    match block:
        case Text() if "refusal_part" in turn.options:
            content: Json = {"type": "refusal", "refusal": block.text}
            return _message(issued, content)
        case Text():
            notes = [
                {"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 1}
                for url, title in block.citations
            ]
            content = {"type": "output_text", "text": block.text, "annotations": notes, "logprobs": []}
            return _message(issued, content) | ({"phase": "commentary"} if turn.calls else {"phase": "final_answer"})
        case Thinking():
            asked = "reasoning.encrypted_content" in request.get("include", ())
            return {
                "id": issued.id("rs_"),
                "type": "reasoning",
                "summary": [] if block.redacted else [{"type": "summary_text", "text": block.text}],
                "encrypted_content": issued.secret("gAAA", request["model"]) if asked else None,
            }
        case Use():
            written = block.arguments if isinstance(block.arguments, str) else json.dumps(block.arguments)
            return {
                "id": issued.id("fc_"),
                "type": "function_call",
                "status": "completed",
                "call_id": block.id if block.id is not None else issued.id("call_"),
                "name": block.name,
                "arguments": written,
            }
        case Search():
            action: Json = {"type": "search", "query": block.query}
            if "web_search_call.action.sources" in request.get("include", ()) and isinstance(block.found, tuple):
                action["sources"] = [{"type": "url", "url": url} for url, _ in block.found]
            return {"id": issued.id("ws_"), "type": "web_search_call", "status": "completed", "action": action}
        case Raw():
            issued.secrets[json.dumps(block.block, sort_keys=True)] = True
            return dict(block.block)
        case _:
            raise AssertionError(block)


def _message(issued: Issued, content: Json) -> Json:
    return {
        "id": issued.id("msg_"),
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }


def plain(response: Json) -> Json:
    """What goes out unstreamed."""
    return response


def events(response: Json, fault: Fault) -> Iterator[tuple[str, str]]:
    """The stream of a response: names and data."""
    for number, event in enumerate(_events(response, fault)):
        yield event["type"], json.dumps(event | {"sequence_number": number}, ensure_ascii=False)


def _events(response: Json, fault: Fault) -> Iterator[Json]:
    start = response | {"status": "in_progress", "output": [], "usage": None, "incomplete_details": None, "error": None}
    yield {"type": "response.created", "response": start}
    yield {"type": "response.in_progress", "response": start}
    for index, item in enumerate(response["output"]):
        place: Json = {"output_index": index, "item_id": item.get("id", "")}
        if fault.noise:
            yield {"type": "response.something_new", **place}
        yield {"type": "response.output_item.added", "output_index": index, "item": _begun(item)}
        yield from _grown(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _begun(item: Json) -> Json:
    match item["type"]:
        case "message":
            return item | {"content": [], "status": "in_progress"}
        case "function_call":
            return item | {"arguments": "", "status": "in_progress"}
        case "reasoning":
            return item | {"summary": []}
        case _:
            return item


def _grown(item: Json, place: Json) -> Iterator[Json]:
    match item["type"]:
        case "message":
            yield from _content(item["content"][0], place | {"content_index": 0})
        case "function_call":
            for piece in thirds(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield {"type": "response.function_call_arguments.done", **place, **done}
        case "reasoning":
            for number, part in enumerate(item["summary"]):
                here = place | {"summary_index": number}
                empty = {"type": "summary_text", "text": ""}
                yield {"type": "response.reasoning_summary_part.added", **here, "part": empty}
                for word in words(part["text"]):
                    yield {"type": "response.reasoning_summary_text.delta", **here, "delta": word}
                yield {"type": "response.reasoning_summary_text.done", **here, "text": part["text"]}
                yield {"type": "response.reasoning_summary_part.done", **here, "part": part}
        case "web_search_call":
            for word in ("in_progress", "searching", "completed"):
                yield {"type": f"response.web_search_call.{word}", **place}
        case _:
            return


def _content(part: Json, here: Json) -> Iterator[Json]:
    key = "refusal" if part["type"] == "refusal" else "text"
    name = "refusal" if key == "refusal" else "output_text"
    more: Json = {} if key == "refusal" else {"logprobs": []}
    yield {"type": "response.content_part.added", **here, "part": part | {key: ""}}
    for word in words(part[key]):
        yield {"type": f"response.{name}.delta", **here, "delta": word, **more}
    for number, note in enumerate(part.get("annotations", ())):
        added = {"annotation_index": number, "annotation": note}
        yield {"type": "response.output_text.annotation.added", **here, **added}
    yield {"type": f"response.{name}.done", **here, key: part[key], **more}
    yield {"type": "response.content_part.done", **here, "part": part}


def error(fault: Fault, issued: Issued) -> Json:
    """An error in the wire's form."""
    return {"error": {"message": fault.message, "type": fault.kind, "param": None, "code": fault.code}}


def error_event(fault: Fault, issued: Issued) -> tuple[str, str]:
    """An error inside a stream."""
    said = {"type": "error", "code": fault.code, "message": fault.message, "param": None, "sequence_number": 9}
    return "error", json.dumps(said)


def faults_of(request: Json, headers: Mapping[str, str], issued: Issued) -> Iterator[str]:
    """Everything for which the provider would refuse the request."""
    if not headers.get("authorization", "").startswith("Bearer ") and not headers.get("api-key"):
        yield "You didn't provide an API key."
    yield from (f"Unknown parameter: '{key}'." for key in request.keys() - TOP)
    if request.get("max_output_tokens", 16) < 16:
        yield "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16."
    include = set(request.get("include", ()))
    if include - INCLUDES:
        yield f"Invalid value: {include - INCLUDES}"
    if "reasoning.encrypted_content" in include and request["model"].startswith(WITHOUT_REASONING):
        yield "Encrypted content is not supported with this model."
    yield from _tools(request.get("tools", []))
    yield from _format((request.get("text") or {}).get("format"))
    items = request.get("input")
    if not items:
        yield "One of 'input' or 'previous_response_id' must be provided."
    yield from _conversation(items or [], request, issued)


def _tools(tools: list[Json]) -> Iterator[str]:
    for tool in tools:
        if tool["type"] == "function":
            if "strict" not in tool or not NAME.fullmatch(tool["name"]):
                yield f"Missing required parameter or bad name: {tool}"
            elif tool["strict"]:
                yield from (
                    f"Invalid schema for function '{tool['name']}': {one}" for one in _strict(tool["parameters"])
                )
        elif tool["type"] != "web_search" or tool.keys() - {"type", "filters"}:
            yield f"Invalid tool {tool}"


def _format(wanted: Json | None) -> Iterator[str]:
    if wanted is None:
        return
    if wanted["type"] != "json_schema" or not NAME.fullmatch(wanted["name"]):
        yield "Invalid text.format"
    if wanted.get("strict"):
        yield from (f"Invalid schema for response_format: {one}" for one in _strict(wanted["schema"]))


def _strict(schema: object) -> Iterator[str]:
    """The rules of strict mode, at every object."""
    if isinstance(schema, list):
        for one in schema:
            yield from _strict(one)
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    if schema.get("type") == "object" and isinstance(properties, dict):
        if schema.get("additionalProperties") is not False:
            yield "'additionalProperties' is required to be supplied and to be false"
        if set(schema.get("required", ())) != set(properties):
            yield "'required' is required to be supplied and to be an array including every key in properties"
    if "default" in schema and not isinstance(schema["default"], dict):
        yield "'default' is not permitted"
    for one in schema.values():
        yield from _strict(one)


def _conversation(items: list[Json], request: Json, issued: Issued) -> Iterator[str]:
    waiting: dict[str, bool] = {}
    present = {item.get("id") for item in items}
    for place, item in enumerate(items):
        where = f"input[{place}]"
        needed = issued.needs.get(item.get("id", ""))
        if needed and needed not in present:
            yield f"{where}: Item '{item['id']}' was provided without its required 'reasoning' item"
        yield from _pairs(where, item, waiting)
        yield from _item_faults(where, item, items[place + 1 :], request, issued)
    yield from (f"No tool output found for function call {one}." for one, open_ in waiting.items() if open_)


def _pairs(where: str, item: Json, waiting: dict[str, bool]) -> Iterator[str]:
    match item.get("type"):
        case "function_call":
            if item["call_id"] in waiting:
                yield f"{where}: duplicate call_id {item['call_id']}"
            waiting[item["call_id"]] = True
        case "function_call_output":
            if not waiting.get(item["call_id"]):
                yield f"{where}: No tool call found for function call output with call_id {item['call_id']}."
            waiting[item["call_id"]] = False


def _item_faults(where: str, item: Json, rest: list[Json], request: Json, issued: Issued) -> Iterator[str]:
    match item.get("type", "message"):
        case "message":
            yield from _said(where, item)
        case "function_call":
            yield from _call(where, item)
        case "function_call_output":
            yield from _output(where, item["output"])
        case "reasoning":
            yield from _reasoning(where, item, rest, request, issued)
        case "web_search_call":
            if "id" not in item:
                yield f"{where}: Missing required parameter: 'id'."
        case kind:
            if json.dumps(item, sort_keys=True) not in issued.secrets:
                yield f"{where}: Invalid value: {kind!r}"


def _said(where: str, item: Json) -> Iterator[str]:
    role, content = item.get("role"), item["content"]
    if role not in {"user", "assistant", "system", "developer"}:
        yield f"{where}.role: invalid"
    if not content:
        yield f"{where}.content: empty"
    allowed = USER_PARTS if role == "user" else {"output_text", "refusal"}
    for part in content if isinstance(content, list) else ():
        if part["type"] not in allowed:
            yield f"{where}: Invalid value: '{part['type']}' for role {role}"


def _call(where: str, item: Json) -> Iterator[str]:
    if not NAME.fullmatch(item["name"]) or len(item["call_id"]) > 64:
        yield f"{where}: name or call_id does not match its pattern"
    if not isinstance(item["arguments"], str):
        yield f"{where}.arguments: expected a string"


def _output(where: str, output: object) -> Iterator[str]:
    if isinstance(output, str):
        return
    if not isinstance(output, list) or not output or any(part["type"] not in USER_PARTS for part in output):
        yield f"{where}.output: invalid"


def _reasoning(where: str, item: Json, rest: list[Json], request: Json, issued: Issued) -> Iterator[str]:
    secret = item.get("encrypted_content")
    if not secret:
        yield f"{where}: Item '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
    elif issued.secrets.get(secret) != request["model"]:
        yield f"{where}: The encrypted content could not be verified."
    if not rest or rest[0].get("role") == "user":
        yield f"{where}: Item of type 'reasoning' was provided without its required following item."
