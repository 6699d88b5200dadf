"""Events in words and in JSON, each kind of them, and records in lines."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.journal.samples import EVERY_KIND, NEW_IN_FORMAT_2

from toolroll import Approve, ImagePart, Preview, Reject, RunResult, TextPart, ToolCall, ToolResult
from toolroll.agent.event_json import event_fields
from toolroll.agent.events import (
    CallFinished,
    ContextCompacted,
    ContextTrimmed,
    Event,
    ModelPaused,
    ReasoningArrived,
    Retrying,
    RunFinished,
    TextArrived,
    WaitingForModel,
    Warned,
)
from toolroll.agent.loop.finish import NO_ANSWER
from toolroll.cli.render.json import JsonRenderer
from toolroll.cli.render.plain import PlainRenderer, describe_failure
from toolroll.cli.render.records import format_records, record_fields
from toolroll.cli.render.renderer import TolerantRenderer, make_renderer
from toolroll.cli.render.result import exit_code
from toolroll.cli.session import Session
from toolroll.errors import QuotaExceeded
from toolroll.journal.journal import Recording
from toolroll.journal.records import ApprovalQuestion, StateSet
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, Progress, StateChanged

CALL = ToolCall(id="c", name="look", arguments='{"path": "a"}')
REQUEST = ApprovalRequest(
    run_id="r",
    call_id="c",
    tool="save",
    effect="writes",
    arguments={"path": "a"},
    why="To save.",
    preview=Preview.of_text("It saves."),
    paths=(),
    fingerprint="f",
)
LONG = "· The conversation gets long"
RESULT: RunResult[object] = RunResult(run_id="r", text="Done.", messages=(), steps=(), stop_reason="answer")


@pytest.fixture
def session() -> Session:
    return Session(_out=io.StringIO())


def out_of(session: Session) -> str:
    assert isinstance(session.out, io.StringIO)
    return session.out.getvalue()


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (Warned(kind="repeated_call", text="Careful\nnow."), "! Careful‹U+000A›now.\n"),
        (WaitingForModel(waited_s=34.2, limit_s=120.0), "· waiting for the model, 34 s; gives up after 120 s\n"),
        (WaitingForModel(waited_s=5.0, limit_s=120.0), ""),
        (
            WaitingForModel(waited_s=0.0, limit_s=120.0, is_starting=True),
            "· waiting for the model's server to be ready, 0 s; gives up after 120 s\n",
        ),
        (ModelPaused(pauses=2), "· the provider paused for a tool of its own and is asked to go on (2)\n"),
        (Retrying(attempt=1, wait_s=0.5, reason="Busy."), "! Busy. Trying again in 0.5 s (attempt 2).\n"),
        (
            CallFinished(call=CALL, result=ToolResult.failure("no such file", code="gone"), duration_ms=1234.5),
            '✗ look {"path": "a"}  1,234 ms, gone: no such file\n',
        ),
        (
            ContextTrimmed(outputs=3, tokens_before=61_000, tokens_after=30_000),
            f"{LONG}: the model reads old outputs again only where it needs them (61,000 -> 30,000 tokens)\n",
        ),
        (
            ContextCompacted(messages=40, tokens_before=160_000, tokens_after=9_000),
            f"{LONG}: the model goes on with a summary of 40 messages (160,000 -> 9,000 tokens)\n",
        ),
        (ReasoningArrived("Hm."), ""),
        (Progress(call_id="c", message="half", fraction=0.5), ""),
        (StateChanged(name="todos", value=[]), ""),
    ],
)
def test_S2_events_that_are_told_in_a_line(
    session: Session, event: Event, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    PlainRenderer(session).on_event(event)
    assert (capsys.readouterr().err, out_of(session)) == (told, "")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"error": True, "message": "There is no 'a'.\x1b[2J"}, "There is no 'a'.‹U+001B›[2J"),
        ('{"message": "Also as text."}', "Also as text."),
        ({"error": True, "message": 3}, '{"error":true,"message":3}'),
        (["message"], '["message"]'),
        ("[" * 10_000, "[" * 193 + "…"),
        ("no\ud800 such file", "no\ufffd such file"),
        ("It has changed. Read it. What changed:\n--- a/n.txt\n+++ b/n.txt", "It has changed. Read it."),
        ({"message": "\nIt failed. \nTry this: that"}, "It failed."),
        ("What changed:\n+ x", "What changed:"),
        ("It failed. See:", "It failed. See:"),
        ("", ""),
    ],
    ids=["object", "text", "number", "list", "deep", "broken", "lead", "lines", "only_lead", "no_lines", "empty"],
)
def test_S2_people_are_told_the_message_of_a_failure_alone(content: object, told: str) -> None:
    assert describe_failure(ToolResult.failure(content, code="gone")) == f"gone: {told}"


@pytest.mark.parametrize("pieces", [("a\r\nb",), ("a\r", "\nb"), ("a", "\r", "\n", "b")])
def test_XW14_a_line_end_that_comes_in_two_pieces_is_one(session: Session, pieces: tuple[str, ...]) -> None:
    renderer = PlainRenderer(session)
    for piece in pieces:
        renderer.on_event(TextArrived(piece))
    renderer.finish(replace(RESULT, text="".join(pieces)))
    assert out_of(session) == "a\r\nb\n"


def test_XW14_a_carriage_return_at_the_end_of_a_text_is_spelled_out(session: Session) -> None:
    renderer = PlainRenderer(session)
    renderer.on_event(TextArrived("a\r"))
    renderer.finish(replace(RESULT, text="a\r"))
    assert out_of(session) == "a‹U+000D›\n"


def test_S2_a_line_begins_at_its_beginning(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    renderer = PlainRenderer(session)
    for text in ("No line ", "end", ""):
        renderer.on_event(TextArrived(text))
    renderer.on_event(ApprovalRequested(request=REQUEST))
    renderer.on_event(Warned(kind="repeated_call", text="Careful."))
    assert out_of(session) == "No line end\n"
    assert renderer.finish(RESULT) == 0
    assert out_of(session) == "No line end\nDone.\n"


def test_S2_progress_is_told_at_a_terminal(
    session: Session, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    PlainRenderer(session).on_event(Progress(call_id="c", message="half", fraction=0.5))
    assert "· half (50%)" in capsys.readouterr().err


def test_S2_XA6_what_is_pending_is_shown_whole_and_without_tricks(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ApprovalQuestion(call_id="c", tool="save", digest="d", preview="+a\n+\x1b[2Jb\n", why="To\nsave.")
    pending = replace(RESULT, stop_reason="approval_pending", pending=(asked,))
    assert PlainRenderer(session).finish(pending) == 3
    told = capsys.readouterr().err
    assert "? save (c): To‹U+000A›save.\n  +a\n  +" in told
    assert "\x1b[2J" not in told
    assert "--approve c" in told
    assert "--reject c" in told


def test_S2_the_end_of_a_run_that_failed(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    failed = replace(RESULT, stop_reason="failed", stop_detail="No money.")
    assert PlainRenderer(session).finish(failed, QuotaExceeded("No money.")) == 1
    told = capsys.readouterr().err
    assert "Error: No money." in told
    assert "failed (No money.), 0 steps" in told
    assert out_of(session) == ""


@pytest.mark.parametrize(
    ("reason", "code"), [("refusal", 1), ("invalid_output", 1), ("cut_off", 4), ("interrupted", 130)]
)
def test_S2_exit_codes_by_how_a_run_ended(reason: Any, code: int) -> None:
    assert exit_code(replace(RESULT, stop_reason=reason)) == code


def test_S2_events_for_programs(session: Session) -> None:
    parts = ToolResult.of_parts((TextPart(text="x"), ImagePart(data=b"\xff", media_type="image/png")))
    content = event_fields(CallFinished(call=CALL, result=parts, duration_ms=1.0))["content"]
    assert content == [
        {"text": "x", "type": "text"},
        {"data": "_w==", "media_type": "image/png", "type": "image"},
    ]
    rejected = event_fields(ApprovalDecided(request=REQUEST, decision=Reject("no")))
    assert rejected == {"call_id": "c", "tool": "save", "decision": "reject", "reason": "no"}
    edited = event_fields(ApprovalDecided(request=REQUEST, decision=Approve(edited="")))
    assert edited["edited"] is True
    assert event_fields(RunFinished(result=RESULT))["text"] == "Done."
    assert event_fields(ReasoningArrived("Hm.")) == {"text": "Hm."}
    renderer = make_renderer(Session(json=True, _out=session.out))
    assert isinstance(renderer, JsonRenderer)
    renderer.on_event(RunFinished(result=RESULT))
    assert out_of(session) == ""
    renderer.finish(RESULT)
    assert json.loads(out_of(session))["index"] == 1
    assert isinstance(make_renderer(session), PlainRenderer)


def recording(*records: Any) -> Recording:
    return Recording(run_id="r", records=tuple(enumerate(records, 1)))


def test_S4_every_kind_of_record_is_a_line() -> None:
    lines = list(format_records(recording(*EVERY_KIND)))
    assert [line.split()[:2] for line in lines] == [
        [str(number), record.kind] for number, record in enumerate(EVERY_KIND, 1)
    ]
    told = "\n".join(lines)
    for word in (
        "read_secret",
        "[image]",
        "write_file",
        "Write a file.",
        "approve",
        "todos:",
        "run.call_1",
        "[1 results]",
    ):
        assert word in told
    assert max(map(len, lines)) <= 120
    json.dumps([record_fields(number, record) for number, record in enumerate(EVERY_KIND, 1)])
    trimmed, compacted = format_records(recording(*NEW_IN_FORMAT_2))
    assert "trimmed    2 outputs: call_1 -> 0123456789abcdef0123456789abcdef, " in trimmed
    assert "compacted  7 messages: [summary] ⏎ - 0123456789abcdef" in compacted


def test_S4_what_was_kept_with_a_run_is_told_in_words() -> None:
    asked = StateSet(name="approval:save_to_file", value={"answer": None, "who": "the person", "asked": "Save as a.md"})
    lines = list(format_records(recording(asked, StateSet(name="output", value="0f3c"))))
    assert lines[-2].endswith("kept       approval:save_to_file: who: the person, asked: Save as a.md")
    assert lines[-1].endswith("kept       output: 0f3c")


@pytest.mark.parametrize("detail", ["KeyboardInterrupt", "CancelledError"])
def test_S2_a_run_that_was_interrupted_blames_nobody(
    session: Session, capsys: pytest.CaptureFixture[str], detail: str
) -> None:
    renderer = PlainRenderer(session)
    renderer.on_event(TextArrived(text="I propose it."))
    renderer.finish(replace(RESULT, text=NO_ANSWER, has_answer=False, stop_reason="interrupted", stop_detail=detail))
    assert out_of(session) == "I propose it.\n"
    assert "· run r: interrupted, 0 steps" in capsys.readouterr().err


def test_S2_an_answer_that_is_missing_for_another_reason_is_said(session: Session) -> None:
    PlainRenderer(session).finish(replace(RESULT, text=NO_ANSWER, has_answer=False))
    assert out_of(session) == NO_ANSWER + "\n"


class Broken:
    """A renderer on a terminal that is gone: the first word, the end or the close may be what finds out."""

    def __init__(self, *fails: str) -> None:
        self._fails = fails

    def _do(self, what: str) -> None:
        if what in self._fails:
            raise OSError(5, "Input/output error")

    def on_event(self, _event: Event, /) -> None:
        self._do("hear")

    def finish(self, _result: RunResult[object], _error: object = None, /) -> int:
        self._do("end")
        return 0

    def close(self) -> None:
        self._do("close")


@pytest.mark.parametrize(("fails", "code"), [((), 0), (("hear",), 1), (("end",), 1), (("hear", "end"), 1)])
def test_S2_telling_never_breaks_a_run(
    session: Session, capsys: pytest.CaptureFixture[str], fails: tuple[str, ...], code: int
) -> None:
    renderer = TolerantRenderer(session, Broken(*fails, "close"))
    renderer.on_event(TextArrived("a"))
    assert renderer.finish(RESULT) == code
    renderer.close()
    told = "Error: The answer could not be written: Input/output error. It is in the run log: toolroll runs export r\n"
    assert capsys.readouterr().err == (told if code else "")
