"""Compaction: the model writes a summary that replaces the conversation so far. If that fails, nothing changes.

Pinned messages and, as far as they fit, the user's own messages stay beside the summary.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolroll.agent.context.summary import (
    INSTRUCTION,
    Facts,
    bundle_short_outputs,
    collect_facts,
    list_references,
    newest_within,
    parse_summary,
    render_summary,
)
from toolroll.agent.events import ContextCompacted, Warned
from toolroll.agent.loop.budget import CHARACTERS_PER_TOKEN, tokens_of
from toolroll.agent.loop.model_turn import STOP, InterruptedTurn, TurnRequest, take_turn
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import SubRun
from toolroll.errors import ModelError
from toolroll.journal.records import MessagesCompacted
from toolroll.kernel.data.messages import Message, ToolResults, UserMessage
from toolroll.models.model import ModelRequest, ModelResponse

COMPACTION: Final = "compaction"
"""The name under which it is billed."""
MAX_SUMMARY_TOKENS: Final = 8_192
FACTS_SHARE: Final = 16
"""References, and paths: this part of the window for each."""
LEAST_GAIN: Final = 0.1
"""Of the window: a call that large is not worth less."""
TRIES_AGAIN_AFTER: Final = 0.05
"""Of the window, that more must be in it before a compaction that did not help is tried again."""
PINS_SHARE: Final = 2
"""What is pinned gets half of the window at most: in a window that is full of it nothing could be done."""
WORDS_SHARE: Final = 8
"""The user's other messages, the first one and then the newest; what does not fit is in the summary."""


async def compact(state: RunState, *, least_gain: float = LEAST_GAIN) -> None:
    """Compact the conversation, unless that gains too little; where it fails, say so and go on."""
    window, plan = state.window, _plan(state, least_gain)
    before = window.tokens
    if plan is not None:
        failure = await _try_compaction(state, plan)
        if failure:
            text = f"The conversation could not be compacted, and stays as it is: {failure}."
            state.emit(Warned(kind="compaction_failed", text=text))
        else:
            _warn_left_out(state, plan.stays.left_out)
            state.emit(ContextCompacted(messages=plan.through, tokens_before=before, tokens_after=window.tokens))
    if window.is_full:  # still: not again before every call from now on
        window.tries_again_at = window.tokens + int(window.limits.window_tokens * TRIES_AGAIN_AFTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stays:
    """The places of what stays, in order; `left_out` is how many that were pinned do not fit."""

    places: tuple[int, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    here: int
    """Where the last turn begins among the messages that are sent."""
    through: int
    """And in the conversation."""
    stays: Stays


def _plan(state: RunState, least_gain: float) -> _Plan | None:
    window = state.window
    here, through = window.last_turn()
    conversation = state.conversation.legal()
    stays = _pins(state).among(conversation[:through])
    gain = sum(map(tokens_of, window.messages[:here])) - sum(tokens_of(conversation[place]) for place in stays.places)
    if gain * window.ratio <= window.limits.window_tokens * least_gain:
        return None
    return _Plan(here=here, through=through, stays=stays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """Who has a pin, and what a message takes of the window."""

    pinned_tools: Container[str]
    own_words: Container[int]
    """The ids of what the agent itself said in the user's place."""
    window_tokens: int
    size_of: Callable[[Message], float]

    def among(self, messages: Sequence[Message]) -> Stays:
        """Return what stays of these messages: all that is pinned, the newest first, then what the user said."""
        found: list[int] = []
        left_out, left = 0, self.window_tokens / PINS_SHARE
        for places in self._find_pinned(messages):
            size = sum(self.size_of(messages[place]) for place in places)
            if size > left:
                left_out += 1
                continue
            left -= size
            found += places
        return Stays(places=tuple(sorted((*found, *self._words(messages)))), left_out=left_out)

    def _find_pinned(self, messages: Sequence[Message]) -> Iterator[tuple[int, ...]]:
        """The places of each, the newest first; a result comes with the turn that asked for it, and all its calls."""
        for place in range(len(messages) - 1, -1, -1):
            message = messages[place]
            if isinstance(message, UserMessage) and message.pinned:
                yield (place,)
            elif isinstance(message, ToolResults) and any(one.name in self.pinned_tools for one in message.results):
                yield (place - 1, place)

    def _words(self, messages: Sequence[Message]) -> Iterator[int]:
        places = [place for place, message in enumerate(messages) if self._is_said(message)]
        left = self.window_tokens / WORDS_SHARE
        # The first is mostly what all of it is about.
        if places and self.size_of(messages[places[0]]) <= left:
            left -= self.size_of(messages[places[0]])
            yield places.pop(0)
        for place in reversed(places):
            left -= self.size_of(messages[place])
            if left < 0:
                return
            yield place

    def _is_said(self, message: Message) -> bool:
        return isinstance(message, UserMessage) and not message.pinned and id(message) not in self.own_words


def _pins(state: RunState) -> Pins:
    window = state.window
    return Pins(
        pinned_tools=window.limits.pinned_tools,
        own_words={id(message) for message in window.own_words},
        window_tokens=window.limits.window_tokens,
        size_of=lambda message: window.ratio * tokens_of(message),
    )


def _warn_left_out(state: RunState, count: int) -> None:
    if count:
        text = f"What is pinned takes more than half of the window: {count} of it, the oldest, are left to the summary."
        state.emit(Warned(kind="pins_left_out", text=text))


async def _try_compaction(state: RunState, plan: _Plan) -> str:
    """Why it failed, or nothing."""
    try:
        taken = await take_turn(_turn_request(state), _request(state, plan))
    except ModelError as error:
        return error.message.rstrip(".")
    if isinstance(taken, InterruptedTurn):
        return taken.cause.detail
    _spend(state, taken)
    text = taken.message.text
    if taken.stop != "end" or not text.strip():
        return f"the model wrote no summary ({taken.stop_detail or taken.stop})"
    record = _record(state, plan, text)
    messages = state.window.compacted_by(record, state.conversation.legal())
    if sum(map(tokens_of, messages)) >= sum(map(tokens_of, state.window.messages)):
        return "the summary is longer than what it replaces"
    await state.record(record)
    state.compact(record)
    return ""


def _turn_request(state: RunState) -> TurnRequest:
    return TurnRequest(
        model=state.setup.model,
        stream=False,  # its words are no answer to anybody: only retries are told
        rule=state.setup.retry,
        timeouts=state.setup.timeouts,
        emit=state.emit,
        written=[],
        must_stop=lambda _: STOP if state.stop_requested else None,
        seconds=state.budget.seconds_left(),
    )


def _request(state: RunState, plan: _Plan) -> ModelRequest:
    asked: Sequence[Message] = [*state.window.messages[: plan.here], UserMessage.of(INSTRUCTION)]
    request = state.request(tools=False)
    tokens = min(request.max_output_tokens, MAX_SUMMARY_TOKENS)
    settings = request.settings
    if settings is not None and settings.stop_sequences:  # they end answers, and would cut the summary
        settings = replace(settings, stop_sequences=())
    return replace(request, messages=asked, max_output_tokens=tokens, output_schema=None, settings=settings)


def _spend(state: RunState, response: ModelResponse) -> None:
    step = len(state.steps) + 1
    bill = state.budget.bill(response.usage)
    run_id = f"{state.run.run_id}.{COMPACTION}"
    state.spend(SubRun(name=COMPACTION, run_id=run_id, call_id="", usage=response.usage, bill=bill), step=step)


def _record(state: RunState, plan: _Plan, text: str) -> MessagesCompacted:
    earlier = state.window.compacted or MessagesCompacted(through=0, summary="")
    written = parse_summary(text, earlier.decisions)
    references = (*earlier.references, *_bundle(state, earlier.through, plan.through))
    return MessagesCompacted(
        through=plan.through,
        summary=render_summary(written, _facts(state, plan, references)),
        pinned=plan.stays.places,
        decisions=written.decisions,
        references=references,
    )


def _bundle(state: RunState, start: int, end: int) -> tuple[str, ...]:
    if state.outputs is None:
        return ()
    return bundle_short_outputs(state.conversation.legal()[start:end], state.window.trimmed, state.outputs)


def _facts(state: RunState, plan: _Plan, references: Sequence[str]) -> Facts:
    """Found in all of the conversation each time, however often it was compacted before."""
    conversation = state.conversation.legal()[: plan.through]
    facts = collect_facts(conversation, state.run.state, state.window.trimmed)
    facts = replace(facts, references=(*facts.references, *references))
    room = state.window.limits.window_tokens * CHARACTERS_PER_TOKEN // FACTS_SHARE
    return replace(
        facts, references=list_references(facts.references, room, state.outputs), paths=newest_within(facts.paths, room)
    )
