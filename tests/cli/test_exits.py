"""Every command of both programs in every way it can end: its exit code, in words and as JSON (S2)."""

import json
import os
import shutil
import signal
import subprocess
import time

import click
import pytest
from tests.cli.ends import AT_A_TERMINAL, CANNOT_FAIL, ENDS, IN_LINES, ONLY_SHOWN, WITH_ANSWER, End
from tests.support.model_script import Fault, Turn
from tests.support.model_server import KEY, ModelServer
from tests.support.programs import WAIT_S, Done, Program, environment, toolroll
from tests.support.project import Project
from tests.support.scene import LEAVES, Scene, Words, program_words

from toolroll.cli.ghostpen.main import ghostpen
from toolroll.cli.main import root
from toolroll.cli.session import EXIT_CODES


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_S2_every_command_ends_as_it_says(words: Words, scene: Scene) -> None:
    for end in ENDS[words]:
        plain = _called(scene, words, end)
        assert (plain.code, end, plain) == (end.code, end, plain)
        assert "Traceback" not in plain.out + plain.err, end
        assert not end.error or any(word in plain.err for word in ("Error: ", "Помилка: ")), (end, plain)
        told = _called(scene, words, end, "--json")
        assert (told.code, end, told) == (end.code, end, told)
        assert "Traceback" not in told.out + told.err, end
        _check_json(words, end, told)


def _called(scene: Scene, words: Words, end: End, *options: str, out: str = "") -> Done:
    scene.has(*end.has.split())
    if end.first:
        scene.call(*scene.words(end.first), stdin=end.stdin)
    return scene.call(*program_words(words), *options, *scene.words(end.line), stdin=end.stdin, out=out)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [words for words in LEAVES if words not in AT_A_TERMINAL], ids=" ".join)
def test_S2_an_answer_for_which_there_is_no_room_is_a_failure(words: Words, scene: Scene) -> None:
    end = next(end for end in ENDS[words] if end.code == 0)
    plain = _called(scene, words, end)
    told = _called(scene, words, end, out="/dev/full")
    assert (told.code, "Traceback" in told.err) == (int(plain.out != ""), False), told
    assert not plain.out or "could not be written: No space left on device." in told.err, told
    assert _called(scene, words, end, "--json", out="/dev/full").code == 1


def _check_json(words: Words, end: End, done: Done) -> None:
    last = done.lines[-1]
    if words not in IN_LINES or len(done.lines) == 1:
        assert len(done.lines) == 1, (end, done)
        assert last.get("error", {}).get("code", "") == end.error, (end, done)
        assert not end.error or words in WITH_ANSWER or list(last) == ["error"], (end, done)
        return
    assert all("event" in one for one in done.lines[:-1]), (end, done)
    if end.error:
        assert last["error"]["code"] == end.error, (end, done)
    else:
        assert last["event"] in ("run_finished", "exploration_finished"), (end, done)


def test_S2_every_command_has_a_row_with_what_can_happen_to_it() -> None:
    """Where there is `--yes` somebody may be missing, where there are steps there may be too many of them."""
    assert set(ENDS) == set(LEAVES)
    for words, command in LEAVES.items():
        found = {end.code for end in ENDS[words]}
        options = {name for parameter in command.params for name in parameter.opts}
        wanted = {2} | (set() if words in AT_A_TERMINAL else {0}) | (set() if words in CANNOT_FAIL else {1})
        wanted |= {3} if "--yes" in options and words not in ONLY_SHOWN else set()
        wanted |= {4} if {"--max-steps", "--model"} <= options else set()
        assert wanted <= found <= set(EXIT_CODES), words


def test_S2_ghostpen_is_toolroll_write(scene: Scene) -> None:
    assert root.get_command(click.Context(root), "write") is ghostpen
    for words in (("ghostpen", "profile", "show", "nobody"), ("write", "profile", "show", "nobody")):
        assert scene.call(*words, "--json").lines[0]["error"]["code"] == "profile_not_found"
        assert scene.call(*words).code == 1


@pytest.mark.parametrize(
    "words", [("code", "Go."), ("run", "Go."), ("explore", "run", "Tea"), ("ghostpen", "About tea")], ids=" ".join
)
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["plain", "json"])
def test_S2_a_run_that_waits_for_its_model_is_interrupted(words: Words, options: Words, scene: Scene) -> None:
    scene.has("profile")
    with ModelServer([Turn(fault=Fault(stall=True))] * 3, lenient=True) as server:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        done = _interrupted(scene, server, (*words, "--model", "sonnet", *options), env)
        assert (done.code, "Traceback" in done.out + done.err) == (130, False), done
        if words[0] in ("code", "run"):
            [run] = json.loads(scene.do("runs list --json").out)["runs"]
            again = _interrupted(scene, server, ("runs", "resume", run["run_id"], *options), env)
            assert (again.code, "Traceback" in again.out + again.err) == (130, False), again
    if options:
        last = done.lines[-1]
        assert last.get("stop_reason", last.get("error", {}).get("code")) in ("cancelled", "interrupted")


def _interrupted(scene: Scene, server: ModelServer, words: Words, env: dict[str, str]) -> Done:
    before = len(server.requests)
    ghost = words[0] == "ghostpen"
    program: Program = "ghostpen" if ghost else "toolroll"
    pid = scene.starter.start(*words[ghost:], env=scene.env(**env), cwd=scene.root, program=program)
    deadline = time.monotonic() + WAIT_S
    while len(server.requests) == before:
        assert time.monotonic() < deadline, "no request was made"
        time.sleep(0.01)
    os.kill(pid, signal.SIGINT)
    return scene.starter.wait()


AT_ONCE = """
import os, signal
from toolroll.journal.sqlite import SqliteJournal
real = SqliteJournal.{name}
async def interrupted(self, *given, **named):
    os.kill(os.getpid(), signal.SIGINT)
    return await real(self, *given, **named)
SqliteJournal.{name} = interrupted
"""
WHILE_READING = """
import os, signal
import toolroll.cli.actions.{module} as command
real = command.{name}
def interrupted(*given, **named):
    os.kill(os.getpid(), signal.SIGINT)
    return real(*given, **named)
command.{name} = interrupted
"""
WHILE_PARSING = """
import os, signal, threading
import toolroll.cli.actions.index as command
from toolroll.workspace.symbols.index import Index
stopped, real = threading.Event(), Index.cancel
def cancel(self):
    real(self)
    stopped.set()
def tell(*_figures):
    os.kill(os.getpid(), signal.SIGINT)
    stopped.wait(30)
Index.cancel, command._tenths = cancel, lambda: tell
"""


@pytest.mark.parametrize(
    ("line", "before"),
    [
        ("runs list", WHILE_READING.format(module="runs.listing", name="read_conversations")),
        ("runs replay {run}", AT_ONCE.format(name="runs")),
        ("runs delete {run} --yes", AT_ONCE.format(name="runs")),
        ("runs export {run} --output x.html", AT_ONCE.format(name="read")),
        ("stats", WHILE_READING.format(module="stats", name="read_statistics")),
        ("index", WHILE_PARSING),
    ],
    ids=lambda value: value.split(" {")[0] if "import" not in value else "",
)
def test_S2_a_command_is_interrupted_at_its_work(line: str, before: str, scene: Scene) -> None:
    scene.has("run")
    plain = scene.call(*scene.words(line), before=before)
    assert (plain.code, "Traceback" in plain.out + plain.err) == (130, False), plain
    told = scene.call(*scene.words(line), "--json", before=before)
    assert (told.code, len(told.lines)) == (130, 1), told
    if line == "index":
        assert told.lines[0]["complete"] is False
    else:
        assert told.lines == [{"error": {"code": "interrupted", "message": "Interrupted."}}]
    assert scene.call(*scene.words("runs show {run}")).code == 0


_UNREADABLE = ("config list", "config key list", "runs list", "stats", "outputs list", "changes", "write profile list")


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads everything")
@pytest.mark.parametrize("line", [*_UNREADABLE, "doctor"])
def test_S2_a_home_that_cannot_be_read_is_a_failure_with_a_reason(line: str, project: Project) -> None:
    """As after a run with sudo, or on a disk that came from elsewhere."""
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    for name in ("data", "config"):
        (project.home / name).mkdir(parents=True)
        (project.home / name).chmod(0)
    command = [*prefix, *toolroll(*line.split(), "--json")]
    done = subprocess.run(command, env=environment(project.home), cwd=project.root, capture_output=True, check=False)
    told = json.loads(done.stdout)
    for name in ("data", "config"):
        (project.home / name).chmod(0o700)
    assert (done.returncode, done.stderr) == (1, b"")
    if line == "doctor":
        broken = [one["name"] for one in told["findings"] if one["status"] == "broken"]
        assert broken[:3] == ["data", "configuration", "run log"]
    else:
        assert (told["error"]["code"], "Permission denied (EACCES)" in told["error"]["message"]) == (
            "file_system",
            True,
        )
