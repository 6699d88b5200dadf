"""What a conversation loses on its way to another model, in words for a log or a warning."""

from collections.abc import Iterator, Sequence

from toolroll.kernel.data.messages import (
    AssistantMessage,
    Message,
    Origin,
    ReasoningBlock,
    ServerBlock,
    TextBlock,
    UnknownBlock,
)


def losses(messages: Sequence[Message], to: Origin) -> tuple[str, ...]:
    """One line for each block that the model gets less of than its own model would, with its place."""
    return tuple(
        f"message {number}, block {place}: {what}"
        for number, message in enumerate(messages, 1)
        if isinstance(message, AssistantMessage) and message.origin != to
        for place, what in _lost(message, to)
    )


def _lost(message: AssistantMessage, to: Origin) -> Iterator[tuple[int, str]]:
    foreign = message.origin is None or message.origin.wire != to.wire
    for place, block in enumerate(message.blocks, 1):
        match block:
            case ReasoningBlock():
                yield place, "reasoning, which only its own model can read, is left out"
            case ServerBlock() if foreign:
                yield place, f"a {block.kind} of {block.tool} becomes a line of text"
            case UnknownBlock() if foreign:
                yield place, f"a block of the unknown type {block.raw.get('type')!r} is left out"
            case TextBlock() if foreign and block.citations:
                yield place, "citations are left out"
            case _:
                pass
