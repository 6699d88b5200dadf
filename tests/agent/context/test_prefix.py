"""A22 over the wire: what a provider has cached of one request begins the next one, except where a stride says so."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer, Received

from toolroll import Agent, step_count_is, tool
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.context.summary import INSTRUCTION
from toolroll.agent.events import ContextCompacted, ContextTrimmed, Event, StepStarted
from toolroll.models.model import Wire

STEPS = 24
WINDOW = 20_000
MARK = b',"cache_control":{"type":"ephemeral"}'
LISTS = {"anthropic": "messages", "chat": "messages", "openai": "input"}


@tool
async def read(number: int) -> str:
    """Read a page."""
    return f"page {number}: " + "word " * 1_000


def turn(received: Received, counter: list[int]) -> Turn:
    """A page after another; counts as a provider does, by the size of what it was sent."""
    tokens = {"input": len(received.raw) // 4, "output": 20}
    if INSTRUCTION[:40].encode() in received.raw:
        return Turn("## Decisions\n- Go on.\n## Summary\nPages were read.", usage=tokens)
    counter[0] += 1
    if counter[0] > STEPS:
        return Turn("Done.", usage=tokens)
    return Turn([Use("read", {"number": counter[0]})], usage=tokens)


async def requests_of(wire: Wire, folder: Path, **rules: Any) -> tuple[list[Received], list[Event]]:
    counter = [0]
    async with ModelServer(lambda received: turn(received, counter)) as server:
        agent = Agent(
            model=server.model(wire),
            tools=[read],
            system="You read.",
            outputs=folder,
            stop_when=step_count_is(STEPS + 2),
            context=ContextRules(window_tokens=WINDOW, **rules),
        )
        events: list[Event] = [event async for event in agent.stream("Read all pages.")]
        return list(server.requests), events


def body_of(received: Received) -> bytes:
    """The bytes up to the end of the last message, without the marks of the cache, which move."""
    raw = received.raw.replace(MARK, b"")
    return raw.removesuffix(b"]}")


def strides(events: list[Event], kind: type[Event]) -> set[int]:
    """The steps before whose request something gave way."""
    step, found = 0, set()
    for event in events:
        if isinstance(event, StepStarted):
            step = event.number
        elif isinstance(event, kind):
            found.add(step)
    return found


@pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
async def test_A22_a_request_begins_with_the_one_before_except_at_a_stride(wire: Wire, tmp_path: Path) -> None:
    """To the byte, on every wire: what is trimmed changes the prefix in a few places only, and never its beginning."""
    requests, events = await requests_of(wire, tmp_path, outputs_tokens=8_000, compact_at=None)
    bodies = [body_of(received) for received in requests]
    changed = {number + 1 for number in range(1, len(bodies)) if not bodies[number].startswith(bodies[number - 1])}
    assert len(bodies) == STEPS + 1
    assert changed == strides(events, ContextTrimmed)
    assert 0 < len(changed) <= STEPS / 3
    for number in changed:
        kept = LISTS[wire].encode()
        before, after = bodies[number - 2], bodies[number - 1]
        assert before[: before.index(kept)] == after[: after.index(kept)]
        shared = next(place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
        assert before[shared:].startswith(b"page ") or b"page " in before[shared - 20 : shared + 20]


async def test_A22_a_compaction_changes_what_follows_it_once(tmp_path: Path) -> None:
    """The summary is asked for with the cached beginning; after it there is one prefix again, until the next."""
    requests, events = await requests_of("anthropic", tmp_path, outputs_tokens=0)
    own = [received for received in requests if INSTRUCTION[:40].encode() not in received.raw]
    bodies = [body_of(received) for received in own]
    changed = {number + 1 for number in range(1, len(bodies)) if not bodies[number].startswith(bodies[number - 1])}
    assert changed == strides(events, ContextCompacted)
    assert 0 < len(changed) <= STEPS / 3
    for place, received in enumerate(requests):
        if INSTRUCTION[:40].encode() in received.raw:
            sent = received.body["messages"][:-1]
            assert plain(requests[place - 1].body["messages"])[: len(sent)] == plain(sent)
            assert received.body["tools"] == requests[place - 1].body["tools"]
            assert received.body["system"] == requests[place - 1].body["system"]


def plain(messages: list[Any]) -> Any:
    """Messages without the marks of the cache."""
    return json.loads(json.dumps(messages, separators=(",", ":")).encode().replace(MARK, b""))


async def test_A22_there_are_never_more_breakpoints_than_a_provider_takes(tmp_path: Path) -> None:
    """Four at most; one ends the system text, one what the request before has written, one this request."""
    requests, _ = await requests_of("anthropic", tmp_path, outputs_tokens=8_000)
    for before, received in pairwise(requests):
        assert received.raw.count(MARK) == 3
        assert received.body["system"][-1]["cache_control"] == {"type": "ephemeral"}
        marked = [place for place, one in enumerate(received.body["messages"]) if b"cache_control" in _bytes(one)]
        assert marked[-1] == len(received.body["messages"]) - 1
        if received.body["messages"][:1] == before.body["messages"][:1]:
            assert marked[0] == len(received.body["messages"]) - 3


def _bytes(value: object) -> bytes:
    return json.dumps(value).encode()
