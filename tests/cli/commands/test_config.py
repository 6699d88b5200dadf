"""`toolroll config`: every setting with its origin, changed safely; keys into the keyring and nowhere else (S41)."""

import json
import os
import threading
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from click.shell_completion import ShellComplete
from tests.support.project import Calling, Project, lines

from toolroll.cli.main import root
from toolroll.home.project_settings import PROJECT_SETTINGS
from toolroll.home.settings_schema import all_settings
from toolroll.home.trust import TrustBook
from toolroll.workspace.limits import Limits

ROOT = Path(__file__).parents[3]
CANARY = "canary-key-0123456789"
KEYRING = {"PYTHON_KEYRING_BACKEND": "tests.home.keyrings.FileKeyring", "PYTHONPATH": str(ROOT)}


def test_S41_what_counts_if_nobody_sets_it_is_what_is_shown(call: Calling) -> None:
    listed = {one["name"]: one for one in json.loads(call("config", "list", "--json").out)["settings"]}
    assert list(listed) == [one.name for one in all_settings()]
    for field in fields(Limits):
        assert listed[f"code.limits.{field.name}"]["value"] == field.default
    assert listed["code.max_steps"] == {
        "name": "code.max_steps",
        "value": 30,
        "default": 30,
        "type": "whole number",
        "summary": "Stop, and ask, after so many model calls.",
        "variable": "TOOLROLL_CODE_MAX_STEPS",
        "origin": {"kind": "default", "place": ""},
    }


def test_S41_a_setting_is_set_shown_and_unset(call: Calling, project: Project) -> None:
    path = project.home / "config" / "settings.toml"
    assert call("config", "get", "model") == (1, "", "Error: model is not set, and has no default.\n")
    assert json.loads(call("config", "get", "model", "--json").out)["value"] is None
    assert call("config", "set", "model", "opus") == (0, 'model = "opus"\n', "")
    assert call("config", "get", "model", "--show-origin") == (0, f"opus  (user: {path})\n", "")
    assert json.loads(call("config", "set", "code.check", "--json", "--", "pytest", "-q").out) == {
        "name": "code.check", "value": ["pytest", "-q"], "path": str(path),
    }  # fmt: skip
    assert call("config", "get", "code.check") == (0, "pytest\n-q\n", "")
    assert call("config", "get", "code.check", "--show-origin").out == f"pytest  (user: {path})\n-q  (user: {path})\n"
    assert call("config", "get", "code.deny") == (0, "", "")
    assert call("config", "unset", "model") == (0, "model is no longer set.\n", "")
    assert call("config", "unset", "model") == (1, "", "Error: 'model' is not in your settings.\n")
    assert json.loads(call("config", "unset", "code.check", "--json").out) == {"name": "code.check", "value": None}


def test_S41_the_list_says_where_each_value_is_from(
    call: Calling, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b'[code]\ndeny = ["theirs/**"]\n'
    own = project.root / PROJECT_SETTINGS
    own.parent.mkdir(exist_ok=True)
    own.write_bytes(content)
    told = call("config", "list")
    assert (told.code, "Note: '.toolroll/settings.toml' has settings" in told.err) == (0, True)
    TrustBook.from_environment(os.environ).add(str(project.root.resolve()), PROJECT_SETTINGS, content)
    call("config", "set", "code.deny", "mine/**")
    monkeypatch.setenv("TOOLROLL_MODEL", "haiku")
    told = call("config", "list", "--show-origin")
    assert told.err == ""
    shown = told.out
    user = project.home / "config" / "settings.toml"
    assert 'model = "haiku"\n    The model that agents ask. (text)\n    from environment: TOOLROLL_MODEL\n' in shown
    assert f'code.deny = ["mine/**", "theirs/**"]\n' in shown  # noqa: F541
    assert f"    from user: {user}\n    from project: {own.resolve()}\n" in shown
    assert "code.max_steps = 30\n" in shown
    assert "(whole number, 30 if not set)\n    from default\n" in shown
    assert call("policy", "list").out == "deny    mine/**  (settings)\ndeny    theirs/**  (the project)\n"
    later = call("config", "set", "model", "opus")
    assert later.err == "Note: TOOLROLL_MODEL is set in the environment, and comes first.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("set", "modle", "x"), 2, "There is no setting 'modle'. Did you mean model?"),
        (("get", "zzz"), 2, "See 'toolroll config list'."),
        (("set", "code.max_steps", "0"), 2, "greater than 0"),
        (("set", "code.max_steps", "-5"), 2, "code.max_steps must be greater than 0; got '-5'."),
        (("set", "code.max_steps", "999999999"), 2, "must be at most 100,000; got '999999999'"),
        (("set", "approval_seconds", "1e30"), 2, "must be at most 31,536,000"),
        (("set", "code.deny", "--jsonn"), 2, "No such option"),
        (("set", "model", "NONSENSE"), 2, "Unknown model 'NONSENSE'. Use one of: "),
        (("set", "model", "openai:a\x1b[2J"), 2, "must not hold control characters; got 'openai:a‹U+001B›[2J'."),
        (("unset", "nope"), 1, "There is no setting 'nope'."),
        (("unset", "model"), 1, "'model' is not in your settings."),
        (("set", "model"), 2, "Missing argument"),
        (("set", "openai_api_key", CANARY), 2, "keys belong in the environment or the keyring"),
        (("key", "set", "NOTHING"), 2, "'NOTHING' is not a key that toolroll uses"),
        (("key", "delete", "OPENAI_API_KEY"), 1, "OPENAI_API_KEY is not in the keyring."),
        (("key", "set", "OPENAI_API_KEY", CANARY), 2, "unexpected extra argument"),
    ],
)
def test_S2_what_cannot_be_done_has_its_code(call: Calling, arguments: tuple[str, ...], code: int, told: str) -> None:
    plain = call("config", *arguments)
    assert (plain.code, plain.out, told in plain.err) == (code, "", True)
    as_json = call("config", *arguments, "--json")
    assert (as_json.code, as_json.err, told in json.loads(as_json.out)["error"]["message"]) == (code, "", True)


@pytest.mark.parametrize(
    "name", ["sonnet", "scripted:a.json", "ollama:qwen3", "openai-compatible:m@http://localhost/v1"]
)
def test_S41_every_kind_of_model_can_be_set(call: Calling, name: str) -> None:
    assert call("config", "set", "model", name) == (0, f'model = "{name}"\n', "")


def test_S41_a_broken_file_stops_nobody_from_mending_it(call: Calling, project: Project) -> None:
    call("config", "set", "model", "opus")
    path = project.home / "config" / "settings.toml"
    path.write_text("model = ")
    assert call("config", "path") == (0, f"{path}\n", "")
    assert json.loads(call("config", "path", "--json").out) == {
        "user": str(path), "project": str(project.root.resolve() / PROJECT_SETTINGS),
    }  # fmt: skip
    assert call("--help").code == call("config", "--help").code == 0
    for command in (("list",), ("get", "model"), ("set", "model", "opus"), ("unset", "model")):
        told = call("config", *command)
        assert (told.code, f"The settings in '{path}' cannot be used" in told.err) == (2, True)
    doctor = call("doctor", "--json")
    assert doctor.code == 1
    broken = [one for one in json.loads(doctor.out)["findings"] if one["status"] == "broken"]
    assert [one["name"] for one in broken] == ["settings.toml"]


def test_S41_keys_go_into_the_keyring_and_nowhere_else(project: Project, tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    ring.mkdir()
    env = KEYRING | {"TEST_KEYRING": str(ring)}
    name = "ANTHROPIC_API_KEY"
    done = project.call("config", "key", "set", name, stdin=f"{CANARY}\n", **env)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{name} is in the keyring.\n", "")
    assert [file.read_text() for file in ring.iterdir()] == [CANARY]
    listed = project.call("config", "key", "list", "--json", **env)
    places = {one["name"]: one["place"] for one in json.loads(listed.stdout)["keys"]}
    assert (places[name], places["OPENAI_API_KEY"]) == ("keyring", None)
    shown = project.call("config", "key", "list", OPENAI_API_KEY="mine", **env)
    assert f"keyring      {name} " in shown.stdout
    assert "environment  OPENAI_API_KEY " in shown.stdout
    assert "missing      NOTION_TOKEN " in shown.stdout
    again = project.call("config", "key", "set", name, "--json", stdin=CANARY, **env)
    assert json.loads(again.stdout) == {"name": name, "place": "keyring"}
    # What a tool answers with the key in it is kept without it, although no variable has it.
    model = project.script({"calls": [{"name": "create_file", "arguments": {"path": "k", "content": CANARY}}]}, "Done.")
    run = project.call("code", "Go.", "--model", model, "--yes", "--json", **env)
    assert (run.returncode, lines(run)[-1]["event"]) == (0, "run_finished")
    kept = [path for path in project.home.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert [path for path in kept if "workspaces" not in path.parts] == []  # those are the project's own contents
    for told in (listed, shown, done, again):
        assert CANARY not in told.stdout + told.stderr
    gone = project.call("config", "key", "delete", name, **env)
    assert (gone.stdout, list(ring.iterdir())) == (f"{name} is no longer in the keyring.\n", [])


class _Provider(BaseHTTPRequestHandler):
    seen: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.seen.append(self.headers["x-api-key"])
        self.send_response(400)
        self.end_headers()
        self.wfile.write(f'{{"error": {{"message": "bad key {CANARY}"}}}}'.encode())

    def log_message(self, *_given: object) -> None:
        return None


def test_S41_D6_a_model_is_asked_with_the_key_of_the_keyring(project: Project, tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    ring.mkdir()
    env = KEYRING | {"TEST_KEYRING": str(ring)}
    project.call("config", "key", "set", "ANTHROPIC_API_KEY", stdin=CANARY, **env)
    with HTTPServer(("127.0.0.1", 0), _Provider) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        env["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{server.server_port}"
        done = project.call("run", "Hi.", "--model", "sonnet", "--debug", **env)
        thread.join()
    assert (done.returncode, _Provider.seen) == (1, [CANARY])
    assert CANARY not in done.stdout + done.stderr
    assert [path for path in project.home.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()] == []


def test_S41_a_key_is_asked_for_without_being_shown(project: Project, tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    ring.mkdir()
    env = KEYRING | {"TEST_KEYRING": str(ring)}
    with project.terminal("config", "key", "set", "NOTION_TOKEN", env=env) as terminal:
        terminal.wait_for("NOTION_TOKEN (it is not shown):")
        terminal.press(CANARY)
        assert terminal.end() == (0, "NOTION_TOKEN is in the keyring.\n")
        assert CANARY not in terminal.text
    assert [file.read_text() for file in ring.iterdir()] == [CANARY]
    deleted = project.call("config", "key", "delete", "NOTION_TOKEN", "--json", **env)
    assert json.loads(deleted.stdout) == {"name": "NOTION_TOKEN", "place": None}


def test_S41_without_a_keyring_or_a_key_that_is_said(project: Project) -> None:
    env = KEYRING | {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    done = project.call("config", "key", "set", "NOTION_TOKEN", stdin=CANARY, **env)
    assert (done.returncode, CANARY in done.stderr) == (1, False)
    assert "There is no keyring to use: this system has no keyring that works." in done.stderr
    empty = project.call("config", "key", "set", "NOTION_TOKEN", stdin="", **env)
    assert (empty.returncode, "That is no key" in empty.stderr) == (2, True)


def test_S6_names_are_completed() -> None:
    found = ShellComplete(root, {}, "toolroll", "_TOOLROLL_COMPLETE")
    settings = found.get_completions(["config", "get"], "code.max")
    keys = found.get_completions(["config", "key", "delete"], "B")
    assert [one.value for one in (*settings, *keys)] == ["code.max_steps", "BRAVE_API_KEY"]


def test_S41_a_closed_stdin_is_no_key(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    told = call("config", "key", "set", "NOTION_TOKEN")
    assert (told.code, "That is no key" in told.err) == (2, True)


def test_S41_a_project_is_trusted_with_what_it_sets(call: Calling, project: Project) -> None:
    own = project.root / PROJECT_SETTINGS
    own.parent.mkdir(exist_ok=True)
    own.write_text('model = "haiku"\n[code]\ncheck = ["make", "test"]\n')
    assert call("trust", "list").out == f"not trusted  {PROJECT_SETTINGS}\n"
    asked = call("trust", "add", PROJECT_SETTINGS)
    assert (asked.code, "Nobody could be asked" in asked.err) == (3, True)
    with project.terminal("trust", "add", PROJECT_SETTINGS) as terminal:
        terminal.wait_for("would run as you: make test\nTrust it? [y/n]")
        assert 'model = "haiku"' in terminal.text
        terminal.press("y")
        assert terminal.end() == (0, f"{PROJECT_SETTINGS} is trusted as it is now.\n")
    assert call("config", "get", "model").out == "haiku\n"
    own.write_text('model = "opus"\n')
    assert call("config", "get", "model").code == 1
    assert call("trust", "remove", PROJECT_SETTINGS).code == 0


def test_XA9_what_a_project_may_not_set_cannot_even_be_trusted(call: Calling, project: Project) -> None:
    own = project.root / PROJECT_SETTINGS
    own.parent.mkdir(exist_ok=True)
    own.write_text('anthropic_base_url = "https://evil.example"\n')
    told = call("trust", "add", PROJECT_SETTINGS, "--yes")
    assert (told.code, "'anthropic_base_url' is not for a project to set" in told.err) == (2, True)
    assert call("trust", "list").out == f"not trusted  {PROJECT_SETTINGS}\n"


def test_XA9_settings_that_cannot_be_read_are_told(call: Calling, project: Project, tmp_path: Path) -> None:
    own = project.root / PROJECT_SETTINGS
    own.parent.mkdir(exist_ok=True)
    own.symlink_to(tmp_path / "elsewhere.toml")
    told = call("trust", "list")
    assert (told.code, told.out, told.err.startswith("Warning: ")) == (0, "", True)


@pytest.mark.parametrize("exists", [True, False])
def test_XA9_no_tool_writes_settings_or_policy(project: Project, exists: bool) -> None:
    """Neither the project's, also where there are none, nor in another spelling."""
    own = project.root / PROJECT_SETTINGS
    if exists:
        own.parent.mkdir(exist_ok=True)
        own.write_text("[code]\n")
    evil = {"content": 'model = "opus"\n', "description": "x"}
    calls = [
        ("create_file", {"path": PROJECT_SETTINGS, **evil}),
        ("create_file", {"path": ".Toolroll/settings.toml", **evil}),
        ("create_file", {"path": "src/.toolroll/settings.toml", **evil}),
        ("create_file", {"path": ".toolroll/policy.toml", **evil}),
        ("edit_file", {"path": PROJECT_SETTINGS, **evil}),
        ("edit", {"path": PROJECT_SETTINGS, "old_string": "[code]", "new_string": "x"}),
        (
            "apply_changes",
            {"changes": [{"path": PROJECT_SETTINGS, "content": "x", "create": True}], "description": "x"},
        ),
        ("read_file", {"path": PROJECT_SETTINGS}),
    ]
    named = [{"name": name, "arguments": given, "id": f"c{at}"} for at, (name, given) in enumerate(calls)]
    done = project.call("code", "Go.", "--model", project.script({"calls": named}, "Done."), "--yes", "--json")
    results = [event for event in lines(done) if event["event"] == "tool_result"]
    assert [result["is_error"] for result in results] == [True] * len(calls)
    assert own.exists() is exists
    assert not exists or own.read_text() == "[code]\n"


@pytest.mark.parametrize("name", ["toolroll", "Toolroll", "TOOLROLL"])
def test_XA9_in_a_folder_of_dotfiles_our_own_settings_are_no_part_of_it(project: Project, name: str) -> None:
    """Also before there are any: an agent must not be the first to write its own leave."""
    dotfiles = project.root / "dotfiles"
    dotfiles.mkdir()
    env = {"XDG_CONFIG_HOME": str(dotfiles), "XDG_DATA_HOME": str(project.home), "TOOLROLL_HOME": ""}
    for file in ("rules.json", "trust.json", "settings.toml", "deep/er.txt"):
        given = json.dumps({"path": f"{name}/{file}", "content": "x", "description": "x"})
        done = project.call("call", "create_file", given, "--root", str(dotfiles), "--yes", "--json", **env)
        assert (done.returncode, "toolroll keeps the user's own settings" in done.stdout) == (1, True)
    assert list(dotfiles.iterdir()) == []
    other = json.dumps({"path": "git/config", "content": "x", "description": "x"})
    fine = project.call("call", "create_file", other, "--root", str(dotfiles), "--yes", "--json", **env)
    assert fine.returncode == 0
    (dotfiles / "toolroll").mkdir(mode=0o700)
    inside = project.call("call", "list_files", '{"path": "."}', "--root", str(dotfiles / "toolroll"), **env)
    assert (inside.returncode, "is where toolroll keeps your settings" in inside.stdout + inside.stderr) == (1, True)


def test_S41_the_project_decides_for_the_agent_once_it_is_trusted(project: Project) -> None:
    script = project.script("Hello.")
    own = project.root / PROJECT_SETTINGS
    own.parent.mkdir(exist_ok=True)
    own.write_text("[code]\ndeny = ['main.js']\n")
    first = project.call("code", "Go.", "--json", TOOLROLL_MODEL=script)
    assert (first.returncode, "Nobody has trusted it: they are not used" in first.stderr) == (0, True)
    assert first.stderr.count("Nobody has trusted it") == 1
    assert project.call("trust", "add", PROJECT_SETTINGS, "--yes").returncode == 0
    read = project.call("call", "read_file", json.dumps({"path": "main.js"}), "--json")
    assert json.loads(read.stdout)["is_error"] is True
