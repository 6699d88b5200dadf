"""The normalizer: proves that a conversation is legal for a model, and makes it so where it is not.

Providers refuse a whole conversation for one call without a result, one result without a call, an id that stands twice.
Cancelled, crashed, trimmed and imported histories have all of these. So the same function runs before every request:
what is legal passes through as the same objects (their encoded bytes stay valid), what is not is mended with results
that say what they are. It is idempotent.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolroll.errors import JsonRefused
from toolroll.kernel.conversation import AssistantBlock, AssistantMessage, CallBlock, Message, ToolResults, UserMessage
from toolroll.kernel.messages import ToolCall, ToolMessage
from toolroll.kernel.parse import parse_object

INTERRUPTED: Final = "[interrupted: this call has no result; whether it ran is not known]"
BEGINNING: Final = "[the beginning of this conversation is not here]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A legal conversation, and what had to be done to it."""

    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()


def repair(messages: Sequence[Message]) -> Repaired:
    """The conversation with every call answered once, right after it, under ids that are unique."""
    history = History(messages)
    return Repaired(messages=tuple(history.legal()), notes=tuple(history.notes))


class History:
    """A conversation that is appended to and always legal when it is sent.

    Each message is looked at once, when it comes: a step costs what it adds, however long the run. `_open` holds the
    calls of the last turn that still wait for their results.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.notes: list[str] = []
        self._done: list[Message] = []
        self._seen: set[str] = set()
        self._open: dict[str, ToolCall] = {}
        self._answers: dict[str, ToolMessage] = {}
        self._given: ToolResults | None = None
        self._later: list[UserMessage] = []
        for message in messages:
            self.append(message)

    def legal(self) -> Sequence[Message]:
        """All messages, every call answered. Only grows; the caller must not change it."""
        self._settle()
        return self._done

    @property
    def open_ids(self) -> tuple[str, ...]:
        """The ids under which the calls of the last turn are known here: unique, whatever the provider sent."""
        return tuple(self._open)

    def append(self, message: Message) -> None:
        """Add what was said or done."""
        match message:
            case AssistantMessage():
                self._settle()
                self._take_turn(message)
            case ToolResults():
                self._take_results(message)
            case UserMessage() if self._open and len(self._answers) < len(self._open):
                self._later.append(message)  # results come first: providers want nothing in between
            case UserMessage():
                self._settle()
                self._done.append(message)

    def _settle(self) -> None:
        """Close the last turn: answer what is open, then what was said meanwhile."""
        if self._open:
            self._done.append(self._results())
        self._done.extend(self._later)
        self._open, self._answers, self._given, self._later = {}, {}, None, []

    def _results(self) -> ToolResults:
        for call in self._open.values():
            if call.id not in self._answers:
                self.notes.append(f"call {call.name} ({call.id}) had no result")
                self._answers[call.id] = interrupted(call)
        wanted = tuple(self._answers[call_id] for call_id in self._open)
        if self._given is not None and self._given.results == wanted:
            return self._given
        return ToolResults(results=wanted)

    def _take_turn(self, message: AssistantMessage) -> None:
        if not message.blocks:
            self.notes.append("an empty turn was left out")
            return
        if not self._done:
            self.notes.append("the conversation began with the model")
            self._done.append(UserMessage.of(BEGINNING))
        blocks = tuple(self._block(block) for block in message.blocks)
        same = all(new is old for new, old in zip(blocks, message.blocks, strict=True))
        self._done.append(message if same else replace(message, blocks=blocks))

    def _block(self, block: AssistantBlock) -> AssistantBlock:
        if not isinstance(block, CallBlock):
            return block
        call = self._unique(_readable(block.call))
        self._open[call.id] = call
        if call is block.call:
            return block
        self.notes.append(f"call {block.call.name} ({block.call.id or 'no id'}) was rewritten")
        raw = (
            None
            if block.raw is None or call.arguments != block.call.arguments
            else {**block.raw, **_renamed(block, call)}
        )
        return CallBlock(call=call, raw=raw)

    def _unique(self, call: ToolCall) -> ToolCall:
        number = 1
        wanted = call.id or "call"
        while not call.id or call.id in self._seen:
            number += 1
            call = replace(call, id=f"{wanted}_{number}")
        self._seen.add(call.id)
        return call

    def _take_results(self, message: ToolResults) -> None:
        if self._given is None:
            self._given = message
        for result in message.results:
            target = self._target(result)
            if target is None:
                self.notes.append(f"a result of {result.name} ({result.call_id}) had no call")
            else:
                self._answers[target] = result if result.call_id == target else replace(result, call_id=target)

    def _target(self, result: ToolMessage) -> str | None:
        """The open call that a result answers: by id, or, where ids were made unique, the next of that name."""
        if result.call_id in self._open and result.call_id not in self._answers:
            return result.call_id
        renamed = (call_id for call_id in self._open if call_id.startswith(f"{result.call_id or 'call'}_"))
        return next((call_id for call_id in renamed if call_id not in self._answers), None)


def interrupted(call: ToolCall) -> ToolMessage:
    """The labelled result of a call that has none."""
    return ToolMessage(call_id=call.id, name=call.name, content=INTERRUPTED, is_error=True)


def _readable(call: ToolCall) -> ToolCall:
    """The call with arguments that are an object: cut and broken ones were never run, and providers refuse them."""
    try:
        parse_object(call.arguments)
    except JsonRefused:
        return replace(call, arguments="{}")
    return call


def _renamed(block: CallBlock, call: ToolCall) -> dict[str, object]:
    """The keys under which the wires keep a call's id."""
    assert block.raw is not None
    return {key: call.id for key in ("id", "call_id") if block.raw.get(key) == block.call.id}
