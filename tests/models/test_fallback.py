"""Several models in the place of one."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.models.asking import ask, ask_all
from tests.models.histories import model_of
from tests.support.model_script import Turn, fail
from tests.support.model_server import ModelServer

from toolroll import Agent, ScriptedModel
from toolroll.errors import ContentRefused, NetworkFailed, Overloaded, RateLimited, RequestRefused, UsageError
from toolroll.kernel.data.messages import Origin
from toolroll.models import FallbackModel, ModelSettings
from toolroll.models.catalog import ModelLimits
from toolroll.models.model import Delta, ModelRequest, ModelResponse, TextDelta

SECOND = Origin(wire="mine", model="second")


async def test_A48_the_next_model_answers_where_the_first_cannot() -> None:
    first, second = ScriptedModel([Overloaded("busy"), "again"]), ScriptedModel(["from the second"], origin=SECOND)
    model = FallbackModel(first, second)
    answer = await ask(model)
    assert (answer.message.text, answer.message.origin) == ("from the second", SECOND)
    assert (await ask(model)).message.text == "again"
    assert first.origin == model.origin


@pytest.mark.parametrize("error", [RequestRefused("bad"), ContentRefused("no")])
async def test_A48_what_is_wrong_with_the_request_is_raised(error: RequestRefused | ContentRefused) -> None:
    second = ScriptedModel(["never"])
    with pytest.raises(type(error)):
        await ask(FallbackModel(ScriptedModel([error]), second))
    assert second.requests == []


async def test_A48_the_errors_can_be_chosen_and_the_last_one_is_raised() -> None:
    with pytest.raises(Overloaded):
        await ask(FallbackModel(ScriptedModel([Overloaded("busy")]), ScriptedModel(["x"]), on=(RateLimited,)))
    with pytest.raises(RateLimited):
        await ask(FallbackModel(ScriptedModel([Overloaded("busy")]), ScriptedModel([RateLimited("slow")])))


class Breaking:
    """A model whose connection breaks after the first word."""

    origin = Origin(wire="mine", model="breaking")

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        yield TextDelta(text="Well")
        raise NetworkFailed("gone")


async def test_A48_nothing_is_asked_again_after_output_was_shown() -> None:
    second = ScriptedModel(["never"])
    with pytest.raises(NetworkFailed):
        await ask_all(FallbackModel(Breaking(), second))
    assert second.requests == []


async def test_A48_an_agent_goes_on_with_another_provider_over_another_wire() -> None:
    async with ModelServer([fail(529, "overloaded_error", "busy"), Turn("Tea.")]) as server:
        agent = Agent(model=FallbackModel(server.model("anthropic"), server.model("chat")))
        result = await agent.run("A drink?")
        await agent.aclose()
    assert result.text == "Tea."
    assert [one.wire for one in server.requests] == ["anthropic", "chat"]


def test_A48_limits_and_settings_are_those_that_all_models_have() -> None:
    one, other = model_of("chat"), model_of("anthropic")
    model = FallbackModel(one, other)
    assert FallbackModel(model_of("chat"), other).limits is None
    one.limits, other.limits = ModelLimits(window_tokens=10), ModelLimits(max_output_tokens=20)
    assert ModelLimits(window_tokens=10, max_output_tokens=20) == model.limits
    model.check_settings(ModelSettings(stop_sequences=("a",)))
    with pytest.raises(UsageError, match="does not take seed"):
        model.check_settings(ModelSettings(seed=1))


def test_A48_a_fallback_without_models_is_refused() -> None:
    wrongs: list[tuple[Any, ...]] = [(), ("sonnet",)]
    for wrong in wrongs:
        with pytest.raises(UsageError, match="takes models"):
            FallbackModel(*wrong)


def test_A48_a_model_of_ones_own_claims_no_wire_of_ours() -> None:
    result = Agent(model=ScriptedModel(["hello"], origin=SECOND)).run_sync("hi")
    assert (result.text, result.cost) == ("hello", None)
