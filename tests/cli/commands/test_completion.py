"""`toolroll completion` and `ghostpen completion`: the scripts work in real shells, for commands and for names."""

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete
from tests.cli.chat.screen import Screen
from tests.support.programs import environment, shared_starter, toolroll
from tests.support.project import Calling, Project, lines

from toolroll.cli.actions.completion import (
    MAX_PROMPT_CHARACTERS,
    complete_profiles,
    complete_project_files,
    complete_runs,
)
from toolroll.cli.ghostpen.main import ghostpen
from toolroll.cli.main import root
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile

BASH = shutil.which("bash")
ZSH = shutil.which("zsh")
FISH = shutil.which("fish")


WORDS = {"toolroll": ("completion",), "ghostpen": ("write", "completion")}
"""How `toolroll` is asked for the script of each program."""


@pytest.mark.parametrize("program", WORDS)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_S6_the_script_says_how_to_install_it(call: Calling, shell: str, program: str) -> None:
    told = call(*WORDS[program], shell)
    assert (told.code, told.err) == (0, "")
    assert f"# Completion of {program} for {shell}. To install it:\n#   {program} completion {shell} > " in told.out
    assert f"_{program.upper()}_COMPLETE" in told.out
    as_json = json.loads(call(*WORDS[program], shell, "--json").out)
    assert (as_json["shell"], as_json["script"]) == (shell, told.out)
    assert as_json["install"].startswith(f"{program} completion {shell} > ")


@pytest.mark.parametrize("program", WORDS)
def test_S6_zsh_knows_the_file_by_its_first_line(call: Calling, program: str) -> None:
    assert call(*WORDS[program], "zsh").out.startswith(f"#compdef {program}\n# Completion")


def test_S2_another_shell_is_2(call: Calling) -> None:
    told = call("completion", "tcsh")
    assert (told.code, "'tcsh' is not one of 'bash', 'zsh', 'fish'" in told.err) == (2, True)


class Shells:
    """Shells that know both programs by their names, with their scripts of completion."""

    def __init__(self, project: Project, call: Calling) -> None:
        self.project, self.folder = project, project.home.parent
        self.env = environment(project.home, HOME=str(self.folder))
        self.env["PATH"] = f"{shared_starter().programs}:{self.env['PATH']}"
        for name, words in WORDS.items():
            for shell in ("bash", "zsh", "fish"):
                (self.folder / f"{name}.{shell}").write_text(call(*words, shell).out)

    def bash(self, line: str) -> list[str]:
        """What bash would offer behind this line."""
        words = line.split(" ")
        program = words[0]
        quoted = " ".join(f"'{word}'" for word in words)
        return self._lines(
            BASH,
            f"source '{self.folder}/{program}.bash'\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
            f"name=$(complete -p {program} | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
            f"$name {program} '{words[-1]}' '{words[-2]}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        )

    def fish(self, line: str) -> list[str]:
        """What fish would offer, with what it says of each."""
        program = line.partition(" ")[0]
        return self._lines(FISH, f"source '{self.folder}/{program}.fish'; complete -C '{line}'", "--no-config")

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
        sourced = "; ".join(f". {self.folder}/{program}.zsh" for program in WORDS)
        # Ids are random: where all begin alike, zsh would write that much and list them only at the second key.
        begin = "PROMPT='ready> '; unsetopt list_ambiguous; autoload -U compinit; compinit -u -D"
        screen.send(f"{begin}; {sourced}\r".encode())
        screen.asks("ready>")
        return screen


@pytest.fixture
def shells(project: Project, call: Calling) -> Shells:
    return Shells(project, call)


COMPLETED = {
    "toolroll": [
        ("toolroll comp", "completion"),
        ("toolroll config un", "unset"),
        ("toolroll config set code.max", "code.max_steps"),
        ("toolroll config key set NOT", "NOTION_TOKEN"),
        ("toolroll call read_f", "read_file"),
        ("toolroll policy explain read_f", "read_file"),
        ("toolroll doctor --onl", "--online"),
        ("toolroll run hi --model gem", "gemini:"),
        ("toolroll completion f", "fish"),
        ("toolroll write profile show oth", "other"),
        ("toolroll write analyze --profile oth", "other"),
        ("toolroll trust add .tool", ".toolroll/tools/deploy.py"),
        ("toolroll write ana", "analyze"),
    ],
    "ghostpen": [
        ("ghostpen prof", "profile"),
        ("ghostpen profile exp", "export"),
        ("ghostpen profile show oth", "other"),
        ("ghostpen feedback reset hook_w", "hook_weak"),
        ("ghostpen comp", "completion"),
        ("ghostpen --platf", "--platform"),
        ("ghostpen --platform inst", "instagram"),
        ("ghostpen --profile oth", "other"),
        ("ghostpen --mix other oth", "other"),
        ("ghostpen tea --platform link", "linkedin"),
        ("ghostpen write --lang u", "uk"),
        ("ghostpen --data elsewhere --profile thi", "third"),
    ],
}
HOSTILE = "Чай: $(touch bad) `touch bad`; \x1b[31m\r'\"\n#{}"


@pytest.fixture
def things(project: Project) -> None:
    """What there is to complete: a profile, one in another folder, and a tool file."""
    for folder, name in (("data", "other"), ("elsewhere", "third")):
        fields = {**sample_profile("uk"), "profile_name": name}
        ProfileStore(project.root / folder).create(fields, now=datetime(2026, 2, 9, 10, tzinfo=UTC))
    (project.root / ".toolroll" / "tools").mkdir(parents=True)
    (project.root / ".toolroll" / "tools" / "deploy.py").write_text("")


@pytest.mark.usefixtures("things")
@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize("program", WORDS)
def test_S6_bash_completes_commands_options_and_names(shells: Shells, program: str) -> None:
    expected = {line: [name] for line, name in COMPLETED[program]}
    assert {line: shells.bash(line) for line in expected} == expected


@pytest.mark.usefixtures("things")
@pytest.mark.skipif(FISH is None, reason="needs fish")
@pytest.mark.parametrize("program", WORDS)
def test_S6_fish_completes_commands_options_and_names(shells: Shells, program: str) -> None:
    for line, expected in COMPLETED[program]:
        assert [offered.split("\t")[0] for offered in shells.fish(line)] == [expected]


@pytest.mark.usefixtures("things")
@pytest.mark.skipif(ZSH is None, reason="needs zsh")
@pytest.mark.parametrize("program", WORDS)
def test_S6_zsh_completes_commands_options_and_names(shells: Shells, program: str) -> None:
    with shells.zsh() as screen:
        for line, expected in COMPLETED[program]:
            screen.send(b"\x15" + line.encode() + b"\t")
            screen.asks(f"ready> {' '.join([*line.split()[:-1], expected])}")


def offered_by_ghostpen(*words: str, incomplete: str = "") -> list[str]:
    found = ShellComplete(ghostpen, {}, "ghostpen", "_GHOSTPEN_COMPLETE").get_completions(list(words), incomplete)
    return [item.value for item in found]


@pytest.mark.usefixtures("call", "things")
def test_S6_W30_ghostpen_completes_commands_and_what_a_post_takes_at_the_first_word() -> None:
    offered = ["write", "init", "profile", "posts", "analyze", "stats", "feedback", "serve", "completion"]
    assert offered_by_ghostpen() == offered
    options = offered_by_ghostpen(incomplete="--")
    assert {"--version", "--debug", "--mix", "--platform", "--notion", "--yes", "--json"} <= set(options)
    assert len(options) == len(set(options))
    assert offered_by_ghostpen(incomplete="--platform=") == ["linkedin", "instagram", "x"]
    assert offered_by_ghostpen("--mix", incomplete="ot") == ["other"]
    assert offered_by_ghostpen("--mix", "other", "other", incomplete="--no") == ["--notion"]
    assert offered_by_ghostpen("--data", "elsewhere", "profile", "show") == ["third"]
    assert offered_by_ghostpen("--nothing", "profile") == []


@pytest.mark.parametrize("words", [("analyze",), ("analyze", "one.md"), ("init", "--from"), ("profile", "import")])
def test_S6_W35_files_are_left_to_the_shell(words: tuple[str, ...]) -> None:
    found = ShellComplete(ghostpen, {}, "ghostpen", "_GHOSTPEN_COMPLETE").get_completions(list(words), "my-p")
    assert [(item.type, item.value) for item in found] == [("file", "my-p")]


FILES = ("ghostpen analyze my-p", "ghostpen init --from my-p")


@pytest.mark.skipif(FISH is None, reason="needs fish")
def test_S6_W35_fish_completes_files_of_posts(shells: Shells) -> None:
    (shells.project.root / "my-posts.txt").write_text("")
    for line in FILES:
        assert [offered.split("\t")[0] for offered in shells.fish(line)] == ["my-posts.txt"]


@pytest.mark.skipif(ZSH is None, reason="needs zsh")
def test_S6_W35_zsh_completes_files_of_posts(shells: Shells) -> None:
    (shells.project.root / "my-posts.txt").write_text("")
    with shells.zsh() as screen:
        for line in FILES:
            screen.send(b"\x15" + line.encode() + b"\t")
            screen.asks(f"ready> {line}osts.txt")


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_S6_W35_bash_completes_files_of_posts(shells: Shells) -> None:
    (shells.project.root / "my-posts.txt").write_text("")
    command = [BASH or "", "--norc", "-i"]
    with Screen(command, env=shells.env, cwd=shells.project.root, columns=100, stdout_on_terminal=True) as screen:
        screen.send(f"PS1='ready> '; . {shells.folder}/ghostpen.bash\r".encode())
        screen.asks("ready>")
        for line in FILES:
            screen.send(b"\x15" + line.encode() + b"\t")
            screen.asks(f"ready> {line}osts.txt")


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
    return complete_runs(click.Context(root), click.Argument(["run_id"]), incomplete)


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
    assert complete_profiles(context, name, "") == []
    context.params["data"] = project.root
    assert complete_profiles(context, name, "") == []
    monkeypatch.setenv("TOOLROLL_HOME", "relative")
    context.params["data"] = None
    assert (offered_runs(), complete_profiles(context, name, "")) == ([], [])
    context.params["root"] = project.root / "README.md"
    assert complete_project_files(context, name, "") == []


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


@pytest.mark.parametrize(("shell", "at"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
@pytest.mark.parametrize("program", WORDS)
def test_S6_the_shell_can_read_its_script(call: Calling, shell: str, at: str | None, program: str) -> None:
    if at is None:
        pytest.skip(f"needs {shell}")
    script = call(*WORDS[program], shell).out
    subprocess.run([at, "-n"], input=script, text=True, check=True, capture_output=True)
