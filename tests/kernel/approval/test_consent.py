"""A person's consent to calls out of a run with private text: how many, how long, and without which words."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll import Approve, Policy, Rule, Tool, tool
from toolroll.errors import UsageError
from toolroll.kernel.approval import consent as module
from toolroll.kernel.approval.consent import (
    CONSENTED_KEY,
    FRAGMENTS_KEY,
    Consent,
    Fragments,
    Outflow,
    PrivateText,
    outgoing_text,
)
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.labels import ALL_LABELS, LABELS, NO_LABELS, Labels
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Toolset
from toolroll.testing import RecordingApprover, make_run

ALLOW = Policy((Rule(action="allow"),))
SECRET = "Anna moves to Lviv in May. Her key is CANARY-7f3a9c21d4e8b605 and she told nobody else."
POST = Consent(purpose="this post", calls=3, characters=60)


class World:
    """A private text, and a search that a rule allows."""

    def __init__(self, secret: str = SECRET) -> None:
        self.sent: list[str] = []

        @tool(brings=("private", "untrusted"))
        async def read() -> str:
            """Read something private."""
            return secret

        @tool(effect="external", brings="untrusted")
        async def search(query: str) -> str:
            """Search the web."""
            self.sent.append(query)
            return "found"

        self.read, self.search = read, search

    @property
    def tools(self) -> Toolset:
        return Toolset([self.read, self.search])


def calls_for(*queries: str, start: int = 0) -> list[ToolCall]:
    return [
        ToolCall(id=f"c{start + number}", name="search", arguments=f'{{"query": "{query}"}}')
        for number, query in enumerate(queries)
    ]


async def run_with(consent: Consent | Outflow | None, **options: Any) -> tuple[World, Run]:
    world, run = World(), make_run(**{"policy": ALLOW, "approver": None, "consent": consent, **options})
    await world.read.execute_raw("{}", run.context())
    return world, run


async def test_XL33_twenty_calls_of_one_turn_use_up_a_consent_like_twenty_one_after_another() -> None:
    queries = [f"tea {number}" for number in range(20)]
    together, run = await run_with(POST)
    results = await execute_step(together.tools, calls_for(*queries), run)
    assert [one.code for one in results] == [None] * 3 + ["needs_approval"] * 17
    apart, other = await run_with(POST)
    for number, query in enumerate(queries):
        await execute_step(apart.tools, calls_for(query, start=number), other)
    assert together.sent == apart.sent == queries[:3]
    assert run.state[CONSENTED_KEY] == other.state[CONSENTED_KEY] == 3


async def test_XL33_steps_that_run_side_by_side_share_the_count() -> None:
    world, run = await run_with(POST)
    steps = [execute_step(world.tools, calls_for(f"tea {n}", start=n), run) for n in range(20)]
    await asyncio.gather(*steps)
    assert len(world.sent) == 3


def test_XL33_the_count_is_atomic_among_threads() -> None:
    outflow, taken = Outflow(Consent(purpose="this post", calls=50)), list[bool]()

    def take(thread: int) -> None:
        taken.extend(outflow.take(f"{thread}.{n}", {"query": "tea"}) is None for n in range(50))

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (sum(taken), outflow.calls) == (50, 50)


async def test_XL33_a_call_that_is_too_long_is_asked_about_by_itself() -> None:
    person = RecordingApprover([Approve()])
    world, run = await run_with(POST, approver=person)
    await execute_step(world.tools, calls_for("tea", "t" * 61), run)
    [request] = person.requests
    assert request.is_exposed
    assert "61 characters; 60 were agreed on for this post" in request.why
    assert "t" * 61 in request.preview.text
    assert world.sent == ["tea", "t" * 61]


async def test_XL33_without_private_text_nothing_is_counted() -> None:
    world, run = World(), make_run(policy=ALLOW, approver=None, consent=POST)
    await execute_step(world.tools, calls_for(*(f"tea {n}" for n in range(9))), run)
    assert (len(world.sent), CONSENTED_KEY in run.state) == (9, False)


async def test_XL33_a_consent_replaces_no_rule() -> None:
    world, run = await run_with(POST, policy=Policy())
    [result] = await execute_step(world.tools, calls_for("tea"), run)
    assert (result.code, world.sent) == ("needs_approval", [])
    world, run = await run_with(POST, policy=Policy((Rule(action="deny", tool="search"), Rule(action="allow"))))
    [result] = await execute_step(world.tools, calls_for("tea"), run)
    assert (result.code, world.sent) == ("denied", [])


def test_XL33_a_consent_for_less_than_nothing_is_refused() -> None:
    with pytest.raises(UsageError):
        Consent(purpose="x", calls=-1)


LEAKS = [
    "CANARY-7f3a9c21d4e8b605",
    "canary-7F3A9C21D4E8B605",
    "xx7f3a9c21d4e8b605xx",
    "CANARY-7f3a 9c21d4e8 b605",
    "CANARY\u200b-7f3a9c21\u00add4e8b605",
    "ＣＡＮＡＲＹ-7f3a9c21d4e8b605",
    "who is Anna moves to Lviv in",
    "anna, moves - to: lviv... IN may",
    "told nobody else (and she told nobody else)",
]


@pytest.mark.parametrize("query", LEAKS)
async def test_XL34_words_of_a_private_text_leave_only_by_a_yes_that_shows_them(query: str) -> None:
    world, run = await run_with(POST)
    [result] = await execute_step(world.tools, calls_for(query), run)
    assert (result.code, world.sent) == ("needs_approval", [])
    person = RecordingApprover([Approve()])
    world, run = await run_with(POST, approver=person)
    await execute_step(world.tools, calls_for(query), run)
    [request] = person.requests
    assert "words from private text" in request.why
    assert world.sent == [query]


@pytest.mark.parametrize("query", ["burnout statistics 2025", "moves to Lviv in", "Anna Lviv May nobody key"])
async def test_XL34_other_words_are_covered(query: str) -> None:
    world, run = await run_with(POST)
    await execute_step(world.tools, calls_for(query), run)
    assert world.sent == [query]


async def test_XL34_a_passage_that_is_cut_in_two_is_found_in_the_second_call() -> None:
    for first, second in [("Anna moves to Lviv", "in May"), ("CANARY-7f3a9c21", "d4e8b605")]:
        world, run = await run_with(POST)
        await execute_step(world.tools, calls_for(first, second), run)
        assert world.sent == [first]


async def test_XL34_the_strings_of_json_and_the_text_of_errors_count() -> None:
    for secret in ('{"a": ["x\\nAnna moves to Lviv in May"]}', "[not json, but Anna moves to Lviv in May"):
        world, run = World(secret), make_run(policy=ALLOW, approver=None, consent=POST)
        await world.read.execute_raw("{}", run.context())
        await execute_step(world.tools, calls_for("Anna moves to Lviv in"), run)
        assert world.sent == []

    @tool(brings="private")
    async def broken() -> str:
        """Fail."""
        raise ValueError("Anna moves to Lviv in May")

    world, run = World(), make_run(policy=ALLOW, approver=None, consent=POST)
    await broken.execute_raw("{}", run.context())
    await execute_step(world.tools, calls_for("Anna moves to Lviv in"), run)
    assert world.sent == []


def test_XL34_what_is_too_much_to_remember_covers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PASSAGES", 100)
    outflow = Outflow(POST)
    outflow.private.add(" ".join(f"w{n}" for n in range(1_000)))
    assert outflow.private.is_full
    assert outflow.take("c", {"query": "tea"}) is not None


def test_XL34_all_words_of_the_arguments_count_and_the_names_of_a_map_too() -> None:
    given = {"query": "a", "more": {"b": ["c", 4, None, True]}}
    assert outgoing_text(given) == "a b c 4"


WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=5, max_size=30)


@given(WORDS, st.data())
def test_XL34_every_five_words_in_a_row_are_found_whatever_is_around_them(words: list[str], data: Any) -> None:
    private = PrivateText()
    private.add("Dear all,\n" + ", ".join(words) + ".")
    start = data.draw(st.integers(0, len(words) - 5))
    query = "why " + " ".join(words[start : start + 5]).upper() + "?"
    assert private.find(query) is not None


LABEL_SETS = st.sets(st.sampled_from(LABELS)).map(frozenset)


@given(st.lists(LABEL_SETS, max_size=8))
def test_XL37_labels_only_grow(added: list[Labels]) -> None:
    run, before = Run(), NO_LABELS
    for labels in added:
        run.add_labels(labels)
        run.set_state("brought", [])
        assert run.labels == before | labels
        before = run.labels
    run.add_private_text("x")
    assert run.labels == ALL_LABELS


def test_the_tools_of_this_module_say_what_they_bring() -> None:
    tools: list[Tool] = [World().read, World().search]
    assert [one.definition.labels for one in tools] == [("private", "untrusted"), ("untrusted",)]


def test_XL33_calls_are_counted_from_the_consent_on_and_after_a_resume() -> None:
    outflow = Outflow()
    assert outflow.take("c1", {"query": "tea"}) == "Nobody has agreed to that beforehand."
    assert outflow.searches_left == 0
    outflow.count(2)
    outflow.grant(Consent(purpose="this post", calls=3, provider_search=True))
    assert (outflow.calls, outflow.searches_left) == (0, 3)
    outflow.restore(2)
    outflow.restore("a damaged record")
    outflow.restore(1)
    assert (outflow.calls, outflow.searches_left) == (2, 1)
    assert outflow.take("c2", {"query": "tea"}) is None
    assert outflow.take("c2", {"query": "tea"}) is None, "the same call is counted once"
    assert outflow.take("c3", {"query": "tea"}) == "The 3 calls that were agreed on for this post are used up."


def test_XL34_without_a_consent_nothing_is_stored_of_it() -> None:
    run = make_run()
    run.add_private_text("A file of the project.")
    run.note_consented()
    assert (run.labels, CONSENTED_KEY in run.state) == (ALL_LABELS, False)
    run = make_run()
    run.outflow = Outflow(POST)
    run.add_private_text(SECRET)
    assert run.take_consent("c1", {"query": "Anna moves to Lviv in May"}) is not None
    assert (run.outflow.calls, CONSENTED_KEY in run.state) == (0, False)


LONG = "Olena sold her small bakery near the old harbour and nobody in town knew why she left that spring"


async def test_XL60_fragments_of_private_text_are_bounded_over_the_run() -> None:
    """XL60: four words in each of many calls are no way to send a text."""
    world, run = World(LONG), make_run(policy=ALLOW, approver=None, consent=Consent(purpose="this post", calls=30))
    await world.read.execute_raw("{}", run.context())
    words = LONG.split()
    queries = [" ".join([*words[start : start + 4], "tea"]) for start in range(0, len(words) - 3, 4)]
    results = await execute_step(world.tools, calls_for(*queries, "tea", "bakery harbour news", queries[0]), run)
    assert world.sent == [*queries[:3], "tea", "bakery harbour news"]
    assert results[3].code == "needs_approval"
    assert run.state[FRAGMENTS_KEY] == [3, 0]


async def test_XL60_a_key_does_not_leave_in_pieces() -> None:
    world, run = await run_with(Consent(purpose="this post", calls=30))
    await execute_step(world.tools, calls_for("tea 7f3a9c21", "pot", "c21d4e8b605", "CANARY d4e8b605", "b605 tea"), run)
    assert world.sent == ["tea 7f3a9c21", "pot", "b605 tea"]
    assert run.state[FRAGMENTS_KEY] == [0, 1]


async def test_XL60_the_person_is_told_why() -> None:
    person = RecordingApprover([Approve()])
    world, run = await run_with(POST, approver=person)
    run.outflow.fragments = Fragments(words=3)  # type: ignore[union-attr]  # there is a consent
    await execute_step(world.tools, calls_for("why moves to Lviv"), run)
    [request] = person.requests
    assert "a fragment of private text" in request.why


def test_XL60_fragments_are_counted_from_the_consent_on_and_after_a_resume() -> None:
    outflow = Outflow()
    for damaged in ("x", [1], [1, "x"], None):
        outflow.restore_fragments(damaged)
    assert outflow.fragments == Fragments()
    outflow.restore_fragments([2, 1])
    outflow.restore_fragments([1, 0])
    assert outflow.fragments == Fragments(words=2, keys=1)
    outflow.grant(POST)
    assert outflow.fragments == Fragments()


@given(WORDS, st.data())
def test_XL60_any_cuts_of_a_text_send_a_bounded_part_of_it(words: list[str], data: Any) -> None:
    outflow = Outflow(Consent(purpose="this post", calls=100))
    outflow.private.add(" ".join(words))
    sent = 0
    for number in range(data.draw(st.integers(1, 12))):
        start, count = data.draw(st.integers(0, len(words) - 1)), data.draw(st.integers(3, 4))
        piece = words[start : start + count]
        if len(piece) >= 3 and outflow.take(f"c{number}", {"query": " ".join(["why", *piece])}) is None:
            sent += 1
    assert sent <= 3
