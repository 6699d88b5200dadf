"""What a file has beside its content stays when it is replaced, or the report names it (XE12)."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from toolroll.safe.paths.attributes import give_attributes, lost_attributes, read_attributes
from toolroll.safe.paths.names import parse_path
from toolroll.safe.paths.root import Root, WriteReport

ACCESS_LIST = "system.posix_acl_access"
READ, WRITE = 4, 6


def access_list(*, user: int) -> bytes:
    """An access control list with one more user who may read."""
    entries = [(1, WRITE, -1), (2, READ, user), (4, READ, -1), (16, READ, -1), (32, READ, -1)]
    packed = (
        tag.to_bytes(2, "little") + may.to_bytes(2, "little") + (who % (1 << 32)).to_bytes(4, "little")
        for tag, may, who in entries
    )
    return (2).to_bytes(4, "little") + b"".join(packed)


def give(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"this file system has no {name}: {error}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("old")
    return path


def write(file: Path, *, compared: bool) -> WriteReport:
    expected = hashlib.sha256(file.read_bytes()).hexdigest() if compared else None
    with Root(file.parent) as root:
        return root.write_file(parse_path(file.name), b"new", expected=expected)


@pytest.mark.parametrize("compared", [False, True])
def test_XE12_tags_and_access_control_lists_stay(file: Path, compared: bool) -> None:
    give(file, "user.tag", b"mine")
    give(file, ACCESS_LIST, access_list(user=1234))
    before, mode = os.getxattr(file, ACCESS_LIST), file.stat().st_mode
    assert write(file, compared=compared).lost == ()
    assert (file.read_text(), os.getxattr(file, "user.tag"), file.stat().st_mode) == ("new", b"mine", mode)
    assert os.getxattr(file, ACCESS_LIST) == before


def test_XE12_a_list_that_the_folder_gives_to_new_files_is_not_added(file: Path) -> None:
    give(file.parent, "system.posix_acl_default", access_list(user=1234))
    assert write(file, compared=True).lost == ()
    assert ACCESS_LIST not in os.listxattr(file)


def test_XE12_set_user_id_ends_with_the_content_and_is_named(file: Path) -> None:
    file.chmod(0o6755)
    assert write(file, compared=True).lost == ("set-user-id", "set-group-id")
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


def test_XE12_capabilities_end_with_the_content_and_are_named(file: Path) -> None:
    give(file, "security.capability", b"\x01\0\0\x02" + b"\0\x04\0\0" + bytes(12))
    assert write(file, compared=True).lost == ("its capabilities",)
    assert "security.capability" not in os.listxattr(file)


def test_XE12_what_belongs_to_the_content_is_not_handed_on(file: Path) -> None:
    fd = os.open(file, os.O_RDWR)
    try:
        give_attributes(fd, {"security.capability": b"any", "user.tag": b"mine", "no such name": b""})
        assert "security.capability" not in os.listxattr(fd)
    finally:
        os.close(fd)


def test_XE12_what_cannot_be_given_is_named(file: Path) -> None:
    fd = os.open(file.parent, os.O_RDONLY)
    try:
        found = lost_attributes(fd, file.name, {"user.tag": b"mine"}, old=file.stat(), mode=0o644)
        assert list(found) == ["user.tag"]
        assert read_attributes(fd, "missing") == {}
    finally:
        os.close(fd)


def test_XE12_a_new_file_has_lost_nothing(file: Path) -> None:
    file.unlink()
    with Root(file.parent) as root:
        assert root.write_file(parse_path("a.txt"), b"new").lost == ()


def test_XE12_a_system_without_attributes_has_none_to_lose(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("listxattr", "removexattr", "setxattr"):
        monkeypatch.delattr(os, name)
    assert write(file, compared=True).lost == ()
    assert file.read_text() == "new"
