"""`ghostpen REQUEST` where nobody can be asked, and at a terminal: what it prints, keeps and ends with."""

import json
import os
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.ghostpen.author import READ, Desk, Typed, post
from tests.support.programs import environment, run_toolroll
from tests.support.programs import ghostpen as ghostpen_command

import toolroll.cli.ghostpen.context as contexts
from toolroll.agent.events import CallFinished, Retrying, WaitingForModel
from toolroll.apps.build import build_agent
from toolroll.apps.models import connect_model
from toolroll.apps.project import Project
from toolroll.apps.run_log import open_journal
from toolroll.apps.spec import AgentSpec
from toolroll.cli.chat.input import LineInput
from toolroll.cli.ghostpen.main import ghostpen
from toolroll.cli.ghostpen.person import AbsentPerson, TerminalPerson
from toolroll.cli.ghostpen.render import ProgressRenderer
from toolroll.cli.main import run
from toolroll.cli.session import Session
from toolroll.cli.terminal.surface import terminal_surface
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.models.scripted import ScriptedModel
from toolroll.packs.writing.session.interface import DraftView, Question
from toolroll.packs.writing.texts.messages import Lang

REQUEST = "post about tea for LinkedIn"
SAVE = {"name": "save_to_file", "arguments": {"content": "stolen", "platform": "x", "topic": "t"}}


def test_W30_XA8_one_draft_on_stdout_and_nothing_is_kept(desk: Desk) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, "--model", desk.script(READ, post()))
    assert (told.code, told.out) == (0, "Here is the thing: tea.\n")
    assert told.err == (
        "· Writing with the profile 'default'…\nNothing was saved. At a terminal you can say what should be different; "
        "--yes saves the first draft.\n"
    )
    assert desk.posts() == []


def test_W30_XA8_a_model_that_wants_to_save_where_nobody_can_be_asked_is_3(desk: Desk) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, "--model", desk.script(READ, {"calls": [SAVE]}, post()))
    assert (told.code, told.out) == (3, "Here is the thing: tea.\n")
    assert "nobody was there to confirm it. Add --yes to save it." in told.err
    assert desk.posts() == []


def test_W30_yes_saves_the_draft_and_only_that(desk: Desk) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, "--yes", "--model", desk.script(READ, {"calls": [SAVE]}, post()))
    assert (told.code, told.out) == (0, "Here is the thing: tea.\n")
    assert "Saved: data/output/generated/" in told.err
    [text] = desk.posts()
    assert text.endswith("\nHere is the thing: tea.\n")
    (desk.data / "output").rename(desk.data / "elsewhere")
    (desk.data / "output").write_text("in the way")
    told = desk.run(REQUEST, "--yes", "--model", desk.script(READ, post()))
    assert told.code == 1
    assert "Saving failed." in told.err


def test_S2_W30_as_json_every_event_is_a_line_and_the_last_is_the_end(desk: Desk) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, "--yes", "--json", "--model", desk.script(READ, post("We leverage tea."), READ, post()))
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert [one["index"] for one in lines] == list(range(1, len(lines) + 1))
    [draft] = [one for one in lines if one["event"] == "draft"]
    assert (draft["text"], draft["number"], draft["limit"], draft["warnings"]) == (
        "Here is the thing: tea.",
        1,
        1300,
        [],
    )
    last = lines[-1]
    assert (last["event"], last["text"], last["outcome"]) == ("run_finished", "Here is the thing: tea.", "saved")
    assert (last["stop_reason"], last["steps"], last["usage"]["requests"]) == ("answer", 2, 2)
    assert last["file"].endswith("-good-tea-linkedin.md")
    assert "run_finished" not in [one["event"] for one in lines[:-1]]


def test_W33_warnings_are_on_stderr(desk: Desk) -> None:
    desk.has_profile()
    broken = post("We leverage tea.")
    told = desk.run(REQUEST, "--model", desk.script(READ, broken, READ, broken))
    assert (told.code, told.out) == (0, "We leverage tea.\n")
    assert "! Your profile avoids 'leverage', but the draft says 'leverage'." in told.err


def test_W30_where_the_model_writes_no_draft_it_is_1(desk: Desk) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, "--model", desk.script(READ, "About which tea?"))
    assert (told.code, told.out) == (1, "")
    assert "About which tea?\nThe model wrote no draft.\n" in told.err


@pytest.mark.parametrize("options", [(), ("--yes",)])
@pytest.mark.parametrize(
    ("turn", "code", "told_of"),
    [
        ({"text": ""}, 1, "The model wrote no draft."),
        ("I cannot help with that.", 1, "I cannot help with that.\nThis is not marked as a post"),
        ({"text": "Tea is", "stop": "max_tokens"}, 4, "Tea is\nThis is not marked as a post"),
        ({"text": "<post>\nTea is", "stop": "max_tokens"}, 4, "The model was cut off"),
        ("<post>\nTea is", 1, "Nothing was saved."),
    ],
)
def test_W30_XE8_where_nobody_looks_only_a_whole_post_is_kept(
    desk: Desk, turn: object, code: int, told_of: str, options: tuple[str, ...]
) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, *options, "--model", desk.script(READ, turn, turn, turn))
    assert (told.code, desk.posts()) == (code, [])
    assert told_of in told.err


@pytest.mark.parametrize(
    ("arguments", "platform"),
    [((REQUEST,), "linkedin"), (("tea for X",), "x"), (("a tea",), "linkedin"), (("tea", "--platform", "x"), "x")],
)
def test_W31_the_platform_is_named_by_option_or_request_or_profile(
    desk: Desk, arguments: tuple[str, ...], platform: str
) -> None:
    desk.has_profile()
    told = desk.run(*arguments, "--json", "--model", desk.script(READ, post()))
    [draft] = [one for one in map(json.loads, told.out.splitlines()) if one["event"] == "draft"]
    assert draft["platform"] == platform


@pytest.mark.parametrize(
    ("arguments", "platform", "told_of"),
    [
        (("why we left LinkedIn, for Instagram", "--lang", "en"), "instagram", "The request also names linkedin"),
        (("чому ми пішли з LinkedIn, для інстаграму", "--lang", "uk"), "instagram", "У запиті згадано ще linkedin"),
        (("why we left LinkedIn, for Instagram", "--platform", "x"), "x", None),
        (("for Instagram", "--lang", "en"), "instagram", None),
    ],
)
def test_W31_W34_of_two_platforms_the_one_it_is_for_is_taken_and_told(
    desk: Desk, arguments: tuple[str, ...], platform: str, told_of: str | None
) -> None:
    desk.has_profile()
    told = desk.run(*arguments, "--json", "--model", desk.script(READ, post()))
    [draft] = [one for one in map(json.loads, told.out.splitlines()) if one["event"] == "draft"]
    assert (draft["platform"], "--platform" in told.err) == (platform, told_of is not None)
    assert (told_of or "") in told.err


def test_W31_a_mix_and_a_profile_exclude_each_other(desk: Desk) -> None:
    desk.has_profile()
    desk.has_profile(profile_name="alex", profile_type="reference")
    told = desk.run("tea", "--mix", "default", "alex", "--profile", "alex")
    assert (told.code, told.out) == (2, "")
    assert "either --profile or --mix" in told.err
    told = desk.run("tea", "--mix", "default", "alex", "--yes", "--model", desk.script(READ, post()))
    assert told.code == 0
    assert "profile_used: mix:default+alex" in desk.posts()[0]


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("a tea",), 2, "No model is named"),
        ((" ", "--model", "scripted:none.json"), 2, "The request is empty"),
        (("--model", "scripted:none.json"), 2, "The request is empty"),
        (("tea", "--profile", "../x"), 1, "is not a valid profile name"),
        (("tea", "--platform", "myspace"), 2, "'myspace' is not one of"),
    ],
)
def test_W30_what_makes_no_sense_is_told(desk: Desk, arguments: tuple[str, ...], code: int, why: str) -> None:
    desk.has_profile()
    told = desk.run(*arguments)
    assert (told.code, told.out) == (code, "")
    assert why in told.err


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("sonnet", "Немає ключа для Anthropic. Задайте ANTHROPIC_API_KEY"),
        ("foo:bar", "Невідома модель 'foo:bar'."),
        ("scripted:none.json", "Файлу «none.json» немає."),
        ("scripted:p.txt", "Сценарій «p.txt» неможливо запустити: увесь файл: "),
    ],
)
def test_W34_what_is_wrong_with_a_model_is_told_in_ukrainian(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, model: str, why: str
) -> None:
    """And nobody has refused a key that there is none of."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    desk.has_profile("uk")
    (desk.folder / "p.txt").write_text("чай")
    told = desk.run("пост про чай", "--model", model, "--lang", "uk")
    assert (told.code != 0, told.err.startswith(f"Помилка: {why}")) == (True, True), told
    assert "Постачальник" not in told.err


def test_W34_the_language_is_that_of_option_locale_or_profile(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.has_profile("uk")
    model = desk.script(READ, post("Чай."))
    assert "Пишу за профілем" in desk.run("пост про чай", "--model", model).err
    desk.has_profile("en", profile_name="anna")
    assert "Writing with the profile 'anna'" in desk.run("tea", "--profile", "anna", "--model", model).err
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert "Writing with the profile" in desk.run("пост про чай", "--model", model).err
    assert "Пишу за профілем" in desk.run("пост про чай", "--model", model, "--lang", "uk").err


def at_terminal(monkeypatch: pytest.MonkeyPatch, terminal: Typed) -> None:
    monkeypatch.setattr(contexts, "open_terminal", lambda *_args, **_more: terminal)


def test_W30_without_a_request_the_person_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.has_profile()
    terminal = Typed(REQUEST, "shorter", "save")
    at_terminal(monkeypatch, terminal)
    told = desk.run("--model", desk.script(READ, post("Tea is tea.\n\nAnd more."), READ, post("Tea is tea.")))
    assert (told.code, Path(told.out.strip()).parent) == (0, Path("data/output/generated"))
    assert terminal.asked[0] == "What should the post be about, and for which platform?\n> "
    assert "Draft 1 · linkedin · 22 of 1300 characters" in told.err
    assert "Draft 2 · linkedin · 11 of 1300 characters" in told.err
    assert desk.posts()[0].endswith("\nTea is tea.\n")


def test_W30_who_names_an_unknown_model_is_not_asked_for_a_request(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.has_profile()
    typed = Typed("post about tea")
    monkeypatch.setattr(contexts, "open_terminal", lambda *_args, **_more: typed)
    told = desk.run("--model", "nobody")
    assert (told.code, "Unknown model 'nobody'" in told.err, typed.asked) == (2, True, [])


def test_W30_leaving_says_that_nothing_was_saved(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.has_profile()
    at_terminal(monkeypatch, Typed("exit", "y"))
    told = desk.run(REQUEST, "--model", desk.script(READ, post()), "--json")
    assert told.code == 0
    assert json.loads(told.out.splitlines()[-1])["outcome"] == "left"
    assert "Nothing was saved." in told.err


def test_XA6_a_long_post_is_seen_to_its_end_before_a_yes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the model wants kept is not the draft that was shown: all of it is, page by page."""
    desk.has_profile()
    long = "\n".join(f"line {number}" for number in range(60))
    wanted = {"name": "save_to_file", "arguments": {"content": long, "platform": "x", "topic": "t"}}
    script = desk.script(READ, post(), READ, {"calls": [wanted]}, post(), READ, {"calls": [wanted]}, post())
    terminal = Typed("keep it for me, dear", "", "y", "v", "n", "keep it for me, dear", "n", rows=24)
    at_terminal(monkeypatch, terminal)
    told = desk.run(REQUEST, "--model", script)
    assert (told.code, desk.posts()) == (0, [])
    assert "line 59" in told.err
    assert [one for one in terminal.asked if one.startswith("lines 1-")]
    assert terminal.asked.count("Save it? [y/n] ") == 1, "a person who turns back before the end has said no"


def test_XL14_a_search_after_strangers_text_is_shown_whole_and_asked_about(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is the stranger's; with the profile in the run, whatever goes out is asked about."""
    desk.has_profile()
    page = {"name": "read_notion_page", "arguments": {"page_id": "0123abcd0123456789ab0123456789ab"}}
    leak = {"name": "search_web", "arguments": {"query": "the secret of the profile"}}
    terminal = Typed("n")
    at_terminal(monkeypatch, terminal)
    told = desk.run(
        REQUEST, "--model", desk.script(READ, {"calls": [page]}, {"calls": [leak]}, {"calls": [leak]}, post())
    )
    assert terminal.asked[0].startswith("The post needs facts from the web. May up to 10 searches leave for it")
    assert "the secret of the profile" in told.err
    assert sum(one.startswith("The post needs facts") for one in terminal.asked) == 1


def test_XL35_after_a_yes_only_a_search_beyond_the_bounds_is_asked_about_in_the_writers_language(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.has_profile()
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9")
    searches = [
        {"calls": [{"name": "search_web", "arguments": {"query": text}}]} for text in ("tea", "cups", "t" * 201)
    ]
    terminal = Typed("y", "n")
    at_terminal(monkeypatch, terminal)
    desk.run(REQUEST, "--lang", "uk", "--model", desk.script(READ, *searches, post()))
    assert terminal.asked[0].startswith("Для поста потрібні факти з інтернету.")
    assert terminal.asked[1].startswith("Цей запит виходить за межі вашої згоди.")


def test_W12_a_no_to_an_update_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.has_profile()
    update = {
        "name": "update_style_profile",
        "arguments": {"changes": {"voice.tone": "rude"}, "reason": "the person asked"},
    }
    at_terminal(monkeypatch, Typed("update my profile", "n"))
    told = desk.run(REQUEST, "--model", desk.script(READ, post(), READ, {"calls": [update]}, post()))
    assert "+ rude" in told.err
    assert "The profile was not changed." in told.err


def test_W30_what_goes_on_is_told_in_a_line_each(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.has_profile()
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9")
    search = {"name": "search_web", "arguments": {"query": "tea\nstatistics"}}
    told = desk.run(REQUEST, "--model", desk.script(READ, {"calls": [search]}, post()))
    assert told.code == 0
    assert "· Searching the web: tea" in told.err
    assert "Search is not available" in told.err


def test_W34_feedback_that_was_counted_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    call = ToolCall(id="1", name="track_feedback", arguments="{}")
    tracked = ToolResult.of_json({"success": True, "category": "too_long", "count": 2})
    for result in (tracked, ToolResult.failure({"success": False, "message": "No."}, code="disk_full")):
        ProgressRenderer("default", "uk").on_event(CallFinished(call=call, result=result, duration_ms=1.0))
    assert capsys.readouterr().err == "· Занотовано: занадто довго (2 з 3).\n"


def test_W30_toolroll_write_is_the_same_program(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.has_profile()
    command = ["write", REQUEST, "--model", desk.script(READ, post())]
    assert run(command, Session()) == 0
    assert capsys.readouterr().out == "Here is the thing: tea.\n"
    assert run(["write", "stats"], Session()) == 0
    assert "drafts" in capsys.readouterr().out.casefold()


@pytest.mark.parametrize("command", [(REQUEST,), ("analyze", "posts.md"), ("init", "--from", "posts.md", "--yes")])
def test_S41_W30_the_model_of_a_project_is_asked_once_it_is_trusted(desk: Desk, command: tuple[str, ...]) -> None:
    if command[0] != "init":
        desk.has_profile()
    (desk.folder / "posts.md").write_text("Tea.\n---\nMore tea.\n---\nNo tea.\n")
    (desk.folder / ".toolroll").mkdir()
    (desk.folder / ".toolroll" / "settings.toml").write_text('model = "nobody"\n')
    told = desk.run(*command)
    assert (told.code, "No model is named." in told.err) == (2, True)
    assert run(["trust", "add", ".toolroll/settings.toml", "--yes"], Session()) == 0
    told = desk.run(*command)
    assert (told.code, "Unknown model 'nobody'" in told.err) == (2, True)


def test_W30_a_request_that_is_the_name_of_a_command(desk: Desk) -> None:
    desk.has_profile()
    told = desk.run("--", "stats", "--model", desk.script())
    assert told.code == 2, "after -- there are no options"
    told = desk.run("--model", desk.script(READ, post()), "--", "stats")
    assert (told.code, told.out) == (0, "Here is the thing: tea.\n")


@pytest.mark.parametrize(
    ("words", "meant"), [(("profil", "list"), "profile"), (("stat",), "stats"), (("Analyze",), "analyze")]
)
def test_S6_W30_a_command_that_was_mistyped_is_no_request(desk: Desk, words: tuple[str, ...], meant: str) -> None:
    """No model is asked, and paid, for a post about 'stat'."""
    desk.has_profile()
    told = desk.run(*words)
    advice = f"Did you mean 'ghostpen {meant}'? A post about it: 'ghostpen -- {words[0]}'. Try 'ghostpen --help'."
    assert (told.code, told.err) == (2, f"Error: There is no command '{words[0]}'. {advice}\n")
    assert desk.run("--model", desk.script(READ, post()), "--", "state").code == 0, "which is near, and no command"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--lang", "uk", "stats"), 0, "Чернеток ще немає.\n"),
        (("--json", "--lang", "uk", "stats"), 0, '"drafts":0'),
        (("--plain", "--data", "data", "profile", "list"), 0, "default  "),
        (("--debug", "profile", "show", "default"), 0, "default  "),
        (("--lang", "uk", "profile", "--help"), 0, "Usage: ghostpen profile [OPTIONS]"),
        (("--lang", "uk", "--help"), 0, "Usage: ghostpen write [OPTIONS]"),
        (("--lang", "en", "--model", "M", "stats"), 2, "No such option '--model'."),
        (("--lang", "uk", "feedback"), 2, "Usage: ghostpen feedback [OPTIONS]"),
        (("--lang", "uk", "stat"), 2, "Did you mean 'ghostpen stats'?"),
        (("--verbatim", "stats"), 2, "No such option '--verbatim'"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else None,
)
def test_S6_W30_an_option_before_a_command_makes_no_request_of_it(
    desk: Desk, arguments: tuple[str, ...], code: int, told: str
) -> None:
    """No model is asked, and paid, for a post about 'stats'."""
    desk.has_profile()
    done = desk.run(*arguments)
    assert (done.code, told in done.out + done.err) == (code, True), done


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("tea", "--mix", "default"), "ghostpen write"),
        (("init", "--from"), "ghostpen init"),
        (("profile", "create", "anna", "--from"), "ghostpen profile"),
    ],
)
def test_S6_W31_an_option_without_its_value_is_told_with_the_help_of_its_command(
    desk: Desk, arguments: tuple[str, ...], place: str
) -> None:
    told = desk.run(*arguments)
    assert (told.code, told.err.endswith(f". Try '{place} --help'.\n")) == (2, True), told


def test_S6_W31_a_mix_with_one_name_says_that_it_takes_two(desk: Desk) -> None:
    told = desk.run("tea", "--mix", "alex", "--model", "M")
    why = "Error: Option '--mix' takes two names, BASE TECHNIQUES, and '--model' is none."
    assert (told.code, told.err) == (2, f"{why} Try 'ghostpen write --help'.\n")


def test_W30_an_empty_data_folder_is_not_the_current_one(desk: Desk) -> None:
    told = desk.run("init", "--sample", "--data", "")
    assert (told.code, told.out) == (2, "")
    assert "Invalid value for '--data': it is empty" in told.err
    assert not (desk.folder / "profiles").exists()


def test_S6_W30_completion_is_not_disturbed_by_a_word_that_is_almost_a_command() -> None:
    assert ghostpen.make_context("ghostpen", ["profil", "more"], resilient_parsing=True).info_name == "ghostpen"


def test_W30_the_program_itself(tmp_path: Path) -> None:
    command = ghostpen_command()
    done = subprocess.run(
        [*command, "--version"], env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, "ghostpen")


def toolroll_here(desk: Desk, *arguments: str) -> subprocess.CompletedProcess[str]:
    home = environment(desk.folder / "home", CI="1")
    return run_toolroll(*arguments, env=home, cwd=desk.folder)


def test_W30_S4_the_run_log_tells_where_a_post_was_saved(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, "--yes", "--json", "--model", desk.script(READ, post()))
    ended = json.loads(told.out.splitlines()[-1])
    assert run(["runs", "show", ended["run_id"], "--json"], Session()) == 0
    *_, asked, answered, last = json.loads(capsys.readouterr().out)["records"]
    assert (last["kind"], last["name"], last["value"]) == ("kept", "saved", {"file": ended["file"]})
    assert [one["name"] for one in (asked, answered)] == ["approval:save_to_file"] * 2
    assert [one["value"]["answer"] for one in (asked, answered)] == [None, "approve"]
    assert answered["value"]["who"] == "the person, beforehand"
    assert "Here is the thing: tea." in answered["value"]["asked"]
    assert run(["runs", "list", "--json"], Session()) == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert row["state"] == "answer"
    assert toolroll_here(desk, "runs", "replay", ended["run_id"]).returncode == 0


def test_W30_a_turn_that_was_cut_short_can_be_resumed(desk: Desk) -> None:
    desk.has_profile()
    desk.has_profile(profile_name="alex", profile_type="reference")
    down = {"error": {"code": "invalid_request", "message": "The model is down."}}
    told = desk.run("tea", "--mix", "default", "alex", "--model", desk.script(READ, down))
    assert told.code == 1
    assert "The model is down." in told.err
    run_id = json.loads(toolroll_here(desk, "runs", "list", "--json").stdout)["runs"][0]["run_id"]
    desk.script(READ, {"calls": [SAVE]}, post())
    resumed = toolroll_here(desk, "runs", "resume", run_id, "--json")
    assert resumed.returncode == 0, resumed.stdout
    assert "Here is the thing: tea." in json.loads(resumed.stdout.splitlines()[-1])["text"]
    assert "not_confirmed" in resumed.stdout
    assert desk.posts() == []
    assert toolroll_here(desk, "runs", "replay", run_id).returncode == 0


def test_W30_the_agent_of_a_turn_is_made_again_by_what_was_kept(desk: Desk) -> None:
    desk.has_profile("uk")
    kept = {"model": "sonnet", "kind": "write", "root": str(desk.data), "profiles": ["default"], "lang": "uk"}
    spec, surface = AgentSpec.from_record(kept), terminal_surface()
    with closing(open_journal(os.environ)) as journal, Project.open(desk.data, os.environ) as project:
        model = ScriptedModel([])
        agent = build_agent(spec, project=project, surface=surface, journal=journal, model=model)
        assert "Speak to the author in Ukrainian." in agent.setup.system
        assert len(agent.setup.tools) == 9
        assert agent.setup.approver is None
        assert agent.setup.model.origin.model == "scripted"
        other = replace(spec, lang="en", model=desk.script())
        english = build_agent(other, project=project, surface=surface, journal=journal)
    assert "Speak to the author in English." in english.setup.system


def test_W30_a_model_is_connected_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert connect_model("sonnet", os.environ).origin.wire == "anthropic"


async def test_XA8_nobody_answers_where_nobody_is() -> None:
    assert await AbsentPerson(Session()).ask(Question(text="Well?")) is None


def test_W15_a_text_to_copy_is_not_broken_into_lines(desk: Desk) -> None:
    long = "word " * 60
    TerminalPerson(Typed(), "en").say(f"Saving failed.\n\n{long}")
    assert long.strip() in desk.said().err
    TerminalPerson(Typed(), "en").say(long)
    assert long.strip() not in desk.said().err


def test_W33_a_warning_is_broken_between_words(desk: Desk) -> None:
    note = "Your profile avoids 'leverage', and the draft says 'leveraging', which looks like a form of it."
    draft = DraftView(text="Tea.", platform="x", number=1, length=4, limit=280, notes=(note,))
    TerminalPerson(Typed(columns=40), "en").show_draft(draft)
    told = desk.said().err
    warned = [line.strip() for line in told[told.index("! ") :].splitlines()]
    assert len(warned) > 2
    assert " ".join(warned).strip() == f"! {note}"


def test_W34_the_figures_of_a_draft_are_broken_between_words(desk: Desk) -> None:
    draft = DraftView(text="Tea.", platform="linkedin", number=1, length=18, limit=1300, notes=())
    TerminalPerson(Typed(columns=40), "en").show_draft(draft)
    assert desk.said().err.splitlines()[1:4] == ["Draft 1 · linkedin · 18 of 1300", "   characters", ""]


@pytest.mark.parametrize("options", [(), ("--yes",)])
def test_W31_W34_a_page_that_cannot_be_read_is_told_once(desk: Desk, options: tuple[str, ...]) -> None:
    desk.has_profile()
    told = desk.run(REQUEST, "--notion", "bad", *options, "--model", desk.script(READ, post()))
    assert told.code == 1
    assert told.err.count("Notion is not configured") == 1


def test_W30_what_a_provider_makes_us_wait_for_is_told(desk: Desk) -> None:
    ProgressRenderer("default", "en").on_event(Retrying(attempt=1, wait_s=1.0, reason="Busy."))
    assert desk.said().err == "! Busy.\n"


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        ("en", "· waiting for the model, 34 s; gives up after 120 s\n"),
        ("uk", "· чекаю на модель, 34 с; припиню через 120 с\n"),
    ],
)
def test_XL42_a_wait_for_the_model_is_told(desk: Desk, lang: Lang, told: str) -> None:
    for waited_s in (5.0, 34.2):
        ProgressRenderer("default", lang).on_event(WaitingForModel(waited_s=waited_s, limit_s=120.0))
    assert desk.said().err == told


class Pasted:
    """Somebody who pastes one text."""

    def __init__(self, text: str) -> None:
        self._texts = [text]

    async def read(self, prompt: str) -> str | None:
        return self._texts.pop() if prompt and self._texts else None


async def test_W30_with_a_line_editor_what_is_pasted_is_one_answer(desk: Desk) -> None:
    person = TerminalPerson(Typed("y"), "en", LineInput(Pasted("Two\nlines")))
    assert await person.ask(Question(text="What should be different?")) == "Two\nlines"
    assert await person.ask(Question(text="", kind="more")) is None
    assert await person.ask(Question(text="Leave?", kind="yes_no")) == "y"
    assert desk.said().err == "What should be different?\n"
    assert await TerminalPerson(Typed("more"), "en").ask(Question(text="", kind="more")) == "more"
