"""`toolroll explore`: what it takes, what it tells, and what it leaves, in this process and without a terminal."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packs.research.hub import REPOSITORY, TOKEN, Hub
from tests.support.programs import environment
from tests.support.project import Calling, Project

from toolroll.agent.events import Retrying, StepStarted, TextArrived, Warned
from toolroll.apps.explore import ExploreOptions
from toolroll.cli.actions.explore import read_context
from toolroll.cli.render.exploration import PlainView, summarize_exploration
from toolroll.errors import FileTooLarge, UsageError
from toolroll.journal.records import RunEnded
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.summaries import read_summaries
from toolroll.kernel.call.context import utc_now
from toolroll.kernel.call.events import StateChanged
from toolroll.packs.research.exploration import ExplorationResult
from toolroll.packs.research.log import LogEntry

IDEA = "Solar roofs"
READ = {"name": "read_research", "arguments": {"path": "2025-01-01-tea/research.md"}, "id": "r1"}


def today() -> str:
    return utc_now().date().isoformat()


def document(project: Project) -> Path:
    return project.root / "ideas" / f"{today()}-solar-roofs" / "research.md"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOOLROLL_MODEL", "ANTHROPIC_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY", "SEARXNG_URL"):
        monkeypatch.delenv(name, raising=False)


def test_R22_an_idea_becomes_a_document_and_stdout_says_where(project: Project) -> None:
    turns = ({"text": "I read.", "calls": [READ]}, "# Roofs")
    done = project.call("explore", IDEA, "--model", project.script(*turns), "--stats", "--context", "For schools.")
    assert (done.returncode, done.stdout) == (0, f"{document(project)}\n")
    assert document(project).read_text() == "# Roofs\n"
    assert "· step 1\n· writing\n✗ read 2025-01-01-tea/research.md: file_not_found" in done.stderr
    assert "· written: 2 steps" in done.stderr
    assert "20 tokens in, 10 out, cost unknown\n· 0 sources\n" in done.stderr
    [entry] = json.loads(document(project).with_name("exploration-log.json").read_text())
    assert (entry["mode"], entry["context"], entry["model"]) == ("exploration", "For schools.", "scripted:script.json")
    assert [one["error_type"] for one in entry["tool_calls"]] == ["file_not_found"]


def test_R23_again_it_says_so_and_an_update_is_appended(project: Project) -> None:
    command = ("explore", IDEA, "--model")
    assert project.call(*command, project.script("# Roofs")).returncode == 0
    again = project.call(*command, project.script())
    assert (again.returncode, again.stdout) == (0, f"{document(project)}\n")
    assert "This idea was explored before; nothing was done. Show it: toolroll explore show" in again.stderr
    more = project.call(*command, project.script("News."), "--update", "--json")
    last = json.loads(more.stdout.splitlines()[-1])
    assert (last["event"], last["outcome"], last["log"]["is_update"]) == ("exploration_finished", "updated", True)
    assert document(project).read_text() == f"# Roofs\n\n## Update - {today()}\n\nNews.\n"
    assert last["content"] == document(project).read_text()


def test_R23_as_json_what_exists_is_given_whole(call: Calling, project: Project) -> None:
    document(project).parent.mkdir(parents=True)
    document(project).write_text("# Roofs\n")
    listed = json.loads(call("explore", "list", "--json").out)
    path = f"{today()}-solar-roofs/research.md"
    name = path.removesuffix("/research.md")
    unknown = dict.fromkeys(("updated", "mode", "model", "cost_usd"))
    known = {"path": path, "name": name, "title": "solar roofs", "date": today(), "explorations": 0}
    assert listed == {"ideas": [known | unknown]}
    assert call("explore", "list").out == f"{today()}  -                  -  solar roofs  {name}\n"
    assert call("explore", "show", IDEA).out == "# Roofs\n"
    shown = json.loads(call("explore", "show", "solar-roofs", "--json").out)
    assert shown == {"path": path, "where": str(document(project)), "content": "# Roofs\n"}


def test_R22_without_anything_the_list_says_how_to_begin(call: Calling, tmp_path: Path) -> None:
    told = call("explore", "list", "--ideas", str(tmp_path / "none"))
    assert (told.code, told.out) == (0, "")
    assert "Start with 'toolroll explore IDEA'" in told.err
    (tmp_path / "none" / "notes").mkdir(parents=True)
    (tmp_path / "none" / "notes" / "research.md").write_text("x")
    told = call("explore", "list", "--ideas", str(tmp_path / "none"), "--json")
    assert json.loads(told.out)["ideas"][0]["date"] is None


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--update", "--continue-from", "x"), "--update and --continue-from exclude each other"),
        (("--mode", "poem"), "There is no mode 'poem'"),
        ((), "No model is named"),
        (("--model", "scripted:none.json", "--branch", "b"), "--branch is for --repo"),
        (("--model", "scripted:none.json", "--repo", "a/b", "--ideas", "c"), "--ideas and --repo exclude each other"),
    ],
)
def test_R23_what_makes_no_sense_is_refused_with_2(
    call: Calling, project: Project, arguments: tuple[str, ...], why: str
) -> None:
    told = call("explore", IDEA, *arguments)
    assert (told.code, told.out) == (2, "")
    assert why in told.err
    assert not (project.root / "ideas").exists()


def test_R22_places_are_checked_for_lists_too(call: Calling) -> None:
    assert "--branch is for --repo" in call("explore", "list", "--branch", "b").err
    assert "is no repository" in call("explore", "show", "x", "--repo", "nonsense").err


def test_R20_what_was_cut_off_is_4(project: Project) -> None:
    done = project.call("explore", IDEA, "--model", project.script({"text": "# Half", "stop": "max_tokens"}))
    assert (done.returncode, done.stdout) == (4, f"{document(project)}\n")
    assert "! The document is incomplete (cut_off). Add --update to continue it." in done.stderr


def test_R23_A4_where_the_model_writes_nothing_it_fails_and_leaves_nothing(project: Project) -> None:
    done = project.call("explore", IDEA, "--json", "--model", project.script({"text": "No.", "stop": "refusal"}))
    assert done.returncode == 1
    assert json.loads(done.stdout.splitlines()[-1])["error"]["code"] == "content_policy"
    assert not (project.root / "ideas").exists()


def test_R21_a_framework_of_ones_own_and_a_context_from_a_file(project: Project) -> None:
    (project.root / "poem.md").write_text("Write a poem.")
    (project.root / "context.txt").write_text("For schools.\n")
    done = project.call(
        *("explore", IDEA, "--mode", "poem.md", "--context", "context.txt", "--two-phase"),
        *("--model", project.script("A poem.")),
        *("--ideas", "elsewhere"),
    )
    assert done.returncode == 0
    [log] = (project.root / "elsewhere").rglob("*.json")
    [entry] = json.loads(log.read_text())
    assert (entry["mode"], entry["context"], entry["notes"]) == ("poem", "For schools.\n", "A poem.")


def test_R21_a_context_is_a_file_only_where_there_is_one(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("In it.")
    assert read_context(str(file)) == "In it."
    for text in ("", "Two\nlines", "a\0b", "x" * 5_000, str(tmp_path), "Just words."):
        assert read_context(text) == text
    file.write_bytes(b"x" * 200_001)
    with pytest.raises(FileTooLarge, match="200,000"):
        read_context(str(file))


def test_R22_research_is_kept_on_github(project: Project, call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    with Hub(token=TOKEN) as hub:
        hub.put("README.md", b"# Research")
        env = {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": hub.url}
        command = ("explore", IDEA, "--repo", REPOSITORY, "--model", project.script("# Roofs"))
        done = project.call(*command, **env)
        assert done.returncode == 0, done.stderr
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        listed = call("explore", "list", "--repo", REPOSITORY).out
        shown = call("explore", "show", IDEA, "--repo", REPOSITORY).out
    assert f"ideas/{today()}-solar-roofs/research.md" in done.stdout
    listed_line = f"{today()}  exploration        -  Solar roofs  {today()}-solar-roofs\n"
    assert (listed, shown) == (listed_line, "# Roofs\n")
    assert TOKEN not in done.stdout + done.stderr
    messages = [asked.body["message"] for asked in hub.requests if asked.method == "PUT"]
    assert messages == ["Add research: Solar roofs", "Log an exploration: Solar roofs"]


def test_R27_one_word_that_is_no_command_costs_no_model_call(call: Calling, project: Project) -> None:
    for word, meant in (("lst", "list"), ("lists", "list"), ("Shwo", "show"), ("runs", "run")):
        told = call("explore", word, "--model", project.script("# Never"))
        assert (told.code, told.out) == (2, "")
        assert f"Did you mean 'toolroll explore {meant}'? If it is an idea: 'toolroll explore run {word}'." in told.err
    told = call("explore", "help", "--model", project.script("# Never"))
    assert (told.code, "If it is an idea: 'toolroll explore run help'." in told.err) == (2, True)
    assert not (project.root / "ideas").exists()
    assert "No model is named" in call("explore", "tea", "--mode=business").err
    assert "No model is named" in call("explore", "run", "tea").err
    assert "No model is named" in call("explore", "--mode", "business", "list").err
    assert "There is no IDEA, and no terminal to chat at." in call("explore").err
    assert "Usage: toolroll explore [OPTIONS] COMMAND" in call("explore", "--help").out
    assert "Commands:" in call("explore", "-h").out


def test_what_goes_on_is_told_without_anything_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    listener = PlainView()
    evil = "Sun\x1b[2J\x07"
    found = {"title": evil, "url": "https://example.com/", "cited": False}
    for event in (
        StepStarted(number=1),
        TextArrived(text="a"),
        TextArrived(text="b"),
        StateChanged(name="search.source:1", value=found),
        StateChanged(name="search.source:1", value=found | {"cited": True}),
        StateChanged(name="other", value=found),
        Warned(kind="repeated_call", text=evil),
        Retrying(attempt=1, wait_s=1.0, reason="It is busy."),
    ):
        listener.on_event(event)
    told = capsys.readouterr().err
    assert "\x1b[2J" not in told
    lines = told.splitlines()
    assert lines[:2] == ["· step 1", "· writing"]
    assert lines[2].startswith("· found Sun")
    assert lines[3].startswith("! Sun")
    assert lines[4:] == ["! It is busy."]


def test_R12_the_end_names_cost_sources_and_who_did_not_search() -> None:
    entry = LogEntry(
        job_id="j",
        idea=IDEA,
        mode="business",
        model="m",
        context="",
        is_update=False,
        continue_from=None,
        started_at="",
        completed_at="",
        duration_ms=1_500,
        steps=1,
        requests=1,
        input_tokens=1_000,
        output_tokens=20,
        cost_usd=0.25,
        stop_reason="answer",
        output_path="a",
        runs=(),
        sources=({"number": 1, "title": "Sun", "url": "https://example.com/"},),
        failed_searches=({"backend": "tavily", "reason": "the key was refused (401)"},),
    )
    done = ExplorationResult(outcome="written", path="a", where="/a", content="x", entry=entry)
    assert summarize_exploration(done) == [
        "· written: 1 step, 1.5 s, 1,000 tokens in, 20 out, $0.2500",
        "! the key was refused (401)",
        "· 1 source",
        "  1. Sun <https://example.com/>",
    ]


def test_D2_R22_an_exploration_that_failed_on_its_way_is_gone_on_with(project: Project) -> None:
    reading, gone = {"text": "I read.", "calls": [READ]}, {"error": {"code": "quota", "message": "Gone."}}
    failed = project.call("explore", IDEA, "--ideas", "kept", "--model", project.script(reading, gone))
    assert failed.returncode == 1
    told = "Go on with: toolroll runs resume "
    [run_id] = [line.removeprefix(told) for line in failed.stderr.splitlines() if line.startswith(told)]
    assert not (project.root / "kept").exists()
    asked = project.call("runs", "resume", run_id, "--prompt", "Faster.")
    assert (asked.returncode, "as it was begun" in asked.stderr) == (2, True)
    done = project.call("runs", "resume", run_id, "--model", project.script("Not said again.", "# Roofs"))
    kept = project.root / "kept" / f"{today()}-solar-roofs" / "research.md"
    assert (done.returncode, done.stdout, kept.read_text()) == (0, f"{kept}\n", "# Roofs\n")
    [entry] = json.loads(kept.with_name("exploration-log.json").read_text())
    assert (entry["runs"], entry["steps"]) == ([run_id], 2)


def test_XD13_an_exploration_that_was_given_up_can_be_forced(project: Project) -> None:
    reading, gone = {"text": "I read.", "calls": [READ]}, {"error": {"code": "quota", "message": "Gone."}}
    project.call("explore", IDEA, "--ideas", "kept", "--model", project.script(reading, gone))
    path = project.home / "data" / "runs.db"
    [run], _ = read_summaries(path, limit=5)

    async def give_up() -> None:
        await journal.append(run.run_id, RunEnded(stop_reason="gave_up", stop_detail="died", text=""))

    journal = SqliteJournal(path)
    asyncio.run(give_up())
    journal.close()
    resume = ("runs", "resume", run.run_id, "--model", project.script("Not said again.", "# Roofs"))
    refused = project.call(*resume)
    assert (refused.returncode, "was given up (died)" in refused.stderr) == (1, True)
    assert f"Try once more with: toolroll runs resume {run.run_id} --force" in refused.stderr
    kept = project.root / "kept" / f"{today()}-solar-roofs" / "research.md"
    assert not kept.exists()
    done = project.call(*resume, "--force")
    assert (done.returncode, done.stdout, kept.read_text()) == (0, f"{kept}\n", "# Roofs\n")


def test_D2_an_exploration_of_another_folder_is_not_gone_on_with(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="begun in another folder"):
        ExploreOptions.from_record(
            {"idea": IDEA, "mode": "business", "model": "x", "folder": str(project.root / "no"), "kind": "explore"}
        )


INTERRUPTED = """
import toolroll.cli.actions.explore as exploration
from toolroll.cli.main import main
def interrupt(*_, **__):
    raise KeyboardInterrupt
exploration.ExplorationRenderer.finish = interrupt
main()
"""


def test_S2_ctrl_c_keeps_what_was_explored(project: Project) -> None:
    command = [sys.executable, "-c", INTERRUPTED, "explore", IDEA, "--model", project.script("# Roofs")]
    known = environment(project.home)
    done = subprocess.run(command, env=known, cwd=project.root, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Go on with: toolroll runs resume " in done.stderr
    assert document(project).read_text() == "# Roofs\n"


BROKEN_OFF = """
import asyncio, toolroll.cli.actions.explore as exploration
from toolroll.cli.main import main

async def explore(*_, **__):
    async def asking():
        raise KeyboardInterrupt  # as where Ctrl-C is the answer to a question
    await asyncio.create_task(asking())

exploration.explore = explore
main()
"""


def test_S2_ctrl_c_is_told_once_where_it_ends_the_event_loop_too(project: Project) -> None:
    command = [sys.executable, "-c", BROKEN_OFF, "explore", IDEA, "--model", project.script("# Roofs")]
    known = environment(project.home)
    done = subprocess.run(command, env=known, cwd=project.root, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Error: Interrupted.\n")


def test_R22_a_mistyped_file_and_a_missing_token_are_told_before_a_model_is_paid(project: Project) -> None:
    command = ("explore", IDEA, "--model", project.script("# Roofs"))
    mistyped = project.call(*command, "--context", "nofile.txt")
    assert (mistyped.returncode, "There is no file 'nofile.txt' for --context" in mistyped.stderr) == (2, True)
    unknown = project.call(*command, "--repo", "me/research")
    assert (unknown.returncode, "GITHUB_TOKEN is needed" in unknown.stderr) == (2, True)
    assert project.call("runs", "list", "--json").stdout == '{"runs":[]}\n'


def test_S2_every_line_has_its_index(project: Project) -> None:
    done = project.call("explore", IDEA, "--json", "--model", project.script("# Roofs"))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["index"] for one in told] == list(range(1, len(told) + 1))
    assert told[-1]["event"] == "exploration_finished"


def test_R27_the_list_has_titles_modes_dates_and_costs(call: Calling, project: Project) -> None:
    entry = {
        "idea": "Solar ROOFS for schools",
        "mode": "business",
        "model": "m",
        "completed_at": "2025-03-02T00:00:00Z",
    }
    folder = project.root / "ideas" / "2025-03-01-solar-roofs"
    folder.mkdir(parents=True)
    (folder / "research.md").write_text("# Roofs\n\nThey **shine**.\n")
    (folder / "exploration-log.json").write_text(json.dumps([entry | {"cost_usd": 0.01}, entry | {"cost_usd": 0.02}]))
    told = call("explore", "list")
    assert told.out == "2025-03-01  business     $0.0300  Solar ROOFS for schools (+1)  2025-03-01-solar-roofs\n"
    assert "Show one: toolroll explore show NAME" in told.err
    [fields] = json.loads(call("explore", "list", "--json").out)["ideas"]
    assert (fields["explorations"], fields["updated"]) == (2, "2025-03-02T00:00:00Z")
    (folder / "exploration-log.json").write_text('[{"idea": 5, "cost_usd": true}]')
    assert "solar roofs" in call("explore", "list").out
    assert call("explore", "show", "roof").out == "# Roofs\n\nThey **shine**.\n"


def test_R26_R28_limits_are_options_and_verbose_shows_a_line_a_call(project: Project) -> None:
    turns = ({"calls": [READ]}, "# Roofs", "# Never")
    command = ("explore", IDEA, "--model", project.script(*turns), "--verbose", "--max-steps", "2", "--timeout", "30")
    done = project.call(*command, "--token-limit", "50000")
    told = [line for line in done.stderr.splitlines() if line.startswith("tool_call ")]
    assert len(told) == 1, done.stderr
    assert told[0].startswith("tool_call name=read_research path=2025-01-01-tea/research.md ok=False duration_ms=")
    assert "error_type=file_not_found" in told[0]
    assert (done.returncode, "· written: 2 steps" in done.stderr) == (0, True)
