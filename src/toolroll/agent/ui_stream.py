"""A run as the UI message stream (version 1) of Vercel's AI SDK, so that `useChat` can show it.

Only the way out is here: what a browser posts is the program's to check. A call that waits for a person comes as an
approval request, whose id is the id of the call.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from typing import Final, Literal, TypeAlias

from toolroll.agent.events import (
    ArgumentsArrived,
    CallFinished,
    CallStarted,
    Event,
    ReasoningArrived,
    RunFinished,
    StepFinished,
    StepStarted,
    TextArrived,
)
from toolroll.agent.result import RunResult
from toolroll.errors import ToolrollError
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import AssistantMessage, ToolCall
from toolroll.kernel.data.serialize import dump_json

HEADERS: Final[Mapping[str, str]] = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-vercel-ai-ui-message-stream": "v1",
}
"""What the response must say of itself."""

Chunk: TypeAlias = dict[str, object]
_Kind: TypeAlias = Literal["text", "reasoning"]


async def ui_stream(events: AsyncIterable[Event], *, message_id: str | None = None) -> AsyncIterator[str]:
    """Yield the events of a run (`agent.stream(...)`) as lines of server-sent events.

    With `message_id`, the client adds to its message of that id. An error of the model ends the stream and is told in
    it.
    """
    writer = UiWriter()
    yield _line({"type": "start"} if message_id is None else {"type": "start", "messageId": message_id})
    try:
        async for event in events:
            for chunk in writer.on_event(event):
                yield _line(chunk)
    except ToolrollError as error:
        yield _line({"type": "error", "errorText": error.message})
    yield "data: [DONE]\n\n"


def _line(chunk: Chunk) -> str:
    return f"data: {dump_json(chunk)}\n\n"


class UiWriter:
    """Turns the events of one run into chunks: what is open is closed before something else begins."""

    def __init__(self) -> None:
        self._open: tuple[_Kind, str] | None = None
        self._count = 0
        self._has_text = False
        self._started: set[str] = set()
        self._available: set[str] = set()

    def on_event(self, event: Event) -> Iterator[Chunk]:
        """Yield the chunks that tell of an event; some events have none."""
        match event:
            case StepStarted():
                self._has_text = False
                yield {"type": "start-step"}
            case TextArrived(text=text) | ReasoningArrived(text=text):
                yield from self._write("text" if isinstance(event, TextArrived) else "reasoning", text)
            case ArgumentsArrived(call_id=call_id, name=name, text=text):
                yield from self._begin_call(call_id, name)
                yield {"type": "tool-input-delta", "toolCallId": call_id, "inputTextDelta": text}
            case CallStarted(call=call):
                yield from self._input(call)
            case CallFinished(call=call, result=result):
                yield from self._input(call)
                yield _output(call, result)
            case StepFinished(step=step):
                if step.text and not self._has_text:  # a run that is not streamed
                    yield from self._write("text", step.text)
                yield from self._close()
                yield {"type": "finish-step"}
            case RunFinished(result=result):
                yield from self._finish(result)
            case _:
                return

    def _write(self, kind: _Kind, text: str) -> Iterator[Chunk]:
        self._has_text = self._has_text or kind == "text"
        if self._open is None or self._open[0] != kind:
            yield from self._close()
            self._count += 1
            self._open = (kind, f"{kind}_{self._count}")
            yield {"type": f"{kind}-start", "id": self._open[1]}
        yield {"type": f"{kind}-delta", "id": self._open[1], "delta": text}

    def _close(self) -> Iterator[Chunk]:
        if self._open is not None:
            kind, name = self._open
            self._open = None
            yield {"type": f"{kind}-end", "id": name}

    def _begin_call(self, call_id: str, name: str) -> Iterator[Chunk]:
        if call_id not in self._started:
            self._started.add(call_id)
            yield from self._close()
            yield {"type": "tool-input-start", "toolCallId": call_id, "toolName": name, "dynamic": True}

    def _input(self, call: ToolCall) -> Iterator[Chunk]:
        if call.id not in self._available:
            yield from self._begin_call(call.id, call.name)
            self._available.add(call.id)
            yield {
                "type": "tool-input-available",
                "toolCallId": call.id,
                "toolName": call.name,
                "input": _arguments(call),
                "dynamic": True,
            }

    def _finish(self, result: RunResult[object]) -> Iterator[Chunk]:
        yield from self._close()
        waiting = {one.call_id: one for one in result.pending}
        for message in result.messages:
            for call in message.calls if isinstance(message, AssistantMessage) else ():
                if call.id in waiting:
                    yield from self._input(call)
                    yield {"type": "tool-approval-request", "toolCallId": call.id, "approvalId": call.id}
        yield {"type": "finish"}


def _arguments(call: ToolCall) -> object:
    try:
        return json.loads(call.arguments or "{}")
    except ValueError:  # what a model wrote, and the tool has refused
        return call.arguments


def _output(call: ToolCall, result: ToolResult) -> Chunk:
    if result.code == "rejected":
        return {"type": "tool-output-denied", "toolCallId": call.id}
    if result.is_error:
        return {"type": "tool-output-error", "toolCallId": call.id, "errorText": result.text, "dynamic": True}
    return {"type": "tool-output-available", "toolCallId": call.id, "output": result.text, "dynamic": True}
