"""The store of style profiles: one file each, written whole under a lock; what is replaced is kept as a backup.

Readers need no lock: a file holds all of the old profile or all of the new one. A file that cannot be read is reported
and left alone, never replaced by a default (XJ3).
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NoReturn

from toolroll.errors import (
    ChangeRefused,
    FileExists,
    FileMissing,
    FileProblem,
    FileSystemRefused,
    OutsideRoot,
    ProfileFixed,
    ProfileMissing,
    ProfileNewer,
    StaleFile,
    ToolrollError,
    UsageError,
)
from toolroll.kernel.approval.request import content_hash
from toolroll.packs.writing.profiles.cache import (
    MIN_NEW_TO_WRITE,
    CachedSummaries,
    ProfileSummary,
    is_settled,
    read_cache,
    write_cache,
)
from toolroll.packs.writing.profiles.changes import FieldChange, first_version, list_changes, next_version
from toolroll.packs.writing.profiles.names import DEFAULT, SUFFIX, profile_file, profile_name_of
from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    SCHEMA,
    ProfileFields,
    StoredProfile,
    encode_profile,
    parse_profile,
    parse_profile_quickly,
)
from toolroll.packs.writing.profiles.schema import StyleProfile
from toolroll.packs.writing.storage import open_folder, read_regular_file, store_lock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.listing import Entry
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root

FOLDER: Final = "profiles"
INIT_HINT: Final = "Run `ghostpen init` to make your own."
MAX_NAMES_SHOWN: Final = 20
"""In a message; the list beside it has all of them."""

BACKUPS: Final = "backups"
"""The folder of what was replaced or deleted, below that of profiles."""
_BACKUPS: Final = RelativePath(parts=(BACKUPS,))
_HASH_SHOWN: Final = 16  # of a backup's name: 64 bits, so that no two contents meet


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableFile:
    """A file in the folder that is no profile, and why."""

    file: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenFile(UnreadableFile):
    """A file that the system does not hand out: nobody knows whether it is a profile, and making it anew is no help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileListing:
    """All profiles, the personal ones first and of each kind the newest first; and what looks like one and is none."""

    profiles: tuple[ProfileSummary, ...]
    unreadable: tuple[UnreadableFile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in that order."""
        return tuple(one.name for one in self.profiles)

    @property
    def damaged(self) -> tuple[str, ...]:
        """The files that can be read, and are no profiles."""
        return tuple(one.file for one in self.unreadable if not isinstance(one, ForbiddenFile))

    @property
    def is_damaged(self) -> bool:
        """Whether there would be a profile to write by, and it is damaged."""
        return DEFAULT + SUFFIX in self.damaged or bool(self.damaged and not self.profiles)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileUpdate:
    """A new version of a profile: its fields, the entry in its history, and the fields that are different."""

    fields: ProfileFields
    entry: ProfileFields
    paths: tuple[str, ...]


class ProfileStore:
    """The profiles below a data folder, in `profiles/`. Processes and threads may share it."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER
        self._data = data
        self._known: CachedSummaries | None = None

    def read(self, name: str) -> StoredProfile:
        """The profile of that name; an error says which others there are, or what is wrong with its file."""
        return parse_profile(self.raw(name), name)

    def listing(self) -> ProfileListing:
        """All profiles; files that have not changed since the last time, by whomever, are not read again."""
        if not self._folder.is_dir():
            return ProfileListing(profiles=(), unreadable=())
        before = read_cache(self._data) if self._known is None else self._known
        now: CachedSummaries = {}
        with closing(Root(self._folder)) as root, open_folder(self._folder) as folder:
            here = _ProfileFolder(root=root, folder=folder)
            found = [
                _summary_or_cached(here, one, before, now) for one in root.list_folder() if one.name.endswith(SUFFIX)
            ]
        self._known = now
        if sum(before.get(name) != kept for name, kept in now.items()) >= MIN_NEW_TO_WRITE:
            write_cache(self._data, now)
        profiles = [one for one in found if isinstance(one, ProfileSummary)]
        profiles.sort(key=lambda one: datetime.fromisoformat(one.updated_at), reverse=True)
        profiles.sort(key=lambda one: one.type)  # "personal" comes before "reference"
        return ProfileListing(
            profiles=tuple(profiles), unreadable=tuple(one for one in found if isinstance(one, UnreadableFile))
        )

    def propose(self, name: str, changes: Mapping[str, object]) -> "ProposedUpdate":
        """What an update would do to the profile as it is now; refused where `update` would refuse it."""
        stored = self.read(name)
        _check_can_change(stored)
        next_version(stored.fields, changes, reason="", now=datetime.fromisoformat(stored.profile.updated_at))
        return ProposedUpdate(
            version=stored.profile.version + 1, base=stored.hash, differences=list_changes(stored.fields, changes)
        )

    def update(
        self,
        name: str,
        changes: Mapping[str, object],
        *,
        reason: str,
        now: datetime,
        base: str | None = None,
        by_person: bool = False,
    ) -> ProfileUpdate:
        """Make all changes, or none: the next version, with an entry in the history.

        With `base`, `StaleFile` where the file is no longer the one that has this hash. A reference profile is changed
        only by a person themselves (`by_person`), never on feedback; what a person replaces is kept as a backup.
        """
        place = profile_file(name)
        if not self._folder.is_dir():
            raise _missing(name, ())
        with self._writing() as root:
            data = self._old(root, name, place)
            stored = parse_profile(data, name)
            _check_can_change(stored, by_person=by_person)
            if base is not None and base != stored.hash:
                told = f"Profile '{name}' was changed meanwhile, and nothing was written. Read it, and propose it anew."
                raise StaleFile(told, path=str(place))
            fields, entry = next_version(stored.fields, changes, reason=reason, now=now)
            if by_person or stored.schema < SCHEMA:
                _back_up(root, name, data)
            root.write_file(place, _encode_within_limit(name, fields), mode=0o600)
        return ProfileUpdate(fields=fields, entry=entry, paths=tuple(changes))

    def create(self, draft: Mapping[str, object], *, now: datetime, replace: bool = False) -> StoredProfile:
        """Write a new profile, checked, with the first entry of its history (W20).

        `draft` has what a profile says; version, times and history are made here. A profile that is there already is
        `FileExists`; with `replace` it gives way, and is kept as a backup.
        """
        fields = first_version(draft, now=now)
        return self._put(str(fields["profile_name"]), fields, replace=replace)

    def put(self, stored: StoredProfile, *, replace: bool = False) -> StoredProfile:
        """Write a whole profile with its own version and history: one that was brought along, or repaired by hand.

        What is there already is treated as `create` does.
        """
        if stored.is_newer:
            _refuse_newer(stored.profile.profile_name)
        return self._put(stored.profile.profile_name, stored.fields, replace=replace)

    def has(self, name: str) -> bool:
        """Whether there is a file under that name, sound or not."""
        return os.path.lexists(self._folder / str(profile_file(name)))

    def raw(self, name: str) -> bytes:
        """What the file of a profile holds, sound or not."""
        place = profile_file(name)
        if self._folder.is_dir():
            with closing(Root(self._folder)) as root, suppress(FileMissing):
                return _read_bytes(root, place)
        raise _missing(name, self.listing().names)

    def delete(self, name: str) -> None:
        """Remove a profile, which is kept as a backup; the default one stays."""
        place = profile_file(name)
        if name == DEFAULT:
            raise UsageError("The default profile cannot be deleted. Make it anew with `ghostpen init` instead.")
        if not self._folder.is_dir():
            raise _missing(name, ())
        with self._writing() as root:
            _back_up(root, name, self._old(root, name, place))
            root.remove_file(place)

    def _put(self, name: str, fields: Mapping[str, object], *, replace: bool) -> StoredProfile:
        place, data = profile_file(name), _encode_within_limit(name, fields)
        with self._writing(self._folder if self._folder.is_dir() else _make_folder(self._folder)) as root:
            if replace:
                with suppress(FileMissing):
                    _back_up(root, name, _read_bytes(root, place))
                root.write_file(place, data, mode=0o600)
            else:
                _create(root, place, data)
        return parse_profile(data, name)

    def _old(self, root: Root, name: str, place: RelativePath) -> bytes:
        try:
            return _read_bytes(root, place)
        except FileMissing:
            raise _missing(name, self.listing().names) from None

    @contextmanager
    def _writing(self, folder: Path | None = None) -> Iterator[Root]:
        """The folder, for one writer at a time; what those left that were killed is swept."""
        folder = folder or self._folder
        with store_lock(folder, FOLDER), closing(Root(folder)) as root:
            root.sweep_temporary()
            with suppress(FileProblem):  # there may be no backups yet; who makes one is told what is in the way
                root.sweep_temporary(_BACKUPS)
            yield root


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedUpdate:
    """An update that could be made: the version that it would be, what it is based on, and the fields old and new."""

    version: int
    base: str
    differences: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProfileFolder:
    """The folder of profiles, held open in both ways: with all care, and for many files at once."""

    root: Root
    folder: int

    def profile(self, name: str) -> StyleProfile:
        found = read_regular_file(self.folder, name + SUFFIX, limit_bytes=MAX_PROFILE_BYTES + 1)
        profile = None if found is None else parse_profile_quickly(found[0], name)
        return profile or parse_profile(_read_bytes(self.root, profile_file(name)), name).profile


def _summary_or_cached(
    here: _ProfileFolder, entry: Entry, before: CachedSummaries, now: CachedSummaries
) -> ProfileSummary | UnreadableFile:
    """What is known of a file, or what it says; kept in `now` where its time stamp can be relied on."""
    mark = entry.mtime_ns, entry.size
    kept = before.get(entry.name)
    is_known = kept is not None and kept[0] == mark and kept[1].name + SUFFIX == entry.name and entry.kind == "file"
    found = kept[1] if kept is not None and is_known else _summary(here, entry)
    if isinstance(found, ProfileSummary) and is_settled(entry.mtime_ns):
        now[entry.name] = mark, found
    return found


def _summary(here: _ProfileFolder, entry: Entry) -> ProfileSummary | UnreadableFile:
    name = profile_name_of(entry.name)
    if name is None:
        problem = "its name can be no profile's: small Latin letters, digits and single dashes, then .json"
        return UnreadableFile(file=entry.shown, problem=problem)
    if entry.kind != "file":
        return UnreadableFile(file=entry.shown, problem=f"it is no file, but a {entry.special or entry.kind}")
    try:
        profile = here.profile(name)
    except FileSystemRefused as error:
        return ForbiddenFile(file=entry.shown, problem=error.message)
    except ToolrollError as error:
        return UnreadableFile(file=entry.shown, problem=error.message)
    return ProfileSummary(
        name=name,
        type=profile.profile_type,
        language=profile.language,
        version=profile.version,
        updated_at=profile.updated_at,
        tone_summary=profile.voice.tone,
    )


def _read_bytes(root: Root, place: RelativePath) -> bytes:
    """What a profile's file holds; a link is not followed, as it may lead to another profile."""
    if root.stat(place).resolved != place:
        raise OutsideRoot(f"'{place}' is a link. Put the profile itself in its place.", path=str(place))
    return root.read_bytes(place, limit_bytes=MAX_PROFILE_BYTES)


def _make_folder(folder: Path) -> Path:
    """A folder that was not there; not everything takes one, as /proc does not."""
    try:
        return private_folder(folder)
    except FileMissing as error:
        told = f"The folder '{error.path}' cannot be made there. Name another folder with --data."
        raise FileMissing(told, path=error.path) from None


def _create(root: Root, place: RelativePath, data: bytes) -> None:
    try:
        root.create_file(place, data, mode=0o600)
    except FileExists as error:
        name = place.name.removesuffix(SUFFIX)
        told = f"There is a profile '{name}' already. Choose another name, or say that it is to be replaced."
        raise FileExists(told, path=error.path) from None


def _back_up(root: Root, name: str, data: bytes) -> None:
    """Keep a content; the same content is kept once, also when a kill came in between."""
    root.make_folders(_BACKUPS, 0o700)
    with suppress(FileExists):
        root.create_file(_BACKUPS.child(f"{name}-{content_hash(data)[:_HASH_SHOWN]}{SUFFIX}"), data, mode=0o600)


def _encode_within_limit(name: str, fields: Mapping[str, object]) -> bytes:
    data = encode_profile(fields)
    if len(data) > MAX_PROFILE_BYTES:
        problem = f"the profile would be larger than {MAX_PROFILE_BYTES:,} bytes: keep fewer or shorter examples"
        raise ChangeRefused(f"Nothing was written: {problem}.", profile=name, fields=("examples",), faults=(problem,))
    return data


def _check_can_change(stored: StoredProfile, *, by_person: bool = False) -> None:
    name = stored.profile.profile_name
    if stored.is_newer:
        _refuse_newer(name)
    if stored.profile.profile_type == "reference" and not by_person:
        told = f"Profile '{name}' is a reference profile: it is not updated by feedback. Nothing was changed."
        raise ProfileFixed(f"{told} Its owner can edit the file, or make the profile anew.", profile=name)


def _refuse_newer(name: str) -> NoReturn:
    told = f"Profile '{name}' was written by a newer version of this program. It is read, and not changed."
    raise ProfileNewer(f"{told} Update the program.", profile=name)


def _missing(name: str, available: tuple[str, ...]) -> ProfileMissing:
    more = f" and {len(available) - MAX_NAMES_SHOWN} more" if len(available) > MAX_NAMES_SHOWN else ""
    known = f" Available profiles: {', '.join(available[:MAX_NAMES_SHOWN])}{more}" if available else ""
    hint = f" {INIT_HINT}" if name == DEFAULT or not available else ""
    return ProfileMissing(f"Profile '{quote_path(name)}' not found.{hint}{known}", profile=name, available=available)
