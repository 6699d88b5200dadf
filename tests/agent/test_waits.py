"""How long an agent waits for its model, and what is told meanwhile."""

from pathlib import Path

import pytest
from tests.models.test_clock import LIMITS, served, stalls
from tests.support.model_script import Turn
from tests.support.model_server import ModelServer

from toolroll import Agent
from toolroll.agent.choices import choose
from toolroll.agent.events import Event, Retrying, WaitingForModel
from toolroll.apps.models import connect_model
from toolroll.errors import ModelTimeout, UsageError
from toolroll.models.exchange import WireModel
from toolroll.models.model import Timeouts
from toolroll.models.retry import RetryRule


async def test_XL42_an_agent_tells_of_a_wait_and_gives_up_by_its_own_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.models.clock.TELL_AFTER_S", 0.05)
    events: list[Event] = []
    async with served("chat", stalls(), stalls()) as model:
        agent = Agent(model=model, timeouts=Timeouts(first_byte_s=0.3), retry=RetryRule(retries=1, first_wait_s=0.001))
        with pytest.raises(ModelTimeout, match="first_byte_seconds"):
            await agent.start("hello", listener=events.append, stream=True).wait()
    waits = [event for event in events if isinstance(event, WaitingForModel)]
    assert waits
    assert all(event.limit_s == pytest.approx(0.3) for event in waits)
    assert sum(isinstance(event, Retrying) for event in events) == 1


async def test_XL42_an_answer_that_comes_is_told_without_a_wait() -> None:
    events: list[Event] = []
    async with ModelServer([Turn("hello")]) as server:
        await Agent(model=server.model("chat"), timeouts=LIMITS).start("hi", listener=events.append, stream=True).wait()
    assert not [event for event in events if isinstance(event, WaitingForModel)]


def test_XL40_the_limits_are_an_option_that_is_checked() -> None:
    with pytest.raises(UsageError, match="timeouts is Timeouts, not 5"):
        Agent(model="ollama:x", timeouts=5)  # type: ignore[call-overload]  # what is tested
    model = Agent(model="ollama:x", timeouts=Timeouts(turn_s=9)).setup.model
    assert isinstance(model, WireModel)
    assert model.timeouts == Timeouts(turn_s=9, first_byte_s=600)


def test_XL40_a_model_that_is_named_for_one_run_has_the_limits_of_the_agent() -> None:
    agent = Agent(model="ollama:x", timeouts=Timeouts(connect_s=3, turn_s=9))
    model = choose(agent.setup, {"model": "ollama:y"}).model
    assert isinstance(model, WireModel)
    assert model.timeouts == Timeouts(connect_s=3, turn_s=9, first_byte_s=600)


def test_XL40_the_limits_are_settings_of_the_user(tmp_path: Path) -> None:
    environment = {"TOOLROLL_HOME": str(tmp_path), "TOOLROLL_TIMEOUTS_GAP_SECONDS": "7.5"}
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    file = folder / "settings.toml"
    file.write_text("[timeouts]\nfirst_byte_seconds = 30\nturn_seconds = 60\n")
    file.chmod(0o600)
    model = connect_model("ollama:x", environment)
    assert isinstance(model, WireModel)
    assert model.timeouts == Timeouts(first_byte_s=30, gap_s=7.5, turn_s=60)
