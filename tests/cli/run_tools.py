"""Tools for runs from the command line, as a person would write them."""

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from toolroll import Preview, ToolContext, tool
from toolroll.kernel.approval.request import content_hash


def preview_save(arguments: Mapping[str, str], _ctx: ToolContext, edited: str | None) -> Preview:
    """The change as a diff."""
    file = Path(arguments["path"])
    before = file.read_text() if file.exists() else ""
    after = arguments["text"] if edited is None else edited
    return Preview.of_change(before, after, path=arguments["path"], base=content_hash(before))


@tool(effect="writes", paths=["path"], preview=preview_save)
def save(path: str, text: str, ctx: ToolContext) -> str:
    """Save a text in a file."""
    assert ctx.preview is not None
    Path(path).write_text(str(ctx.preview.editable))
    if Path("die").exists():
        Path("die").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return f"saved {path}"


@tool(effect="external")
def send(text: str) -> str:
    """Send a letter."""
    with Path("sent").open("a") as file:
        file.write(f"{text}\n")
    if Path("die").exists():
        Path("die").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return "sent"


@tool
def look(path: str) -> str:
    """Look at a file."""
    print("a word of the tool's own")
    return Path(path).read_text()


@tool
def wait(for_file: str, ctx: ToolContext) -> str:
    """Wait for a file."""
    ctx.progress("waiting", 0.5)
    Path("waiting").touch()
    while not Path(for_file).exists() and not ctx.cancelled:
        time.sleep(0.01)
    return "it is there"
