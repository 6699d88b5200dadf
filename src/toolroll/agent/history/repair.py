"""The normalizer: proves that a conversation is legal for a model, and makes it so where it is not.

Providers refuse a whole conversation for one call without a result, one result without a call, an id that stands twice.
Cancelled, crashed, trimmed and imported histories have all of these. So the same function runs before every request:
what is legal passes through as the same objects (their encoded bytes stay valid), what is not is mended with results
that say what they are. It is idempotent.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from toolroll.journal.records import ApprovalQuestion
from toolroll.kernel.data.messages import (
    AssistantBlock,
    AssistantMessage,
    CallBlock,
    Message,
    RawBlock,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)

INTERRUPTED: Final = "[interrupted: this call has no result; whether it ran is not known]"
PENDING: Final = {
    "approval": "[pending: this call waits for an approval and has not run]",
    "result": "[pending: this call waits for its result, which comes from outside]",
}
BEGINNING: Final = "[the beginning of this conversation is not here]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A legal conversation, and what had to be done to it."""

    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()


def repair(messages: Iterable[Message]) -> Repaired:
    """Return the conversation with every call answered once, right after it, under ids that are unique."""
    history = Conversation(messages)
    return Repaired(messages=tuple(history.legal()), notes=tuple(history.notes))


class Conversation:
    """A conversation that is appended to and always legal when it is sent.

    Each message is looked at once, when it comes: a step costs what it adds, however long the run. `_open` holds the
    calls of the last turn that still wait for their results, `_renamed` the new ids of those that could not keep one.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.notes: list[str] = []
        self._done: list[Message] = []
        self._seen: set[str] = set()
        self._open: dict[str, ToolCall] = {}
        self._renamed: dict[str, list[str]] = {}
        self._answers: dict[str, ToolMessage] = {}
        self._given: ToolResults | None = None
        self._later: list[UserMessage] = []
        self.pending: Mapping[str, Sequence[ApprovalQuestion]] = {}
        """The calls of the last turn that wait for a person, or for a result from outside."""
        for message in messages:
            self.append(message)

    def legal(self) -> Sequence[Message]:
        """Return all messages, every call answered. Only grows; the caller must not change it."""
        self._settle()
        return self._done

    def snapshot(self) -> tuple[Message, ...]:
        """Return the conversation as it stands now, while results may still come: looking settles nothing."""
        results = (self._results(),) if self._open else ()
        return (*self._done, *results, *self._later)

    @property
    def open_ids(self) -> tuple[str, ...]:
        """Return the ids under which the calls of the last turn are known here: unique, whatever the provider sent."""
        return tuple(self._open)

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last turn that have no result yet, under these ids."""
        return tuple(call for call_id, call in self._open.items() if call_id not in self._answers)

    def append(self, message: Message) -> None:
        """Add what was said or done."""
        match message:
            case AssistantMessage():
                self._settle()
                self._take_turn(message)
            case ToolResults():
                self._given = message if self._given is None else self._given
                for result in message.results:
                    self.answer(result)
            case UserMessage():
                self._take_user(message)
            case _:
                assert_never(message)

    def answer(self, result: ToolMessage) -> None:
        """Add the result of one call of the last turn, as soon as it is there."""
        call = self._call_of(result)
        if call is None:
            self.notes.append(f"a result of {result.name} ({result.call_id}) had no call")
            return
        fits = result.call_id == call.id and result.name == call.name
        self._answers[call.id] = result if fits else replace(result, call_id=call.id, name=call.name)

    def _take_user(self, message: UserMessage) -> None:
        if len(self._answers) < len(self._open):
            self._later.append(message)  # results come first: providers want nothing in between
            return
        self._settle()
        self._done.append(message)

    def _settle(self) -> None:
        """Close the last turn: answer what is open, then what was said meanwhile."""
        if self._open:
            missing = [call for call in self._open.values() if call.id not in self._answers]
            self.notes.extend(f"call {call.name} ({call.id}) had no result" for call in missing)
            self._done.append(self._results())
            self._done.extend(self._later)
            self._open, self._renamed, self._answers, self._later = {}, {}, {}, []
        self._given = None

    def _results(self) -> ToolResults:
        wanted = tuple(self._answers.get(call.id) or self._unanswered(call) for call in self._open.values())
        if self._given is not None and self._given.results == wanted:
            return self._given
        return ToolResults(results=wanted)

    def _unanswered(self, call: ToolCall) -> ToolMessage:
        waiting = self.pending.get(call.id)
        return pending_result(call, waiting) if waiting else interrupted_result(call)

    def _take_turn(self, message: AssistantMessage) -> None:
        blocks = _without_loose_end(message.blocks)
        if not blocks:
            self.notes.append("an empty turn was left out")
            return
        if not self._done:
            self.notes.append("the conversation began with the model")
            self._done.append(UserMessage.of(BEGINNING))
        taken = {block.call.id for block in blocks if isinstance(block, CallBlock)}
        if taken:
            blocks = tuple(self._block(block, taken) for block in blocks)
        same = len(blocks) == len(message.blocks) and all(map(_is, blocks, message.blocks))
        self._done.append(message if same else replace(message, blocks=blocks))

    def _block(self, block: AssistantBlock, taken: Container[str]) -> AssistantBlock:
        if not isinstance(block, CallBlock):
            return block
        given = block.call.id
        unique = self._unique(given, taken)
        if unique == given:
            self._open[unique] = block.call
            return block
        self.notes.append(f"a second call had the id {given!r}" if given else f"a call of {block.call.name} had no id")
        call = self._open[unique] = replace(block.call, id=unique)
        self._renamed.setdefault(given, []).append(unique)
        return CallBlock(call=call, raw=_under(unique, block))

    def _unique(self, given: str, taken: Container[str]) -> str:
        """An id that stands once; a new one is none that a sibling was given, or results would go astray."""
        unique, number = given, 1
        while not unique or unique in self._seen or (number > 1 and unique in taken):
            number += 1
            unique = f"{given or 'call'}_{number}"
        self._seen.add(unique)
        return unique

    def _call_of(self, result: ToolMessage) -> ToolCall | None:
        """The open call that a result answers: by its id, or, where that had to be changed, the next in order."""
        if result.call_id in self._open and result.call_id not in self._answers:
            return self._open[result.call_id]
        renamed = self._renamed.get(result.call_id, ())
        return next((self._open[call_id] for call_id in renamed if call_id not in self._answers), None)


def pending_result(call: ToolCall, waiting: Sequence[ApprovalQuestion]) -> ToolMessage:
    """Return the labelled result of a call that waits."""
    content = PENDING[waiting[0].waits_for]
    return ToolMessage(call_id=call.id, name=call.name, content=content, is_error=True)


def interrupted_result(call: ToolCall) -> ToolMessage:
    """Return the labelled result of a call that has none."""
    return ToolMessage(call_id=call.id, name=call.name, content=INTERRUPTED, is_error=True)


def _is(one: object, other: object) -> bool:
    return one is other


def _under(call_id: str, block: CallBlock) -> RawBlock | None:
    """The provider's own block under a new id."""
    if block.raw is None:
        return None
    # The wires keep a call's id under one of these keys; Responses has an `id` beside it that is the item's.
    renamed = {key: call_id for key in ("id", "call_id") if block.raw.get(key) == block.call.id}
    return {**block.raw, **renamed}


def _without_loose_end(blocks: tuple[AssistantBlock, ...]) -> tuple[AssistantBlock, ...]:
    """A turn without the thought at its end that nothing came of, which providers refuse, and without blanks there."""
    end = len(blocks)
    while end and _leads_nowhere(blocks[end - 1]):
        end -= 1
    return blocks[:end]


def _leads_nowhere(block: AssistantBlock) -> bool:
    return isinstance(block, ReasoningBlock) or (isinstance(block, TextBlock) and not block.text.strip())
