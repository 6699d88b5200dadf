"""Asking the model on behalf of a run: its turn is added to the conversation, and may end the run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final, TypeAlias

from toolroll.agent.context.fit import make_room, shorten_refused, still_too_long, too_long
from toolroll.agent.events import ModelPaused, OutputArrived, TextArrived, Warned
from toolroll.agent.labels import labels_of_turn
from toolroll.agent.loop.model_turn import STOP, InterruptedTurn, Interruption, StopCheck, TurnRequest, take_turn
from toolroll.agent.loop.state import RunState
from toolroll.agent.output import NOTHING, PartialReader
from toolroll.agent.result import Ending
from toolroll.errors import ContextTooLong
from toolroll.journal.records import ModelTurn
from toolroll.kernel.data.messages import AssistantMessage, ServerBlock, TextBlock, ToolCall
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.safe.text import one_line

CHECK_EVERY_CHARACTERS: Final = 400
"""How often limits are checked while a turn is being written: about every hundred tokens."""
_SHOWN_CHARACTERS: Final = 120
TEXT_CALLS: Final = (
    "The model writes its calls as text. They are read from there, and it is asked for JSON from now on; the setting "
    'calls = "json" begins with that.'
)
STOPPED: Final = Ending(reason="interrupted", detail=STOP.detail)
"""The ending of a run that somebody has stopped."""


_Taken: TypeAlias = tuple[ModelResponse, Interruption | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of the model with its calls under unique ids. `ending` is set where the calls must not be run."""

    response: ModelResponse
    calls: Sequence[ToolCall]
    ending: Ending | None = None

    @property
    def text(self) -> str:
        """Return all the text of the turn."""
        return self.response.message.text

    @property
    def is_cut(self) -> bool:
        """Return whether the turn was cut off before it was complete."""
        return self.response.stop in ("max_tokens", "context_full")


async def ask_model(state: RunState, *, closing: bool = False) -> Turn:
    """Ask for the next turn and add it to the run. With `closing` it is the last one, without tools."""
    await make_room(state)
    started = perf_counter()
    response, cause = await _take_turn(state, closing=closing)
    if response.dropped:
        places = one_line(", ".join(response.dropped), _SHOWN_CHARACTERS)
        text = f"The provider sent citations that cannot be read ({places}). They are left out."
        state.emit(Warned(kind="parts_left_out", text=text))
    if response.has_text_calls and not state.is_text_read:
        state.is_text_read = True
        state.emit(Warned(kind="text_calls", text=TEXT_CALLS))
    await _add_turn(state, response, perf_counter() - started, closing=closing)
    turn = make_turn(state, response)
    return turn if cause is None else replace(turn, ending=_interrupted_ending(cause))


def make_turn(state: RunState, response: ModelResponse) -> Turn:
    """Return the turn whose response was just added to the conversation."""
    known = zip(response.message.calls, state.conversation.open_ids, strict=True)
    calls = [call if call.id == call_id else replace(call, id=call_id) for call, call_id in known]
    turn = Turn(response=response, calls=calls)
    return replace(turn, ending=_early_ending(turn) or (STOPPED if state.stop_requested and calls else None))


async def _take_turn(state: RunState, *, closing: bool) -> _Taken:
    """Ask the model; a conversation that the provider refuses as too long is shortened once."""
    needed, window = state.window.tokens, state.window.limits.window_tokens
    try:
        return await _send(state, closing=closing)
    except ContextTooLong as error:
        if not await shorten_refused(state):
            raise too_long(error, needed=needed, window=window) from error
    try:
        return await _send(state, closing=closing)
    except ContextTooLong as error:
        raise still_too_long(error) from error


async def _send(state: RunState, *, closing: bool) -> _Taken:
    """Ask the model once, with the hooks around it; also say why its turn was ended from our side, if it was."""
    hooks, request = state.setup.hooks, state.request(tools=not closing)
    cause: Interruption | None = None

    async def ask(asked: ModelRequest) -> ModelResponse:
        nonlocal cause
        taken = await take_turn(_turn_request(state, closing=closing), asked)
        if isinstance(taken, ModelResponse):
            return taken
        cause = taken.cause
        return _partial_response(state, taken)

    if state.refusal is not None:
        response, state.refusal = state.refusal, None
    elif hooks is None or not hooks.model:
        return await ask(request), cause
    else:
        response = await hooks.ask_model(state.context(), request, state.setup.model.origin, ask)
    if state.stream and response.message.text and not state.written:  # of a hook: who watches sees it, too
        state.emit(TextArrived(response.message.text))
    return response, cause


def _turn_request(state: RunState, *, closing: bool) -> TurnRequest:
    state.written.clear()
    return TurnRequest(
        model=state.setup.model,
        stream=state.stream or state.budget.is_limited,  # else a limit is only seen when all of it is written
        rule=state.setup.retry,
        emit=state.emit,
        written=state.written,
        must_stop=_stop_check(state, closing=closing),
        on_text=_partial_output(state) if state.stream and state.setup.output is not None else None,
        on_pause=lambda usage: _note_pause(state, usage),
        seconds=state.budget.seconds_left(),
        timeouts=state.setup.timeouts,
        may_repeat=state.setup.loop_guard is None,
    )


def _partial_output(state: RunState) -> Callable[[], None]:
    """Return a listener that reads the typed answer out of the text so far."""
    assert state.setup.output is not None
    reader = PartialReader(state.setup.output)

    def read() -> None:
        value = reader.read(state.written)
        if value is not NOTHING:
            state.partial = value
            state.emit(OutputArrived(output=value))

    return read


def _stop_check(state: RunState, *, closing: bool) -> StopCheck:
    """Return a check that looks at the limits now and then, and at a request to stop every time."""
    last_checked = 0

    def check(characters: int) -> Interruption | None:
        nonlocal last_checked
        if state.stop_requested:
            return STOP
        if 0 < characters - last_checked < CHECK_EVERY_CHARACTERS:
            return None
        last_checked = characters
        limit = state.budget.reached_while_writing(characters, closing=closing)
        return None if limit is None else Interruption(kind="limit", detail=limit)

    return check


def _note_pause(state: RunState, usage: Usage) -> Interruption | None:
    """Count a pause of the provider; why the turn is not continued, if it is not."""
    state.budget.pauses += 1
    state.emit(ModelPaused(pauses=state.budget.pauses))
    if state.stop_requested:
        return STOP
    limit = state.budget.forbids_going_on(usage)
    return None if limit is None else Interruption(kind="limit", detail=limit)


def _partial_response(state: RunState, interrupted: InterruptedTurn) -> ModelResponse:
    """Return the text that was written so far, without calls that were being written."""
    text = "".join(state.written)
    text = text[: len(text) - interrupted.cause.surplus]
    blocks = (TextBlock(text=text),) if text else ()
    usage = state.budget.estimate(interrupted.characters) if interrupted.is_asked else Usage()
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=state.setup.model.origin),
        stop="max_tokens",
        stop_detail=interrupted.cause.detail,
        usage=usage if interrupted.usage is None else usage + interrupted.usage,
    )


async def _add_turn(state: RunState, response: ModelResponse, duration_s: float, *, closing: bool) -> None:
    state.conversation.append(response.message)
    state.written.clear()
    _count_searches(state, response)
    state.run.add_labels(labels_of_turn(response.message))
    if state.setup.on_turn is not None:
        state.setup.on_turn(state.run, response.message)
    state.window.add_usage(response.usage)
    bill = state.budget.add_turn(response.usage)
    if state.setup.journal is None:
        return
    record = ModelTurn(
        message=response.message,
        stop=response.stop,
        stop_detail=response.stop_detail,
        usage=response.usage,
        cost=bill.usd,
        duration_s=duration_s,
        closing=closing,
        pauses=state.budget.pauses,
    )
    await state.record(record)


def _count_searches(state: RunState, response: ModelResponse) -> None:
    """Count the provider's searches to what a person has consented to, where the run holds private text."""
    outflow, calls = state.run.outflow, 0
    for block in response.message.blocks:
        calls += isinstance(block, ServerBlock) and block.kind == "call"
    searches = max(calls, response.usage.web_searches)
    if outflow is not None and searches and "private" in state.run.labels:
        outflow.count(searches)
        state.run.note_consented()


def _interrupted_ending(cause: Interruption) -> Ending:
    if cause.kind == "stop":
        return STOPPED
    if cause.kind == "repetition":
        return Ending(reason="cut_off", detail=cause.detail)
    return Ending(reason="condition", detail=f"{cause.detail}: reached while the model was writing")


def _early_ending(turn: Turn) -> Ending | None:
    """Return the ending of a turn whose calls must not be run: cut off, refused, or ended for an unknown reason."""
    response = turn.response
    detail = response.stop_detail
    if turn.is_cut:
        return Ending(reason="cut_off", detail=detail or response.stop)
    if response.stop == "refusal":
        text = turn.text.strip() or f"(The model refused to answer. {detail})"
        return Ending(reason="refusal", detail=detail, text=text)
    if response.stop in ("unknown", "stop_sequence") and response.message.calls:
        return Ending(reason="cut_off", detail=detail or response.stop)
    return None
