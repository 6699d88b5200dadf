"""Makes the pictures of these pages: real commands in a real pseudo-terminal, and their screen as an SVG.

    make pictures

What a model says is a script; the rest really happens, on a copy of the sample project. What differs each time (how
long a call took, ids) is replaced by something fixed, so that a test can compare.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from docs.pictures.svg import Cell, Row, draw, put, read_screen, row_of, text_of
from tests.cli.chat.screen import ENTER, Screen, at_screen
from tests.support.programs import toolroll
from tests.support.project import Project

from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, CallEnded, ModelTurn, Record, RunBegan
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import AssistantMessage, Origin, ToolMessage
from toolroll.kernel.data.usage import Usage

HERE: Final = Path(__file__).parent
COLUMNS: Final = 90
ROWS: Final = 60

_FIXED: Final = (
    (re.compile(r"(?<= )\d+(?:\.\d+)? m?s(?=, [\d,]+ bytes)"), "14 ms"),
    (re.compile(r"(?<=change id )[0-9a-f]{12}"), "bc00d76c6a82"),
    (re.compile(r"(?<= )/\S+/(?=tea-board|home/)"), "/home/ada/"),
    (re.compile(r"(?<=run )[0-9a-f]{32}"), "3f0c8e2a9b7d41566ad0695eda912877"),
)
_PROMPT: Final = Cell(text="$", ink="#8b949e")

_FORMAT: Final = "src/services/format.js"
_EDIT: Final = {
    "path": _FORMAT,
    "old_string": 'export const formatCups = (cups) => `${cups} ${cups === 1 ? "cup" : "cups"}`;',
    "new_string": (
        "export const formatCups = (cups) =>\n"
        '  cups === 0 ? "no tea at all" : `${cups} ${cups === 1 ? "cup" : "cups"}`;'
    ),
    "description": "Write zero cups as words; one and more stay as they are.",
}
_APPROVAL: Final = (
    {
        "text": "I look for the place where cups are written out.",
        "calls": [{"name": "find_definition", "arguments": {"symbol": "formatCups"}}],
    },
    {
        "text": "It is in format.js. Who depends on it?",
        "calls": [{"name": "find_importers", "arguments": {"modulePath": _FORMAT}}],
    },
    {"calls": [{"name": "read_file", "arguments": {"path": _FORMAT}}]},
    {
        "text": "Three files import it. They print what they get, so none of them has to change.",
        "calls": [{"name": "edit", "arguments": _EDIT}],
    },
)
_CHAT: Final = (
    {
        "text": "I look at who imports it.",
        "calls": [{"name": "find_importers", "arguments": {"modulePath": _FORMAT}}],
    },
    (
        "`formatCups` writes a number of cups. **Three files** import it:\n\n"
        "1. `src/components/App.jsx` prints each debt,\n"
        "2. `src/services/ReminderService.js` writes the reminders,\n"
        "3. `tests/format.test.js` tests it.\n"
    ),
)


def approval(folder: Path) -> list[Row]:
    """A change is proposed, and waits for an answer."""
    command = ("code", "Zero cups should read 'no tea at all'.", "--model", "scripted:../tea.json")
    with _at_work(folder, _APPROVAL, *command) as screen:
        screen.asks("Allow this?")
        rows = _rows(screen)
    return [_typed("toolroll code \"Zero cups should read 'no tea at all'.\" --model scripted:../tea.json"), *rows]


def chat(folder: Path) -> list[Row]:
    """A chat: a file is mentioned, an answer comes with its calls, and the next mention is being completed."""
    with _at_work(folder, _CHAT, "code", "--model", "scripted:../tea.json") as screen:
        screen.say("What does @src/services/format.js do, and who needs it?", "tests it.")
        screen.waits()
        screen.send(b"Is there a test of @Service")
        screen.shows(*(f"@src/services/{name}Service.js" for name in ("Database", "Reminder", "Report")))
        rows = _rows(screen)
    first = next(number for number, row in enumerate(rows) if text_of(row).startswith("> "))
    # What stands above names a folder that is another one each time.
    return rows[first:]


def always(folder: Path) -> list[Row]:
    """An "always", and the rule that comes of it."""
    change = {"path": "README.md", "old_string": "of tea", "new_string": "of green tea", "description": "Which tea."}
    with _at_work(folder, (), "call", "edit", json.dumps(change)) as screen:
        screen.asks("Allow this?")
        screen.send(b"!" + ENTER)
        screen.asks("[README.md]")
        screen.send(b"*.md" + ENTER)
        screen.asks("Always allow this?")
        screen.send(b"y" + ENTER)
        screen.end()
        return _rows(screen)


def stats(folder: Path) -> list[Row]:
    """The figures of a run log that is made up."""
    home = folder / "home"
    (home / "data").mkdir(parents=True, mode=0o700)
    asyncio.run(_made_up(home / "data" / "runs.db"))
    with at_screen(home, folder, *toolroll("stats"), columns=COLUMNS, rows=ROWS, env={"TZ": "UTC"}) as screen:
        screen.end()
        return [_typed("toolroll stats"), *_rows(screen)]


PICTURES: Final[dict[str, tuple[str, Callable[[Path], list[Row]]]]] = {
    "approval": ("toolroll code shows the edit of a file as a diff, and asks: Allow this?", approval),
    "chat": ("A chat in toolroll code: a question with a mentioned file, calls, an answer, completion", chat),
    "always": ("An approval is answered with ! for always: on which paths, and the rule that is remembered", always),
    "stats": ("toolroll stats: calls, failures, times, tokens and cost of tools and models", stats),
}


def made(name: str) -> str:
    """One of the pictures as it is now."""
    title, scene = PICTURES[name]
    # Not where TMPDIR says: a long path on the screen would break a line.
    with tempfile.TemporaryDirectory(prefix="toolroll-picture-", dir="/tmp") as folder:
        rows = scene(Path(folder))
    return draw([_fixed(row) for row in rows], title=title, columns=COLUMNS)


def _at_work(folder: Path, turns: Sequence[object], *command: str) -> Screen:
    project = Project(folder)
    (folder / "tea.json").write_text(json.dumps(turns), encoding="utf-8")
    # The index is there beforehand: a first call that is answered by a search would say something else.
    project.call("index").check_returncode()
    return at_screen(project.home, project.root, *toolroll(*command), columns=COLUMNS, rows=ROWS)


def _rows(screen: Screen) -> list[Row]:
    return list[Row](read_screen(screen.raw, columns=COLUMNS, rows=ROWS))


def _typed(command: str) -> Row:
    return [_PROMPT, *row_of(f" {command}", bold=True)]


def _fixed(row: Row) -> Row:
    for pattern, text in _FIXED:
        row = put(row, pattern, text)
    return row


async def _made_up(path: Path) -> None:
    """Ten days of work, without a random number."""
    now = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()
    with closing(SqliteJournal(path, clock=lambda: now)) as journal:
        for day in range(10):
            now += 24 * 3600
            for number in range(1 + day * 3 % 5):
                run_id = f"{day:02}{number:02}".ljust(32, "0")
                await journal.append(run_id, *_records(day + number))
                await journal.release(run_id)


def _records(seed: int) -> Iterable[Record]:
    name = ("claude-sonnet-5-5", "ollama:qwen3")[seed % 4 == 0]
    yield RunBegan(model=name, system="", tools={})
    for step in range(2 + seed % 3):
        used = Usage(input_tokens=900 + 310 * step, output_tokens=120, cache_read_tokens=2_000 * step, requests=1)
        message = AssistantMessage(blocks=(), origin=Origin(wire="anthropic", model=name))
        cost = None if "qwen" in name else 0.004 + 0.001 * step
        yield ModelTurn(message=message, stop="end", stop_detail="", usage=used, cost=cost, duration_s=1.5 + seed % 7)
        yield from _calls(seed + step)


def _calls(seed: int) -> Iterable[Record]:
    for tool, ms in (("read_file", 4.0), ("search_files", 21.0), ("find_definition", 9.0))[: 1 + seed % 3]:
        yield _ended(tool, "x" * (700 + 90 * seed), ms + seed % 5, "path_missing" if seed % 11 == 0 else None)
    if seed % 3 == 1:
        yield ApprovalQuestion(call_id="c", tool="edit", digest="d", preview="")
        answer: Literal["approve", "reject"] = "reject" if seed % 7 == 0 else "approve"
        yield ApprovalAnswer(call_id="c", digest="d", decision=answer)
        yield _ended("edit", "Written.", 30.0 + seed, "rejected" if answer == "reject" else None)


def _ended(tool: str, text: str, ms: float, code: str | None) -> CallEnded:
    result = ToolMessage(call_id="c", name=tool, content=text, is_error=code is not None)
    return CallEnded(result=result, code=code, duration_ms=ms)


if __name__ == "__main__":
    for one in sys.argv[1:] or PICTURES:
        (HERE / f"{one}.svg").write_text(made(one), encoding="utf-8")
        sys.stdout.write(f"{one}.svg\n")
