"""A file with records that has lost them says so, and is left as it is (XD14)."""

import os
import signal
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from toolroll.errors import RecordsLost
from toolroll.safe.record_database import RecordDatabase
from toolroll.safe.sqlite import read_version
from toolroll.safe.sqlite_log import CutLog, find_cut_log, index_path, log_path

TABLES = "create table if not exists words (word text);"
RECORDS = RecordDatabase(name="list", version=1, tables=TABLES, synchronous="normal", loss="The words are gone then.")
WRITE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from tests.safe.test_record_database import RECORDS
db = RECORDS.open(Path(sys.argv[1]))
for number in range(50):
    db.execute("insert into words values (?)", (f"word {number} " * 50,))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "words.db"


@pytest.fixture
def killed(path: Path) -> Path:
    """A file whose writer was killed: most of it stands in the log."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, str(path)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert log_path(path).stat().st_size > 50_000
    return path


def read_all(path: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in path.parent.iterdir()}


def count(path: Path) -> int:
    with closing(RECORDS.open(path)) as db:
        [number] = db.execute("select count(*) from words").fetchone()
    return int(number)


def test_XD14_what_a_killed_writer_left_opens_whole(killed: Path) -> None:
    assert count(killed) == 50


@pytest.mark.parametrize("size", [0, 100, 40_000])
def test_XD14_a_log_that_was_cut_is_noticed_and_nothing_is_overwritten(killed: Path, size: int) -> None:
    os.truncate(log_path(killed), size)
    before = read_all(killed)
    for _ in range(2):
        with pytest.raises(RecordsLost, match=r"has lost its latest records: 'words\.db-wal' had .* remove '.*-shm'"):
            RECORDS.open(killed)
    assert read_all(killed) == before
    index_path(killed).unlink()  # a person's word
    assert count(killed) < 50


def test_XD14_a_log_that_is_gone_is_noticed(killed: Path) -> None:
    log_path(killed).unlink()
    with pytest.raises(RecordsLost, match="has 0 now"):
        RECORDS.open(killed)


def test_XD14_a_log_without_its_database_is_noticed(killed: Path) -> None:
    killed.unlink()
    before = read_all(killed)
    with pytest.raises(RecordsLost, match=r"only its latest part is left, in 'words\.db-wal'"):
        RECORDS.open(killed)
    assert read_all(killed) == before


def test_XD14_a_file_of_no_bytes_or_without_tables_is_not_a_new_one(path: Path) -> None:
    assert count(path) == 0
    os.truncate(path, 0)
    with pytest.raises(RecordsLost, match=r"all that it held is lost.*move that file away.*The words are gone then"):
        RECORDS.open(path)
    assert path.stat().st_size == 0
    path.unlink()
    with closing(sqlite3.connect(path)) as made:
        made.execute("pragma journal_mode = wal")
    with pytest.raises(RecordsLost):
        RECORDS.open(path)
    path.rename(path.with_name("aside"))
    assert count(path) == 0


def test_XD14_it_is_noticed_in_a_folder_that_is_read_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert count(path) == 0
    os.truncate(path, 0)
    monkeypatch.setattr("toolroll.safe.record_database.can_write", lambda _folder: False)
    with pytest.raises(RecordsLost):
        RECORDS.open(path)


def test_a_new_file_has_its_tables_when_it_gets_its_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when another process has made it in the meantime, which then is the one that counts."""
    monkeypatch.setattr(RecordDatabase, "_create_or_open", lambda _self, _path: sqlite3.connect(":memory:"))
    RECORDS.open(path).close()
    with closing(sqlite3.connect(path)) as made:
        assert read_version(made) == 1
        made.execute("insert into words values ('theirs')")
        made.commit()
    RECORDS._create(path)
    assert [one.name for one in path.parent.iterdir()] == ["words.db"]
    with closing(sqlite3.connect(path)) as made:
        assert made.execute("select word from words").fetchall() == [("theirs",)]


def test_a_file_in_use_is_whole_at_every_moment(path: Path) -> None:
    with closing(RECORDS.open(path)) as db:
        for _ in range(20):
            db.execute("insert into words values ('a')")
            assert find_cut_log(path) is None
        db.execute("pragma wal_checkpoint(truncate)")
        assert find_cut_log(path) is None


def write_index(path: Path, *, frames: int, stored: int = 0, page_bytes: int = 4096, is_set_up: int = 1) -> None:
    header = struct.pack("=4x4x4xBxHI", is_set_up, page_bytes, frames).ljust(48, b"\0")
    index_path(path).write_bytes(header * 2 + struct.pack("=I", stored))


def test_the_index_of_a_log_says_how_long_it_must_be(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    write_index(path, frames=3)
    assert find_cut_log(path) == CutLog(byte_size=0, expected_bytes=32 + 3 * (24 + 4096))
    log_path(path).write_bytes(bytes(32 + 3 * (24 + 4096)))
    assert find_cut_log(path) is None
    write_index(path, frames=3, page_bytes=1)
    assert find_cut_log(path) == CutLog(byte_size=12_392, expected_bytes=32 + 3 * (24 + 65_536))


@pytest.mark.parametrize("fields", [{"stored": 3}, {"is_set_up": 0}], ids=["stored", "not set up"])
def test_an_index_that_misses_nothing_proves_nothing(tmp_path: Path, fields: dict[str, int]) -> None:
    write_index(tmp_path / "words.db", frames=3, **fields)
    assert find_cut_log(tmp_path / "words.db") is None


def test_an_index_that_is_being_written_proves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    write_index(path, frames=3)
    whole = index_path(path).read_bytes()
    for strange in (whole[:40], b"\1" + whole[1:]):
        index_path(path).write_bytes(strange)
        assert find_cut_log(path) is None


def test_an_index_that_changes_meanwhile_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "words.db"
    write_index(path, frames=3)
    states = iter([index_path(path).read_bytes(), b"emptied"])
    monkeypatch.setattr("toolroll.safe.sqlite_log._read_index", lambda _path: next(states))
    assert find_cut_log(path) is None
