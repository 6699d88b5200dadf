"""A turn that repeats itself ends with what there is, and says why (A53)."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll import Agent
from toolroll.agent.events import WaitingForModel
from toolroll.agent.loop import model_turn
from toolroll.agent.loop.repetition import LEAST_CHARACTERS, find_loop
from toolroll.kernel.data.messages import AssistantMessage, Origin, TextBlock
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import Delta, HeldDelta, ModelRequest, ModelResponse, ReasoningDelta, TextDelta

ORIGIN = Origin(wire="chat", model="loops")


class Writes:
    """A model that writes these pieces, and would go on for ever."""

    origin = ORIGIN

    def __init__(self, first: str, again: str, kind: type[TextDelta | ReasoningDelta | HeldDelta], times: int) -> None:
        self.pieces = [first, *[again] * times]
        self.kind = kind
        self.asked = 0
        self.written = 0

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        self.asked += 1
        pieces = self.pieces if self.asked == 1 else ["That is all."]
        for piece in pieces:
            self.written += len(piece)
            yield self.kind(text=piece) if self.asked == 1 else TextDelta(text=piece)
        message = AssistantMessage(blocks=(TextBlock(text="".join(pieces)),), origin=self.origin)
        yield ModelResponse(message=message, stop="end", usage=Usage(requests=1))


async def test_A53_a_text_that_repeats_itself_ends_with_what_there_is() -> None:
    model = Writes("The timeout is 45. ", "I will now look at the settings again. ", TextDelta, 10_000)
    result = await Agent(model=model).stream("What is the timeout?").wait()
    assert (result.stop_reason, result.stop_detail) == ("cut_off", "the model repeated itself")
    assert result.text.startswith("The timeout is 45. I will now look")
    assert len(result.text) < 200
    assert model.written < 3 * LEAST_CHARACTERS


@pytest.mark.parametrize("kind", [ReasoningDelta, HeldDelta])
async def test_A53_thoughts_and_what_is_held_back_may_not_loop_either(kind: type[ReasoningDelta | HeldDelta]) -> None:
    model = Writes("Hm. ", "\n", kind, 20_000)
    result = await Agent(model=model).stream("Well?").wait()
    assert (result.stop_reason, result.text, model.asked) == ("cut_off", "That is all.", 2)


async def test_A53_who_turns_the_guard_off_gets_all_of_it() -> None:
    model = Writes("", "again ", TextDelta, 2_000)
    result = await Agent(model=model, loop_guard=False).stream("Well?").wait()
    assert (result.stop_reason, len(result.text)) == ("answer", 12_000)


async def test_A53_a_person_sees_that_something_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_turn, "TELL_HELD_AFTER_S", 0.0)
    seen: list[object] = []
    model = Writes("{", "x", HeldDelta, 50)
    await Agent(model=model).start("Well?", listener=seen.append, stream=True).wait()
    assert any(isinstance(one, WaitingForModel) and one.characters > 0 for one in seen)


@given(st.text(max_size=50), st.text(min_size=1, max_size=60), st.integers(1, 200))
def test_A53_only_long_loops_count(before: str, passage: str, times: int) -> None:
    found = find_loop(before + passage * times)
    if len(passage) * times < LEAST_CHARACTERS - len(before):
        assert found is None
    if len(passage) * times >= LEAST_CHARACTERS + len(passage) and times > 10:
        assert found is not None
        assert (before + passage * times)[: -found.surplus].endswith(passage[-1])


def test_A53_a_long_text_is_no_loop() -> None:
    text = "".join(f"Line {number} of the table has the value {number * number}.\n" for number in range(500))
    assert find_loop(text) is None
    assert find_loop(text + "-" * 1_000) is None
