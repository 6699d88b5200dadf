"""Files that are there whole or not at all, and private from their first moment."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.descriptors import as_many_descriptors

from toolroll.errors import FileExists, FileMissing, FileSystemRefused, NotAFile, OutsideRoot
from toolroll.safe.paths import temporary
from toolroll.safe.paths.files import (
    can_write,
    create_file,
    private_folder,
    replace_file,
    sync_folder,
)
from toolroll.safe.paths.temporary import sweep_temporary

TEMPORARY = f".toolroll-{'a' * 32}.tmp"
as_root = os.geteuid() == 0


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def fd(folder: Path) -> Iterator[int]:
    with as_many_descriptors():
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        yield opened
        os.close(opened)


@pytest.fixture
def umask_0() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("data", [b"", b"x", os.urandom(3 << 20)], ids=["empty", "one byte", "3 MiB"])
def test_replacing_and_creating(fd: int, folder: Path, data: bytes) -> None:
    replace_file(fd, "a", data)
    assert (folder / "a").read_bytes() == data
    replace_file(fd, "a", b"other", mode=0o640)
    assert (folder / "a").read_bytes() == b"other"
    assert mode_of(folder / "a") == 0o640
    create_file(fd, "b", data)
    assert (folder / "b").read_bytes() == data
    assert (folder / "b").stat().st_nlink == 1
    assert sorted(os.listdir(folder)) == ["a", "b"]


def test_the_umask_decides_where_no_mode_is_given(fd: int, folder: Path, umask_0: None) -> None:
    os.umask(0o026)
    replace_file(fd, "a", b"", mode=None)
    create_file(fd, "b", b"", mode=None)
    assert [mode_of(folder / name) for name in ("a", "b")] == [0o640, 0o640]


def test_creating_never_overwrites(fd: int, folder: Path) -> None:
    (folder / "taken").write_bytes(b"old")
    (folder / "dangling").symlink_to("none")
    for name in ("taken", "dangling"):
        with pytest.raises(FileExists) as caught:
            create_file(fd, name, b"new", path=f"shown/{name}")
        assert caught.value.path == f"shown/{name}"
    assert (folder / "taken").read_bytes() == b"old"
    assert sorted(os.listdir(folder)) == ["dangling", "taken"]


def test_replacing_a_link_leaves_what_it_leads_to(fd: int, folder: Path) -> None:
    (folder / "target").write_bytes(b"old")
    (folder / "link").symlink_to("target")
    replace_file(fd, "link", b"new")
    assert not (folder / "link").is_symlink()
    assert (folder / "target").read_bytes() == b"old"


def test_XF9_private_from_creation_whatever_the_umask(
    fd: int, folder: Path, umask_0: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    real = os.write

    def write(one: int, data: bytes) -> int:
        seen.append(stat.S_IMODE(os.fstat(one).st_mode))
        return real(one, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        replace_file(fd, "a", b"secret")
        create_file(fd, "b", b"secret")
    assert [mode_of(folder / name) for name in ("a", "b")] == [0o600, 0o600]
    made = private_folder(folder / "x/y/z")
    assert made == folder / "x/y/z"
    assert [mode_of(folder / name) for name in ("x", "x/y", "x/y/z")] == [0o700] * 3
    assert seen == [0o600, 0o600]


def test_XF9_no_name_is_ever_open_to_others(fd: int, folder: Path, umask_0: None) -> None:
    """A watcher looks at every name in the folder while private files are written."""
    wide: list[str] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for entry in os.scandir(fd):
                try:
                    if entry.stat(follow_symlinks=False).st_mode & 0o077:
                        wide.append(entry.name)
                except FileNotFoundError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(100):
        replace_file(fd, "a", b"x")
        create_file(fd, f"b{number}", b"x")
    done.set()
    watcher.join()
    assert wide == []


def test_XF9_a_folder_that_others_can_change_is_refused(folder: Path) -> None:
    for mode in (0o770, 0o702, 0o777):
        folder.chmod(mode)
        with pytest.raises(FileSystemRefused, match="chmod 700"):
            private_folder(folder)
    folder.chmod(0o755)
    assert private_folder(str(folder)) == folder
    if as_root:  # only root can make a folder that is somebody else's
        os.chown(folder, 12345, -1)
        with pytest.raises(FileSystemRefused):
            private_folder(folder)


def test_XF9_a_private_folder_is_a_folder(folder: Path) -> None:
    (folder / "file").write_bytes(b"")
    (folder / "dangling").symlink_to("none")
    with pytest.raises(NotAFile):
        private_folder(folder / "file")
    with pytest.raises(NotAFile):
        private_folder(folder / "file/below")
    with pytest.raises(FileMissing):
        private_folder(folder / "dangling")


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_file_systems_without_hard_links(fd: int, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def link(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    create_file(fd, "a", b"new")
    assert (folder / "a").read_bytes() == b"new"
    with pytest.raises(FileExists):
        create_file(fd, "a", b"newer")
    assert os.listdir(folder) == ["a"]


def test_a_new_file_whose_temporary_name_cannot_be_taken_away_gives_its_name_back(
    fd: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refusals = os.unlink, iter([errno.EIO])

    def unlink(name: str, *, dir_fd: int) -> None:
        number = next(refusals, None)
        if number is not None:
            raise OSError(number, os.strerror(number))
        real(name, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        with pytest.raises(FileSystemRefused):
            create_file(fd, "a", b"new", path="a")
    assert os.listdir(folder) == []


def test_file_systems_without_locks_owners_and_modes(fd: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    monkeypatch.setattr(os, "fchown", unsupported)
    monkeypatch.setattr(os, "fchmod", unsupported)
    replace_file(fd, "a", b"new", mode=0o644, owner=(1, 1))
    assert (folder / "a").read_bytes() == b"new"
    (folder / TEMPORARY).write_bytes(b"whose?")
    assert sweep_temporary(fd) == 0


@pytest.mark.parametrize("step", ["write", "fchmod", "fsync", "replace"])
def test_an_error_at_any_step_leaves_the_old_content_and_nothing_else(
    fd: int, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """XF8, without strace: the disk is full."""
    (folder / "a").write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    with pytest.raises(FileSystemRefused) as caught:
        replace_file(fd, "a", b"new")
    assert caught.value.errno_name == "ENOSPC"
    assert "disk is full" in caught.value.message
    assert (folder / "a").read_bytes() == b"old"
    assert os.listdir(folder) == ["a"]


def test_a_name_of_the_wrong_kind_is_left_alone(fd: int, folder: Path) -> None:
    (folder / "folder").mkdir()
    with pytest.raises(NotAFile):
        replace_file(fd, "folder", b"new")
    with pytest.raises(FileExists):
        create_file(fd, "folder", b"new")
    assert os.listdir(folder) == ["folder"]


def test_sweeping_takes_only_what_nobody_holds(fd: int, folder: Path) -> None:
    """XE6: a temporary file of a dead writer goes, one of a writer at work stays, all else is not ours."""
    held = folder / f".toolroll-{'b' * 32}.tmp"
    others = [".toolroll-short.tmp", f"x{TEMPORARY}", "toolroll.tmp", f"{TEMPORARY}.bak"]
    for name in (TEMPORARY, held.name, *others):
        (folder / name).write_bytes(b"half")
    (folder / f".toolroll-{'c' * 32}.tmp").mkdir()
    (folder / f".toolroll-{'d' * 32}.tmp").symlink_to(others[0])
    with held.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        assert sweep_temporary(fd) == 1
    left = set(os.listdir(folder))
    assert TEMPORARY not in left
    assert {held.name, *others} <= left
    assert sweep_temporary(fd) == 1
    assert held.name not in os.listdir(folder)


def test_sweeping_a_link_or_a_missing_folder_is_refused(fd: int, folder: Path) -> None:
    (folder / "link").symlink_to(".")
    with pytest.raises((OutsideRoot, NotAFile)):
        sweep_temporary(fd, "link")
    with pytest.raises(FileMissing):
        sweep_temporary(fd, "none")


@pytest.mark.parametrize("moment", ["locked", "removed"])
def test_a_writer_that_loses_its_file_to_a_sweep_takes_another(
    fd: int, folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """XE6: between the creation of a temporary file and its lock, a sweep may come."""
    real = fcntl.flock
    taken: list[int] = []

    def flock(one: int, operation: int) -> None:
        if not taken:
            name = next(name for name in os.listdir(folder) if name.endswith(".tmp"))
            taken.append(os.open(folder / name, os.O_RDONLY))
            if moment == "locked":
                real(taken[0], fcntl.LOCK_EX)
            else:
                os.unlink(folder / name)
        real(one, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    replace_file(fd, "a", b"new")
    os.close(taken[0])
    assert os.listdir(folder) == ["a"]
    assert (folder / "a").read_bytes() == b"new"


def test_a_writer_that_always_loses_gives_up(fd: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary, "_lock_unswept", lambda _: False)
    with pytest.raises(FileSystemRefused) as caught:
        replace_file(fd, "a", b"new")
    assert caught.value.errno_name == "EBUSY"
    assert os.listdir(folder) == []


def test_writers_and_sweepers_do_not_hurt_each_other(fd: int, folder: Path) -> None:
    """XE6: 400 writes beside a sweep that never stops."""
    done = threading.Event()
    swept: list[int] = []

    def sweep() -> None:
        while not done.is_set():
            swept.append(sweep_temporary(fd))

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for number in range(200):
            replace_file(fd, "a", b"%d" % number)
            create_file(fd, f"n{number}", b"x")
            assert (folder / "a").read_bytes() == b"%d" % number
    finally:
        done.set()
        sweeper.join()
    assert swept
    assert len(os.listdir(folder)) == 201


def test_a_folder_that_cannot_be_synced_is_no_reason_to_fail(fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(_: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fsync", fsync)
    sync_folder(fd)


def test_a_killed_writer_leaves_a_file_that_is_swept(fd: int, folder: Path) -> None:
    """XE6: the lock dies with the process, here by SIGKILL in the middle of a write."""
    script = (
        "import os, signal, sys\n"
        "from toolroll.safe.paths import files\n"
        "os.fsync = lambda fd: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.replace_file(os.open(sys.argv[1], os.O_RDONLY), 'a', b'new')\n"
    )
    (folder / "a").write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", script, folder], check=False)
    assert done.returncode == -9
    assert len(os.listdir(folder)) == 2
    assert sweep_temporary(fd) == 1
    assert os.listdir(folder) == ["a"]
    assert (folder / "a").read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_written_where_it_can_be_made(tmp_path: Path) -> None:
    assert can_write(tmp_path / "a" / "b")
    assert not can_write(tmp_path / ("n" * 300) / "b")  # the system refuses even to look
