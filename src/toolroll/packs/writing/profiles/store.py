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
    NotAFile,
    OutsideRoot,
    PathRefused,
    ProfileFixed,
    ProfileMissing,
    ProfileNewer,
    StaleFile,
    ToolrollError,
    UsageError,
)
from toolroll.kernel.approval.request import content_hash
from toolroll.messages import A_DEVICE, A_FOLDER, A_LINK, A_PIPE, A_SOCKET, Template
from toolroll.packs.writing.profiles.changes import FieldChange, first_version, list_changes, next_version
from toolroll.packs.writing.profiles.faults import TOO_BIG, make_fault
from toolroll.packs.writing.profiles.names import DEFAULT, SUFFIX, profile_file, profile_name_of
from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    StoredProfile,
    encode_profile,
    parse_profile,
    parse_profile_quickly,
)
from toolroll.packs.writing.profiles.schema import FORMAT, Language, Moment, ProfileFields, ProfileType, StyleProfile
from toolroll.packs.writing.storage import find_folder, make_folder, open_folder, read_regular_file, store_lock
from toolroll.safe.paths.listing import Entry
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root

FOLDER: Final = "profiles"
_FOLDER_PATH: Final = RelativePath(parts=(FOLDER,))
PROFILE_STALE: Final = Template(
    "profile_stale",
    "Profile '{name}' has changed in the meantime. Nothing was written.",
    "Read it, and propose the change again.",
)
PROFILE_EXISTS: Final = Template(
    "profile_exists", "The profile '{name}' exists already.", "Choose another name, or replace it."
)
PROFILE_IS_LINK: Final = Template("profile_is_link", "'{path}' is a link.", "Put the profile itself in its place.")
DEFAULT_STAYS: Final = Template(
    "default_profile_stays", "The default profile cannot be deleted.", "Create it again with `ghostpen init` instead."
)()
FOLDER_NOT_CREATED: Final = Template(
    "folder_not_created", "The folder '{path}' cannot be created.", "Name another folder with --data."
)
BAD_FILE_NAME: Final = Template(
    "profile_file_name",
    "its name is not that of a profile: lower-case Latin letters, digits and single dashes, then .json",
)()
NOT_A_FILE: Final = Template("profile_not_a_file", "it is not a file, but {kind}")
SOMETHING_ELSE: Final = Template("something_else", "something else")()
_KINDS: Final = {"folder": A_FOLDER, "link": A_LINK, "pipe": A_PIPE, "socket": A_SOCKET, "device": A_DEVICE}

INIT_HINT: Final = "Run `ghostpen init` to create your own."
MAX_NAMES_SHOWN: Final = 20
"""In a message; the list beside it has all of them."""

BACKUPS: Final = "backups"
"""The folder for what was replaced or deleted, below that of profiles."""
_BACKUPS: Final = RelativePath(parts=(BACKUPS,))
_HASH_SHOWN: Final = 16  # of a backup's name: 64 bits, so that no two contents meet


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummary:
    """One profile in a list."""

    name: str
    type: ProfileType
    language: Language
    version: int
    updated_at: Moment
    tone_summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableFile:
    """A file in the folder that is not a profile, or that nobody can read, and why."""

    file: str
    error: ToolrollError

    @property
    def is_damaged(self) -> bool:
        """Return whether it was read and is not a profile; where the system refuses to read it, nobody knows."""
        return not isinstance(self.error, FileSystemRefused)

    @property
    def fields(self) -> dict[str, str]:
        """Return the file as it is listed in JSON."""
        return {"file": self.file, "problem": self.error.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileListing:
    """All profiles, the personal ones first and of each type the newest first; and files that look like one."""

    profiles: tuple[ProfileSummary, ...]
    unreadable: tuple[UnreadableFile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names in that order."""
        return tuple(one.name for one in self.profiles)

    @property
    def damaged(self) -> tuple[str, ...]:
        """Return the files that can be read and are not profiles."""
        return tuple(one.file for one in self.unreadable if one.is_damaged)

    @property
    def is_damaged(self) -> bool:
        """Return whether there would be a profile to write by, but it is damaged."""
        return DEFAULT + SUFFIX in self.damaged or bool(self.damaged and not self.profiles)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileUpdate:
    """A new version of a profile: its fields, the entry in its history, and the paths that changed."""

    fields: ProfileFields
    entry: ProfileFields
    paths: tuple[str, ...]


class ProfileStore:
    """The profiles below a data folder, in `profiles/`. Processes and threads may share it."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._folder = data / FOLDER

    def read(self, name: str) -> StoredProfile:
        """Return the profile of that name; an error says which others there are, or what is wrong with its file."""
        return parse_profile(self.raw(name), name)

    def listing(self) -> ProfileListing:
        """Return all profiles. Every file is read each time: a thousand take less than 100 ms."""
        if not self._is_there():
            return ProfileListing(profiles=(), unreadable=())
        with closing(Root(self._folder)) as root, open_folder(self._folder) as folder:
            here = _ProfileFolder(root=root, folder=folder)
            found = [_summarize(here, one) for one in root.list_folder() if one.name.endswith(SUFFIX)]
        profiles = [one for one in found if isinstance(one, ProfileSummary)]
        profiles.sort(key=lambda one: datetime.fromisoformat(one.updated_at), reverse=True)
        profiles.sort(key=lambda one: one.type)  # "personal" comes before "reference"
        unreadable = tuple(one for one in found if isinstance(one, UnreadableFile))
        return ProfileListing(profiles=tuple(profiles), unreadable=unreadable)

    def propose(self, name: str, changes: Mapping[str, object]) -> "ProposedUpdate":
        """Return what an update would do to the profile as it is now; refuses what `update` would refuse."""
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

        With `base`, raises `StaleFile` if the file no longer has this hash. Only a person (`by_person`) can change a
        reference profile, feedback cannot; what a person replaces is kept as a backup.
        """
        path = profile_file(name)
        if not self._is_there():
            raise _missing_error(name, ())
        with self._lock_folder() as root:
            data = self._old(root, name, path)
            stored = parse_profile(data, name)
            _check_can_change(stored, by_person=by_person)
            if base is not None and base != stored.hash:
                raise StaleFile(PROFILE_STALE(name=name), path=str(path))
            fields, entry = next_version(stored.fields, changes, reason=reason, now=now)
            if by_person or stored.format < FORMAT:
                _back_up(root, name, data)
            root.write_file(path, _encode_within_limit(name, fields), mode=0o600)
        return ProfileUpdate(fields=fields, entry=entry, paths=tuple(changes))

    def create(self, draft: Mapping[str, object], *, now: datetime, replace: bool = False) -> StoredProfile:
        """Write a new profile, checked, with the first entry of its history (W20).

        `draft` has what a profile says; version, times and history are added. An existing profile raises `FileExists`;
        with `replace` it is replaced and kept as a backup.
        """
        fields = first_version(draft, now=now)
        return self._put(str(fields["profile_name"]), fields, replace=replace)

    def put(self, stored: StoredProfile, *, replace: bool = False) -> StoredProfile:
        """Write a whole profile with its own version and history: one that was imported, or repaired by hand.

        An existing profile is treated as in `create`.
        """
        if stored.is_newer:
            _refuse_newer(stored.profile.profile_name)
        return self._put(stored.profile.profile_name, stored.fields, replace=replace)

    def has(self, name: str) -> bool:
        """Return whether there is a file under that name, valid or not."""
        return os.path.lexists(self._folder / str(profile_file(name)))

    def raw(self, name: str) -> bytes:
        """Return the bytes of a profile's file, valid or not."""
        path = profile_file(name)
        if self._is_there():
            with closing(Root(self._folder)) as root, suppress(FileMissing):
                return _read_bytes(root, path)
        raise _missing_error(name, self.listing().names)

    def delete(self, name: str) -> None:
        """Delete a profile and keep a backup; the default one cannot be deleted."""
        path = profile_file(name)
        if name == DEFAULT:
            raise UsageError(DEFAULT_STAYS)
        if not self._is_there():
            raise _missing_error(name, ())
        with self._lock_folder() as root:
            _back_up(root, name, self._old(root, name, path))
            root.remove_file(path)

    def _put(self, name: str, fields: Mapping[str, object], *, replace: bool) -> StoredProfile:
        path, data = profile_file(name), _encode_within_limit(name, fields)
        with self._lock_folder(_make_folder(self._data)) as root:
            if replace:
                with suppress(FileMissing):
                    _back_up(root, name, _read_bytes(root, path))
                root.write_file(path, data, mode=0o600)
            else:
                _create(root, path, data)
        return parse_profile(data, name)

    def _is_there(self) -> bool:
        return find_folder(self._data, _FOLDER_PATH) is not None

    def _old(self, root: Root, name: str, path: RelativePath) -> bytes:
        try:
            return _read_bytes(root, path)
        except FileMissing:
            raise _missing_error(name, self.listing().names) from None

    @contextmanager
    def _lock_folder(self, folder: Path | None = None) -> Iterator[Root]:
        """Lock the folder for one writer, and remove temporary files that killed writers have left."""
        folder = folder or self._folder
        with store_lock(folder, FOLDER), closing(Root(folder)) as root:
            root.sweep_temporary()
            with suppress(FileProblem):  # there may be no backups yet; who makes one is message what is in the way
                root.sweep_temporary(_BACKUPS)
            yield root


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedUpdate:
    """An update that could be made: its version, the hash of the file it is based on, and the fields old and new."""

    version: int
    base: str
    differences: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProfileFolder:
    """The folder of profiles, opened twice: with all checks, and for quick reads of many files."""

    root: Root
    folder: int

    def profile(self, name: str) -> StyleProfile:
        found = read_regular_file(self.folder, name + SUFFIX, limit_bytes=MAX_PROFILE_BYTES + 1)
        profile = None if found is None else parse_profile_quickly(found[0], name)
        return profile or parse_profile(_read_bytes(self.root, profile_file(name)), name).profile


def _summarize(here: _ProfileFolder, entry: Entry) -> ProfileSummary | UnreadableFile:
    name = profile_name_of(entry.name)
    try:
        if name is None:
            raise PathRefused(BAD_FILE_NAME, path=entry.shown, rule="profile_file_name")
        if entry.kind != "file":
            raise NotAFile(NOT_A_FILE(kind=_KINDS.get(entry.special or entry.kind, SOMETHING_ELSE)), path=entry.shown)
        profile = here.profile(name)
    except ToolrollError as error:
        return UnreadableFile(file=entry.shown, error=error)
    return ProfileSummary(
        name=name,
        type=profile.profile_type,
        language=profile.language,
        version=profile.version,
        updated_at=profile.updated_at,
        tone_summary=profile.voice.tone,
    )


def _read_bytes(root: Root, path: RelativePath) -> bytes:
    """Return the bytes of a file; a link is not followed, because it may lead to another profile."""
    if root.stat(path).resolved != path:
        raise OutsideRoot(PROFILE_IS_LINK(path=path), path=str(path))
    return root.read_bytes(path, limit_bytes=MAX_PROFILE_BYTES)


def _make_folder(data: Path) -> Path:
    """Return the folder of profiles, created if it is missing; some places, such as /proc, take none."""
    try:
        return make_folder(data, _FOLDER_PATH)
    except FileMissing as error:
        raise FileMissing(FOLDER_NOT_CREATED(path=error.path), path=error.path) from None


def _create(root: Root, path: RelativePath, data: bytes) -> None:
    try:
        root.create_file(path, data, mode=0o600)
    except FileExists as error:
        name = path.name.removesuffix(SUFFIX)
        raise FileExists(PROFILE_EXISTS(name=name), path=error.path) from None


def _back_up(root: Root, name: str, data: bytes) -> None:
    """Keep a copy; the same content is kept once, also when a kill came in between."""
    root.make_folders(_BACKUPS, 0o700)
    with suppress(FileExists):
        root.create_file(_BACKUPS.child(f"{name}-{content_hash(data)[:_HASH_SHOWN]}{SUFFIX}"), data, mode=0o600)


def _encode_within_limit(name: str, fields: Mapping[str, object]) -> bytes:
    data = encode_profile(fields)
    if len(data) > MAX_PROFILE_BYTES:
        problem = TOO_BIG(limit=f"{MAX_PROFILE_BYTES:,}")
        raise ChangeRefused(
            f"Nothing was written: {problem}.",
            profile=name,
            fields=("examples",),
            faults=(make_fault("examples", problem),),
        )
    return data


def _check_can_change(stored: StoredProfile, *, by_person: bool = False) -> None:
    name = stored.profile.profile_name
    if stored.is_newer:
        _refuse_newer(name)
    if stored.profile.profile_type == "reference" and not by_person:
        message = f"Profile '{name}' is a reference profile: it is not updated by feedback. Nothing was changed."
        raise ProfileFixed(f"{message} Its owner can edit the file, or create the profile again.", profile=name)


def _refuse_newer(name: str) -> NoReturn:
    message = f"Profile '{name}' was written by a newer version of this program. It can be read, but not changed."
    raise ProfileNewer(f"{message} Update the program.", profile=name)


def _missing_error(name: str, available: tuple[str, ...]) -> ProfileMissing:
    more = f" and {len(available) - MAX_NAMES_SHOWN} more" if len(available) > MAX_NAMES_SHOWN else ""
    known = f" Available profiles: {', '.join(available[:MAX_NAMES_SHOWN])}{more}" if available else ""
    hint = f" {INIT_HINT}" if name == DEFAULT or not available else ""
    return ProfileMissing(f"Profile '{quote_path(name)}' not found.{hint}{known}", profile=name, available=available)
