"""The programs in examples/: each runs without a key, and is no longer than the figure for its task."""

import ast
import inspect
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from toolroll import Agent, ScriptedModel
from toolroll.agent.conversation import load_messages
from toolroll.errors import UsageError

EXAMPLES = Path(__file__).parents[1] / "examples"
MOST_LINES = {
    "bank_support": 51,
    "weather": 44,
    "question_to_sql": 48,
    "approve_some": 28,
    "stream_records": 18,
    "web_chat": 33,
    "customer_service": 65,
    "ask_agent": 12,
    "approve_elsewhere": 21,
}
"""Without blanks and comments: what the other frameworks need for the same task."""
COMPARED = re.compile(r"\(\.\./examples/(?P<name>\w+)\.py\) \| (?P<ours>\d+) \| (?P<theirs>\d+) \|")
LISTENS = re.compile(r"running on (http://127\.0\.0\.1:\d+)")
DYING_WORKER = """
import asyncio, os, worker
from toolroll import ScriptedModel

def die(request):
    return worker.script(request) if len(request.messages) == 1 else os._exit(9)

asyncio.run(worker.drain(worker.make_agent(ScriptedModel(die)), worker.open_tasks()))
"""


def run(folder: Path, name: str, *words: str, answers: str = "") -> str:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *words]
    done = subprocess.run(command, cwd=folder, input=answers, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def count_lines(name: str) -> int:
    lines = (EXAMPLES / f"{name}.py").read_text().splitlines()
    return sum(bool(line.strip()) and not line.strip().startswith(("#", '"""')) for line in lines)


@pytest.mark.parametrize("name", MOST_LINES)
def test_A50_an_example_is_no_longer_than_it_may_be(name: str) -> None:
    assert count_lines(name) <= MOST_LINES[name]


def test_A50_the_page_of_comparison_has_the_right_figures() -> None:
    page = (EXAMPLES.parent / "docs" / "compare.md").read_text()
    found = {row["name"]: (int(row["ours"]), int(row["theirs"])) for row in COMPARED.finditer(page)}
    assert found == {name: (count_lines(name), most) for name, most in MOST_LINES.items()}


def test_A50_three_agents_hand_over(tmp_path: Path) -> None:
    assert run(tmp_path, "customer_service") == "You sit in 3C now. One bag is free."


def test_A50_an_agent_asks_another(tmp_path: Path) -> None:
    assert run(tmp_path, "ask_agent") == "Here: steeped in peace."


@pytest.mark.parametrize(("word", "paid"), [("yes", ["Paid 40 euros."]), ("half", ["Paid 20 euros."]), ("no", [])])
def test_A50_a_call_is_approved_from_another_process(tmp_path: Path, word: str, paid: list[str]) -> None:
    run_id, call_id = run(tmp_path, "approve_elsewhere").split()
    told = run(tmp_path, "approve_elsewhere", "answer", run_id, call_id, word).splitlines()
    assert told == [*paid, "That is settled."]


def test_A50_a_customer_comes_with_each_request(tmp_path: Path) -> None:
    assert run(tmp_path, "bank_support") == "text='You have 123.45 euros.' block_card=False risk=1 topic='money'"


def test_A50_a_client_is_opened_and_closed_by_the_run(tmp_path: Path) -> None:
    assert run(tmp_path, "weather").splitlines() == ["closed", "It is 21 degrees."]


def test_A50_a_query_is_tried_in_the_database_before_it_is_the_answer(tmp_path: Path) -> None:
    answer = run(tmp_path, "question_to_sql")
    assert answer == "sql=\"SELECT message FROM records WHERE level = 'error'\" explanation='Errors.'"


@pytest.mark.parametrize(
    ("word", "paid"), [("y", {"A1": 12, "A2": 400}), ("90", {"A1": 12, "A2": 90}), ("n", {"A1": 12})]
)
def test_A50_a_person_is_asked_about_the_large_refund_only(tmp_path: Path, word: str, paid: dict[str, int]) -> None:
    told = run(tmp_path, "approve_some", answers=f"{word}\n")
    assert told.count("[y/n/amount]") == 1
    assert str(paid) in told


def test_A50_a_list_is_shown_while_it_grows(tmp_path: Path) -> None:
    *grown, last = run(tmp_path, "stream_records").splitlines()
    assert grown == ["so far:", "so far: blue whale", "so far: blue whale orca"]
    assert "name='minke'" in last


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "uvicorn", "--app-dir", str(EXAMPLES), "web_chat:app", "--port", "0"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        assert process.stderr is not None
        found = next((match for line in process.stderr if (match := LISTENS.search(line))), None)
        assert found is not None, "the server ended before it listened"
        yield found[1]
    finally:
        process.kill()
        process.communicate()


def test_A50_a_chat_is_streamed_and_stored_in_the_database_of_its_app(tmp_path: Path) -> None:
    with serve(tmp_path) as address:
        for number in (1, 3):
            lines = httpx2.post(f"{address}/chats/7", content="Hello", timeout=30).text.split("\n\n")
            chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
            assert "".join(one.get("delta", "") for one in chunks) == f"This is message {number}."
        assert len(load_messages(httpx2.get(f"{address}/chats/7", timeout=30).text)) == 4
        assert load_messages(httpx2.get(f"{address}/chats/8", timeout=30).text) == ()
    [(stored,)] = sqlite3.connect(tmp_path / "chats.db").execute("SELECT messages FROM chats")
    assert len(load_messages(stored)) == 4


def test_A50_a_worker_goes_on_where_the_last_one_died(tmp_path: Path) -> None:
    run(tmp_path, "worker", "add", "t1", "What is tea?")
    command = [sys.executable, "-c", DYING_WORKER]
    died = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(EXAMPLES)}, check=False, timeout=60)
    assert died.returncode == 9
    # Two requests in all: the first one, which the dead worker paid, is not sent again.
    assert run(tmp_path, "worker") == "t1 2 requests: Tea is a drink."
    assert run(tmp_path, "worker") == ""


async def test_A50_a_notebook_runs_cell_by_cell(capsys: pytest.CaptureFixture[str]) -> None:
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text())["cells"]
    names: dict[str, object] = {"__name__": "notebook"}
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    shown = [await run_cell(source, names) for source in sources]
    assert shown == [None, "It is 3.", None]
    assert capsys.readouterr().out == "Then it is 5."


async def run_cell(source: str, names: dict[str, object]) -> object:
    """Run a cell as a notebook does: with `await` outside of functions, and the value of a last expression."""
    tree = ast.parse(source)
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_", ast.Store())], tree.body[-1].value), tree.body[-1])
    code = compile(ast.fix_missing_locations(tree), "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names["_"] = None
    done = eval(code, names)
    if inspect.iscoroutine(done):
        await done
    return names["_"]


async def test_A50_run_sync_in_a_notebook_says_what_to_write() -> None:
    with pytest.raises(UsageError, match="await"):
        Agent(model=ScriptedModel(["Hello."])).run_sync("Hello.")
