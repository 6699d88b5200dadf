"""The part of the API that only the page uses: chats, approvals, runs and undo. It needs the page's own session."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from toolroll.apps.chats import Chats
from toolroll.apps.project import Project
from toolroll.apps.run_book import RunBook
from toolroll.errors import RunMissing, ToolrollError
from toolroll.home.tokens import Token
from toolroll.journal.journal import Journal, Recording, SupportsIsHeld
from toolroll.kernel.approval.hunk_choice import HunkChoice, find_choice
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.diff.hunks import parse_diffs, restore_original
from toolroll.kernel.diff.unified import unified_diff
from toolroll.web.attachments import make_prompt
from toolroll.web.models import Health, Operation
from toolroll.web.page_models import (
    Answers,
    CallAnswer,
    ChangeList,
    ChangeModel,
    ChatModel,
    ChatRequest,
    ChatStarted,
    DiffModel,
    EditRequest,
    FileDiff,
    Item,
    LaunchToken,
    MessageRequest,
    ModelRequest,
    UndoAnswer,
    UndoRequest,
)
from toolroll.web.problems import Problem
from toolroll.web.routing import answer_with, chat_operation, chat_path_id, read_body
from toolroll.web.run_models import ChangeDiff
from toolroll.web.sessions import Sessions, check_origin
from toolroll.web.transcript import file_diff, make_chat, whole_calls
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.records import Entry
from toolroll.workspace.changes.recovery import open_history
from toolroll.workspace.changes.undo import plan_redo, plan_undo
from toolroll.workspace.changes.undo import undo as carry_out

LOOK_S: Final = 1.0
"""Between two looks for what another process has done."""
PING_S: Final = 15.0
BY_HAND: Final = "by hand"
_MAX_DIGITS: Final = 10


class PageApi:
    """The operations of the page."""

    def __init__(
        self,
        chats: Chats,
        journal: Journal,
        sessions: Sessions,
        book: RunBook,
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        self._chats, self._journal, self._sessions, self._book = chats, journal, sessions, book
        self._folder, self._environment = folder, environment

    async def open_session(self, request: Request) -> Response:
        """Begin a session: exchange the token of the link for a cookie."""
        check_origin(request)
        response = JSONResponse({"status": "ok"})
        self._sessions.open((await read_body(request, LaunchToken)).token, response)
        return response

    async def start_chat(self, request: Request, _person: Token) -> Response:
        """Begin a chat with the coding agent."""
        asked = await read_body(request, ChatRequest)
        folder = _expand(asked.folder) if asked.folder else self._folder
        prompt = make_prompt(asked.text, asked.files)
        chat_id = await self._chats.start(prompt, folder=folder, model=asked.model, read_only=asked.read_only)
        return JSONResponse({"id": chat_id}, status_code=202, headers={"Location": f"/api/chats/{chat_id}"})

    async def show_chat(self, request: Request, _person: Token) -> Response:
        """Show a run: everything on record, or what comes `after` an index of it, and what is being written."""
        chat_id, after = chat_path_id(request), request.query_params.get("after", "0")
        if not (after.isascii() and after.isdigit() and len(after) < _MAX_DIGITS):
            raise Problem(400, "invalid_query", "after: must be a whole number.")
        chat = await self._read(chat_id)
        if chat.state == "waiting" and not chat.questions and chat.app in ("code", "run"):
            await self._chats.look(chat_id)
            chat = await self._read(chat_id)
        newer = tuple(item for item in chat.items if item.index > int(after))
        return answer_with(chat.model_copy(update={"items": newer}))

    async def show_call(self, request: Request, _person: Token) -> Response:
        """Show all of a call: lists hold the beginning of what is long."""
        wanted = request.query_params.get("call", "")
        for item in whole_calls(await self._journal.read(chat_path_id(request))):
            if item.call_id == wanted:
                return answer_with(item)
        raise Problem(404, "call_not_found", "There is no such call in this run.")

    async def send_message(self, request: Request, _person: Token) -> Response:
        """Send the next message."""
        asked = await read_body(request, MessageRequest)
        await self._chats.say(chat_path_id(request), make_prompt(asked.text, asked.files))
        return _done(202)

    async def continue_chat(self, request: Request, _person: Token) -> Response:
        """Continue a run that a limit or a failure has stopped."""
        await self._chats.go_on(chat_path_id(request))
        return _done(202)

    async def stop_chat(self, request: Request, _person: Token) -> Response:
        """Stop what the chat is doing."""
        await self._chats.stop(chat_path_id(request))
        return _done()

    async def set_model(self, request: Request, _person: Token) -> Response:
        """Answer with another model from the next message on."""
        await self._chats.use_model(chat_path_id(request), (await read_body(request, ModelRequest)).model)
        return _done()

    async def answer_chat(self, request: Request, _person: Token) -> Response:
        """Answer what the chat asks, bound to what was shown."""
        chat_id = chat_path_id(request)
        given = (await read_body(request, Answers)).answers
        asked = self._chats.view(chat_id).requests
        decisions = {one.call_id: (one.digest, _decide(one, asked.get(one.call_id))) for one in given}
        for one in given:
            if one.always is not None and one.decision == "approve":
                await self._chats.remember(chat_id, one.call_id, one.always)
        await self._chats.answer(chat_id, decisions)
        return _done(202)

    async def preview_edit(self, request: Request, _person: Token) -> Response:
        """Show what a text of the person's own would change."""
        asked = await read_body(request, EditRequest)
        found = self._chats.view(chat_path_id(request)).requests.get(asked.call_id)
        choice = None if found is None else find_choice(found.preview)
        if choice is None or choice.single is None:
            raise Problem(409, "not_editable", "This cannot be edited here, or was answered already.")
        before = restore_original(choice.proposed, choice.single) or ""
        text = "".join(unified_diff(before, asked.edited, path=choice.single.name))
        return answer_with(DiffModel(files=tuple(map(file_diff, parse_diffs(text) or ()))))

    async def list_changes(self, request: Request, _person: Token) -> Response:
        """List the changes that a run has made."""
        chat_id = chat_path_id(request)
        with self._open_project(await self._read(chat_id)) as project, History(project.workspace.state) as history:
            found = [one for one in history.changes() if one.run_id == chat_id]
        changes = tuple(
            ChangeModel(
                id=one.id,
                at=one.at,
                state="undone" if one.state == "applied" and one.is_undone else one.state,
                description=one.description,
                files=tuple(entry.path for entry in one.entries),
            )
            for one in found
        )
        return answer_with(ChangeList(changes=changes))

    async def show_change(self, request: Request, _person: Token) -> Response:
        """Show what a change did to its files."""
        chat_id, wanted = chat_path_id(request), request.query_params.get("change", "")
        with self._open_project(await self._read(chat_id)) as project, History(project.workspace.state) as history:
            found = history.get(wanted)
            if found is None or found.run_id != chat_id:
                raise Problem(404, "change_not_found", "This run has made no such change, or it is no longer kept.")
            diffs = [_diff_of(history, entry) for entry in found.entries]
        return answer_with(ChangeDiff(files=tuple(one for one in diffs if one is not None)))

    async def undo_change(self, request: Request, _person: Token) -> Response:
        """Take a change back, or make it again; later work is never overwritten."""
        asked = await read_body(request, UndoRequest)
        chat_id = chat_path_id(request)
        with self._open_project(await self._read(chat_id)) as project:
            workspace = project.workspace
            history, _ = open_history(workspace)
            with history:
                make_plan = plan_redo if asked.redo else plan_undo
                plan = make_plan(workspace, history, change=asked.change, path=None, run_id=None)
                if plan.proposal(merges=asked.merge) is None:
                    raise Problem(409, "nothing_done", " ".join(map(plan.describe, plan.steps)))
                result = carry_out(workspace, history, plan, run_id=BY_HAND, merges=asked.merge)
                done, left = tuple(map(plan.describe, result.done)), tuple(map(plan.describe, result.left))
        self._chats.feed.change(chat_id)
        return answer_with(UndoAnswer(done=done, left=left))

    async def follow(self, request: Request, _person: Token) -> Response:
        """Send news as server-sent events: which chats have changed, and the text that is being written."""
        return StreamingResponse(self._news(request.query_params.get("chat", "")), media_type="text/event-stream")

    async def _news(self, chat_id: str) -> AsyncIterator[str]:
        """Yield news of this process at once; of the chat that is looked at, also what another process adds."""
        tail, silent_s, version = -1, 0.0, self._book.version()
        with self._chats.feed.listen() as listener:
            yield "retry: 1000\n\n"
            while True:
                news = await listener.wait(LOOK_S)
                for one in news:
                    fields = {"chat": one.chat_id, "text": one.text, "at": one.at}
                    yield f"event: {one.kind}\ndata: {json.dumps(fields)}\n\n"
                silent_s = 0.0 if news else silent_s + LOOK_S
                if chat_id and not news:
                    now = await self._tail(chat_id, max(tail, 0))
                    if tail not in (-1, now):
                        yield f"event: changed\ndata: {json.dumps({'chat': chat_id})}\n\n"
                    tail = now
                if not news and version != (version := self._book.version()):
                    yield f"event: changed\ndata: {json.dumps({'chat': ''})}\n\n"  # some run, by some process
                if silent_s >= PING_S:
                    silent_s = 0.0
                    yield ": still here\n\n"

    async def _tail(self, chat_id: str, after: int) -> int:
        numbers = [number for number, _ in await self._journal.read(chat_id, after=after)]
        return numbers[-1] if numbers else after

    async def _read(self, chat_id: str) -> ChatModel:
        try:
            recording = await self._journal.read(chat_id)
        except RunMissing:
            if not self._chats.view(chat_id).is_running:
                raise
            recording = Recording(run_id=chat_id, records=())  # its first record is about to be written
        is_held = isinstance(self._journal, SupportsIsHeld) and await self._journal.is_held(chat_id)
        # Last, with no wait after it: what is newer than the record is told again by the next news.
        view = self._chats.view(chat_id)
        return make_chat(chat_id, recording, view, is_held=is_held and not view.is_running)

    def _open_project(self, chat: ChatModel) -> Project:
        if chat.app != "code" or not chat.folder:
            raise Problem(409, "no_project", "This run works in no project, so there is nothing to undo.")
        return Project.open(Path(chat.folder), self._environment)


def _diff_of(history: History, entry: Entry) -> FileDiff | None:
    """Return what a change did to one file; None where its content is no longer kept, or it is no text."""
    try:
        contents = [b"" if one is None else history.content(one) for one in (entry.before, entry.after)]
    except ToolrollError:
        return None
    before, after = (content.decode("utf-8", "replace") for content in contents)
    found = parse_diffs("".join(unified_diff(before, after, path=entry.path)))
    return file_diff(found[0]) if found else FileDiff(name=entry.path, hunks=())


def _decide(given: CallAnswer, asked: ApprovalRequest | None) -> Decision:
    """Return the decision; Problem if it is not about what is asked."""
    if given.decision == "reject":
        return Reject(given.reason)
    if given.edited is not None:
        return Approve(edited=given.edited)
    if given.hunks is None:
        return Approve()
    choice = None if asked is None else find_choice(asked.preview)
    if choice is None or not _fits(choice, given.hunks):
        raise Problem(409, "stale", "What this is about has changed, or was answered. Look at it again.")
    if not any(map(any, given.hunks)):
        raise Problem(400, "invalid_body", "hunks: take at least one change, or reject the call.")
    if all(map(all, given.hunks)):
        return Approve()
    return Approve(edited=choice.taking(given.hunks))


def _fits(choice: HunkChoice, taken: tuple[tuple[bool, ...], ...]) -> bool:
    # A file without hunks, such as one whose mode changes, is taken or left as a whole.
    return [max(len(diff.hunks), 1) for diff in choice.diffs] == list(map(len, taken))


def _expand(folder: str) -> Path:
    try:
        return Path(folder).expanduser()
    except RuntimeError:  # `~name` of somebody who is not known here
        return Path(folder)


def _done(status: int = 200) -> Response:
    return JSONResponse({"status": "ok"}, status_code=status)


PAGE_OPERATIONS: Final = (
    Operation(
        method="POST",
        path="/api/session",
        name="open_session",
        summary="Begin a session of the page",
        scope=None,
        body=LaunchToken,
        answer=Health,
        problems=(401, 403, 415),
    ),
    Operation(
        method="POST",
        path="/api/chats",
        name="start_chat",
        summary="Begin a chat with the coding agent",
        scope="page",
        status=202,
        body=ChatRequest,
        answer=ChatStarted,
        problems=(404, 415),
    ),
    chat_operation(
        "show_chat",
        "Show a run",
        method="GET",
        answer=ChatModel,
        query={"after": {"type": "integer", "minimum": 0, "maximum": 999_999_999}},
    ),
    chat_operation(
        "show_call",
        "Show all of a call",
        path="/call",
        method="GET",
        answer=Item,
        query={"call": {"type": "string", "maxLength": 200}},
    ),
    chat_operation("send_message", "Send the next message", path="/messages", body=MessageRequest, status=202),
    chat_operation("continue_chat", "Continue a run that was stopped", path="/continue", status=202),
    chat_operation("stop_chat", "Stop what a chat is doing", path="/stop"),
    chat_operation("set_model", "Use another model", path="/model", body=ModelRequest),
    chat_operation("answer_chat", "Answer what a chat asks", path="/answers", body=Answers, status=202),
    chat_operation("preview_edit", "Preview an edited text", path="/preview", body=EditRequest, answer=DiffModel),
    chat_operation("list_changes", "List the changes of a run", path="/changes", method="GET", answer=ChangeList),
    chat_operation(
        "show_change",
        "Show what a change did",
        path="/change",
        method="GET",
        answer=ChangeDiff,
        query={"change": {"type": "string", "maxLength": 64}},
    ),
    chat_operation("undo_change", "Undo or redo a change", path="/undo", body=UndoRequest, answer=UndoAnswer),
    Operation(
        method="GET",
        path="/api/news",
        name="follow",
        summary="Follow what changes by server-sent events",
        scope="page",
        media_type="text/event-stream",
        query={"chat": {"type": "string", "maxLength": 200}},
    ),
)
