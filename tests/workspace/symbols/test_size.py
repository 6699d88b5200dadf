"""Projects of any size: what an index keeps and what an answer looks at is bounded, and the rest is said."""

import tracemalloc
from pathlib import Path

import pytest
from tests.workspace.conftest import Opening
from tests.workspace.symbols.conftest import SharedWorkers, Write

from toolroll.workspace.limits import Limits
from toolroll.workspace.symbols import references
from toolroll.workspace.symbols.imports import edges, importers
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.symbols.source_files import scan_all
from toolroll.workspace.symbols.store import Store
from toolroll.workspace.workspace import Workspace

NAMES = 5_000
BYTES_A_NAME = 250  # a path of 60 characters, and what points to it


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.workspace.symbols.source_files.MAX_SOURCES", 20)
    monkeypatch.setattr("toolroll.workspace.symbols.source_files.MAX_OTHERS", 10)


@pytest.mark.usefixtures("small_limits")
def test_XF17_an_index_takes_a_bounded_number_of_files_and_says_how_many_more_there_are(
    index: Index, write: Write, folder: Path
) -> None:
    write({f"m{number:03}.py": "import os\n\ndef load(): pass\n" for number in range(30)})
    write({f"table{number:03}.csv": "1" for number in range(30)})
    assert index.refresh().parsed == 20
    assert index.skipped() == {"too many": 10}
    [note] = index.limit_notes()
    assert "10 more" in note
    assert index.refresh().parsed == 0
    for number in range(15):
        (folder / f"m{number:03}.py").unlink()
    assert index.refresh().removed == 15  # and what was too much before has come in
    assert (index.limit_notes(), index.size()) == ((), (15, 15))


@pytest.mark.usefixtures("small_limits")
def test_XF17_looking_through_many_names_takes_little_memory(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    for number in range(NAMES):
        (folder / f"records_{number % 100}").mkdir(exist_ok=True)
        (folder / f"records_{number % 100}/a_record_with_a_usual_name_{number:05}.json").touch()
    store = Store(tmp_path / "index.sqlite3")
    scan_all(workspace, store)  # what is made once, such as patterns, is not counted
    tracemalloc.start()
    try:
        assert len(scan_all(workspace, store).changed) == 10
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        store.close()
    assert peak < NAMES * BYTES_A_NAME


def test_XF17_a_walk_that_was_cut_short_forgets_nothing_and_is_noted(
    opened: Opening, write: Write, workers: SharedWorkers
) -> None:
    write({f"m{number}.py": "def load(): pass\n" for number in range(6)})
    with Index(opened(), workers=workers) as index:
        index.refresh()
    with Index(opened(limits=Limits(walk_files=3)), workers=workers) as index:
        assert index.refresh().removed == 0
        assert len(index.definitions("load").found) == 6
        assert len(index.limit_notes()) == 1


def test_XF17_an_answer_looks_at_a_bounded_number_of_imports(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edges, "_FIRST", " order by importer.path, import limit 6")
    monkeypatch.setattr(importers, "MAX_EDGES", 5)
    write({f"m{number}.py": "import os\nfrom front import thing\n" for number in range(9)})
    write({"back.py": "thing = 1\n", "front/__init__.py": "from back import thing\n"})
    index.refresh()
    assert ([f"m{number}.py" for number in range(5)], True) == _paths(index, "os")
    assert _paths(index, "back.py") == (["front/__init__.py"], False)


def test_XF17_what_is_passed_on_is_bounded_too(index: Index, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "MAX_EDGES", 5)
    write({f"m{number}.py": "from front import thing\n" for number in range(9)})
    write({"front/__init__.py": "from .back import thing\n", "front/back.py": "thing = 1\n"})
    index.refresh()
    paths, is_cut = _paths(index, "front/back.py")
    assert (len(paths), is_cut) == (6, True)


def test_XF17_places_of_one_name_are_bounded(index: Index, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MAX_FOUND", 10)
    write({f"m{number}.py": "thing = 1\n" * 8 for number in range(4)})
    answer = index.references("thing")
    assert (len(answer.found), len(answer.notes)) == (10, 1)


def _paths(index: Index, asked: str) -> tuple[list[str], bool]:
    answer = index.importers(asked)
    return [one.path for one in answer.found], answer.is_cut
