"""Answers of the wrong shape, through the loop and the run log: a typed error or a legal turn (XL15, XL16, XL17)."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.agent.stage import Notes, add
from tests.models.shape_fuzz import FUZZ_WIRES, FuzzWire, faulty_body, model_with
from tests.models.shapes import answer_of
from tests.support.model_script import Search, Text, Turn, Use
from tests.support.model_server import NO_FAULT, WIRES, sse

from toolroll import Agent, step_count_is
from toolroll.agent.events import Event, Warned
from toolroll.errors import ModelError, ProviderFailed
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.model import Wire
from toolroll.models.retry import RetryRule

ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "40"))
ONCE = RetryRule(retries=0)
PAGES = (("https://a.example/", "A"),)
HUGE = 10**400


def stream_with(wire: Wire, turn: Turn, key: str, value: object) -> bytes:
    """The stream of a turn in which every field of that name has another value."""
    events = [(name, data) for name, data in WIRES[wire].events(answer_of(wire, turn), NO_FAULT)]
    changed = [
        (name, data if data == "[DONE]" else json.dumps(_with(json.loads(data), key, value))) for name, data in events
    ]
    return b"".join(sse(changed))


def _with(node: Any, key: str, value: object) -> Any:
    if isinstance(node, dict):
        return {name: value if name == key else _with(one, key, value) for name, one in node.items()}
    return [_with(one, key, value) for one in node] if isinstance(node, list) else node


NEEDED: list[tuple[Wire, str]] = [
    *(("anthropic", key) for key in ("id", "name", "partial_json", "index", "content_block")),
    *(("openai", key) for key in ("call_id", "name", "output_index", "output", "response", "item")),
    *(("chat", key) for key in ("name", "function", "tool_calls", "choices", "delta")),
]


@pytest.mark.parametrize("value", [None, [], {}, 3, HUGE, True, "missing"], ids=lambda one: str(one)[:9])
@pytest.mark.parametrize(("wire", "key"), NEEDED)
async def test_XL15_a_call_of_the_wrong_shape_runs_nothing_or_what_it_says(
    wire: Wire, key: str, value: object, tmp_path: Path
) -> None:
    notes, journal = Notes(), SqliteJournal(tmp_path / "runs.db")
    turn = Turn(Use("write", {"text": "x"}))
    model = model_with(wire, stream_with(wire, turn, key, value), streamed=True)
    agent = Agent(
        model=model, tools=[notes.write], approver=notes, journal=journal, retry=ONCE, stop_when=[step_count_is(2)]
    )
    error = await _error_of(agent)
    if error is not None:
        assert error.code in ("provider", "network")
        assert notes.written == []
    rows = await journal.runs()
    recording = await journal.read(rows[0].run_id)
    assert (recording.is_damaged, recording.notes) == (False, ())
    journal.close()


@pytest.mark.parametrize("value", [7, [], {}, HUGE, True], ids=lambda one: str(one)[:9])
@pytest.mark.parametrize("wire", ["anthropic", "openai"])
async def test_XL15_a_citation_that_cannot_be_read_is_left_out_with_a_warning(wire: Wire, value: object) -> None:
    turn = Turn([Search("cats", PAGES), Text("Cats purr.", PAGES)])
    events: list[Event] = []
    agent = Agent(model=model_with(wire, stream_with(wire, turn, "url", value), streamed=True), retry=ONCE)
    result = await _watch(agent, events)
    assert result.text == "Cats purr."
    warning = next(event for event in events if isinstance(event, Warned))
    assert warning.kind == "parts_left_out"
    assert "url" in warning.text


async def _watch(agent: Agent[Any], events: list[Event]) -> Any:
    run = agent.stream("go")
    events.extend([event async for event in run])
    return await run.wait()


async def _error_of(agent: Agent[Any]) -> ModelError | None:
    """The error that ends a run, if one does; it must be one of a model."""
    try:
        await agent.stream("go").wait()
    except ModelError as error:
        return error
    return None


COUNTS: list[tuple[Wire, str]] = [("anthropic", "input_tokens"), ("openai", "output_tokens"), ("chat", "prompt_tokens")]


@pytest.mark.parametrize(
    "value", [HUGE, -HUGE, float("inf"), float("nan"), "many", [], 1.5], ids=lambda one: str(one)[:9]
)
@pytest.mark.parametrize(("wire", "key"), COUNTS)
async def test_XL15_absurd_counts_are_unknown_counts(wire: Wire, key: str, value: object, tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "runs.db")
    model = model_with(wire, stream_with(wire, Turn("Hi."), key, value), streamed=True)
    result = await Agent(model=model, journal=journal, retry=ONCE).stream("go").wait()
    assert result.text == "Hi."
    assert result.usage.total < 1_000
    recording = await journal.read(result.run_id)
    assert (recording.is_damaged, len(recording)) == (False, 4)
    journal.close()


async def test_XL15_the_error_names_the_place() -> None:
    body = json.dumps({"content": [{"type": "tool_use", "id": None, "name": "add", "input": {}}]}).encode()
    with pytest.raises(ProviderFailed, match=r"content\.0\.id must be text, not null"):
        await Agent(model=model_with("anthropic", body, streamed=False), tools=[add], retry=ONCE).run("go")


@pytest.mark.slow
@pytest.mark.parametrize("wire", FUZZ_WIRES)
async def test_XL17_every_run_with_a_faulty_answer_reads_back_from_the_run_log(wire: FuzzWire, tmp_path: Path) -> None:
    """Three turns of faults each: what the loop, the tools and the next request make of them is recorded too."""
    random, journal = Random(17), SqliteJournal(tmp_path / "runs.db")
    for _ in range(ROUNDS):
        model = model_with(wire, faulty_body(wire, random, streamed=True), streamed=True)
        agent = Agent(model=model, tools=[add], journal=journal, retry=ONCE, stop_when=[step_count_is(3)])
        await _error_of(agent)
        recording = await journal.read((await journal.runs())[0].run_id)
        assert (recording.is_damaged, recording.notes) == (False, ())
    journal.close()
