"""What a person has trusted of a project's own code: a file's exact content, in one workspace (C43, XA9).

A project's tools are Python that would run as the person. They are offered only while the content is, byte for byte,
what somebody looked at and trusted; the list is kept outside of every workspace, where no tool of ours writes.
"""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolroll.errors import FileMissing, JsonRefused
from toolroll.home.folders import find_folders
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.arguments.parse import parse_json
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root

VERSION: Final = 1

MAX_TRUST_BYTES: Final = 1_048_576
"""Some four thousand files."""

_FILE: Final = RelativePath(parts=("trust.json",))
_LOCK: Final = "trust.lock"
_OTHERS_CAN_WRITE: Final = 0o022


class TrustedFile(BaseModel):
    """One file as it was trusted: which workspace, which path in it, the hash of its content."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    workspace: str
    path: str
    hash: str


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, Field(ge=1, le=VERSION)]
    files: list[TrustedFile]


class TrustBook:
    """The file with trusted content. One that cannot be read is reported and left alone: nothing is trusted then."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "TrustBook":
        """Open the trust book in the user's configuration."""
        return cls(find_folders(environment).config)

    @property
    def path(self) -> Path:
        """Return the path of the file, for messages; it exists once something was trusted."""
        return self._folder / _FILE.name

    def files(self) -> tuple[TrustedFile, ...]:
        """Return everything that is trusted, oldest first."""
        if not self._folder.exists():
            return ()
        with closing(Root(private_folder(self._folder))) as root:
            return self._read(root)

    def trusts(self, workspace: str, path: str, content: bytes) -> bool:
        """Return whether exactly this content was trusted at this place."""
        return TrustedFile(workspace=workspace, path=path, hash=content_hash(content)) in self.files()

    def add(self, workspace: str, path: str, content: bytes) -> None:
        """Trust this content at this place; what was trusted there before is not any more."""
        added = TrustedFile(workspace=workspace, path=path, hash=content_hash(content))
        self._replace(workspace, path, added)

    def remove(self, workspace: str, path: str) -> bool:
        """Trust nothing at this place any more; whether something was."""
        return self._replace(workspace, path, None)

    def _replace(self, workspace: str, path: str, added: TrustedFile | None) -> bool:
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            before = self._read(root)
            kept = [one for one in before if (one.workspace, one.path) != (workspace, path)]
            after = tuple(kept if added is None else [*kept, added])
            if after != before:
                text = _Stored(version=VERSION, files=list(after)).model_dump_json(indent=2) + "\n"
                root.write_file(_FILE, text.encode(), mode=0o600)
            return after != before

    def _read(self, root: Root) -> tuple[TrustedFile, ...]:
        try:
            mode = root.stat(_FILE).mode
        except FileMissing:
            return ()
        if mode & _OTHERS_CAN_WRITE:
            raise self._refusal("other users can write to it. Look through it, then make it yours (chmod 600)")
        try:
            text = root.read_bytes(_FILE, limit_bytes=MAX_TRUST_BYTES).decode()
            parse_json(text, limit_bytes=MAX_TRUST_BYTES)  # strictly: a second key of one name would win otherwise
            return tuple(_Stored.model_validate_json(text, strict=True).files)
        except ValidationError as error:
            raise self._refusal(str(error.errors(include_url=False)[0]["msg"])) from None
        except (JsonRefused, UnicodeDecodeError) as error:
            raise self._refusal(str(error).rstrip(".")) from None

    def _refusal(self, why: str) -> JsonRefused:
        text = f"The list of trusted files in '{quote_path(str(self.path))}' cannot be used: {why}."
        return JsonRefused(f"{text} Repair the file or move it away; until then no project's own tools are offered.")
