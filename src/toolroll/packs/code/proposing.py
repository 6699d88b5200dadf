"""From what a model asks for to a proposal: the files as they are now, and only what the model has seen (C16-C19)."""

from collections.abc import Iterator, Sequence

from toolroll.errors import ArgumentsRefused, FileExists, FileMissing, StaleFile
from toolroll.kernel.context import ToolContext
from toolroll.packs.code.keys import is_by_person
from toolroll.packs.code.seen import SeenFiles
from toolroll.safe.names import RelativePath, shown
from toolroll.workspace.edits.edit import edit_text
from toolroll.workspace.edits.whole import whole_text
from toolroll.workspace.proposal import Change, Proposal
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.workspace import Content, Workspace


class Drafting:
    """Changes being put together for one proposal; several to one file build on each other."""

    def __init__(self, workspace: Workspace, ctx: ToolContext) -> None:
        self._workspace = workspace
        self._ctx = ctx
        self._changes: dict[RelativePath, Change] = {}
        self.notes: list[str] = []

    def replace_text(
        self,
        path: str,
        old: str,
        new: str,
        *,
        replace_all: bool = False,
        expected_replacements: int | None = None,
        expected_hash: str | None = None,
    ) -> None:
        """One passage of a file for another."""
        place, before, now = self._current(path)
        if now is None:
            raise FileMissing(f"'{shown(path)}' is to be removed or does not exist. Create it instead.", path=path)
        edited = edit_text(
            now,
            old,
            new,
            path=str(place),
            replace_all=replace_all,
            expected_replacements=expected_replacements,
            expected_hash=expected_hash,
        )
        if edited.note:
            self.notes.append(edited.note)
        self._changes[place] = Change(path=place, before=before, after=edited.data)

    def replace_whole(self, path: str, content: str) -> None:
        """All of a file that the model has seen all of."""
        place, before, now = self._current(path, whole=True)
        if now is None:
            raise FileMissing(f"There is no '{shown(path)}'. Make it with create_file.", path=path)
        written = whole_text(now, content, path=str(place))
        self.notes += written.notes
        self._changes[place] = Change(path=place, before=before, after=written.data)

    def create(self, path: str, content: str) -> None:
        """A file that is not there yet."""
        place = self._workspace.path(path)
        if place in self._changes or self._exists(place):
            told = f"'{shown(path)}' exists already. Read it, and change it with edit or edit_file."
            raise FileExists(told, path=shown(path))
        self._changes[place] = Change(path=place, before=None, after=content.encode("utf-8"))

    def proposal(self, description: str, index: Index) -> Proposal:
        """All of it, with a remark on who depends on what changes (C23)."""
        if not self._changes:
            raise ArgumentsRefused("There are no changes. Name at least one.")
        changes = tuple(self._changes.values())
        return Proposal(changes=changes, description=description, remarks=(*self.notes, *_importers(changes, index)))

    def _current(self, path: str, *, whole: bool = False) -> tuple[RelativePath, bytes | None, bytes | None]:
        """A file's place, what it holds on disk, and what it will hold after the changes so far."""
        place = self._workspace.path(path)
        known = self._changes.get(place)
        if known is not None:
            return place, known.before, known.after
        content = self._workspace.read(place)
        if not is_by_person(self._ctx):
            _check_seen(content, SeenFiles(self._ctx.run), whole=whole)
        return place, content.data, content.data

    def _exists(self, place: RelativePath) -> bool:
        try:
            self._workspace.status(place)
        except FileMissing:
            return False
        return True


def _importers(changes: Sequence[Change], index: Index) -> Iterator[str]:
    """How many files import each of those that change, where that is known without looking through the project."""
    if not index.is_ready:
        return
    for change in changes:
        count = index.importer_count(str(change.path)) if change.before is not None else 0
        if count:
            yield f"{shown(str(change.path))} is imported by {count} {'file' if count == 1 else 'files'}."


def _check_seen(content: Content, seen: SeenFiles, *, whole: bool) -> None:
    """Refuse what the model cannot know: a file it has not read, not read whole, or that is another one by now."""
    path = str(content.path)
    name = shown(path)
    known = seen.get(path)
    if known is None:
        raise StaleFile(f"You have not read '{name}' in this run. Read it first, then propose the change.", path=name)
    if known.hash != content.hash:
        raise StaleFile(
            f"'{name}' has changed since you read it: it has the hash {content.hash} now. Nothing was changed. Read it "
            "again, and propose the change on what is there.",
            path=name,
        )
    if whole and not known.is_whole:
        lines = sum(end - start for start, end in known.spans)
        raise StaleFile(
            f"You have seen {lines:,} of the {known.total:,} lines of '{name}', and edit_file replaces all of them. "
            "Read the rest first, or change one passage with edit.",
            path=name,
        )
