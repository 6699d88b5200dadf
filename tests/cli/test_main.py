"""The command as a whole: help, errors, exit codes, and what starting it loads."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from tests.support.model_script import Turn
from tests.support.model_server import ModelServer
from tests.support.programs import environment, run_toolroll, shared_starter, toolroll
from tests.support.scene import commands
from tests.support.terminal import TOOLS

from toolroll._version import __version__
from toolroll.cli import main as main_module
from toolroll.cli.main import root, run, wants_json
from toolroll.cli.session import EXIT_CODES, Session
from toolroll.errors import StaleFile, ToolrollError
from toolroll.messages import FILE_CHANGED
from toolroll.safe.paths.os_errors import file_error, missing_error

PAGES = Path(__file__).parents[1] / "goldens" / "help"
COMMANDS = [words for words, _ in commands() if words[:1] != ("write",)]
"""Those of `ghostpen`, which are below `toolroll write` too, have pages of their own."""


def called(*arguments: str, home: Path, cwd: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command without a terminal."""
    return run_toolroll(*arguments, env=environment(home), cwd=cwd or home, stdin=stdin)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "toolroll")
def test_S6_the_help_is_the_one_that_was_looked_at(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write it anew with WRITE_GOLDENS=1, and read the difference."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*command, "--help"], Session()) == 0
    shown = capsys.readouterr().out
    page = PAGES / ("-".join(("toolroll", *command)) + ".txt")
    if os.environ.get("WRITE_GOLDENS"):
        page.write_text(shown)
    assert shown == page.read_text()
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("command", [["--help"], ["tools", "list"], ["tools", "show", "write_todos"]])
def test_S6_lists_and_help_fit_40_columns(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert run(command, Session()) == 0
    shown, code_lines = capsys.readouterr().out, tuple(EXIT_CODES.values())
    assert [line for line in shown.splitlines() if len(line) > 40 and not line.endswith(code_lines)] == []


def test_S2_the_help_documents_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    run(["-h"], Session())
    shown = capsys.readouterr().out
    assert {0, 1, 2, 3, 4, 130} == set(EXIT_CODES)
    assert all(f"{code:<4} {meaning}" in shown for code, meaning in EXIT_CODES.items())


def test_the_list_of_commands_is_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    context = click.Context(root)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert command is not None
        assert command.name == name
    assert root.get_command(context, "nothing") is None


HEAVY = ("pydantic", "rich", "asyncio", "httpx2", "platformdirs", "sqlite3", "ssl", "logging", "subprocess")
STARTS = [["--help"], ["tools", "list"], ["tools", "list", "--json"], ["--version"], ["call", "--help"]]
STARTS += [["runs", "--help"], ["runs", "export", "--help"], ["stats", "--help"]]
STARTS += [["code", "--help"], ["changes", "--help"], ["undo", "--help"], ["redo", "--help"], ["trust", "--help"]]
STARTS += [["write", "--help"], ["write", "write", "--help"], ["write", "stats", "--help"]]
STARTS += [["config", "--help"], ["config", "set", "--help"], ["doctor", "--help"], ["completion", "--help"]]


def loaded(command: list[str], names: Sequence[str], folder: Path) -> tuple[int, set[str]]:
    """The exit code of a command, and which of these modules it loads."""
    code = (
        "import sys\nfrom toolroll.cli.main import run\nfrom toolroll.cli.session import Session\n"
        f"code = run({command!r}, Session())\n"
        f"print(code, *sorted(set({names!r}) & set(sys.modules)), file=sys.stderr)"
    )
    kept = {name: value for name, value in environment(folder / "home", CI="1").items() if "COVERAGE_" not in name}
    work = folder / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run([sys.executable, "-c", code], env=kept, cwd=work, capture_output=True, text=True, check=True)
    exit_code, *found = done.stderr.splitlines()[-1].split()
    return int(exit_code), set(found)


def test_S6_starting_loads_nothing_heavy(tmp_path: Path) -> None:
    """The part of the budget that needs no clock; `benchmarks/start.py` has the rest."""
    for command in STARTS:
        assert loaded(command, HEAVY, tmp_path) == (0, set()), command


@pytest.mark.parametrize(
    ("command", "code", "needed"),
    [
        (["code", "Go."], 2, {"sqlite3"}),
        (["trust", "list"], 0, set()),
        (["changes"], 0, set()),
        (["call", "list_files", '{"path": "."}'], 0, set()),
        (["call", "find_definition", '{"symbol": "nothing"}'], 0, {"sqlite3"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_S6_a_command_loads_what_it_needs(command: list[str], code: int, needed: set[str], tmp_path: Path) -> None:
    """No data base for what keeps nothing, no parsers where nothing is parsed, no HTTP where no model is asked."""
    assert loaded(command, ("httpx2", "rich", "sqlite3", "tree_sitter"), tmp_path) == (code, needed)


READS_ONCE = """
import os, sys
from collections import Counter
read = Counter()
def watch(event, args):
    if event == "open" and isinstance(args[0], str):
        read[os.path.basename(args[0])] += 1
sys.addaudithook(watch)
from toolroll.cli.main import run
from toolroll.cli.session import Session
from toolroll.workspace.workspace import Workspace
opened, make = [], Workspace.__init__
def count(*args, **options):
    opened.append(1)
    make(*args, **options)
Workspace.__init__ = count
code = run(["code", "Hello.", "--model", "anthropic:some-model"], Session())
print(code, read["settings.toml"], read["AGENTS.md"], len(opened), file=sys.stderr)
"""


def test_settings_instructions_and_the_workspace_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "home" / "config").mkdir(parents=True, mode=0o700)
    (tmp_path / "home").chmod(0o700)
    settings = tmp_path / "home" / "config" / "settings.toml"
    settings.write_text("[code]\nmax_steps = 9\n")
    settings.chmod(0o600)
    work = tmp_path / "work"
    work.mkdir()
    (work / "AGENTS.md").write_text("Be brief.\n")
    with ModelServer(lambda _: Turn("Hi.")) as server:
        env = environment(tmp_path / "home", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url)
        done = subprocess.run(
            [sys.executable, "-c", READS_ONCE], env=env, cwd=work, capture_output=True, text=True, check=True
        )
    # The file of settings is also searched for the address of a database, without being parsed: that costs less.
    assert (done.stdout, done.stderr.splitlines()[-1]) == ("Hi.\n", "0 2 1 1")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"], Session()) == 0
    assert capsys.readouterr().out == f"toolroll {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tols"], "No such command 'tols'"),
        (["tools", "nothing"], "No such command 'nothing'"),
        (["call"], "Missing argument 'NAME'"),
        (["tools", "list", "--nothing"], "No such option"),
        (["tools", "schema", "done", "--strict", "--provider", "nobody"], "'nobody' is not one of"),
        (["tools", "schema", "done", "--provider", "openai"], "add --strict"),
        (["tools", "list", "--pack", "standart"], "Did you mean standard?"),
        (["tools", "list", "--from", "no_such_module_anywhere"], "There is no module"),
    ],
)
def test_S2_a_command_that_makes_no_sense_is_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments, Session()) == 2
    plain = capsys.readouterr()
    assert plain.out == ""
    assert plain.err.startswith("Error: ")
    assert told in plain.err
    assert run([*arguments, "--json"], Session(json=True)) == 2
    as_json = capsys.readouterr()
    error = json.loads(as_json.out)["error"]
    assert (error["code"], as_json.err) == ("usage", "")
    assert told in error["message"]


def test_S2_no_command_at_all_shows_the_help_and_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([], Session()) == 2
    assert capsys.readouterr().err.startswith("toolroll: agents with tools")
    assert run(["tools"], Session(json=True)) == 2
    assert (
        json.loads(capsys.readouterr().out)["error"]["message"] == "A command is missing. Try 'toolroll tools --help'."
    )


def test_S2_json_counts_before_it_can_be_parsed() -> None:
    assert wants_json(["call", "x", "--json"])
    assert wants_json(["--json"])
    assert not wants_json(["call", "x", "--", "--json"])
    assert not wants_json(["call", "x", '{"a": "--json"}'])


def test_S6_what_is_unexpected_is_told_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise ZeroDivisionError("by\x1b[31mzero")

    monkeypatch.setattr(main_module.root, "main", fail)
    assert run([], Session()) == 1
    told = capsys.readouterr().err
    assert told == (
        "Error: Something unexpected went wrong: ZeroDivisionError: by‹U+001B›[31mzero. Add --debug to see where.\n"
    )
    assert run([], Session(debug=True)) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "Error: Interrupted.\n"),
        (click.Abort(), 130, "Error: Interrupted.\n"),
        (click.ClickException("It is so."), 1, "Error: It is so.\n"),
        (KeyError(), 1, "Error: Something unexpected went wrong: KeyError. Add --debug to see where.\n"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/home/me/x"),
            1,
            (
                "Error: The system refused '/home/me/x': Permission denied (EACCES). "
                "Check the permissions of it and of the folders above it.\n"
            ),
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file", "/x"),
            1,
            (
                "Error: Something unexpected went wrong: FileNotFoundError: No such file: '/x'. "
                "Add --debug to see where.\n"
            ),
        ),
    ],
)
def test_S2_every_way_to_fail_has_its_code(
    error: BaseException,
    code: int,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(main_module.root, "main", fail)
    assert run([], Session()) == code
    assert capsys.readouterr().err == told


def test_S6_debug_may_stand_before_or_after_the_command(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("x = 1 / 0\n")
    quiet = called("tools", "list", "--from", "bad.py", home=tmp_path)
    what = "could not be loaded. ZeroDivisionError: division by zero"
    assert quiet.stderr == f"Error: The tools in '{tmp_path / 'bad.py'}', line 1 {what}\n"
    for arguments in (["--debug", "tools", "list"], ["tools", "list", "--debug"]):
        loud = called(*arguments, "--from", "bad.py", home=tmp_path)
        assert (loud.returncode, quiet.returncode) == (1, 1)
        assert "Traceback" in loud.stderr
        assert "x = 1 / 0" in loud.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("tools", "list"),
        ("tools", "list", "--json"),
        ("call", "done", '{"message": "x"}'),
        ("call", "look", '{"path": "big", "lines": 1000000}', "--from", str(TOOLS)),
        ("demo",),
    ],
)
def test_a_reader_that_goes_away_is_told_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """`toolroll ... | head -1`: no complaint, whenever the pipe is closed."""
    (tmp_path / "big").write_text(("x" * 99 + "\n") * 20_000)
    read, write = os.pipe()
    os.close(read)
    starter = shared_starter()
    starter.start(*arguments, env=environment(tmp_path), cwd=tmp_path, out=write)
    done = starter.wait()
    os.close(write)
    assert (done.code, done.err) == (1, "")


def test_stdout_that_is_closed_is_no_error(tmp_path: Path) -> None:
    command = " ".join(f"'{part}'" for part in toolroll("call", "done", '{"message": "x"}'))
    for redirection in (">&-", "2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirection}"], env=environment(tmp_path), capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_the_locale_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from toolroll import tool\n@tool\ndef a() -> str:\n  'Ї.'\n  return 'Ї'\n")
    for language in ("C", "en_US.ISO-8859-1"):
        env = environment(tmp_path, LC_ALL=language, PYTHONIOENCODING="latin-1")

        def out(*arguments: str, env: dict[str, str] = env) -> bytes:
            command = toolroll(*arguments, "--from", "mine.py")
            return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, check=True).stdout

        assert json.loads(out("tools", "list", "--json"))["tools"][0]["summary"] == "Ї."
        assert rb"\u0407" in out("tools", "list")
        assert out("call", "a").decode() == "Ї\n"


def test_S6_the_shell_can_complete_names(tmp_path: Path) -> None:
    env = environment(tmp_path, _TOOLROLL_COMPLETE="bash_complete", COMP_WORDS="toolroll call wri", COMP_CWORD="2")
    done = run_toolroll(env=env, cwd=tmp_path)
    assert done.stdout == "plain,write_todos\nplain,write_to_notion\n"


def test_S6_a_hint_of_click_ends_with_one_sign(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", "list", "--fro", "x"], Session()) == 2
    assert "Did you mean '--from'? Try 'toolroll tools list --help'." in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("tools", "list"),
        ("tools", "list", "--json"),
        ("tools", "show", "done"),
        ("call", "done", '{"message": "x"}'),
        ("call", "done", '{"message": "x"}', "--json"),
        ("demo",),
    ],
)
def test_S2_S6_an_answer_that_cannot_be_written_is_told_in_one_line(
    arguments: tuple[str, ...], unbuffered: str, tmp_path: Path
) -> None:
    env, starter = environment(tmp_path, PYTHONUNBUFFERED=unbuffered), shared_starter()
    starter.start(*arguments, env=env, cwd=tmp_path, out="/dev/full")
    done = starter.wait()
    told = "Error: The answer could not be written: No space left on device.\n"
    assert (done.code, done.err) == (1, told)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_S6_an_error_that_cannot_be_written_as_json_is_told_in_words(tmp_path: Path) -> None:
    starter = shared_starter()
    starter.start("tools", "show", "nothing", "--json", env=environment(tmp_path), cwd=tmp_path, out="/dev/full")
    done = starter.wait()
    assert done.code == 1
    assert done.err.startswith("Error: Unknown tool 'nothing'.")
    assert done.err.count("\n") == 1


def test_S2_letters_that_the_locale_does_not_have_are_refused(tmp_path: Path) -> None:
    env = {**environment(tmp_path), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for word, code in (("tea", 1), ("th\u00e9", 2)):
        command = toolroll("call", "no_such_tool", json.dumps({"word": word}, ensure_ascii=False))
        done = subprocess.run(
            [part.encode() for part in command], env=env, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == code
        assert (b"the locale 'C' (ascii) does not have" in done.stderr) == (code == 2)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (missing_error("a"), "There is no 'a'."),
        (file_error(OSError(errno.ENOTDIR, "x"), "a"), "'a' is, or goes through, something of the wrong kind."),
        (
            StaleFile(FILE_CHANGED(path="a"), path="a"),
            (
                "'a' has changed since it was read. Nothing was written. See what is there now, then run the command "
                "again."
            ),
        ),
    ],
    ids=["missing", "wrong kind", "stale"],
)
def test_S2_people_are_not_told_what_models_are(
    error: ToolrollError, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def failing() -> None:
        raise error

    assert run([], Session(), failing) == 1
    assert capsys.readouterr().err == f"Error: {told}\n"
