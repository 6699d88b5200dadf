"""`toolroll run` and `toolroll runs`: what they print, how they end, and going on in another process."""

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.model_script import Turn, Use
from tests.support.model_server import KEY, ModelServer
from tests.support.programs import WAIT_S, environment, run_toolroll, shared_starter, toolroll
from tests.support.terminal import Pseudo

from toolroll import Agent
from toolroll.apps.spec import AgentSpec
from toolroll.cli.actions.runs.listing import summary_fields
from toolroll.errors import UsageError
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.summaries import read_summaries
from toolroll.models.model import Wire
from toolroll.models.scripted import ScriptedModel

TOOLS = Path(__file__).parents[1] / "run_tools.py"
LOOK = {"name": "look", "arguments": {"path": "a.txt"}, "id": "look_1"}
SAVE = {"name": "save", "arguments": {"path": "b.txt", "text": "copied"}, "id": "save_1"}
SEND = {"name": "send", "arguments": {"text": "Dear"}, "id": "send_1"}
WAIT = {"name": "wait", "arguments": {"for_file": "go"}, "id": "wait_1"}
COPY = [{"text": "I look.", "calls": [LOOK]}, {"text": "I copy.", "calls": [SAVE]}, "It is copied."]


class Place:
    """A folder to work in, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.work.mkdir()
        (self.work / "a.txt").write_text("hello\n")

    def script(self, turns: object) -> str:
        (self.work / "script.json").write_text(json.dumps(turns))
        return "scripted:script.json"

    def call(self, *arguments: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        return run_toolroll(*arguments, env=environment(self.home, **env), cwd=self.work, stdin=stdin)

    def run(self, turns: object, *more: str, **given: Any) -> subprocess.CompletedProcess[str]:
        return self.call("run", "Go.", "--model", self.script(turns), "--from", str(TOOLS), *more, **given)

    def latest(self) -> dict[str, Any]:
        found, _ = read_summaries(self.home / "data" / "runs.db", limit=1)
        return summary_fields(found[0])

    def stored(self) -> bytes:
        return b"".join(one.read_bytes() for one in self.home.rglob("*") if one.is_file())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_S2_a_run_in_words(place: Place) -> None:
    done = place.run(COPY, "--yes")
    assert (done.stdout, done.returncode) == ("I look.\nI copy.\nIt is copied.\n", 0)
    assert (place.work / "b.txt").read_text() == "copied"
    told = done.stderr.splitlines()
    assert "a word of the tool's own" in told
    assert [line.split("  ")[0] for line in told if line.startswith("· look")] == ['· look {"path":"a.txt"}']
    assert any(line.startswith("· save") and line.endswith(" ms, 11 bytes") for line in told)
    assert "answer, 3 steps, 45 tokens, cost unknown" in told[-1]


def test_S2_a_run_as_lines_of_json(place: Place) -> None:
    done = place.run([COPY[0], {"calls": [WAIT]}, "Seen."], "--yes", "--json")
    events = lines(done)
    assert [event["index"] for event in events] == list(range(1, len(events) + 1))
    names = [event["event"] for event in events]
    assert names[0] == "run_started"
    assert {"step_started", "text_delta", "arguments_delta", "tool_call_started", "tool_result", "progress"} <= set(
        names
    )
    result = next(event for event in events if event["event"] == "tool_result")
    assert (result["call_id"], result["name"], result["content"], result["is_error"]) == (
        "look_1",
        "look",
        "hello\n",
        False,
    )
    last = events[-1]
    assert last["event"] == "run_finished"
    assert (last["text"], last["stop_reason"], last["steps"], last["cost"]) == ("Seen.", "answer", 3, None)
    assert last["usage"]["input_tokens"] == 30
    assert done.returncode == 0


@pytest.fixture(autouse=True)
def nothing_to_wait_for(request: pytest.FixtureRequest, place: Place) -> None:
    if "interrupt" not in request.node.name:
        (place.work / "go").touch()


def test_S2_approvals_and_state_are_events_too(place: Place) -> None:
    todos = {"name": "write_todos", "arguments": {"todos": [{"content": "One"}]}}
    done = place.run([{"calls": [SAVE, todos]}, "Done."], "--pack", "standard", "--yes", "--json")
    by_name = {event["event"]: event for event in lines(done)}
    asked, decided = by_name["approval_requested"], by_name["approval_decided"]
    assert (asked["tool"], asked["effect"], asked["preview"]["added"]) == ("save", "writes", 1)
    assert len(asked["digest"]) == 64
    assert (decided["call_id"], decided["decision"], decided["edited"]) == ("save_1", "approve", False)
    assert by_name["state_changed"]["value"]["todos"][0]["content"] == "One"


def test_S2_the_message_of_done_is_the_answer(place: Place) -> None:
    turns = [{"text": "Ready.", "calls": [{"name": "done", "arguments": {"message": "Finished."}}]}]
    done = place.call("run", "Go.", "--model", place.script(turns), "--tools", "done")
    assert (done.stdout, done.returncode) == ("Ready.\nFinished.\n", 0)


def test_S2_a_model_that_fails_is_1_and_can_be_resumed(place: Place) -> None:
    turns: list[object] = [COPY[0], {"error": {"code": "quota", "message": "No money left."}}]
    done = place.run(turns)
    assert done.returncode == 1
    assert "Error: No money left." in done.stderr
    run_id = place.latest()["run_id"]
    assert f"toolroll runs resume {run_id}" in done.stderr
    as_json = place.run(turns, "--json")
    last = lines(as_json)[-1]
    assert (last["event"], last["stop_reason"]) == ("run_finished", "failed")
    assert last["error"] == {"code": "quota", "message": "No money left."}
    place.script([COPY[0], "Paid now."])
    again = place.call("runs", "resume", run_id)
    assert (again.stdout, again.returncode) == ("Paid now.\n", 0)


def test_S2_a_limit_is_4_and_can_be_gone_on_from(place: Place) -> None:
    turns: list[object] = [COPY[0], "So far.", "Now all."]
    done = place.run(turns, "--max-steps", "2")
    assert (done.returncode, done.stdout) == (4, "I look.\nSo far.\n")
    assert "condition (step_count_is(2))" in done.stderr
    again = place.call("runs", "resume", place.latest()["run_id"][:8])
    assert (again.stdout, again.returncode) == ("Now all.\n", 0)


def test_S2_XA8_where_nobody_can_be_asked_it_is_3_and_waits(place: Place) -> None:
    done = place.run(COPY)
    assert done.returncode == 3
    assert not (place.work / "b.txt").exists()
    run_id = place.latest()["run_id"]
    assert "  +copied" in done.stderr
    assert f"toolroll runs resume {run_id} --approve save_1" in done.stderr
    assert "· After a no the model goes on without it; what else it wants to change is asked about, too." in done.stderr
    still = place.call("runs", "resume", run_id, "--json")
    last = lines(still)[-1]
    assert (still.returncode, last["stop_reason"]) == (3, "approval_pending")
    assert [one["call_id"] for one in last["pending"]] == ["save_1"]
    yes = place.call("runs", "resume", run_id, "--approve", "save_1")
    assert (yes.stdout, yes.returncode) == ("It is copied.\n", 0)
    assert (place.work / "b.txt").read_text() == "copied"


def test_XA3_a_no_from_the_command_line_with_a_reason(place: Place) -> None:
    place.run(COPY)
    run_id = place.latest()["run_id"]
    no = place.call("runs", "resume", run_id, "--reject", "save_1=not today=never")
    assert no.returncode == 0
    assert "rejected: User rejected changes: not today=never" in no.stderr
    assert not (place.work / "b.txt").exists()
    late = place.call("runs", "resume", run_id, "--approve", "save_1", "--json")
    assert (late.returncode, lines(late)[-1]["error"]["code"]) == (1, "decision_refused")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "Go."], "No model is named"),
        (["run", "Go.", "--model", "nobody"], "Unknown model 'nobody'"),
        (["run", "Go.", "--model", "nobody"], "A script is played by scripted:FILE."),
        (["run", "Go.", "--model", "scripted:"], "is a folder. Name the file with the script: scripted:FILE."),
        (["run", "Go.", "--model", "scripted:none.json"], "Error: There is no file 'none.json'.\n"),
        (["run", "Go.", "--model", "scripted:ok.json/x"], "Error: There is no file 'ok.json/x'.\n"),
        (["run", "Go.", "--model", "scripted:/none.json"], "Error: There is no file '/none.json'.\n"),
        (["run", "Go.", "--model", "scripted:a.txt"], "cannot be played"),
        (["run", "Go.", "--model", "scripted:ok.json", "--tools", "dome"], "Did you mean done?"),
        (["run", "Go.", "--model", "scripted:ok.json", "--max-steps", "0"], "0 is not in the range"),
        (["runs", "resume", "abcd", "--approve", "a", "--reject", "a"], "cannot be approved and rejected at once"),
        (["runs", "show", "abcd"], "There is no run 'abcd'"),
        (["runs"], "Show what happened in a run."),
    ],
)
def test_S2_what_makes_no_sense_is_told(place: Place, arguments: list[str], told: str) -> None:
    (place.work / "ok.json").write_text('["Hi."]')
    done = place.call(*arguments)
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert done.stdout == ""


def test_S2_a_prompt_from_stdin(place: Place) -> None:
    arguments = ("run", "-", "--model", place.script(["Read."]))
    assert place.call(*arguments, stdin="What is this?").stdout == "Read.\n"
    assert place.latest()["prompt"] == "What is this?"
    env = environment(place.home)
    broken = run_toolroll(*arguments, env=env, cwd=place.work, stdin=b"\xff")
    assert (broken.returncode, "not UTF-8" in broken.stderr) == (2, True)
    command = ["sh", "-c", '"$@" <&-', "sh", *toolroll(*arguments)]
    closed = subprocess.run(command, env=env, cwd=place.work, capture_output=True, check=False)
    assert (closed.returncode, b"which is closed" in closed.stderr) == (2, True)


def test_S4_runs_are_listed_and_shown(place: Place) -> None:
    assert "no runs yet" in place.call("runs", "list").stderr
    place.run([{"text": "Two.", "calls": [LOOK, SAVE]}, "Done."], "--yes")
    run_id = place.latest()["run_id"]
    [line] = place.call("runs", "list").stdout.splitlines()
    assert line.startswith(run_id[:12])
    assert "answer             2 steps  Go.  (run, scripted:script.json, cost unknown, " in line
    shown = place.call("runs", "show", run_id[:6]).stdout.splitlines()
    kinds = [line.split()[1] for line in shown]
    assert kinds[:3] == ["run_began", "said", "answered"]
    assert {"asked", "decided", "intended", "ended"} <= set(kinds)
    assert kinds[-1] == "finished"
    record = json.loads(place.call("runs", "show", run_id, "--json").stdout)
    assert [one["index"] for one in record["records"]] == list(range(1, len(shown) + 1))
    assert (record["is_damaged"], record["notes"]) == (False, [])


@pytest.mark.parametrize("command", [("run",), ("explore", "run")])
def test_XA6_a_hidden_character_of_a_prompt_is_spelled_out_once(place: Place, command: tuple[str, ...]) -> None:
    """An exploration tells its model of hidden characters, so that the prompt on record spells them out already."""
    done = place.call(*command, "tea\u202eeat", "--model", place.script(["# Tea\n\nHot."]))
    assert done.returncode == 0, done.stderr
    run_id = place.latest()["run_id"]
    for told in (place.call("runs", "list").stdout, place.call("runs", "show", run_id).stdout):
        assert ("tea‹U+202E›eat" in told, "U+2039" in told) == (True, False)
    env = environment(place.home, COMP_WORDS="toolroll runs show ", COMP_CWORD="3", _TOOLROLL_COMPLETE="zsh_complete")
    offered = run_toolroll(env=env, cwd=place.work).stdout
    assert ("tea‹U+202E›eat" in offered, "U+2039" in offered) == (True, False)


def test_S4_a_list_that_is_cut_says_so(place: Place) -> None:
    for _ in range(3):
        place.run(["Done."])
    cut, whole = place.call("runs", "list", "--limit", "1"), place.call("runs", "list", "--limit", "3")
    assert (len(cut.stdout.splitlines()), cut.stderr) == (1, "· 2 more: toolroll runs list --limit 3\n")
    assert (len(whole.stdout.splitlines()), whole.stderr) == (3, "")
    again = place.call("runs", "resume", place.latest()["run_id"], "--prompt", "x" * 100_001)
    assert (again.returncode, "The prompt has 100,001 characters" in again.stderr) == (2, True)


def test_XD4_XL16_a_damaged_record_is_shown_in_its_place_and_the_run_is_not_resumed(place: Place) -> None:
    place.run([COPY[0], "Done."])
    run_id = place.latest()["run_id"]
    with sqlite3.connect(place.home / "data" / "runs.db") as db:
        db.execute("update records set body = cast('{}' as blob) where number = 3")
    db.close()
    shown = place.call("runs", "show", run_id)
    kinds = [line.split()[1] for line in shown.stdout.splitlines()[:-1]]
    assert (kinds[:4], kinds[-1], shown.returncode) == (["run_began", "said", "damaged", "ended"], "finished", 0)
    told = json.loads(place.call("runs", "show", run_id, "--json").stdout)
    assert told["damaged"] == [{"index": 3, "why": "it does not fit its checksum"}]
    assert [one["index"] for one in told["records"]] == [number for number in range(1, len(kinds) + 1) if number != 3]
    assert "note: Record 3 is damaged" in shown.stdout
    assert "damaged" in place.call("runs", "list").stdout
    again = place.call("runs", "resume", run_id, "--prompt", "More?")
    assert again.returncode == 1
    assert "can be looked at, but not continued" in again.stderr
    assert f"toolroll runs fork {run_id} --at STEP" in again.stderr


def test_S4_an_id_that_fits_several_runs_is_asked_for_again(place: Place) -> None:
    async def record() -> None:
        journal = SqliteJournal(place.home / "data" / "runs.db")
        for run_id in ("abcdef1", "abcdef2"):
            await Agent(model=ScriptedModel(["Hi."]), journal=journal, make_id=lambda: run_id).run("Go.")  # noqa: B023
        journal.close()

    place.home.mkdir(mode=0o700)
    asyncio.run(record())
    several = place.call("runs", "show", "abcd")
    assert (several.returncode, "2 runs begin with 'abcd'" in several.stderr) == (2, True)
    short = place.call("runs", "show", "abc")
    assert (short.returncode, short.stderr) == (
        1,
        "Error: There is no run 'abc'. Give at least 4 characters of the id.\n",
    )
    assert place.call("runs", "show", "ABCDEF1").returncode == 0
    foreign = place.call("runs", "resume", "abcdef1", "--prompt", "More?")
    assert (foreign.returncode, "not started by 'toolroll run'" in foreign.stderr) == (2, True)
    named = place.call("runs", "resume", "abcdef1", "--prompt", "More?", "--model", place.script(["-", "More."]))
    assert (named.stdout, named.returncode) == ("More.\n", 0)


def test_S4_a_run_goes_on_in_the_folder_it_was_started_in(place: Place) -> None:
    place.run(COPY)
    run_id = place.latest()["run_id"]
    place.work.rename(place.work.with_name("moved"))
    place.work = place.work.with_name("moved")
    again = place.call("runs", "resume", run_id)
    assert (again.returncode, "cd '" in again.stderr) == (2, True)


def test_D2_another_prompt_and_other_tools(place: Place) -> None:
    place.run([COPY[0], "Done.", "Again."])
    run_id = place.latest()["run_id"]
    again = place.call("runs", "resume", run_id, "--prompt", "And?", "--tools", "look", "--system", "Be brief.")
    assert (again.stdout, again.returncode) == ("Again.\n", 0)
    finished = place.call("runs", "resume", run_id)
    assert (finished.stdout, finished.returncode) == ("Again.\n", 0)


def test_D2_XD1_a_killed_process_is_resumed_and_what_it_did_is_found(place: Place) -> None:
    (place.work / "die").touch()
    killed = place.run(COPY, "--yes")
    assert killed.returncode == -signal.SIGKILL
    assert (place.work / "b.txt").read_text() == "copied"
    latest = place.latest()
    assert latest["state"] == "unfinished"
    again = place.call("runs", "resume", latest["run_id"])
    assert (again.stdout, again.returncode) == ("It is copied.\n", 0)
    assert "made before the run was cut off" in place.call("runs", "show", latest["run_id"]).stdout


def test_D2_XD1_what_may_have_been_sent_is_asked_about(place: Place) -> None:
    (place.work / "die").touch()
    killed = place.run([{"calls": [SEND]}, "Sent."], "--yes")
    assert killed.returncode == -signal.SIGKILL
    run_id = place.latest()["run_id"]
    asked = place.call("runs", "resume", run_id)
    assert asked.returncode == 3
    assert "whether it took effect is not known" in asked.stderr
    assert (place.work / "sent").read_text() == "Dear\n"
    no = place.call("runs", "resume", run_id, "--reject", "send_1")
    assert (no.stdout, no.returncode) == ("Sent.\n", 0)
    assert (place.work / "sent").read_text() == "Dear\n"


def test_XD12_a_general_yes_does_not_repeat_what_may_have_been_sent(place: Place) -> None:
    (place.work / "die").touch()
    assert place.run([{"calls": [SEND]}, "Sent."], "--yes").returncode == -signal.SIGKILL
    run_id = place.latest()["run_id"]
    for _ in range(2):
        asked = place.call("runs", "resume", run_id, "--yes")
        assert asked.returncode == 3
        assert "whether it took effect is not known" in asked.stderr
        assert (place.work / "sent").read_text() == "Dear\n"
    yes = place.call("runs", "resume", run_id, "--approve", "send_1")
    assert (yes.stdout, yes.returncode) == ("Sent.\n", 0)
    assert (place.work / "sent").read_text() == "Dear\nDear\n"


def test_D3_a_run_is_replayed_from_the_command_line(place: Place) -> None:
    place.run(COPY, "--yes")
    run_id = place.latest()["run_id"]
    (place.work / "script.json").unlink()
    (place.work / "b.txt").unlink()
    same = place.call("runs", "replay", run_id)
    assert same.returncode == 0
    assert same.stdout == f"run {run_id}: the same in 3 steps, 1 call run, 1 answered from the record\n"
    assert not (place.work / "b.txt").exists()
    (place.work / "a.txt").write_text("other\n")
    other = place.call("runs", "replay", run_id)
    assert other.returncode == 1
    assert other.stdout.startswith(r"step 1, call look_1, result: recorded 'hello\n', now 'other\n'")
    report = json.loads(place.call("runs", "replay", run_id, "--json").stdout)
    assert (report["is_same"], report["steps"], report["differences"][0]["call"]) == (False, 3, "look_1")


def test_D6_keys_of_the_environment_are_never_stored(place: Place) -> None:
    canary = "canary-1f9c-value"
    (place.work / "a.txt").write_text(f"the key is {canary}\n")
    turns = [{"text": f"I know {canary}.", "calls": [LOOK]}, f"It is {canary}."]
    done = place.run(turns, OPENAI_API_KEY=canary)
    assert (done.returncode, canary in done.stdout) == (0, True)
    assert b"[redacted:known]" in place.stored()
    assert canary.encode() not in place.stored()


def wait_for(path: Path, process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + WAIT_S
    while not path.exists():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()  # it would be waited for where it is left
            raise AssertionError(f"there is no {path.name}: {process.communicate()}")
        time.sleep(0.01)


def start(place: Place, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        toolroll(*arguments),
        env=environment(place.home),
        cwd=place.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_S2_interrupt_once_lets_running_calls_finish_and_keeps_the_run(place: Place) -> None:
    model = place.script([{"text": "I wait.", "calls": [WAIT]}, "Waited."])
    with start(place, "run", "Go.", "--model", model, "--from", str(TOOLS)) as process:
        wait_for(place.work / "waiting", process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "Ctrl-C again stops at once" in process.stderr.readline()
        (place.work / "go").touch()
        out, err = process.communicate()
    assert (process.returncode, out.startswith("I wait.\n")) == (130, True)
    latest = place.latest()
    assert f"toolroll runs resume {latest['run_id']}" in err
    assert latest["state"] == "interrupted"
    again = place.call("runs", "resume", latest["run_id"])
    assert (again.stdout, again.returncode) == ("Waited.\n", 0)


def test_S2_interrupt_twice_stops_at_once(place: Place) -> None:
    model = place.script([{"text": "I wait.", "calls": [WAIT]}, "Waited."])
    with start(place, "run", "Go.", "--model", model, "--from", str(TOOLS), "--json") as process:
        wait_for(place.work / "waiting", process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    last = json.loads(out.splitlines()[-1])
    assert (process.returncode, last["event"], last["stop_reason"]) == (130, "run_finished", "interrupted")
    assert (last["steps"], last["text"], last["usage"]["requests"]) == (1, "I wait.", 1), "the turn is on record"
    (place.work / "go").touch()
    again = place.call("runs", "resume", last["run_id"])
    assert (again.stdout, again.returncode) == ("Waited.\n", 0)


@pytest.mark.parametrize("form", ["--plain", "--json"])
@pytest.mark.parametrize("where", ["pipe", "/dev/full"])
def test_S2_a_run_goes_on_where_nobody_reads_its_answer(place: Place, where: str, form: str) -> None:
    model = place.script([{"text": " ".join(map(str, range(40_000))), "calls": [LOOK]}, "Looked."])
    read, write = os.pipe() if where == "pipe" else (None, os.open(where, os.O_WRONLY))
    if read is not None:
        os.close(read)
    starter, env = shared_starter(), environment(place.home)
    starter.start("run", "Go.", "--model", model, "--from", str(TOOLS), form, env=env, cwd=place.work, out=write)
    done = starter.wait()
    os.close(write)
    latest = place.latest()
    assert (done.code, latest["state"], latest["steps"]) == (1, "answer", 2)
    last = done.err.splitlines()[-1]
    assert last.startswith("Error: The answer could not be written: ")
    assert last.endswith(f". It is in the run log: toolroll runs export {latest['run_id']}")


def test_S2_interrupt_while_the_model_is_silent_stops_at_once(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with start(place, "run", "Go.", "--model", f"openai-compatible:m@http://127.0.0.1:{port}/v1") as process:
            connection, _ = server.accept()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
            connection.close()
    assert process.returncode == 130
    assert f"toolroll runs resume {place.latest()['run_id']}" in err


def test_S2_interrupt_of_a_resume_keeps_the_run(place: Place) -> None:
    turns = [{"text": "I wait.", "calls": [WAIT, SAVE]}, "Waited."]
    (place.work / "go").touch()
    place.run(turns)
    (place.work / "go").unlink()
    run_id = place.latest()["run_id"]
    place.script([turns[0], {"calls": [WAIT | {"id": "wait_2"}]}, "Waited twice."])
    (place.work / "waiting").unlink()
    with start(place, "runs", "resume", run_id, "--reject", "save_1") as process:
        wait_for(place.work / "waiting", process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert any("Ctrl-C again" in line for line in process.stderr)
        (place.work / "go").touch()
        process.communicate()
    assert process.returncode == 130
    assert place.call("runs", "resume", run_id).stdout == "Waited twice.\n"


def test_S2_interrupt_while_another_process_drives_the_run_leaves_it_alone(place: Place) -> None:
    place.run(COPY)
    run_id = place.latest()["run_id"]
    journal = SqliteJournal(place.home / "data" / "runs.db")
    assert asyncio.run(journal.acquire(run_id))
    with start(place, "runs", "resume", run_id, "--approve", "save_1", "--json") as process:
        assert process.stdout is not None
        assert "waiting for it" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    journal.close()
    assert (process.returncode, err) == (130, "")
    assert json.loads(out)["error"]["code"] == "interrupted"
    assert not (place.work / "b.txt").exists()


def test_S2_a_missing_key_is_told_before_anything_is_recorded(place: Place) -> None:
    done = place.call("run", "Go.", "--model", "sonnet", "--json")
    assert (done.returncode, lines(done)[-1]["error"]["code"]) == (1, "authentication")
    assert place.call("runs", "list").stdout == ""


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_S2_a_run_with_a_model_behind_a_wire(place: Place, wire: Wire) -> None:
    with ModelServer([Turn(["I look.", Use("look", {"path": "a.txt"})]), "It says hello."]) as server:
        name = "sonnet" if wire == "anthropic" else "openai:gpt-5.6-terra"
        variable = wire.upper()
        env = {f"{variable}_API_KEY": KEY, f"{variable}_BASE_URL": server.base_url(wire)}
        done = place.call("run", "What does it say?", "--model", name, "--from", str(TOOLS), **env)
        again = place.call("runs", "replay", place.latest()["run_id"])
    assert (done.stdout, done.returncode) == ("I look.\nIt says hello.\n", 0)
    assert done.stderr.splitlines()[-1].startswith("· run ")
    assert KEY.encode() not in place.stored()
    assert again.returncode == 0


def test_S5_a_person_at_the_terminal_is_asked_after_what_the_model_said(place: Place) -> None:
    model = place.script(COPY)
    command = toolroll("run", "Go.", "--model", model, "--from", str(TOOLS))
    with Pseudo(command, env=environment(place.home), cwd=place.work, stdout_on_terminal=True) as terminal:
        terminal.wait_for("Allow this?")
        shown = [line.rstrip() for line in terminal.display]
        assert shown.index("I copy.") < shown.index("save wants to write")
        terminal.send(b"y\n")
        terminal.wait_for("It is copied.")
        assert terminal.process.wait(timeout=30) == 0
    assert (place.work / "b.txt").read_text() == "copied"


def test_making_again_takes_what_is_new(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    making = AgentSpec.from_options(model="scripted:a.json", packs=("standard",), tools=("done",), max_steps=3)
    assert making.model == f"scripted:{tmp_path}/a.json"
    again = AgentSpec.from_record(json.loads(json.dumps(making.record)), model=None, tools=("read_todos",), max_steps=7)
    assert again == AgentSpec(
        model=making.model, packs=("standard",), tools=("read_todos",), max_steps=7, folder=str(tmp_path)
    )
    with pytest.raises(UsageError, match="not started by"):
        AgentSpec.from_record({})
