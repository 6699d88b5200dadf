"""A run as the page shows it: what was said, each call with its result, and what waits for an answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from toolroll.apps.chats import ChatView
from toolroll.apps.run_log import recorded_settings
from toolroll.apps.spec import recorded_kind
from toolroll.journal.journal import Recording
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    MessageAdded,
    ModelTurn,
    Record,
    RunBegan,
    RunEnded,
    StateSet,
)
from toolroll.kernel.approval.hunk_choice import find_choice
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.kernel.data.messages import DocumentPart, Part, TextPart, ToolCall, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.kernel.diff.hunks import Diff, parse_diffs, restore_original
from toolroll.models.catalog import ALIASES, limits_of
from toolroll.web.page_models import CallState, ChatModel, ChatState, FileDiff, HunkModel, Item, LineModel, Question

MAX_SHOWN_CHARACTERS: Final = 4_000
"""Of one result, or of the arguments of one call; `show_call` shows the whole."""
MAX_WHOLE_CHARACTERS: Final = 400_000
MAX_SAID: Final = 20_000
CHARACTERS_PER_TOKEN: Final = 4
"""About: what a result weighs is not reported by providers."""
MAX_TITLE_CHARACTERS: Final = 120
_ANSWERED: Final = ("answer", "done")
_CONTINUED: Final = ("condition", "interrupted", "failed", "gave_up", "repeated_calls", "repeated_failure", "cut_off")
TODOS: Final = "todos"


@dataclass(slots=True)
class _Calls:
    """Where the calls of a run stand."""

    states: dict[str, CallState] = field(default_factory=dict)
    results: dict[str, CallEnded] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def note(self, record: Record) -> None:
        match record:
            case ApprovalQuestion(call_id=call_id):
                self.asked.add(call_id)
            case ApprovalAnswer(call_id=call_id, decision=decision, reason=reason):
                self.asked.discard(call_id)
                if decision == "reject":
                    self.states[call_id] = "rejected"
                    self.reasons[call_id] = reason or ""
            case CallEnded(result=result):
                self.asked.discard(result.call_id)
                self.results[result.call_id] = record
                self.states.setdefault(result.call_id, "failed" if result.is_error else "done")
            case MessageAdded():
                self.asked.clear()
            case _:
                pass


def make_chat(chat_id: str, recording: Recording, view: ChatView, *, is_held: bool) -> ChatModel:
    """Return a run as the page shows it; `is_held` says that some process is at work on it."""
    records = list(recording)
    calls = _Calls()
    for _, record in records:
        calls.note(record)
    settings = recorded_settings(recording)
    items = list(_all_items(records, calls, MAX_SHOWN_CHARACTERS))
    turns = [record for _, record in records if isinstance(record, ModelTurn)]
    model = str(settings.get("model") or next((r.model for _, r in records if isinstance(r, RunBegan)), ""))
    usage = sum((turn.usage for turn in turns), Usage())
    costs = [turn.cost for turn in turns]
    stop, asked = _stop_reason(records), view.requests
    return ChatModel(
        id=chat_id,
        title=make_title(next((item.text for item in items if item.kind == "user"), "")),
        app=recorded_kind(settings),
        folder=str(settings.get("root") or settings.get("folder") or ""),
        model=view.model or model,
        state=_state(view, calls, stop, is_held=is_held),
        steps=len(turns),
        input_tokens=usage.input_total,
        output_tokens=usage.output_tokens,
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        context_tokens=turns[-1].usage.total if turns else 0,
        window_tokens=limits_of(_model_name(view.model or model)).window_tokens,
        items=tuple(items),
        questions=tuple(make_question(one, can_remember=key in view.can_remember) for key, one in asked.items()),
        writing=view.text if len(turns) < view.step else "",
        error=view.error,
        notes=view.notes,
        todos=_todos(records),
        can_continue=stop in _CONTINUED and not view.is_running,
    )


def make_question(request: ApprovalRequest, *, can_remember: bool) -> Question:
    """Return a question with everything that the person has to see."""
    preview = request.preview
    diffs = parse_diffs(preview.text) if preview.kind == "diff" else None
    choice = find_choice(preview)
    return Question(
        call_id=request.call_id,
        tool=request.tool,
        effect=request.effect,
        why=request.why,
        paths=request.judged_paths,
        digest=request.digest,
        preview=preview.text,
        files=None if diffs is None else tuple(map(file_diff, diffs)),
        editable=preview.editable,
        original=restore_original(choice.proposed, choice.single) if choice and choice.single else None,
        can_choose=choice is not None,
        notes=(*preview.remarks, *(str(link) for link in request.links)),
        always=request.paths[0] if can_remember and len(request.paths) == 1 else None,
    )


def file_diff(diff: Diff) -> FileDiff:
    """Return the changes of one file."""
    return FileDiff(
        name=diff.name,
        hunks=tuple(
            HunkModel(
                heading=hunk.heading,
                old_start=hunk.old_start + 1,
                new_start=hunk.new_start + 1,
                lines=tuple(LineModel(sign=line.sign, text=line.body) for line in hunk.lines),
            )
            for hunk in diff.hunks
        ),
    )


def make_title(text: str) -> str:
    """Return the first line of what a person said, as a title."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= MAX_TITLE_CHARACTERS else f"{line[:MAX_TITLE_CHARACTERS]}…"


def whole_calls(recording: Recording) -> Iterator[Item]:
    """Yield every call of a run with all of its arguments and of its result."""
    calls = _Calls()
    for _, record in recording:
        calls.note(record)
    return (item for item in _all_items(list(recording), calls, MAX_WHOLE_CHARACTERS) if item.kind == "call")


def _all_items(records: list[tuple[int, Record]], calls: _Calls, limit: int) -> Iterator[Item]:
    step = 0
    for number, record in records:
        step += isinstance(record, ModelTurn)
        yield from _items(number, record, calls, step, limit)


def _items(number: int, record: Record, calls: _Calls, step: int, limit: int) -> Iterator[Item]:
    match record:
        case MessageAdded(message=UserMessage(content=content), about=None):
            text = "".join(part.text for part in _parts(content) if isinstance(part, TextPart))
            yield Item(kind="user", index=number, step=step, text=_cut(text, MAX_SAID), files=_files(_parts(content)))
        case ModelTurn(message=message, usage=usage, cost=cost):
            if message.text:
                yield Item(kind="text", index=number, step=step, text=message.text, tokens=usage.total, cost=cost)
            for call in message.calls:
                yield _call_item(number, call, calls, step, limit)
        case RunEnded(stop_reason=reason, stop_detail=detail) if reason not in (*_ANSWERED, "approval_pending"):
            yield Item(kind="end", index=number, step=step, reason=reason, text=detail)
        case _:
            pass


def _call_item(number: int, call: ToolCall, calls: _Calls, step: int, limit: int) -> Item:
    ended = calls.results.get(call.id)
    state = calls.states.get(call.id) or ("waiting" if call.id in calls.asked else "running")
    result = "" if ended is None else _text_of(ended.result.content)
    return Item(
        kind="call",
        index=number,
        step=step,
        call_id=call.id,
        name=call.name,
        arguments=_cut(call.arguments, limit),
        state=state,
        reason=calls.reasons.get(call.id, ""),
        text=_cut(result, limit),
        code="" if ended is None else ended.code or "",
        is_cut=len(result) > limit or len(call.arguments) > limit,
        tokens=len(result) // CHARACTERS_PER_TOKEN,
        duration_ms=None if ended is None else ended.duration_ms,
    )


def _state(view: ChatView, calls: _Calls, stop: str | None, *, is_held: bool) -> ChatState:
    if view.is_running:
        return "running"
    if is_held:
        return "elsewhere"
    if calls.asked:
        return "waiting"
    return "idle" if stop in _ANSWERED else "stopped"


def _stop_reason(records: list[tuple[int, Record]]) -> str | None:
    """Return why the run ended; None if it goes on, or was cut off."""
    told = [record for _, record in records if not isinstance(record, StateSet)]
    return told[-1].stop_reason if told and isinstance(told[-1], RunEnded) else None


def _todos(records: list[tuple[int, Record]]) -> tuple[dict[str, str], ...]:
    kept = [record.value for _, record in records if isinstance(record, StateSet) and record.name == TODOS]
    lines = kept[-1].get(TODOS) if kept and isinstance(kept[-1], Mapping) else None
    if not isinstance(lines, list | tuple):
        return ()
    return tuple({str(key): str(value) for key, value in one.items()} for one in lines if isinstance(one, Mapping))


def _parts(content: str | tuple[Part, ...]) -> tuple[Part, ...]:
    return (TextPart(text=content),) if isinstance(content, str) else content


def _files(parts: tuple[Part, ...]) -> tuple[str, ...]:
    found = (part for part in parts if not isinstance(part, TextPart))
    return tuple((part.title if isinstance(part, DocumentPart) else None) or part.type for part in found)


def _text_of(content: str | tuple[Part, ...]) -> str:
    return "".join(part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in _parts(content))


def _cut(text: str, limit: int) -> str:
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}\n… {more:,} more characters"


def _model_name(name: str) -> str:
    """Return what the provider calls a model, for the table of limits."""
    return ALIASES.get(name, name).rpartition(":")[2]
