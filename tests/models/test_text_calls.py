"""Calls in texts: those that a real small model wrote, and every way to break one (A51).

`real_turns.jsonl` holds turns of Qwen2.5-Coder-1.5B (llama.cpp) on the tasks of `benchmarks/real.py`: what it was
asked for (calls as the server makes them, or JSON), what it wrote, and the calls that are read from that.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.models.held_text import HeldText
from toolroll.models.text_calls import MAX_MISSING_BRACKETS, choose_calls, find_calls, is_raw_call, parse_text
from toolroll.packs.code.tools import TOOLS

TURNS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("real_turns.jsonl").read_text("utf-8").splitlines()
]
NAMES = {tool.name for tool in TOOLS}
CALL = '{"name": "edit", "arguments": {"path": "a", "text": "x"}}'


def read(turn: dict[str, Any]) -> list[list[Any]]:
    if turn["asked"] == "native":
        return [[one.name, json.loads(one.arguments)] for one in choose_calls(turn["text"], NAMES)]
    return [[name, json.loads(raw)] for name, raw in parse_text(turn["text"]).calls]


@pytest.mark.parametrize("turn", TURNS, ids=[f"{turn['asked']} {number}" for number, turn in enumerate(TURNS)])
def test_A51_what_a_real_model_wrote_is_read(turn: dict[str, Any]) -> None:
    assert read(turn) == turn["calls"]
    if turn["asked"] == "native" and is_raw_call(turn["text"]):
        held = HeldText()
        assert "".join(map(held.feed, turn["text"])).strip(" \n<tols>") == ""


def test_A51_the_corpus_has_calls_plans_and_words() -> None:
    native = [turn for turn in TURNS if turn["asked"] == "native"]
    assert len(TURNS) >= 25
    assert {len(turn["calls"]) for turn in native} == {0, 1}
    assert any("<function" in turn["text"] for turn in native)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "edit", "arguments": {"path": "a", "text": "x",},}',
        '{"name": "edit", "arguments": {"path": "a", "text": "x"}',
        '```json\n{"name": "edit", "arguments": {"path": "a", "text": "x"\n```',
        "<function=edit>\n<parameter=path>\na\n</parameter>\n<parameter=text>\nx\n</parameter>\n</function>",
        '<function=edit>{"path": "a", "text": "x"}</function>',
        f'{{"tool_calls": [{{"type": "function", "function": {CALL}}}]}}',
        f"[{CALL}]",
    ],
)
def test_A51_small_faults_of_the_form_do_not_lose_a_call(text: str) -> None:
    [found] = find_calls(text)
    assert (found.name, json.loads(found.arguments)) == ("edit", {"path": "a", "text": "x"})
    assert is_raw_call(text)


def test_A51_line_breaks_and_escapes_inside_of_texts_are_taken() -> None:
    [found] = find_calls('{"name": "edit", "arguments": {"text": "a\nb \\d \\\' ```c```"}}')
    assert json.loads(found.arguments) == {"text": "a\nb \\d ' ```c```"}


@pytest.mark.parametrize("end", range(1, len(CALL) - 2))
def test_XL5_A51_half_a_call_is_none(end: int) -> None:
    found = find_calls(CALL[:end])
    assert all(json.loads(one.arguments) in ({"path": "a"}, {"path": "a", "text": "x"}, {}) for one in found)
    if not CALL[:end].endswith(('"', "}", "{", ",", " ")):
        assert found == ()


def test_A51_among_words_only_the_first_call_of_a_known_tool_counts() -> None:
    text = f'First:\n{CALL}\nthen {{"name": "read_file", "arguments": {{"path": "b"}}}}, and so on.'
    assert [one.name for one in choose_calls(text, NAMES)] == ["edit"]
    assert choose_calls(text, {"other"}) == ()
    assert choose_calls(text, NAMES, only_whole=True) == ()
    assert [one.name for one in choose_calls(f"{CALL}\n{CALL}", NAMES, only_whole=True)] == ["edit", "edit"]


@given(st.text(), st.text())
def test_A51_no_text_breaks_the_reader(before: str, after: str) -> None:
    for text in (before, f"{before}{CALL}{after}", f"<function={before}>{after}</function>", f'{{"name": "{before}'):
        find_calls(text)
        choose_calls(text, NAMES)
        is_raw_call(text)
    assert MAX_MISSING_BRACKETS < 5


@given(st.text(), st.integers(1, 9))
def test_A51_what_is_held_back_and_what_is_shown_are_the_text(text: str, size: int) -> None:
    whole = f"{text}{CALL}"
    held = HeldText()
    shown = "".join(held.feed(whole[at : at + size]) for at in range(0, len(whole), size))
    assert shown + held.flush() == whole
