"""Reads from an open folder, and the lock of the stores."""

import os
from pathlib import Path
from threading import Thread

import pytest

from toolroll.errors import FileMissing, FileProblem, LockTimeout
from toolroll.packs.writing.storage import open_folder, read_regular_file, store_lock
from toolroll.safe.locks import FileLock


def test_XJ7_only_regular_files_of_the_folder_itself_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_bytes(b"abcdef")
    (tmp_path / "outside").write_bytes(b"secret")
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    with open_folder(folder) as fd:
        found = read_regular_file(fd, "file", limit_bytes=4)
        assert found is not None
        assert (found[0], found[1].st_size) == (b"abcd", 6)
        assert [read_regular_file(fd, name, limit_bytes=4) for name in ("link", "folder", "pipe", "none")] == [None] * 4


def test_W14_a_folder_that_is_gone_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(FileMissing), open_folder(tmp_path / "none"):
        raise AssertionError("there is no such folder")


def somebody_waits(folder: Path) -> bool:
    try:
        with FileLock(folder / ".a.queue.lock", timeout_s=0):
            return False
    except LockTimeout:
        return True


def test_XJ1_who_has_just_written_lets_the_next_in_line_go_first(tmp_path: Path) -> None:
    order: list[str] = []

    def other() -> None:
        with store_lock(tmp_path, "a"):
            order.append("other")

    thread = Thread(target=other)
    with store_lock(tmp_path, "a"):
        thread.start()
        while not somebody_waits(tmp_path):
            assert thread.is_alive()
        assert order == []
    with store_lock(tmp_path, "a"):
        order.append("again")
    thread.join()
    assert order == ["other", "again"]


def test_XJ1_an_error_inside_gives_the_turn_back(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x"), store_lock(tmp_path, "a"):
        raise ValueError("x")
    with store_lock(tmp_path, "a"), store_lock(tmp_path, "b"):
        assert not somebody_waits(tmp_path)


def test_XJ1_a_lock_that_cannot_be_taken_holds_up_nobody_else(tmp_path: Path) -> None:
    (tmp_path / ".a.lock").mkdir()
    with pytest.raises(FileProblem), store_lock(tmp_path, "a"):
        pytest.fail("there is no lock to hold")
    assert not somebody_waits(tmp_path)
