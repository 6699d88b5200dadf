"""What benchmarks share: an environment for each contestant, workers inside them, rounds in turn, tables.

A worker is this program again, started by another environment's interpreter. It reads one JSON request a line and
answers with one JSON line; it ends when its input does.
"""

import asyncio
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import IO

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).with_name("RESULTS.md")

Numbers = dict[str, float]
"""What one measurement gives, by name."""

# Some contestants would report home, or colour what they print.
QUIET = {"LANGSMITH_TRACING": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1", "NO_COLOR": "1"}


def cache_folder() -> Path:
    """Where environments are kept: outside of the repository, and made only once."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "toolroll-benchmarks"


def environment_python(name: str, pins: Sequence[str]) -> str:
    """The interpreter of an environment with exactly these packages; made now if it is missing."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    key = hashlib.sha256("\n".join([version, *pins]).encode()).hexdigest()[:12]
    folder = cache_folder() / f"{name}-{key}"
    python = folder / "bin" / "python"
    if not (folder / ".complete").exists():
        print(f"making an environment for {name} ...", file=sys.stderr, flush=True)
        uv = [sys.executable, "-m", "uv", "--quiet", "--system-certs"]
        subprocess.run([*uv, "venv", "--clear", "--python", sys.executable, str(folder)], check=True)
        subprocess.run([*uv, "pip", "install", "--python", str(python), *pins], check=True)
        (folder / ".complete").touch()  # last: an environment that was cut short is made again
    return str(python)


class Worker:
    """One contestant's process, asked by JSON lines."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        self._requests = requests
        self._answers = answers

    def ask(self, **request: object) -> Numbers:
        """The answer to one request."""
        self._requests.write(json.dumps(request) + "\n")
        self._requests.flush()
        line = self._answers.readline()
        if not line:
            raise SystemExit("a worker ended early; what it said is above")
        answer: Numbers = json.loads(line)
        return answer


@contextmanager
def worker(python: str, script: str, *arguments: str) -> Iterator[Worker]:
    """A worker that runs while the context is open. It sees our sources, whatever else its environment has."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    child = subprocess.Popen(
        [python, script, *arguments],
        env={**environment, **QUIET, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        yield Worker(child.stdin, child.stdout)
        child.stdin.close()


def serve(handle: Callable[[dict[str, int]], Awaitable[Numbers]]) -> None:
    """The worker's side: answer requests until there are no more. What else it prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    async def loop() -> None:
        for line in sys.stdin:
            answers.write(json.dumps(await handle(json.loads(line))) + "\n")
            answers.flush()

    asyncio.run(loop())


def rounds(workers: dict[str, Worker], count: int, **request: object) -> dict[str, list[Numbers]]:
    """Every worker once a round, each round beginning with another one, so that a busy minute hits all alike."""
    names = list(workers)
    found: dict[str, list[Numbers]] = {name: [] for name in names}
    for turn in range(count):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(workers[name].ask(**request))
        print(f"round {turn + 1} of {count}", file=sys.stderr, flush=True)
    return found


def beside(workers: dict[str, Worker], floor: str, names: Sequence[str], **request: object) -> dict[str, Numbers]:
    """Every named worker once, the floor before and after each: `floor cpu` is the mean of those two, and so on."""
    before = workers[floor].ask(**request)
    found: dict[str, Numbers] = {}
    for name in names:
        it = before if name == floor else workers[name].ask(**request)  # the first one of a new process uses memory
        after = workers[floor].ask(**request)
        found[name] = it | {f"floor {figure}": (before[figure] + after[figure]) / 2 for figure in it}
        before = after
    return found


def open_workers(stack: ExitStack, script: str, contestants: dict[str, tuple[str, Sequence[str]]]) -> dict[str, Worker]:
    """A worker for each contestant, given as its name, its environment's name and that one's packages."""
    pythons = {name: environment_python(*environment) for name, environment in contestants.items()}
    return {name: stack.enter_context(worker(python, script, "--worker", name)) for name, python in pythons.items()}


def spread(values: list[float]) -> str:
    """The median, and half of the range that the middle half of the values covers; one value alone has no range."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    low, _, high = quantiles(values, n=4)
    return f"{median(values):.2f} ±{(high - low) / 2:.2f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, numbers to the right."""
    lines = [list(header), ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def where() -> str:
    """When and on what this was measured."""
    cores = len(os.sched_getaffinity(0))
    today = datetime.now(UTC).date()
    return f"{today}, Python {platform.python_version()}, {platform.system()} {platform.machine()}, {cores} cores"


def save(name: str, text: str) -> None:
    """Put the text under the heading of that name in RESULTS.md, in place of what stood there."""
    page = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    section = f"## {name}\n\n{text.strip()}\n"
    pattern = re.compile(rf"^## {re.escape(name)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    replaced, times = pattern.subn(lambda _: section + "\n", page)
    whole = replaced if times else f"{page.rstrip()}\n\n{section}"
    RESULTS.write_text(whole.rstrip() + "\n", encoding="utf-8")
