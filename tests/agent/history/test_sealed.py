"""A call whose arguments hold a secret waits for its answer whole, and leaves the secret nowhere else (XD16)."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolroll import Agent, Approve, Reject
from toolroll.agent.approvals import AskLater
from toolroll.agent.history.resume import LOST
from toolroll.agent.history.unknown_calls import UNKNOWN
from toolroll.apps.export.page import render_page
from toolroll.apps.export.run_tree import format_json_lines, read_run_tree
from toolroll.journal.records import CallEnded, CallIntended
from toolroll.journal.sealed import FOLDER
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import ToolCall, ToolResults
from toolroll.kernel.define.decorator import tool
from toolroll.models.scripted import Call, ScriptedModel

RUN = "run"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
CALL = Call("write", {"text": f"token = {SECRET}"}, id="w")


class Place:
    """A folder with a run log, and a tool that writes a file."""

    def __init__(self, folder: Path) -> None:
        self.file, self.data = folder / "written", folder / "data"
        self.journal = SqliteJournal(self.data / "runs.db")

    def agent(self, *script: Any, **options: Any) -> Agent[Any]:
        @tool(effect="writes")
        def write(text: str) -> str:
            """Write a text."""
            self.file.write_text(text)
            return "Written."

        make = {"make_id": lambda: RUN, "journal": self.journal}
        return Agent(model=ScriptedModel(list(script)), tools=[write], **{**make, **options})

    async def ask(self) -> None:
        result = await self.agent([CALL], approver=AskLater()).run("Go.")
        assert result.stop_reason == "approval_pending"
        self.journal.close()

    @property
    def sealed(self) -> list[Path]:
        return [path for path in (self.data / FOLDER).rglob("*") if path.is_file()]

    def holders(self) -> list[Path]:
        """The files that hold the secret in clear."""
        self.journal.close()
        return [path for path in self.data.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def contents(result: Any) -> list[str]:
    return [
        str(one.content) for message in result.messages if isinstance(message, ToolResults) for one in message.results
    ]


async def test_XD16_a_call_with_a_secret_runs_after_a_later_yes(place: Place) -> None:
    await place.ask()
    [file] = place.sealed
    assert place.holders() == [file]
    assert {stat.S_IMODE(one.stat().st_mode) for one in (file, *list(file.parents)[:3])} == {0o600, 0o700}
    result = await place.agent("Done.").resume(RUN, decisions={"w": Approve()})
    assert (result.text, contents(result), place.file.read_text()) == ("Done.", ["Written."], f"token = {SECRET}")
    assert (place.sealed, place.holders()) == ([], [])
    tree = await read_run_tree(place.journal, RUN, secrets=())
    assert not any(SECRET in piece for piece in (*format_json_lines(tree), *render_page(tree)))
    place.journal.close()


RESUME = """
import asyncio, sys
from pathlib import Path
from tests.agent.history.test_sealed import Place, RUN
from toolroll import Approve
place = Place(Path(sys.argv[1]))
print(asyncio.run(place.agent("Done.").resume(RUN, decisions={"w": Approve()})).text)
place.journal.close()
"""


async def test_XD16_another_process_runs_it(place: Place, tmp_path: Path) -> None:
    await place.ask()
    told = subprocess.run([sys.executable, "-c", RESUME, tmp_path], capture_output=True, text=True, check=True)
    assert (told.stdout, place.file.read_text()) == ("Done.\n", f"token = {SECRET}")
    assert place.holders() == []


async def test_XD16_a_question_that_is_asked_again_keeps_what_it_needs(place: Place) -> None:
    await place.ask()
    before = place.sealed[0].read_bytes()
    for _ in range(2):
        again = await place.agent().resume(RUN)
        assert again.stop_reason == "approval_pending"
    assert [path.read_bytes() for path in place.sealed] == [before]
    place.journal.close()


@pytest.mark.parametrize("way", ["no", "prompt", "delete"])
async def test_XD16_the_secret_goes_with_the_call_and_with_the_run(place: Place, way: str) -> None:
    await place.ask()
    assert place.holders()
    if way == "no":
        await place.agent("Then not.").resume(RUN, decisions={"w": Reject("no")})
    elif way == "prompt":
        await place.agent("Something else.").resume(RUN, prompt="Something else.")
    else:
        await place.journal.delete([RUN])
    assert (place.sealed, place.holders(), place.file.exists()) == ([], [], False)


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"hash": 1}', "other"])
async def test_XD16_what_is_not_what_was_sealed_is_not_run(place: Place, damage: str) -> None:
    await place.ask()
    [file] = place.sealed
    if damage == "other":
        fields = json.loads(file.read_text())
        file.write_text(json.dumps({**fields, "arguments": '{"text": "evil"}'}))
    else:
        file.write_text(damage)
    result = await place.agent("Then not.").resume(RUN, decisions={"w": Approve()})
    assert (contents(result), place.file.exists()) == ([LOST], False)
    place.journal.close()


async def test_XD16_arguments_of_another_record_are_dropped(place: Place) -> None:
    await place.ask()
    assert await place.journal.unseal(RUN, ToolCall(id="w", name="write", arguments="{}")) == {}
    assert place.sealed == []
    place.journal.close()


async def test_XD16_a_call_that_had_begun_is_asked_about_whole(place: Place) -> None:
    await place.ask()
    [(_, record)] = [one for one in await place.journal.read(RUN) if one[1].kind == "answered"]
    call = record.message.calls[0]  # type: ignore[union-attr]  # of that kind
    await place.journal.append(RUN, CallIntended(call=call, effect="writes"))
    await place.journal.release(RUN)
    asked = await place.agent().resume(RUN)
    [question] = asked.pending
    assert UNKNOWN in question.why
    result = await place.agent("Done.").resume(RUN, decisions={"w": Approve()})
    assert (contents(result), place.file.read_text()) == (["Written."], f"token = {SECRET}")
    assert place.holders() == []


async def test_XD16_calls_without_a_secret_leave_no_file(place: Place) -> None:
    call = Call("write", {"text": "plain"}, id="w")
    await place.agent([call], approver=AskLater()).run("Go.")
    assert not (place.data / FOLDER).exists()
    result = await place.agent("Done.").resume(RUN, decisions={"w": Approve()})
    assert any(isinstance(record, CallEnded) for _, record in await place.journal.read(RUN))
    assert (result.text, place.file.read_text()) == ("Done.", "plain")
    place.journal.close()


async def test_XD16_text_that_only_looks_like_a_gap_is_kept_whole(place: Place) -> None:
    call = Call("write", {"text": "see [redacted:key] there"}, id="w")
    await place.agent([call], approver=AskLater()).run("Go.")
    await place.agent("Done.").resume(RUN, decisions={"w": Approve()})
    assert place.file.read_text() == "see [redacted:key] there"
    place.journal.close()
