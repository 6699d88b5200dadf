"""Tools to call from tests, as a person would write them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from toolroll import DocumentPart, ImagePart, Preview, TextPart, ToolContext, ToolFailure, tool
from toolroll.kernel.approval.request import content_hash


def preview_save(arguments: Mapping[str, str], _ctx: ToolContext, edited: str | None) -> Preview:
    """The change as a diff."""
    file = Path(arguments["path"])
    before = file.read_bytes().decode() if file.exists() else ""
    after = arguments["text"] if edited is None else edited
    return Preview.of_change(before, after, path=arguments["path"], base=content_hash(before))


@tool(effect="writes", paths=["path"], preview=preview_save)
def save(path: str, text: str, ctx: ToolContext) -> str:
    """Save a text in a file. It replaces what is there."""
    assert ctx.preview is not None
    Path(path).write_bytes(str(ctx.preview.editable).encode())
    return f"saved {path}"


@tool(effect="writes", paths=["path"])
def save_unseen(path: str, text: str) -> str:
    """Save a text without showing a diff."""
    Path(path).write_text(text)
    return f"saved {path}"


@tool(effect="external", why="reason")
def send(to: str, reason: str = "") -> dict[str, object]:
    """Send a message."""
    return {"sent": True, "to": to}


@tool
def look(path: Annotated[str, Field(description="Which file.")], lines: Annotated[int, Field(ge=1)] = 10) -> str:
    """Look at a file."""
    return "".join(Path(path).read_text().splitlines(keepends=True)[:lines])


@tool
def facts() -> dict[str, object]:
    """Give a value."""
    return {"ok": True, "letters": "ї", "half": "\ud800", "items": [1, 2.5, None]}


@tool
def failing() -> dict[str, object]:
    """Fail with a value."""
    raise ToolFailure({"ok": False, "why": "no paper"})


@tool
def crash() -> str:
    """Raise something."""
    raise ValueError("the cat sat on it")


@tool
def noisy() -> str:
    """Print in every way there is."""
    print("printed")
    sys.stdout.flush()
    os.write(1, b"written\n")
    subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
    return "answer"


@tool(timeout=0.3)
def endless() -> str:
    """Print for ever."""
    while True:
        print("again")


@tool
async def picture() -> list[TextPart | ImagePart | DocumentPart]:
    """Give parts."""
    return [
        TextPart(text="look:"),
        ImagePart(data=b"\x89PNG", media_type="image/png"),
        DocumentPart(data=b"%PDF", media_type="application/pdf", title="A"),
    ]


@tool
def escaping() -> str:
    """Give text that a terminal would obey."""
    return "a\x1b[31mred\u202e"


@tool
def long_work(ctx: ToolContext) -> str:
    """Report how far it is."""
    ctx.progress("half of it", 0.5)
    ctx.progress("nearly\x1b[2J there")
    return "done"


@tool
def sleepy(ready: str) -> str:
    """Sleep until it is interrupted; says so in a file first."""
    import time

    Path(ready).touch()
    time.sleep(60)
    return "awake"


@tool
async def stubborn(ready: str) -> str:
    """Hold up the event loop; says so in a file first, and in another one that somebody wants it to end."""
    import asyncio
    import time

    Path(ready).touch()
    for _ in range(1_200):
        time.sleep(0.05)
        if any(task.cancelling() for task in asyncio.all_tasks()):
            Path(f"{ready}-to-end").touch()
    return "done"


@tool
def loose(fields: dict[str, int]) -> str:
    """Take a free-form map, which has no strict form."""
    return str(fields)
