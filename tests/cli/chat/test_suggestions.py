"""What is suggested while somebody types."""

import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toolroll.cli.chat.suggestions import FRESH_SECONDS, MAX_SECONDS, MAX_SUGGESTED, FileNames, Suggester, Suggestion
from toolroll.workspace.workspace import Workspace

COMMANDS = {"help": "what there is", "model": "which one"}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in ("src/main.py", "src/domain.py", "main.txt", "my main.md", "built.log", "src/Other.py", ".env"):
        (root / name).write_text("x\n")
    (root / ".gitignore").write_text("*.log\n")
    return Workspace(root, state=tmp_path / "state", deny=["src/domain.py"])


def known(workspace: Workspace, clock: Callable[[], float] = time.monotonic) -> FileNames:
    """All names, however long it takes to look them up."""
    return FileNames(workspace=workspace, clock=clock, wait_s=60.0)


def suggested(suggesting: Suggester, before: str) -> list[str]:
    """The texts."""
    return [one.text for one in suggesting.suggest(before)]


def test_S1_commands_and_what_follows_them_are_suggested() -> None:
    suggesting = Suggester(commands=COMMANDS, arguments={"model": ("sonnet", "opus")})
    assert suggested(suggesting, "/") == ["/help", "/model"]
    assert suggesting.suggest("/H") == [Suggestion(text="/help", replaces=2, about="what there is")]
    assert suggesting.suggest("/model so") == [Suggestion(text="sonnet", replaces=2)]
    assert suggested(suggesting, "/help so") == []
    assert suggested(suggesting, "see /he") == []
    assert suggested(suggesting, "@src") == []


def test_S1_files_are_suggested_but_no_ignored_and_no_denied_ones(workspace: Workspace) -> None:
    suggesting = Suggester(commands=COMMANDS, names=known(workspace))
    assert suggested(suggesting, "see @main") == ["@main.txt", "@src/main.py", '@"my main.md"']
    assert suggesting.suggest("@src/o") == [Suggestion(text="@src/Other.py", replaces=6)]
    assert suggested(suggesting, '@"my') == ['@"my main.md"']
    assert suggested(suggesting, "a@main") == []
    assert suggested(suggesting, "@built") == suggested(suggesting, "@.env") == suggested(suggesting, "@domain") == []


def test_S1_names_are_looked_up_again_after_a_while(workspace: Workspace) -> None:
    now = 0.0
    suggesting = Suggester(commands={}, names=known(workspace, clock=lambda: now))
    assert suggested(suggesting, "@new") == []
    (workspace.root / "new.py").write_text("x\n")
    assert suggested(suggesting, "@new") == []
    now = FRESH_SECONDS + 1
    assert suggested(suggesting, "@new") == ["@new.py"]


def test_S1_looking_for_names_ends_in_time(workspace: Workspace) -> None:
    ticks = iter(range(0, 1_000, int(MAX_SECONDS) + 1))
    assert len(known(workspace, clock=lambda: float(next(ticks))).all()) == 1


def test_S1_while_names_are_looked_up_those_that_are_found_are_suggested(workspace: Workspace) -> None:
    asked, go_on = threading.Event(), threading.Event()
    times = iter([0.0, 0.0, 0.0])

    def clock() -> float:
        """The fourth time it is asked for is after the second name: then it takes its time."""
        now = next(times, None)
        if now is None:
            asked.set()
            go_on.wait(60)
        return now or 0.0

    names = FileNames(workspace=workspace, clock=clock, wait_s=0.0)
    suggesting = Suggester(commands=COMMANDS, names=names)
    assert not suggesting.may_find_more("@a")
    assert len(names.all()) <= 2
    assert asked.wait(60)
    assert len(names.all()) == 2
    assert [suggesting.may_find_more(typed) for typed in ("see @a", "@", "/a", "a")] == [True, True, False, False]
    assert not Suggester(commands=COMMANDS).may_find_more("@a")
    go_on.set()
    names.wait_s = 60.0
    assert len(names.all()) == 5
    assert not suggesting.may_find_more("@a")


def test_S1_where_a_folder_is_gone_nothing_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    workspace = Workspace(tmp_path / "root", state=tmp_path / "state")
    workspace.close()
    assert suggested(Suggester(commands={}, names=known(workspace)), "@a") == []


def test_XP10_a_name_that_cannot_be_shown_is_not_suggested(workspace: Workspace) -> None:
    (workspace.root / "odd\x1b[2J.py").write_text("x\n")
    (Path(os.fsdecode(os.fsencode(workspace.root) + b"/odd\xff.py"))).write_text("x\n")
    assert suggested(Suggester(commands={}, names=known(workspace)), "@odd") == []


@pytest.mark.slow
def test_S1_a_key_does_not_wait_in_a_tree_of_many_files(tmp_path: Path) -> None:
    count = 1_000 * int(os.environ.get("TOOLROLL_ROUNDS", "1"))
    for number in range(count):
        if number % 1_000 == 0:
            (tmp_path / "root" / f"d{number}").mkdir(parents=True)
        (tmp_path / "root" / f"d{number - number % 1_000}" / f"file{number}.py").touch()
    names = FileNames(workspace=Workspace(tmp_path / "root", state=tmp_path / "state"))
    suggesting = Suggester(commands={}, names=names)
    started = time.process_time()
    while not suggesting.suggest(f"@file{count - 1}"):
        assert time.process_time() - started < MAX_SECONDS
    started = time.process_time()
    assert len(suggesting.suggest("@file1")) == MAX_SUGGESTED
    assert time.process_time() - started < 0.5
