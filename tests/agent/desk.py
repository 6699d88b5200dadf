"""A file that a tool changes after a person has seen how, and people to ask: for approvals and crashes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from toolroll.errors import ToolFailure
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool


class Desk:
    """A folder with a file in it, tools that change it, and what has been done."""

    def __init__(self, folder: Path, *, after_write: Callable[[], None] = lambda: None) -> None:
        self.path = folder / "paper.txt"
        self.path.write_text("one two three")
        self.runs: list[str] = []
        self.sent: list[str] = []
        self._after_write = after_write
        self.replace = self._replace_tool()
        self.send = self._send_tool()

    @property
    def text(self) -> str:
        """What the file says."""
        return self.path.read_text()

    def _replace_tool(self) -> Tool:
        async def preview(arguments: Mapping[str, object], ctx: ToolContext, edited: str | None) -> Preview:
            before, old = self.text, str(arguments["old"])
            if edited is None and old not in before:
                raise ToolFailure(f"{old!r} is not in the file.")
            after = before.replace(old, str(arguments["new"]), 1) if edited is None else edited
            return Preview.of_change(before, after, path="paper.txt", base=content_hash(before))

        @tool(effect="writes", preview=preview)
        def replace(old: str, new: str, ctx: ToolContext) -> str:
            """Replace a word."""
            self.runs.append(ctx.call_id)
            shown = ctx.preview
            after = self.text.replace(old, new, 1) if shown is None else shown.editable or ""
            self.path.write_text(after)
            self._after_write()
            return "replaced"

        return replace

    def _send_tool(self) -> Tool:
        @tool(effect="external")
        def send(text: str) -> str:
            """Send a letter."""
            self.sent.append(text)
            self._after_write()
            return "sent"

        return send


class Person:
    """Answers as told, and remembers all it was asked."""

    def __init__(self, *answers: Decision) -> None:
        self.asked: list[ApprovalRequest] = []
        self._answers = list(answers)

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """The next answers; yes when there are no more."""
        self.asked += requests
        return [self._answers.pop(0) if self._answers else Approve() for _ in requests]
