"""What a run writes down, and when: intents before changes, results as they come, what a person was asked (D1)."""

import asyncio
from typing import Any

import pytest
from tests.agent.stage import Call, Notes, add, agent_of
from tests.support.model_server import ModelServer

from toolroll import Agent, Reject, ToolContext, tokens_over, tool
from toolroll.agent.loop.budget import PART_TOKENS, tokens_of
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    MessageAdded,
    Record,
    RunBegan,
    RunEnded,
    StateSet,
)
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    ImagePart,
    Message,
    ReasoningBlock,
    TextBlock,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)


async def recorded(*script: Any, **options: Any) -> list[Record]:
    journal = MemoryJournal()
    result = await agent_of(*script, journal=journal, **options).run("go")
    return [record for _, record in await journal.read(result.run_id)]


async def test_the_record_of_a_run_in_order() -> None:
    notes = Notes()
    calls = [Call("add", {"a": 1, "b": 2}), Call("write", {"text": "x"})]
    records = await recorded(calls, "done", tools=[add, notes.write], approver=notes, system="Be brief.")
    kinds = [record.kind for record in records]
    assert kinds[:3] == ["run_began", "said", "answered"]
    assert kinds[-2:] == ["answered", "finished"]
    asked, decided, intended = (kinds.index(kind) for kind in ("asked", "decided", "intended"))
    ends = [place for place, record in enumerate(records) if isinstance(record, CallEnded)]
    assert asked < decided < intended < ends[-1]
    assert kinds.count("intended") == 1
    assert len(ends) == 2
    began, last = records[0], records[-1]
    assert isinstance(began, RunBegan)
    assert (began.model, began.system, list(began.tools)) == ("scripted", "Be brief.", ["add", "write"])
    assert isinstance(last, RunEnded)
    assert (last.stop_reason, last.text) == ("answer", "done")


async def test_a_change_is_on_record_before_it_is_made() -> None:
    journal = MemoryJournal()
    seen: list[list[str]] = []

    @tool(effect="writes")
    async def write(ctx: ToolContext) -> str:
        """Look at the record while it runs."""
        seen.append([record.kind for _, record in await journal.read(ctx.run_id)])
        return "written"

    await agent_of(Call("write"), "done", tools=[write], approver=Notes(), journal=journal).run("go")
    assert seen[0][-1] == "intended"


async def test_a_rejection_is_on_record_and_nothing_was_intended() -> None:
    class No:
        def decide(self, requests: Any, /) -> Any:
            return [Reject("not now") for _ in requests]

    notes = Notes()
    records = await recorded(Call("write", {"text": "x"}), "ok", tools=[notes.write], approver=No())
    [decided] = [record for record in records if isinstance(record, ApprovalAnswer)]
    [asked] = [record for record in records if isinstance(record, ApprovalQuestion)]
    assert (decided.decision, decided.reason, decided.digest) == ("reject", "not now", asked.digest)
    assert not any(isinstance(record, CallIntended) for record in records)


async def test_what_is_kept_with_the_run_is_recorded_with_the_call_that_kept_it() -> None:
    @tool
    async def keep(ctx: ToolContext) -> str:
        """Keep something."""
        ctx.run.set_state("todos", ["a"])
        return "kept"

    records = await recorded(Call("keep"), "done", tools=[keep])
    [place] = [place for place, record in enumerate(records) if isinstance(record, StateSet)]
    assert records[place] == StateSet(name="todos", value=["a"])
    assert isinstance(records[place + 1], CallEnded)


async def test_words_of_the_agents_own_are_on_record_too() -> None:
    records = await recorded("", "here")
    said = [record for record in records if isinstance(record, MessageAdded)]
    assert len(said) == 2


async def test_a_warning_of_the_guard_is_recorded_beside_the_result() -> None:
    records = await recorded(*[Call("add", {"a": 1, "b": 2})] * 3, "done")
    *_, last = [record for record in records if isinstance(record, CallEnded)]
    assert last.note == "This call has now been made 3 times with the same result."


async def test_without_a_journal_nothing_is_kept_anywhere() -> None:
    agent = agent_of("hi")
    await agent.run("go")
    assert agent.setup.journal is None


PICTURE = ImagePart(data=b"x" * 9000, media_type="image/png")
CALL = CallBlock(call=ToolCall(id="a", name="look", arguments="x" * 40))
RESULT = ToolMessage(call_id="a", name="look", content="x" * 400)


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (UserMessage(content=(TextPart(text="x" * 400), PICTURE)), 100 + PART_TOKENS),
        (AssistantMessage(blocks=(TextBlock(text="x" * 40), CALL, ReasoningBlock(text="x" * 4))), 21),
        (ToolResults(results=(RESULT, ToolMessage(call_id="b", name="x", content=(PICTURE,)))), 100 + PART_TOKENS),
    ],
)
def test_the_size_of_messages_is_estimated(message: Message, tokens: int) -> None:
    assert tokens_of(message) == tokens


async def test_an_earlier_conversation_counts_before_it_is_sent() -> None:
    earlier: list[Message] = [UserMessage.of("x" * 400), AssistantMessage(blocks=(TextBlock(text="y" * 400),))]
    limited = agent_of("never", stop_when=tokens_over(150))
    assert (await limited.run("go", messages=earlier)).stop_reason == "condition"
    assert (await agent_of("ok", stop_when=tokens_over(1000)).run("go", messages=earlier)).text == "ok"


async def test_many_runs_of_one_agent_at_once_keep_apart() -> None:
    """Concurrent runs share the model and nothing else."""
    async with ModelServer(lambda received: _echo(received.body)) as server:
        agent = Agent(model=server.model("chat"), tools=[add])
        results = await asyncio.gather(*(agent.run(f"say {number}") for number in range(20)))
    assert [result.text for result in results] == [f"say {number}" for number in range(20)]
    assert len({result.run_id for result in results}) == 20


def _echo(body: Any) -> Any:
    from tests.support.model_script import Turn

    content = body["messages"][-1]["content"]
    return Turn(content if isinstance(content, str) else content[0]["text"])
