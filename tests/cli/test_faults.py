"""What commands say where the system refuses: in words, about the name that was given, without what only we know."""

from pathlib import Path

import pytest
from tests.support.programs import environment, ghostpen, run_program, toolroll

LONG = "x" * 300
INNER = ("[Errno", "PosixPath(", "Traceback", "unexpected")
"""What no message may have in it."""

GIVEN = [
    "ghostpen profile list --data LONG",
    "ghostpen profile show LONG --data data",
    "ghostpen profile show default --data taken",
    "ghostpen profile delete default --data taken --yes",
    "ghostpen profile import folder --data data",
    "ghostpen profile import LONG --data data",
    "ghostpen profile import none.json --data data",
    "ghostpen profile export default --output folder --data data",
    "ghostpen profile list --data file",
    "ghostpen init --sample --data taken --yes",
    "ghostpen init --sample --data LONG",
    "ghostpen init --sample --data file/below",
    "ghostpen init --from folder --data data --model scripted:file --yes",
    "ghostpen init --from LONG --data data --model scripted:file --yes",
    "ghostpen stats --data taken",
    "ghostpen stats --data LONG",
    "ghostpen feedback list --data taken",
    "ghostpen tea --data taken --model scripted:file",
    "toolroll run hi --model scripted:folder",
    "toolroll run hi --model scripted:LONG",
    "toolroll run hi --model scripted:none.json",
    "toolroll run hi --model scripted:file",
    "toolroll run hi --model scripted:file/below",
    'toolroll call read_file {"path":"folder"}',
    'toolroll call read_file {"path":"LONG"}',
    "toolroll call x {} --from folder",
    "toolroll call x {} --from LONG.py",
    "toolroll call x {} --from none.py",
    "toolroll code hi --root LONG --model scripted:file",
    "toolroll code hi --root file --model scripted:file",
    "toolroll trust list --root LONG",
    "toolroll index --root LONG",
    "toolroll undo --root LONG",
    "toolroll explore run idea --model scripted:file --output folder",
]
OWN = [
    "toolroll runs list",
    "toolroll runs show 1",
    "toolroll stats",
    "toolroll config set model sonnet",
    "toolroll config list",
    "toolroll trust list",
    "toolroll outputs list",
    "toolroll run hi --model scripted:script.json",
    "toolroll policy explain read_file x",
    "ghostpen stats",
    "ghostpen init --sample",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which names are taken by what nobody expects there."""
    work = tmp_path / "work"
    for taken in ("feedback-tracker.json", "drafts.jsonl", "profiles/default.json", "output", ".index/posts.sqlite3"):
        (work / "taken" / taken).mkdir(parents=True)
    (work / "taken" / "output" / "generated").write_text("a file in the place of a folder")
    (work / "folder").mkdir()
    (work / "file").write_text("{}")
    (work / "script.json").write_text('["Hello."]')
    return work


def told(words: str, folder: Path, home: Path) -> tuple[int, str]:
    program, *given = words.replace("LONG", LONG).split()
    command = toolroll(*given) if program == "toolroll" else ghostpen(*given)
    done = run_program(command, env=environment(home, CI="1"), cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("words", GIVEN)
def test_XA31_what_cannot_be_used_is_named_as_it_was_given(words: str, folder: Path, tmp_path: Path) -> None:
    code, said = told(words, folder, tmp_path / "home")
    assert [inner for inner in (*INNER, str(folder)) if inner in said] == [], said
    assert code != 0 or words.split()[1:3] in (["profile", "list"], ["stats", "--data"], ["feedback", "list"]), said


@pytest.mark.parametrize("words", OWN)
@pytest.mark.parametrize("fault", ["folders", "file", "nowhere"])
def test_XA31_what_cannot_be_used_of_the_users_own_is_said_in_words(
    words: str, fault: str, folder: Path, tmp_path: Path
) -> None:
    home = Path("/proc/none") if fault == "nowhere" else tmp_path / "home"
    if fault == "file":
        home.write_text("a file in the place of a folder")
    if fault == "folders":
        for name in ("data/runs.db", "config/settings.toml", "config/trust.json", "config/policy.toml"):
            (home / name).mkdir(parents=True)
    _, said = told(words, folder, home)
    assert [inner for inner in (*INNER, str(folder)) if inner in said] == [], said
