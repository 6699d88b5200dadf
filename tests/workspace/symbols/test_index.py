"""The index of a workspace: right after every change, whatever happens to it."""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.workspace.conftest import Opening
from tests.workspace.symbols.conftest import SharedWorkers, Write, at

from toolroll.errors import FileProblem, FileSystemRefused
from toolroll.safe.locks import FileLock
from toolroll.safe.sqlite import CacheDatabase, DatabaseDamaged, DatabaseRefused
from toolroll.workspace.limits import Limits
from toolroll.workspace.symbols.definitions import Definitions
from toolroll.workspace.symbols.index import BUILDING, BY_SEARCH, FILE_NAME, Index
from toolroll.workspace.symbols.languages.language import is_installed
from toolroll.workspace.symbols.store import Store
from toolroll.workspace.symbols.update import BATCH, RefreshResult
from toolroll.workspace.symbols.workers import Reply, Task
from toolroll.workspace.workspace import Workspace

PROJECT = {
    "src/services/user.py": "class User:\n    def load(self): pass\n\ndef load(): return 'User'\n",
    "src/services/__init__.py": "from .user import User\n",
    "src/app.py": "from services.user import User, load\nimport os\n\ndef main():\n    return User().load()\n",
    "tests/test_user.py": "from services import User\n\ndef load(): return User()\n",
    "notes.md": "User is a class\n",
}


def places(answer: Definitions) -> list[str]:
    return [f"{one.path}:{one.symbol.line} {one.symbol.kind}" for one in answer.found]


def test_C14_a_definition_is_found_most_likely_first(index: Index, write: Write) -> None:
    write(PROJECT)
    before = index.is_ready
    assert index.refresh() == RefreshResult(parsed=4)
    assert (before, index.is_ready) == (False, True)
    assert places(index.definitions("load")) == [
        "src/services/user.py:4 function",
        "src/services/user.py:2 method",
        "tests/test_user.py:3 function",
    ]


def test_C20_where_nothing_can_be_kept_the_index_is_this_process_s_own(
    workspace: Workspace, workers: SharedWorkers, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(PROJECT)
    state = workspace.state
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    with Index(workspace, workers=workers) as index:
        assert index.refresh() == RefreshResult(parsed=4)
        assert index.is_ready
        assert places(index.definitions("User.load")) == ["src/services/user.py:2 method"]
    assert list(state.iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("User.load", ["src/services/user.py:2 method"]),
        ("User::load()", ["src/services/user.py:2 method"]),
        ("User#load", ["src/services/user.py:2 method"]),
        ("services.user.load", ["src/services/user.py:4 function"]),
        ("test_user.load", ["tests/test_user.py:3 function"]),
        ("Nobody.load", []),
        ("", []),
        ("..", []),
    ],
)
def test_C14_a_name_path_tells_which_one(index: Index, write: Write, asked: str, found: list[str]) -> None:
    write(PROJECT)
    index.refresh()
    assert found == places(index.definitions(asked))


def test_C14_kinds_narrow_the_answer(index: Index, write: Write) -> None:
    write({**PROJECT, "x.py": "User = 1\n"})
    index.refresh()
    assert places(index.definitions("User", "class")) == ["src/services/user.py:1 class"]
    assert places(index.definitions("User", "variable")) == ["x.py:1 variable"]
    assert places(index.definitions("User", "function")) == []
    assert places(index.definitions("User", "import")) == [
        "src/app.py:1 import",
        "src/services/__init__.py:1 import",
        "tests/test_user.py:1 import",
    ]


def test_C14_what_is_not_defined_has_suggestions(index: Index, write: Write) -> None:
    write({"a.py": "def load_user_100(): pass\ndef loaduser(): pass\n"})
    index.refresh()
    assert index.definitions("user_1") == Definitions(found=(), suggestions=("load_user_100",))


def test_C22_a_search_answers_before_the_index_is_built(index: Index, write: Write) -> None:
    write({**PROJECT, "plain.py": "y = User - 1\n"})
    answer = index.definitions("User")
    assert places(answer) == ["src/services/user.py:1 class"]
    assert answer.notes == (BUILDING,)


@pytest.mark.parametrize("name", ["x", "y", "z", "b", "c", "d", "w"])
def test_C14_C22_names_bound_together_are_found_by_search_and_by_index(index: Index, write: Write, name: str) -> None:
    write({"a.py": "x, (y, *z) = 1, (2, 3)\na, *b = [1]\n[c, d] = 1, 2\nprint((w := 3))\n"})
    cold = index.definitions(name)
    index.refresh()
    assert places(cold) == places(index.definitions(name)) != []


def test_C22_files_that_nothing_can_parse_are_answered_by_search(index: Index, write: Write) -> None:
    write({"a.ex": "defmodule Shop do\n  def total(x), do: x\n  total(1)\nend\n"})
    index.refresh()
    answer = index.definitions("total")
    assert places(answer) == ["a.ex:2 function"]
    assert not answer.found[0].is_certain
    assert answer.notes == (BY_SEARCH,)


def test_C20_languages_without_their_wheel_are_told(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_installed.cache_clear()
    monkeypatch.setattr(
        "toolroll.workspace.symbols.languages.language.find_spec", lambda name: None if "lua" in name else name
    )
    write({"a.lua": "function hello() end\n"})
    index.refresh()
    answer = index.definitions("hello")
    is_installed.cache_clear()
    assert index.skipped() == {"language not installed": 1}
    assert places(answer) == ["a.lua:1 function"]
    assert answer.notes == (BY_SEARCH, "Not parsed: Lua. Install them with: pip install 'toolroll[languages]'")


def test_C22_minified_generated_and_large_files_are_counted(opened: Opening, write: Write, folder: Path) -> None:
    write({"min.js": "x" * 6_000, "gen.go": "// Code generated by x. DO NOT EDIT.\n", "a.py": "x = 1\n" * 4_000})
    (folder / "bin.py").write_bytes(b"\0")
    (folder / os.fsdecode(b"\xff.py")).write_text("def unnamed(): pass\n")
    with Index.open(opened(limits=Limits(file_bytes=10_000))) as index:
        index.refresh()
        assert index.skipped() == {"binary": 1, "generated": 1, "minified": 1, "too large": 1}


def test_C22_an_unreadable_file_is_counted(index: Index, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.py": "x = 1\n"})

    def refuse(self: Workspace, path: object) -> None:
        raise FileSystemRefused("no", path="a.py", errno_name="EACCES")

    monkeypatch.setattr(Workspace, "read", refuse)
    index.refresh()
    assert index.skipped() == {"unreadable": 1}
    assert index.definitions("x").found == ()
    assert index.references("x").notes == (
        "1 file has the word, but cannot be parsed (such as a.py): use search_files there.",
    )


def test_C2_denied_and_ignored_files_are_not_indexed(opened: Opening, workers: SharedWorkers, write: Write) -> None:
    write({"secret/a.py": "def hidden(): pass\n", "b.py": "hidden()\n", ".gitignore": "c.py\n", "c.py": "hidden = 1\n"})
    with Index(opened("secret/**"), workers=workers) as index:
        assert index.definitions("hidden").found == ()
        index.refresh()
        index.refresh([at("secret/a.py"), at("c.py")])
        assert index.definitions("hidden").found == ()
        assert [one.path for one in index.references("hidden").found] == ["b.py"]


def test_C21_only_what_changed_is_parsed(index: Index, write: Write, folder: Path) -> None:
    write(PROJECT)
    for path in folder.rglob("*.py"):
        os.utime(path, (1, 1))
    index.refresh()
    assert index.refresh() == RefreshResult(unchanged=5)
    write({"src/app.py": "def other(): pass\n"})
    (folder / "tests/test_user.py").unlink()
    os.utime(folder / "src/services/user.py", (2, 2))
    assert index.refresh() == RefreshResult(parsed=1, unchanged=2, removed=1)
    assert places(index.definitions("other")) == ["src/app.py:1 function"]
    assert places(index.definitions("main")) == []


def test_C21_a_second_write_within_one_tick_is_seen(
    index: Index, write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "toolroll.workspace.symbols.source_files.RACY_NS", 1 << 60
    )  # however slow this machine is today
    write({"a.py": "def one(): pass\n"})
    index.refresh()
    stamp = (folder / "a.py").stat()
    write({"a.py": "def two(): pass\n"})
    os.utime(folder / "a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    index.refresh()
    assert places(index.definitions("two")) == ["a.py:1 function"]


def test_C21_right_after_an_edit_the_answer_is_right(index: Index, write: Write, folder: Path) -> None:
    write(PROJECT)
    index.refresh()
    write({"src/services/user.py": "\n\nclass User: pass\n", "src/new.py": "from services.user import User\n"})
    assert index.refresh([at("src/services/user.py"), at("src/new.py"), at("no/such.py")]) == RefreshResult(parsed=2)
    assert places(index.definitions("User", "class")) == ["src/services/user.py:3 class"]
    assert "src/new.py" in [one.path for one in index.importers("src/services/user.py").found]
    (folder / "src/services/user.py").unlink()
    index.refresh([at("src/services/user.py")])
    assert index.importer_count("src/services/user.py") == 0
    assert index.refresh().is_complete


def test_C21_an_answer_looks_at_its_files_again(index: Index, write: Write) -> None:
    write({"a.py": "def f(): pass\n"})
    index.refresh()
    write({"a.py": "\n\ndef f(): pass\n"})
    assert places(index.definitions("f")) == ["a.py:3 function"]
    write({"a.py": "\ndef f(): pass\n"})
    assert [symbol.line for symbol in index.outline(at("a.py"))] == [2]
    write({"a.py": "def g(): pass\n"})
    assert index.definitions("f").found == ()
    assert index.outline(at("no.py")) == ()


def test_C21_a_file_that_became_a_folder_is_gone(index: Index, write: Write, folder: Path) -> None:
    write({"a.py": "def f(): pass\n", "b.py": "import a\n"})
    index.refresh()
    (folder / "a.py").unlink()
    (folder / "a.py").mkdir()
    assert index.refresh([at("a.py")]).removed == 1
    write({"b.py": "import c\n"})
    assert index.refresh() == RefreshResult(parsed=1)
    assert [one.path for one in index.importers("c").found] == ["b.py"]


def test_C2_what_is_denied_is_not_searched(opened: Opening, workers: SharedWorkers, write: Write) -> None:
    write({"secret.py": "def hidden(): pass\n"})
    with Index(opened("secret.py"), workers=workers) as index:
        assert index.definitions("hidden").found == ()


def test_C21_a_manifest_that_cannot_be_read_is_none(index: Index) -> None:
    assert index._content("package.json") is None


def test_C21_a_build_that_is_just_being_started_can_be_waited_for(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_starting, may_start = threading.Event(), threading.Event()

    class SlowThread(threading.Thread):
        def start(self) -> None:
            is_starting.set()
            may_start.wait()
            super().start()

    other = threading.Thread(target=index.start)
    monkeypatch.setattr(threading, "Thread", SlowThread)
    other.start()
    is_starting.wait()
    index.wait(0.0)  # it used to fail here
    may_start.set()
    other.join()
    assert index.wait(60.0)


def test_C21_a_build_can_be_waited_for(index: Index, write: Write) -> None:
    write(PROJECT)
    index.wait(0)
    index.start()
    index.wait(60)
    assert index.is_ready


def test_C21_progress_is_told(index: Index, write: Write) -> None:
    count = BATCH + 5
    write({f"{n}.py": "x = 1\n" for n in range(count)})
    told: list[tuple[int, int]] = []
    index.refresh(on_progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (count, count)
    assert len(told) == 2


def test_C21_a_refresh_that_is_cancelled_keeps_what_it_has(index: Index, write: Write) -> None:
    write({f"{n}.py": f"def f{n}(): pass\n" for n in range(BATCH * 2)})
    refreshed = index.refresh(on_progress=lambda *_: index.cancel())
    assert not refreshed.is_complete
    assert not index.is_ready
    assert index.refresh().parsed < BATCH * 2
    assert index.is_ready


def test_C21_two_processes_do_not_build_at_once(index: Index, workspace: Workspace, write: Write) -> None:
    write({"a.py": "x = 1\n"})
    with FileLock((workspace.state / FILE_NAME).with_suffix(".lock")):
        assert index.refresh() == RefreshResult(is_complete=False)
        assert index.refresh([at("a.py")]).parsed == 1


def test_C21_it_is_built_in_a_thread_of_its_own(index: Index, write: Write) -> None:
    write(PROJECT)
    built = threading.Event()
    index.start(lambda done, total: built.set())
    index.start()
    assert built.wait(30)
    until = time.monotonic() + 30
    while not index.is_ready and time.monotonic() < until:
        threading.Event().wait(0.01)
    assert index.is_ready


def test_C21_a_build_that_the_system_stops_is_quiet(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Index, on_progress: object = None) -> None:
        raise FileSystemRefused("full", path="x", errno_name="ENOSPC")

    monkeypatch.setattr(Index, "refresh", refuse)
    index.start()
    index.close()


def test_C21_a_file_at_which_the_parser_crashes_costs_itself(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch, workers: SharedWorkers
) -> None:
    real = SharedWorkers.map

    def failing(
        self: SharedWorkers, tasks: Iterator[tuple[object, Task]], *, expected: int
    ) -> Iterator[tuple[object, Reply]]:
        for row, reply in real(self, tasks, expected=expected):
            bad = getattr(row, "path", row) == "bad.py"
            yield row, Reply(failure="crashed") if bad else reply

    monkeypatch.setattr(SharedWorkers, "map", failing)
    write({"bad.py": "def f(): pass\n", "good.py": "def g(): f()\n"})
    assert index.refresh() == RefreshResult(parsed=2, failed=("bad.py",))
    assert index.skipped() == {"not parsed": 1}
    assert places(index.definitions("g")) == ["good.py:1 function"]
    answer = index.definitions("f")
    assert places(answer) == ["bad.py:1 function"]
    assert [(one.is_certain, one.symbol.column) for one in answer.found] == [(False, 5)]
    assert "The parser failed on 'bad.py'." in answer.notes
    assert index.why_unknown(at("bad.py")) == "not parsed"
    assert index.why_unknown(at("good.py")) is None
    assert index.references("f").notes != ()


def test_C21_a_damaged_index_is_made_anew_without_an_error(index: Index, write: Write, workspace: Workspace) -> None:
    write(PROJECT)
    index.refresh()
    with sqlite3.connect(workspace.state / FILE_NAME) as db:
        db.execute("drop table symbols")
    db.close()
    assert places(index.definitions("User")) == ["src/services/user.py:1 class"]
    assert not index.is_ready
    assert index.refresh().parsed == 4
    assert index.is_ready


def test_C21_an_index_that_stays_damaged_is_an_error_with_a_way_out(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(self: Store, name: str) -> int:
        raise DatabaseDamaged("torn")

    monkeypatch.setattr(Store, "fact", damaged)
    with pytest.raises(FileSystemRefused, match="Remove that file"):
        _ = index.is_ready


def fill_disk(index: Index) -> None:
    """From now on the index cannot grow: SQLite says what it says of a full disk."""
    db = index._store._db
    [pages] = db.execute("pragma page_count").fetchone()
    db.execute(f"pragma max_page_count = {pages}")


def many(name: str) -> str:
    return "".join(f"def {name}_{number}():\n    pass\n" for number in range(2_000))


def test_C14_C21_on_a_full_disk_the_index_goes_on_in_memory(index: Index, write: Write, workspace: Workspace) -> None:
    write(PROJECT)
    index.refresh()
    fill_disk(index)
    write({"more.py": many("f")})
    assert index.refresh().parsed == 1  # what was known is taken along
    assert isinstance(index.trouble, DatabaseRefused)
    assert index.trouble.errno_name == "SQLITE_FULL"
    assert places(index.definitions("f_1999")) == ["more.py:3999 function"]
    assert places(index.definitions("User.load")) == ["src/services/user.py:2 method"]
    assert index.importers("services.user").found
    write({"more.py": many("g")})
    assert places(index.definitions("g_7")) == ["more.py:15 function"]
    with Index(workspace, workers=index._workers) as kept:
        assert places(kept.definitions("User")) == ["src/services/user.py:1 class"]


def test_C21_two_threads_that_meet_a_full_disk_go_on_with_one_index(index: Index, write: Write) -> None:
    write(PROJECT)
    index.refresh()
    old, error = index._store, DatabaseRefused("full", path="x", errno_name="SQLITE_FULL")
    new = index._replaced(old, error)
    assert index._replaced(old, error) is new is index._store
    assert new.paths() == sorted(PROJECT)
    with pytest.raises(DatabaseDamaged):
        old.paths()
    assert index.is_ready


def refuse_by_folder(state: Path) -> None:
    (state / FILE_NAME).mkdir()


def refuse_by_others(state: Path) -> None:
    state.chmod(0o770)


@pytest.mark.parametrize("refuse", [refuse_by_folder, refuse_by_others])
def test_C14_C21_an_index_that_cannot_be_opened_is_made_in_memory(
    refuse: Callable[[Path], None], workspace: Workspace, workers: SharedWorkers, write: Write
) -> None:
    write(PROJECT)
    refuse(workspace.state)
    with (
        Workspace(workspace.root, state=workspace.state) as again,
        Index(again, workers=workers) as index,
    ):
        assert isinstance(index.trouble, FileProblem)
        assert index.refresh() == RefreshResult(parsed=4)
        assert places(index.definitions("User.load")) == ["src/services/user.py:2 method"]


def test_C14_C21_a_state_folder_that_the_system_refuses_costs_no_answer(
    folder: Path, tmp_path: Path, workers: SharedWorkers, write: Write
) -> None:
    write(PROJECT)
    with Workspace(folder, state=tmp_path / ("n" * 300)) as refused, Index(refused, workers=workers) as index:
        assert isinstance(index.trouble, FileSystemRefused)
        assert index.trouble.errno_name == "ENAMETOOLONG"
        assert index.refresh() == RefreshResult(parsed=4)
        with pytest.raises(FileSystemRefused):
            Index.discard(refused)


def test_C21_a_lock_that_cannot_be_made_stops_no_build(index: Index, write: Write, workspace: Workspace) -> None:
    write(PROJECT)
    (workspace.state / FILE_NAME).with_suffix(".lock").mkdir()
    assert index.refresh() == RefreshResult(parsed=4)


def test_C21_damage_that_comes_back_at_once_is_met_in_memory(
    workspace: Workspace, workers: SharedWorkers, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another process of another version puts its own index there again and again."""
    write(PROJECT)
    state = workspace.state

    def torn(self: CacheDatabase, path: Path) -> None:
        raise DatabaseDamaged("torn")

    monkeypatch.setattr(CacheDatabase, "open", torn)
    with Index(workspace, workers=workers) as index:
        assert "torn" in str(index.trouble)
        assert index.refresh() == RefreshResult(parsed=4)
        index._replaced(index._store, DatabaseDamaged("in memory"))
        assert index.refresh() == RefreshResult(parsed=4)
    assert not (state / FILE_NAME).exists()


def test_C23_references_leave_out_strings_and_comments(index: Index, write: Write) -> None:
    write(PROJECT)
    index.refresh()
    found = index.references("User").found
    assert [(one.path, one.line, one.inside, one.is_definition) for one in found] == [
        ("src/app.py", 1, None, False),
        ("src/app.py", 5, "main", False),
        ("src/services/__init__.py", 1, None, False),
        ("src/services/user.py", 1, None, True),
        ("tests/test_user.py", 1, None, False),
        ("tests/test_user.py", 3, "load", False),
    ]
    assert index.references("User.load").found[-1].is_definition
    assert index.references("!?").found == ()


def test_C23_many_files_with_the_word_are_cut_with_a_note(
    index: Index, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a.py": "f = 1\n", "b.py": "f = 2\n", "c.md": "f\n", "min.js": "f;" + "x" * 6_000})
    monkeypatch.setattr("toolroll.workspace.symbols.references.MAX_FILES", 3)
    assert any("More than 3 files" in note for note in index.references("f").notes)
    monkeypatch.setattr("toolroll.workspace.symbols.definitions.MAX_FILES", 1)
    answer = index.definitions("f")
    assert len(answer.found) == 1
    assert any("More files look" in note for note in answer.notes)


def test_C23_importers_follow_the_language(index: Index, write: Write) -> None:
    write(
        {
            **PROJECT,
            "web/a.ts": "export * from './b';",
            "web/b.ts": "export const x = 1;",
            "web/c.ts": "import {x} from './a';",
        }
    )
    index.refresh()
    assert [(one.path, one.line) for one in index.importers("services.user").found] == [
        ("src/app.py", 1),
        ("src/services/__init__.py", 1),
        ("tests/test_user.py", 1),
    ]
    assert [(one.path, one.via) for one in index.importers("web/b.ts").found] == [
        ("web/a.ts", None),
        ("web/c.ts", "web/a.ts"),
    ]
    assert index.importer_count("src/services/user.py") == 2
    assert [one.path for one in index.importers("os").found] == ["src/app.py"]
    assert [one.path for one in index.importers("load").found] == ["src/app.py"]


def test_C15_a_changed_manifest_leads_imports_elsewhere(index: Index, write: Write) -> None:
    config = '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["%s/*"]}}}'
    write({"tsconfig.json": config % "one", "one/x.ts": "", "two/x.ts": "", "m.ts": "import '@/x';\n"})
    index.refresh()
    assert (index.importer_count("one/x.ts"), index.importer_count("two/x.ts")) == (1, 0)
    write({"tsconfig.json": config % "two"})
    index.refresh()
    assert (index.importer_count("one/x.ts"), index.importer_count("two/x.ts")) == (0, 1)


def test_C23_the_map_shows_what_others_import_first(index: Index, write: Write) -> None:
    write({**PROJECT, "lone.py": "def lonely(): pass\n", "tests/more.py": "def test(): pass\n"})
    index.refresh()
    text = index.repo_map(200)
    assert text.splitlines()[:3] == ["src/services/user.py (imported by 2)", "  1: class User", "  4: def load()"]
    assert text.index("lone.py") < text.index("tests/more.py")
    assert index.repo_map(14) == "src/services/user.py (imported by 2)\n"
    assert index.repo_map(1) == ""


WORDS = ["alpha", "beta", "gamma", "delta"]
LINES: list[Callable[[str], str]] = [
    lambda word: f"def {word}(): pass\n",
    lambda word: f"class {word}:\n    x = 1\n",
    lambda word: f"import {word}\n",
    lambda word: f"from . import {word}\n",
    lambda word: f"from pkg.{word} import alpha\n",
]


def contents(index: Index) -> dict[str, list[object]]:
    """Everything that answers come from, without the numbers of rows."""
    store = index._store
    queries = {
        "files": "select path, language, size, hash, state from files order by 1",
        "symbols": "select path, name, kind, line, signature from symbols join files on id = file order by 1, 4, 2",
        "edges": "select importer.path, body, edges.path, module, certainty from edges "
        "join imports on imports.id = import join files as importer on importer.id = edges.file order by 1, 2, 3, 4",
        "names": "select name, count(*) from names group by 1 order by 1",
    }
    return {name: list(store.all(query)) for name, query in queries.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(max(3, int(os.environ.get("TOOLROLL_ROUNDS", "0")) // 100)))
def test_C21_a_refresh_after_random_edits_equals_a_rebuild(
    index: Index, folder: Path, tmp_path: Path, workers: SharedWorkers, seed: int
) -> None:
    chance = random.Random(seed)
    names = [f"{base}{word}.py" for base in ("", "pkg/", "pkg/sub/") for word in [*WORDS, "__init__"]]
    for step in range(6):
        changed = chance.sample(names, 4)
        for name in changed:
            path = folder / name
            if path.exists() and chance.random() < 0.4:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(chance.choice(LINES)(chance.choice(WORDS)) for _ in range(chance.randrange(5))))
        if step and chance.random() < 0.5:
            index.refresh([at(name) for name in changed])
    index.refresh()
    with Workspace(folder, state=tmp_path / "other") as again, Index(again, workers=workers) as rebuilt:
        rebuilt.refresh()
        assert contents(index) == contents(rebuilt)
