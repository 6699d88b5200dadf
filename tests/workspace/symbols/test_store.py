"""The tables of an index: made anew where they cannot be used, private, and never older than what is known."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import FileSystemRefused
from toolroll.safe.sqlite import DatabaseDamaged, remove_database
from toolroll.workspace.symbols.extract import extract
from toolroll.workspace.symbols.imports.statement import ImportStatement
from toolroll.workspace.symbols.store import INDEX, PARSED, VERSION, FileRow, Store, connect
from toolroll.workspace.symbols.symbol import FileSymbols, Symbol, read_names, to_rows, to_statement, to_symbol


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "symbols.sqlite3"


def row(path: str, text: str = "def f(): pass\n", mtime_ns: int = 1) -> FileRow:
    rows = to_rows(extract("python", text.encode()))
    return FileRow(path=path, language="python", size=1, mtime_ns=mtime_ns, hash="h", state=PARSED, rows=rows)


def test_XF9_an_index_is_for_its_owner_alone(path: Path) -> None:
    Store(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_C21_a_damaged_index_begins_anew(path: Path, damage: bytes) -> None:
    Store(path).close()
    path.write_bytes(damage)
    store = Store(path)
    assert store.paths() == []
    store.close()


def test_C21_an_index_of_another_version_begins_anew(path: Path) -> None:
    store = Store(path)
    store.put([row("a.py")])
    store.close()
    with sqlite3.connect(path) as db:
        db.execute(f"pragma user_version = {VERSION + 1}")
    db.close()
    store = Store(path)
    assert store.paths() == []
    store.close()


def test_C21_what_the_system_refuses_is_no_damage(path: Path, tmp_path: Path) -> None:
    error = sqlite3.OperationalError("disk is full")
    error.sqlite_errorname = "SQLITE_FULL"
    with pytest.raises(FileSystemRefused, match="disk is full"), INDEX.errors(path):
        raise error
    with pytest.raises(DatabaseDamaged), INDEX.errors(path):
        raise sqlite3.DatabaseError("file is not a database")
    (tmp_path / "state").mkdir(mode=0o700)
    path.mkdir()
    with pytest.raises(Exception, match="symbols"):
        connect(path)


def test_C21_removing_takes_along_what_sqlite_keeps_beside(path: Path) -> None:
    store = Store(path)
    store.put([row("a.py")])
    remove_database(path)
    store.close()
    assert [file.name for file in path.parent.iterdir() if file.name.startswith("symbols")] == []


def test_C21_files_are_replaced_whole(path: Path) -> None:
    store = Store(path)
    [number] = store.put([row("a.py", "from m import n\ndef f(): pass\nclass C: pass\n")])
    assert [number] == store.put([row("a.py", "def g(): pass\n", mtime_ns=2)])
    assert [symbol.name for symbol in store.outline("a.py")] == ["g"]
    assert [] == list(store.statements()) == list(store.statements([number]))
    assert store.all("select * from names") == []
    store.close()


def test_C21_an_older_look_does_not_replace_a_younger_one(path: Path) -> None:
    store = Store(path)
    store.put([row("a.py", "def new(): pass\n", mtime_ns=5)])
    assert store.put([row("a.py", "def old(): pass\n", mtime_ns=4)]) == []
    assert [symbol.name for symbol in store.outline("a.py")] == ["new"]
    store.close()


def test_C21_all_or_nothing_is_written(path: Path) -> None:
    store = Store(path)
    broken = row("b.py")
    broken.rows[0][0][2] = "no number"
    with pytest.raises((DatabaseDamaged, FileSystemRefused)):
        store.put([row("a.py"), broken])
    assert store.paths() == []
    store.close()


def test_C21_what_ended_a_transaction_is_told(path: Path) -> None:
    """As a full disk does."""
    store = Store(path)

    def fail() -> None:
        with store._writing() as db:
            db.execute("rollback")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    store.put([row("a.py")])
    store.close()
    again = Store(path)
    assert again.paths() == ["a.py"]
    again.close()


def test_C21_stamps_facts_and_generations(path: Path) -> None:
    store = Store(path)
    [number] = store.put([row("a.py")])
    first = store.generation
    store.restamp([(number, 7, 8)])
    stamp = store.stamp("a.py")
    assert stamp is not None
    assert (stamp.size, stamp.mtime_ns, stamp.hash, stamp.state) == (7, 8, "h", PARSED)
    assert [("a.py", stamp)] == list(store.sorted_stamps())
    assert store.stamp("b.py") is None
    assert first == store.generation
    store.put([row("a.py", mtime_ns=9), row("package.json", mtime_ns=9)])
    assert first < store.generation
    before = store.generation
    store.put([row("package.json", mtime_ns=10)])
    assert before < store.generation
    store.set_fact("x", 3)
    assert (store.fact("x"), store.fact("y")) == (3, 0)
    store.forget([number])
    assert store.paths() == ["package.json"]
    assert store.states() == {PARSED: 1}
    store.close()


def test_C21_statements_are_read_in_pieces(path: Path) -> None:
    store = Store(path)
    store.put([row(f"{n}.py", "import a\nfrom b import c\n" * 100) for n in range(30)])
    assert len({number for number, _, _ in store.statements()}) == 6_000
    store.close()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
SYMBOLS = st.builds(
    Symbol,
    name=TEXT,
    kind=st.sampled_from(["class", "import"]),
    line=st.integers(1, 9),
    column=st.integers(1, 9),
    start_line=st.integers(1, 9),
    end_line=st.integers(1, 9),
    parent=st.none() | TEXT,
    signature=TEXT,
    doc=st.none() | TEXT,
    exported=st.booleans(),
)
STATEMENTS = st.builds(
    ImportStatement,
    module=TEXT,
    names=st.lists(TEXT, max_size=3).map(tuple),
    binds=st.lists(TEXT, max_size=3).map(tuple),
    line=st.integers(1, 9),
    end_line=st.integers(1, 9),
    text=TEXT,
    passes_on=st.booleans(),
)


@given(symbol=SYMBOLS, statement=STATEMENTS)
def test_C21_rows_carry_everything(symbol: Symbol, statement: ImportStatement) -> None:
    symbols, imports, has_error = to_rows(FileSymbols(symbols=(symbol,), imports=(statement,), has_error=True))
    assert symbol == to_symbol(symbols[0])
    assert statement == to_statement(imports[0])
    assert list(statement.names) == list(read_names(imports[0]))
    assert has_error
