"""Further attempts, and the waits that a server asks for."""

import asyncio

import pytest

from toolroll.errors import ServiceFailed
from toolroll.safe.net.retries import Retries, parse_retry_after


async def attempts(*results: ServiceFailed | str, should_retry: bool = True) -> tuple[object, list[float]]:
    pauses: list[float] = []
    queue = list(results)

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def attempt() -> str:
        result = queue.pop(0)
        if isinstance(result, ServiceFailed):
            raise result
        return result

    retries = Retries(pauses_s=(0.5, 2.0), max_wait_s=10, sleep=sleep)
    try:
        return await retries.run(attempt, should_retry=lambda _: should_retry), pauses
    except ServiceFailed as error:
        return error, pauses


FAILED = ServiceFailed("It failed.", status=503)


@pytest.mark.parametrize(
    ("results", "pauses"),
    [
        (["fine"], []),
        ([FAILED, "fine"], [0.5]),
        ([FAILED, FAILED, "fine"], [0.5, 2.0]),
        ([ServiceFailed("Later.", retry_after_s=7), "fine"], [7]),
        ([ServiceFailed("Now.", retry_after_s=0), "fine"], [0]),
    ],
)
async def test_another_attempt_follows_a_pause_or_what_the_server_asks_for(
    results: list[ServiceFailed | str], pauses: list[float]
) -> None:
    assert await attempts(*results) == ("fine", pauses)


async def test_the_last_error_is_raised_and_one_that_would_stay_at_once() -> None:
    late = ServiceFailed("Much later.", retry_after_s=10.5)
    assert await attempts(FAILED, FAILED, FAILED) == (FAILED, [0.5, 2.0])
    assert await attempts(FAILED, should_retry=False) == (FAILED, [])
    assert await attempts(late) == (late, [])


async def test_pauses_are_made_on_the_clock_of_the_loop() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await Retries(pauses_s=(), max_wait_s=1).pause(0.001)
    assert loop.time() > begun


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("7", 7), ("0", 0), ("9" * 12, 86_400), ("9" * 400, 86_400), ("", None), ("-1", None), ("1.5", None), ("٣", None)],
)
def test_retry_after_is_a_number_of_seconds_up_to_a_day(told: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": told}) == seconds
    assert parse_retry_after({}) is None
