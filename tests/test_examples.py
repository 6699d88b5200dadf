"""The programs in examples/: each runs without a key, and is no longer than the figure for its task."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
MOST_LINES = {"bank_support": 51, "weather": 44, "customer_service": 65, "ask_agent": 12, "approve_elsewhere": 21}
"""Without blanks and comments: what the other frameworks need for the same task."""


def run(folder: Path, name: str, *words: str) -> str:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def count_lines(name: str) -> int:
    lines = (EXAMPLES / f"{name}.py").read_text().splitlines()
    return sum(bool(line.strip()) and not line.strip().startswith(("#", '"""')) for line in lines)


@pytest.mark.parametrize("name", MOST_LINES)
def test_A50_an_example_is_no_longer_than_it_may_be(name: str) -> None:
    assert count_lines(name) <= MOST_LINES[name]


def test_A50_three_agents_hand_over(tmp_path: Path) -> None:
    assert run(tmp_path, "customer_service") == "You sit in 3C now. One bag is free."


def test_A50_an_agent_asks_another(tmp_path: Path) -> None:
    assert run(tmp_path, "ask_agent") == "Here: steeped in peace."


@pytest.mark.parametrize("word", ["yes", "no"])
def test_A50_a_call_is_approved_from_another_process(tmp_path: Path, word: str) -> None:
    run_id, call_id = run(tmp_path, "approve_elsewhere").split()
    assert run(tmp_path, "approve_elsewhere", "answer", run_id, call_id, word) == "That is settled."


def test_A50_a_customer_comes_with_each_request(tmp_path: Path) -> None:
    assert run(tmp_path, "bank_support") == "text='You have 123.45 euros.' block_card=False risk=1 topic='money'"


def test_A50_a_client_is_opened_and_closed_by_the_run(tmp_path: Path) -> None:
    assert run(tmp_path, "weather").splitlines() == ["closed", "It is 21 degrees."]
