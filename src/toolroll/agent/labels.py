"""What a conversation has brought into a run: private data, and text that strangers wrote."""

from typing import Final, assert_never

from toolroll.agent.context.summary import is_summary
from toolroll.kernel.data.labels import NO_LABELS, Labels, collect_labels
from toolroll.kernel.data.messages import AssistantMessage, Message, ServerBlock, ToolResults, UserMessage
from toolroll.kernel.define.tool import Toolset

UNTRUSTED: Final[Labels] = frozenset({"untrusted"})
COMPACTED: Final[Labels] = frozenset({"private", "untrusted"})


def labels_of_message(message: Message, tools: Toolset) -> Labels:
    """What a message of an earlier conversation brings along: by the tools that are known now, whether they ran or not.

    What a person says is theirs to answer for. The summary of a conversation that was compacted may hold anything.
    """
    match message:
        case UserMessage():
            return COMPACTED if is_summary(message) else NO_LABELS
        case AssistantMessage():
            return labels_of_turn(message)
        case ToolResults():
            known = (tools.get(result.name) for result in message.results)
            return NO_LABELS.union(*(collect_labels(tool) for tool in known if tool is not None))
        case _:
            assert_never(message)


def labels_of_turn(message: AssistantMessage) -> Labels:
    """What the provider itself has read for the model, as in a web search."""
    return UNTRUSTED if any(isinstance(block, ServerBlock) for block in message.blocks) else NO_LABELS


def labels_of_tools(tools: Toolset, *, searches: bool) -> Labels:
    """All that an agent with these tools can bring in."""
    found: Labels = NO_LABELS.union(*(collect_labels(tool) for tool in tools))
    return found | UNTRUSTED if searches else found
