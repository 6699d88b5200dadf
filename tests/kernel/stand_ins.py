"""Those whom a call meets, as tests need them: somebody who decides, a file to write to, a ledger."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolroll.errors import StaleFile, ToolFailure
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool

YES = Approve()


class Person:
    """Says what it was told to say, to each request or by a function, and remembers what it was asked."""

    def __init__(self, says: Decision | Callable[[ApprovalRequest], Decision] = YES) -> None:
        self.says = says
        self.asked: list[tuple[ApprovalRequest, ...]] = []

    @property
    def requests(self) -> list[ApprovalRequest]:
        return [request for batch in self.asked for request in batch]

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        self.asked.append(tuple(requests))
        return [self.says(request) if callable(self.says) else self.says for request in requests]


class Anything:
    """An approver that returns or raises whatever it is given: sync, and not to be trusted."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def decide(self, requests: Sequence[ApprovalRequest], /) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(requests) if callable(self.answer) else self.answer


class Book:
    """A ledger that remembers; it can be made to fail."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.fails_on: str | None = None

    async def intent(self, call: ToolCall, /) -> None:
        self._note("intent", call.id)

    async def outcome(self, call: ToolCall, result: ToolResult, /) -> None:
        self._note("failed" if result.is_error else "done", call.id)

    def _note(self, word: str, call_id: str) -> None:
        if word == self.fails_on:
            raise OSError(28, "No space left on device")
        self.lines.append((word, call_id))


class Disk:
    """One file in memory, and the tool that writes it as a real one must: what was shown, if nothing moved."""

    def __init__(self, content: str = "old\n") -> None:
        self.content = content
        self.writes: list[str] = []
        self.looked = 0

    @property
    def tool(self) -> Tool:
        @tool(name="write", effect="writes", paths=["path"], why="reason", preview=self.preview)
        async def write(path: str, text: str, ctx: ToolContext, reason: str = "") -> str:
            """Write a file."""
            assert ctx.preview is not None
            if content_hash(self.content) != ctx.preview.base:
                raise StaleFile(f"{path} has changed. Read it again.", path=path)
            assert isinstance(ctx.preview.payload, str)
            self.content = ctx.preview.payload
            self.writes.append(self.content)
            return "written"

        return write

    async def preview(self, arguments: Mapping[str, object], ctx: ToolContext, edited: str | None) -> Preview:
        self.looked += 1
        text = str(arguments["text"]) if edited is None else edited
        if text == "impossible\n":
            raise ToolFailure("There is nothing to change.", code="no_change")
        shown = Preview.of_change(self.content, text, path="f", base=content_hash(self.content))
        return Preview(
            kind="diff",
            text=shown.text,
            added=shown.added,
            removed=shown.removed,
            base=shown.base,
            editable=text,
            payload=text,
        )
