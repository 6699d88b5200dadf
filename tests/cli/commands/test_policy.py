"""`toolroll policy`: what would happen and why, and taking back an "always" (C35)."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolroll.cli.main import run
from toolroll.cli.session import Session
from toolroll.home.rules import RememberedRule, RuleBook, ToolIdentity, workspace_key
from toolroll.packs.catalog import read_catalog

EXPLAIN = ("policy", "explain")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments), Session(json="--json" in arguments))
    output = capsys.readouterr()
    return code, output.out, output.err


def deny(tmp_path: Path, *patterns: str) -> None:
    file = tmp_path / "home" / "config" / "settings.toml"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(f"[code]\ndeny = {json.dumps(patterns)}\n")
    file.chmod(0o600)


def remember(project: Path, tool: str, path: str) -> None:
    entry = read_catalog(wanted=tool).find(tool)
    identity = ToolIdentity(tool=tool, fingerprint=entry.tool.describe().fingerprint, place=entry.place)
    rule = RememberedRule.for_tool(
        identity, path=path, workspace=workspace_key(project), added=datetime(2026, 1, 2, tzinfo=UTC)
    )
    RuleBook(project.parent / "home" / "config").add(rule)


@pytest.mark.parametrize(
    ("tool", "path", "action", "because"),
    [
        ("read_file", "src/a.py", "allow", "read_file only reads"),
        ("edit", "src/a.py", "ask", "edit writes"),
        ("edit", "docs/a.md", "allow", "rule: allow edit on docs/*.md"),
        ("create_file", "docs/a.md", "ask", "create_file writes"),
        ("edit", "docs/secret.md", "deny", "the path is denied by the rule 'docs/secret.md'"),
        ("read_file", "docs/secret.md", "deny", "the path is denied by the rule 'docs/secret.md'"),
        ("read_file", ".env", "deny", "the path is protected against reading: '.env'"),
        ("edit", "../a", "deny", "the path is refused"),
        ("done", None, "allow", "done only reads"),
    ],
)
def test_C35_explain_says_what_would_happen_and_why(
    capsys: pytest.CaptureFixture[str], project: Path, tool: str, path: str | None, action: str, because: str
) -> None:
    deny(project.parent, "docs/secret.md")
    remember(project, "edit", "docs/*.md")
    named = () if path is None else (path,)
    code, out, _ = told(capsys, *EXPLAIN, tool, *named, "--json")
    answer = json.loads(out)
    assert (code, answer["action"]) == (0, action)
    assert answer["because"].startswith(because)
    assert told(capsys, *EXPLAIN, tool, *named)[1].startswith(f"{action}: {tool}")


@pytest.mark.parametrize(
    ("tool", "path", "action", "because"),
    [
        ("read_file", "envlink", "deny", "the path is refused: Path '.env' is protected against reading: '.env'"),
        ("create_file", "envlink", "deny", "the path is refused: Path '.env' is protected against reading: '.env'"),
        ("edit", "envlink", "deny", "the path is refused: Path '.env' is protected against reading: '.env'"),
        ("read_file", "by_rule", "deny", "the path is refused: Path 'docs/secret.md' is denied by the rule"),
        ("read_file", "out", "deny", "the path is refused: 'out' is, or goes through, a link with an absolute target"),
        ("read_file", "docs/up/a", "deny", "the path is refused: 'docs/up/a' leads out of the root folder"),
        ("edit", "docs/up/a", "deny", "the path is refused: 'docs/up/a' leads out of the root folder"),
        ("read_file", "loop", "deny", "the path is refused: 'loop' is a link that leads in circles"),
        ("read_file", "dangling", "deny", "the path is refused: 'dangling' is a link to something that does not exist"),
        ("read_file", "a/b", "deny", "the path is refused: 'a/b' is, or goes through, something of the wrong kind"),
        ("edit", "shell", "deny", "the path leads to '.bashrc', which is protected against writing: '.bashrc'"),
        ("read_file", "shell", "allow", "read_file only reads"),
        ("create_file", "linked/new/a", "deny", "the path goes through the link 'linked', and nothing is made through"),
        ("read_file", "linked/new/a", "allow", "read_file only reads"),
        ("read_file", "inside", "allow", "read_file only reads"),
        ("edit", "inside", "ask", "edit writes"),
        ("create_file", "docs/new/a", "ask", "create_file writes"),
        ("list_files", "linked/", "allow", "list_files only reads"),
        ("list_files", ".", "allow", "list_files only reads"),
        ("search_files", "linked", "allow", "search_files only reads"),
        ("find_files", "out", "deny", "the path is refused: 'out' is, or goes through, a link with an absolute target"),
    ],
)
def test_C35_XP3_explain_follows_links_as_the_tools_do(
    capsys: pytest.CaptureFixture[str], project: Path, tool: str, path: str, action: str, because: str
) -> None:
    deny(project.parent, "docs/secret.md")
    for name in ("a", ".env", ".bashrc"):
        (project / name).touch()
    (project / "docs").mkdir()
    (project / "docs/secret.md").touch()
    links = {"envlink": ".env", "by_rule": "docs/secret.md", "out": "/etc/passwd", "docs/up": "../..", "loop": "loop"}
    links |= {"dangling": "nothing", "shell": ".bashrc", "linked": "docs", "inside": "a"}
    for name, target in links.items():
        (project / name).symlink_to(target)
    code, out, _ = told(capsys, *EXPLAIN, tool, path, "--json")
    answer = json.loads(out)
    assert (code, answer["action"]) == (0, action)
    assert answer["because"].startswith(because)


def test_XP11_explain_judges_a_path_by_where_it_leads(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    remember(project, "edit", "notes/**")
    (project / "notes").mkdir()
    (project / "Makefile").touch()
    (project / "notes/link.md").symlink_to("../Makefile")
    assert json.loads(told(capsys, *EXPLAIN, "edit", "notes/link.md", "--json")[1]) == {
        "tool": "edit",
        "path": "notes/link.md",
        "action": "ask",
        "because": "edit writes",
        "leads_to": "Makefile",
    }
    assert told(capsys, *EXPLAIN, "edit", "notes/link.md")[1] == (
        "ask: edit on notes/link.md (which leads to Makefile) is asked about, as edit writes.\n"
    )
    assert told(capsys, *EXPLAIN, "edit", "notes/a.md")[1].startswith("allow: edit on notes/a.md runs")


def test_C35_an_unknown_tool_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = told(capsys, *EXPLAIN, "edti", "a")
    assert code == 1
    assert "Unknown tool 'edti'" in err


def test_C35_rules_are_listed_and_taken_back(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    assert "There are no rules here" in told(capsys, "policy", "list")[2]
    remember(project, "edit", "docs/*.md")
    remember(project, "create_file", "docs/*.md")
    deny(project.parent, "keys/**")
    listed = told(capsys, "policy", "list")[1].splitlines()
    assert listed[0] == "deny    keys/**  (settings)"
    assert [line.split("  (")[0] for line in listed[1:]] == [
        "1       allow edit on docs/*.md",
        "2       allow create_file on docs/*.md",
    ]
    assert told(capsys, "policy", "forget", "1")[1] == "Forgotten: allow edit on docs/*.md.\n"
    answer = json.loads(told(capsys, "policy", "list", "--json")[1])
    assert answer["deny"] == ["keys/**"]
    assert [(rule["number"], rule["tool"]) for rule in answer["allow"]] == [(1, "create_file")]
    forgotten = json.loads(told(capsys, "policy", "forget", "1", "--json")[1])
    assert forgotten["forgotten"]["tool"] == "create_file"
    assert told(capsys, *EXPLAIN, "create_file", "docs/a.md")[1].startswith("ask: ")


def test_C35_what_is_not_there_cannot_be_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = told(capsys, "policy", "forget", "7")
    assert code == 2
    assert "There is no rule 7 here" in err


def test_C35_rules_of_another_project_do_not_count(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    remember(project, "edit", "docs/*.md")
    other = project.parent / "other"
    other.mkdir()
    assert told(capsys, *EXPLAIN, "edit", "docs/a.md", "--root", str(other))[1].startswith("ask: ")
    assert told(capsys, "policy", "list", "--root", str(other))[1] == ""
