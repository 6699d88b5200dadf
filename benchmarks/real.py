"""What becomes of tasks that a real, small model is given: through the programs, as a person runs them.

    make test-real                                       # downloads a model (1.1 GB) and serves it, once
    python benchmarks/real.py --url http://127.0.0.1:18080/v1 [--half first] [--calls auto] [--runs 3] [--save]

Nothing is asked without `--url`. The tasks are in `benchmarks/real_tasks`: code, explorations and posts, in two halves.
Prompts, readers and texts are tuned on the first half; the second is for the report. A program judges each: by the
files after the run, or by the file and line that the answer names. Searches are answered by a server of our own.

A run fails hard, whatever the model: if it takes longer than its limits, if its program breaks (exit code 70 or a
traceback), or if a file is lost.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, table, where
from benchmarks.real_tasks.code import CODE
from benchmarks.real_tasks.task import Outcome, Task
from benchmarks.real_tasks.texts import TEXTS

TASKS: tuple[Task, ...] = (*CODE, *TEXTS)
CALLS = ("auto", "native", "json")
MAX_SECONDS = 900
"""For one task, with a model on one core that others use, too."""
BIN = Path(sys.executable).parent
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL")


class _Search(BaseHTTPRequestHandler):
    """Answers each search with the same two pages."""

    def do_GET(self) -> None:
        pages = [
            {
                "title": "Sharing in small places",
                "url": "https://example.org/sharing",
                "content": "In 2025, 214 villages shared tools, rooms or books; most began with fewer than 12 people.",
            },
            {
                "title": "How to begin",
                "url": "https://example.org/begin",
                "content": "Begin with a list of what people have, a place to keep it, and one evening a week.",
            },
        ]
        body = json.dumps({"results": pages}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base
        """Say nothing."""


@contextmanager
def search_server() -> Iterator[str]:
    """Serve searches, and return the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Search)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def run_task(task: Task, *, model: str, search: str, calls: str) -> tuple[Outcome, str]:
    """Give one task to its program in a folder of its own; return what came of it, and what is wrong with that."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "work"
        folder.mkdir()
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        environment |= {"HOME": home, "SEARXNG_URL": search, "TOOLROLL_CALLS": calls, "NO_COLOR": "1"}
        for path, text in task.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        if task.kind == "write":
            subprocess.run(
                [BIN / "ghostpen", "init", "--sample", "--data", "data"],
                cwd=folder,
                env=environment,
                check=True,
                capture_output=True,
            )
        before, started = read_files(folder), time.perf_counter()
        try:
            done = subprocess.run(
                [*_command(task), "--model", model, "--yes", "--json"],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=MAX_SECONDS,
                check=False,
            )
            printed, errors, code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as late:
            printed, errors, code = _decode(late.stdout), _decode(late.stderr), -1
        seconds = time.perf_counter() - started
        outcome = _read_outcome(printed, errors, code, seconds, before=before, after=read_files(folder))
    return outcome, hard_fault(outcome) or task.judge(outcome)


def _command(task: Task) -> list[str]:
    if task.kind == "code":
        return [str(BIN / "toolroll"), "code", task.prompt]
    if task.kind == "explore":
        return [str(BIN / "toolroll"), "explore", "run", task.prompt, "--mode", "exploration"]
    return [str(BIN / "ghostpen"), "write", task.prompt, "--data", "data"]


def _decode(printed: bytes | str | None) -> str:
    return printed.decode("utf-8", "replace") if isinstance(printed, bytes) else printed or ""


def read_files(folder: Path) -> dict[str, str]:
    """Return the texts in a folder by path, but for those of our own program."""
    found = (path for path in folder.rglob("*") if path.is_file())
    texts = {str(path.relative_to(folder)): path.read_text("utf-8", "replace") for path in found}
    return {path: text for path, text in texts.items() if ".toolroll" not in path and not path.endswith(".lock")}


def _read_outcome(
    printed: str, errors: str, code: int, seconds: float, *, before: dict[str, str], after: dict[str, str]
) -> Outcome:
    events = [json.loads(line) for line in printed.splitlines() if line.startswith("{") and line.endswith("}")]
    ends = [event for event in events if event.get("event") == "run_finished"]
    said = [event["error"]["message"] for event in events if isinstance(event.get("error"), dict)]
    result = ends[-1].get("result", ends[-1]) if ends else {}
    return Outcome(
        text=str(result.get("text", "")),
        stop_reason=str(result.get("stop_reason", "")),
        before=before,
        after=after,
        exit_code=code,
        seconds=seconds,
        calls=sum(event.get("event") == "tool_result" for event in events),
        error=" ".join([*said, errors[-500:] if "Traceback" in errors else ""]).strip(),
    )


def hard_fault(outcome: Outcome) -> str:
    """Return what must not happen whatever the model does; empty if nothing of it did."""
    if outcome.exit_code == -1:
        return "HARD: it took too long"
    if "Traceback" in outcome.error or outcome.exit_code == 70:
        return f"HARD: the program broke: {outcome.error}"
    lost = [path for path in outcome.before if path not in outcome.after]
    return f"HARD: lost {', '.join(lost)}" if lost else ""


def choose_tasks(half: str, kind: str, name: str) -> list[Task]:
    """Return the tasks of a half and a kind whose names have these words."""
    return [
        task
        for task in TASKS
        if (half in ("both", task.half)) and (kind in ("all", task.kind)) and name.lower() in task.name.lower()
    ]


def report(rows: Sequence[tuple[Task, str, Outcome, str]]) -> str:
    """Return how many were right, by kind, half and the way that calls were made."""
    counts: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for task, calls, _, fault in rows:
        counts[(calls, task.half, task.kind)].append(not fault)
    lines = [
        [calls, half, kind, f"{sum(right)} of {len(right)}"] for (calls, half, kind), right in sorted(counts.items())
    ]
    hard = sum(fault.startswith("HARD") for *_, fault in rows)
    return "\n".join([table(["calls", "half", "kind", "right"], lines), "", f"Hard faults: {hard}."])


def main() -> None:
    """Run the tasks that were chosen, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the model server, as http://127.0.0.1:18080/v1; nothing is done without one")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b", help="the name of the model there")
    parser.add_argument("--half", default="first", choices=("first", "second", "both"))
    parser.add_argument("--kind", default="all", choices=("all", "code", "explore", "write"))
    parser.add_argument("--name", default="", help="only tasks whose names have this")
    parser.add_argument("--calls", default="auto", help="auto, native, json, or several with commas")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--save", action="store_true", help="write the report to RESULTS.md")
    asked = parser.parse_args()
    if asked.url is None:
        print("Skipped: a real model is asked only with --url. 'make test-real' serves one.")
        return
    rows: list[tuple[Task, str, Outcome, str]] = []
    with search_server() as search:
        for calls in asked.calls.split(","):
            for task in choose_tasks(asked.half, asked.kind, asked.name) * asked.runs:
                model = f"openai-compatible:{asked.model}@{asked.url}"
                outcome, fault = run_task(task, model=model, search=search, calls=calls)
                rows.append((task, calls, outcome, fault))
                print(
                    f"{'wrong' if fault else 'right'}  {calls:6} {task.kind:7} {outcome.seconds:4.0f} s "
                    f"{outcome.calls:2} calls  {task.name}: {fault or outcome.stop_reason} {outcome.error}",
                    flush=True,
                )
    text = f"{where()}\n\n{report(rows)}\n"
    print(f"\n{text}")
    if asked.save:
        save("real", text)


if __name__ == "__main__":
    main()
