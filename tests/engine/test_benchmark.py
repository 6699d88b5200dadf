"""The benchmark of the engine measures what it says (D14)."""

from benchmarks.engine import time_claims, time_step

from toolroll.journal.journal import MemoryJournal


async def test_D14_a_step_and_a_look_of_a_worker_are_measured(database_url: str) -> None:
    assert 0 < await time_step(MemoryJournal()) < 100
    assert 0 < await time_claims(database_url, 3) < 1_000
