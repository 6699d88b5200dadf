"""Draft proposals from what a model asks for: on the files as they are now, and only on what it has seen (C16-C19)."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from toolroll.errors import EditRefused, FileExists, FileMissing, OutsideRoot, StaleFile, ToolrollError
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.packs.code.answers import count_noun
from toolroll.packs.code.keys import is_by_person
from toolroll.packs.code.places import check_place, resolve_place
from toolroll.packs.code.seen_files import SeenFile, SeenFiles
from toolroll.safe.paths.names import RelativePath, check_new_part, quote_path
from toolroll.workspace.changes.apply import count_missing_folders
from toolroll.workspace.changes.content_cache import ContentCache
from toolroll.workspace.changes.doubts import find_doubts
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.edit.edit import edit_text
from toolroll.workspace.edit.encoding import decode_exactly
from toolroll.workspace.edit.merge import describe_drift, try_merge
from toolroll.workspace.edit.whole_file import encode_whole_file
from toolroll.workspace.search.lookalikes import find_twins, spell_name
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.symbols.languages.registry import language_of
from toolroll.workspace.text import decode, split_lines
from toolroll.workspace.workspace import Workspace

_READ_IT: Final = "Read it again, and propose the change on what is there."
_PROPOSE_AGAIN: Final = (
    f"{_READ_IT} Or, if it does not touch what changed, propose exactly the same again: it is put together with that, "
    "and the person is shown the result."
)
_THEY_TOUCH: Final = f"Your change touches what changed. {_READ_IT}"

LEAST_QUOTED_CHARACTERS: Final = 8
"""Of a passage that shows that a model knows a file: `return x` is the shortest statement that is worth a change."""

NOT_INDEXED: Final = "Who imports it is not known yet: the project is not indexed."
"""What a person is told who would take silence for "nobody"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """What a file holds on disk (None: it is not there yet), and what it will hold after the changes so far.

    `base` is what the changes are made from: what the model has read, which may be older than what is on disk.
    """

    path: RelativePath
    before: bytes | None
    after: bytes
    base: bytes | None

    @property
    def is_behind(self) -> bool:
        """Return whether the file has changed since the model read it."""
        return self.base != self.before

    @property
    def is_changed(self) -> bool:
        """Return whether there is a change of it already."""
        return self.after != self.base


class Drafter:
    """Changes being put together for one proposal; several to one file build on each other."""

    def __init__(self, workspace: Workspace, contents: ContentCache, ctx: ToolContext) -> None:
        self._workspace = workspace
        self._contents = contents
        self._ctx = ctx
        self._files: dict[RelativePath, _File] = {}
        self.notes: list[str] = []
        self._fitted: list[tuple[str, str]] = []
        self.create_hint = "with create_file"
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
        """Replace one passage of a file by another."""
        file = self._current(path, merges=expected_hash is None, quoted=None if replace_all else old)
        try:
            edited = edit_text(
                file.after,
                old,
                new,
                path=str(file.path),
                replace_all=replace_all,
                expected_replacements=expected_replacements,
                expected_hash=expected_hash,
            )
        except EditRefused:
            if file.is_behind:  # it may be meant for what is there now, which the model has not read
                raise _stale_error(file, _READ_IT) from None
            raise
        if edited.note:
            self.notes.append(edited.note)
        if edited.match_note:
            self._fitted.append((str(file.path), edited.match_note))
        self._files[file.path] = replace(file, after=edited.data)

    def replace_whole(self, path: str, content: str) -> None:
        """Replace all of a file that the model has seen all of."""
        file = self._current(path, whole=True)
        if file.is_changed:
            raise _changed_twice_error(file.path)
        written = encode_whole_file(file.after, content, path=str(file.path))
        self.notes += written.notes
        self._files[file.path] = replace(file, after=written.data)

    def create(self, path: str, content: str) -> None:
        """Add a file that is not there yet."""
        place = self._writable(path)
        if place in self._files or self._workspace.exists(place):
            raise self._exists(place, path)
        self._check_new(place)
        self._note_twins(place)
        check_place(place, self._ctx, written=path)
        decode_exactly(b"").check(content, path=str(place))
        self._files[place] = _File(path=place, before=None, after=content.encode("utf-8"), base=None)

    def proposal(self, description: str, index: Index) -> Proposal:
        """Return all of it, with a hint on who depends on what changes (C23)."""
        files = self._files.values()
        changes = tuple(Change(path=one.path, before=one.before, after=_merge_drift(one)) for one in files)
        idle = next((change for change in changes if change.does_nothing), None)
        if idle is not None:
            name = quote_path(str(idle.path))
            message = f"Taken together, the changes of '{name}' leave it as it is. Nothing was changed: leave them out."
            raise EditRefused(message, path=name, rule="no_change")
        behind = tuple(str(one.path) for one in files if one.is_behind)
        kept = (
            f"{quote_path(path)} has changed since the model read it. What changed there is kept." for path in behind
        )
        return Proposal(
            changes=changes,
            description=description,
            remarks=(*self.notes, *kept),
            merged=behind,
            fitted=tuple(self._fitted),
            hints=_importer_hints(changes, index),
            doubts=() if is_by_person(self._ctx) else _find_doubts(changes),
        )

    def _current(self, path: str, *, whole: bool = False, merges: bool = True, quoted: str | None = None) -> _File:
        """Return a file as the model knows it, with the changes so far."""
        place = self._writable(path)
        file = self._files.get(place) or self._read(place, path)
        if file.before is None or is_by_person(self._ctx):
            return file
        if quoted is not None and SeenFiles(self._ctx.run).get(str(file.path)) is None and _is_quote(file, quoted):
            return file
        return self._as_seen(file, file.before, whole=whole, merges=merges)

    def _as_seen(self, file: _File, now: bytes, *, whole: bool, merges: bool) -> _File:
        """Refuse what the model cannot know: a file it has not read, not read whole, or that has changed since.

        What changed is told first. Then the model may propose the same again, on what it had read: put together with
        what changed, it is a proposal of its own, which a person looks at anew.
        """
        seen, path = SeenFiles(self._ctx.run), str(file.path)
        known = seen.get(path)
        if known is None:
            message = f"You have not read '{quote_path(path)}' in this run. Read it first, then propose the change."
            raise StaleFile(message, path=quote_path(path))
        hash_ = content_hash(now)
        if known.hash != hash_ and not file.is_changed:
            file = replace(file, base=self._contents.get(known.hash), after=b"")
            if file.base is None or not merges or not known.was_told(hash_, self._ctx.number):
                seen.tell(path, hash_)
                raise _stale_error(file, _PROPOSE_AGAIN if file.base is not None and merges else _READ_IT, known.total)
            file = replace(file, after=file.base)
        if whole and not known.is_whole:
            raise _seen_in_part_error(path, known)
        return file

    def _writable(self, path: str) -> RelativePath:
        place = self._workspace.path(path)
        self._workspace.denials.check(place, "write")  # before a person is asked about what cannot be
        return place

    def _check_new(self, place: RelativePath) -> None:
        """Refuse now what would be refused after a person's yes: names that may not be made, and folders by links."""
        there = len(place.parts) - 1 - count_missing_folders(self._workspace, place)
        for part in place.parts[there:]:
            check_new_part(part, place)
        folder = RelativePath(parts=place.parts[:there])
        found = self._workspace.status(folder).resolved
        if found != folder:
            name = quote_path(str(place))
            raise OutsideRoot(
                f"'{name}' goes through a link. Name the folder itself: '{quote_path(str(found))}'.", path=name
            )

    def _note_twins(self, place: RelativePath) -> None:
        """Note names that a reader takes for the new one: which of them is meant later is a matter of luck."""
        there = len(place.parts) - 1 - count_missing_folders(self._workspace, place)
        try:
            entries, _ = self._workspace.entries(RelativePath(parts=place.parts[:there]))
        except ToolrollError:
            return  # a folder that may not be listed
        new = place.parts[there]
        for twin in find_twins(new, (entry.name for entry in entries)):
            self.notes.append(
                f"The new name '{spell_name(new)}' looks like '{spell_name(twin)}', which is there already."
            )

    def _exists(self, place: RelativePath, path: str) -> FileExists:
        """Return what is there already; only a file can be read and changed instead."""
        name, kind = quote_path(path), "file" if place in self._files else self._workspace.status(place).kind
        if kind == "file":
            return FileExists(f"'{name}' exists already. Read it, and change it with edit or edit_file.", path=name)
        what = "a folder. Name a file in it" if kind == "folder" else "neither a file nor a folder. Choose another name"
        return FileExists(f"'{name}' exists already, and is {what}; list_files shows what there is.", path=name)

    def _read(self, place: RelativePath, written: str) -> _File:
        try:
            # The file itself, whatever link was named: that is what a person is to see, and what is written.
            found = resolve_place(self._workspace, place, self._ctx, written=written)
            data = self._workspace.without_links().read(found).data
        except FileMissing as error:
            raise FileMissing(f"{error.message} A new file is made {self.create_hint}.", path=error.path) from None
        self._workspace.denials.check(found, "write")
        decode(data, path=str(found))  # what read_file calls binary nobody has seen, and no diff of it can be judged
        return self._files.get(found) or _File(path=found, before=data, after=data, base=data)


def _is_quote(file: _File, passage: str) -> bool:
    """Return whether a passage is in a file exactly once, to the letter: who can quote it knows it (decision 0014).

    A short one could be guessed. Of passages that are nearly there nothing is said: that would show what was not read.
    """
    return len(passage.strip()) >= LEAST_QUOTED_CHARACTERS and file.after.count(passage.encode("utf-8", "replace")) == 1


def _importer_hints(changes: Sequence[Change], index: Index) -> tuple[str, ...]:
    """Return how many files import each changed one, or that this is not known without looking at all of them."""
    paths = [str(one.path) for one in changes if one.before is not None and language_of(str(one.path)) is not None]
    with suppress(ToolrollError):  # the index is a help: no change fails for it
        if index.is_ready:
            counts = ((path, index.importer_count(path)) for path in paths)
            return tuple(
                f"{quote_path(path)} is imported by {count_noun(count, 'file')}." for path, count in counts if count
            )
    return (NOT_INDEXED,) if paths else ()


def _find_doubts(changes: Sequence[Change]) -> tuple[str, ...]:
    """Return what speaks against the changes; with the names of the files where there are several."""
    found = [(str(one.path), doubt) for one in changes for doubt in find_doubts(str(one.path), one.before, one.after)]
    return tuple(doubt if len(changes) == 1 else f"{quote_path(path)}: {doubt}" for path, doubt in found)


def _changed_twice_error(place: RelativePath) -> EditRefused:
    name = quote_path(str(place))
    message = (
        f"The whole content of '{name}' would take the place of what an earlier change in the same call gave it. "
        "Nothing was changed. Give the file one whole content, and passages only after it."
    )
    return EditRefused(message, path=name, rule="twice")


def _merge_drift(file: _File) -> bytes:
    """Return what will be there: with what changed since the model read the file, or StaleFile where the two touch."""
    if file.base is None or file.before is None or not file.is_behind:
        return file.after
    merged = try_merge(file.base, file.after, file.before)
    if merged is None:
        raise _stale_error(file, _THEY_TOUCH)
    return merged


def _stale_error(file: _File, advice: str, total: int | None = None) -> StaleFile:
    """Return the error for a file that has changed since: what changed, if that is still known, and what to do."""
    name, now = quote_path(str(file.path)), file.before or b""
    lines = len(split_lines(decode_exactly(now).text))
    had = total if file.base is None else len(split_lines(decode_exactly(file.base).text))
    counts = f"it had {count_noun(had or 0, 'line')}, and has {lines:,} now, with the hash {content_hash(now)}"
    message = f"'{name}' has changed since you read it: {counts}. Nothing was changed. {advice}"
    if file.base is not None:
        message += f" What changed:\n{describe_drift(file.path, file.base, now)}"
    return StaleFile(message, path=name)


def _seen_in_part_error(path: str, known: SeenFile) -> StaleFile:
    lines, name = sum(end - start for start, end in known.spans), quote_path(path)
    message = (
        f"You have seen {lines:,} of the {known.total:,} lines of '{name}', and edit_file replaces all of them. "
        "Read the rest first, or change one passage with edit."
    )
    return StaleFile(message, path=name)
