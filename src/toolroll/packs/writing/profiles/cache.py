"""What a list says of each profile, kept beside them: reading a thousand takes 60 ms, looking at them 10.

Nothing in it counts that the file itself might not say by now: an entry is of one size and one time stamp, and a file
that was written within the last two seconds is read again, as its stamp may hide a second change.
"""

import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from toolroll.errors import ToolrollError
from toolroll.packs.writing.profiles.schema import Language, Moment, ProfileType
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import Root

FOLDER: Final = ".index"
MIN_NEW_TO_WRITE: Final = 50
"""Files that were read anew before it is worth writing: as many take 3 ms, and so does writing it."""
MAX_CACHE_BYTES: Final = 64 * 1024 * 1024
SETTLED_NS: Final = 2_000_000_000
"""A time stamp younger than that may hide a second change: FAT keeps time in steps of two seconds."""

_FILE: Final = RelativePath(parts=("profiles.json",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummary:
    """One profile in a list."""

    name: str
    type: ProfileType
    language: Language
    version: int
    updated_at: Moment
    tone_summary: str


FileStamp: TypeAlias = tuple[int, int]
"""The time stamp and the size of a file."""
CachedSummaries: TypeAlias = dict[str, tuple[FileStamp, ProfileSummary]]

_ADAPTER: Final[TypeAdapter[CachedSummaries]] = TypeAdapter(CachedSummaries)


def is_settled(stamp_ns: int) -> bool:
    """Whether a second change would have left another stamp."""
    return time.time_ns() - stamp_ns > SETTLED_NS


def read_cache(data: Path) -> CachedSummaries:
    """What is kept; nothing where there is none, or none that can be used."""
    folder = data / FOLDER
    with suppress(ToolrollError, ValidationError):
        if folder.is_dir():
            with closing(Root(folder)) as root:
                return _ADAPTER.validate_json(root.read_bytes(_FILE, limit_bytes=MAX_CACHE_BYTES), strict=False)
    return {}


def write_cache(data: Path, known: Mapping[str, tuple[FileStamp, ProfileSummary]]) -> None:
    """Keep it for the next process; a disk that takes nothing only costs time."""
    with suppress(ToolrollError), closing(Root(private_folder(data / FOLDER))) as root:
        root.write_file(_FILE, _ADAPTER.dump_json(dict(known)), mode=0o600)
