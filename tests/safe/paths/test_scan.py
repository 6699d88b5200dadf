"""Folders are looked into by handle: kinds, marks, and nothing that is not a regular file is read."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolroll.safe.paths import scan


@pytest.fixture
def fd(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    above = os.open(tmp_path.parent, os.O_RDONLY)
    handle = scan.open_folder(above, tmp_path.name)
    yield handle
    os.close(handle)
    os.close(above)


def test_XF12_names_come_by_kind_and_no_link_is_followed(fd: int) -> None:
    names = scan.scan_names(fd, 10)
    assert (names.folders, names.files, sorted(names.others)) == (["folder"], ["file"], ["link", "pipe"])
    assert not names.is_cut
    assert not scan.is_pseudo(fd)
    with pytest.raises(OSError, match="link"):
        scan.open_folder(fd, "link")


@pytest.mark.parametrize("most", [0, 3])
def test_XF16_at_most_so_many_names_are_looked_at(fd: int, most: int) -> None:
    names = scan.scan_names(fd, most)
    assert (sum(map(len, names[:3])), names.is_cut) == (most, True)


def test_XF10_only_regular_files_of_bounded_size_are_read(fd: int) -> None:
    found = scan.read_regular(fd, "file", 4)
    assert found is not None
    assert found == (b"text", scan.mark_name(fd, "file"))
    for name, limit in {"file": 3, "link": 100, "pipe": 100, "folder": 100}.items():
        assert scan.read_regular(fd, name, limit) == (None, scan.mark_name(fd, name))
    assert scan.read_regular(fd, "nothing", 100) is None


def test_XF10_a_file_that_became_a_pipe_after_a_look_is_not_waited_for(
    fd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regular = os.stat("file", dir_fd=fd)
    (tmp_path / "file").unlink()
    os.mkfifo(tmp_path / "file")
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", lambda *_, **__: regular)
        assert scan.read_regular(fd, "file", 100) == (None, scan.mark_status(regular))
        (tmp_path / "file").unlink()
        assert scan.read_regular(fd, "file", 100) == (None, scan.mark_status(regular)), "nor is one that is gone"


def test_XP16_a_mark_tells_a_change(fd: int, tmp_path: Path) -> None:
    before = scan.mark_status(os.fstat(fd))
    assert before.is_fresh(before.ctime_ns + scan.FRESH_NS - 1)
    assert not before.is_fresh(before.ctime_ns + scan.FRESH_NS)
    assert scan.mark_name(fd, ".") == before
    os.utime(tmp_path)
    (tmp_path / "more").mkdir()
    assert scan.mark_name(fd, ".") != before
    assert (scan.mark_name(fd, "nothing"), scan.mark_name(fd, "a\0b")) == (None, None)
