"""The tool that `toolroll demo` shows: a shopping list in a file, changed only after somebody has seen how."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Final

from pydantic import Field

from toolroll.errors import FileMissing, ToolFailure
from toolroll.kernel.approval import Preview, content_hash
from toolroll.kernel.context import ToolContext
from toolroll.kernel.define import tool
from toolroll.kernel.depends import DependencyKey, Depends
from toolroll.safe.names import parse_path
from toolroll.safe.root import Root

LIST: Final = parse_path("shopping.txt")
MAX_LIST_BYTES: Final = 65_536


def open_folder(ctx: ToolContext) -> Iterator[Root]:
    """The folder of the list, open for the length of a call: nothing outside of it can be reached."""
    with Root(str(ctx.deps["folder"])) as root:
        yield root


FOLDER: Final[DependencyKey[Root]] = DependencyKey("demo.folder", open_folder)


async def preview_list(arguments: Mapping[str, object], ctx: ToolContext, edited: str | None) -> Preview:
    """What the file would look like, as a diff."""
    before = read_list(await ctx.resolve(FOLDER))
    after = _with_item(before, str(arguments["item"]), str(arguments["amount"])) if edited is None else edited
    return Preview.of_change(before, after, path=str(LIST), base=content_hash(before))


@tool(effect="writes", preview=preview_list)
def put_item(
    item: Annotated[str, Field(description="What to buy.", min_length=1)],
    amount: Annotated[int, Field(description="How many.", ge=1, le=99)],
    folder: Annotated[Root, Depends(FOLDER)],
    ctx: ToolContext,
) -> str:
    """Put an item on the shopping list, or change how many of it."""
    shown = ctx.preview  # what somebody has seen and approved
    if shown is None or content_hash(read_list(folder)) != shown.base:
        raise ToolFailure("The list has changed meanwhile. Read it again.")
    folder.write_file(LIST, str(shown.editable).encode())
    return f"{amount} x {item} is on the list."


def _with_item(text: str, item: str, amount: str) -> str:
    line, lines = f"{amount} x {item}", text.splitlines()
    at = next((at for at, old in enumerate(lines) if old.endswith(f" x {item}")), len(lines))
    lines[at : at + 1] = [line]
    return "\n".join(lines) + "\n"


def read_list(folder: Root) -> str:
    """The list as it is; a list that was never written is empty."""
    try:
        return folder.read_bytes(LIST, limit_bytes=MAX_LIST_BYTES).decode()
    except FileMissing:
        return ""
