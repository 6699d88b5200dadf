"""Pins: what stays in the context whatever gives way, and that a run which is resumed or played again knows of them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.context.counted import Counted, results_in, text_of
from tests.agent.legality import problems
from tests.agent.tape import Tape
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer, Received

from toolroll import Agent, step_count_is, tool
from toolroll.agent.context.compact import Pins
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.context.summary import INSTRUCTION, OPENING
from toolroll.agent.events import ContextCompacted, Event, Warned
from toolroll.agent.history.replay import replay
from toolroll.agent.loop.budget import tokens_of
from toolroll.errors import UsageError
from toolroll.journal.codec import decode, encode
from toolroll.journal.records import MessageAdded, MessagesCompacted
from toolroll.kernel.data.messages import Message, UserMessage
from toolroll.models.model import ModelRequest, Wire
from toolroll.models.scripted import Call

WINDOW = 4_000
STEPS = 12
REMINDER = "Reminder: never touch the folder `vendor`. " + "Really. " * 100
PINNED = UserMessage.of(REMINDER, pinned=True)
RULES = "The rules: tabs, not blanks."


@tool
async def read(path: str) -> str:
    """Read a file."""
    return f"{path}: " + "word " * 700


@tool
async def read_rules() -> str:
    """Read the rules of the project."""
    return RULES + " Always." * 60


def script(number: int, _request: ModelRequest) -> str | Call:
    return Call("read", {"path": f"src/file_{number}.py"}) if number <= STEPS else "All read."


def with_rules_first(number: int, request: ModelRequest) -> str | Call:
    return Call("read_rules") if number == 1 else script(number, request)


def agent_with(counted: Counted, **options: Any) -> Agent[Any]:
    context = ContextRules(window_tokens=WINDOW, pinned_tools=["read_rules"])
    usual = {"tools": [read, read_rules], "stop_when": step_count_is(STEPS + 5), "context": context}
    return Agent(model=counted.model, **{**usual, **options})


def own(counted: Counted) -> list[tuple[Message, ...]]:
    """The requests that were no compactions."""
    return [tuple(one) for one in counted.model.requests if not text_of(one[-1]).startswith("The context window is")]


def compactions(counted: Counted) -> int:
    return len(counted.asked_for_summary)


async def test_A21_a_pinned_message_survives_every_compaction() -> None:
    """Longer words of the user than an eighth of the window go, and it is the oldest: only the pin keeps it."""
    counted = Counted(script)
    plain = UserMessage.of("Not pinned, and as long. " + "Well. " * 400)
    await agent_with(counted).run("Read everything.", messages=[PINNED, plain])
    assert compactions(counted) >= 3
    last = own(counted)[-1]
    assert all(text_of(request[0]) == REMINDER for request in own(counted))
    assert [text_of(message) for message in last[:2]] == [REMINDER, "Read everything."]
    assert not any(text_of(message).startswith("Not pinned") for message in last)


async def test_A21_a_prompt_can_be_pinned() -> None:
    long = "Read everything. " + "Thoroughly. " * 300
    counted = Counted(script)
    result = await agent_with(counted).run(UserMessage.of(long, pinned=True))
    assert text_of(own(counted)[-1][0]) == long
    assert result.messages[0] == UserMessage.of(long, pinned=True)
    without = Counted(script)
    await agent_with(without).run(long)
    assert text_of(own(without)[-1][0]).startswith(OPENING)


async def test_A21_the_first_prompt_stays_before_newer_words() -> None:
    """Without a pin: the newest alone would fill what there is for the user's words."""
    counted = Counted(script)
    talk = [UserMessage.of(f"Message {number}. " + "So. " * 300) for number in range(6)]
    await agent_with(counted).run("Go on.", messages=[UserMessage.of("What it is about."), *talk])
    said = [text_of(message) for message in own(counted)[-1] if text_of(message)]
    assert said[0] == "What it is about."
    assert said[1].startswith("Message 5.")
    assert said[2] == "Go on."


async def test_A21_results_of_pinned_tools_stay_with_their_calls() -> None:
    counted = Counted(with_rules_first)
    await agent_with(counted).run("Read everything.")
    assert compactions(counted) >= 3
    for request in own(counted)[1:]:
        assert str(results_in(request)[0].content).startswith(RULES)
        assert not problems(request, is_request=True)


async def test_A21_K52_results_of_pinned_tools_are_not_trimmed(tmp_path: Path) -> None:
    rules = ContextRules(window_tokens=WINDOW, outputs_tokens=1_500, pinned_tools={"read_rules"})
    counted = Counted(with_rules_first)
    await agent_with(counted, context=rules, outputs=tmp_path).run("Read everything.")
    last = results_in(own(counted)[-1])
    assert str(last[0].content).startswith(RULES)
    assert any("tool output trimmed" in str(one.content) for request in own(counted) for one in results_in(request))


async def test_A21_siblings_of_a_pinned_result_give_way_as_before(tmp_path: Path) -> None:
    """Both calls are of one turn: the pair stays legal, and the large one is a reference by then."""

    async def turns(wire: Wire) -> tuple[list[Received], list[Event]]:
        counter = [0]

        def turn(received: Received) -> Turn:
            tokens = {"input": len(received.raw) // 4, "output": 20}
            if INSTRUCTION[:40].encode() in received.raw:
                return Turn("## Summary\nPages were read.", usage=tokens)
            counter[0] += 1
            if counter[0] == 1:
                return Turn([Use("read_rules", {}), Use("read", {"path": "a.py"})], usage=tokens)
            if counter[0] > STEPS:
                return Turn("Done.", usage=tokens)
            return Turn([Use("read", {"path": f"{counter[0]}.py"})], usage=tokens)

        async with ModelServer(turn) as server:
            rules = ContextRules(window_tokens=6_000, outputs_tokens=2_000, compact_at=0.6, pinned_tools=["read_rules"])
            agent = Agent(
                model=server.model(wire),
                tools=[read, read_rules],
                context=rules,
                outputs=tmp_path / wire,
                stop_when=step_count_is(20),
            )
            events: list[Event] = [event async for event in agent.stream("Read. " + "Much. " * 700)]
            return list(server.requests), events

    for wire in ("anthropic", "openai", "chat"):
        requests, events = await turns(wire)
        assert any(isinstance(event, ContextCompacted) for event in events)
        last = requests[-1].raw
        assert RULES.encode() in last
        assert b"a.py: word word" not in last
        # The prompt does not fit, and a request must not begin with the model: the summary comes first.
        assert last.index(OPENING[:30].encode()) < last.index(RULES.encode())


async def test_A21_more_pins_than_fit_are_left_to_the_summary_and_it_says_so() -> None:
    counted = Counted(script)
    pins = [UserMessage.of(f"Pin {number}. " + "Stay. " * 500, pinned=True) for number in range(3)]
    run = agent_with(counted).stream("Read everything.", messages=pins)
    warned = [event.text async for event in run if isinstance(event, Warned)]
    assert "the oldest, are left to the summary" in warned[0]
    said = [text_of(message)[:6] for message in own(counted)[-1] if text_of(message).startswith("Pin ")]
    assert said == ["Pin 1.", "Pin 2."]


async def test_A21_D2_pins_survive_a_crash_anywhere() -> None:
    tape, counted = Tape(), Counted(with_rules_first)
    agent = agent_with(counted, journal=tape, make_id=lambda: "run")
    whole = await agent.run("Read everything.", messages=[PINNED])
    compacted = [
        number for number, (_, records) in enumerate(tape.writes) if isinstance(records[-1], MessagesCompacted)
    ]
    for count in (compacted[0], compacted[0] + 1, compacted[-1] + 2):
        cut = await tape.cut(count)
        rest = Counted(with_rules_first)
        rest.number = cut.paid("run")
        result = await agent_with(rest, journal=cut).resume("run")
        assert result.text == whole.text
        assert own(rest)[-1] == own(counted)[-1]
        assert text_of(own(rest)[-1][0]) == REMINDER


async def test_A21_D2_a_prompt_of_a_resumed_run_can_be_pinned() -> None:
    tape = Tape()
    await agent_with(Counted(lambda *_: "Ready."), journal=tape, make_id=lambda: "run").run("Wait for me.")
    counted = Counted(script)
    await agent_with(counted, journal=tape).resume("run", prompt=PINNED)
    assert compactions(counted) >= 3
    assert REMINDER in [text_of(message) for message in own(counted)[-1]]


async def test_A21_D3_a_run_with_pins_is_the_same_when_it_is_played_again() -> None:
    tape = Tape()
    agent = agent_with(Counted(with_rules_first), journal=tape, make_id=lambda: "run")
    whole = await agent.run("Read everything.", messages=[PINNED])
    report = await replay(agent, "run")
    assert report.differences == ()
    assert report.result is not None
    assert report.result.messages == whole.messages


async def test_A21_pins_go_along_into_another_run() -> None:
    first = await agent_with(Counted(script)).run("Read everything.", messages=[PINNED])
    counted = Counted(script)
    await agent_with(counted).run("Once more.", messages=first.messages)
    assert compactions(counted) >= 3
    assert text_of(own(counted)[-1][0]) == REMINDER


def test_A21_a_pin_is_on_record_and_old_records_have_none() -> None:
    def missing(name: str) -> bytes:
        raise AssertionError(name)

    said = MessageAdded(message=UserMessage.of("Stay.", pinned=True))
    body = encode(said).body
    assert decode(body, missing) == said
    old = body.replace(b'"pinned":true,', b"")
    assert old != body
    assert decode(old, missing) == MessageAdded(message=UserMessage.of("Stay."))


def test_A21_a_pin_for_a_tool_that_is_not_there_is_refused() -> None:
    counted = Counted(script)
    with pytest.raises(
        UsageError, match="pinned_tools names 'read_rulse', and the agent's tools are: read, read_rules"
    ):
        agent_with(counted, context=ContextRules(pinned_tools=["read_rulse"]))
    with pytest.raises(UsageError, match="pinned_tools names 'read', and the agent's tools are: none"):
        Agent(model=counted.model, context=ContextRules(pinned_tools=["read"]))
    with pytest.raises(UsageError, match="Give the names in a list"):
        ContextRules(pinned_tools="read")


@given(
    st.lists(st.tuples(st.integers(0, 60), st.booleans(), st.booleans()), max_size=12),
    st.integers(1, 400),
)
def test_A21_what_stays_fits_and_is_in_order(given_: list[tuple[int, bool, bool]], window: int) -> None:
    messages = [UserMessage.of("x" * 4 * size, pinned=pinned) for size, pinned, _ in given_]
    own_words = {id(message) for message, (_, _, is_own) in zip(messages, given_, strict=True) if is_own}
    pins = Pins(pinned_tools=(), own_words=own_words, window_tokens=window, size_of=tokens_of)
    stays = pins.among(messages)
    pinned = [place for place in stays.places if messages[place].pinned]
    words = [place for place in stays.places if not messages[place].pinned]
    assert list(stays.places) == sorted(set(stays.places))
    assert sum(tokens_of(messages[place]) for place in pinned) <= window / 2
    assert sum(tokens_of(messages[place]) for place in words) <= window / 8
    assert len(pinned) + stays.left_out == sum(message.pinned for message in messages)
    assert not own_words & {id(messages[place]) for place in words}
