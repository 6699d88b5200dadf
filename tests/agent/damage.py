"""Conversations as they should be, and what can happen to them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from toolroll.kernel.data.messages import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    ImagePart,
    Message,
    Origin,
    ReasoningBlock,
    TextBlock,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)

ORIGIN = Origin(wire="anthropic", model="claude-sonnet-5-5")
WORDS = st.sampled_from(["hello", "Привіт", "so be it", "[interrupted]", "{}"])
ARGUMENTS = st.sampled_from(["{}", '{"a": 1}', '{"path": "a.txt"}'])


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A conversation that every provider takes: questions, turns with calls and their results, answers."""
    messages: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        messages.append(draw(users()))
        for _ in range(draw(st.integers(0, 3))):
            count = draw(st.integers(1, 4))
            calls = [make_call(f"toolu_{number + place}", draw(ARGUMENTS)) for place in range(count)]
            number += count
            messages += [make_turn(calls, draw(st.sampled_from(["", "let me see"]))), draw(results_of(calls))]
        messages.append(make_turn((), draw(WORDS)))
    return messages[: draw(st.integers(1, len(messages)))] if draw(st.booleans()) else messages


@st.composite
def users(draw: st.DrawFn) -> UserMessage:
    text = TextPart(text=draw(WORDS))
    picture = ImagePart(data=b"\x89PNG", media_type="image/png")
    return UserMessage(content=draw(st.sampled_from([(text,), (text, picture), (picture,)])))


def make_call(call_id: str, arguments: str = "{}") -> CallBlock:
    raw = {"type": "tool_use", "id": call_id, "name": "look", "input": {}}
    return CallBlock(call=ToolCall(id=call_id, name="look", arguments=arguments), raw=raw)


def make_turn(calls: Sequence[CallBlock] = (), text: str = "") -> AssistantMessage:
    blocks: list[AssistantBlock] = [TextBlock(text=text)] if text else []
    return AssistantMessage(blocks=(*blocks, *calls), origin=ORIGIN)


def make_results(*call_ids: str, text: str = "seen") -> ToolResults:
    found = [ToolMessage(call_id=one, name="look", content=f"{text} {place}") for place, one in enumerate(call_ids)]
    return ToolResults(results=tuple(found))


@st.composite
def results_of(draw: st.DrawFn, calls: Sequence[CallBlock]) -> ToolResults:
    results = make_results(*(block.call.id for block in calls), text=draw(WORDS)).results
    failed = draw(st.booleans())
    return ToolResults(results=tuple(replace(one, is_error=failed) for one in results))


Damage = Callable[[list[Message], random.Random], None]


def drop_a_message(messages: list[Message], chance: random.Random) -> None:
    del messages[chance.randrange(len(messages))]


def double_a_message(messages: list[Message], chance: random.Random) -> None:
    place = chance.randrange(len(messages))
    messages.insert(chance.randrange(len(messages) + 1), messages[place])


def swap_neighbours(messages: list[Message], chance: random.Random) -> None:
    place = chance.randrange(len(messages))
    messages[place - 1], messages[place] = messages[place], messages[place - 1]


def say_something_between(messages: list[Message], chance: random.Random) -> None:
    messages.insert(chance.randrange(len(messages) + 1), UserMessage.of(chance.choice(["wait!", "", "  "])))


def drop_the_beginning(messages: list[Message], chance: random.Random) -> None:
    del messages[: chance.randrange(len(messages))]


def cut_the_end(messages: list[Message], chance: random.Random) -> None:
    del messages[chance.randrange(len(messages)) + 1 :]


def change_results(messages: list[Message], chance: random.Random) -> None:
    """Results that are dropped, doubled, in another order, under other ids or names, or split over messages."""
    places = [place for place, one in enumerate(messages) if isinstance(one, ToolResults)]
    if not places:
        return
    place = chance.choice(places)
    old = messages[place]
    assert isinstance(old, ToolResults)
    results = list(old.results)
    match chance.randrange(6):
        case 0 if results:
            del results[chance.randrange(len(results))]
        case 1 if results:
            results.append(chance.choice(results))
        case 2:
            chance.shuffle(results)
        case 3 if results:
            results[0] = replace(results[0], call_id=chance.choice(["", "nobody", "toolu_0", "toolu_0_2"]))
        case 4 if results:
            results[0] = replace(results[0], name="another")
        case _:
            middle = len(results) // 2
            messages[place:place] = [ToolResults(results=tuple(results[:middle]))]
            messages[place + 1] = ToolResults(results=tuple(results[middle:]))
            return
    messages[place] = ToolResults(results=tuple(results))


def change_calls(messages: list[Message], chance: random.Random) -> None:
    """Calls without ids, under ids that stand twice, cut in the middle of their arguments, or of impossible tools."""
    places = [place for place, one in enumerate(messages) if isinstance(one, AssistantMessage) and one.calls]
    if not places:
        return
    place = chance.choice(places)
    turn = messages[place]
    assert isinstance(turn, AssistantMessage)
    blocks = list(turn.blocks)
    number = chance.choice([place for place, block in enumerate(blocks) if isinstance(block, CallBlock)])
    block = blocks[number]
    assert isinstance(block, CallBlock)
    match chance.randrange(5):
        case 0:
            call = replace(block.call, id=chance.choice(["", "toolu_0", "toolu_1", "toolu_0_2", "functions.look:0"]))
        case 1:
            call = replace(block.call, arguments='{"path": "a.t')
        case 2:
            call = replace(block.call, arguments=chance.choice(["", "[]", "null"]))
        case 3:
            call = replace(block.call, name=chance.choice(["", "lооk", "x" * 80, "multi_tool_use.parallel"]))
        case _:
            blocks.append(block)
            call = block.call
    raw = None if chance.random() < 0.5 or block.raw is None else {**block.raw, "id": call.id}
    blocks[number] = CallBlock(call=call, raw=raw)
    messages[place] = replace(turn, blocks=tuple(blocks))


def empty_a_turn(messages: list[Message], chance: random.Random) -> None:
    """Turns that were cut before they said anything, or while they thought."""
    left: list[tuple[AssistantBlock, ...]] = [
        (),
        (TextBlock(text=" \n"),),
        (ReasoningBlock(text="hm", raw={"type": "thinking", "thinking": "hm", "signature": "s"}),),
    ]
    turn = AssistantMessage(blocks=chance.choice(left), origin=ORIGIN)
    messages.insert(chance.randrange(len(messages) + 1), turn)


DAMAGES: tuple[Damage, ...] = (
    drop_a_message,
    double_a_message,
    swap_neighbours,
    say_something_between,
    drop_the_beginning,
    cut_the_end,
    change_results,
    change_calls,
    empty_a_turn,
)


@st.composite
def damaged(draw: st.DrawFn) -> list[Message]:
    """A conversation after one to six accidents."""
    messages = draw(conversations())
    chance = draw(st.randoms(use_true_random=False))
    for damage in draw(st.lists(st.sampled_from(DAMAGES), min_size=1, max_size=6)):
        if messages:
            damage(messages, chance)
    return messages
