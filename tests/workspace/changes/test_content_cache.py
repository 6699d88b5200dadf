"""Contents that were read are found again by their hash, or not at all."""

import os
from pathlib import Path

import pytest

from toolroll.kernel.approval.request import content_hash
from toolroll.outputs.run_folder import folder_name
from toolroll.workspace.changes.content_cache import ContentCache, remove_contents
from toolroll.workspace.workspace import Workspace


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "state" / "contents" / folder_name("run")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "app").mkdir()
    return Workspace(tmp_path / "app", state=tmp_path / "state")


def test_C19_a_content_is_found_by_its_hash(workspace: Workspace, store: Path) -> None:
    ContentCache(workspace, "run").keep(b"tea\n")
    ContentCache(workspace, "run").keep(b"tea\n")
    assert ContentCache(workspace, "run").get(content_hash(b"tea\n")) == b"tea\n"
    assert ContentCache(workspace, "run").get(content_hash(b"coffee\n")) is None
    [kept] = store.iterdir()
    assert (kept.stat().st_mode & 0o777, store.stat().st_mode & 0o777) == (0o600, 0o700)


def test_C19_a_damaged_content_is_none(workspace: Workspace, store: Path) -> None:
    contents = ContentCache(workspace, "run")
    contents.keep(b"tea\n")
    (store / content_hash(b"tea\n")).write_bytes(b"te")
    assert contents.get(content_hash(b"tea\n")) is None
    contents.keep(b"tea\n")
    assert contents.get(content_hash(b"tea\n")) == b"tea\n"


@pytest.mark.parametrize("limits", [{"max_files": 2}, {"max_bytes": 2}])
def test_C19_the_oldest_contents_go(workspace: Workspace, store: Path, limits: dict[str, int]) -> None:
    contents = ContentCache(workspace, "run")
    for number, data in enumerate((b"1", b"2", b"3", b"1")):
        contents.keep(data)
        os.utime(store / content_hash(data), ns=(number, number))
    limited = ContentCache(workspace, "run", **limits)
    assert [limited.get(content_hash(data)) for data in (b"1", b"2", b"3")] == [b"1", None, b"3"]


def test_C19_where_nothing_can_be_kept_nothing_fails(workspace: Workspace, store: Path) -> None:
    store.parent.parent.mkdir(mode=0o700)
    store.parent.write_bytes(b"a file where the folder would be")
    contents = ContentCache(workspace, "run")
    contents.keep(b"tea\n")
    assert contents.get(content_hash(b"tea\n")) is None


def test_XC8_a_content_that_holds_a_secret_is_not_kept(
    workspace: Workspace, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEA_API_KEY", "of-no-known-shape-1")
    contents = ContentCache(workspace, "run")
    secrets = (b"token = 'ghp_" + b"a1B2" * 9 + b"'\n", b"# of-no-known-shape-1\n")
    for data in (b"tea\n", b"\xff\xfe", *secrets):
        contents.keep(data)
    assert sorted(one.name for one in store.iterdir()) == sorted(map(content_hash, (b"tea\n", b"\xff\xfe")))
    assert contents.get(content_hash(secrets[0])) is None


def test_XC8_contents_go_with_their_run_and_not_with_another(tmp_path: Path, workspace: Workspace) -> None:
    for run_id, data in (("run", b"tea\n"), ("run", b"milk\n"), ("other", b"tea\n")):
        ContentCache(workspace, run_id).keep(data)
    remove_contents(tmp_path, ["run", "unknown"])
    kept = ContentCache(workspace, "third")
    assert [kept.get(content_hash(data)) for data in (b"tea\n", b"milk\n")] == [b"tea\n", None]


def test_XC8_contents_of_earlier_versions_which_belong_to_no_run_go(workspace: Workspace, store: Path) -> None:
    store.parent.mkdir(mode=0o700, parents=True)
    (store.parent / content_hash(b"old")).write_bytes(b"old")
    store.mkdir()
    assert ContentCache(workspace, "run").get(content_hash(b"old")) is None
    assert list(store.parent.iterdir()) == []
