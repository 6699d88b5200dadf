"""One turn of the model: asked with retries, continued while it pauses, shown while it is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from toolroll.agent.events import ArgumentsArrived, Event, ReasoningArrived, Retrying, TextArrived
from toolroll.errors import ProviderFailed
from toolroll.kernel.conversation import AssistantMessage, Message, TextBlock
from toolroll.kernel.usage import Usage
from toolroll.models.model import CallDelta, Delta, Model, ModelRequest, ModelResponse, ReasoningDelta, TextDelta
from toolroll.models.retry import Retry, RetryRule, respond_with_retries

MAX_PAUSES: Final = 10
"""How often a provider may pause one turn: each is a whole request, and a search that long is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How the model is asked: who, whether streamed, how patiently, and who is told meanwhile."""

    model: Model
    stream: bool
    rule: RetryRule
    emit: Callable[[Event], None]
    must_stop: Callable[[int], bool]
    """Whether to break off, given the characters written so far."""


async def take_turn(asking: Asking, request: ModelRequest) -> ModelResponse:
    """The model's whole turn; a paused one is continued, and its usage summed."""
    response = await _ask(asking, request)
    for _ in range(MAX_PAUSES):
        if response.stop != "pause":
            return response
        # The same request with what there is so far, unchanged: no message of ours, no tool run in between.
        more = await _ask(asking, replace(request, messages=[*request.messages, response.message]))
        response = _joined(response, more)
    if response.stop == "pause":
        raise ProviderFailed(f"The provider paused one turn more than {MAX_PAUSES} times.")
    return response


def _joined(first: ModelResponse, more: ModelResponse) -> ModelResponse:
    blocks = first.message.blocks + more.message.blocks
    return replace(more, message=replace(more.message, blocks=blocks), usage=first.usage + more.usage)


async def _ask(asking: Asking, request: ModelRequest) -> ModelResponse:
    text: list[str] = []
    count = 0
    pieces = respond_with_retries(asking.model, request, stream=asking.stream, rule=asking.rule)
    try:
        async for piece in pieces:
            if isinstance(piece, ModelResponse):
                return piece
            asking.emit(_event(piece))
            if isinstance(piece, Retry):
                continue
            if isinstance(piece, TextDelta):
                text.append(piece.text)
            count += len(piece.arguments if isinstance(piece, CallDelta) else piece.text)
            if asking.must_stop(count):
                return broken_off(asking, "".join(text))
    finally:
        await pieces.aclose()
    raise ProviderFailed("The model ended without an answer.")


def _event(piece: Delta | Retry) -> Event:
    match piece:
        case TextDelta():
            return TextArrived(piece.text)
        case ReasoningDelta():
            return ReasoningArrived(piece.text)
        case CallDelta():
            return ArgumentsArrived(piece.call_id, piece.name, piece.arguments)
        case Retry():
            return Retrying(attempt=piece.attempt, wait_s=piece.wait_s, reason=piece.error.message)
        case _:
            assert_never(piece)


def broken_off(asking: Asking, text: str) -> ModelResponse:
    """What was written until a limit was reached in the middle of it; calls it was writing are not in it."""
    blocks = (TextBlock(text=text),) if text else ()
    message = AssistantMessage(blocks=blocks, origin=asking.model.origin)
    return ModelResponse(
        message=message, stop="max_tokens", stop_detail="limit", usage=Usage(requests=1, measured=False)
    )


def last_text(messages: Sequence[Message]) -> str:
    """The latest text of the model, if it ever wrote any."""
    turns = (message for message in reversed(messages) if isinstance(message, AssistantMessage))
    return next((turn.text for turn in turns if turn.text.strip()), "")
