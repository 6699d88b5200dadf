"""Proposals that a program doubts, that were rejected before, or whose files were quoted instead of read (A55, A56)."""

import json
from pathlib import Path
from typing import Any

from tests.packs.code.conftest import coding

from toolroll import Approve, Policy, Reject, Rule, RunResult, ScriptedModel
from toolroll.agent.approvals import RejectedOnce
from toolroll.apps.permissions import YesApprover
from toolroll.kernel.approval.request import Preview
from toolroll.models.scripted import Call
from toolroll.packs.code.agent import code_agent

REPORT = """\
PAGE_SIZE = 20


def average(values):
    return sum(values) / len(values)


def pages(count):
    whole = count // PAGE_SIZE
    rest = count % PAGE_SIZE
    return whole + bool(rest)


def last(count):
    return count % PAGE_SIZE


def first():
    return 1
"""
OUTLINE = {"path": "report.py", "content": "# Reports\n\ndef average(values):\n    ...\n", "description": "shorter"}
READ = Call("read_file", {"path": "report.py"})


class Person:
    """Answers every question in the same way, and keeps them."""

    def __init__(self, answer: Approve | Reject) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    async def decide(self, requests: Any) -> Any:
        self.asked += requests
        return [self.answer for _ in requests]


async def work(folder: Path, approver: Any, *script: Any, **options: Any) -> RunResult[Any]:
    (folder / "report.py").write_text(REPORT)
    async with code_agent(folder, model=ScriptedModel([*script, "Done."]), approver=approver, **options) as agent:
        return await agent.run("Make it shorter.")


def told(result: RunResult[Any], step: int) -> str:
    results = [one for message in result.messages for one in getattr(message, "results", ())]
    return str(results[step].content)


async def test_A55_yes_alone_does_not_take_a_file_that_loses_most_of_its_lines(folder: Path) -> None:
    result = await work(folder, YesApprover(), READ, Call("edit_file", OUTLINE))
    assert (folder / "report.py").read_text() == REPORT
    assert "are left." in told(result, 1)
    assert "--yes does not take such a change unseen" in told(result, 1)


async def test_A55_a_person_sees_the_doubts_and_decides_also_with_yes(folder: Path) -> None:
    person = Person(Approve())
    result = await work(folder, YesApprover(lambda: person), READ, Call("edit_file", OUTLINE))
    [asked] = person.asked
    assert "are left." in asked.preview.remarks[0]
    assert asked.preview.doubts
    assert (folder / "report.py").read_text() == OUTLINE["content"]
    assert "are left." in told(result, 1)


ALWAYS = Policy((Rule(action="allow", tool="edit"), Rule(action="allow", tool="edit_file")))


async def test_A55_an_always_rule_takes_no_doubted_change_unseen(folder: Path) -> None:
    person = Person(Reject("no"))
    good = {"path": "report.py", "old_string": "PAGE_SIZE = 20", "new_string": "PAGE_SIZE = 50"}
    result = await work(folder, person, READ, Call("edit", good), Call("edit_file", OUTLINE), policy=ALWAYS)
    assert [request.tool for request in person.asked] == ["edit_file"]
    assert "are left." in person.asked[0].preview.doubts[0]
    assert "User rejected" in told(result, 2)
    assert (folder / "report.py").read_text() == REPORT.replace("20", "50")


async def test_A55_where_nobody_can_be_asked_a_rule_makes_no_doubted_change(folder: Path) -> None:
    result = await work(folder, None, READ, Call("edit_file", OUTLINE), policy=ALWAYS)
    assert "needs a person's approval" in told(result, 1)
    assert (folder / "report.py").read_text() == REPORT


async def test_A55_a_rule_makes_no_change_that_became_doubtful_within_the_turn(folder: Path) -> None:
    """Each of the two leaves enough of the file as it is; the second finds one that the first has shortened."""
    lines = [f"line {number:02}\n" for number in range(30)]
    (folder / "notes.txt").write_text("".join(lines))
    cuts = [{"path": "notes.txt", "old_string": "".join(cut), "new_string": ""} for cut in (lines[:15], lines[15:25])]
    person = Person(Approve())
    read = Call("read_file", {"path": "notes.txt"})
    turn = [Call("edit", cut, id=f"cut_{number}") for number, cut in enumerate(cuts)]
    result = await work(folder, person, read, turn, Call("edit", cuts[1], id="again"), policy=ALWAYS)
    assert "Propose it again, by itself" in told(result, 2)
    assert [request.call_id for request in person.asked] == ["again"]
    assert (folder / "notes.txt").read_text() == "".join(lines[25:])


async def test_A55_what_no_longer_parses_is_doubted_and_other_changes_are_not(folder: Path) -> None:
    broken = {"path": "report.py", "old_string": "def first():", "new_string": "def first(:"}
    good = {"path": "report.py", "old_string": "PAGE_SIZE = 20", "new_string": "PAGE_SIZE = 50"}
    result = await work(folder, YesApprover(), Call("edit", broken), Call("edit", good))
    assert "parses without an error, and the new one does not" in told(result, 0)
    assert (folder / "report.py").read_text() == REPORT.replace("20", "50")


async def test_A55_a_rejected_proposal_is_not_asked_again_and_another_one_is(folder: Path) -> None:
    person = Person(Reject("keep 20"))
    one = {"path": "report.py", "old_string": "PAGE_SIZE = 20", "new_string": "PAGE_SIZE = 50"}
    other = one | {"new_string": "PAGE_SIZE = 60"}
    result = await work(folder, person, Call("edit", one), Call("edit", one), Call("edit", other))
    assert [request.arguments["new_string"] for request in person.asked] == ["PAGE_SIZE = 50", "PAGE_SIZE = 60"]
    message = json.loads(told(result, 1))["message"]
    assert message.startswith("User rejected changes: keep 20 (This is the same proposal as before.")


async def test_A55_an_exact_and_unique_passage_counts_as_read_and_nothing_else_does(folder: Path) -> None:
    (folder / "report.py").write_text(REPORT)
    async with coding(folder) as coder:
        for old in ("PAGE_SIZE = 21", "PAGE_SIZE", "return", "count % PAGE_SIZE"):
            code, message = await coder.refused("edit", path="report.py", old_string=old, new_string="x")
            assert code == "stale_edit"
            assert "PAGE_SIZE = 20" not in message
        for given in ({"replace_all": True}, {"expected_hash": "0"}):
            code, _ = await coder.refused("edit", path="report.py", old_string="PAGE_SIZE", new_string="P", **given)
            assert code == "stale_edit"
        code, _ = await coder.refused("edit_file", path="report.py", content="x = 1\n", description="d")
        assert code == "stale_edit"
        await coder.ok("edit", path="report.py", old_string="PAGE_SIZE = 20", new_string="PAGE_SIZE = 30")
        code, message = await coder.refused("edit_file", path="report.py", content="x = 1\n", description="d")
        assert "You have seen 0 of the" in message


async def test_A56_a_call_without_a_description_is_not_lost_and_the_schema_asks_for_one(folder: Path) -> None:
    async with coding(folder) as coder:
        text = await coder.ok("create_file", path="new.md", content="# New\n")
        await coder.ok("read_file", path="new.md")
        await coder.ok("edit_file", path="new.md", content="# Newer\n")
    assert text == "Written: new.md (new, +1 -0)."
    from toolroll.packs.code.tools import CHANGING

    by_name = {tool.name: tool for tool in CHANGING}
    for name in ("create_file", "edit_file"):
        assert by_name[name].parameters["required"] == ["path", "content", "description"]


async def test_A56_a_passage_that_is_not_there_is_answered_with_the_line_most_like_it(folder: Path) -> None:
    (folder / "report.py").write_text(REPORT)
    async with coding(folder) as coder:
        await coder.ok("read_file", path="report.py")
        given = {"path": "report.py", "old_string": "def pages(self, count):", "new_string": "x"}
        code, message = await coder.refused("edit", **given)
        assert code == "edit_refused"
        assert "Line 8 is most like it: def pages(count):." in message
        _, message = await coder.refused("edit", **given | {"old_string": "zzzzzzzz"})
        assert "most like it" not in message


async def test_A56_a_missing_path_names_what_there_is(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src/timer.js").write_text("")
    async with coding(folder) as coder:
        _, message = await coder.refused("list_files", path="src/lib/deep")
        assert message.endswith("'src' holds timer.js.")
        _, message = await coder.refused("read_file", path="lib/clock.js")
        assert "The project holds" in message
        assert "src/" in message


async def test_A55_answers_stay_with_their_questions_where_some_are_known() -> None:
    class Request:
        def __init__(self, text: str) -> None:
            self.tool, self.arguments, self.preview = "note", {"text": text}, Preview.of_text(text)

    class Picky:
        async def decide(self, requests: Any) -> Any:
            return [Approve() if one.preview.text == "good" else Reject(one.preview.text) for one in requests]

    asked = RejectedOnce(Picky())
    for texts in (["bad", "bad", "good"], ["bad", "good", "worse", "bad"]):
        given: Any = [Request(text) for text in texts]
        decisions = await asked.decide(given)
        assert [isinstance(one, Approve) for one in decisions] == [text == "good" for text in texts]
        pairs = zip(decisions, texts, strict=True)
        assert all(isinstance(one, Approve) or str(one.reason).startswith(text) for one, text in pairs)
