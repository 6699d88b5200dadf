"""Asking the model in the name of a run: its turn joins the conversation, and says whether the run ends with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

from toolroll.agent.context.fit import make_room
from toolroll.agent.labels import labels_of_turn
from toolroll.agent.model_turn import InterruptedTurn, StopCheck, TurnRequest, take_turn
from toolroll.agent.result import Ending
from toolroll.agent.state import RunState
from toolroll.errors import ContextTooLong
from toolroll.journal.records import ModelTurn
from toolroll.kernel.data.messages import AssistantMessage, TextBlock, ToolCall
from toolroll.models.model import ModelResponse

CHECK_EVERY_CHARACTERS: Final = 400
"""How often limits are looked at while a turn is being written: about every hundred tokens."""
CLOSING_S: Final = 60.0
"""How long the last answer may take where a deadline has passed: a person waits."""
STOPPED: Final = "stopped on request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the model said. `ending` is set where its calls must not be run."""

    response: ModelResponse
    calls: Sequence[ToolCall]
    ending: Ending | None = None

    @property
    def text(self) -> str:
        """All it wrote."""
        return self.response.message.text


async def ask_model(state: RunState, *, closing: bool = False) -> Turn:
    """The model's next turn, kept and counted. The last one of a run has no tools, and limits no longer count."""
    await make_room(state)
    started = perf_counter()
    taken = await _take_turn(state, closing=closing)
    response = _partial(state, taken) if isinstance(taken, InterruptedTurn) else taken
    await _add_turn(state, response, perf_counter() - started, closing=closing)
    turn = make_turn(state, response)
    return replace(turn, ending=_interrupted_ending(taken)) if isinstance(taken, InterruptedTurn) else turn


async def _take_turn(state: RunState, *, closing: bool) -> ModelResponse | InterruptedTurn:
    """What comes of asking; a conversation that the provider finds too long is made shorter, once."""
    try:
        return await take_turn(_turn_request(state, closing=closing), state.request(tools=not closing))
    except ContextTooLong:
        from toolroll.agent.context.fit import shorten_refused, still_too_long  # noqa: PLC0415 - most runs never need it

        if not await shorten_refused(state):
            raise
    try:
        return await take_turn(_turn_request(state, closing=closing), state.request(tools=not closing))
    except ContextTooLong as error:
        raise still_too_long(error) from error


def make_turn(state: RunState, response: ModelResponse) -> Turn:
    """The turn that has just joined the conversation."""
    calls = _calls(state, response)
    return Turn(response=response, calls=calls, ending=_early_ending(response) or _stop_ending(state, calls))


def _turn_request(state: RunState, *, closing: bool) -> TurnRequest:
    state.written.clear()
    seconds = state.budget.seconds_left()
    if closing and seconds is not None:
        seconds = max(seconds, CLOSING_S)
    return TurnRequest(
        model=state.setup.model,
        stream=state.stream or state.budget.is_limited,  # else a limit could only be looked at when it is all written
        rule=state.setup.retry,
        emit=state.emit,
        written=state.written,
        must_stop=_stop_check(state, closing=closing),
        seconds=seconds,
    )


def _stop_check(state: RunState, *, closing: bool) -> StopCheck:
    """Looks at the limits now and then; a request to stop is heard at once."""
    looked = 0

    def why(characters: int) -> str | None:
        nonlocal looked
        if state.stop_requested:
            return STOPPED
        if closing or 0 < characters - looked < CHECK_EVERY_CHARACTERS:
            return None
        looked = characters
        return state.budget.reached_while_writing(characters)

    return why


def _partial(state: RunState, broken: InterruptedTurn) -> ModelResponse:
    """What was written until then; calls that were being written are not in it."""
    text = "".join(state.written)
    blocks = (TextBlock(text=text),) if text else ()
    usage = state.budget.estimate(broken.characters)
    return ModelResponse(
        message=AssistantMessage(blocks=blocks, origin=state.setup.model.origin),
        stop="max_tokens",
        stop_detail=broken.why,
        usage=usage if broken.usage is None else usage + broken.usage,
    )


async def _add_turn(state: RunState, response: ModelResponse, duration_s: float, *, closing: bool) -> None:
    state.conversation.append(response.message)
    state.written.clear()
    state.run.add_labels(labels_of_turn(response.message))
    if state.setup.on_turn is not None:
        state.setup.on_turn(state.run, response.message)
    state.window.answered(response.usage)
    bill = state.budget.answered(response.usage)
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
    )
    await state.record(record)


def _calls(state: RunState, response: ModelResponse) -> Sequence[ToolCall]:
    """The turn's calls under unique ids, with names and arguments as the model wrote them."""
    known = zip(response.message.calls, state.conversation.open_ids, strict=True)
    return [call if call.id == call_id else replace(call, id=call_id) for call, call_id in known]


def _interrupted_ending(broken: InterruptedTurn) -> Ending:
    if broken.why == STOPPED:
        return Ending(reason="interrupted", detail=STOPPED)
    return Ending(reason="condition", detail=f"{broken.why}: reached while the model was writing")


def _stop_ending(state: RunState, calls: Sequence[ToolCall]) -> Ending | None:
    return Ending(reason="interrupted", detail=STOPPED) if state.stop_requested and calls else None


def _early_ending(response: ModelResponse) -> Ending | None:
    """Turns whose calls must not be run: cut, refused, or ended for a reason nobody knows."""
    match response.stop:
        case "max_tokens" | "context_full":
            return Ending(reason="cut_off", detail=response.stop_detail or response.stop)
        case "refusal":
            said = response.message.text.strip() or f"(The model refused to answer. {response.stop_detail})"
            return Ending(reason="refusal", detail=response.stop_detail, text=said)
        case "unknown" | "stop_sequence" if response.message.calls:
            return Ending(reason="cut_off", detail=response.stop_detail or response.stop)
        case _:
            return None
