"""Compaction: the model itself writes what takes the place of the conversation so far. A failure changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolroll.agent.budget import CHARACTERS_PER_TOKEN, tokens_of
from toolroll.agent.context.facts import Facts, bundled, facts_in, referred, within
from toolroll.agent.context.pins import Pins, Stays
from toolroll.agent.context.summary import INSTRUCTION, read_summary, summary_text
from toolroll.agent.events import ContextCompacted, Warned
from toolroll.agent.result import SubRun
from toolroll.agent.state import RunState
from toolroll.agent.turn import Asking, BrokenOff, take_turn
from toolroll.errors import ModelError
from toolroll.journal.records import Compacted
from toolroll.kernel.data.messages import Message, UserMessage
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    here: int
    """Where the last turn begins among the messages that are sent."""
    through: int
    """And in the conversation."""
    stays: Stays


async def compact(state: RunState, *, least_gain: float = LEAST_GAIN) -> None:
    """Compact the conversation, unless that gains too little; where it fails, say so and go on."""
    window, plan = state.window, _plan(state, least_gain)
    before = window.tokens
    if plan is not None:
        failure = await _compacted(state, plan)
        if failure:
            state.emit(Warned(text=f"The conversation could not be compacted, and stays as it is: {failure}."))
        else:
            _tell_left_out(state, plan.stays.left_out)
            state.emit(ContextCompacted(messages=plan.through, tokens_before=before, tokens_after=window.tokens))
    if window.is_full:  # still: not again before every call from now on
        window.tries_again_at = window.tokens + int(window.limits.window_tokens * TRIES_AGAIN_AFTER)


def _plan(state: RunState, least_gain: float) -> _Plan | None:
    window = state.window
    here, through = window.last_turn()
    conversation = state.history.legal()
    stays = _pins(state).among(conversation[:through])
    gain = sum(map(tokens_of, window.messages[:here])) - sum(tokens_of(conversation[place]) for place in stays.places)
    if gain * window.ratio <= window.limits.window_tokens * least_gain:
        return None
    return _Plan(here=here, through=through, stays=stays)


def _pins(state: RunState) -> Pins:
    window = state.window
    return Pins(
        pinned_tools=window.limits.pinned_tools,
        own_words={id(message) for message in window.own_words},
        window_tokens=window.limits.window_tokens,
        size_of=lambda message: window.ratio * tokens_of(message),
    )


def _tell_left_out(state: RunState, count: int) -> None:
    if count:
        text = f"What is pinned takes more than half of the window: {count} of it, the oldest, are left to the summary."
        state.emit(Warned(text=text))


async def _compacted(state: RunState, plan: _Plan) -> str:
    """Why it failed, or nothing."""
    try:
        taken = await take_turn(_asking(state), _request(state, plan))
    except ModelError as error:
        return error.message.rstrip(".")
    if isinstance(taken, BrokenOff):
        return taken.why
    _spend(state, taken)
    text = taken.message.text
    if taken.stop != "end" or not text.strip():
        return f"the model wrote no summary ({taken.stop_detail or taken.stop})"
    record = _record(state, plan, text)
    messages = state.window.compacted_by(record, state.history.legal())
    if sum(map(tokens_of, messages)) >= sum(map(tokens_of, state.window.messages)):
        return "the summary is longer than what it replaces"
    await state.record(record)
    state.window.compact(record, state.history.legal())
    return ""


def _asking(state: RunState) -> Asking:
    return Asking(
        model=state.setup.model,
        stream=False,  # its words are no answer to anybody: only retries are told
        rule=state.setup.retry,
        emit=state.emit,
        written=[],
        must_stop=lambda _: "stopped on request" if state.stop_requested else None,
        seconds=state.budget.seconds_left(),
    )


def _request(state: RunState, plan: _Plan) -> ModelRequest:
    asked: Sequence[Message] = [*state.window.messages[: plan.here], UserMessage.of(INSTRUCTION)]
    request = state.request(tools=False)
    tokens = min(request.max_output_tokens, MAX_SUMMARY_TOKENS)
    return replace(request, messages=asked, max_output_tokens=tokens, output_schema=None)


def _spend(state: RunState, response: ModelResponse) -> None:
    step = len(state.steps) + 1
    bill = state.budget.bill(response.usage)
    run_id = f"{state.run.run_id}.{COMPACTION}"
    state.spend(SubRun(name=COMPACTION, run_id=run_id, call_id="", usage=response.usage, bill=bill), step=step)


def _record(state: RunState, plan: _Plan, text: str) -> Compacted:
    earlier = state.window.compacted or Compacted(through=0, summary="")
    written = read_summary(text, earlier.decisions)
    references = (*earlier.references, *_bundled(state, earlier.through, plan.through))
    return Compacted(
        through=plan.through,
        summary=summary_text(written, _facts(state, plan, references)),
        pinned=plan.stays.places,
        decisions=written.decisions,
        references=references,
    )


def _bundled(state: RunState, start: int, end: int) -> tuple[str, ...]:
    if state.outputs is None:
        return ()
    return bundled(state.history.legal()[start:end], state.window.trimmed, state.outputs)


def _facts(state: RunState, plan: _Plan, references: Sequence[str]) -> Facts:
    """Found in all of the conversation each time, however often it was compacted before."""
    conversation = state.history.legal()[: plan.through]
    facts = facts_in(conversation, state.run.state, state.window.trimmed)
    facts = replace(facts, references=(*facts.references, *references))
    room = state.window.limits.window_tokens * CHARACTERS_PER_TOKEN // FACTS_SHARE
    return replace(facts, references=referred(facts.references, room, state.outputs), paths=within(facts.paths, room))
