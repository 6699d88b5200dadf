"""Compare and swap: a file is replaced or removed only if it has the expected content at that very moment (XE9)."""

import errno
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from toolroll.errors import FileSystemRefused, StaleFile
from toolroll.safe.paths import exchange
from toolroll.safe.paths.names import parse_path
from toolroll.safe.paths.root import Root


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on a disk: one in memory knows no leases, by which the system tells who has a file open."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


FILE = parse_path("a.txt")
ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "100"))

# An editor that saves again and again, each time another number. Before each save it checks that its last one is there,
# or the base of what is there; for a moment, while a swap is taken back, it may not be. `rename` puts a new file in
# place, `write` truncates the file and writes it anew.
EDITOR = """
import os, sys, time
path, way = sys.argv[1:]
parent, number, lost = os.getppid(), 0, []

def is_there(deadline):
    while time.monotonic() < deadline:
        with open(path, "rb") as file:
            if file.read().endswith(b"editor %d." % number):
                return True
    return False

print("saving", flush=True)
while os.getppid() == parent and not os.path.exists(path + ".stop"):
    if not is_there(time.monotonic() + 2):
        lost.append(number)
    number += 1
    content = b"editor %d." % number
    if way == "rename":
        with open(path + "~", "wb") as file:
            file.write(content)
        os.rename(path + "~", path)
    else:
        with open(path, "wb") as file:
            file.write(content)
    time.sleep(0.001)
print(number, "lost", *lost)
"""


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "a.txt").write_bytes(b"old")
    return Root(tmp_path)


def after_exchange(monkeypatch: pytest.MonkeyPatch, *actions: Callable[[], object]) -> None:
    """Do something right after each of the first exchanges: the moment that a check beforehand cannot see."""
    rename, waiting = exchange._rename, list(actions)

    def rename_and_act(dir_fd: int, source: str, target: str, flags: int) -> None:
        rename(dir_fd, source, target, flags)
        if waiting:
            waiting.pop(0)()

    monkeypatch.setattr(exchange, "_rename", rename_and_act)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_XE9_the_expected_content_is_replaced_and_removed(root: Root, tmp_path: Path) -> None:
    assert root.write_file(FILE, b"new", expected=hash_of(b"old")).is_compared
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    root.remove_file(FILE, expected=hash_of(b"new"))
    assert names(tmp_path) == []


@pytest.mark.parametrize("operation", ["write", "remove"])
def test_XE9_another_content_stays_in_its_place(root: Root, tmp_path: Path, operation: str) -> None:
    before = (tmp_path / "a.txt").stat().st_ino
    with pytest.raises(StaleFile):
        _change(root, operation, expected=hash_of(b"what was read"))
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert (tmp_path / "a.txt").stat().st_ino == before
    assert names(tmp_path) == ["a.txt"]


def _change(root: Root, operation: str, *, expected: str) -> None:
    if operation == "write":
        root.write_file(FILE, b"new", expected=expected)
    else:
        root.remove_file(FILE, expected=expected)


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_XE9_a_link_or_a_folder_in_the_files_place_stays(tmp_path: Path, kind: str) -> None:
    (tmp_path / "new.tmp").write_bytes(b"new")
    if kind == "link":
        (tmp_path / "a.txt").symlink_to("elsewhere")
    else:
        (tmp_path / "a.txt").mkdir()
    before = (tmp_path / "a.txt").lstat().st_ino
    dir_fd = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(StaleFile):
        exchange.swap_names(dir_fd, "new.tmp", "a.txt", expected=hash_of(b"old"), path="a.txt")
    os.close(dir_fd)
    assert (tmp_path / "a.txt").lstat().st_ino == before


@pytest.mark.parametrize("operation", ["write", "remove"])
def test_XE9_a_file_that_is_gone_at_the_last_moment_is_stale(
    root: Root, tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = exchange._move

    def remove_first(dir_fd: int, source: str, target: str, flags: int, path: str) -> None:
        (tmp_path / "a.txt").unlink()
        move(dir_fd, source, target, flags, path)

    monkeypatch.setattr(exchange, "_move", remove_first)
    with pytest.raises(StaleFile):
        _change(root, operation, expected=hash_of(b"old"))
    assert names(tmp_path) == []


def test_XE9_what_is_saved_while_another_save_is_put_back_wins(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody saved before us (E), and again while E was out (X): X is the newest, and stays."""

    def save(text: bytes) -> None:
        (tmp_path / "x").write_bytes(text)
        (tmp_path / "x").rename(tmp_path / "a.txt")

    after_exchange(monkeypatch, lambda: save(b"X"), lambda: None)
    with pytest.raises(StaleFile):
        root.write_file(FILE, b"ours", expected=hash_of(b"read before E"))
    assert (tmp_path / "a.txt").read_bytes() == b"X"
    assert names(tmp_path) == ["a.txt"]


def test_XE9_what_is_made_while_a_file_is_taken_away_wins(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after_exchange(monkeypatch, lambda: (tmp_path / "a.txt").write_bytes(b"X"))
    with pytest.raises(StaleFile):
        root.remove_file(FILE, expected=hash_of(b"what was read"))
    assert (tmp_path / "a.txt").read_bytes() == b"X"
    assert names(tmp_path) == ["a.txt"]


def test_XE9_a_save_that_is_under_way_is_waited_for(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor that writes in place has the old file open when the names are exchanged."""
    monkeypatch.setattr(exchange, "_WRITER_S", 30.0)
    editor = (tmp_path / "a.txt").open("r+b")
    is_asked = threading.Event()
    has_writers = exchange._has_writers

    def note(fd: int) -> bool:
        is_asked.set()
        return has_writers(fd)

    def finish() -> None:
        is_asked.wait(30)
        editor.write(b"saved")
        editor.close()

    monkeypatch.setattr(exchange, "_has_writers", note)
    thread = threading.Thread(target=finish)
    thread.start()
    with pytest.raises(StaleFile):
        root.write_file(FILE, b"ours", expected=hash_of(b"old"))
    thread.join()
    assert (tmp_path / "a.txt").read_bytes() == b"saved"


def test_XE9_a_file_that_stays_open_elsewhere_is_judged_by_its_content(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_WRITER_S", 0.0)
    with (tmp_path / "a.txt").open("ab"):
        root.write_file(FILE, b"ours", expected=hash_of(b"old"))
    assert (tmp_path / "a.txt").read_bytes() == b"ours"


@pytest.mark.parametrize("operation", ["write", "remove"])
@pytest.mark.parametrize("expected", [b"old", b"what was read"])
def test_XE9_without_exchange_the_content_is_compared_before(
    root: Root, tmp_path: Path, operation: str, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_raw_rename", lambda: lambda *_: -errno.ENOSYS)
    if expected == b"old":
        if operation == "write":
            assert not root.write_file(FILE, b"new", expected=hash_of(expected)).is_compared
        else:
            root.remove_file(FILE, expected=hash_of(expected))
        assert names(tmp_path) == (["a.txt"] if operation == "write" else [])
    else:
        with pytest.raises(StaleFile):
            _change(root, operation, expected=hash_of(expected))
        assert (tmp_path / "a.txt").read_bytes() == b"old"


@pytest.mark.parametrize("operation", ["write", "remove"])
def test_XE9_XF8_a_content_that_cannot_be_read_is_no_other_content(
    root: Root, tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a free descriptor nobody knows whether the file has changed: it is put back, and the error says why."""

    def fail(*_given: object) -> bool:
        raise OSError(errno.EMFILE, "no descriptor is free")

    monkeypatch.setattr(exchange, "has_content", fail)
    with pytest.raises(FileSystemRefused) as caught:
        _change(root, operation, expected=hash_of(b"old"))
    assert caught.value.errno_name == "EMFILE"
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_XE9_what_says_nothing_about_the_content_is_raised(tmp_path: Path) -> None:
    dir_fd = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(OSError, match="File name too long"):
        exchange.has_content(dir_fd, "x" * 300, hash_of(b""))
    os.close(dir_fd)


def test_XE9_other_systems_have_no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert exchange._raw_rename.__wrapped__()(0, b"", 0, b"", 0) == -errno.ENOSYS


def test_XE9_what_a_killed_writer_took_out_is_swept_only_if_nobody_needs_it(root: Root, tmp_path: Path) -> None:
    """After the exchange the temporary name has the old file, or somebody's work that nobody has looked at yet."""
    old, new = hash_of(b"old")[:16], hash_of(b"new")[:16]
    for number, content in enumerate([b"old", b"new", b"somebody's work"]):
        (tmp_path / f".toolroll-{old}-{new}-{number:016x}.tmp").write_bytes(content)
    assert root.sweep_temporary() == 2
    [kept] = tmp_path.glob(".toolroll-*")
    assert kept.read_bytes() == b"somebody's work"


def test_XE9_a_file_that_cannot_be_removed_gets_its_name_back(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_bytes(b"old")

    def unlink(_name: str, *, dir_fd: int) -> None:
        raise OSError(errno.EIO, f"refused in {dir_fd}")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        with pytest.raises(FileSystemRefused):
            root.remove_file(FILE, expected=hash_of(b"old"))
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"old"


@pytest.mark.parametrize("way", ["rename", "write"])
def test_XE9_an_editor_that_saves_all_the_time_loses_nothing(root: Root, tmp_path: Path, way: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"editor 0.")
    editor = subprocess.Popen([sys.executable, "-c", EDITOR, str(path), way], stdout=subprocess.PIPE, text=True)
    assert editor.stdout is not None
    editor.stdout.readline()
    written = 0
    while written < ROUNDS:
        seen = path.read_bytes()
        with suppress(StaleFile):
            root.write_file(FILE, b"ours, after " + seen[-20:].rpartition(b", after ")[2], expected=hash_of(seen))
            written += 1
    (tmp_path / "a.txt.stop").touch()
    saves, lost = editor.communicate(timeout=60)[0].strip().split(" lost")
    assert int(saves) > 0
    assert lost == ""
    assert names(tmp_path) == ["a.txt", "a.txt.stop"]
