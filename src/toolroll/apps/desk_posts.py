"""What the desk of a writer keeps of each post, in files: a server that is started again shows them as they were."""

import re
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolroll.errors import FileMissing, FileProblem
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.session.interface import End
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.root import Root

FOLDER: Final = "desk"
MAX_KEPT_BYTES: Final = 4_194_304
MAX_KEPT: Final = 200
"""Posts that are listed: the newest. The finished ones are saved elsewhere."""
_ID: Final = re.compile(r"[0-9a-f]{8,64}")


class _Kept(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore", frozen=True)


class KeptLine(_Kept):
    """Something that was said by the person, by the program or the model, or while it worked; or a draft's number."""

    kind: Literal["you", "says", "note", "draft"]
    text: str


class KeptDraft(_Kept):
    """A draft that was shown."""

    number: int
    text: str


class KeptPost(_Kept):
    """A post on the desk: what was asked for, what was said, every draft, and how it ended."""

    format: Literal[1] = 1
    id: Annotated[str, Field(pattern="^[0-9a-f]{8,64}$")]
    created: float
    request: str
    platform: Platform
    profiles: tuple[str, ...]
    model: str
    lang: str
    notion: str | None = None
    topic: str = ""
    run_id: str = ""
    lines: tuple[KeptLine, ...] = ()
    drafts: tuple[KeptDraft, ...] = ()
    end: End | None = None
    file: str | None = None
    notion_url: str | None = None
    error: str = ""


class DeskShelf:
    """The posts of the desk below the user's own data folder, one file each."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def posts(self) -> list[KeptPost]:
        """Return the posts that can be read, the newest first."""
        if not self._folder.is_dir():
            return []
        with closing(Root(self._folder)) as root:
            found = [one for entry in root.list_folder() for one in _read(root, entry.name)]
        return sorted(found, key=lambda one: one.created, reverse=True)[:MAX_KEPT]

    def read(self, post_id: str) -> KeptPost | None:
        """Return a post; None if there is none of that id."""
        if not _ID.fullmatch(post_id) or not self._folder.is_dir():
            return None
        with closing(Root(self._folder)) as root:
            return next(_read(root, f"{post_id}.json"), None)

    def write(self, post: KeptPost) -> None:
        """Keep a post as it is now."""
        with closing(Root(private_folder(self._folder))) as root:
            root.write_file(_path(post.id), post.model_dump_json().encode(), mode=PRIVATE_FILE_MODE)

    def lock(self, post_id: str) -> FileLock:
        """Return the lock of a post: of all servers with this home, the one that holds it writes the post."""
        return FileLock(private_folder(self._folder) / f"{post_id}.lock", timeout_s=0)

    def unlock(self, lock: FileLock) -> None:
        """Give a lock back, and remove its file: whoever opened that before looks for it again, and takes a new one."""
        with suppress(OSError):
            lock.path.unlink()
        lock.release()

    def remove(self, post_id: str) -> None:
        """Remove a post from the desk; what was saved of it stays where it was saved."""
        if _ID.fullmatch(post_id) and self._folder.is_dir():
            with closing(Root(self._folder)) as root, suppress(FileMissing):
                root.remove_file(_path(post_id))


def _path(post_id: str) -> RelativePath:
    return RelativePath(parts=(f"{post_id}.json",))


def _read(root: Root, name: str) -> Iterator[KeptPost]:
    """Yield the post in a file; one that cannot be read is left alone, and is none."""
    with suppress(FileProblem, ValidationError):
        if _ID.fullmatch(name.removesuffix(".json")):
            yield KeptPost.model_validate_json(root.read_bytes(RelativePath(parts=(name,)), limit_bytes=MAX_KEPT_BYTES))
