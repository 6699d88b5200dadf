"""Models that wait for their rate limits, and jobs that say so (D12)."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.apps.test_jobs import exploration
from tests.apps.test_jobs import local_store as store
from tests.support.clock import Clock

from toolroll.apps.job_driver import JobDriver
from toolroll.apps.jobs import LIMIT, JobStore
from toolroll.apps.rate_limits import LimitedModel, find_limits
from toolroll.cli.actions.jobs import format_job
from toolroll.engine.rates import Grant, LocalRates, RateLimit, Wait
from toolroll.errors import RateLimited, UsageError
from toolroll.home.settings import read_settings
from toolroll.home.settings_schema import Rate
from toolroll.kernel.data.messages import UserMessage
from toolroll.models.model import Delta, ModelRequest, ModelResponse
from toolroll.models.scripted import ScriptedModel

__all__ = ["store"]

REQUEST = ModelRequest(messages=[UserMessage.of("Hello")])


class BusyModel(ScriptedModel):
    """Answers, but first asks to be left alone for twenty seconds."""

    is_busy = True

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        if self.is_busy:
            self.is_busy = False
            raise RateLimited("Too many requests.", retry_after_s=20)
        async for piece in super().respond(request, stream=stream):
            yield piece


async def ask(model: LimitedModel) -> int:
    return len([piece async for piece in model.respond(REQUEST, stream=False)])


async def test_D12_a_model_is_asked_when_there_is_room_and_retry_after_holds_for_others(tmp_path: Path) -> None:
    clock = Clock()
    rates = LocalRates(tmp_path / "rates.db", clock=clock)
    waits: list[Wait] = []

    async def on_limit(wait: Wait) -> None:
        waits.append(wait)

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    def limited(*answers: str) -> LimitedModel:
        limits = [RateLimit(name="acme:large"), RateLimit(name="acme", requests=2)]
        return LimitedModel(BusyModel(answers), limits, rates, on_limit=on_limit, sleep=sleep)

    first, second = limited("One.", "Two."), limited("Three.")
    began = clock()
    with pytest.raises(RateLimited):
        await ask(first)
    second._model.is_busy = False  # type: ignore[attr-defined]  # its own kind
    assert await ask(second) == 1
    assert (clock() - began, [wait.name for wait in waits]) == (20, ["acme:large"])
    assert await ask(first) == 1
    assert (clock() - began, [wait.name for wait in waits]) == (60, ["acme:large", "acme"])
    assert first.origin == ScriptedModel(()).origin
    rates.close()


def test_D12_limits_are_found_by_the_model_and_its_provider() -> None:
    rates = [
        Rate.parse("sonnet 50 requests"),
        Rate.parse("anthropic 90 requests 40000 tokens"),
        Rate.parse("openai 1 request"),
    ]
    own, provider = find_limits("sonnet", rates)
    assert (own.requests, own.tokens) == (50, None)
    assert provider == RateLimit(name="anthropic", requests=90, tokens=40_000)
    assert find_limits(own.name, rates) == (own, provider)
    [alone] = find_limits("ollama:qwen3", rates)
    assert alone == RateLimit(name="ollama:qwen3")


@pytest.mark.parametrize(
    "text", ["", "anthropic", "anthropic 50", "anthropic 0 requests", "a 5 requests 6", "5 requests"]
)
def test_D12_what_is_no_rate_is_refused_in_the_settings(tmp_path: Path, text: str) -> None:
    environment = {"TOOLROLL_HOME": str(tmp_path), "TOOLROLL_JOBS_RATES": f"'{text}'"}
    with pytest.raises(UsageError, match=r"rate|nothing"):
        read_settings(environment)


async def test_D12_a_job_that_waits_for_a_rate_limit_says_so(store: JobStore, tmp_path: Path) -> None:
    environment = {"TOOLROLL_HOME": str(tmp_path / "home"), "TOOLROLL_JOBS_RATES": "'scripted 1 requests'"}
    rates = LocalRates(tmp_path / "rates.db")
    assert isinstance(await rates.ask([RateLimit(name="scripted", requests=1)]), Grant)
    job_id, _ = await store.submit(exploration(tmp_path, "# Tea"))
    stop = asyncio.Event()
    driver = JobDriver(store.journal, environment, rates=rates)
    working = asyncio.create_task(store.engine.work(driver, slots=1, stop=stop))
    async with asyncio.timeout(60):
        while (status := await store.read(await store.find(job_id))).limit is None:
            await asyncio.sleep(0.01)
    assert "waits for the rate limit of scripted" in format_job(status)
    assert status.fields["waits_for_limit"] == "scripted"
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    rates.close()
    kept = [record for _, record in await store.journal.read(job_id) if getattr(record, "name", "") == LIMIT]
    assert len(kept) == 1
    assert json.dumps(status.fields)
