"""Research in a repository on GitHub or GitHub Enterprise, through the Contents API (R5)."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from pydantic import BaseModel, StrictInt, TypeAdapter, ValidationError

from toolroll.errors import FileMissing, ServiceFailed, UsageError
from toolroll.kernel.call.context import utc_now
from toolroll.kernel.data.serialize import replace_surrogates
from toolroll.packs.research.github_api import PAUSES_S, RAW, GitHubApi
from toolroll.packs.research.paths import IDEAS, parse_research_path
from toolroll.packs.research.source import (
    DOCUMENT,
    MAX_LISTED_FILES,
    MAX_READ_BYTES,
    MAX_STORED_BYTES,
    Change,
    IdeaEntry,
    ResearchFile,
    decode_exact,
    decode_file,
    make_entries,
    missing_error,
    not_a_file_error,
    select_research,
    too_large_error,
)
from toolroll.safe.net.http import HttpResponse
from toolroll.safe.net.retries import Sleep
from toolroll.safe.paths.names import parse_path
from toolroll.safe.paths.root import Use
from toolroll.safe.text import one_line
from toolroll.workspace.denials import Denials

API_URL: Final = "https://api.github.com"
SITE_URL: Final = "https://github.com"

# Names of Enterprise-managed users have an underscore.
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
# What git allows in the name of a branch (git-check-ref-format), as far as it matters in an address.
_BRANCH: Final = re.compile(r"(?!.*\.\.)[^\x00-\x20\x7f~^:?*\[\\]{1,250}")
_SHA: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OK: Final = frozenset({200, 201})
_LINK_MODE: Final = "120000"  # of git
_MISSING: Final = 404
# Sent where the branch moved meanwhile, and where a file came to be that we said is new.
_CONFLICT: Final = 409
_UNPROCESSABLE: Final = 422
_ADVICE: Final[Mapping[int, str]] = {
    401: " Check the token in GITHUB_TOKEN.",
    403: " The token may not do this.",
    404: " The repository or the branch is not there, or the token may not see it.",
}


class _Item(BaseModel):
    """A file, a folder's entry, a link or a submodule."""

    type: str
    name: str = ""
    path: str = ""
    sha: str = ""
    size: StrictInt | None = None
    encoding: str | None = None
    content: str | None = None
    submodule_git_url: str | None = None


class _Node(BaseModel):
    path: str
    type: str
    mode: str = ""


class _Tree(BaseModel):
    tree: list[_Node]
    truncated: bool = False


class GitHubSource:
    """The research below `ideas/` in one repository; `branch` None is its default one. For one event loop."""

    def __init__(
        self,
        repository: str,
        *,
        token: str | None = None,
        branch: str | None = None,
        base_url: str = API_URL,
        clock: Callable[[], datetime] = utc_now,
        sleep: Sleep | None = None,
    ) -> None:
        if not _REPOSITORY.fullmatch(repository):
            raise UsageError(f"{one_line(repository, 100)!r} is no repository. Write it as OWNER/NAME.")
        if branch is not None and not _BRANCH.fullmatch(branch):
            raise UsageError(f"{one_line(branch, 100)!r} is no name of a branch.")
        self.repository: Final = repository
        self.branch: Final = branch
        self._api = GitHubApi(base_url, token=token, clock=clock, sleep=sleep)
        self._denials = Denials()
        self._listed: frozenset[str] = frozenset()
        self._files: list[str] | None = None

    @classmethod
    def from_environment(cls, repository: str, *, environment: Mapping[str, str], branch: str | None = None) -> Self:
        """Open the source with the token (GITHUB_TOKEN, GH_TOKEN) and server (GITHUB_API_URL) of the environment."""
        token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN")
        base_url = environment.get("GITHUB_API_URL") or API_URL
        return cls(repository, token=token, branch=branch, base_url=base_url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._api.aclose()

    async def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> ResearchFile:
        """Return a whole file; raise FileTooLarge above the limit."""
        path = self._path(path, "read")
        item = await self._item(path, limit_bytes)
        data = await self._bytes(path, item, limit_bytes)
        return decode_file(path, data, size=item.size or 0)

    async def list_ideas(self) -> tuple[IdeaEntry, ...]:
        """Return the ideas that have a document, the newest first. It takes two requests, however many there are."""
        sha = await self._ideas_sha()
        if sha is None:
            return ()
        tree = await self._tree(f"{sha}?recursive=1")
        self._files = [] if tree.truncated else [node.path for node in tree.tree if _is_plain_file(node)]
        if tree.truncated:  # above 100,000 files: then each folder counts as an idea
            return make_entries(node.path for node in (await self._tree(sha)).tree if node.type == "tree")
        end = f"/{DOCUMENT}"
        found = (node.path.removesuffix(end) for node in tree.tree if node.type == "blob" and node.path.endswith(end))
        return make_entries(folder for folder in found if "/" not in folder)

    async def list_files(self) -> tuple[str, ...]:
        """Return the paths of all texts below `ideas/`, sorted: those of the last list of ideas, if there was one."""
        if self._files is None:
            await self.list_ideas()
        return select_research(self._files or ())[:MAX_LISTED_FILES]

    async def check_listed(self, path: str) -> None:
        """Raise FileMissing for a path that the repository does not list, without asking for it."""
        path = self._path(path, "read")
        if path not in self._listed:
            self._listed = await self.list_paths()
        if path not in self._listed:
            raise missing_error(path)

    async def list_paths(self) -> frozenset[str]:
        """Return the paths of all files and folders below `ideas/`; above 100,000 files, those of documents.

        Links are left out: rules judge a path by its name, and GitHub answers a link with the file it leads to.
        """
        sha = await self._ideas_sha()
        if sha is None:
            return frozenset()
        tree = await self._tree(f"{sha}?recursive=1")
        if tree.truncated:
            return frozenset(f"{node.path}/{DOCUMENT}" for node in (await self._tree(sha)).tree if node.type == "tree")
        return frozenset(node.path for node in tree.tree if node.mode != _LINK_MODE)

    async def write(self, path: str, content: str, *, message: str) -> None:
        """Make or replace a file by a commit with that message."""
        await self.update(path, lambda _: content, message=message)

    async def update(self, path: str, change: Change, *, message: str) -> None:
        """Change a file by a commit; after a conflict, `change` is asked again with what is there then."""
        path = self._path(path, "write")
        sent: str | None = None
        pauses_s = iter(PAUSES_S)
        while True:
            sha, before = await self._before(path)
            if before is not None and before == sent:  # it was done, and only the answer was lost
                return
            sent = replace_surrogates(change(before))
            if sent == before:
                return
            failed = await self._put(path, sent, sha, message)
            if failed is None:
                return
            pause_s = next(pauses_s, None)
            if pause_s is None or not _may_succeed_later(failed, is_new=sha is None):
                raise failed
            await self._api.pause(pause_s)

    def where(self, path: str) -> str:
        """Return the address of the file's page."""
        base = self._api.base_url
        site = SITE_URL if base == API_URL else base.removesuffix("/api/v3")
        branch = quote(self.branch or "HEAD", safe="/")
        return f"{site}/{self.repository}/blob/{branch}/{IDEAS}/{quote(parse_research_path(path))}"

    def _path(self, path: str, use: Use) -> str:
        path = parse_research_path(path)
        self._denials.check(parse_path(path), use)  # what a folder would not give or take either
        return path

    async def _item(self, path: str, limit_bytes: int) -> _Item:
        answer = await self._get(f"contents/{IDEAS}/{quote(path)}")
        if answer.status == _MISSING:
            raise missing_error(path)
        if answer.status not in _OK:
            if b'"too_large"' in answer.body:  # what it says of files over 100 MB
                raise too_large_error(path, limit_bytes=limit_bytes)
            raise self._failure(answer)
        found = _parse_contents(answer)
        if isinstance(found, list):
            raise not_a_file_error(path, (f"{one.name}/" if one.type == "dir" else one.name for one in found))
        # A link to a file is answered with that file, wherever in the repository it is.
        is_outside = bool(found.path) and not found.path.startswith(f"{IDEAS}/")
        if found.type != "file" or found.submodule_git_url is not None or is_outside:
            raise not_a_file_error(path)
        return found

    async def _bytes(self, path: str, item: _Item, limit_bytes: int) -> bytes:
        if item.size is None or item.size < 0:
            raise ServiceFailed("GitHub did not tell how large the file is.")
        if item.size > limit_bytes:
            raise too_large_error(path, limit_bytes=limit_bytes)
        data = await self._blob(item.sha) if item.encoding == "none" else _decode_content(item)
        if len(data) > limit_bytes:
            raise too_large_error(path, limit_bytes=limit_bytes)
        return data

    async def _blob(self, sha: str) -> bytes:
        """Return a file over 1 MB by the hash in its entry: so it is the very content that a change is made from."""
        answer = await self._api.get(f"{self._base}/git/blobs/{_check_sha(sha)}", accept=RAW)
        if answer.status not in _OK:
            raise self._failure(answer)
        return answer.body

    async def _before(self, path: str) -> tuple[str | None, str | None]:
        try:
            item = await self._item(path, MAX_STORED_BYTES)
        except FileMissing:
            return None, None
        return _check_sha(item.sha), decode_exact(path, await self._bytes(path, item, MAX_STORED_BYTES))

    async def _put(self, path: str, content: str, sha: str | None, message: str) -> ServiceFailed | None:
        body = {"message": message, "content": base64.b64encode(content.encode()).decode()}
        more = {"sha": sha, "branch": self.branch}
        try:
            answer = await self._api.put(
                f"{self._base}/contents/{IDEAS}/{quote(path)}",
                {**body, **{name: value for name, value in more.items() if value is not None}},
            )
        except ServiceFailed as error:
            return error
        return None if answer.status in _OK else self._failure(answer)

    async def _ideas_sha(self) -> str | None:
        answer = await self._get("contents")
        if answer.status == _MISSING and b"repository is empty" in answer.body:
            return None
        if answer.status not in _OK:
            raise self._failure(answer)
        found = _parse_contents(answer)
        items = found if isinstance(found, list) else []
        return next((_check_sha(one.sha) for one in items if (one.name, one.type) == (IDEAS, "dir")), None)

    async def _tree(self, name: str) -> _Tree:
        answer = await self._api.get(f"{self._base}/git/trees/{name}")
        if answer.status not in _OK:
            raise self._failure(answer)
        try:
            return _Tree.model_validate_json(answer.body)
        except ValidationError as error:
            raise _unreadable_error() from error

    async def _get(self, path: str) -> HttpResponse:
        ref = "" if self.branch is None else f"?ref={quote(self.branch, safe='')}"
        return await self._api.get(f"{self._base}/{path}{ref}")

    @property
    def _base(self) -> str:
        return f"repos/{self.repository}"

    def _failure(self, answer: HttpResponse) -> ServiceFailed:
        said = self._api.error_message(answer)
        text = f"GitHub answered with status {answer.status}" + (f": {said.rstrip('.')}." if said else ".")
        return ServiceFailed(text + _ADVICE.get(answer.status, ""), status=answer.status)


def _is_plain_file(node: _Node) -> bool:
    return node.type == "blob" and node.mode != _LINK_MODE


def _may_succeed_later(failed: ServiceFailed, *, is_new: bool) -> bool:
    """Return whether looking again may help: after a conflict, and where nobody knows whether the commit was made."""
    if failed.retry_after_s is not None:
        return False
    status = failed.status
    return status is None or status == _CONFLICT or status >= 500 or (is_new and status == _UNPROCESSABLE)  # noqa: PLR2004


@cache
def _contents() -> TypeAdapter[_Item | list[_Item]]:
    return TypeAdapter(_Item | list[_Item])


def _parse_contents(answer: HttpResponse) -> _Item | list[_Item]:
    try:
        return _contents().validate_json(answer.body)
    except ValidationError as error:
        raise _unreadable_error() from error


def _decode_content(item: _Item) -> bytes:
    """Decode the content: base64, in lines of 60 characters."""
    try:
        if item.encoding == "base64" and item.content is not None:
            return base64.b64decode("".join(item.content.split()), validate=True)
    except (binascii.Error, ValueError):
        pass
    raise _unreadable_error()


def _check_sha(sha: str) -> str:
    if not _SHA.fullmatch(sha):
        raise _unreadable_error()
    return sha


def _unreadable_error() -> ServiceFailed:
    return ServiceFailed("GitHub's answer cannot be read: it is not what its documentation says.")
