"""The page that a post is written from: read by the program, or pasted by the person where that fails (W31)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from toolroll.agent.events import Event
from toolroll.errors import ToolFailure
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, Message, ToolResults
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.call_texts import describe_call
from toolroll.packs.writing.session.interface import Person, Question
from toolroll.packs.writing.session.tool_calls import call_tool
from toolroll.packs.writing.texts.messages import say
from toolroll.packs.writing.tools.notion_tools import read_notion_page

END: Final = "."
"""Alone on a line: the end of what was pasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a post is written from: the read of a page as a call and its result, or a text that was pasted."""

    messages: tuple[Message, ...] = ()
    pasted: str = ""


async def read_source(page: str, context: WritingContext, person: Person, listener: Callable[[Event], None]) -> Source:
    """Read the page; where that fails the person may paste its text. Raises `ToolFailure` where nobody can."""
    call, result = await call_tool(context, read_notion_page.name, {"page_id": page}, listener=listener)
    if not result.is_error:
        read = (
            AssistantMessage(blocks=(CallBlock(call=call),)),
            ToolResults(results=(result.to_message(call_id=call.id, name=call.name),)),
        )
        return Source(messages=read)
    pasted = await _ask_for_text(person, Question(text=say("paste_source", context.lang)))
    if pasted is None:
        raise ToolFailure(describe_call(call, result, context.lang) or result.text, code=result.code or "notion_error")
    return Source(pasted=pasted)


async def _ask_for_text(person: Person, question: Question) -> str | None:
    """Return all lines up to a dot, or an empty text for an empty first line; None where nobody answers."""
    first = await person.ask(question)
    if not first or first.strip() == END:
        return None if first is None else ""
    if "\n" in first:  # pasted as a whole
        return first
    lines = [first]
    more = Question(text="", kind="more")
    while (line := await person.ask(more)) is not None and line.strip() != END:
        lines.append(line)
    return "\n".join(lines)
