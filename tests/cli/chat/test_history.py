"""What was written before: private, bounded, without secrets."""

import json
import stat
from pathlib import Path

import pytest

from toolroll.cli.chat.history import MAX_KEPT, MAX_KEPT_CHARACTERS, MessageHistory
from toolroll.errors import FileSystemRefused

KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2n" * 6


def test_S1_texts_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    past = MessageHistory.from_environment("code", {"TOOLROLL_HOME": str(tmp_path / "home")})
    assert past.texts() == []
    past.add("one\nline and another")
    past.add("два")
    past.add("два")
    again = MessageHistory.from_environment("code", {"TOOLROLL_HOME": str(tmp_path / "home")})
    assert again.texts() == ["one\nline and another", "два"]
    file = tmp_path / "home" / "data" / "code-history.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_S1_secrets_are_never_stored(tmp_path: Path) -> None:
    past = MessageHistory(tmp_path / "past", secrets=("correct horse battery",))
    past.add(f"use {KEY} please")
    past.add("the password is correct horse battery, yes")
    data = (tmp_path / "past").read_text()
    assert (KEY in data, "horse" in data, data.count("[redacted:")) == (False, False, 2)


def test_S1_only_the_latest_and_no_long_ones_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "past"
    file.write_text("".join(f"{json.dumps(str(number))}\n" for number in range(MAX_KEPT)))
    past = MessageHistory(file)
    past.add("x" * (MAX_KEPT_CHARACTERS + 1))
    past.add(" \n")
    assert len(past.texts()) == MAX_KEPT
    past.add("new")
    texts = past.texts()
    assert (len(texts), texts[0], texts[-1]) == (MAX_KEPT, "1", "new")


def test_S1_lines_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "past").write_bytes(b'"one"\n{broken\n7\n\xff\n"two"\n')
    assert MessageHistory(tmp_path / "past").texts() == ["one", "two"]


def test_S1_a_folder_that_others_can_change_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(FileSystemRefused):
        MessageHistory(tmp_path / "past").add("one")
