"""What statistics over a run log cost, against a bare scan of the same rows by SQLite.

    python benchmarks/stats.py [--runs 1000,10000] [--rounds 5] [--save]

A run has five steps with a call each, one of them asked about, and ends: 16 records. The floor reads the same columns
of the same rows in the same order, and does nothing with them. CPU and wall time of the process, in turns, with the
file in the page cache. The memory is that of a process which opens the log and gathers once.
"""

import argparse
import asyncio
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, spread, table, where

from toolroll.journal import statistics
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    CallIntended,
    MessageAdded,
    ModelTurn,
    Record,
    RunBegan,
    RunEnded,
)
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Origin,
    TextBlock,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from toolroll.kernel.data.usage import Usage

STEPS = 5
HEAD = ["", "records", "CPU ms", "floor CPU ms", "CPU × floor", "wall × floor", "peak MiB"]
TOOLS = ("read_file", "search_files", "list_files", "edit_file", "find_definition")
USAGE = Usage(input_tokens=1_200, output_tokens=150, cache_read_tokens=8_000, requests=1)


def records(number: int) -> Iterator[Record]:
    """A run like many."""
    yield RunBegan(model="sonnet", system="You are a careful engineer. " * 20, tools=dict.fromkeys(TOOLS, "f" * 64))
    yield MessageAdded(message=UserMessage.of(f"Fix number {number}."))
    for step in range(STEPS):
        call = ToolCall(id=f"call_{step}", name=TOOLS[step], arguments=f'{{"path": "src/module_{number % 97}.py"}}')
        message = AssistantMessage(
            blocks=(TextBlock(text="I look at the file first."), CallBlock(call=call)),
            origin=Origin(wire="anthropic", model="sonnet"),
        )
        yield ModelTurn(
            message=message, stop="tool_calls", stop_detail="", usage=USAGE, cost=0.01, duration_s=1.0 + number % 7
        )
        if TOOLS[step] == "edit_file":
            yield ApprovalQuestion(call_id=call.id, tool=call.name, digest="d" * 64, preview="+line\n" * 20)
            yield ApprovalAnswer(call_id=call.id, digest="d" * 64, decision="approve")
            yield CallIntended(call=call, effect="writes")
        result = ToolMessage(call_id=call.id, name=call.name, content="a line of a file\n" * 60)
        yield CallEnded(result=result, code=None, duration_ms=10.0 + number % 101)
    yield RunEnded(stop_reason="answer", stop_detail="", text="Done.")


async def fill(path: Path, runs: int) -> int:
    """The log, with how many records it has."""
    journal = SqliteJournal(path)
    count = 0
    for number in range(runs):
        found = list(records(number))
        count += len(found)
        await journal.append(f"{number:032x}", *found)
    journal.close()
    return count


def scan(db: sqlite3.Connection) -> object:
    """The floor."""
    return sum(1 for _ in db.execute(statistics.ROWS, (0.0,)))


def gather(db: sqlite3.Connection) -> object:
    """Ours."""
    return statistics.gather(db)


def timed(work: Callable[[sqlite3.Connection], object], path: Path) -> tuple[float, float]:
    """CPU and wall time in milliseconds."""
    db = sqlite3.connect(path)
    cpu, wall = time.process_time(), time.perf_counter()
    work(db)
    took = (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000
    db.close()
    return took


def memory(path: Path) -> str:
    command = [sys.executable, __file__, "--worker", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def measure(runs: int, rounds: int) -> list[str]:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        count = asyncio.run(fill(path, runs))
        both = [(timed(gather, path), timed(scan, path)) for _ in range(rounds)]
        peak = memory(path)
    cpu = [ours[0] for ours, _ in both]
    floor = [bare[0] for _, bare in both]
    ratios = [[ours[kind] / bare[kind] for ours, bare in both] for kind in (0, 1)]
    figures = [f"{median(cpu):,.0f}", f"{median(floor):,.0f}", *map(spread, ratios), peak]
    return [f"{runs:,} runs", f"{count:,}", *figures]


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--runs", default="1000,10000", help="how many runs the log has")
    options.add_argument("--rounds", type=int, default=5, help="how often each is measured (at least 2)")
    options.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    options.add_argument("--worker", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker is not None:
        timed(gather, Path(chosen.worker))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    rows = [measure(int(runs), max(chosen.rounds, 2)) for runs in chosen.runs.split(",")]
    text = f"{where()}; {chosen.rounds} rounds.\n\n{table(HEAD, rows)}"
    print(text)
    if chosen.save:
        save("stats", text)


if __name__ == "__main__":
    main()
