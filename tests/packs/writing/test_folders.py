"""Files by their names in a folder that is held open: regular ones only, and never a wait."""

import os
from pathlib import Path

import pytest

from toolroll.errors import FileMissing
from toolroll.packs.writing.folders import opened, read_plain


def test_XJ7_only_regular_files_of_the_folder_itself_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_bytes(b"abcdef")
    (tmp_path / "outside").write_bytes(b"secret")
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    with opened(folder) as fd:
        found = read_plain(fd, "file", limit_bytes=4)
        assert found is not None
        assert (found[0], found[1].st_size) == (b"abcd", 6)
        assert [read_plain(fd, name, limit_bytes=4) for name in ("link", "folder", "pipe", "none")] == [None] * 4


def test_W14_a_folder_that_is_gone_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(FileMissing), opened(tmp_path / "none"):
        raise AssertionError("there is no such folder")
