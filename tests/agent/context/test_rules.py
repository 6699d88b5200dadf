"""The numbers that follow from a window, and what cannot be asked for."""

import pytest

from toolroll import Agent, ScriptedModel
from toolroll.agent.context.rules import ContextRules, context_limits, outputs_budget
from toolroll.errors import UsageError
from toolroll.kernel.data.messages import Origin
from toolroll.models.catalog import DEFAULT_WINDOW_TOKENS, ModelLimits


class Small(ScriptedModel):
    limits = ModelLimits(window_tokens=32_000)


@pytest.mark.parametrize(
    ("window", "budget"),
    [(8_000, 6_000), (32_000, 20_000), (128_000, 32_000), (200_000, 50_000), (1_000_000, 60_000)],
)
def test_K52_the_budget_is_a_quarter_of_the_window_within_bounds(window: int, budget: int) -> None:
    assert budget == outputs_budget(window)


def test_K52_the_window_is_what_was_said_or_what_the_model_says_or_what_is_known_of_its_name() -> None:
    assert context_limits(ContextRules(window_tokens=10_000), Small([])).window_tokens == 10_000
    assert context_limits(ContextRules(), Small([])).window_tokens == 32_000
    known = ScriptedModel([], origin=Origin(wire="anthropic", model="claude-sonnet-5-5"))
    assert context_limits(ContextRules(), known).window_tokens == 1_000_000
    assert context_limits(ContextRules(), ScriptedModel([])).window_tokens == DEFAULT_WINDOW_TOKENS


def test_K52_A21_both_can_be_set_and_turned_off() -> None:
    limits = context_limits(ContextRules(window_tokens=1_000, outputs_tokens=7, compact_at=0.5), Small([]))
    assert (limits.outputs_tokens, limits.compact_tokens) == (7, 500)
    limits = context_limits(ContextRules(outputs_tokens=0, compact_at=None), Small([]))
    assert (limits.outputs_tokens, limits.compact_tokens) == (0, 0)


def test_K51_an_output_gets_at_most_half_of_a_small_window() -> None:
    assert context_limits(ContextRules(), Small([])).output_bytes == 51_200
    assert context_limits(ContextRules(window_tokens=8_192), Small([])).output_bytes == 16_384


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"window_tokens": 0}, "window_tokens is 0"),
        ({"outputs_tokens": -1}, "outputs_tokens is -1"),
        ({"compact_at": 0.0}, "compact_at is 0.0"),
        ({"compact_at": 1.1}, "compact_at is 1.1"),
    ],
    ids=["window", "outputs", "never-compact", "beyond-the-window"],
)
def test_A21_what_makes_no_sense_is_refused_at_once(given: dict[str, float], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Agent(model=ScriptedModel([]), context=ContextRules(**given))  # type: ignore[arg-type]
