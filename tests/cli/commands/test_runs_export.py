"""`toolroll runs export`: lines of JSON, and one page that shows everything and obeys nothing."""

import json
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.journal.samples import EVERY_KIND, NEW_IN_FORMAT_2, records
from tests.safe.secrets.test_patterns import ESCAPES
from tests.safe.secrets.test_redact import SECRETS
from tests.support.programs import environment, toolroll
from tests.support.run_log import RunLog, looking
from tests.support.terminal import Pseudo

from toolroll import Agent, Approve, Reject, ScriptedModel, tool
from toolroll.apps.export.html import PAGE_CHARACTERS, STYLE, TEXT_CHARACTERS, PageBudget
from toolroll.apps.export.page import MAX_BARS, render_page
from toolroll.apps.export.run_tree import RunTree, format_json_lines
from toolroll.journal.journal import Recording, RunRow
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    MessageAdded,
    ModelTurn,
    Record,
    RunBegan,
    UsageAdded,
)
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, TextBlock, ToolCall, ToolMessage, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.models.scripted import Call
from toolroll.testing import RecordingApprover

HOSTILE = (
    "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)><a href='javascript:alert(3)'>x</a>"
    "<style>@import 'http://evil.example'</style>\x1b[2J\x1b]52;c;aGk=\x07\u202eevil\u2066\u200b\r\0<!--"
)
VOID = {"meta", "rect"}
ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "h2",
        "h3",
        "dl",
        "dt",
        "dd",
        "nav",
        "ol",
        "li",
    ),
    *("a", "main", "section", "article", "details", "summary", "pre", "p", "b", "span", "time", "div", "svg", "rect"),
    "footer",
}


class Page(HTMLParser):
    """What a browser would make of the page: fails on anything that we never write."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.meta: dict[str, str] = {}
        self.ids: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED
        given = dict(attrs)
        assert not [name for name in given if name.startswith("on") or name in ("src", "style", "srcset", "action")]
        self.tags.append(tag)
        self.ids += [str(given["id"])] if "id" in given else []
        if tag == "a":
            self.links.append(str(given["href"]))
        if tag == "meta":
            self.meta[str(given.get("http-equiv") or given.get("name") or "charset")] = str(given.get("content"))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunLog:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return RunLog(tmp_path / "home", capsys)


def gathered(
    *found: Record, notes: tuple[str, ...] = (), run_id: str = "run", parts: tuple[RunTree, ...] = ()
) -> RunTree:
    recording = Recording(run_id=run_id, records=tuple(enumerate(found, 1)), notes=notes, is_damaged=bool(notes))
    row = RunRow(run_id=run_id, began=1_000.0, updated=1_060.0, records=len(found), last_kind="finished")
    times = {number: 1_000.0 + number for number in range(1, len(found) + 1)}
    return RunTree(row=row, recording=recording, times=times, parts=parts)


def shown(*found: Record, **given: object) -> Page:
    return Page("".join(render_page(gathered(*found, **given))))  # type: ignore[arg-type]


def answered(*calls: ToolCall, text: str = "", cost: float | None = 0.5) -> ModelTurn:
    blocks: tuple[TextBlock | CallBlock, ...] = (TextBlock(text=text), *(CallBlock(call=call) for call in calls))
    usage = Usage(input_tokens=1_000, output_tokens=5, cache_read_tokens=200, requests=1)
    message = AssistantMessage(blocks=blocks)
    return ModelTurn(message=message, stop="end", stop_detail="", usage=usage, cost=cost, duration_s=1.5)


BEGAN = RunBegan(model="m", system="Be brief.", tools={"look": "f"})
CALL = ToolCall(id="c1", name="look", arguments='{"path": "a.txt"}')
ENDED = CallEnded(result=ToolMessage(call_id="c1", name="look", content="found"), code=None, duration_ms=12.0)


def test_D4_the_lines_hold_every_record_and_say_what_they_are(log: RunLog) -> None:
    one = log.run(looking("long"), "Read.", prompt="Прочитай\u2028це.")
    code, out, err = log.call("runs", "export", one[:8])
    assert (code, err) == (0, "")
    header, *lines = [json.loads(line) for line in out.splitlines()]
    assert (header["format"], header["version"], header["run_id"], header["records"]) == (
        "toolroll-run",
        1,
        one,
        len(lines),
    )
    assert [line["index"] for line in lines] == list(range(1, len(lines) + 1))
    assert {line["run_id"] for line in lines} == {one}
    assert all(abs(line["time"] - header["began"]) < 60 for line in lines)
    shown_records = json.loads(log.call("runs", "show", one, "--json")[1])["records"]
    assert [{k: v for k, v in line.items() if k not in ("run_id", "time")} for line in lines] == shown_records
    assert log.call("runs", "export", one, "--format", "jsonl")[1] == out


def test_D4_parts_are_in_the_lines_and_on_the_page(log: RunLog) -> None:
    helper = Agent(model=ScriptedModel(["I helped."])).as_tool(name="helper", description="Help.")
    one = log.run(Call("helper", {"task": "Help me."}, id="c1"), "Done.", tools=[helper])
    header, *lines = [json.loads(line) for line in log.call("runs", "export", one)[1].splitlines()]
    assert header["parts"] == [f"{one}.c1"]
    assert [line["run_id"] for line in lines if line["kind"] == "run_began"] == [one, f"{one}.c1"]
    found = Page(log.call("runs", "export", one, "--format", "html")[1])
    assert "In its own run" in found.words
    assert "Help me." in found.words
    assert found.ids == ["step-1", "step-2"]


@given(st.lists(records, max_size=6))
def test_D4_whatever_is_on_record_gives_whole_lines_and_a_whole_page(found: list[Record]) -> None:
    run = gathered(*found)
    lines = list(format_json_lines(run))
    assert len(lines) == len(found) + 1
    assert all(line.endswith("\n") and line.count("\n") == 1 and line.isascii() for line in lines)
    Page("".join(render_page(run)))


@given(st.text())
def test_XA6_no_text_leaves_its_place_on_the_page(text: str) -> None:
    found = shown(
        BEGAN, MessageAdded(message=UserMessage.of(text)), answered(ToolCall(id="c", name=text, arguments=text))
    )
    plain = shown(BEGAN, MessageAdded(message=UserMessage.of("x")), answered(ToolCall(id="c", name="x", arguments="x")))
    assert found.tags == plain.tags


def test_XA6_a_hostile_run_is_inert() -> None:
    call = ToolCall(id="c1", name=HOSTILE, arguments=json.dumps({"x": HOSTILE}))
    result = ToolMessage(call_id="c1", name=HOSTILE, content=HOSTILE, is_error=True)
    asked = ApprovalQuestion(call_id="c1", tool=HOSTILE, digest="d", preview=f"+{HOSTILE}\n-{HOSTILE}", why=HOSTILE)
    no = ApprovalAnswer(call_id="c1", digest="d", decision="reject", reason=HOSTILE, edited=HOSTILE)
    said = MessageAdded(message=UserMessage.of(HOSTILE))
    began = RunBegan(model=HOSTILE, system=HOSTILE, tools={HOSTILE: "f"}, forked_from=HOSTILE, at=1)
    ended = CallEnded(result=result, code=HOSTILE, duration_ms=1.0)
    run = gathered(began, said, answered(call, text=HOSTILE), asked, no, ended, run_id=HOSTILE, notes=(HOSTILE,))
    text = "".join(render_page(run))
    found = Page(text)
    assert not set(text) & set("\x1b\x07\u202e\u2066\u200b\r\0")
    assert (found.tags.count("style"), "script" in found.tags, found.links) == (1, False, ["#step-1"])
    assert "‹U+202E›evil" in found.words
    assert "<script>alert(1)</script>" in found.words


def test_D4_the_page_may_load_and_run_nothing() -> None:
    found = shown(BEGAN)
    policy = found.meta["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert found.meta["viewport"] == "width=device-width, initial-scale=1"
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    assert "prefers-color-scheme: dark" in STYLE


def test_D4_the_page_has_figures_approvals_errors_and_the_system_prompt(log: RunLog) -> None:
    def preview(arguments: dict[str, str], _ctx: object, edited: str | None) -> Preview:
        return Preview.of_change("old\n", edited or arguments["text"], path="a.txt", base="b")

    @tool(effect="writes", preview=preview)
    async def save(text: str) -> str:
        """Save a text."""
        raise ValueError("the disk is full")

    approver = RecordingApprover([Approve(), Approve(edited="mine\n"), Reject("not now")])
    calls = [Call("save", {"text": f"new {number}\n"}) for number in range(3)]
    one = log.run(*calls, "Neither.", tools=[save], approver=approver, system="Be careful.")
    code, out, _ = log.call("runs", "export", one, "--format", "html")
    found = Page(out)
    assert code == 0
    for text in (
        "Be careful.",
        "Approved",
        "Edited to",
        "Rejected: not now",
        "the disk is full",
        "Step 4",
        "-old",
        "+new",
    ):
        assert text in found.words
    assert 'class="added"' in out
    assert "3, 3 of them failed or refused" in found.words
    assert out.count("<rect") >= 4


def test_D4_every_kind_of_record_is_on_the_page() -> None:
    found = shown(*EVERY_KIND, *NEW_IN_FORMAT_2)
    for text in (
        "I write it.",
        "Hm.",
        "web_search by the provider",
        "todos:",
        "[image: image/png",
        "Approved",
        "summary",
    ):
        assert text in found.words
    assert "2 outputs were replaced by references" in found.words
    spent = UsageAdded(name="helper", run_id="r", step=1, call_id="c1", usage=Usage(output_tokens=7), cost=None)
    words = shown(ENDED, spent, replace(spent, call_id="")).words
    assert "helper: 7 tokens" in words
    assert "The agent told the model" in shown(EVERY_KIND[9]).words
    earlier = MessageAdded(message=AssistantMessage(blocks=(TextBlock(text="Said before."),)))
    untimed = replace(gathered(earlier), times={})
    assert "Said before." in Page("".join(render_page(untimed))).words


def test_D4_a_call_that_was_never_finished_says_so() -> None:
    assert "unfinished" in shown(BEGAN, answered(CALL)).words
    assert "State" in shown().words
    broken = answered(ToolCall(id="c", name="look", arguments="{broken"), cost=None)
    assert "{broken" in shown(broken).words
    assert "unknown" in shown(broken).words
    deep = answered(ToolCall(id="c", name="look", arguments='{"a":' * 5_000 + "1" + "}" * 5_000))
    assert "unfinished" in shown(deep).words
    lists = answered(ToolCall(id="c", name="look", arguments="[1]"))
    assert "[1]" in shown(lists).words


def test_D4_what_a_fork_took_over_is_not_counted_again() -> None:
    began = RunBegan(model="m", system="", tools={}, forked_from="other", at=1, inherited=2)
    found = shown(began, answered(CALL), ENDED, answered(text="Mine."))
    assert "other, after step 1" in found.words
    assert "taken over" in found.words
    assert "1,200 in (200 cached), 5 out" in found.words
    assert found.tags.count("rect") == 1


def test_D4_a_large_run_gives_a_bounded_page_and_says_where_the_rest_is() -> None:
    long = "x<\0" * 20_000
    result = replace(ENDED, result=ToolMessage(call_id="c1", name="look", content=long))
    run = gathered(BEGAN, *(record for _ in range(250) for record in (answered(CALL, text=long), result)))
    text = "".join(render_page(run))
    assert len(text) < PAGE_CHARACTERS + 300_000
    found = Page(text)
    assert "characters are left out here. Whole: record 2 of toolroll runs export run --format jsonl" in found.words
    assert "The page is full." in found.words
    assert found.tags.count("rect") <= MAX_BARS
    many = answered(*(ToolCall(id=f"c{number}", name="look", arguments=long) for number in range(300)))
    assert len("".join(render_page(gathered(many), characters=20_000))) < 1_000_000


def test_D4_a_result_that_was_kept_whole_elsewhere_names_its_reference(log: RunLog) -> None:
    one = log.run(looking("long"), "Read.", prompt="y" * (TEXT_CHARACTERS + 5))
    found = Page(log.call("runs", "export", one, "--format", "html")[1])
    [line] = [json.loads(line) for line in log.call("runs", "export", one)[1].splitlines() if '"kind":"ended"' in line]
    ref = line["result"]["output_ref"]["id"]
    assert ref in found.words
    assert "[5 characters are left out here." in found.words
    room = PageBudget(100)
    assert "toolroll outputs show r" in room.text("z" * 200, where="Whole: toolroll outputs show r")
    assert "50 characters are left out" in PageBudget().diff("+a\n" * 4_000 + "x" * 50, where="")


def test_XD4_XL16_a_damaged_run_is_exported_without_the_damaged_record(log: RunLog) -> None:
    one = log.run(looking(), "Read.")
    with sqlite3.connect(log.path) as db:
        db.execute("update records set body = x'7b7d' where number = 4")
    db.close()
    code, out, err = log.call("runs", "export", one)
    header, *lines = [json.loads(line) for line in out.splitlines()]
    assert (code, header["is_damaged"], lines[-1]["kind"]) == (0, True, "finished")
    assert [line["index"] for line in lines] == [number for number in range(1, len(lines) + 2) if number != 4]
    assert header["damaged"] == [{"run_id": one, "index": 4, "why": "it does not fit its checksum"}]
    assert "Record 4 is damaged" in header["notes"][0]
    assert f"Note: Run {one}: Record 4 is damaged" in err
    found = Page(log.call("runs", "export", one, "--format", "html")[1])
    assert "The record of this run is damaged." in found.words
    assert "Record 4 is damaged: it does not fit its checksum" in found.words
    code, told = log.json("runs", "export", one, "--output", "a.html")
    assert (code, told["is_damaged"], told["format"]) == (0, True, "html")


def test_S4_a_file_is_private_whole_and_not_overwritten(log: RunLog, tmp_path: Path) -> None:
    one = log.run("Hi.")
    file = tmp_path / "run.html"
    code, out, err = log.call("runs", "export", one, "--output", "run.html")
    assert (code, out, err) == (0, "", f"Wrote {file.stat().st_size:,} bytes to 'run.html'.\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_text()
    Page(before)
    code, told = log.json("runs", "export", one, "--output", "run.html", "--format", "jsonl")
    assert (code, told["error"]["code"], file.read_text() == before) == (1, "file_exists", True)
    code, told = log.json("runs", "export", one, "--output", "run.html", "--format", "jsonl", "--force")
    assert (code, set(told)) == (
        0,
        {"run_id", "format", "output", "byte_size", "records", "is_damaged", "notes"},
    )
    assert json.loads(file.read_text().splitlines()[0])["run_id"] == one
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == ["run.html"]


def test_S4_a_file_that_comes_meanwhile_is_not_overwritten(
    log: RunLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = log.run("Hi.")
    (tmp_path / "run.html").write_text("mine")
    monkeypatch.setattr("toolroll.cli.actions.runs.export._check", lambda *_given, **_more: None)
    code, told = log.json("runs", "export", one, "--output", "run.html")
    assert (code, told["error"]["code"], (tmp_path / "run.html").read_text()) == (1, "file_exists", "mine")


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["nobody", "--output", "x.html"], 1, "journal"),
        (["{id}"], 2, "usage"),
        (["{id}", "--output", "."], 2, "usage"),
        (["{id}", "--output", "no/such/x.html"], 1, "file_not_found"),
        (["{id}", "--format", "pdf", "--output", "x"], 2, "usage"),
    ],
)
def test_S2_failures_have_a_code_each(log: RunLog, arguments: list[str], code: int, error: str) -> None:
    one = log.run("Hi.")
    found, told = log.json("runs", "export", *(argument.format(id=one) for argument in arguments))
    assert (found, told["error"]["code"]) == (code, error)


def test_D6_keys_of_the_environment_and_of_arguments_are_in_no_export(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first was no secret yet when it was recorded."""
    late, key = "canary-" + "7f3a9c" * 5, "sk-ant-api03-" + "Ab3" * 30
    one = log.run(looking(late), Call("save", {"text": f"token {key}"}), "Done.", prompt=f"Use {late}.")
    assert late in log.call("runs", "export", one)[1]
    monkeypatch.setenv("SOME_API_KEY", late)
    for form in ("jsonl", "html"):
        out = log.call("runs", "export", one, "--format", form)[1]
        assert (late in out, key in out, "[redacted:" in out) == (False, False, True)


def test_XD5_no_key_that_an_escape_touches_is_in_the_run_log_or_an_export(log: RunLog, tmp_path: Path) -> None:
    keys = [key for key, kind in SECRETS if kind != "private-key"]
    text = "".join(f"{escape}{key}{sign}" for escape in ESCAPES for key in keys for sign in ("\n", " "))
    found = log.run(looking(path=text), text, prompt=text)
    _, lines, _ = log.call("runs", "export", found, "--format", "jsonl")
    _, page, _ = log.call("runs", "export", found, "--format", "html")
    stored = b"".join(path.read_bytes() for path in log.path.parent.glob("runs.db*") if path.is_file()).decode(
        "utf-8", "replace"
    )
    for told in (lines, page, stored):
        assert "[redacted:" in told
        assert [key for key in keys if key in told] == []


def test_S7_progress_is_shown_for_a_large_run_at_a_terminal(log: RunLog, tmp_path: Path) -> None:
    log.write("large", BEGAN, *(MessageAdded(message=UserMessage.of("x")) for _ in range(600)))
    given = {"env": environment(log.home), "cwd": tmp_path}
    for name, plain in (("a.html", []), ("a.jsonl", []), ("b.html", ["--plain"])):
        command = toolroll("runs", "export", "large", "--output", name, *plain)
        with Pseudo(command, **given) as terminal:  # type: ignore[arg-type]
            assert terminal.end()[0] == 0
            assert ("Exporting" in terminal.text) is not bool(plain)
            assert ("100%" in terminal.text) is not bool(plain)
            assert "Wrote " in terminal.text


def test_S2_the_lines_go_to_a_pipe_that_is_closed(log: RunLog, tmp_path: Path) -> None:
    log.write("large", BEGAN, *(MessageAdded(message=UserMessage.of("x" * 2_000)) for _ in range(100)))
    command = [*toolroll("runs", "export", "large")]
    head = subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1)
    done = subprocess.run(
        command, env=environment(log.home), cwd=tmp_path, stdout=head.stdin, stderr=-1, check=False, timeout=60
    )
    assert head.stdin is not None
    head.stdin.close()
    head.wait()
    assert b"Traceback" not in done.stderr
