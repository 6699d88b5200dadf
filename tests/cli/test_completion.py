"""`toolroll completion`: the script works in a real shell, for commands and for names of tools."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime

import click
import pytest
from click.shell_completion import CompletionItem
from tests.cli.chat.screen import Screen
from tests.cli.project import Calling, Project, lines
from tests.cli.pseudo import environment, toolroll

from toolroll.cli.completing import MAX_PROMPT_CHARACTERS, own_paths, profile_names, run_ids
from toolroll.cli.main import root
from toolroll.packs.writing.profiles import ProfileStore
from toolroll.packs.writing.sample import sample_profile

BASH = shutil.which("bash")
ZSH = shutil.which("zsh")
FISH = shutil.which("fish")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_S6_the_script_says_how_to_install_it(call: Calling, shell: str) -> None:
    told = call("completion", shell)
    assert (told.code, told.err) == (0, "")
    assert f"# Completion of toolroll for {shell}. To install it:\n#   toolroll completion {shell} > " in told.out
    assert "_TOOLROLL_COMPLETE" in told.out
    as_json = json.loads(call("completion", shell, "--json").out)
    assert (as_json["shell"], as_json["script"]) == (shell, told.out)
    assert as_json["install"].startswith(f"toolroll completion {shell} > ")


def test_S6_zsh_knows_the_file_by_its_first_line(call: Calling) -> None:
    assert call("completion", "zsh").out.startswith("#compdef toolroll\n# Completion")


def test_S2_another_shell_is_2(call: Calling) -> None:
    told = call("completion", "tcsh")
    assert (told.code, "'tcsh' is not one of 'bash', 'zsh', 'fish'" in told.err) == (2, True)


class Shells:
    """Shells that know the program by its name, with its script of completion."""

    def __init__(self, project: Project, call: Calling) -> None:
        self.project, self.folder = project, project.home.parent
        program = self.folder / "bin" / "toolroll"
        program.parent.mkdir()
        program.write_text(f"#!{sys.executable}\nfrom toolroll.cli.main import main\nmain()\n")
        program.chmod(0o755)
        self.env = environment(project.home, HOME=str(self.folder))
        self.env["PATH"] = f"{program.parent}:{self.env['PATH']}"
        for shell in ("bash", "zsh", "fish"):
            (self.folder / f"script.{shell}").write_text(call("completion", shell).out)

    def bash(self, line: str) -> list[str]:
        """What bash would offer behind this line."""
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        return self._lines(
            BASH,
            f"source '{self.folder}/script.bash'\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
            "name=$(complete -p toolroll | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
            f"$name toolroll '{words[-1]}' '{words[-2]}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        )

    def fish(self, line: str) -> list[str]:
        """What fish would offer, with what it says of each."""
        return self._lines(FISH, f"source '{self.folder}/script.fish'; complete -C '{line}'", "--no-config")

    def _lines(self, program: str | None, code: str, *options: str) -> list[str]:
        done = subprocess.run(
            [program or "", *options, "-c", code],
            env=self.env,
            cwd=self.project.root,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.splitlines()

    def zsh(self) -> Screen:
        """A zsh at a terminal that can complete."""
        command = [ZSH or "", "-f", "-i"]
        screen = Screen(command, env=self.env, cwd=self.project.root, columns=100, stdout_on_terminal=True)
        screen.send(f"PROMPT='ready> '; autoload -U compinit; compinit -u -D; . {self.folder}/script.zsh\r".encode())
        screen.asks("ready>")
        return screen


@pytest.fixture
def shells(project: Project, call: Calling) -> Shells:
    return Shells(project, call)


COMPLETED = [
    ("toolroll comp", "completion"),
    ("toolroll config un", "unset"),
    ("toolroll config set code.max", "code.max_steps"),
    ("toolroll config key set NOT", "NOTION_TOKEN"),
    ("toolroll call read_f", "read_file"),
    ("toolroll policy explain read_f", "read_file"),
    ("toolroll doctor --onl", "--online"),
    ("toolroll completion f", "fish"),
    ("toolroll write profile show oth", "other"),
    ("toolroll write analyze --profile oth", "other"),
    ("toolroll trust add .tool", ".toolroll/tools/deploy.py"),
]
HOSTILE = "Чай: $(touch bad) `touch bad`; \x1b[31m\r'\"\n#{}"


@pytest.fixture
def things(project: Project) -> None:
    """What there is to complete: a profile and a tool file."""
    ProfileStore(project.root / "data").create(
        {**sample_profile("uk"), "profile_name": "other"}, now=datetime(2026, 2, 9, 10, tzinfo=UTC)
    )
    (project.root / ".toolroll" / "tools").mkdir(parents=True)
    (project.root / ".toolroll" / "tools" / "deploy.py").write_text("")


@pytest.mark.usefixtures("things")
@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_S6_bash_completes_commands_options_and_names(shells: Shells) -> None:
    assert {line: shells.bash(line) for line, _ in COMPLETED} == {line: [expected] for line, expected in COMPLETED}


@pytest.mark.usefixtures("things")
@pytest.mark.skipif(FISH is None, reason="needs fish")
def test_S6_fish_completes_commands_options_and_names(shells: Shells) -> None:
    for line, expected in COMPLETED:
        assert [offered.split("\t")[0] for offered in shells.fish(line)] == [expected]


@pytest.mark.usefixtures("things")
@pytest.mark.skipif(ZSH is None, reason="needs zsh")
def test_S6_zsh_completes_commands_options_and_names(shells: Shells) -> None:
    with shells.zsh() as screen:
        for line, expected in COMPLETED:
            screen.send(b"\x15" + line.encode() + b"\t")
            screen.asks(f"ready> {' '.join([*line.split()[:-1], expected])}")


@pytest.fixture
def runs(project: Project) -> list[str]:
    """Two runs, the latest first; nothing of what was asked has any power over a shell."""
    model = project.script("Гарячий.")
    asked = [project.call("run", prompt, "--model", model, "--json") for prompt in (HOSTILE, "Що таке чай?")]
    return [lines(done)[0]["run_id"] for done in reversed(asked)]


TOLD = ("Що таке чай?", "Чай: $(touch bad) `touch bad`; ‹U+001B›[31m")


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_S6_bash_offers_runs_the_latest_first(shells: Shells, runs: list[str]) -> None:
    assert shells.bash("toolroll runs show ") == [one[:12] for one in runs]
    assert shells.bash(f"toolroll runs resume {runs[1][:5]}") == [runs[1][:12]]
    assert shells.bash(f"toolroll undo --run {runs[1][:14]}") == [runs[1]]
    assert not (shells.project.root / "bad").exists()


@pytest.mark.skipif(FISH is None, reason="needs fish")
def test_S6_fish_offers_runs_with_what_was_asked(shells: Shells, runs: list[str]) -> None:
    offered = [line.split("\t") for line in shells.fish("toolroll runs fork ")]
    assert {one for one, _ in offered} == {one[:12] for one in runs}
    assert all(told.startswith(TOLD) for _, told in offered)
    assert not (shells.project.root / "bad").exists()


@pytest.mark.skipif(ZSH is None, reason="needs zsh")
def test_S6_zsh_offers_runs_with_what_was_asked(shells: Shells, runs: list[str]) -> None:
    with shells.zsh() as screen:
        screen.send(b"toolroll runs delete \t")
        screen.shows(runs[0][:12], runs[1][:12], *TOLD)
    assert not (shells.project.root / "bad").exists()


def offered_runs(incomplete: str = "") -> list[CompletionItem]:
    return run_ids(click.Context(root), click.Argument(["run_id"]), incomplete)


@pytest.mark.usefixtures("call")
def test_S6_a_long_prompt_is_cut_and_a_missing_one_is_left_out(project: Project) -> None:
    long = "довге питання " * 2_000
    project.call("run", long, "--model", project.script("Так."))
    [one] = offered_runs()
    assert (one.help or "").startswith("довге питання довге")
    assert len(one.help or "") <= MAX_PROMPT_CHARACTERS
    with closing(sqlite3.connect(project.home / "data" / "runs.db")) as db, db:
        db.execute("delete from contents")
    assert [item.help for item in offered_runs()] == [""]
    with closing(sqlite3.connect(project.home / "data" / "runs.db")) as db, db:
        by_model = b'{"message":{"role":"assistant","content":[]}}'
        db.execute("update records set body = ? where kind = 'said'", (by_model,))
    assert [item.help for item in offered_runs()] == [""]


@pytest.mark.usefixtures("call")
def test_S6_what_cannot_be_read_is_not_offered(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered_runs() == []
    (project.home / "data").mkdir(parents=True)
    (project.home / "data" / "runs.db").write_bytes(b"no data base" * 500)
    assert offered_runs() == []
    context, name = click.Context(root), click.Argument(["name"])
    assert profile_names(context, name, "") == []
    context.params["data"] = project.root
    assert profile_names(context, name, "") == []
    monkeypatch.setenv("TOOLROLL_HOME", "relative")
    context.params["data"] = None
    assert (offered_runs(), profile_names(context, name, "")) == ([], [])
    context.params["root"] = project.root / "README.md"
    assert own_paths(context, name, "") == []


def test_S6_a_run_is_offered_within_a_third_of_a_second(shells: Shells, project: Project) -> None:
    """Of processor time: how long a person waits on an idle machine, which one with other tests is not."""
    model = project.script("Так.")
    project.call("run", "Чай?", "--model", model)
    env = shells.env | {"COMP_WORDS": "toolroll runs show ", "COMP_CWORD": "3", "_TOOLROLL_COMPLETE": "zsh_complete"}
    took_s = []
    for _ in range(3):
        before = os.times()
        done = subprocess.run(toolroll(), env=env, capture_output=True, text=True, check=True)
        after = os.times()
        took_s.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert "Чай?" in done.stdout
    assert min(took_s) < 0.3


@pytest.mark.parametrize(("shell", "program"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_S6_the_shell_can_read_its_script(call: Calling, shell: str, program: str | None) -> None:
    if program is None:
        pytest.skip(f"needs {shell}")
    script = call("completion", shell).out
    subprocess.run([program, "-n"], input=script, text=True, check=True, capture_output=True)
