"""Agents that are asked with a typed input, and agents that take over a conversation."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from toolroll import Agent, MemoryJournal, ScriptedModel, Tool, tool
from toolroll.agent.events import Event, HandedOver, TextArrived
from toolroll.agent.subagent import HANDED_OVER, words_only
from toolroll.errors import UsageError
from toolroll.kernel.data.messages import TextPart, ToolResults, UserMessage
from toolroll.models import Call

SENT: list[str] = []


@tool(brings="private")
def read_mail() -> str:
    """Read the mail."""
    return "The door code is 4711."


@tool(effect="external")
def publish(text: str) -> str:
    """Publish a text."""
    SENT.append(text)
    return "Published."


class Trip(BaseModel):
    city: str
    days: int = 2


def texts(model: ScriptedModel) -> list[str]:
    return [
        part.text
        for message in model.requests[0]
        if isinstance(message, UserMessage)
        for part in message.content
        if isinstance(part, TextPart)
    ]


@pytest.mark.parametrize(
    ("prompt", "asked"), [(None, '{"city":"Lviv","days":2}'), (lambda trip: f"Go to {trip.city}.", "Go to Lviv.")]
)
async def test_A49_an_agent_is_asked_with_a_typed_input(prompt: Callable[[Trip], str] | None, asked: str) -> None:
    guide = ScriptedModel(["See the opera."])
    planner = Agent(model=guide).as_tool(name="plan", description="Plan a trip.", input=Trip, prompt=prompt)
    model = ScriptedModel([Call("plan", {"town": "Lviv"}), Call("plan", {"city": "Lviv"}), "The opera."])
    result = await Agent(model=model, tools=[planner]).run("Where to?")
    assert result.steps[0].calls[0].error_type == "invalid_arguments"
    assert [asked] == texts(guide)


def test_A49_a_prompt_without_an_input_is_refused() -> None:
    with pytest.raises(UsageError, match="input="):
        Agent(model=ScriptedModel([])).as_tool(name="x", description="x", prompt=lambda given: "x")


def desk(second: ScriptedModel, *, tools: list[Tool] | None = None, **options: Any) -> Tool:
    agent = Agent(model=second, tools=tools or [])
    return agent.as_handoff(name="to_refunds", description="Hand over to refunds.", **options)


async def test_A49_another_agent_takes_over_and_its_answer_ends_the_run() -> None:
    second = ScriptedModel(["You get it back."])
    first = ScriptedModel([Call("read_mail"), Call("to_refunds", {"reason": "A refund."})])
    agent = Agent(model=first, tools=[read_mail, desk(second)])
    run = agent.stream("I want my money.")
    events: list[Event] = [event async for event in run]
    assert run.result is not None
    assert run.result.text == "You get it back."
    assert run.result.stop_reason == "done"
    assert ["I want my money.", f"{HANDED_OVER} A refund."] == texts(second)
    assert any(isinstance(message, ToolResults) for message in second.requests[0])
    assert len(run.result.sub_runs) == 1
    places = [place for place, event in enumerate(events) if isinstance(event, HandedOver | TextArrived)]
    assert isinstance(events[places[0]], HandedOver)
    assert "".join(one.text for one in events if isinstance(one, TextArrived)) == "You get it back."


async def test_A49_the_agent_that_takes_over_sees_what_it_may() -> None:
    second = ScriptedModel(["Fine."])
    first = ScriptedModel([["I look.", Call("read_mail")], Call("to_refunds")])
    await Agent(model=first, tools=[read_mail, desk(second, sees=words_only)]).run("Hello.")
    assert [message.role for message in second.requests[0]] == ["user", "assistant", "user"]


async def test_A46_a_run_that_is_handed_over_sends_nothing_private_out() -> None:
    SENT.clear()
    second = ScriptedModel([Call("publish", {"text": "4711"}), "It was not allowed."])
    first = ScriptedModel([Call("read_mail"), Call("to_refunds")])
    handoff = desk(second, tools=[publish], sees=lambda messages: messages[:1])
    result = await Agent(model=first, tools=[read_mail, handoff]).run("Publish my mail.")
    assert SENT == []
    assert result.text == "It was not allowed."
    later = ScriptedModel([Call("publish", {"text": "4711"}), "No."])
    await Agent(model=later, tools=[publish]).run("Publish it.", messages=result.messages)
    assert SENT == []


async def test_A49_a_run_that_was_cut_off_after_a_handoff_goes_on_with_the_second_agent() -> None:
    journal = MemoryJournal()

    def cut_off(_request: object) -> str:
        task.cancel()
        raise asyncio.CancelledError

    tools = [desk(ScriptedModel(cut_off))]
    first = Agent(model=ScriptedModel([Call("to_refunds")]), tools=tools, journal=journal, make_id=lambda: "r1")
    task = asyncio.ensure_future(first.run("Money."))
    with pytest.raises(asyncio.CancelledError):
        await task
    second = ScriptedModel(["Here it is."])
    result = await Agent(model=ScriptedModel([]), tools=[desk(second)], journal=journal).resume("r1")
    assert result.text == "Here it is."
    assert len(second.requests) == 1
