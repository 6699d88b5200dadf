"""The messages that a model is sent: the conversation itself until it grows too large, then a view of it.

The view is the summary of what was compacted, if anything was, and all messages since, some outputs among them replaced
by references. Messages that do not change stay the same objects, so that their encoded bytes are the same, too. Each
message is looked at once, when it comes: a step costs what it adds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from toolroll.agent.context.rules import ContextLimits, output_limit, outputs_budget
from toolroll.agent.loop.budget import tokens_of
from toolroll.journal.records import MessagesCompacted, OutputsTrimmed
from toolroll.kernel.data.messages import (
    AssistantMessage,
    Message,
    OutputRef,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.usage import Usage
from toolroll.outputs.cut import trimmed_marker

LEAST_RATIO: Final = 0.75
MOST_RATIO: Final = 4.0
"""Of real tokens to estimated ones: no text has more than five or six characters in a token, few have less than one. A
provider that counts otherwise counts something else."""
MIN_TRIMMED_TOKENS: Final = 32
"""An output that is hardly longer than the reference to it stays: replacing it would save nothing."""


@dataclass(slots=True, kw_only=True)
class Window:
    """What one run sends its model."""

    limits: ContextLimits
    head_tokens: int = 0
    """The system text and the tools, estimated."""
    messages: list[Message] = field(default_factory=list)
    own_words: list[Message] = field(default_factory=list)
    """What the agent itself told the model in the user's place."""
    compacted: MessagesCompacted | None = None
    compactions: int = 0
    trimmed: dict[str, str] = field(default_factory=dict)
    """The calls whose outputs are no longer here, and the references that lead to them."""
    stays: set[str] = field(default_factory=set)
    """The calls whose outputs cannot be kept elsewhere: they stay, and no longer count among those that could go."""
    tries_again_at: int = 0
    """A compaction that failed is not tried again before there is so much in the window."""
    turns: int = 0
    """Of the model, so far."""
    ratio: float = 1.0
    """Real tokens to estimated ones, by the last request."""
    _taken: int = 0
    _tokens: int = 0
    _outputs: int = 0
    _looked_until: int = 0
    _sent: int = 0
    _reply: int = 0
    _read: int = 0

    def look(self, conversation: Sequence[Message]) -> bool:
        """Take what is new in the conversation; whether something may have to give way."""
        for message in conversation[self._taken :]:
            self._take(message)
        self._taken = len(conversation)
        return 0 < self.limits.outputs_tokens < self._outputs * MOST_RATIO or self.is_full

    def mark_sent(self) -> Sequence[Message]:
        """Return the messages of the next request, which is sent now. The caller must not change the list."""
        self._sent = self._tokens
        return self.messages

    def add_usage(self, usage: Usage) -> None:
        """Take over the provider's count of what the model has read."""
        self.turns += 1
        read = usage.input_total // max(usage.requests, 1) if usage.measured else 0
        self._reply, self._read = 0, read + usage.output_tokens if read else 0
        if read:
            self.ratio = min(max(read / max(self.head_tokens + self._sent, 1), LEAST_RATIO), MOST_RATIO)

    @property
    def tokens(self) -> int:
        """Return the size of the next request: that of the last one, as its provider counted, and what was added."""
        if not self._read:
            return round(self.ratio * (self.head_tokens + self._tokens))
        return max(self._read + round(self.ratio * (self._tokens - self._sent - self._reply)), 0)

    @property
    def is_measured(self) -> bool:
        """Return whether `tokens` stands on a provider's count."""
        return self._read > 0

    def is_summary(self, message: Message) -> bool:
        """Return whether the message stands for what was compacted."""
        return isinstance(message, UserMessage) and message.is_summary

    @property
    def outputs_tokens(self) -> int:
        """Return the tokens of the outputs that could go."""
        return round(self.ratio * self._outputs)

    @property
    def is_full(self) -> bool:
        """Return whether it is time to compact."""
        limit = self.limits.compact_tokens
        return 0 < limit <= self.tokens >= self.tries_again_at

    def trimmable(self, *, newest: bool = False) -> Iterator[tuple[ToolCall, ToolMessage]]:
        """Yield the outputs that may go, the oldest first, with their calls; of the newest step only on request."""
        places = range(len(self.messages) - 1, -1, -1)
        last = next((place for place in places if isinstance(self.messages[place], ToolResults)), -1)
        for place in range(self._looked_until, last + 1 if newest else last):
            message, turn = self.messages[place], self.messages[place - 1]
            if isinstance(message, ToolResults) and isinstance(turn, AssistantMessage):
                calls = {call.id: call for call in turn.calls}
                yield from ((calls[one.call_id], one) for one in message.results if self._may_go(one))
            self._looked_until = place + 1  # all that is left of it has to stay: it is not looked at again

    def shrink(self, tokens: int) -> None:
        """Shrink all limits: the model takes less than that, whatever was known of it."""
        limits, window = self.limits, max(min(self.limits.window_tokens, tokens), 1)
        self.limits = replace(
            limits,
            window_tokens=window,
            outputs_tokens=min(limits.outputs_tokens, outputs_budget(window)),
            compact_tokens=limits.compact_tokens * window // limits.window_tokens,
            output_bytes=min(limits.output_bytes, output_limit(window)),
        )

    def leave(self, result: ToolMessage) -> None:
        """Keep this output: it cannot go."""
        self.stays.add(result.call_id)
        self._outputs -= tokens_of(result)

    def trim(self, record: OutputsTrimmed) -> None:
        """Replace outputs by the references to them."""
        gone = dict(record.outputs)
        for place, message in enumerate(self.messages):
            if isinstance(message, ToolResults) and any(one.call_id in gone for one in message.results):
                self.messages[place] = trimmed = _with_references(message, gone)
                self._tokens += tokens_of(trimmed) - tokens_of(message)
                self._outputs -= self._large(message) - self._large(trimmed)
        self.trimmed |= gone

    def compact(self, record: MessagesCompacted, conversation: Sequence[Message]) -> None:
        """Replace the beginning of the conversation by the summary of it."""
        self.messages = self.compacted_by(record, conversation)
        self.compacted = record
        self.compactions += 1
        self._tokens = sum(map(tokens_of, self.messages))
        self._outputs = sum(self._large(one) for one in self.messages if isinstance(one, ToolResults))
        self._looked_until = self.tries_again_at = 0

    def compacted_by(self, record: MessagesCompacted, conversation: Sequence[Message]) -> list[Message]:
        """Return the messages as they would be after compaction."""
        since = self.messages[len(self.messages) - (self._taken - record.through) :]
        return [*_first_messages(record, conversation, self.trimmed), *since]

    def last_turn(self) -> tuple[int, int]:
        """Return where the last turn of the model begins: here, and in the conversation."""
        for place in range(len(self.messages) - 1, -1, -1):
            if isinstance(self.messages[place], AssistantMessage):
                return place, self._taken - (len(self.messages) - place)
        return 0, 0

    def whole(self, conversation: Sequence[Message]) -> tuple[Message, ...]:
        """Return the conversation as another run could go on from it: compacted, and with all outputs that are left."""
        if self.compacted is None:
            return tuple(conversation)
        return (*_first_messages(self.compacted, conversation, {}), *conversation[self.compacted.through :])

    def _take(self, message: Message) -> None:
        tokens = tokens_of(message)
        self.messages.append(message)
        self._tokens += tokens
        if isinstance(message, AssistantMessage):
            self._reply = tokens
        elif tokens > MIN_TRIMMED_TOKENS and isinstance(message, ToolResults):
            self._outputs += self._large(message)

    def _may_go(self, result: ToolMessage) -> bool:
        return (
            result.name not in self.limits.pinned_tools
            and result.call_id not in self.trimmed
            and result.call_id not in self.stays
            and tokens_of(result) > MIN_TRIMMED_TOKENS
        )

    def _large(self, message: ToolResults) -> int:
        return sum(tokens_of(one) for one in message.results if self._may_go(one))


def _first_messages(
    record: MessagesCompacted, conversation: Sequence[Message], gone: Mapping[str, str]
) -> list[Message]:
    """What stays, and the summary of the rest."""
    stays = [_trim_message(conversation[place], gone) for place in record.pinned]
    summary = UserMessage.of(record.summary, is_summary=True)
    # A request must not begin with the model's own words.
    return [summary, *stays] if stays and isinstance(stays[0], AssistantMessage) else [*stays, summary]


def _trim_message(message: Message, gone: Mapping[str, str]) -> Message:
    if isinstance(message, ToolResults) and any(one.call_id in gone for one in message.results):
        return _with_references(message, gone)
    return message


def _with_references(message: ToolResults, gone: Mapping[str, str]) -> ToolResults:
    return ToolResults(
        results=tuple(
            replace(one, content=reference_to(gone[one.call_id])) if one.call_id in gone else one
            for one in message.results
        )
    )


def reference_to(ref_id: str) -> str:
    """Return what stands in the place of an output."""
    return trimmed_marker(OutputRef(id=ref_id, byte_size=0, line_count=0))
