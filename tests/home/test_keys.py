"""Keys: the environment first, then the keyring; never in a file of ours, never in an error."""

import stat
from collections.abc import Iterator
from importlib import util
from importlib.machinery import ModuleSpec
from pathlib import Path

import keyring
import pytest
from keyring.core import load_keyring
from tests.home.keyrings import FileKeyring, LockedKeyring

from toolroll.errors import FileSystemRefused, KeyringFailed, UsageError
from toolroll.home import keys
from toolroll.home.keys import KeyBook, find_keyring, known_secrets, with_keys
from toolroll.safe.secrets.redact import redact

CANARY = "canary-0123456789-never-seen"
NAME = "ANTHROPIC_API_KEY"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"TOOLROLL_HOME": str(tmp_path / "home")}


@pytest.fixture(autouse=True)
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileKeyring]:
    before, folder = keyring.get_keyring(), tmp_path / "ring"
    folder.mkdir()
    ring = FileKeyring()
    monkeypatch.setattr(FileKeyring, "folder", folder)
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_S41_a_key_is_put_found_and_taken_out(home: dict[str, str]) -> None:
    book = KeyBook.from_environment(home)
    assert (book.names(), book.get(NAME), book.delete(NAME)) == ((), None, False)
    book.put(NAME, CANARY)
    book.put("NOTION_TOKEN", "other-key-123")
    assert (book.names(), book.get(NAME)) == ((NAME, "NOTION_TOKEN"), CANARY)
    assert book.delete(NAME)
    assert (book.names(), book.get(NAME)) == (("NOTION_TOKEN",), None)


def test_S41_the_environment_comes_first_and_the_keyring_then(home: dict[str, str]) -> None:
    KeyBook.from_environment(home).put(NAME, CANARY)
    assert with_keys(home)[NAME] == CANARY
    assert with_keys({**home, NAME: "mine"})[NAME] == "mine"
    assert with_keys({**home, NAME: " "})[NAME] == CANARY
    assert with_keys(home).get("OPENAI_API_KEY") is None
    assert with_keys(home).get("TOOLROLL_HOME") == home["TOOLROLL_HOME"]
    assert "PATH" not in with_keys(home)
    assert sorted(with_keys(home)) == [NAME, "TOOLROLL_HOME"]
    assert len(with_keys({**home, NAME: "mine"})) == 2


def test_S41_a_variable_that_is_set_never_asks_the_keyring(home: dict[str, str]) -> None:
    KeyBook.from_environment(home).put(NAME, CANARY)
    keyring.set_keyring(LockedKeyring())
    assert with_keys({**home, NAME: "mine"})[NAME] == "mine"


def test_S41_D6_keys_of_the_keyring_are_known_to_the_redaction(home: dict[str, str]) -> None:
    KeyBook.from_environment(home).put(NAME, CANARY)
    known = known_secrets({**home, "GITHUB_TOKEN": "in-the-environment"})
    assert set(known) == {CANARY, "in-the-environment"}
    assert CANARY not in redact(f"so {CANARY}!", known=known)
    keyring.set_keyring(LockedKeyring())
    assert known_secrets(home) == ()


def test_S41_XF9_no_file_of_ours_holds_a_key(home: dict[str, str]) -> None:
    KeyBook.from_environment(home).put(NAME, CANARY)
    files = [path for path in Path(home["TOOLROLL_HOME"]).rglob("*") if path.is_file()]
    assert [path for path in files if CANARY in path.read_text()] == []
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_S41_names_that_somebody_else_wrote_are_not_asked_for(home: dict[str, str]) -> None:
    KeyBook.from_environment(home).put(NAME, CANARY)
    [file] = Path(home["TOOLROLL_HOME"]).rglob("keyring-names.txt")
    file.write_bytes(b"HOME\n\xff\nANTHROPIC_API_KEY\n")
    assert KeyBook.from_environment(home).names() == (NAME,)


@pytest.mark.parametrize("key", ["", "two\nlines", "ключ", "x" * 5_000])
def test_S41_what_is_no_key_is_refused(home: dict[str, str], key: str) -> None:
    with pytest.raises(UsageError, match="That is no key") as raised:
        KeyBook.from_environment(home).put(NAME, key)
    assert not key or key not in raised.value.message


def test_S41_only_keys_are_kept(home: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"'PATH' is not the name of a key, such as ANTHROPIC_API_KEY\."):
        KeyBook.from_environment(home).put("PATH", CANARY)


def test_S41_D6_an_error_of_the_keyring_is_told_without_its_words(home: dict[str, str]) -> None:
    KeyBook.from_environment(home).put(NAME, CANARY)
    keyring.set_keyring(LockedKeyring())
    for act in (
        lambda: KeyBook.from_environment(home).put(NAME, CANARY),
        lambda: KeyBook.from_environment(home).get(NAME),
        lambda: KeyBook.from_environment(home).delete(NAME),
        lambda: with_keys(home).get(NAME),
    ):
        with pytest.raises(KeyringFailed, match=r"could not be (read|written|changed) \(KeyringLocked\)") as raised:
            act()
        assert CANARY not in str(raised.value)
        assert raised.value.__cause__ is None


def test_S41_a_key_that_is_gone_from_the_keyring_is_forgotten(home: dict[str, str], ring: FileKeyring) -> None:
    book = KeyBook.from_environment(home)
    book.put(NAME, CANARY)
    ring.delete_password("toolroll", NAME)
    assert book.get(NAME) is None
    assert NAME not in known_secrets(home)
    assert book.delete(NAME)
    assert book.names() == ()


@pytest.mark.parametrize("broken", ["fail", "null"])
def test_S41_a_keyring_that_keeps_nothing_is_none(home: dict[str, str], broken: str) -> None:
    keyring.set_keyring(load_keyring(f"keyring.backends.{broken}.Keyring"))
    assert find_keyring().why == "this system has no keyring that works"
    with pytest.raises(KeyringFailed, match="Set the key as a variable instead"):
        KeyBook.from_environment(home).put(NAME, CANARY)


def test_S41_a_keyring_that_does_not_load_is_none(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a PYTHON_KEYRING_BACKEND that is not there: the library imports it, and fails as that does."""
    KeyBook.from_environment(home).put(NAME, CANARY)

    def load() -> None:
        raise ModuleNotFoundError("No module named 'nothing'")

    monkeypatch.setattr(keyring, "get_keyring", load)
    assert (
        find_keyring().why == "the one that is configured (PYTHON_KEYRING_BACKEND) does not load: ModuleNotFoundError"
    )
    with pytest.raises(KeyringFailed, match=r"does not load: ModuleNotFoundError\. Set the key as a variable instead"):
        KeyBook.from_environment(home).get(NAME)


def test_S41_a_folder_that_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileSystemRefused, match="ENAMETOOLONG"):
        KeyBook(tmp_path / ("x" * 300)).names()


def test_S41_without_the_library_that_is_said(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    KeyBook.from_environment(home).put(NAME, CANARY)
    assert find_keyring().name == "keyrings FileKeyring"

    def missing(name: str) -> ModuleSpec | None:
        return None if name == "keyring" else util.find_spec(name)

    monkeypatch.setattr(keys, "find_spec", missing)
    with pytest.raises(KeyringFailed, match=r"not installed \(pip install 'toolroll\[keyring\]'\)"):
        with_keys(home).get(NAME)
    assert known_secrets(home) == ()
