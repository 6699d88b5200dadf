"""A home and a project in which every command of both programs has something to do, and ways to break them."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click
from tests.cli.ghostpen.author import READ as READ_PROFILE
from tests.cli.ghostpen.author import post
from tests.cli.ghostpen.pen import POSTS, answer
from tests.support.author import trust_data
from tests.support.programs import ROOT, Done, Program, Starter, environment
from tests.support.project import SAMPLE
from tests.support.webhook_server import plain_receiver

from toolroll.apps.client_questions import CLIENT_KIND
from toolroll.cli.main import root
from toolroll.home.rules import RememberedRule, RuleBook, ToolIdentity, workspace_key
from toolroll.journal.records import ApprovalQuestion, RunBegan
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.call.context import random_id
from toolroll.packs.catalog import read_catalog
from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile

Words = tuple[str, ...]

MAIN = "src/main.js"
READ = {"name": "read_file", "arguments": {"path": MAIN}, "id": "read_1"}
EDIT_ARGUMENTS = {"path": MAIN, "old_string": "TODO", "new_string": "DONE", "description": "It is done."}
EDIT = {"name": "edit", "arguments": EDIT_ARGUMENTS, "id": "edit_1"}
BACK = {**EDIT, "arguments": {**EDIT_ARGUMENTS, "old_string": "DONE", "new_string": "TODO"}}
LONG = {"name": "read_file", "arguments": {"path": "long.txt"}, "id": "long_1"}
SCRIPTS: Mapping[str, Sequence[object]] = {
    "answer": ["It is so."],
    "change": [{"calls": [READ]}, {"calls": [EDIT]}, "It is changed."],
    "back": [{"calls": [READ]}, {"calls": [BACK]}, "It is changed back."],
    "late": ["It is so.", "So it is.", {"calls": [READ]}, {"calls": [EDIT]}, "It is changed."],
    "long": [{"calls": [LONG]}, "It is long."],
    "endless": [{"calls": [{**READ, "id": f"read_{number}"}]} for number in range(1, 9)],
    "research": ["# Tea\n\nIt is hot."],
    "half": [{"text": "# Half", "stop": "max_tokens"}],
    "post": [READ_PROFILE, post()],
    "saving": [
        READ_PROFILE,
        {"calls": [{"name": "save_to_file", "arguments": {"content": "x", "platform": "x", "topic": "t"}}]},
        post(),
    ],
    "profile": [answer()],
    "compared": [json.dumps({"changes": [{"path": "voice.tone", "value": "quiet", "why": "It is."}]})],
    "wordy": [" ".join(f"It is so for {number}." for number in range(1_500))],
    "silent": [],
}
TOOL = 'from toolroll import tool\n\n\n@tool\ndef deploy() -> str:\n    """Deploy."""\n    return "deployed"\n'


def commands(group: click.Command = root, words: Words = ()) -> Iterator[tuple[Words, click.Command]]:
    """Every command that does something, and every group, by its words."""
    yield words, group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from commands(command, (*words, name))


LEAVES = {words: command for words, command in commands() if not isinstance(command, click.Group)}


class Scene:
    """`root` is a project, `home` all that is the user's own."""

    def __init__(self, folder: Path, starter: Starter) -> None:
        self.folder, self.starter = folder, starter
        self.home, self.root = folder / "home", folder / "tea-board"
        shutil.copytree(SAMPLE, self.root)
        (self.root / "long.txt").write_text("a line of it\n" * 6_000)
        (self.root / ".toolroll" / "tools").mkdir(parents=True)
        (self.root / ".toolroll" / "tools" / "deploy.py").write_text(TOOL)
        (folder / "ring").mkdir()
        (self.root / "broken.py").write_text("x = 1 / 0\n")
        trust_data(self.home, self.root)
        for number, text in enumerate(POSTS):
            (self.root / f"post{number}.md").write_text(text, encoding="utf-8")
        self.names: dict[str, str] = {"root": str(self.root), "folder": str(folder)}
        for name, turns in SCRIPTS.items():
            (folder / f"{name}.json").write_text(json.dumps(turns))
            self.names[name] = f"scripted:{folder / name}.json"

    def env(self, **more: str) -> dict[str, str]:
        """What a command gets to know; a keyring of files stands for the system's."""
        ring = {"PYTHON_KEYRING_BACKEND": "tests.home.keyrings.FileKeyring", "PYTHONPATH": str(ROOT)}
        kept = {name: value for name, value in environment(self.home, **ring).items() if "COVERAGE_" not in name}
        return kept | {"TEST_KEYRING": str(self.folder / "ring")} | more

    def words(self, line: str) -> list[str]:
        """A command line with the names of this scene in it."""
        return [word.format_map(self.names) if "{" in word else word for word in line.split()]

    def call(self, *words: str, stdin: str = "", before: str = "", out: str = "", **env: str) -> Done:
        """A command in the project; of a ghostpen's command the first word is `ghostpen`."""
        program: Program = "ghostpen" if words[0] == "ghostpen" else "toolroll"
        given = words[1:] if program == "ghostpen" else words
        env = self.env(**env)
        self.starter.start(*given, env=env, cwd=self.root, stdin=stdin, program=program, before=before, out=out)
        return self.starter.wait()

    def do(self, line: str) -> Done:
        """A command that has to work."""
        done = self.call(*self.words(line))
        assert done.code == 0, (line, done)
        return done

    def has(self, *things: str) -> None:
        """Put these there, each under its name."""
        for thing in things:
            getattr(self, f"_put_{thing}")()

    def _run(self, name: str, line: str, code: int) -> None:
        done = self.call(*self.words(f"{line} --json"))
        assert done.code == code, done
        self.names[name] = done.lines[0]["run_id"]

    def _put_run(self) -> None:
        self._run("run", "code Go. --model {long}", 0)
        self.names["ref"] = json.loads(self.do("outputs list --json").out)["outputs"][0]["ref_id"]

    def _put_waiting(self) -> None:
        shutil.copyfile(SAMPLE / MAIN, self.root / MAIN)
        self._run("waiting", "code Go. --model {change}", 3)

    def _queue(self, name: str, line: str) -> None:
        [queued] = json.loads(self.do(f"{line} --json").out)["jobs"]
        self.names[name] = queued["id"]

    def _put_job(self) -> None:
        self._queue("job", "explore Tea --queue --model {research}")

    def _put_schedule(self) -> None:
        [made] = json.loads(self.do("explore Tea --every 1d --at +1h --model {research} --json").out)["schedules"]
        self.names["schedule"] = made["id"]

    def _put_done_job(self) -> None:
        self._queue("done_job", "code Go. --queue --model {answer}")
        self.do("worker --drain")

    def _put_waiting_job(self) -> None:
        self.do("worker --drain")  # one that was answered before would change the file under this one
        shutil.copyfile(SAMPLE / MAIN, self.root / MAIN)
        self._queue("waiting_job", "code Go. --queue --model {change}")
        self.do("worker --drain")

    def _put_told_job(self) -> None:
        host = f"127.0.0.1:{plain_receiver().server_address[1]}"
        self.do("tokens webhook-secret --new")
        self.do(f"config set webhooks.hosts {host}")
        self._queue("told_job", f"code Go. --queue --model {{answer}} --webhook http://{host}/")
        self.do("worker --drain")

    def _put_client_question(self) -> None:
        call_id = random_id()
        asked = ApprovalQuestion(call_id=call_id, tool="edit", digest="0", preview="+a line", why="", arguments={})
        began = RunBegan(model="a client", system="", tools={}, settings={"kind": CLIENT_KIND})

        async def put(journal: SqliteJournal) -> None:
            run_id = random_id()
            await journal.append(run_id, began, asked)
            await journal.release(run_id)

        with closing(SqliteJournal(self.home / "data" / "runs.db")) as journal:
            asyncio.run(put(journal))
        self.names["client_call"] = call_id

    def _put_broken_client(self) -> None:
        (self.root / ".mcp.json").write_text("// no JSON")

    def _put_broken_tokens(self) -> None:
        config = self.home / "config"
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        (config / "tokens.json").write_text("{")

    def _put_broken_queue(self) -> None:
        data = self.home / "data"
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("jobs.db", "jobs.db-wal", "jobs.db-shm"):
            (data / name).unlink(missing_ok=True)
        (data / "jobs.db").write_bytes(b"no database " * 1_000)

    def _put_limited(self) -> None:
        self._run("limited", "code Go. --model {endless} --max-steps 1", 4)

    def _put_changed(self) -> None:
        shutil.copyfile(SAMPLE / MAIN, self.root / MAIN)
        self._run("changed", "code Go. --model {change} --yes", 0)
        self.names["change_id"] = json.loads(self.do("changes --json").out)["changes"][0]["id"]

    def _put_idea(self) -> None:
        folder = self.root / "ideas" / "2026-01-02-tea"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "research.md").write_text("# Tea\n\nIt is hot.\n")

    def _put_no_ideas(self) -> None:
        shutil.rmtree(self.root / "ideas", ignore_errors=True)

    def _put_profile(self) -> None:
        now = datetime(2026, 2, 9, 10, tzinfo=UTC)
        for name in ("default", "other"):
            fields = {**sample_profile("en"), "profile_name": name}
            ProfileStore(self.root / "data").create(fields, now=now, replace=True)

    def _put_post(self) -> None:
        folder = self.root / "data" / "output" / "generated"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "2026-02-09-linkedin-tea.md").write_text("# tea\n\nIt is hot.\n")

    def _put_rule(self) -> None:
        entry = read_catalog(wanted="edit").find("edit")
        identity = ToolIdentity(tool="edit", fingerprint=entry.tool.describe().fingerprint, place=entry.place)
        added = datetime(2026, 1, 2, tzinfo=UTC)
        rule = RememberedRule.for_tool(identity, path="docs/*.md", workspace=workspace_key(self.root), added=added)
        RuleBook(self.home / "config").add(rule)

    def _put_undone(self) -> None:
        self._put_changed()
        self.do("undo {change_id} --yes")

    def _put_made(self) -> None:
        (self.root / "made.json").write_text(self.call("ghostpen", "profile", "export", "other").out)

    def _put_changed_file(self) -> None:
        (self.root / "long.txt").write_text((self.root / "long.txt").read_text() + "one more\n")

    def _put_feedback(self) -> None:
        FeedbackStore(self.root / "data").track("tone_off", "Not so.", now=datetime(2026, 2, 9, 10, tzinfo=UTC))

    def _put_broken_feedback(self) -> None:
        (self.root / "data").mkdir(exist_ok=True)
        (self.root / "data" / "feedback-tracker.json").write_text("{")

    def _put_good_settings(self) -> None:
        (self.home / "config" / "settings.toml").unlink(missing_ok=True)

    def _put_broken_settings(self) -> None:
        config = self.home / "config"
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        (config / "settings.toml").write_text("model = [\n")
        (config / "settings.toml").chmod(0o600)

    def _put_no_log(self) -> None:
        for path in (self.home / "data").glob("runs.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _put_torn_log(self) -> None:
        """Whole, but for the page with which the long texts begin."""
        with closing(sqlite3.connect(self.home / "data" / "runs.db")) as db:
            db.execute("pragma wal_checkpoint(truncate)")
            [page] = db.execute("select rootpage from sqlite_master where name = 'contents'").fetchone()
            [size] = db.execute("pragma page_size").fetchone()
        with (self.home / "data" / "runs.db").open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"damage" * 100)

    def _put_broken_history(self) -> None:
        for path in (self.home / "data" / "workspaces").glob("*/history.sqlite3*"):
            path.write_bytes(b"this is no data base" * 500)

    def _put_file_for_workspaces(self) -> None:
        self._put_file(self.home / "data" / "workspaces")

    def _put_file_for_outputs(self) -> None:
        self._put_file(self.home / "data" / "outputs")

    def _put_file_for_posts(self) -> None:
        self._put_file(self.root / "data" / "output")

    def _put_file_for_ideas(self) -> None:
        self._put_file(self.root / "ideas")

    def _put_broken_rules(self) -> None:
        self._put_file(self.home / "config" / "rules.json")

    def _put_broken_trust(self) -> None:
        self._put_file(self.home / "config" / "trust.json")

    def _put_folder_for_settings(self) -> None:
        self._put_folder("settings.toml")

    def _put_folder_for_names(self) -> None:
        self._put_folder("keyring-names.txt")

    def _put_no_ring(self) -> None:
        shutil.rmtree(self.folder / "ring", ignore_errors=True)

    def _put_file(self, path: Path) -> None:
        """Something that is neither JSON nor a folder."""
        if path.is_dir():
            shutil.rmtree(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text("{")
        path.chmod(0o600)

    def _put_folder(self, name: str) -> None:
        """In the place of a file of the user's configuration."""
        path = self.home / "config" / name
        if path.is_file():
            path.unlink()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _put_broken_log(self) -> None:
        data = self.home / "data"
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("runs.db-wal", "runs.db-shm"):
            (data / name).unlink(missing_ok=True)
        (data / "runs.db").write_bytes(b"this is no data base" * 500)


def program_words(words: Words) -> Words:
    """The same command as its own program has it."""
    return ("ghostpen", *words[1:]) if words[:1] == ("write",) else words
