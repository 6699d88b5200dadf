"""The same model as in `anthropic.py` for those who speak OpenAI's Chat Completions.

    POST /STEPS/CALLS/WORDS/v1/chat/completions

Its answer is plain text that reads as a call of `final_answer`: that is how smolagents wants to be told the end.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))  # as in loop.py

from benchmarks.fakes import anthropic

MODEL = "gpt-4o"
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
FINAL = json.dumps({"name": "final_answer", "arguments": {"answer": "All is added."}})


def turn_of(turn: int, steps: int, calls: int, words: int) -> tuple[list[str], list[dict[str, Any]]]:
    """The words and the calls of one turn."""
    if turn >= steps:
        return [FINAL], []
    uses = [
        {"id": f"call_{turn}_{number}", "name": "add", "arguments": json.dumps({"a": turn, "b": number})}
        for number in range(calls)
    ]
    return [f"word{number} " for number in range(words)], uses


def message(turn: int, words: list[str], uses: list[dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": "".join(words) or None}
    if uses:
        said["tool_calls"] = [
            {"id": use["id"], "type": "function", "function": {"name": use["name"], "arguments": use["arguments"]}}
            for use in uses
        ]
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if uses else "stop"}
    who = {"id": f"chatcmpl-{turn}", "object": "chat.completion", "created": 1, "model": MODEL}
    return who | {"choices": [choice], "usage": USAGE}


def deltas(words: list[str], uses: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    yield from ({"content": word} for word in words)
    for index, use in enumerate(uses):
        function = {"name": use["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": use["id"], "type": "function", "function": function}]}
        for piece in (use["arguments"][:5], use["arguments"][5:]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def events(turn: int, words: list[str], uses: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same as a stream: text word by word, arguments in two pieces."""
    chunk = {"id": f"chatcmpl-{turn}", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    for delta in deltas(words, uses):
        yield chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if uses else "stop"}]}
    yield chunk | {"choices": [], "usage": USAGE}


@cache
def answer(script: tuple[int, int, int], turn: int, stream: bool) -> bytes:
    """The whole HTTP answer, made once."""
    words, uses = turn_of(turn, *script)
    if not stream:
        return anthropic.whole(message(turn, words, uses))
    chunks = [f"data: {json.dumps(one)}\n\n".encode() for one in events(turn, words, uses)]
    return anthropic.streamed([*chunks, b"data: [DONE]\n\n"])


class ChatConnection(anthropic.Connection):
    """Counts results where Chat Completions have them; smolagents tells them as observations, once a step."""

    def reply(self, script: tuple[int, int, int], body: bytes, stream: bool) -> bytes:
        results = body.count(b'"tool_call_id"') // max(script[1], 1) or body.count(b"Observation:\\n")
        return answer(script, results, stream)


if __name__ == "__main__":
    asyncio.run(anthropic.serve(ChatConnection))
