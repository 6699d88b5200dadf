"""What a rate limiter promises: no minute has more than the limit, over all workers, and pauses hold for all (D12)."""

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clock import Clock

from toolroll.engine.postgres_rates import PostgresRates
from toolroll.engine.rates import RATES, Grant, LocalRates, RateLimit, RateLimiter, Wait
from toolroll.postgres.address import parse_address
from toolroll.postgres.database import Database


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["local", "postgres"])
def rates(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[RateLimiter]:
    if request.param == "local":
        with closing(LocalRates(tmp_path / "rates.db", clock=clock)) as local:
            yield local
        return
    with closing(Database(parse_address(request.getfixturevalue("database_url")))) as database:
        yield PostgresRates(database, clock=clock)


async def test_D12_no_minute_has_more_requests_than_the_limit(rates: RateLimiter, clock: Clock) -> None:
    limit = RateLimit(name="acme:large", requests=3)
    granted = []
    for _ in range(100):
        if isinstance(await rates.ask([limit]), Grant):
            granted.append(clock())
        clock.advance(5)
    for start in granted:
        assert sum(start <= at < start + 60 for at in granted) <= 3
    assert len(granted) == 3 * 9  # and all of it is used: 500 seconds


async def test_D12_a_wait_says_whose_limit_it_is_and_how_long(rates: RateLimiter, clock: Clock) -> None:
    own, provider = RateLimit(name="acme:large"), RateLimit(name="acme", requests=1)
    assert isinstance(await rates.ask([own, provider]), Grant)
    clock.advance(20)
    wait = await rates.ask([RateLimit(name="acme:small"), provider])
    assert isinstance(wait, Wait)
    assert (wait.name, round(wait.seconds)) == ("acme", 40)
    clock.advance(wait.seconds)
    assert isinstance(await rates.ask([own, provider]), Grant)


async def test_D12_tokens_of_a_call_count_when_they_are_known_and_before_as_the_average(
    rates: RateLimiter, clock: Clock
) -> None:
    limit = RateLimit(name="acme", tokens=1_000)
    first = await rates.ask([limit])
    assert isinstance(first, Grant)
    await rates.settle(first, 600)
    clock.advance(10)
    assert isinstance(await rates.ask([limit]), Grant)  # counted with 600 until it is settled
    wait = await rates.ask([limit])
    assert isinstance(wait, Wait)
    assert round(wait.seconds) == 50
    clock.advance(50)
    assert isinstance(await rates.ask([limit]), Grant)


async def test_D12_a_call_that_waits_is_noted_nowhere(rates: RateLimiter) -> None:
    one, two = RateLimit(name="a", requests=1), RateLimit(name="b", requests=5)
    assert isinstance(await rates.ask([one]), Grant)
    for _ in range(10):
        assert isinstance(await rates.ask([one, two]), Wait)
    for _ in range(5):
        assert isinstance(await rates.ask([two]), Grant)


async def test_D12_a_pause_holds_for_all_and_the_longest_counts(
    rates: RateLimiter, clock: Clock, tmp_path: Path
) -> None:
    limit = RateLimit(name="acme:large")
    await rates.pause("acme:large", 30)
    await rates.pause("acme:large", 10)
    other: LocalRates | PostgresRates = LocalRates(tmp_path / "rates.db", clock=clock)
    if isinstance(rates, PostgresRates):
        other = PostgresRates(rates._database, clock=clock)
    wait = await other.ask([limit])
    assert isinstance(wait, Wait)
    assert round(wait.seconds) == 30
    clock.advance(30)
    assert isinstance(await other.ask([limit]), Grant)
    if isinstance(other, LocalRates):
        other.close()


async def test_D12_a_clock_that_is_put_back_blocks_nobody_for_long(rates: RateLimiter, clock: Clock) -> None:
    limit = RateLimit(name="acme", requests=1)
    clock.advance(1e6)
    await rates.ask([limit])
    await rates.pause("acme", 100)
    clock.advance(-1e6)
    assert isinstance(await rates.ask([limit]), Grant)


async def test_D12_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "rates.db").write_bytes(b"no database " * 1_000)
    rates = LocalRates(tmp_path / "rates.db")
    assert isinstance(await rates.ask([RateLimit(name="a", requests=1)]), Grant)
    rates.close()


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 400)), max_size=40))
def test_D12_tokens_never_begin_above_the_limit(steps: list[tuple[float, int]]) -> None:
    async def check() -> None:
        clock, limit = Clock(), RateLimit(name="x", tokens=500)
        rates = LocalRates(Path("unused"), clock=clock)
        rates._db = RATES.open_in_memory()
        taken: list[tuple[float, int]] = []
        for pause, tokens in steps:
            clock.advance(pause)
            used = sum(count for at, count in taken if at > clock() - 60)
            asked = await rates.ask([limit])
            assert isinstance(asked, Grant) == (used < 500)
            if isinstance(asked, Grant):
                await rates.settle(asked, tokens)
                taken.append((clock(), tokens))
        rates.close()

    asyncio.run(check())


def ask_often(path: Path, times: int) -> int:
    async def ask() -> int:
        rates = LocalRates(path)
        answers = [await rates.ask([RateLimit(name="acme", requests=20)]) for _ in range(times)]
        rates.close()
        return sum(isinstance(answer, Grant) for answer in answers)

    return asyncio.run(ask())


def test_D12_several_processes_share_a_limit(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        granted = pool.starmap(ask_often, [(tmp_path / "rates.db", 25)] * 2)
    assert sum(granted) == 20
