"""Contents that were read are found again by their hash, or not at all."""

import os
from pathlib import Path

import pytest

from toolroll.kernel.approval.request import content_hash
from toolroll.workspace.changes.content_cache import ContentCache
from toolroll.workspace.workspace import Workspace


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "state" / "contents"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "app").mkdir()
    return Workspace(tmp_path / "app", state=tmp_path / "state")


def test_C19_a_content_is_found_by_its_hash(workspace: Workspace, store: Path) -> None:
    ContentCache(workspace).keep(b"tea\n")
    ContentCache(workspace).keep(b"tea\n")
    assert ContentCache(workspace).get(content_hash(b"tea\n")) == b"tea\n"
    assert ContentCache(workspace).get(content_hash(b"coffee\n")) is None
    [kept] = store.iterdir()
    assert (kept.stat().st_mode & 0o777, store.stat().st_mode & 0o777) == (0o600, 0o700)


def test_C19_a_damaged_content_is_none(workspace: Workspace, store: Path) -> None:
    contents = ContentCache(workspace)
    contents.keep(b"tea\n")
    (store / content_hash(b"tea\n")).write_bytes(b"te")
    assert contents.get(content_hash(b"tea\n")) is None
    contents.keep(b"tea\n")
    assert contents.get(content_hash(b"tea\n")) == b"tea\n"


@pytest.mark.parametrize("limits", [{"max_files": 2}, {"max_bytes": 2}])
def test_C19_the_oldest_contents_go(workspace: Workspace, store: Path, limits: dict[str, int]) -> None:
    contents = ContentCache(workspace)
    for number, data in enumerate((b"1", b"2", b"3", b"1")):
        contents.keep(data)
        os.utime(store / content_hash(data), ns=(number, number))
    limited = ContentCache(workspace, **limits)
    assert [limited.get(content_hash(data)) for data in (b"1", b"2", b"3")] == [b"1", None, b"3"]


def test_C19_where_nothing_can_be_kept_nothing_fails(workspace: Workspace, store: Path) -> None:
    store.parent.mkdir(mode=0o700)
    store.write_bytes(b"a file where the folder would be")
    contents = ContentCache(workspace)
    contents.keep(b"tea\n")
    assert contents.get(content_hash(b"tea\n")) is None
