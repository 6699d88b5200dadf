"""`toolroll trust`, and that only exactly what was trusted of a project's own tools ever runs (C43)."""

import json
import os
from pathlib import Path

import pytest
from tests.apps.coding import code_tools_in, surface_for
from tests.support.project import Calling, Project, lines

from toolroll.apps import project_tools as own
from toolroll.cli.terminal.surface import show_note
from toolroll.home.trust import TrustBook

DEPLOY = ".toolroll/tools/deploy.py"
CODE = """\
from pathlib import Path
from toolroll import tool

Path({canary!r}).write_text("it ran")

@tool
def {name}() -> str:
    \"\"\"Deploy the board.\"\"\"
    return "deployed"
"""


class Own:
    """The project's own tool files, each of which leaves a canary where it runs."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.folder = project.root / ".toolroll" / "tools"
        self.folder.mkdir(parents=True)
        self.canary = project.home.with_name("canary")

    def write(self, name: str = "deploy.py", *, tool: str = "deploy", more: str = "") -> Path:
        file = self.folder / name
        file.write_text(CODE.format(canary=str(self.canary), name=tool) + more)
        return file

    def trust(self, name: str = "deploy.py") -> None:
        book = TrustBook.from_environment(self.environment)
        book.add(str(self.project.root), f".toolroll/tools/{name}", (self.folder / name).read_bytes())

    def offered(self, *, read_only: bool = False) -> list[str]:
        """The names of the tools that do not come from toolroll."""
        surface = surface_for(self.environment, show_note)
        entries = code_tools_in(surface, self.project.root, read_only=read_only)
        return [entry.tool.name for entry in entries if entry.origin.startswith(".toolroll/")]

    @property
    def ran(self) -> bool:
        return self.canary.exists()

    @property
    def environment(self) -> dict[str, str]:
        return {"TOOLROLL_HOME": str(self.project.home)}


@pytest.fixture
def mine(project: Project, call: Calling) -> Own:
    """In the project as the working folder, which `call` makes it."""
    return Own(project)


def test_C43_files_are_listed_trusted_and_forgotten(mine: Own, call: Calling) -> None:
    mine.write()
    assert call("trust", "list") == (0, f"not trusted  {DEPLOY}\n", "")
    assert call("trust", "add", DEPLOY, "--yes") == (0, f"{DEPLOY} is trusted as it is now.\n", "")
    assert call("trust", "list") == (0, f"trusted      {DEPLOY}\n", "")
    assert json.loads(call("trust", "list", "--json").out) == {"files": [{"path": DEPLOY, "trusted": True}]}
    assert json.loads(call("trust", "remove", DEPLOY, "--json").out) == {"path": DEPLOY, "trusted": False}
    again = call("trust", "remove", DEPLOY)
    assert again == (1, "", f"Error: '{DEPLOY}' is not trusted here.\n")
    assert json.loads(call("trust", "add", DEPLOY, "--yes", "--json").out) == {"path": DEPLOY, "trusted": True}
    assert call("trust", "remove", DEPLOY) == (0, f"{DEPLOY} is no longer trusted.\n", "")
    assert not mine.ran


def test_C43_without_any_that_is_said(project: Project, call: Calling) -> None:
    assert call("trust", "list") == (0, "", "There are no tool files in .toolroll/tools/, and no settings.\n")
    missing = call("trust", "add", DEPLOY, "--yes")
    assert (missing.code, "Python files in .toolroll/tools/" in missing.err) == (2, True)
    other = call("trust", "list", "--root", "nowhere")
    assert (other.code, "does not exist" in other.err) == (2, True)


def test_C43_only_a_tool_file_can_be_trusted(mine: Own, call: Calling) -> None:
    mine.write()
    for path in ("src/main.js", f"../tea-board/{DEPLOY}", str(mine.folder / "deploy.py"), "package.json", ""):
        assert call("trust", "add", path, "--yes").code == 2
    assert TrustBook.from_environment(mine.environment).files() == ()


def test_C43_XA8_nobody_trusts_where_nobody_can_be_asked(mine: Own, call: Calling) -> None:
    mine.write()
    refused = call("trust", "add", DEPLOY)
    assert (refused.code, "Nobody could be asked, so nothing is trusted" in refused.err) == (3, True)
    assert mine.offered() == []


def test_C43_what_is_not_trusted_does_not_run(mine: Own, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write()
    assert mine.offered() == []
    assert not mine.ran
    assert capsys.readouterr().err.endswith(f"they are not used. Look at it, then: toolroll trust add {DEPLOY}\n")


def test_C43_what_is_trusted_runs_until_it_changes(mine: Own) -> None:
    file = mine.write()
    mine.trust()
    assert (mine.offered(), mine.ran) == (["deploy"], True)
    mine.canary.unlink()
    assert (mine.offered(read_only=True), mine.ran) == ([], False)
    file.write_text(file.read_text() + "\n")
    assert (mine.offered(), mine.ran) == ([], False)


def test_C43_trust_does_not_follow_a_copy(mine: Own, tmp_path: Path) -> None:
    mine.write()
    mine.trust()
    mine.write("other.py", tool="other")
    (mine.folder / "copy.py").write_bytes((mine.folder / "deploy.py").read_bytes())
    assert mine.offered() == ["deploy"]
    mine.project.root.rename(tmp_path / "moved")
    mine.project.root = tmp_path / "moved"
    mine.canary.unlink()
    assert (mine.offered(), mine.ran) == ([], False)


@pytest.mark.parametrize("importing", ["import sibling", "from . import sibling", "from .sibling import x"])
def test_C43_a_trusted_file_cannot_import_what_is_beside_it(
    mine: Own, importing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """From wherever the command is called: the folder of the tools is the working folder here."""
    os.chdir(mine.folder)
    mine.write("sibling.py", tool="sibling")
    (mine.folder / "deploy.py").write_text(f"{importing}\n")
    mine.trust()
    assert (mine.offered(), mine.ran) == ([], False)
    assert "deploy.py', line 1 could not be loaded." in capsys.readouterr().err


def test_C43_XA9_what_runs_is_what_was_shown(mine: Own, capsys: pytest.CaptureFixture[str]) -> None:
    """In UTF-7 the last line is a statement; shown, it is a comment."""
    hidden = f'open("{mine.canary}", "w")'.replace("+", "+-")
    (mine.folder / "deploy.py").write_text(f"# coding: utf-7\n# harmless +AAo-{hidden}\n")
    mine.trust()
    assert (mine.offered(), mine.ran) == ([], False)
    (mine.folder / "deploy.py").write_bytes(b"# coding: latin-1\nx = '\xff'\n")
    mine.trust()
    assert mine.offered() == []
    assert "It is not UTF-8." in capsys.readouterr().err


def test_C43_a_tool_of_the_project_cannot_stand_in_for_another(mine: Own, capsys: pytest.CaptureFixture[str]) -> None:
    for file, tool in (("a.py", "read_file"), ("b.py", "deploy"), ("c.py", "deploy"), ("d.py", "done")):
        mine.write(file, tool=tool)
        mine.trust(file)
    assert mine.offered() == ["deploy"]
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "Warning: '.toolroll/tools/a.py' has a tool 'read_file', and so has code. It is not used.",
        "Warning: '.toolroll/tools/c.py' has a tool 'deploy', and so has '.toolroll/tools/b.py'. It is not used.",
        "Warning: '.toolroll/tools/d.py' has a tool 'done', and so has standard. It is not used.",
    ]


def test_C43_XA9_files_that_cannot_be_used_are_told_and_the_others_work(
    mine: Own, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mine.write()
    (mine.folder / "broken.py").write_text("def broken(:\n")
    for name in ("deploy.py", "broken.py"):
        mine.trust(name)
    outside = tmp_path / "outside.py"
    outside.write_text(CODE.format(canary=str(mine.canary), name="outside"))
    (mine.folder / "link.py").symlink_to(outside)
    (mine.folder / "big.py").write_text("#" * (own.MAX_FILE_BYTES + 1))
    (mine.folder / "bad\nname.py").write_text("")
    (mine.folder / "folder.py").mkdir()
    os.mkfifo(mine.folder / "pipe.py")
    (mine.folder / "notes.txt").write_text("no tools")
    assert mine.offered() == ["deploy"]
    told = capsys.readouterr().err.splitlines()
    assert sorted(line.partition(".py'")[0].rpartition("/")[2] for line in told) == [
        "bad‹U+000A›name", "big", "broken", "folder", "link", "pipe",
    ]  # fmt: skip
    assert [line for line in told if not line.startswith("Warning: ")] == []


def test_C43_XA9_links_that_lead_out_lead_nowhere(mine: Own, tmp_path: Path) -> None:
    mine.write()
    mine.trust()
    outside = tmp_path / "outside"
    mine.folder.rename(outside)
    mine.folder.symlink_to(outside)
    assert (mine.offered(), mine.ran) == ([], False)


def test_C43_a_project_cannot_make_us_read_for_ever(
    mine: Own, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "MAX_FILES", 2)
    for name in ("a.py", "b.py", "c.py"):
        mine.write(name, tool=name[0])
        mine.trust(name)
    assert mine.offered() == ["a", "b"]
    assert "holds 3 files; only the first 2 are looked at" in capsys.readouterr().err


def test_C43_a_list_that_cannot_be_read_trusts_nothing(mine: Own, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write()
    mine.trust()
    TrustBook.from_environment(mine.environment).path.write_text("{}")
    assert (mine.offered(), mine.ran) == ([], False)
    assert capsys.readouterr().err.startswith("Warning: The list of trusted files in ")


def test_C43_the_advice_can_be_copied_whatever_the_file_is_called(
    mine: Own, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine.write("x'; touch pwned; '.py")
    monkeypatch.chdir(tmp_path)
    assert mine.offered() == []
    command = capsys.readouterr().err.rpartition("then: ")[2]
    assert command == (
        f"""toolroll trust add '.toolroll/tools/x'"'"'; touch pwned; '"'"'.py' --root {mine.project.root}\n"""
    )


def test_C43_at_a_terminal_all_of_it_is_shown_first(mine: Own) -> None:
    file = mine.write(more="\n# \u202egnihton\x1b[8m" + "\n# more" * 100 + "\n# the end\n")
    with mine.project.terminal("trust", "add", DEPLOY, rows=24) as terminal:
        terminal.wait_for("Enter more")
        assert "trust it?" not in terminal.text.casefold()
        terminal.press("v", "the end", "Its code would run as you. Trust it? [y/n]")
        assert "# ‹U+202E›gnihton‹U+001B›[8m" in terminal.text
        terminal.press("n", "It is not trusted.")
        assert terminal.end() == (1, "")
    with mine.project.terminal("trust", "add", DEPLOY, rows=200) as terminal:
        terminal.wait_for("Trust it? [y/n]")
        shown = file.read_bytes()
        file.write_text("raise SystemExit\n")
        terminal.press("y")
        assert terminal.end() == (0, f"{DEPLOY} is trusted as it is now.\n")
    book = TrustBook.from_environment(mine.environment)
    assert book.trusts(str(mine.project.root), DEPLOY, shown)
    assert not book.trusts(str(mine.project.root), DEPLOY, file.read_bytes())
    assert not mine.ran


def test_C43_the_agent_uses_what_is_trusted_and_nothing_else(mine: Own) -> None:
    mine.write()
    turns = ({"calls": [{"name": "deploy", "arguments": {}, "id": "d"}]}, "Done.")
    model = mine.project.script(*turns)
    untrusted = mine.project.call("code", "Deploy.", "--model", model, "--json")
    assert "Nobody has trusted it" in untrusted.stderr
    [result] = [event for event in lines(untrusted) if event["event"] == "tool_result"]
    assert (result["is_error"], result["code"], mine.ran) == (True, "unknown_tool", False)
    mine.trust()
    trusted = mine.project.call("code", "Deploy.", "--model", model, "--json")
    [result] = [event for event in lines(trusted) if event["event"] == "tool_result"]
    assert (result["content"], trusted.returncode, mine.ran) == ("deployed", 0, True)


@pytest.mark.parametrize("exists", [True, False])
def test_XA9_C43_an_agent_cannot_write_a_tool_of_the_project(project: Project, exists: bool) -> None:
    """Neither make one, nor change one, nor get there by another spelling; also where the folder is absent."""
    mine = Own(project)
    mine.write()
    if not exists:
        (mine.folder / "deploy.py").unlink()
        mine.folder.rmdir()
        mine.folder.parent.rmdir()
    evil = {"content": "import os\n", "description": "x"}
    calls = [
        ("create_file", {"path": ".toolroll/tools/evil.py", **evil}),
        ("create_file", {"path": ".TOOLROLL/tools/evil.py", **evil}),
        ("create_file", {"path": "src/.toolroll/evil.py", **evil}),
        ("edit_file", {"path": DEPLOY, **evil}),
        ("edit", {"path": DEPLOY, "old_string": "deployed", "new_string": "evil"}),
        ("read_file", {"path": DEPLOY}),
        ("list_files", {"path": ".toolroll"}),
        ("apply_changes", {"changes": [{"path": DEPLOY, "content": "x", "create": True}], "description": "x"}),
    ]
    named = [{"name": name, "arguments": given, "id": f"c{at}"} for at, (name, given) in enumerate(calls)]
    done = project.call("code", "Go.", "--model", project.script({"calls": named}, "Done."), "--yes", "--json")
    results = [event for event in lines(done) if event["event"] == "tool_result"]
    assert [result["is_error"] for result in results] == [True] * len(calls)
    assert not mine.ran
    assert not list(project.root.rglob("evil*"))
    assert (mine.folder / "deploy.py").exists() is exists
    assert (project.root / ".toolroll").exists() is exists


def test_XA30_the_data_folder_of_ghostpen_is_trusted_by_name(project: Project, call: Calling) -> None:
    assert call("trust", "add", "data", "--yes") == (2, "", "Error: There is no folder 'data' here.\n")
    (project.root / "data").mkdir()
    assert call("trust", "add", "data").code == 3, "nobody can be asked"
    assert call("trust", "add", "data/", "--yes") == (0, "The folder data is trusted.\n", "")
    assert call("trust", "list") == (0, "trusted      data/\n", "")
    assert call("trust", "remove", "data") == (0, "data is no longer trusted.\n", "")
    assert call("trust", "remove", "data").code == 1
    assert json.loads(call("trust", "add", "data", "--yes", "--json").out) == {"path": "data", "trusted": True}
