"""`toolroll call`: what a model would read, as text or as JSON, and nothing else on stdout."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.support.programs import environment, run_toolroll, toolroll
from tests.support.terminal import TOOLS, Pseudo

from toolroll.packs.catalog import load_tools

Done = subprocess.CompletedProcess[str]


def call(folder: Path, *arguments: str, stdin: bytes = b"", own: bool = True, **env: str) -> Done:
    """`toolroll call` without a terminal; `own` takes the tools of these tests instead of the packs."""
    source = ("--from", str(TOOLS)) if own else ()
    env = environment(folder / "home", **env)
    return run_toolroll("call", *arguments, *source, env=env, cwd=folder, stdin=stdin)


def told(done: Done) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


def as_json(done: Done) -> dict[str, object]:
    assert done.stdout.count("\n") == 1
    value: dict[str, object] = json.loads(done.stdout)
    return value


def test_S3_a_tool_of_a_pack_runs_and_its_text_is_all_there_is(tmp_path: Path) -> None:
    assert told(call(tmp_path, "done", '{"message": "Усе."}', own=False)) == (0, "Усе.\n", "")


def test_S3_the_text_is_exactly_what_a_model_reads(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\r\n\tb\x1b[31m\xc2\x9b\n")
    assert told(call(tmp_path, "look", '{"path": "f"}')) == (0, "a\n\tb\x1b[31m\x9b\n", "")
    assert call(tmp_path, "facts").stdout == '{"ok":true,"letters":"ї","half":"�","items":[1,2.5,null]}\n'


def test_S2_S3_as_json_the_content_is_the_value_itself(tmp_path: Path) -> None:
    assert as_json(call(tmp_path, "facts", "--json")) == {
        "tool": "facts",
        "is_error": False,
        "content": {"ok": True, "letters": "ї", "half": "�", "items": [1, 2.5, None]},
        "output_ref": None,
    }
    assert as_json(call(tmp_path, "escaping", "--json"))["content"] == "a\x1b[31mred\u202e"
    assert as_json(call(tmp_path, "picture", "{}", "--json"))["content"] == [
        {"type": "text", "text": "look:"},
        {"type": "image", "media_type": "image/png", "data": "iVBORw=="},
        {"type": "document", "media_type": "application/pdf", "data": "JVBERg==", "title": "A"},
    ]


def test_S3_parts_as_text_name_what_cannot_be_printed(tmp_path: Path) -> None:
    assert (
        call(tmp_path, "picture").stdout == "look:\n[image image/png, 4 bytes]\n[document application/pdf, 4 bytes]\n"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["failing"], '{"ok":false,"why":"no paper"}\n'),
        (["crash"], "Error executing tool: the cat sat on it\n"),
        (["look", '{"path": 1, "size": 2}'], "Invalid arguments for look:\n- path: "),
        (["look", "{broken"], "Invalid JSON: "),
        (["look", "[]"], ""),
        (["lok", "{}"], "Unknown tool 'lok'. Did you mean look? Known tools: "),
        (["endless"], "endless did not end within 0.3 seconds; it may still be running.\n"),
    ],
)
def test_S2_S3_a_failed_call_is_told_as_to_a_model_and_is_1(tmp_path: Path, arguments: list[str], text: str) -> None:
    plain = call(tmp_path, *arguments)
    assert plain.returncode == 1
    assert plain.stdout.startswith(text)
    assert "Traceback" not in plain.stderr
    answer = call(tmp_path, *arguments, "--json")
    assert (answer.returncode, as_json(answer)["is_error"]) == (1, True)


def test_S6_debug_shows_the_traceback_of_a_tool(tmp_path: Path) -> None:
    assert call(tmp_path, "crash").stderr == ""
    loud = call(tmp_path, "crash", "--debug")
    assert (loud.returncode, loud.stdout) == (1, "Error executing tool: the cat sat on it\n")
    assert 'raise ValueError("the cat sat on it")' in loud.stderr


def test_S3_arguments_are_read_from_stdin(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("hello\n")
    assert told(call(tmp_path, "look", "-", stdin=b'{"path": "f"}')) == (0, "hello\n", "")
    assert call(tmp_path, "look", "-", stdin=b"").stdout.startswith("Invalid arguments for look:\n- path: missing")


def test_S2_stdin_that_is_no_text_is_a_wrong_usage(tmp_path: Path) -> None:
    done = call(tmp_path, "look", "-", "--json", stdin=b'{"path": "\xff"}')
    assert (done.returncode, done.stderr) == (2, "")
    assert json.loads(done.stdout)["error"]["code"] == "usage"


def test_XL6_more_than_a_tool_takes_is_refused(tmp_path: Path) -> None:
    done = call(tmp_path, "look", "-", stdin=b'{"path": "' + b"x" * 1_000_000)
    assert (done.returncode, "larger than" in done.stdout) == (1, True)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_XL12_whatever_a_tool_prints_goes_to_stderr(tmp_path: Path, more: list[str]) -> None:
    """Through Python, through the file descriptor, and by a child process."""
    done = call(tmp_path, "noisy", *more)
    answer = as_json(done)["content"] if more else done.stdout.rstrip("\n")
    assert (done.returncode, answer) == (0, "answer")
    assert done.stderr.split("\n") == ["printed", "written", "by a child", ""]


def test_XL12_a_tool_that_still_prints_after_its_time_is_not_on_stdout(tmp_path: Path) -> None:
    done = call(tmp_path, "endless", "--json")
    assert as_json(done)["is_error"] is True
    assert "again\n" in done.stderr


def test_XL12_a_file_that_prints_when_it_is_loaded_does_not_disturb(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "print('loading')\nfrom toolroll import tool\n@tool\ndef a() -> str:\n  'A.'\n  return 'x'\n"
    )
    assert told(call(tmp_path, "a", "--from", "loud.py", own=False)) == (0, "x\n", "loading\n")


WRITE = '{"path": "f", "text": "new"}'


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_XA8_S2_where_nobody_can_be_asked_nothing_is_written_and_it_is_3(tmp_path: Path, more: list[str]) -> None:
    done = call(tmp_path, "save", WRITE, *more, stdin=b"y\ny\ny\n")
    assert done.returncode == 3
    assert "needs a person's approval, and nobody could be asked. Nothing was done." in done.stdout
    assert "add --yes" in done.stderr
    assert not (tmp_path / "f").exists()
    if more:
        assert as_json(done)["is_error"] is True


@pytest.mark.parametrize("tool", ["save", "save_unseen"])
def test_S3_yes_allows_it(tmp_path: Path, tool: str) -> None:
    assert told(call(tmp_path, tool, WRITE, "--yes", CI="true")) == (0, "saved f\n", "")
    assert (tmp_path / "f").read_text() == "new"


def test_S3_yes_is_a_yes_to_approvals_not_to_wrong_arguments(tmp_path: Path) -> None:
    assert call(tmp_path, "save", "{}", "--yes").returncode == 1


def rules(folder: Path, path: str, workspace: Path) -> None:
    place = folder / "home" / "config"
    place.mkdir(parents=True, mode=0o700)
    [tool] = [one for one in load_tools(str(TOOLS)) if one.name == "save_unseen"]
    rule = {
        "action": "allow",
        "tool": tool.name,
        "fingerprint": tool.definition.fingerprint,
        "place": str(TOOLS.resolve()),
        "path": path,
        "workspace": str(workspace.resolve()),
        "added": "2026-01-01T00:00:00Z",
    }
    text = json.dumps({"version": 2, "rules": [rule]})
    (place / "rules.json").write_text(text)


def test_K43_what_was_remembered_runs_unasked_in_its_workspace_only(tmp_path: Path) -> None:
    rules(tmp_path, "f", tmp_path)
    assert told(call(tmp_path, "save_unseen", WRITE)) == (0, "saved f\n", "")
    assert call(tmp_path, "save_unseen", '{"path": "g", "text": ""}').returncode == 3
    assert call(tmp_path, "save", WRITE).returncode == 3
    (tmp_path / "below").mkdir()
    elsewhere = subprocess.run(
        toolroll("call", "save_unseen", WRITE, "--from", str(TOOLS)),
        env=environment(tmp_path / "home"),
        cwd=tmp_path / "below",
        capture_output=True,
        check=False,
    )
    assert elsewhere.returncode == 3


def test_K43_a_broken_rule_file_is_warned_about_and_grants_nothing(tmp_path: Path) -> None:
    rules(tmp_path, "**", tmp_path)
    done = call(tmp_path, "save_unseen", WRITE)
    assert done.returncode == 3
    assert done.stderr.startswith("Warning: The remembered approvals in '")
    assert call(tmp_path, "look", '{"path": "nothing"}').stderr == "", "who only reads is not bothered"


@pytest.mark.parametrize("key", ["terminal", "signal"])
def test_S2_an_interrupted_call_is_130(tmp_path: Path, key: str) -> None:
    command = toolroll("call", "sleepy", '{"ready": "ready"}', "--from", str(TOOLS), "--json")
    with Pseudo(command, env=environment(tmp_path / "home"), cwd=tmp_path) as terminal:
        terminal.waits_until((tmp_path / "ready").exists, "the tool")
        if key == "terminal":
            terminal.send(b"\x03")
        else:
            os.kill(terminal.process.pid, signal.SIGINT)
        code, out = terminal.end()
    assert (code, json.loads(out)) == (130, {"error": {"code": "interrupted", "message": "Interrupted."}})


def test_S2_S6_a_second_control_c_ends_a_tool_that_holds_up_the_loop(tmp_path: Path) -> None:
    """asyncio's first note of it waits for the tool; the second ends it, and no traceback is left behind."""
    ready = tmp_path / "ready"
    command = toolroll("call", "stubborn", json.dumps({"ready": str(ready)}), "--from", str(TOOLS))
    with Pseudo(command, env=environment(tmp_path / "home"), cwd=tmp_path) as terminal:
        terminal.waits_until(ready.exists, "the tool")
        terminal.send(b"\x03")
        terminal.waits_until((tmp_path / "ready-to-end").exists, "the first note of it")
        terminal.send(b"\x03")
        assert terminal.end() == (130, "")
        assert terminal.text.replace("^C", "").strip() == "Error: Interrupted."


def test_S6_arguments_from_a_closed_stdin(tmp_path: Path) -> None:
    command = " ".join(f"'{part}'" for part in toolroll("call", "done", "-"))
    done = subprocess.run(
        ["sh", "-c", f"{command} <&-"], env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    told = "Error: The arguments were to come from stdin, which is closed. Pipe JSON in, or write it here.\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", told)


def test_progress_is_shown_at_a_terminal_only(tmp_path: Path) -> None:
    """S7, K24: one line each, and safe."""
    command = toolroll("call", "long_work", "{}", "--from", str(TOOLS))
    with Pseudo(command, env=environment(tmp_path / "home"), cwd=tmp_path) as terminal:
        assert terminal.end() == (0, "done\n")
        assert "· half of it (50%)\n· nearly‹U+001B›[2J there\n" in terminal.text
    assert told(call(tmp_path, "long_work")) == (0, "done\n", "")


def test_K61_todos_are_shown_as_they_change(tmp_path: Path) -> None:
    command = toolroll("call", "write_todos", '{"todos": [{"content": "milk"}]}')
    with Pseudo(command, env=environment(tmp_path / "home"), cwd=tmp_path, columns=120) as terminal:
        assert terminal.end() == (0, '[{"id":"t1","content":"milk","status":"pending"}]\n')
        assert '· todos: {"todos": [{"id": "t1", "content": "milk", "status": "pending"}], "made": 1}' in terminal.text


def test_XA6_at_a_terminal_the_answer_cannot_draw(tmp_path: Path) -> None:
    command = toolroll("call", "escaping", "--from", str(TOOLS))
    with Pseudo(command, env=environment(tmp_path / "home"), cwd=tmp_path, stdout_on_terminal=True) as terminal:
        assert terminal.end()[0] == 0
        assert "a‹U+001B›[31mred‹U+202E›" in terminal.text
        assert b"\x1b[31m" not in terminal.raw


def test_S3_W15_the_writing_tools_work_in_the_folder_that_is_named(tmp_path: Path) -> None:
    post = json.dumps({"content": "Tea.", "platform": "x", "topic": "чай"})
    data = ("--data", str(tmp_path / "mine"))
    saved = call(tmp_path, "save_to_file", post, "--yes", *data, own=False)
    assert saved.returncode == 0, saved.stderr
    [file] = (tmp_path / "mine" / "output" / "generated").iterdir()
    assert file.name.endswith("-chai-x.md")
    found = call(tmp_path, "read_past_posts", '{"keywords": ["tea"]}', *data, "--json", own=False)
    assert json.loads(found.stdout)["content"]["total_found"] == 1


def test_S3_R5_research_is_read_from_the_place_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "kept" / "2025-01-01-tea").mkdir(parents=True)
    (tmp_path / "kept" / "2025-01-01-tea" / "research.md").write_text("# Tea\n")
    asked = ("read_research", '{"path": "2025-01-01-tea/research.md"}', "--json", "--ideas")
    assert as_json(call(tmp_path, *asked, "kept", own=False))["content"] == {
        "ok": True,
        "content": "# Tea\n",
        "bytes": 6,
    }
    assert "file_not_found" in call(tmp_path, *asked, "other", own=False).stdout
    refused = call(tmp_path, *asked, "kept", "--repo", "me/research", own=False)
    assert (refused.returncode, "exclude each other" in refused.stdout) == (2, True)


@pytest.mark.parametrize(
    ("locale", "words"), [("uk_UA.UTF-8", "Notion не налаштований"), ("en_US.UTF-8", "Notion is not configured")]
)
def test_W34_a_writing_tool_speaks_the_language_of_the_locale(tmp_path: Path, locale: str, words: str) -> None:
    asked = '{"page_id": "0123abcd0123456789ab0123456789ab"}'
    done = call(tmp_path, "read_notion_page", asked, own=False, LC_ALL=locale, NOTION_TOKEN="")
    assert (done.returncode, words in done.stdout) == (1, True)
