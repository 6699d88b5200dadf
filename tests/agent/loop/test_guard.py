"""The loop guard: warned, then refused, then stopped; and what is no loop."""

from collections.abc import Iterable, Iterator
from itertools import count, cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.agent.loop.guard import LONGEST_CYCLE, REFUSED, LoopGuard, Verdict
from toolroll.agent.stop import FAILURES, REFUSE_AT, STOP_AT, WARN_AT, LoopRules
from toolroll.errors import UsageError
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall

ids = count()


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(id=f"call_{next(ids)}", name=name, arguments=arguments)


class Played:
    """What the guard said to a series of steps."""

    def __init__(self, rules: LoopRules | None = LoopRules(), *, free: str = "") -> None:  # noqa: B008 - frozen
        self.guard = LoopGuard(rules, lambda name: name == free)
        self.refused: list[bool] = []
        self.warned: list[bool] = []
        self.told: list[str] = []
        self.verdict: Verdict | None = None

    def step(self, *calls: tuple[ToolCall, ToolResult]) -> "Played":
        refusal = self.guard.begin([call for call, _ in calls])
        results = {call.id: refusal[call.id] if refusal else result for call, result in calls}
        self.told += [one.text for one in results.values() if refusal]
        warnings = [self.guard.add_result(call, results[call.id]) for call, _ in calls]
        self.told += [one for one in warnings if one]
        self.verdict = self.guard.end(results)
        self.refused.append(refusal is not None)
        self.warned.append(any(warnings))
        return self

    def steps(self, series: Iterable[tuple[str, str]]) -> "Played":
        for name, text in series:
            if self.verdict is None:
                self.step((call(name), ToolResult.of_text(text)))
        return self


def test_identical_calls_are_warned_of_then_refused_then_stopped() -> None:
    played = Played().steps([("look", "same")] * 20)
    assert played.verdict == "repeated_calls"
    assert len(played.refused) == STOP_AT
    assert played.warned.index(True) == WARN_AT - 1
    assert played.refused.index(True) == REFUSE_AT


def test_a_refusal_tells_the_model_what_to_do() -> None:
    played = Played().steps([("look", "same")] * REFUSE_AT)
    refusals = played.guard.begin([call("look")])
    assert refusals is not None
    [refusal] = refusals.values()
    assert (refusal.code, refusal.is_error) == (REFUSED, True)
    assert "4 times" in refusal.text
    assert "try something else" in refusal.text


@pytest.mark.parametrize("period", range(1, LONGEST_CYCLE + 1))
def test_cycles_of_up_to_six_calls_are_found(period: int) -> None:
    series = [(f"tool_{place}", f"same {place}") for place in range(period)]
    played = Played().steps(islice(cycle(series), 100))
    assert played.verdict == "repeated_calls"
    assert len(played.refused) == STOP_AT * period
    assert played.refused.index(True) == REFUSE_AT * period
    assert played.warned.index(True) == (WARN_AT - 1) * period


def test_a_cycle_inside_which_a_call_stands_twice_is_found() -> None:
    played = Played().steps(islice(cycle([("a", "1"), ("a", "1"), ("b", "2")]), 100))
    assert played.verdict == "repeated_calls"
    assert played.refused.index(True) == 3 * REFUSE_AT


def test_a_cycle_of_seven_is_none() -> None:
    series = [(f"tool_{place}", "x") for place in range(7)]
    assert Played().steps(islice(cycle(series), 70)).verdict is None


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=60))
def test_results_that_change_are_no_loop(names: list[str]) -> None:
    """Polling: the same call with another result each time is never warned of, refused or stopped."""
    played = Played().steps((name, f"{place}") for place, name in enumerate(names))
    assert (played.verdict, any(played.refused), any(played.warned)) == (None, False, False)


@given(st.lists(st.integers(), min_size=1, max_size=60, unique=True))
def test_other_arguments_are_no_loop_though_the_result_is_the_same(numbers: list[int]) -> None:
    played = Played()
    for number in numbers:
        played.step((call("look", f'{{"at": {number}}}'), ToolResult.of_text("nothing")))
    assert (played.verdict, any(played.refused), any(played.warned)) == (None, False, False)


def test_arguments_count_as_they_are_meant_not_as_they_are_written() -> None:
    spellings = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', ' {"a":1 ,"b":2}']
    played = Played()
    for written in islice(cycle(spellings), STOP_AT):
        played.step((call("look", written), ToolResult.of_text("same")))
    assert played.verdict == "repeated_calls"


def test_calls_side_by_side_may_be_written_and_end_in_any_order() -> None:
    played = Played()
    for turn in range(STOP_AT):
        pair = [(call("a"), ToolResult.of_text("1")), (call("b"), ToolResult.of_text("2"))]
        played.step(*(pair if turn % 2 else reversed(pair)))
    assert played.verdict == "repeated_calls"


def test_twenty_equal_calls_in_one_step_are_one_round() -> None:
    twenty = [(call("look"), ToolResult.of_text("same")) for _ in range(20)]
    assert Played().step(*twenty).verdict is None


def test_equal_calls_with_unequal_results_in_one_step_are_refused_too() -> None:
    played = Played()
    for _ in range(STOP_AT):
        played.step((call("look"), ToolResult.of_text("1")), (call("look"), ToolResult.of_text("2")))
    assert played.verdict == "repeated_calls"
    assert played.refused == [False] * REFUSE_AT + [True] * (STOP_AT - REFUSE_AT)


def test_the_guard_fires_again_after_something_else_was_done() -> None:
    """A peer's guard fired once and then never again."""
    played = Played().steps([("look", "same")] * (STOP_AT - 1))
    assert played.refused.count(True) == 1
    played.steps([("other", "thing"), *[("look", "same")] * STOP_AT])
    assert played.refused.count(True) == 3
    assert played.verdict == "repeated_calls"


def test_the_guard_goes_on_refusing_until_the_run_is_stopped() -> None:
    played = Played().steps([("look", "same")] * STOP_AT)
    assert played.refused[REFUSE_AT:] == [True] * (STOP_AT - REFUSE_AT)


def failing(text: str = "no such file", code: str = "tool_error") -> ToolResult:
    return ToolResult.failure(text, code=code)


def test_A8_the_same_failure_three_times_stops() -> None:
    played = Played()
    for _ in range(FAILURES):
        assert played.verdict is None
        played.step((call("read", '{"path": "x"}'), failing()))
    assert played.verdict == "repeated_failure"
    assert played.warned == [False, True, False]


def test_A8_other_calls_beside_it_do_not_hide_a_failing_one() -> None:
    played = Played()
    for number in range(FAILURES):
        played.step((call("read"), failing()), (call("look"), ToolResult.of_text(str(number))))
    assert played.verdict == "repeated_failure"
    assert played.warned[1]


def _variations() -> Iterator[list[tuple[ToolCall, ToolResult]]]:
    yield [(call("read", f'{{"path": "{number}"}}'), failing()) for number in range(9)]
    yield [(call("read"), failing(f"line {number}")) for number in range(9)]
    yield [(call("read"), failing() if number % 3 else ToolResult.of_text("at last")) for number in range(9)]


@pytest.mark.parametrize("series", list(_variations()), ids=["other arguments", "other errors", "success in between"])
def test_failures_that_differ_do_not_stop(series: list[tuple[ToolCall, ToolResult]]) -> None:
    played = Played()
    for one in series:
        played.step(one)
    assert played.verdict is None


@pytest.mark.parametrize("code", ["invalid_json", "invalid_arguments", "unknown_tool"])
def test_XL6_three_steps_in_which_no_call_reaches_its_tool_stop(code: str) -> None:
    played = Played()
    for number in range(FAILURES):
        assert played.verdict is None
        played.step(*((call(f"x{number}{place}", "{"), failing(f"wrong {number}", code)) for place in range(5)))
    assert played.verdict == "invalid_calls"


def test_XL6_one_good_call_beside_bad_ones_is_progress() -> None:
    played = Played()
    for number in range(9):
        bad = (call("x", f"{{{number}"), failing(f"wrong {number}", "invalid_json"))
        played.step(bad, (call("look"), ToolResult.of_text(str(number))))
    assert played.verdict is None


def test_what_is_remembered_does_not_grow() -> None:
    guard = Played().steps((f"tool_{number}", str(number)) for number in range(500)).guard
    assert len(guard._rounds) == STOP_AT * LONGEST_CYCLE


def test_A47_a_refused_call_does_not_count_as_one_that_was_made() -> None:
    played = Played().steps([("look", "same")] * STOP_AT)
    times = [word for told in played.told for word in told.split() if word.isdigit()]
    assert times == ["3", "4", "4", "4"]


def test_A47_calls_are_counted_where_one_stands_twice_in_a_cycle() -> None:
    played = Played().steps(islice(cycle([("a", "1"), ("a", "1"), ("b", "2")]), 3 * REFUSE_AT + 3))
    times = [int(word) for told in played.told for word in told.split() if word.isdigit()]
    assert times == [5, 6, 3, 7, 8, 4, 8, 8, 4]


def test_A47_calls_side_by_side_are_counted_one_by_one() -> None:
    played = Played()
    for _ in range(REFUSE_AT + 1):
        played.step(*((call("look"), ToolResult.of_text("same")) for _ in range(2)))
    times = [int(word) for told in played.told for word in told.split() if word.isdigit()]
    assert times == [5, 6, 7, 8, 8, 8]


def test_A47_a_tool_that_polls_may_be_called_again_and_again() -> None:
    played = Played(free="poll").steps([("poll", "not yet")] * 50)
    assert (played.verdict, any(played.refused), played.told) == (None, False, [])
    for _ in range(20):
        played.step((call("poll"), failing("not yet")))
    assert (played.verdict, played.told) == (None, [])
    played.steps([("look", "same")] * STOP_AT)
    assert played.verdict == "repeated_calls"


def test_A47_what_it_was_given_never_reached_a_tool_that_polls() -> None:
    played = Played(free="poll")
    for _ in range(FAILURES):
        played.step((call("poll", "{"), failing("no JSON", "invalid_json")))
    assert played.verdict == "invalid_calls"


def test_A47_other_limits_and_none() -> None:
    rules = LoopRules(warn_at=3, refuse_at=3, stop_at=5)
    played = Played(rules).steps([("look", "same")] * 20)
    assert (played.warned.index(True), played.refused.index(True), len(played.refused)) == (2, 3, 5)
    played = Played(LoopRules(failures=4))
    for _ in range(4):
        assert played.verdict is None
        played.step((call("read"), failing()))
    assert played.verdict == "repeated_failure"
    off = Played(None).steps([("look", "same")] * 50)
    off.step((call("read"), failing()))
    assert (off.verdict, any(off.refused), off.told) == (None, False, [])


@pytest.mark.parametrize("wrong", [{"warn_at": 2}, {"refuse_at": 2}, {"stop_at": 3}, {"failures": 1}])
def test_A47_limits_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="3 <= warn_at"):
        LoopRules(**wrong)
