"""Chat Completions, from the server's side, with the bad habits of some servers on request.

Habits: `no_ids`, `no_index`, `index_zero` (Ollama), `repeat_ids`, `whole_calls`, `stop_for_calls` (Ollama),
`object_arguments`, `empty_arguments`, `no_done`, `no_finish`, `reasoning` (vLLM's field for it), `json_only`.
"""

import json
import re
from collections.abc import Iterator, Mapping

from tests.support.model_script import Fault, Issued, Json, Raw, Text, Thinking, Turn, Use, thirds, words

STOPS = {"max_tokens": "length", "refusal": "content_filter", "stop_sequence": "stop"}
TOP = {
    *("model", "messages", "stream", "stream_options", "tools", "tool_choice", "max_tokens", "max_completion_tokens"),
    *("response_format", "temperature", "seed", "top_p", "stop", "service_tier", "parallel_tool_calls"),
    *("reasoning_effort", "reasoning", "thinking"),
}
ROLES = {"system", "developer", "user", "assistant", "tool"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def answer(turn: Turn, request: Json, issued: Issued) -> Json:
    """The whole completion; underscored keys are for the stream."""
    message: Json = {"role": "assistant", "content": None}
    text = "".join(block.text for block in turn.blocks if isinstance(block, Text))
    thoughts = "".join(block.text for block in turn.blocks if isinstance(block, Thinking))
    if text and "refusal_field" in turn.options:
        message["refusal"] = text
    elif text:
        message["content"] = text
    if thoughts:
        message["reasoning" if "reasoning" in turn.options else "reasoning_content"] = thoughts
    for block in turn.blocks:
        if isinstance(block, Raw):
            message |= block.block
    if turn.calls:
        message["tool_calls"] = [_call(call, turn, issued) for call in turn.calls]
    reason = STOPS.get(turn.stop, turn.stop) if turn.stop != "auto" else _auto(turn)
    choice: Json = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    if "no_finish" in turn.options:
        choice["finish_reason"] = None
    completion: Json = {
        "id": issued.id("chatcmpl-"),
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": request["model"],
        "choices": [choice],
        "_options": turn.options,
        "_usage_asked": (request.get("stream_options") or {}).get("include_usage", False),
    }
    return completion if turn.no_usage else completion | {"usage": _usage(turn)}


def _auto(turn: Turn) -> str:
    return "tool_calls" if turn.calls and "stop_for_calls" not in turn.options else "stop"


def _call(call: Use, turn: Turn, issued: Issued) -> Json:
    written: object = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    if "object_arguments" in turn.options:
        written = call.arguments
    if "empty_arguments" in turn.options:
        written = ""
    made: Json = {"id": call.id if call.id is not None else issued.id("call_"), "type": "function"}
    if "no_ids" in turn.options:
        del made["id"]
    if "signed_calls" in turn.options:
        made["extra_content"] = {"google": {"thought_signature": issued.secret("thought", call.name)}}
    return made | {"function": {"name": call.name, "arguments": written}}


def _usage(turn: Turn) -> Json:
    read = turn.count("cache_read", 0)
    prompt, completion = turn.count("input", 100) + read, turn.count("output", 20)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": read, "audio_tokens": 0},
    }


def plain(completion: Json) -> Json:
    """What goes out unstreamed."""
    return {key: value for key, value in completion.items() if not key.startswith("_")}


def events(completion: Json, fault: Fault) -> Iterator[tuple[str, str]]:
    """The stream of a completion."""
    options = completion["_options"]
    choice = completion["choices"][0]
    head = plain(completion) | {"object": "chat.completion.chunk"}
    usage = head.pop("usage", None)

    def chunk(delta: Json, reason: str | None = None) -> tuple[str, str]:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}]
        return "", json.dumps(head | {"choices": choices}, ensure_ascii=False)

    for delta in _deltas(choice["message"], options):
        yield chunk(delta)
    if choice["finish_reason"] is not None:
        yield chunk({}, choice["finish_reason"])
    if usage and completion["_usage_asked"]:
        yield "", json.dumps(head | {"choices": [], "usage": usage})
    if "no_done" not in options:
        yield "", "[DONE]"


def _deltas(message: Json, options: frozenset[str]) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    for key in ("reasoning_content", "reasoning", "content", "refusal"):
        yield from ({key: word} for word in words(message.get(key) or "") if word)
    for key in message.keys() - {"role", "content", "refusal", "reasoning_content", "reasoning", "tool_calls"}:
        yield {key: message[key]}
    for index, call in enumerate(message.get("tool_calls", ())):
        yield from ({"tool_calls": [fragment]} for fragment in _fragments(index, call, options))


def _fragments(index: int, call: Json, options: frozenset[str]) -> Iterator[Json]:
    place: Json = {"index": 0 if "index_zero" in options else index}
    if "no_index" in options:
        place = {}
    written = call["function"]["arguments"]
    if "whole_calls" in options or not isinstance(written, str):
        yield place | call
        return
    yield place | call | {"function": {"name": call["function"]["name"], "arguments": ""}}
    for piece in thirds(written):
        again = {key: call[key] for key in ("id", "type") if key in call} if "repeat_ids" in options else {}
        named = {"name": call["function"]["name"]} if "repeat_ids" in options else {}
        yield place | again | {"function": named | {"arguments": piece}}


def error(fault: Fault, issued: Issued) -> Json:
    """An error in the wire's form."""
    return {"error": {"message": fault.message, "type": fault.kind, "param": None, "code": fault.code}}


def error_event(fault: Fault, issued: Issued) -> tuple[str, str]:
    """An error inside a stream."""
    return "", json.dumps(error(fault, issued))


def faults_of(request: Json, headers: Mapping[str, str], issued: Issued) -> Iterator[str]:
    """Everything for which a server would refuse the request."""
    yield from (f"Unrecognized request argument supplied: {key}" for key in request.keys() - TOP)
    if request.get("stream_options") and not request.get("stream"):
        yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    for tool in request.get("tools", ()):
        if tool.get("type") != "function" or not NAME.fullmatch(tool["function"]["name"]):
            yield f"Invalid tool: {tool}"
    if "tool_choice" in request and not request.get("tools"):
        yield "'tool_choice' is only allowed when 'tools' are specified."
    messages = request.get("messages") or []
    if not messages:
        yield "[] is too short - 'messages'"
    yield from _conversation(messages)


def _conversation(messages: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages.[{place}]"
        if message["role"] not in ROLES:
            yield f"{where}.role: unknown"
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{where}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            else:
                waiting.remove(message["tool_call_id"])
            if not isinstance(message["content"], str):
                yield f"{where}.content: must be text"
            continue
        if waiting:
            yield f"{where}: these tool_call_ids did not have response messages: {waiting}"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        yield from _message(where, message)
    if waiting:
        yield f"these tool_call_ids did not have response messages: {waiting}"


def _message(where: str, message: Json) -> Iterator[str]:
    content = message.get("content")
    if content is None and not (message["role"] == "assistant" and message.get("tool_calls")):
        yield f"{where}.content: expected a string, got null"
    if content in ("", []):
        yield f"{where}.content: empty"
    for part in content if isinstance(content, list) else ():
        if part["type"] not in {"text", "image_url"}:
            yield f"{where}: unknown part {part['type']!r}"
    for call in message.get("tool_calls", ()):
        if not NAME.fullmatch(call["function"]["name"]):
            yield f"{where}: {call['function']['name']!r} does not match '^[a-zA-Z0-9_-]{{1,64}}$'"
        try:
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                yield f"{where}: arguments are no object"
        except ValueError:
            yield f"{where}: arguments are no JSON"
