"""`tool_output_cache` and `tool_output_cache_grep`: how a model reads what its context no longer holds (K53, K54)."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import BaseModel, Field

from toolroll.errors import OutputDamaged, OutputMissing, ToolFailure
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.messages import Part, TextPart
from toolroll.kernel.define.decorator import define_tool
from toolroll.kernel.define.tool import Tool
from toolroll.outputs.cut import EXEMPT, GREP_TOOL, PAGE_TOOL
from toolroll.outputs.reader import PAGE_LINES, page_content, read_page
from toolroll.outputs.search import MATCHES_LIMIT, MAX_AROUND, MAX_MATCHES, find_matches, show_matches
from toolroll.outputs.store import OutputStore

__all__ = ["EXEMPT", "output_tools"]


class _PageInput(BaseModel):
    ref_id: Annotated[str, Field(description="The ref of the output, as it stands in the tool result.")]
    offset: Annotated[int, Field(ge=0, description="Lines to skip.")] = 0
    limit: Annotated[int, Field(ge=1, description=f"Lines to read, at most {PAGE_LINES:,}.")] = PAGE_LINES
    column: Annotated[
        int,
        Field(ge=0, description="Bytes of the first line to skip; for lines that are too long for one page_content."),
    ] = 0


class _GrepInput(BaseModel):
    ref_id: Annotated[str, Field(description="The ref of the output, as it stands in the tool result.")]
    pattern: Annotated[str, Field(description="What to look for in each line, letter by letter.")]
    regex: Annotated[bool, Field(description="Read the pattern as a regular expression (Rust syntax).")] = False
    before: Annotated[int, Field(ge=0, description="Lines to show before each match.")] = 0
    after: Annotated[int, Field(ge=0, description="Lines to show after each match.")] = 0
    max_matches: Annotated[int, Field(ge=1, description="Matching lines to show.")] = MAX_MATCHES


def output_tools(store: OutputStore | Callable[[ToolContext], OutputStore]) -> tuple[Tool, Tool]:
    """Return the two tools that read the outputs of this run; for many runs, of the store that each call leads to."""

    def store_of(ctx: ToolContext) -> OutputStore:
        return store if isinstance(store, OutputStore) else store(ctx)

    def page(given: _PageInput, ctx: ToolContext) -> str | tuple[Part, ...]:
        limit = None if given.limit >= PAGE_LINES else given.limit
        with _tool_failures():
            kept = store_of(ctx).open(given.ref_id)
            content = page_content(kept, read_page(kept, offset=given.offset, limit=limit, column=given.column))
        return _with_note(content, _limit_note(limit=(given.limit, PAGE_LINES)))

    async def grep(given: _GrepInput, ctx: ToolContext) -> str:
        wanted = min(given.max_matches, MATCHES_LIMIT)
        with _tool_failures():
            kept = store_of(ctx).open(given.ref_id)
            matches = await find_matches(kept, given.pattern, regex=given.regex, max_matches=wanted)
            # A thousand matches with lines around them are looked up one by one, which takes a tenth of a second.
            content = await asyncio.to_thread(show_matches, kept, matches, before=given.before, after=given.after)
        around = {"before": (given.before, MAX_AROUND), "after": (given.after, MAX_AROUND)}
        return f"{content}{_limit_note(**around, max_matches=(given.max_matches, MATCHES_LIMIT))}"

    read_it = (
        "Read a tool output of this run that is not, or only partly, in the conversation: the one behind a ref in "
        "'[tool output truncated; ref=...]' or '[tool output trimmed; ref=...]'. Gives numbered lines, and says how to "
        "go on."
    )
    search_it = (
        "Search a tool output of this run by its ref. Gives the matching lines with their numbers, and how many more "
        "there are."
    )
    return (
        define_tool(
            name=PAGE_TOOL, description=read_it, input=_PageInput, execute=page, brings=("private", "untrusted")
        ),
        define_tool(
            name=GREP_TOOL, description=search_it, input=_GrepInput, execute=grep, brings=("private", "untrusted")
        ),
    )


def _limit_note(**asked: tuple[int, int]) -> str:
    """What was asked for, and the most there is, where that is less: one line that begins with its end."""
    less = [f"{name} was {most:,}, not {wanted:,}" for name, (wanted, most) in asked.items() if wanted > most]
    return f"\n[{', '.join(less)}: more is not given at once.]" if less else ""


def _with_note(content: str | tuple[Part, ...], note: str) -> str | tuple[Part, ...]:
    if isinstance(content, str):
        return content + note
    return (*content, TextPart(text=note.strip())) if note else content


@contextmanager
def _tool_failures() -> Iterator[None]:
    """Report an output that is not there as the model's mistake, not as a fault to log with a traceback."""
    try:
        yield
    except (OutputDamaged, OutputMissing) as error:
        raise ToolFailure(error.message, code=error.code) from None
