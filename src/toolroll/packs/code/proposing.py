"""From what a model asks for to a proposal: the files as they are now, and only what the model has seen (C16-C19)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolroll.errors import EditRefused, FileExists, FileMissing, OutsideRoot, StaleFile
from toolroll.kernel.approval import content_hash
from toolroll.kernel.context import ToolContext
from toolroll.packs.code.keys import is_by_person
from toolroll.packs.code.seen import SeenFiles
from toolroll.packs.code.wording import counted
from toolroll.safe.names import RelativePath, check_new_part, shown
from toolroll.workspace.edits.carrier import carry
from toolroll.workspace.edits.edit import edit_text
from toolroll.workspace.edits.whole import whole_text
from toolroll.workspace.history.writing import missing_folders
from toolroll.workspace.proposal import Change, Proposal
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.text import decode, split_lines
from toolroll.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """What a file holds on disk (None: it is not there yet), and what it will hold after the changes so far."""

    path: RelativePath
    before: bytes | None
    after: bytes


class Drafting:
    """Changes being put together for one proposal; several to one file build on each other."""

    def __init__(self, workspace: Workspace, ctx: ToolContext) -> None:
        self._workspace = workspace
        self._ctx = ctx
        self._files: dict[RelativePath, _File] = {}
        self.notes: list[str] = []
        self.made_new = "with create_file"
        """How the tool that was called makes a new file: said where one is missing."""

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
        file = self._current(path)
        edited = edit_text(
            file.after,
            old,
            new,
            path=str(file.path),
            replace_all=replace_all,
            expected_replacements=expected_replacements,
            expected_hash=expected_hash,
        )
        if edited.note:
            self.notes.append(edited.note)
        self._files[file.path] = replace(file, after=edited.data)

    def replace_whole(self, path: str, content: str) -> None:
        """All of a file that the model has seen all of."""
        file = self._current(path, whole=True)
        if file.after != file.before:
            raise _changed_before(file.path)
        written = whole_text(file.after, content, path=str(file.path))
        self.notes += written.notes
        self._files[file.path] = replace(file, after=written.data)

    def create(self, path: str, content: str) -> None:
        """A file that is not there yet."""
        place = self._writable(path)
        if place in self._files or self._exists(place):
            told = f"'{shown(path)}' exists already. Read it, and change it with edit or edit_file."
            raise FileExists(told, path=shown(path))
        self._check_new(place)
        self._files[place] = _File(path=place, before=None, after=content.encode("utf-8"))

    def proposal(self, description: str, index: Index) -> Proposal:
        """All of it, with a remark on who depends on what changes (C23)."""
        changes = tuple(Change(path=one.path, before=one.before, after=one.after) for one in self._files.values())
        idle = next((change for change in changes if change.does_nothing), None)
        if idle is not None:
            name = shown(str(idle.path))
            message = f"Taken together, the changes of '{name}' leave it as it is. Nothing was changed: leave them out."
            raise EditRefused(message, path=name, rule="no_change")
        return Proposal(changes=changes, description=description, remarks=(*self.notes, *_importers(changes, index)))

    def _current(self, path: str, *, whole: bool = False) -> _File:
        """A file as it is, or as it will be after the changes so far."""
        place = self._writable(path)
        file = self._files.get(place) or self._read(place)
        if file.before is not None and not is_by_person(self._ctx):
            _check_seen(file.path, file.before, SeenFiles(self._ctx.run), whole=whole)
        return file

    def _writable(self, path: str) -> RelativePath:
        place = self._workspace.path(path)
        self._workspace.denials.check(place, "write")  # before a person is asked about what cannot be
        return place

    def _check_new(self, place: RelativePath) -> None:
        """Refuse now what would be refused after a person's yes: names that may not be made, and folders by links."""
        there = len(place.parts) - 1 - missing_folders(self._workspace, place)
        for part in place.parts[there:]:
            check_new_part(part, place)
        folder = RelativePath(parts=place.parts[:there])
        found = self._workspace.status(folder).resolved
        if found != folder:
            name = shown(str(place))
            raise OutsideRoot(
                f"'{name}' goes through a link. Name the folder itself: '{shown(str(found))}'.", path=name
            )

    def _read(self, place: RelativePath) -> _File:
        try:
            # The file itself, whatever link was named: that is what a person is to see, and what is written.
            found = self._workspace.status(place).resolved
            data = self._workspace.read(found).data
        except FileMissing as error:
            raise FileMissing(f"{error.message} A new file is made {self.made_new}.", path=error.path) from None
        self._workspace.denials.check(found, "write")
        decode(data, path=str(found))  # what read_file calls binary nobody has seen, and no diff of it can be judged
        return self._files.get(found) or _File(path=found, before=data, after=data)

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


def _changed_before(place: RelativePath) -> EditRefused:
    name = shown(str(place))
    message = (
        f"The whole content of '{name}' would take the place of what an earlier change in the same call gave it. "
        "Nothing was changed. Give the file one whole content, and passages only after it."
    )
    return EditRefused(message, path=name, rule="twice")


def _check_seen(place: RelativePath, data: bytes, seen: SeenFiles, *, whole: bool) -> None:
    """Refuse what the model cannot know: a file it has not read, not read whole, or that is another one by now."""
    path, hash_ = str(place), content_hash(data)
    name = shown(path)
    known = seen.get(path)
    if known is None:
        raise StaleFile(f"You have not read '{name}' in this run. Read it first, then propose the change.", path=name)
    if known.hash != hash_:
        raise StaleFile(
            f"'{name}' has changed since you read it: it had {counted(known.total, 'line')}, and has "
            f"{len(split_lines(carry(data).text)):,} now, with the hash {hash_}. Nothing was changed. Read it again, "
            "and propose the change on what is there.",
            path=name,
        )
    if whole and not known.is_whole:
        lines = sum(end - start for start, end in known.spans)
        raise StaleFile(
            f"You have seen {lines:,} of the {known.total:,} lines of '{name}', and edit_file replaces all of them. "
            "Read the rest first, or change one passage with edit.",
            path=name,
        )
