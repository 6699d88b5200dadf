"""The page that a post is written from: read by the program, or pasted by the person where that fails (W31)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from toolroll.agent.events import Event
from toolroll.errors import ToolFailure
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, Message, ToolResults
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.save import call_tool
from toolroll.packs.writing.texts.call_texts import describe_call
from toolroll.packs.writing.texts.messages import say
from toolroll.packs.writing.tools.notion_tools import read_notion_page

END = "."
"""Alone on a line: what was pasted ends."""


class Asked(Protocol):
    """Somebody who can paste a text."""

    async def ask(self, prompt: str) -> str | None:
        """A line; None where there is none."""
        ...

    def say(self, text: str) -> None:
        """Tell them something."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a post is written from: the read of a page as a call and its result, or a text of the person's own."""

    messages: tuple[Message, ...] = ()
    pasted: str = ""


async def read_source(page: str, place: WritingContext, person: Asked, hear: Callable[[Event], None]) -> Source:
    """The page; where it cannot be read the person may paste its text. `ToolFailure` where nobody can."""
    call, result = await call_tool(place, read_notion_page.name, {"page_id": page}, hear=hear)
    if not result.is_error:
        read = (
            AssistantMessage(blocks=(CallBlock(call=call),)),
            ToolResults(results=(result.to_message(call_id=call.id, name=call.name),)),
        )
        return Source(messages=read)
    pasted = await _ask_for_text(person, say("paste_source", place.lang))
    if pasted is None:
        raise ToolFailure(describe_call(call, result, place.lang) or result.text, code=result.code or "notion_error")
    return Source(pasted=pasted)


async def _ask_for_text(person: Asked, question: str) -> str | None:
    """All lines up to a dot, or none for an empty first one; None where nobody answers."""
    first = await person.ask(question)
    if not first or first.strip() == END:
        return None if first is None else ""
    if "\n" in first:  # pasted as a whole
        return first
    lines = [first]
    while (line := await person.ask("")) is not None and line.strip() != END:
        lines.append(line)
    return "\n".join(lines)
