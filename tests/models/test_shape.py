"""Whatever a provider sends becomes a legal turn that reads back from the run log, or a typed error (XL15, XL17)."""

import json
import os
from random import Random

import pytest
from tests.models.asking import ADD, results, user
from tests.models.shape_fuzz import FUZZ_WIRES, FuzzWire, faulty_body, model_with

from toolroll.agent.history.repair import repair
from toolroll.errors import ModelError
from toolroll.journal.codec import decode, encode
from toolroll.journal.records import ModelTurn
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.models.prices import price_of

ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "150"))


async def outcome(wire: FuzzWire, body: bytes, *, streamed: bool) -> ModelResponse | ModelError:
    """What a model makes of the bytes; anything but a typed error is a test failure."""
    model = model_with(wire, body, streamed=streamed)
    response = None
    try:
        async for piece in model.respond(ModelRequest(messages=[user()], tools=(ADD,)), stream=streamed):
            response = piece
    except ModelError as error:
        return error
    assert isinstance(response, ModelResponse)
    return response


def check_reads_back(response: ModelResponse) -> None:
    origin = response.message.origin
    assert origin is not None
    record = ModelTurn(
        message=response.message,
        stop=response.stop,
        stop_detail=response.stop_detail,
        usage=response.usage,
        cost=price_of(origin, response.usage),
        duration_s=1.0,
    )
    stored = encode(record)
    assert encode(decode(stored.body, stored.contents.__getitem__)) == stored


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", FUZZ_WIRES)
async def test_XL17_a_faulty_answer_is_a_legal_turn_or_a_typed_error(wire: FuzzWire, streamed: bool) -> None:
    random = Random(15)
    turns = 0
    for _ in range(ROUNDS):
        body = faulty_body(wire, random, streamed=streamed)
        found = await outcome(wire, body, streamed=streamed)
        if isinstance(found, ModelResponse):
            turns += 1
            check_reads_back(found)
            check_goes_back(wire, found, body)
        else:
            assert found.code != "unexpected"
            found.message.encode()
    assert turns > ROUNDS // 10  # else the faults hide what comes after them


def check_goes_back(wire: FuzzWire, response: ModelResponse, body: bytes) -> None:
    """The conversation with this turn can be sent, as JSON that any reader accepts."""
    turn = response.message
    messages = repair([user(), turn, *([results(turn)] if turn.calls else ()), user()]).messages
    sent = model_with(wire, body, streamed=False).encode(ModelRequest(messages=messages), stream=False)
    json.loads(sent.decode(), parse_constant=pytest.fail)
