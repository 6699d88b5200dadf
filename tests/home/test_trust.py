"""Trust in a project's own code: bound to the content, kept outside of the project."""

import os
import stat
from pathlib import Path

import pytest

from toolroll.errors import JsonRefused
from toolroll.home.trust import TrustBook

WORKSPACE = "/home/ada/project"
TOOLS = ".toolroll/tools/mine.py"


@pytest.fixture
def book(tmp_path: Path) -> TrustBook:
    return TrustBook(tmp_path / "config")


def test_C43_nothing_is_trusted_at_first(book: TrustBook) -> None:
    assert book.files() == ()
    assert not book.trusts(WORKSPACE, TOOLS, b"print()\n")
    assert not book.path.exists()


def test_C43_trust_is_bound_to_content_place_and_workspace(book: TrustBook) -> None:
    book.add(WORKSPACE, TOOLS, b"print()\n")
    assert book.trusts(WORKSPACE, TOOLS, b"print()\n")
    assert not book.trusts(WORKSPACE, TOOLS, b"print() \n")
    assert not book.trusts(WORKSPACE, ".toolroll/tools/other.py", b"print()\n")
    assert not book.trusts("/home/ada/other", TOOLS, b"print()\n")


def test_C43_new_content_takes_the_place_of_the_old(book: TrustBook) -> None:
    book.add(WORKSPACE, TOOLS, b"one")
    book.add(WORKSPACE, TOOLS, b"two")
    assert not book.trusts(WORKSPACE, TOOLS, b"one")
    assert [one.path for one in book.files()] == [TOOLS]


def test_C43_trust_can_be_taken_back(book: TrustBook) -> None:
    book.add(WORKSPACE, TOOLS, b"one")
    assert book.remove(WORKSPACE, TOOLS)
    assert not book.remove(WORKSPACE, TOOLS)
    assert not book.trusts(WORKSPACE, TOOLS, b"one")


def test_C43_adding_the_same_twice_changes_nothing(book: TrustBook) -> None:
    book.add(WORKSPACE, TOOLS, b"one")
    before = book.path.stat().st_mtime_ns
    book.add(WORKSPACE, TOOLS, b"one")
    assert book.path.stat().st_mtime_ns == before


def test_XF9_the_list_is_private(book: TrustBook) -> None:
    old = os.umask(0)
    try:
        book.add(WORKSPACE, TOOLS, b"one")
    finally:
        os.umask(old)
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(book.path.parent.stat().st_mode) == 0o700


def test_XA9_a_list_that_others_can_write_is_not_believed(book: TrustBook) -> None:
    book.add(WORKSPACE, TOOLS, b"one")
    book.path.chmod(0o666)
    with pytest.raises(JsonRefused, match="other users can write"):
        book.trusts(WORKSPACE, TOOLS, b"one")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"version": 2, "files": []}',
        b'{"version": 1, "files": [{"path": "x"}]}',
        b'{"version": 1, "version": 1, "files": []}',
    ],
)
def test_XA9_a_damaged_list_trusts_nothing_and_stays(book: TrustBook, content: bytes) -> None:
    book.add(WORKSPACE, TOOLS, b"one")
    book.path.write_bytes(content)
    with pytest.raises(JsonRefused, match=r"cannot be used: .* no project's own tools"):
        book.files()
    with pytest.raises(JsonRefused, match="cannot be used"):
        book.add(WORKSPACE, TOOLS, b"two")
    assert book.path.read_bytes() == content


def test_C43_the_book_of_a_user_is_in_their_configuration(tmp_path: Path) -> None:
    assert TrustBook.from_environment({"TOOLROLL_HOME": str(tmp_path)}).path == tmp_path / "config" / "trust.json"
