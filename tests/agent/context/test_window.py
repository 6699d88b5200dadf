"""The view of a conversation: what is replaced, what stays, and that it is always legal."""

from hypothesis import given
from hypothesis import strategies as st
from tests.agent.context.counted import results_in
from tests.agent.legality import problems

from toolroll.agent.context.fit import choose_outputs
from toolroll.agent.context.rules import ContextLimits
from toolroll.agent.context.window import MOST_RATIO, Window, reference_to
from toolroll.agent.history.repair import Conversation
from toolroll.agent.loop.budget import tokens_of
from toolroll.journal.records import MessagesCompacted, OutputsTrimmed
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    ImagePart,
    Message,
    OutputRef,
    TextBlock,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.usage import Usage


class Shelf:
    """A keeper that remembers only what it was given, and may be full."""

    def __init__(self, *, full: bool = False) -> None:
        self.kept: list[str] = []
        self._full = full

    def keep(self, call_id: str, _tool: str, _content: object, /) -> OutputRef | None:
        self.kept.append(call_id)
        return None if self._full else OutputRef(id=f"late-{call_id}", byte_size=1, line_count=1)


def window(outputs: int = 0, compact: int = 0, size: int = 10_000) -> Window:
    limits = ContextLimits(window_tokens=size, outputs_tokens=outputs, compact_tokens=compact, output_bytes=51_200)
    return Window(limits=limits)


def step(number: int, *sizes: int, ref: bool = True, name: str = "read", arguments: str = "{}") -> list[Message]:
    """A turn with calls whose outputs have that many tokens."""
    calls = [ToolCall(id=f"c{number}_{place}", name=name, arguments=arguments) for place in range(len(sizes))]
    results = tuple(
        ToolMessage(
            call_id=call.id,
            name=name,
            content="x" * 4 * size,
            output_ref=OutputRef(id=f"ref-{call.id}", byte_size=4 * size, line_count=1) if ref else None,
        )
        for call, size in zip(calls, sizes, strict=True)
    )
    return [AssistantMessage(blocks=tuple(CallBlock(call=call) for call in calls)), ToolResults(results=results)]


def conversation(*steps: list[Message]) -> list[Message]:
    return [UserMessage.of("go"), *(message for one in steps for message in one)]


def trimmed(view: Window, keeper: Shelf | None = None) -> list[str]:
    """What one look takes out."""
    record = choose_outputs(view, keeper or Shelf())
    if record is None:
        return []
    view.trim(record)
    return [call_id for call_id, _ in record.outputs]


def test_K52_nothing_happens_while_all_fits() -> None:
    view = window(outputs=1_000)
    messages = conversation(step(1, 200), step(2, 40))
    assert not view.look(messages)
    assert messages == list(view.mark_sent())
    assert all(map(lambda one, other: one is other, messages, view.messages))
    assert trimmed(view) == []


def test_K52_the_oldest_go_first_down_to_half_of_the_budget() -> None:
    view = window(outputs=1_000)
    assert view.look(conversation(step(1, 400), step(2, 300), step(3, 200), step(4, 200)))
    assert trimmed(view) == ["c1_0", "c2_0"]
    assert [reference_to("ref-c1_0"), reference_to("ref-c2_0")] == [
        one.content for one in results_in(view.messages)[:2]
    ]
    assert reference_to("ref-c1_0") == "[tool output trimmed; ref=ref-c1_0]"
    assert view.outputs_tokens == 400
    assert trimmed(view) == [], "the next stride is far away"


def test_K52_the_newest_step_stays_however_large() -> None:
    view = window(outputs=1_000)
    view.look(conversation(step(1, 100), step(2, 5_000, 5_000)))
    assert trimmed(view) == ["c1_0"]
    assert trimmed(view) == []
    view.look([*conversation(step(1, 100), step(2, 5_000, 5_000)), *step(3, 10)])
    assert trimmed(view) == ["c2_0", "c2_1"]


def test_K52_what_is_no_longer_than_its_reference_stays_and_does_not_count() -> None:
    view = window(outputs=100)
    assert not view.look(conversation(*(step(number, 30) for number in range(50))))
    assert view.outputs_tokens == 0


def test_K52_without_a_budget_nothing_is_trimmed() -> None:
    assert not window(outputs=0).look(conversation(step(1, 100_000), step(2, 100_000)))


def test_K52_an_output_without_a_reference_is_kept_now() -> None:
    view, shelf = window(outputs=1_000), Shelf()
    view.look(conversation(step(1, 900, ref=False), step(2, 900)))
    assert trimmed(view, shelf) == ["c1_0"]
    assert view.trimmed == {"c1_0": "late-c1_0"}


def test_K52_an_output_that_cannot_be_kept_stays_and_is_not_tried_again() -> None:
    view, shelf = window(outputs=1_000), Shelf(full=True)
    messages = conversation(step(1, 900, ref=False), step(2, 900))
    view.look(messages)
    assert trimmed(view, shelf) == []
    view.look([*messages, *step(3, 200)])
    assert trimmed(view, shelf) == ["c2_0"]
    assert shelf.kept == ["c1_0"]
    assert results_in(view.messages)[0].content == "x" * 3_600


def test_K52_what_was_read_back_leads_to_where_it_was_read() -> None:
    """It is never kept again: a copy of a copy of a copy would follow."""
    view, shelf = window(outputs=1_000), Shelf()
    read = step(1, 900, ref=False, name="tool_output_cache", arguments='{"ref_id": "abc", "offset": 3}')
    view.look(conversation(read, step(2, 900)))
    assert trimmed(view, shelf) == ["c1_0"]
    assert (view.trimmed, shelf.kept) == ({"c1_0": "abc"}, [])


def test_K52_what_was_read_back_from_nowhere_stays() -> None:
    view, shelf = window(outputs=1_000), Shelf()
    bad = [
        step(number, 900, ref=False, name="tool_output_cache_grep", arguments=arguments)
        for number, arguments in enumerate(["broken", '{"ref_id": 3}', '{"ref_id": "%s"}' % ("x" * 65), "{}"])
    ]
    [turn, failed] = step(9, 900, ref=False, name="tool_output_cache", arguments='{"ref_id": "abc"}')
    assert isinstance(failed, ToolResults)
    error = ToolMessage(call_id="c9_0", name="tool_output_cache", content="x" * 4_000, is_error=True)
    view.look(conversation(*bad, [turn, ToolResults(results=(error,))], step(10, 900)))
    assert (trimmed(view, shelf), shelf.kept) == ([], [])


def test_K52_images_go_like_texts() -> None:
    view = window(outputs=1_000)
    turn, _ = step(1, 1)
    parts = (TextPart(text="seen"), ImagePart(data=b"x", media_type="image/png"))
    ref = OutputRef(id="img", byte_size=1, line_count=1)
    image = ToolMessage(call_id="c1_0", name="read", content=parts, output_ref=ref)
    view.look(conversation([turn, ToolResults(results=(image,))], step(2, 10)))
    assert trimmed(view) == ["c1_0"]
    assert reference_to("img") == results_in(view.messages)[0].content


def test_K52_real_counts_correct_the_estimate() -> None:
    """The same outputs, by a provider that counts twice as many tokens in them."""
    view = window(outputs=1_000)
    messages = conversation(step(1, 300), step(2, 300))
    view.look(messages)
    view.mark_sent()
    view.add_usage(Usage(input_tokens=1_200, output_tokens=5, requests=1))
    assert round(view.ratio, 1) == 2.0
    assert view.look([*messages, AssistantMessage(blocks=(TextBlock(text="Hm."),)), UserMessage.of("Go on.")])
    assert trimmed(view) == ["c1_0"]


def test_A21_the_size_is_what_was_counted_and_what_was_added() -> None:
    view = window()
    messages = conversation(step(1, 1_000))
    view.look(messages)
    assert (view.tokens, view.is_measured) == (1_000, False)
    view.mark_sent()
    view.add_usage(Usage(input_tokens=1_000, cache_read_tokens=500, output_tokens=50, requests=1))
    view.look([*messages, *step(2, 100)])
    assert (view.tokens, view.is_measured) == (1_550 + 150, True)


def test_A21_a_provider_that_does_not_count_leaves_the_estimate() -> None:
    view = window()
    view.look(conversation(step(1, 1_000)))
    view.mark_sent()
    view.add_usage(Usage(measured=False, input_tokens=9))
    view.add_usage(Usage(requests=1))
    assert (view.tokens, view.is_measured) == (1_000, False)
    view.add_usage(Usage(input_tokens=1_000_000, requests=1))
    assert view.ratio == MOST_RATIO, "it counts something else"


def test_A21_turns_that_paused_count_once() -> None:
    view = window()
    view.look(conversation(step(1, 1_000)))
    view.mark_sent()
    view.add_usage(Usage(input_tokens=3_000, output_tokens=30, requests=3))
    assert view.tokens == 1_030


def test_A21_a_summary_stands_for_the_beginning() -> None:
    view = window(outputs=500)
    messages = conversation(step(1, 400), step(2, 400), step(3, 10))
    view.look(messages)
    trimmed(view)
    record = MessagesCompacted(through=5, summary="All of it.", pinned=(0,))
    view.compact(record, messages)
    assert [messages[0], UserMessage.of("All of it.", is_summary=True), *messages[5:]] == view.messages
    assert [view.is_summary(one) for one in view.messages] == [False, True, False, False]
    assert tuple(view.messages) == view.whole(messages)
    assert sum(map(tokens_of, view.messages)) == view.tokens
    more = [*messages, *step(4, 10)]
    view.look(more)
    assert messages[5:] == view.messages[2:4]
    assert problems(view.messages, is_request=True) == []


def test_A21_a_turn_that_stays_keeps_its_references_and_never_comes_first() -> None:
    """A request must not begin with the model's own words: then the summary does."""
    view = window(outputs=500)
    messages = conversation(step(1, 400, 10), step(2, 400), step(3, 10))
    view.look(messages)
    assert trimmed(view) == ["c1_0", "c2_0"]
    view.compact(MessagesCompacted(through=5, summary="s", pinned=(1, 2)), messages)
    assert [view.is_summary(one) for one in view.messages] == [True, False, False, False, False]
    assert [one.content for one in results_in(view.messages)] == [reference_to("ref-c1_0"), "x" * 40, "x" * 40]
    assert results_in(view.whole(messages))[0].content == "x" * 1_600
    assert problems(view.messages, is_request=True) == []


def test_A21_a_window_that_proves_smaller_takes_all_limits_along() -> None:
    view = window(outputs=60_000, compact=160_000, size=200_000)
    view.shrink(8_000)
    shrunk = ContextLimits(window_tokens=8_000, outputs_tokens=6_000, compact_tokens=6_400, output_bytes=16_000)
    assert view.limits == shrunk
    view.shrink(9_000)
    assert view.limits == shrunk


def test_A21_the_whole_has_all_outputs_again() -> None:
    """Another run cannot read the references of this one."""
    view = window(outputs=500)
    messages = conversation(step(1, 400), step(2, 400), step(3, 400))
    view.look(messages)
    assert trimmed(view) == ["c1_0", "c2_0"]
    assert tuple(messages) == view.whole(messages)
    view.compact(MessagesCompacted(through=3, summary="s"), messages)
    assert (UserMessage.of("s", is_summary=True), *messages[3:]) == view.whole(messages)


def test_A21_without_a_turn_of_the_model_there_is_no_last_one() -> None:
    view = window()
    view.look([UserMessage.of("a"), UserMessage.of("b")])
    assert view.last_turn() == (0, 0)


STEPS = st.lists(st.lists(st.integers(0, 2_000), min_size=1, max_size=4), min_size=1, max_size=12)


@given(STEPS, st.integers(1, 4_000), st.booleans())
def test_XC5_pairs_stay_intact_and_the_same_input_gives_the_same_messages(
    sizes: list[list[int]], budget: int, unanswered: bool
) -> None:
    """Looked at after every step, as a run does; with or without a call whose result is missing."""
    views = [window(outputs=budget), window(outputs=budget)]
    history = Conversation([UserMessage.of("go")])
    for number, outputs in enumerate(sizes):
        turn, results = step(number, *outputs)
        history.append(turn)
        assert isinstance(results, ToolResults)
        for result in results.results[unanswered:]:
            history.answer(result)
        before = list(views[0].messages)
        for view in views:
            view.look(history.legal())
            trimmed(view)
        assert views[0].messages == views[1].messages
        assert problems(views[0].messages, is_request=True) == []
        _only_older_outputs_changed(before, list(history.legal()), views[0])
        assert views[0].outputs_tokens <= max(budget, sum(map(tokens_of, results_in(views[0].messages[-1:]))))


def _only_older_outputs_changed(before: list[Message], now: list[Message], view: Window) -> None:
    assert len(now) == len(view.messages)
    assert now[-1] is view.messages[-1], "the newest step stays"
    for place, (was, sent) in enumerate(zip(now, view.messages, strict=True)):
        if isinstance(was, ToolResults):
            for one, other in zip(results_in([was]), results_in([sent]), strict=True):
                assert other.content in (one.content, reference_to(view.trimmed.get(one.call_id, "")))
        else:
            assert was is sent
        if place < len(before) and not isinstance(was, ToolResults):
            assert before[place] is sent


def test_XC5_a_record_of_what_was_trimmed_gives_the_same_messages() -> None:
    messages = conversation(step(1, 400, 20), step(2, 300), step(3, 10))
    view, again = window(outputs=500), window(outputs=500)
    view.look(messages)
    record = choose_outputs(view, Shelf())
    assert isinstance(record, OutputsTrimmed)
    view.trim(record)
    again.look(messages)
    again.trim(record)
    assert (view.messages, view.tokens, view.outputs_tokens) == (again.messages, again.tokens, again.outputs_tokens)
