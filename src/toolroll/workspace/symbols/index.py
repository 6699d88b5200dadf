"""The symbol index of a workspace: what is defined where, who imports it, who refers to it (C20 to C23).

It lives in the workspace's private folder, is built by worker processes, and is brought up to date by looking at
sizes and times, then at hashes, then by parsing what changed. While it is not complete, a search answers instead.
Everything here waits, and belongs on a thread; threads may share an index.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar, cast

from toolroll.errors import FileProblem, LockTimeout, ToolrollError
from toolroll.kernel.approval.request import content_hash
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import can_write
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.sqlite import REMOVE_IT, DatabaseDamaged, DatabaseRefused, remove_database
from toolroll.workspace.symbols.definitions import (
    Definition,
    Definitions,
    choose_definitions,
    import_as_definition,
    search_definitions,
    split_name_path,
)
from toolroll.workspace.symbols.imports.edges import Resolver, StoredEdges
from toolroll.workspace.symbols.imports.importers import Importers, find_importers
from toolroll.workspace.symbols.languages.registry import LANGUAGES
from toolroll.workspace.symbols.references import Reference, References, find_references
from toolroll.workspace.symbols.repo_map import repo_map
from toolroll.workspace.symbols.source_files import MAX_SOURCES, is_current
from toolroll.workspace.symbols.store import OTHER, PARSED, Stamp, Store
from toolroll.workspace.symbols.symbol import Group, Symbol
from toolroll.workspace.symbols.update import COMPLETE, IS_CUT, LEFT_OUT, Progress, RefreshResult, Updater
from toolroll.workspace.symbols.workers import Workers
from toolroll.workspace.workspace import Workspace

T = TypeVar("T")

FILE_NAME: Final = "symbols.sqlite3"
MAX_REFRESHED: Final = 50  # files that an answer looks at again before it is given
BUILDING: Final = "The index is not complete yet: this comes from a search for lines that look like a definition."
BY_SEARCH: Final = "Not in the index: this comes from a search for lines that look like a definition."


class Index:
    """The symbols of one workspace. Close it: worker processes wait for the next file until then."""

    def __init__(self, workspace: Workspace, *, workers: Workers | None = None) -> None:
        self._workspace = workspace
        self._workers = workers or Workers()
        self._cancelled = threading.Event()
        self._refreshing = threading.Lock()
        self._builder: threading.Thread | None = None
        self._resolver: tuple[int, Resolver] | None = None
        self._replacing = threading.Lock()
        self._starting = threading.Lock()
        self.trouble: ToolrollError | None = None
        """Why it cannot be kept on disk, where that failed: it is made for this process alone then."""
        self._store = self._opened(lambda: workspace.state / _file_name(workspace))

    @classmethod
    def open(cls, workspace: Workspace) -> Self:
        """Return the index of a workspace as it was left; a damaged one, or one of another version, begins anew."""
        return cls(workspace)

    @classmethod
    def discard(cls, workspace: Workspace) -> None:
        """Remove all that is known of a workspace; LockTimeout while somebody is building it."""
        path = workspace.state / _file_name(workspace)
        with FileLock(path.with_suffix(".lock"), timeout_s=0):
            remove_database(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what is going on, with its processes. What was found until then is kept."""
        self.cancel()
        if self._builder is not None:
            self._builder.join()
        self._workers.close()
        self._store.close()

    def cancel(self) -> None:
        """End a refresh that is going on; any thread may say so."""
        self._cancelled.set()

    # --- Keeping it up to date -------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """Return whether every file has been looked at once: answers come from the index alone."""
        return self._with(lambda store: store.fact(COMPLETE) == 1)

    def start(self, on_progress: Progress | None = None) -> None:
        """Bring everything up to date in a thread of its own, which does not keep the program alive."""
        with self._starting:  # two calls of one turn may come here at once
            if self._builder is None or not self._builder.is_alive():
                builder = threading.Thread(target=self._build, args=(on_progress,), daemon=True)
                builder.start()
                self._builder = builder

    def wait(self, seconds: float) -> bool:
        """Wait at most so long for what `start` began, and return whether it has ended."""
        builder = self._builder
        if builder is None:
            return True
        builder.join(seconds)
        return not builder.is_alive()

    def refresh(
        self, paths: Collection[RelativePath] | None = None, on_progress: Progress | None = None
    ) -> RefreshResult:
        """Look at these files (None: at all), and bring the index up to date with them.

        Right after an edit this makes answers right. A refresh of everything that another process does already is
        left to it.
        """
        if paths is not None:
            return self._with(lambda store: self._updater(store).refresh(paths, on_progress))
        try:
            with self._refreshing, self._alone():
                self._cancelled.clear()
                return self._with(lambda store: self._updater(store).refresh(None, on_progress))
        except LockTimeout:
            return RefreshResult(is_complete=False)

    def skipped(self) -> dict[str, int]:
        """Return how many files are not in the index, by reason."""
        states = {**self._with(Store.states), "too many": self._with(lambda store: store.fact(LEFT_OUT))}
        return {state: n for state, n in states.items() if n and state not in {PARSED, OTHER}}

    def limit_notes(self) -> tuple[str, ...]:
        """Return what the index leaves out because the project is too large for it, as sentences."""
        left_out, is_cut = self._with(lambda store: (store.fact(LEFT_OUT), store.fact(IS_CUT)))
        beyond = (
            f"The index has {MAX_SOURCES:,} source files; {left_out:,} more are not in it: search for what they hold."
        )
        cut = "The project has too many names, or took too long to look through: the index has not seen all of it."
        return (*([beyond] if left_out else ()), *([cut] if is_cut else ()))

    def size(self) -> tuple[int, int]:
        """Return how many files were parsed, and how many definitions they have."""
        query = "select (select count(*) from files where state = ?), (select count(*) from symbols)"
        return cast("tuple[int, int]", self._with(lambda store: store.all(query, (PARSED,)))[0])

    # --- Asking ----------------------------------------------------------------------------------------

    def definitions(self, name_path: str, kind: Group | None = None) -> Definitions:
        """Find where a name is defined; `Class.method` names one by what it is in, `import` finds where it is imported.

        So does no kind at all where the name is defined nowhere: it is somebody else's, such as `np`.
        """
        around, name = split_name_path(name_path)
        if not name:
            return Definitions(found=())
        if kind == "import":
            return Definitions(found=self._imports(name), notes=self._notes(is_ready=self.is_ready, is_searched=False))
        is_ready = self.is_ready
        found = choose_definitions(self._known(name), around, kind) if is_ready else ()
        if found:
            return Definitions(found=found)
        is_known = self._is_parsed if is_ready else _never
        searched, is_cut = search_definitions(self._workspace, self._workers, name, is_known=is_known)
        by_search = choose_definitions(searched, around, kind)
        found = by_search or (self._imports(name) if kind is None and not around else ())
        notes = self._notes(is_ready=is_ready, is_searched=bool(by_search), is_cut=is_cut)
        return Definitions(found=found, notes=notes, suggestions=() if found else self._similar(name))

    def outline(self, path: RelativePath) -> tuple[Symbol, ...]:
        """Return what a file defines, in its order; parsed now if it has changed."""
        self._check([str(path)])
        return tuple(self._with(lambda store: store.outline(str(path))))

    def why_unknown(self, path: RelativePath) -> str | None:
        """Return why nothing is known of what a file defines; None where it was parsed, or never looked at."""
        known = self._stamp(str(path))
        return known.state if known is not None and known.state not in {PARSED, OTHER} else None

    def references(self, name_path: str) -> References:
        """Return every place where a name stands, with the definition around it; strings and comments do not count."""
        _, name = split_name_path(name_path)
        answer = find_references(self._workspace, self._workers, name)
        outlines = {path: self.outline(RelativePath(parts=tuple(path.split("/")))) for path in _paths(answer.found)}
        return replace(answer, found=tuple(_with_definition(one, outlines[one.path], name) for one in answer.found))

    def importers(self, asked: str, *, base: str | None = None) -> Importers:
        """Return who imports a module, a file, a package or a name; `base` is the file that a relative path is from."""
        return self._with(lambda store: self._importers(store, asked, base))

    def importer_count(self, path: str) -> int:
        """Return how many files import this one."""
        query = "select count(distinct file) from edges where path = ?"
        return cast("int", self._with(lambda store: store.all(query, (path,))[0][0]))

    def repo_map(self, budget_tokens: int) -> str:
        """Return what matters most, in at most so many tokens."""
        return self._with(lambda store: repo_map(store, budget_tokens))

    # --- Inside ----------------------------------------------------------------------------------------

    def _build(self, on_progress: Progress | None) -> None:
        # Nobody waits for this thread: what stops it is told to whoever asks the index next.
        with suppress(ToolrollError):
            self.refresh(on_progress=on_progress)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from building this index; where nothing can be kept, each has its own anyway."""
        path = self._store.path
        with ExitStack() as stack:
            if path is not None and can_write(path.parent):
                with suppress(FileProblem):  # a lock that cannot be made costs others some work, and nobody an answer
                    stack.enter_context(FileLock(path.with_suffix(".lock"), timeout_s=0))
            yield

    def _updater(self, store: Store) -> Updater:
        return Updater(
            workspace=self._workspace,
            store=store,
            workers=self._workers,
            cancelled=self._cancelled,
            make_resolver=lambda: self._make_resolver(store),
        )

    def _make_resolver(self, store: Store) -> Resolver:
        """Return a resolver for the files that the index has now; the last one where it still has the same."""
        generation = store.generation
        if self._resolver is None or self._resolver[0] != generation:
            self._resolver = (generation, Resolver(store.paths(), self._content))
        return self._resolver[1]

    def _content(self, path: str) -> bytes | None:
        with suppress(ToolrollError):
            return self._workspace.read(RelativePath(parts=tuple(path.split("/")))).data
        return None

    def _importers(self, store: Store, asked: str, base: str | None) -> Importers:
        def exports(path: str) -> list[str]:
            return [symbol.name for symbol in store.outline(path) if symbol.exported and symbol.parent is None]

        return find_importers(asked, StoredEdges(store), self._make_resolver(store), base=base, exports=exports)

    def _known(self, name: str) -> list[Definition]:
        found = self._with(lambda store: store.named(name))
        if self._check(path for path, _ in found):
            found = self._with(lambda store: store.named(name))
        return [Definition(path=path, symbol=symbol) for path, symbol in found]

    def _check(self, paths: Iterable[str]) -> bool:
        """Look at these files again, parse those that changed, and return whether there were any."""
        some = list(dict.fromkeys(paths))[:MAX_REFRESHED]
        stale = [
            RelativePath(parts=tuple(path.split("/")))
            for path in some
            if not is_current(self._workspace, path, self._stamp(path))
        ]
        if stale:
            self.refresh(stale)
        return bool(stale)

    def _stamp(self, path: str) -> Stamp | None:
        return self._with(lambda store: store.stamp(path))

    def _is_parsed(self, path: str) -> bool:
        """Return whether the index has all there is to know of a file."""
        known = self._stamp(path)
        return known is not None and known.state == PARSED and is_current(self._workspace, path, known)

    def _imports(self, name: str) -> tuple[Definition, ...]:
        edges = self._with(lambda store: list(StoredEdges(store).binding(name)))
        found = {(edge.importer, edge.statement.line): import_as_definition(edge, name) for edge in edges}
        return tuple(found[key] for key in sorted(found))

    def _similar(self, name: str) -> tuple[str, ...]:
        query = "select distinct name from symbols where name like ? escape '\\' order by length(name), name limit 5"
        pattern = "%" + name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        return tuple(cast("str", one) for (one,) in self._with(lambda store: store.all(query, (pattern,))))

    def _notes(self, *, is_ready: bool, is_searched: bool, is_cut: bool = False) -> tuple[str, ...]:
        notes = [] if is_ready else [BUILDING]
        if is_ready and is_searched:
            notes.append(BY_SEARCH)
        if is_cut:
            notes.append("More files look as if they defined it: ask for a longer name path, or search for it.")
        failed = self._with(lambda store: store.all("select path from files where state = 'not parsed' order by path"))
        if failed:
            notes.append(f"The parser failed on '{quote_path(str(failed[0][0]))}'{_and_more(len(failed) - 1)}.")
        query = "select distinct language from files where state = 'language not installed'"
        names = sorted(LANGUAGES[str(name)].title for (name,) in self._with(lambda store: store.all(query)))
        if names:
            notes.append(f"Not parsed: {', '.join(names)}. Install them with: pip install 'toolroll[languages]'")
        return tuple(notes)

    def _with(self, function: Callable[[Store], T]) -> T:
        """Ask the tables; a damaged file is rebuilt, and an index that the disk refuses is kept in memory (C14)."""
        store = self._store
        for _ in range(2):
            try:
                return function(store)
            except (DatabaseDamaged, DatabaseRefused) as error:
                store = self._replaced(store, error)
        try:
            return function(store)
        except DatabaseDamaged as error:
            raise _damage_error(store.path, error) from error

    def _replaced(self, store: Store, error: DatabaseDamaged | DatabaseRefused) -> Store:
        """Replace a store; where another thread has done so already, its store is returned."""
        with self._replacing:
            if self._store is store:
                self._store, self._resolver = self._better(store, error), None
            return self._store

    def _better(self, store: Store, error: DatabaseDamaged | DatabaseRefused) -> Store:
        if isinstance(error, DatabaseRefused):
            self.trouble = error
            return store.in_memory()
        store.close()
        return self._opened(lambda: _close_and_remove(store.path))

    def _opened(self, place: Callable[[], Path | None]) -> Store:
        """Return the index at a place; in memory where the system refuses it: no edit and no search fails for that."""
        path: Path | None = None
        try:
            path = place()
            return Store(path)
        except FileProblem as error:
            self.trouble = error
        except DatabaseDamaged as error:
            self.trouble = _damage_error(path, error)
        return Store(None)


def _file_name(workspace: Workspace) -> str:
    # An index with what is denied here, kept by a process with other rules, would give it away: each has its own.
    rules = "\n".join(sorted(workspace.denials.patterns))
    return f"symbols-{content_hash(rules)[:16]}.sqlite3" if rules else FILE_NAME


def _close_and_remove(path: Path | None) -> Path | None:
    if path is not None:
        remove_database(path)
    return path


def _damage_error(path: Path | None, error: DatabaseDamaged) -> DatabaseRefused:
    message = REMOVE_IT(name="index", path=path, reason=error)
    return DatabaseRefused(message, path=str(path), errno_name="SQLITE_CORRUPT")


def _and_more(count: int) -> str:
    return f" and {count:,} more" if count else ""


def _never(_: str) -> bool:
    return False


def _paths(found: Iterable[Reference]) -> list[str]:
    return list(dict.fromkeys(one.path for one in found))


def _with_definition(one: Reference, outline: tuple[Symbol, ...], name: str) -> Reference:
    """Return the reference with the innermost definition around it."""
    holders = [symbol for symbol in outline if symbol.start_line <= one.line <= symbol.end_line]
    is_definition = any((symbol.line, symbol.column) == (one.line, one.column) for symbol in holders)
    around = [symbol for symbol in holders if (symbol.line, symbol.name) != (one.line, name)]
    inside = max(around, key=lambda symbol: symbol.start_line).name_path if around else None
    return replace(one, inside=inside, is_definition=is_definition)
