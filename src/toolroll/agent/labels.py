"""What enters a run with its messages and turns, and whether the provider's own search may be offered."""

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from toolroll.kernel.call.context import Run
from toolroll.kernel.data.labels import ALL_LABELS, NO_LABELS, UNTRUSTED, Labels, collect_labels
from toolroll.kernel.data.messages import (
    AssistantMessage,
    Message,
    ServerBlock,
    TextPart,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.define.tool import Toolset
from toolroll.models.model import WebSearch


def labels_of_message(message: Message, tools: Toolset) -> Labels:
    """Return what a message that a run is given brings along: by the tools that are known now, whether they ran or not.

    What a person says is theirs to answer for. What a model said elsewhere, what a tool said that is not known here,
    and the summary of a conversation may hold anything.
    """
    match message:
        case UserMessage():
            return ALL_LABELS if message.is_summary else NO_LABELS
        case AssistantMessage():
            return ALL_LABELS if message.text.strip() else labels_of_turn(message)
        case ToolResults():
            return NO_LABELS.union(*(labels_of_result(result, tools) for result in message.results))
        case _:
            assert_never(message)


def labels_of_result(result: ToolMessage, tools: Toolset) -> Labels:
    """Return what the result of a call brings along; that of an unknown tool may hold anything."""
    tool = tools.get(result.name)
    return ALL_LABELS if tool is None else collect_labels(tool)


def labels_of_turn(message: AssistantMessage) -> Labels:
    """Return what the provider itself has read for the model, as in a web search."""
    return UNTRUSTED if any(isinstance(block, ServerBlock) for block in message.blocks) else NO_LABELS


def labels_of_tools(tools: Toolset, *, searches: bool) -> Labels:
    """Return all that an agent with these tools can bring in."""
    found: Labels = NO_LABELS.union(*(collect_labels(tool) for tool in tools))
    return found | UNTRUSTED if searches else found


def private_texts(message: Message, tools: Toolset) -> Iterator[str]:
    """Yield the texts in a message that are private."""
    match message:
        case UserMessage():
            if message.is_summary:
                yield from (part.text for part in message.content if isinstance(part, TextPart))
        case AssistantMessage():
            yield message.text
        case ToolResults():
            for result in message.results:
                if "private" in labels_of_result(result, tools):
                    yield from texts_of_result(result)
        case _:
            assert_never(message)


def texts_of_result(result: ToolMessage) -> Iterator[str]:
    """Yield the texts in the result of a call."""
    if isinstance(result.content, str):
        yield result.content
    else:
        yield from (part.text for part in result.content if isinstance(part, TextPart))


def offered_search(search: WebSearch | None, run: Run) -> WebSearch | None:
    """Return the provider's own search as a request may offer it.

    Nobody sees its queries before they leave, so a run that holds private text gets it only by a person's consent.
    """
    if search is None or "private" not in run.labels:
        return search
    left = 0 if run.outflow is None else run.outflow.searches_left
    return None if left == 0 else replace(search, max_uses=min(search.max_uses, left))
