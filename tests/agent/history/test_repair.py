"""The normalizer: whatever happened to a conversation, every provider takes what comes out of it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.damage import ORIGIN, conversations, damaged, make_call, make_results, make_turn
from tests.agent.legality import problems

from toolroll.agent.history.repair import BEGINNING, INTERRUPTED, Conversation, repair
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)

HELLO = UserMessage.of("hello")
EXAMPLES = settings(max_examples=100)


def results_in(messages: tuple[Message, ...]) -> list[ToolMessage]:
    return [result for message in messages if isinstance(message, ToolResults) for result in message.results]


@EXAMPLES
@given(conversations())
def test_a_legal_conversation_passes_through_as_the_same_objects(messages: list[Message]) -> None:
    if isinstance(messages[-1], AssistantMessage) and messages[-1].calls:
        del messages[-1]
    repaired = repair(messages)
    assert len(messages) == len(repaired.messages)
    assert all(one is other for one, other in zip(messages, repaired.messages, strict=True))
    assert repaired.notes == ()
    assert problems(repaired.messages) == []


@EXAMPLES
@given(damaged())
def test_A6_XL8_whatever_happened_comes_out_legal(messages: list[Message]) -> None:
    assert problems(repair(messages).messages) == []


@EXAMPLES
@given(damaged())
def test_repairing_twice_is_repairing_once(messages: list[Message]) -> None:
    once = repair(messages)
    twice = repair(once.messages)
    assert all(one is other for one, other in zip(once.messages, twice.messages, strict=True))
    assert twice.notes == ()


@EXAMPLES
@given(damaged(), st.data())
def test_piece_by_piece_gives_what_all_at_once_does(messages: list[Message], data: st.DataObject) -> None:
    """Looking at a history while it grows (a snapshot for a person) changes nothing of what comes out."""
    history = Conversation()
    for message in messages:
        history.append(message)
        if data.draw(st.booleans()):
            assert problems(history.snapshot()) == []
    assert tuple(history.legal()) == repair(messages).messages
    assert history.snapshot() == repair(messages).messages


@EXAMPLES
@given(damaged())
def test_no_result_is_lost_that_has_a_call_before_it_and_none_is_made_up_for_another(messages: list[Message]) -> None:
    repaired = repair(messages)
    given_texts = [result.content for result in results_in(tuple(messages))]
    for result in results_in(repaired.messages):
        assert result.content == INTERRUPTED or result.content in given_texts


@given(st.permutations(["a", "b", "c"]), st.integers(0, 3))
def test_XL8_results_out_of_order_and_in_pieces_end_in_the_order_of_the_calls(order: list[str], cut: int) -> None:
    results = {result.call_id: result for result in make_results("a", "b", "c").results}
    given_results = [results[name] for name in order]
    history = Conversation([HELLO, make_turn([make_call("a"), make_call("b"), make_call("c")])])
    history.append(ToolResults(results=tuple(given_results[:cut])))
    history.append(UserMessage.of("meanwhile"))
    for result in given_results[cut:]:
        history.answer(result)
    *_, answered, said = history.legal()
    assert answered == make_results("a", "b", "c")
    assert said == UserMessage.of("meanwhile")


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    repaired = repair([HELLO, make_turn([make_call("a"), make_call("b")]), make_results("a")])
    [first, second] = results_in(repaired.messages)
    assert (first.content, first.is_error) == ("seen 0", False)
    assert (second.call_id, second.content, second.is_error) == ("b", INTERRUPTED, True)
    assert repaired.notes == ("call look (b) had no result",)


def test_XL8_ids_that_are_empty_or_stand_twice_are_made_unique_and_results_follow_in_order() -> None:
    calls = [make_call("a"), make_call("a"), make_call(""), make_call("")]
    history = Conversation([HELLO, make_turn(calls)])
    assert history.open_ids == ("a", "a_2", "call_2", "call_3")
    history.append(make_results("a", "a", "", ""))
    repaired = tuple(history.legal())
    assert [result.content for result in results_in(repaired)] == ["seen 0", "seen 1", "seen 2", "seen 3"]
    assert problems(repaired) == []


def test_a_new_id_is_none_that_a_sibling_has() -> None:
    """Else the sibling's result would be taken for the renamed call's."""
    history = Conversation([HELLO, make_turn([make_call("a")]), make_results("a"), HELLO])
    history.append(make_turn([make_call("a"), make_call("a_2")]))
    assert history.open_ids == ("a_3", "a_2")
    history.append(ToolResults(results=tuple(reversed(make_results("a", "a_2").results))))
    assert [result.content for result in results_in(tuple(history.legal()))[1:]] == ["seen 0", "seen 1"]


def test_a_renamed_call_keeps_its_providers_block_under_the_new_id() -> None:
    item = CallBlock(
        call=ToolCall(id="call_1", name="look", arguments="{}"),
        raw={"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{}"},
    )
    turn = AssistantMessage(blocks=(item, item), origin=ORIGIN)
    message = repair([HELLO, turn]).messages[1]
    assert isinstance(message, AssistantMessage)
    [first, second] = message.blocks
    assert first is item
    assert isinstance(second, CallBlock)
    assert second.raw == {**(item.raw or {}), "call_id": "call_1_2"}
    bare = replace(item, raw=None)
    message = repair([HELLO, AssistantMessage(blocks=(bare, bare))]).messages[1]
    assert isinstance(message, AssistantMessage)
    assert message.calls[1].id == "call_1_2"
    assert message.blocks[1] == CallBlock(call=message.calls[1])


def test_a_result_carries_the_name_of_its_call() -> None:
    result = ToolMessage(call_id="a", name="another", content="seen")
    repaired = repair([HELLO, make_turn([make_call("a")]), ToolResults(results=(result,))])
    assert results_in(repaired.messages) == [replace(result, name="look")]


def test_results_without_calls_are_left_out_and_noted() -> None:
    repaired = repair([HELLO, make_results("x"), make_turn((), "hi"), make_results("y", "z")])
    assert repaired.messages == (HELLO, make_turn((), "hi"))
    assert len(repaired.notes) == 3
    assert "a result of look (x) had no call" in repaired.notes


def test_a_conversation_that_begins_with_the_model_is_given_a_beginning() -> None:
    repaired = repair([make_turn((), "hi")])
    assert repaired.messages == (UserMessage.of(BEGINNING), make_turn((), "hi"))
    assert repaired.notes == ("the conversation began with the model",)


@pytest.mark.parametrize(
    "blocks",
    [(), (TextBlock(text="\n"),), (ReasoningBlock(text="m"), TextBlock(text="")), (ReasoningBlock(text="m"),)],
)
def test_a_turn_without_anything_in_it_is_left_out(blocks: tuple[TextBlock | ReasoningBlock, ...]) -> None:
    repaired = repair([HELLO, AssistantMessage(blocks=blocks), HELLO])
    assert repaired.messages == (HELLO, HELLO)
    assert repaired.notes == ("an empty turn was left out",)


def test_thought_at_the_end_of_a_cut_turn_is_left_out_and_thought_before_words_is_kept() -> None:
    thought, text = ReasoningBlock(text="hm"), TextBlock(text="so")
    message = repair([HELLO, AssistantMessage(blocks=(thought, text, thought))]).messages[1]
    assert message == AssistantMessage(blocks=(thought, text))


def test_a_snapshot_settles_nothing() -> None:
    history = Conversation([HELLO, make_turn([make_call("a"), make_call("b")])])
    history.answer(make_results("a").results[0])
    history.append(UserMessage(content=(TextPart(text="hurry"),)))
    [_, _, results, said] = history.snapshot()
    assert isinstance(results, ToolResults)
    assert [one.content for one in results.results] == ["seen 0", INTERRUPTED]
    assert said == UserMessage.of("hurry")
    assert history.notes == []
    history.answer(replace(make_results("b").results[0], content="late"))
    assert [one.content for one in results_in(tuple(history.legal()))] == ["seen 0", "late"]


def test_the_checker_sees_what_is_wrong() -> None:
    """A checker that finds nothing in anything would prove nothing."""
    turn = make_turn([make_call("a"), make_call("b")])
    assert problems([HELLO, turn]) != []
    assert problems([HELLO, turn, make_results("a")]) != []
    assert problems([HELLO, turn, make_results("b", "a")]) != []
    assert problems([HELLO, turn, make_results("a", "b", "b")]) != []
    assert problems([HELLO, turn, HELLO, make_results("a", "b")]) != []
    assert problems([HELLO, make_results("a")]) != []
    assert problems([turn, make_results("a", "b")]) != []
    assert problems([HELLO, make_turn([make_call("a"), make_call("a")]), make_results("a", "a")]) != []
    assert problems([HELLO, make_turn((), "hi")]) == []
    assert problems([HELLO, make_turn((), "hi")], is_request=True) != []
