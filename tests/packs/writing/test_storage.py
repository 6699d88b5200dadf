"""Reads from an open folder, and the lock of the stores."""

import os
from pathlib import Path
from threading import Thread

import pytest

from toolroll.errors import FileMissing, FileProblem, LockTimeout, OutsideRoot
from toolroll.packs.writing.storage import find_folder, make_folder, open_folder, read_regular_file, store_lock
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.names import RelativePath


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


DEEP = RelativePath(parts=("output", "generated"))


def test_XJ11_folders_are_made_below_the_data_folder_for_their_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert find_folder(data, DEEP) is None
    made = make_folder(data, DEEP)
    assert (find_folder(data, DEEP), make_folder(data, DEEP)) == (made, made)
    assert [one.stat().st_mode & 0o777 for one in (data, data / "output", made)] == [0o700] * 3


@pytest.mark.parametrize("linked", ["output", "output/generated"])
@pytest.mark.parametrize("inside", [True, False])
def test_XJ11_nothing_is_made_or_found_behind_a_link(tmp_path: Path, linked: str, inside: bool) -> None:
    data, elsewhere = tmp_path / "data", (tmp_path / "data" if inside else tmp_path) / "elsewhere"
    (elsewhere / "generated").mkdir(parents=True)
    (data / linked).parent.mkdir(parents=True, exist_ok=True)
    (data / linked).symlink_to(elsewhere)
    for use in (find_folder, make_folder):
        with pytest.raises(OutsideRoot, match="nothing is read or kept there"):
            use(data, DEEP)
    assert list(elsewhere.iterdir()) == [elsewhere / "generated"]


def test_XJ11_the_data_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "data").symlink_to("real")
    assert make_folder(tmp_path / "data", DEEP) == tmp_path / "data" / "output" / "generated"
    assert (tmp_path / "real" / "output" / "generated").is_dir()


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
