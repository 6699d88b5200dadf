"""D2 over the wires: what comes back from disk is what a provider takes, to the byte that it signed."""

from pathlib import Path
from typing import get_args

import pytest
from tests.agent.stage import add
from tests.agent.tape import Tape
from tests.support.model_script import Thinking, Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.model import Wire

RUN = "run"
WIRES: tuple[Wire, ...] = get_args(Wire)


def turns(wire: Wire) -> list[Turn | str]:
    calls = [Use("add", {"a": 1, "b": 2}), Use("add", {"a": "x"})]
    thought = [Thinking("Let me see.")] if wire == "anthropic" else []
    return [Turn([*thought, "Both.", *calls]), Turn([Use("add", {"a": 3, "b": 4})]), "It is 7."]


async def on_disk(tape: Tape, count: int, path: Path) -> SqliteJournal:
    """The first writes of a run, as another process finds them."""
    journal = SqliteJournal(path)
    for run_id, records in tape.writes[:count]:
        await journal.append(run_id, *records)
    journal.close()
    return SqliteJournal(path)


@pytest.mark.parametrize("wire", WIRES)
async def test_D2_A6_every_provider_takes_a_conversation_that_was_resumed(wire: Wire, tmp_path: Path) -> None:
    """The server checks each request as the provider would, and its end fails if one was refused.

    It also knows what it has signed. The first request of a resumed run is the very one that would have come.
    """
    tape, left = Tape(), turns(wire)
    async with ModelServer(lambda _: Turn(one) if isinstance(one := left.pop(0), str) else one) as server:
        whole = await Agent(model=server.model(wire), tools=[add], journal=tape, make_id=lambda: RUN).run("Go.")
        assert whole.text == "It is 7."
        first = list(server.requests)
        for count in range(1, len(tape.writes) - 1):
            journal = await on_disk(tape, count, tmp_path / str(count) / "runs.db")
            paid, before = (await tape.cut(count)).paid(RUN), len(server.requests)
            left[:] = turns(wire)[paid:]
            result = await Agent(model=server.model(wire), tools=[add], journal=journal, outputs=None).resume(RUN)
            assert (result.text, left) == (whole.text, [])
            assert server.requests[before].body == first[paid].body
            journal.close()
