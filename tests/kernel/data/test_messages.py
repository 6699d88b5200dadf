"""Messages are made from text or parts, and give their text and calls back."""

from toolroll.kernel.data.messages import AssistantMessage, CallBlock, TextBlock, TextPart, ToolCall, UserMessage


def test_a_user_message_is_made_from_text_or_parts() -> None:
    part = TextPart(text="tea")
    assert UserMessage.of("tea") == UserMessage.of([part]) == UserMessage(content=(part,))
    assert UserMessage.of("tea", pinned=True).pinned


def test_a_turn_gives_its_text_and_its_calls() -> None:
    call = ToolCall(id="1", name="brew", arguments="{}")
    turn = AssistantMessage(blocks=(TextBlock(text="I "), CallBlock(call=call), TextBlock(text="brew.")))
    assert (turn.text, turn.calls) == ("I brew.", (call,))
