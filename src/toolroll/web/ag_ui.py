"""AG-UI: other front ends talk to the coding agent here, with events and interrupts of that protocol.

A thread is a chat of the token, a run of AG-UI is one drive of it. What the client says of earlier messages is not
read: the record is ours, and only the last message and answers to our own questions count. An interrupt is named by its
call and by the digest of what was shown, so that an answer to anything else is refused.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from toolroll.apps.chats import Chats, ChatView
from toolroll.apps.feed import Listener
from toolroll.errors import DecisionRefused, RunMissing, ToolrollError, UsageError
from toolroll.home.tokens import Token
from toolroll.journal.journal import Journal, Recording
from toolroll.journal.records import CallEnded, ModelTurn, Record, RunEnded
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.web.ag_ui_models import AgUiResume, AgUiRun
from toolroll.web.models import Operation
from toolroll.web.problems import Problem
from toolroll.web.routing import read_body

WAIT_S: Final = 0.5
PING_S: Final = 15.0
_BETWEEN: Final = "@"
_ID_DIGITS: Final = 32
RESPONSE_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "edited": {"type": "string", "description": "The person's own text instead of the proposed one."},
        "reason": {"type": "string", "description": "Why not, for the model."},
    },
    "required": ["approved"],
}

Fields = dict[str, Any]


class AgUiApi:
    """The one operation of AG-UI."""

    def __init__(self, chats: Chats, journal: Journal, folder: Path) -> None:
        self._chats, self._journal, self._folder = chats, journal, folder

    async def run_agent(self, request: Request, token: Token) -> Response:
        """Send a message or answers to a thread, and stream what the agent does as events of AG-UI."""
        asked = await read_body(request, AgUiRun)
        if asked.resume and "approve" not in token.scopes:
            raise Problem(403, "forbidden", f"The token '{token.name}' does not have the scope 'approve'.")
        events = self._stream(asked, chat_id_of(token, asked.thread_id))
        return StreamingResponse(_encode(events), media_type="text/event-stream")

    async def _stream(self, asked: AgUiRun, chat_id: str) -> AsyncIterator[Fields | None]:
        ids = {"threadId": asked.thread_id, "runId": asked.run_id}
        yield {"type": "RUN_STARTED", **ids}
        with self._chats.feed.listen() as listener:
            before = await self._read(chat_id)
            translator = Translator(asked.run_id, before)
            try:
                await self._begin(asked, chat_id, is_new=not len(before))
            except ToolrollError as error:
                yield {"type": "RUN_ERROR", "message": str(error.message), "code": error.code}
                return
            async for event in self._follow(chat_id, translator, listener):
                yield event
        for event in translator.finish(self._chats.view(chat_id), ids):
            yield event

    async def _begin(self, asked: AgUiRun, chat_id: str, *, is_new: bool) -> None:
        if asked.resume:
            await self._answer(asked.resume, chat_id)
            return
        last = asked.messages[-1] if asked.messages else None
        if last is None or last.role != "user" or not last.text.strip():
            raise UsageError("The last message must be one of the user, with a text; or send answers in 'resume'.")
        if is_new:
            await self._chats.start(last.text, folder=self._folder, chat_id=chat_id)
        else:
            await self._chats.say(chat_id, last.text)

    async def _answer(self, answers: tuple[AgUiResume, ...], chat_id: str) -> None:
        if not self._chats.view(chat_id).requests:
            await self._chats.look(chat_id)  # another process may have asked
        decisions: dict[str, tuple[str, Decision]] = {}
        for one in answers:
            call_id, _, digest = one.interrupt_id.rpartition(_BETWEEN)
            decisions[call_id] = (digest, _decide(one))
        if decisions.keys() != self._chats.view(chat_id).requests.keys():
            raise DecisionRefused("Answer everything that is asked, and nothing else; it may have changed.")
        await self._chats.answer(chat_id, decisions)

    async def _follow(self, chat_id: str, translator: "Translator", listener: Listener) -> AsyncIterator[Fields | None]:
        silent_s = 0.0
        while True:
            news = await listener.wait(WAIT_S)
            view = self._chats.view(chat_id)
            # Looked at before the record is read: what is written after that is read in the next round.
            for event in translator.read(await self._read(chat_id, after=translator.seen)):
                yield event
            for event in translator.write(view):
                yield event
            if not view.is_running:
                return
            silent_s = 0.0 if news else silent_s + WAIT_S
            if silent_s >= PING_S:
                silent_s = 0.0
                yield None

    async def _read(self, chat_id: str, after: int = 0) -> Recording:
        try:
            return await self._journal.read(chat_id, after=after)
        except RunMissing:  # its first record is about to be written
            return Recording(run_id=chat_id, records=())


class Translator:
    """Turns the record of a chat, and what is being written, into events of AG-UI."""

    def __init__(self, run_id: str, before: Recording) -> None:
        records = list(before)
        self.seen: int = records[-1][0] if records else 0
        self._run_id = run_id
        self._turns = sum(isinstance(record, ModelTurn) for _, record in records)
        self._message: str | None = None
        self._sent = 0
        self._stop_reason = ""

    def read(self, recording: Recording) -> Iterator[Fields]:
        """Yield events for records that are new."""
        for number, record in recording:
            self.seen = number
            yield from self._record(record)

    def write(self, view: ChatView) -> Iterator[Fields]:
        """Yield what the model has written of a step that is not on record yet."""
        if view.step > self._turns and len(view.text) > self._sent:
            yield from self._text(view.text)

    def finish(self, view: ChatView, ids: Mapping[str, str]) -> Iterator[Fields]:
        """Yield the end of the run: a success, what a person has to be asked, or an error."""
        yield from self._close()
        if view.error:
            yield {"type": "RUN_ERROR", "message": view.error, "code": "failed"}
        elif view.requests:
            asked = [_interrupt(one) for one in view.requests.values()]
            yield {"type": "RUN_FINISHED", **ids, "outcome": {"type": "interrupt", "interrupts": asked}}
        else:
            result = {"stopReason": self._stop_reason}
            yield {"type": "RUN_FINISHED", **ids, "outcome": {"type": "success"}, "result": result}

    def _record(self, record: Record) -> Iterator[Fields]:
        match record:
            case ModelTurn(message=message):
                if message.text:
                    yield from self._text(message.text)
                yield from self._close()
                self._turns += 1
                for call in message.calls:
                    yield {"type": "TOOL_CALL_START", "toolCallId": call.id, "toolCallName": call.name}
                    yield {"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": call.arguments or "{}"}
                    yield {"type": "TOOL_CALL_END", "toolCallId": call.id}
            case CallEnded(result=result):
                told = {"toolCallId": result.call_id, "content": _text_of(result.content), "role": "tool"}
                yield {"type": "TOOL_CALL_RESULT", "messageId": f"result-{result.call_id}", **told}
            case RunEnded(stop_reason=reason):
                self._stop_reason = reason
            case _:
                pass

    def _text(self, whole: str) -> Iterator[Fields]:
        if self._message is None:
            self._message = f"{self._run_id}-{self._turns + 1}"
            yield {"type": "TEXT_MESSAGE_START", "messageId": self._message, "role": "assistant"}
        if whole[self._sent :]:
            yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._message, "delta": whole[self._sent :]}
            self._sent = len(whole)

    def _close(self) -> Iterator[Fields]:
        if self._message is not None:
            yield {"type": "TEXT_MESSAGE_END", "messageId": self._message}
        self._message, self._sent = None, 0


def chat_id_of(token: Token, thread: str) -> str:
    """Return the chat that a thread of a token is: nobody else's token leads to it, and a restart changes nothing."""
    return hashlib.sha256(f"ag-ui\0{token.name}\0{thread}".encode()).hexdigest()[:_ID_DIGITS]


def _interrupt(request: ApprovalRequest) -> Fields:
    return {
        "id": f"{request.call_id}{_BETWEEN}{request.digest}",
        "reason": "tool_call",
        "message": request.why or f"Allow {request.tool}?",
        "toolCallId": request.call_id,
        "responseSchema": RESPONSE_SCHEMA,
        "metadata": {
            "toolroll": {
                "tool": request.tool,
                "effect": request.effect,
                "paths": list(request.judged_paths),
                "kind": request.preview.kind,
                "preview": request.preview.text,
                "editable": request.preview.editable,
                "digest": request.digest,
            }
        },
    }


def _decide(given: AgUiResume) -> Decision:
    payload = given.payload
    if given.status == "resolved" and payload is not None and payload.approved:
        return Approve(edited=payload.edited)
    return Reject(None if payload is None else payload.reason)


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, tuple) else ()
    return "".join(getattr(part, "text", f"[{getattr(part, 'type', 'part')}]") for part in parts)


async def _encode(events: AsyncIterator[Fields | None]) -> AsyncIterator[str]:
    async for event in events:
        yield ": still here\n\n" if event is None else f"data: {json.dumps(event, ensure_ascii=False)}\n\n"


AG_UI_OPERATIONS: Final = (
    Operation(
        method="POST",
        path="/ag-ui",
        name="run_agent",
        summary="Talk to the coding agent over AG-UI",
        scope="chat",
        body=AgUiRun,
        media_type="text/event-stream",
        problems=(415,),
    ),
)
