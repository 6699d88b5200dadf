"""`toolroll index`: what it builds, how it tells of it, and what Ctrl-C leaves."""

import json
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import environment, toolroll
from tests.support.project import Calling, Project

from toolroll.safe.locks import FileLock
from toolroll.workspace.symbols.index import FILE_NAME, Index
from toolroll.workspace.symbols.update import RefreshResult
from toolroll.workspace.workspace import Workspace


def test_S4_S7_C21_the_index_is_built_and_then_only_looked_at(project: Project) -> None:
    first = project.call("index")
    assert first.returncode == 0
    assert " symbols in " in first.stdout
    assert first.stderr.startswith("parsed ")
    again = json.loads(project.call("index", "--json").stdout)
    files = again["files"]
    assert f"symbols in {files} files (parsed {files}, " in first.stdout
    assert (again["parsed"], again["removed"], again["complete"]) == (0, 0, True)
    assert again["unchanged"] >= files > 5
    assert again["symbols"] > files
    assert again["root"] == str(project.root)
    (project.root / "src/main.js").unlink()
    (project.root / "src/new.js").write_text("export function brew() {}\n")
    changed = json.loads(project.call("index", "--json").stdout)
    assert (changed["files"], changed["parsed"], changed["removed"]) == (files, 1, 1)
    assert "src/new.js:1" in project.call("call", "find_definition", '{"symbol": "brew"}').stdout


def test_S4_S7_no_index_is_built_where_none_can_be_kept(
    project: Project, call: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", str(project.home))
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    told = call("index")
    assert (told.code, told.out) == (1, "")
    assert "The index cannot be kept: nothing can be written to '" in told.err


def test_S4_S7_an_index_that_could_not_be_kept_is_an_error(project: Project) -> None:
    with Workspace.of_user(project.root, environment={"TOOLROLL_HOME": str(project.home)}) as workspace:
        (workspace.state / FILE_NAME).mkdir()
    told = project.call("index")
    assert (told.returncode, told.stdout) == (1, "")
    assert FILE_NAME in told.stderr


def test_S4_rebuild_begins_anew(project: Project) -> None:
    built = json.loads(project.call("index", "--json").stdout)
    again = json.loads(project.call("index", "--rebuild", "--json").stdout)
    assert (again["parsed"], again["symbols"]) == (built["parsed"], built["symbols"])


def test_S4_C2_what_is_denied_is_not_indexed(project: Project) -> None:
    every = json.loads(project.call("index", "--json").stdout)
    settings = project.home / "config"
    settings.mkdir(parents=True, exist_ok=True, mode=0o700)
    (settings / "settings.toml").write_text('[code]\ndeny = ["src/**"]\n')
    told = json.loads(project.call("index", "--json", "--root", str(project.root)).stdout)
    assert 0 < told["files"] < every["files"]
    assert "No definition" in project.call("call", "find_definition", '{"symbol": "DatabaseService"}').stdout


def test_S4_what_is_skipped_and_what_failed_is_told(
    project: Project, call: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", str(project.home))
    (project.root / "big.min.js").write_text("a=1;" * 20_000)
    failed = tuple(f"src/{number}.js" for number in range(7))
    monkeypatch.setattr(Index, "refresh", lambda *_, **__: RefreshResult(parsed=9, failed=failed))
    monkeypatch.setattr(Index, "skipped", lambda _: {"minified": 2, "too large": 1})
    told = call("index", "--root", str(project.root))
    assert told.code == 0
    assert "Skipped: 2 minified, 1 too large.\n" in told.out
    assert told.out.endswith("failed: 'src/0.js', 'src/1.js', 'src/2.js', 'src/3.js', 'src/4.js' and 2 more.\n")


def test_S7_at_a_terminal_there_is_a_bar(project: Project) -> None:
    with project.terminal("index") as terminal:
        terminal.wait_for("Parsing")
        code, out = terminal.end()
    assert (code, " symbols in " in out) == (0, True)
    with project.terminal("index", "--rebuild", "--plain") as terminal:
        assert terminal.end()[0] == 0
        assert "Parsing" not in terminal.text
        assert "parsed " in terminal.text


def test_S4_who_builds_already_is_not_disturbed(project: Project) -> None:
    with project.workspace() as workspace:
        lock = workspace.state / "symbols.lock"
    with FileLock(lock):
        busy = project.call("index", "--json")
        assert (busy.returncode, json.loads(busy.stdout)["error"]["code"]) == (1, "busy")
        assert project.call("index", "--rebuild").returncode == 1


def test_S2_C21_ctrl_c_leaves_an_index_that_can_be_used(tmp_path: Path) -> None:
    root, count = tmp_path / "many", 3_000
    root.mkdir()
    for number in range(count):
        (root / f"m{number}.py").write_text(f"def tea_{number}():\n    return {number}\n")
    env = environment(tmp_path / "home")
    with subprocess.Popen(
        toolroll("index", "--root", str(root), "--json"),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("parsed ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    told = json.loads(out)
    assert "Traceback" not in err
    if told["complete"]:
        assert process.returncode == 0  # it was done before anybody could stop it
    else:
        assert process.returncode == 130
        assert 0 < told["files"] < count
    with Workspace.of_user(root, environment=env) as workspace, Index.open(workspace) as index:
        assert index.refresh().unchanged >= told["files"]
        assert index.size() == (count, count)


def test_S2_C21_ctrl_c_before_anybody_waits_for_the_work_ends_it_too(
    project: Project, call: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work goes on in a thread by then; whoever pressed must not have to wait for its end."""
    submit, cancel, cancelled = ThreadPoolExecutor.submit, Index.cancel, threading.Event()

    def pressed(self: ThreadPoolExecutor, *work: Any) -> Any:
        begun = submit(self, *work)
        signal.raise_signal(signal.SIGINT)
        return begun

    def noted(self: Index) -> None:
        cancel(self)
        cancelled.set()

    monkeypatch.setattr(ThreadPoolExecutor, "submit", pressed)
    monkeypatch.setattr(Index, "cancel", noted)
    monkeypatch.setattr(Index, "refresh", lambda *_: RefreshResult(is_complete=not cancelled.wait(20)))
    before = signal.getsignal(signal.SIGINT)
    told = call("index", "--root", str(project.root), "--json")
    assert (told.code, json.loads(told.out)["complete"]) == (130, False)
    assert signal.getsignal(signal.SIGINT) is before


def test_S4_one_is_told_as_one(call: Calling, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/tea.py").write_text("def brew(): pass\n")
    done = call("index", "--root", str(tmp_path / "one"))
    assert (done.code, done.err) == (0, "parsed 1 of 1 file\n")
    assert done.out.startswith("1 symbol in 1 file (parsed 1, ")
