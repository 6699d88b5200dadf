"""Data that version 0.1.0 wrote, opened with the commands of today. README.md says what there is."""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.author import trust_data
from tests.support.programs import Done, Program, Starter, environment, shared_starter

MADE = Path(__file__).parent / "0.1.0"
MADE_AT = "/tmp/corpus"
RUNS: dict[str, str] = json.loads((MADE / "runs.json").read_text())
NUL = "\0"


class Corpus:
    """A copy of the files, and commands in it."""

    def __init__(self, folder: Path, starter: Starter) -> None:
        self.folder, self._starter = folder, starter
        self.home, self.garden, self.writer = folder / "home", folder / "garden", folder / "writer"

    def call(
        self, *arguments: str, code: int | None = 0, program: Program = "toolroll", cwd: Path | None = None
    ) -> Done:
        env = environment(self.home, CI="1")
        self._starter.start(*arguments, env=env, cwd=cwd or self.garden, program=program)
        done = self._starter.wait()
        assert code in {None, done.code}, done
        return done

    def json(self, *arguments: str, **options: Any) -> Any:
        return json.loads(self.call(*arguments, "--json", **options).out)

    def events(self, *arguments: str, **options: Any) -> list[dict[str, Any]]:
        return self.call(*arguments, "--json", **options).lines

    def pen(self, *arguments: str) -> Any:
        return self.json(*arguments, "--data", "data", program="ghostpen", cwd=self.writer)

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.home / "data" / "runs.db")


@pytest.fixture
def copy(tmp_path: Path) -> Corpus:
    shutil.copytree(MADE, tmp_path / "corpus")
    for path in (tmp_path / "corpus").rglob("*"):  # a checkout gives others rights that the commands refuse
        path.chmod(0o700 if path.is_dir() else 0o600)
    found = Corpus((tmp_path / "corpus").resolve(), shared_starter())
    trust_data(found.home, found.writer)
    return found


@pytest.fixture
def corpus(copy: Corpus) -> Iterator[Corpus]:
    """The files as they are, to look at: that changes none of them, so that 0.1.0 could still read them."""
    before = content(copy.folder)
    yield copy
    after = content(copy.folder)
    assert {name: after[name] for name in before} == before


@pytest.fixture
def moved(copy: Corpus) -> Corpus:
    """The files as if they had been written where the copy is: runs go on in the folder that they were begun in."""
    here = str(copy.folder)
    for path in (copy.home / "config").glob("*.json"):
        path.write_text(path.read_text().replace(MADE_AT, here))
    workspaces = copy.home / "data" / "workspaces"
    (workspaces / _key(f"{MADE_AT}/garden")).rename(workspaces / _key(str(copy.garden)))
    with closing(copy.database()) as db, db:
        chains: dict[str, str] = {}
        for run_id, number, body in db.execute("select run_id, number, body from records order by 1, 2").fetchall():
            new = body.replace(MADE_AT.encode(), here.encode())
            chains[run_id] = hashlib.sha256(chains.get(run_id, "").encode() + new).hexdigest()
            row = (new, chains[run_id], run_id, number)
            db.execute("update records set body = ?, chain = ? where run_id = ? and number = ?", row)
    return copy


def _key(root: str) -> str:
    return hashlib.sha256(root.encode()).hexdigest()[:32]


def written(db: sqlite3.Connection, run_id: str) -> list[dict[str, Any]]:
    """The records of a run straight from the tables."""
    contents = dict(db.execute("select hash, body from contents"))

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: whole(one) for key, one in value.items()}
        if isinstance(value, list):
            return [whole(one) for one in value]
        if isinstance(value, str) and value.startswith(NUL):
            return value[1:] if value.startswith(NUL * 2) else contents[value[1:]].decode()
        return value

    rows = db.execute("select number, body from records where run_id = ? order by number", (run_id,))
    return [{"index": number, **whole(json.loads(body))} for number, body in rows]


def content(folder: Path) -> dict[str, object]:
    """What each file holds; of a database, what is in its tables."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".db", ".sqlite3"}:
            with closing(sqlite3.connect(path)) as db:
                found[str(path.relative_to(folder))] = (db.execute("pragma user_version").fetchone(), *db.iterdump())
        elif path.is_file() and not path.name.endswith(("-wal", "-shm", ".lock")):
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


LATER = {"waits_for": "approval"}
"""Fields that came later and whose default says something: what all old records mean."""


def without_later(now: Any, before: Any) -> Any:
    """A value without the fields that came later: they say nothing new about an old record."""
    if isinstance(now, dict) and isinstance(before, dict):
        later = {name: value for name, value in now.items() if name not in before}
        assert later == {name: LATER.get(name, value) for name, value in later.items()}
        assert not any(value for name, value in later.items() if name not in LATER), later
        return {name: without_later(value, before[name]) for name, value in now.items() if name in before}
    if isinstance(now, list) and isinstance(before, list):
        return [without_later(*pair) for pair in zip(now, before, strict=True)]
    return now


def test_every_record_is_shown_as_it_was_written(corpus: Corpus) -> None:
    with closing(corpus.database()) as db:
        ids = [run_id for (run_id,) in db.execute("select run_id from runs")]
        assert len(ids) == 29
        for run_id in ids:
            shown = corpus.json("runs", "show", run_id)
            assert (shown["is_damaged"], shown["notes"]) == (False, [])
            for now, before in zip(shown["records"], written(db, run_id), strict=True):
                assert without_later(now, before) == before


def test_runs_are_listed_with_how_they_ended(corpus: Corpus) -> None:
    listed = {one["run_id"]: one for one in corpus.json("runs", "list", "--all", "--limit", "100")["runs"]}
    states = {name: (listed[run_id]["state"], listed[run_id]["steps"]) for name, run_id in RUNS.items()}
    assert states == {
        "finished": ("answer", 3),
        "changed": ("answer", 4),
        "undone": ("answer", 3),
        "redone": ("answer", 3),
        "long": ("answer", 2),
        "pending": ("approval_pending", 2),
        "limited": ("condition", 2),
        "failed": ("failed", 0),
        "interrupted": ("interrupted", 2),
        "killed": ("unfinished", 2),
        "own": ("answer", 3),
        "forked": ("answer", 2),
        "with_sub_agent": ("answer", 2),
        "trimmed": ("answer", 9),
        "compacted": ("answer", 8),
        "cut": ("answer", 2),
        "draft": ("answer", 1),
    }
    assert listed[RUNS["forked"]]["forked_from"] == RUNS["finished"]
    assert listed[f"{RUNS['with_sub_agent']}.g1"]["parent"] == RUNS["with_sub_agent"]
    assert listed[RUNS["own"]]["prompt"] == "Plant peas."
    chats = [one["prompt"].partition("\n")[0] for one in listed.values() if one["chat"]]
    assert chats == ["Potatoes in @src/plan.py, please.", "Good morning!"]


def test_a_run_is_exported_with_its_parts(corpus: Corpus) -> None:
    head, *lines = corpus.call("runs", "export", RUNS["with_sub_agent"]).lines
    assert (head["run_id"], head["records"], head["is_damaged"]) == (RUNS["with_sub_agent"], 14, False)
    assert [line["text"] for line in lines if line["kind"] == "finished"] == ["It is closed.", "The gate is closed."]
    page = corpus.call("runs", "export", RUNS["compacted"], "--format", "html").out
    assert "Everything is green." in page


@pytest.mark.parametrize("name", ["trimmed", "compacted"])
def test_what_a_model_would_be_sent_next_is_known(corpus: Corpus, name: str) -> None:
    kinds = {row["kind"] for row in corpus.json("runs", "show", RUNS[name], "--context")["rows"]}
    assert ("trimmed" in kinds) == (name == "trimmed")


def test_a_run_is_replayed(moved: Corpus) -> None:
    again = json.loads(moved.call("runs", "replay", RUNS["own"], "--json", code=None).out)
    assert (again["steps"], again["calls_run"], again["calls_from_record"]) == (3, 2, 1)
    # Before the first step only definitions are compared: the program's own tools may be described otherwise by now.
    assert [one for one in again["differences"] if one["step"]] == []


def test_a_question_that_waited_is_answered(moved: Corpus) -> None:
    end = moved.events("runs", "resume", RUNS["pending"], "--approve", "edit_7")[-1]
    assert (end["stop_reason"], end["text"], end["pending"]) == ("answer", "The list is changed.", [])
    assert (moved.garden / "todo.md").read_text() == "- weed bed 3\n- paint the gate\n"


def test_a_run_that_was_stopped_goes_on(moved: Corpus) -> None:
    end = moved.events("runs", "resume", RUNS["limited"], code=4)[-1]
    assert (end["text"], end["steps"]) == ("That is all.", 4)


@pytest.mark.parametrize("name", ["interrupted", "killed"])
def test_a_call_that_was_broken_off_is_asked_about(moved: Corpus, name: str) -> None:
    end = moved.events("runs", "resume", RUNS[name], code=3)[-1]
    assert (end["stop_reason"], end["stop_detail"]) == ("approval_pending", "dig (dig_1)")
    moved.call("runs", "resume", RUNS[name], "--reject", "dig_1=not now")
    assert moved.json("runs", "show", RUNS[name])["records"][-1]["text"] == "It is dug over."


def test_a_run_is_forked(moved: Corpus) -> None:
    model = f"scripted:{moved.folder}/scripts/forked.json"
    end = moved.events("runs", "fork", RUNS["finished"], "--at", "1", "--model", model)[-1]
    assert (end["text"], end["steps"]) == ("Tomatoes.", 2)


def test_changes_are_listed_undone_and_redone(moved: Corpus) -> None:
    changes = moved.json("changes")["changes"]
    told = [(one["kind"], one["state"], [file["path"] for file in one["files"]]) for one in changes]
    assert told == [
        ("change", "applied", ["src/plan.py"]),
        ("redo", "applied", ["todo.md"]),
        ("undo", "undone", ["todo.md"]),
        ("change", "applied", ["todo.md"]),
        ("undo", "applied", ["todo.md"]),
        ("change", "undone", ["todo.md"]),
        ("change", "applied", ["docs/peas.md"]),
        ("change", "applied", ["src/plan.py"]),
    ]
    plan, todo, page = (moved.garden / name for name in ("src/plan.py", "todo.md", "docs/peas.md"))
    moved.call("undo", "--yes")
    assert plan.read_text().startswith('BEDS = ["tomatoes", "beans", "carrots", "peas"]')
    moved.call("redo", "--yes")
    assert plan.read_text().startswith('BEDS = ["potatoes"')
    moved.call("undo", changes[3]["id"], "--yes")
    assert todo.read_text() == "- weed bed 2\n- mend the gate\n"
    moved.call("redo", changes[5]["id"], "--yes")
    assert todo.read_text() == "- weed bed 2\n"
    moved.call("undo", changes[6]["id"], "--yes")
    assert not page.exists()


def test_outputs_are_read_whole(corpus: Corpus) -> None:
    outputs = corpus.json("outputs", "list", "--limit", "100")["outputs"]
    assert len(outputs) == 39
    [long] = [one for one in outputs if one["run_id"] == RUNS["cut"]]
    text = "".join(["bed of weeds\n", *(f"bed of weeds, row {number}: green\n" for number in range(2_400))])
    assert (long["byte_size"], long["line_count"]) == (len(text), 2_401)
    assert corpus.call("outputs", "show", long["ref_id"], "--raw").out == text
    assert "row 2399: green" in corpus.call("outputs", "grep", long["ref_id"], "row 2399").out
    [short] = [one for one in outputs if one["run_id"] == RUNS["with_sub_agent"]]
    assert corpus.call("outputs", "show", short["ref_id"], "--raw").out == "The gate is closed."


def test_rules_and_trust_count_where_they_were_given(moved: Corpus) -> None:
    rules = moved.json("policy", "list")
    assert rules["deny"] == ["secrets/**", "*.pem", "contracts/**"]
    assert [(one["tool"], one["path"], one["place"]) for one in rules["allow"]] == [
        ("edit", "src/plan.py", "pack code")
    ]
    trusted = moved.json("trust", "list")["files"]
    assert trusted == [
        {"path": ".toolroll/settings.toml", "trusted": True},
        {"path": ".toolroll/tools/water.py", "trusted": True},
    ]
    elsewhere = moved.json("policy", "list", "--root", str(moved.writer))
    assert elsewhere == {"deny": ["secrets/**", "*.pem"], "allow": []}


def test_rules_of_an_older_format_count_for_nothing(moved: Corpus) -> None:
    rules = moved.home / "config" / "rules.json"
    shutil.copyfile(moved.folder / "older" / "rules-1.json", rules)
    rules.write_text(rules.read_text().replace(MADE_AT, str(moved.folder)))
    assert moved.json("policy", "list")["allow"] == []


def test_settings_are_read_and_one_is_changed(moved: Corpus) -> None:
    settings = {one["name"]: (one["value"], one["origin"]["kind"]) for one in moved.json("config", "list")["settings"]}
    assert settings["model"] == ("sonnet", "user")
    assert settings["code.max_steps"] == (12, "project")
    moved.call("config", "set", "model", "opus")
    before = (MADE / "home" / "config" / "settings.toml").read_text()
    after = (moved.home / "config" / "settings.toml").read_text()
    assert after == before.replace("sonnet", "opus")


def test_profiles_of_all_formats_are_read(corpus: Corpus) -> None:
    listed = corpus.pen("profile", "list")
    found = {one["name"]: (one["type"], one["language"], one["version"]) for one in listed["profiles"]}
    assert listed["unreadable"] == []
    assert found == {
        "default": ("personal", "en", 2),
        "marked": ("personal", "en", 1),
        "newer": ("personal", "en", 1),
        "older": ("personal", "en", 1),
        "ukrainian": ("personal", "uk", 1),
        "neighbour": ("reference", "en", 1),
    }
    file = MADE / "writer" / "data" / "profiles"
    for name in ("default", "ukrainian", "neighbour"):
        assert corpus.pen("profile", "show", name)["profile"] == json.loads((file / f"{name}.json").read_text())
    older = corpus.pen("profile", "show", "older")["profile"]
    assert "x" in older["platforms"]
    assert "twitter" not in older["platforms"]


def test_posts_drafts_and_feedback_are_read(corpus: Corpus) -> None:
    stats = corpus.pen("stats")
    assert (stats["drafts"], stats["accepted"], stats["accepted_first_time"]) == (3, 3, 2)
    assert corpus.pen("feedback", "list")["feedback"]["tone_off"]["count"] == 1
    posts = corpus.json("call", "read_past_posts", '{"keywords": ["sand", "beans", "квасоля"]}', cwd=corpus.writer)
    assert {one["topic"] for one in posts["content"]["posts"]} == {"beans", "carrots", "квасоля"}


def test_research_is_listed_shown_and_continued(moved: Corpus) -> None:
    ideas = moved.json("explore", "list")["ideas"]
    assert [one["title"] for one in ideas] == ["Seeds by post", "A library of garden tools"]
    folder = moved.garden / "ideas" / "2026-11-16-a-library-of-garden-tools"
    document, log = (folder / "research.md").read_text(), json.loads((folder / "exploration-log.json").read_text())
    assert moved.call("explore", "show", "A library of garden tools").out == document
    model = f"scripted:{moved.folder}/scripts/updated.json"
    moved.call("explore", "A library of garden tools", "--update", "--model", model)
    assert (folder / "research.md").read_text().startswith(document.rstrip())
    again = json.loads((folder / "exploration-log.json").read_text())
    assert (again[:2], len(again)) == (log, 3)
