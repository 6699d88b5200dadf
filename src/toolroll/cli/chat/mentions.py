"""Files that a message mentions with `@path`: read through the workspace and attached, or told of before it is sent."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolroll.cli.chat.parse import Mention, find_mentions, find_open_mention, remove_escapes
from toolroll.errors import FileMissing, PathRefused, ToolrollError, UsageError
from toolroll.packs.code.answers import format_file, format_listing
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.workspace.read import read_lines
from toolroll.workspace.search.listing import list_folder

if TYPE_CHECKING:
    from toolroll.cli.piped_input import PipedInput
    from toolroll.packs.code.seen_files import Span
    from toolroll.workspace.workspace import Workspace

MAX_ATTACHED: Final = 20
MAX_ATTACHED_BYTES: Final = 200_000
"""Of all that one message brings along: about 50,000 tokens, a quarter of a usual window."""

_FILE_ENDING: Final = re.compile(
    r".\.(?:bat|c|cc|cfg|cpp|cs|css|csv|go|h|hpp|html?|ini|ipynb|java|jpe?g|js|json|jsx|kt|lock|lua|md|mjs|pdf|php|png|"
    r"ps1|pyi?|rb|rs|rst|scss|sh|sql|svg|swift|tex|toml|tsx?|txt|vue|xml|ya?ml)",
    re.IGNORECASE,
)
"""What is no attribute (`@app.route`) but the end of a file's name: a missing one of these is a mistake to be told."""

_MARK: Final = "[attached by the user: {name}]"
_END: Final = "[end of {name}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """One file as the model is shown it; `hash`, `lines` and `seen` say what it then knows of it."""

    path: str
    text: str
    hash: str = ""
    lines: int = 0
    seen: "tuple[Span, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message as it goes to the model."""

    text: str
    files: tuple[Attachment, ...] = ()
    piped: "PipedInput | None" = None

    @property
    def has_attached(self) -> bool:
        """Return whether there is more in it than the person's own words."""
        return bool(self.files) or self.piped is not None

    def write(self, run_id: str) -> str:
        """Return the text that the model of that run is sent."""
        return self.text if self.piped is None else self.piped.attach(self.text, run_id=run_id)


async def attach_files(text: str, workspace: "Workspace") -> OutgoingMessage:
    """Return the message with the files that it mentions behind it.

    A file that is missing, denied, binary or too large is an error, and so nothing is sent. What names no file and does
    not look like one (`@decorator`) is left alone.
    """
    if (begun := find_open_mention(text)) is not None:
        raise _refuse(UsageError(f"A quotation mark is not closed: {quote_path(begun)}."))
    files: dict[str, Attachment] = {}
    for mention in find_mentions(text):
        found = await _attach(mention, workspace)
        if found is not None:
            files.setdefault(found.path, found)
    _check(list(files.values()))
    plain = remove_escapes(text)
    return OutgoingMessage(
        text="\n\n".join([plain, *map(_format_attachment, files.values())]), files=tuple(files.values())
    )


def _check(files: list[Attachment]) -> None:
    size = sum(len(one.text.encode("utf-8", "surrogatepass")) for one in files)
    if len(files) > MAX_ATTACHED or size > MAX_ATTACHED_BYTES:
        raise UsageError(
            f"{len(files)} files with {size:,} bytes are mentioned, and a message takes {MAX_ATTACHED} files with "
            f"{MAX_ATTACHED_BYTES:,} bytes. Mention fewer; the model can read the others itself."
        )


def _format_attachment(one: Attachment) -> str:
    # No line of a file can pass for the end: each begins with its number.
    name = quote_path(one.path)
    return f"{_MARK.format(name=name)}\n{one.text}\n{_END.format(name=name)}"


async def _attach(mention: Mention, workspace: "Workspace") -> Attachment | None:
    path = _path(mention, workspace)
    if path is None:
        return None
    try:
        return await _read(path, workspace)
    except ToolrollError as error:
        raise _refuse(error) from None


def _refuse(error: ToolrollError) -> UsageError:
    return UsageError(f"{error.message} Nothing was sent. Write \\@ for an @ that means no file.")


def _path(mention: Mention, workspace: "Workspace") -> RelativePath | None:
    """The path that is meant; None where it is none. An error where it is one, and there is nothing to be read."""
    problem: ToolrollError | None = None
    for spelling in mention.spellings:
        try:
            path = workspace.path(spelling.removeprefix("./").removesuffix("/"))
            _check_allowed(path, workspace)
            workspace.status(path)
        except (FileMissing, PathRefused) as error:
            problem = error
        except ToolrollError as error:  # it is there and may not be read, or it is a link that leads out
            raise _refuse(error) from None
        else:
            return path
    if problem is not None and (mention.is_quoted or _looks_like_a_file(mention.name, workspace)):
        raise _refuse(problem)
    return None


def _check_allowed(path: RelativePath, workspace: "Workspace") -> None:
    """What is denied is told to the person in other words than to a model."""
    if why := workspace.why_denied(path):
        raise UsageError(f"Path '{quote_path(str(path))}' {why}.")


def _looks_like_a_file(name: str, workspace: "Workspace") -> bool:
    """Return whether an unknown name is meant for a file: by its ending, its folder, or the way it leads out."""
    folder, slash, last = name.rpartition("/")
    if _FILE_ENDING.fullmatch(last, max(last.rfind(".") - 1, 0)):
        return True
    if not slash:
        return False
    first = folder.partition("/")[0]
    return first in {"", "~", "."} or ".." in folder.split("/") or _is_folder(first, workspace)


def _is_folder(name: str, workspace: "Workspace") -> bool:
    try:
        return workspace.status(workspace.path(name)).kind == "folder"
    except ToolrollError:
        return False


async def _read(path: RelativePath, workspace: "Workspace") -> Attachment:
    status = workspace.status(path)
    if status.kind == "folder":
        listing = await list_folder(workspace, path)
        return Attachment(path=str(path), text=format_listing(listing, f"{path}/"))
    reading = await asyncio.to_thread(read_lines, workspace, path)
    page = format_file(reading, workspace.limits.read_bytes)
    return Attachment(
        path=str(status.resolved), text=page.text, hash=reading.hash, lines=reading.total_lines, seen=page.seen
    )


def describe_attachments(files: tuple[Attachment, ...]) -> Iterator[str]:
    """Yield the files in words for the person, one by one."""
    for one in files:
        lines = "1 line" if one.lines == 1 else f"{one.lines:,} lines"
        yield f"{quote_path(one.path)} ({lines})" if one.hash else f"{quote_path(one.path)}/"
