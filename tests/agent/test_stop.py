"""Stop conditions as values (A3)."""

from collections.abc import Sequence
from typing import Any

import pytest

from toolroll import cost_over, deadline, step_count_is, tokens_over, tool_called
from toolroll.agent.cost import Bill
from toolroll.agent.result import Step, ToolCallLog
from toolroll.agent.stop import DEFAULT, conditions, first_met, measured_conditions, name_of
from toolroll.errors import UsageError
from toolroll.kernel.data.usage import Usage


def step(*, tokens: int = 0, usd: float | None = 0.0, seconds: float = 0.0, calls: Sequence[str] = ()) -> Step:
    logs = [ToolCallLog(name=name, arguments="{}", duration_ms=1.0, ok=True, bytes=1) for name in calls]
    usage = Usage(input_tokens=tokens, requests=1)
    return Step(number=1, text="", usage=usage, bill=Bill.from_usd(usd), duration_s=seconds, calls=tuple(logs))


@pytest.mark.parametrize(
    ("condition", "before", "after", "name"),
    [
        (step_count_is(2), [step()], [step(), step()], "step_count_is(2)"),
        (tokens_over(99), [step(tokens=99)], [step(tokens=50), step(tokens=50)], "tokens_over(99)"),
        (cost_over(0.5), [step(usd=0.5)], [step(usd=0.3), step(usd=0.3)], "cost_over(0.5)"),
        (deadline(10), [step(seconds=10)], [step(seconds=6), step(seconds=5)], "deadline(10)"),
        (tool_called("done"), [step(calls=["look"])], [step(), step(calls=["look", "done"])], "tool_called('done')"),
    ],
)
def test_A3_a_condition_says_stop_and_how_it_is_called(condition: Any, before: Any, after: Any, name: str) -> None:
    assert not condition([])
    assert not condition(before)
    assert condition(after)
    assert first_met([condition], before) is None
    assert first_met([condition], after) == name


def test_A3_a_step_of_unknown_cost_stops_a_run_that_may_not_cost_more() -> None:
    said = first_met([cost_over(100)], [step(usd=None)])
    assert said == "cost_over(100): what a step cost is not known"


def test_a_tool_that_was_called_earlier_does_not_stop_a_continued_run() -> None:
    assert not tool_called("look")([step(calls=["look"]), step()])


def test_A3_any_function_will_do_and_may_say_why() -> None:
    def enough(steps: Sequence[Step]) -> bool:
        return len(steps) > 1

    class Patient:
        def __call__(self, steps: Sequence[Step]) -> str:
            return "out of patience" if steps else ""

    assert first_met([enough], [step(), step()]) == "enough"
    assert first_met([Patient()], [step()]) == "out of patience"
    assert name_of(Patient()) == "Patient"
    assert first_met([Patient()], []) is None


def test_A3_one_condition_or_several_or_the_default() -> None:
    assert conditions(None) == DEFAULT == (step_count_is(10),)
    assert conditions(deadline(5)) == (deadline(5),)
    assert conditions([deadline(5), tokens_over(9)]) == (deadline(5), tokens_over(9))
    assert conditions(()) == ()
    assert measured_conditions([step_count_is(1), deadline(5), tool_called("x"), cost_over(1)]) == (
        deadline(5),
        cost_over(1),
    )


@pytest.mark.parametrize("kind", [step_count_is, tokens_over, cost_over, deadline])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_that_makes_no_sense_is_refused_when_it_is_made(kind: Any, value: float) -> None:
    with pytest.raises(UsageError, match="above 0"):
        kind(value)


async def _later(_steps: Sequence[Step]) -> bool:
    return True


@pytest.mark.parametrize("given", [_later, [_later], [3], ["step_count_is(3)"]])
def test_what_cannot_be_asked_at_once_is_no_condition(given: Any) -> None:
    with pytest.raises(UsageError, match="plain function"):
        conditions(given)
