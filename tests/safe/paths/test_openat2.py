"""The system call itself: no link, no way up, and where it is missing nobody notices."""

import errno
import os
import sys
from pathlib import Path

import pytest

from toolroll.safe.paths import openat2

needs_openat2 = pytest.mark.skipif(not openat2.is_available(), reason="this system has no openat2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "root/a").mkdir(parents=True)
    (tmp_path / "root/a/f").write_bytes(b"inside")
    (tmp_path / "root/link").symlink_to("a")
    (tmp_path / "root/out").symlink_to("..")
    (tmp_path / "f").write_bytes(b"outside")
    return tmp_path / "root"


@needs_openat2
@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("../f", errno.EXDEV),
        ("/etc/passwd", errno.EXDEV),
        ("a/../../f", errno.EXDEV),
        ("link/f", errno.ELOOP),
        ("out/f", errno.ELOOP),
        ("link", errno.ELOOP),
        ("none", errno.ENOENT),
    ],
)
def test_XP3_it_leads_nowhere_else(folder: Path, path: str, number: int) -> None:
    dir_fd = os.open(folder, os.O_RDONLY)
    try:
        with pytest.raises(OSError) as caught:
            openat2.open_beneath(dir_fd, path, os.O_RDONLY)
    finally:
        os.close(dir_fd)
    assert caught.value.errno == number
    assert caught.value.filename == path


@needs_openat2
def test_it_opens_and_creates_what_is_below(folder: Path) -> None:
    dir_fd = os.open(folder, os.O_RDONLY)
    try:
        fd = openat2.open_beneath(dir_fd, "a/f", os.O_RDONLY)
        assert os.read(fd, 10) == b"inside"
        assert not os.get_inheritable(fd)
        os.close(fd)
        os.close(openat2.open_beneath(dir_fd, "a/new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    finally:
        os.close(dir_fd)
    assert (folder / "a/new").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="about Linux")
def test_it_is_missing_where_the_kernel_refuses_it_and_on_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openat2, "_raw_open", lambda: lambda *_: -errno.ENOSYS)
    assert openat2.is_available.__wrapped__() is False
    monkeypatch.setattr(sys, "platform", "darwin")
    assert openat2.is_available.__wrapped__() is False


def test_it_is_tried_again_when_interrupted_but_not_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [-errno.EINTR, -errno.EAGAIN, 77]
    monkeypatch.setattr(openat2, "_raw_open", lambda: lambda *_: answers.pop(0))
    assert openat2.open_beneath(3, "x", 0) == 77
    answers[:] = [-errno.EAGAIN] * 100
    with pytest.raises(BlockingIOError):
        openat2.open_beneath(3, "x", 0)
    assert len(answers) > 80
