"""What tests of the agent share: a clock that they can put forward."""

import asyncio

import pytest


@pytest.fixture
def one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs count their seconds by the clock of the loop, which `time_passes` puts forward."""
    monkeypatch.setattr("toolroll.agent.loop.budget.perf_counter", lambda: asyncio.get_running_loop().time())
