"""The lock of the stores: one inside at a time, and nobody passes who waits."""

from pathlib import Path
from threading import Thread

import pytest

from toolroll.errors import FileProblem, LockTimeout
from toolroll.packs.writing.turns import in_turn
from toolroll.safe.locks import FileLock


def somebody_waits(folder: Path) -> bool:
    try:
        with FileLock(folder / ".a.queue.lock", timeout_s=0):
            return False
    except LockTimeout:
        return True


def test_XJ1_who_has_just_written_lets_the_next_in_line_go_first(tmp_path: Path) -> None:
    order: list[str] = []

    def other() -> None:
        with in_turn(tmp_path, "a"):
            order.append("other")

    thread = Thread(target=other)
    with in_turn(tmp_path, "a"):
        thread.start()
        while not somebody_waits(tmp_path):
            assert thread.is_alive()
        assert order == []
    with in_turn(tmp_path, "a"):
        order.append("again")
    thread.join()
    assert order == ["other", "again"]


def test_XJ1_an_error_inside_gives_the_turn_back(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x"), in_turn(tmp_path, "a"):
        raise ValueError("x")
    with in_turn(tmp_path, "a"), in_turn(tmp_path, "b"):
        assert not somebody_waits(tmp_path)


def test_XJ1_a_lock_that_cannot_be_taken_holds_up_nobody_else(tmp_path: Path) -> None:
    (tmp_path / ".a.lock").mkdir()
    with pytest.raises(FileProblem), in_turn(tmp_path, "a"):
        pytest.fail("there is no lock to hold")
    assert not somebody_waits(tmp_path)
