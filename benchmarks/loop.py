"""What a step of the loop costs: one call of a model and the tool calls it leads to, in CPU time of the process.

    python benchmarks/loop.py [--rounds 9] [--only NAME ...] [--scenario NAME ...]
    python benchmarks/loop.py --profile NAME [--scenario NAME]

Everything is a ratio to the floor: a loop written by hand on httpx that does nothing but what it must. All talk to the
same model on this machine (fakes/anthropic.py, a process of its own), each from its own environment, in turns. The
first run makes the environments with uv, in the user's cache folder.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks import kit

MODEL = "claude-sonnet-5-5"
KEY = "none"
PROMPT = "Add the numbers until you are told to stop."

PYDANTIC = "pydantic==2.14.3"
OURS = ["httpx2==2.16.0", "genai-prices==0.2.1", PYDANTIC]
CONTESTANTS: dict[str, tuple[str, Sequence[str]]] = {
    "httpx (floor)": ("httpx", ["httpx==0.28.1"]),
    "toolroll": ("toolroll", OURS),
    "toolroll, SQLite": ("toolroll", OURS),
    "pydantic-ai": ("pydantic-ai-anthropic", ["pydantic-ai-slim[anthropic]==2.66.0", PYDANTIC]),
}
FLOOR = "httpx (floor)"

SCENARIOS: dict[str, dict[str, int]] = {
    "50 steps": {"steps": 50, "calls": 1, "words": 16, "stream": 0},
    "streamed": {"steps": 50, "calls": 1, "words": 16, "stream": 1},
    "8 calls a step": {"steps": 50, "calls": 8, "words": 16, "stream": 0},
    "200 steps": {"steps": 200, "calls": 1, "words": 16, "stream": 0},
    "256 deltas": {"steps": 10, "calls": 1, "words": 256, "stream": 1},
    "200 runs at once": {"steps": 5, "calls": 1, "words": 16, "stream": 0, "runs": 200},
}
MOST_TIMES_THE_FLOOR = {
    "toolroll": {"50 steps": 1.0, "streamed": 1.0, "8 calls a step": 0.8, "200 steps": 0.8},
    "toolroll, SQLite": {"50 steps": 1.4, "streamed": 1.4},
}

Play = Callable[[], Awaitable[str]]
"""One whole conversation; the answer."""

called = 0
"""How often the tool ran; a contestant that leaves calls out is not fast."""


async def add(a: int, b: int) -> int:
    """Add two integers."""
    global called  # noqa: PLW0603 - the simplest that all contestants can call
    called += 1
    return a + b


# --- The floor -----------------------------------------------------------------------------------------------------

TOOLS = [
    {
        "name": "add",
        "description": "Add two integers.",
        "input_schema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
]


def by_hand(url: str, stream: bool) -> Play:
    """The loop that the documentation of the API shows: the history is encoded anew for each request."""
    import httpx

    headers = {"x-api-key": KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    client = httpx.AsyncClient(headers=headers, timeout=60, limits=httpx.Limits(max_connections=1000))
    address = f"{url}/v1/messages"

    async def ask(messages: list[Any]) -> list[dict[str, Any]]:
        body = json.dumps({"model": MODEL, "max_tokens": 1024, "tools": TOOLS, "stream": stream, "messages": messages})
        if not stream:
            content: list[dict[str, Any]] = (await client.post(address, content=body)).json()["content"]
            return content
        async with client.stream("POST", address, content=body) as response:
            return await assembled(response.aiter_bytes())

    async def play() -> str:
        messages: list[Any] = [{"role": "user", "content": PROMPT}]
        while True:
            content = await ask(messages)
            messages.append({"role": "assistant", "content": content})
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": str(await add(**block["input"]))}
                for block in content
                if block["type"] == "tool_use"
            ]
            if not results:
                return str(content[-1]["text"])
            messages.append({"role": "user", "content": results})

    return play


async def assembled(chunks: AsyncIterator[bytes]) -> list[dict[str, Any]]:
    """The content of a streamed message."""
    content: list[dict[str, Any]] = []
    pieces: list[str] = []
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n\n")
        for lines in whole:
            event = json.loads(lines.partition(b"data: ")[2])
            match event["type"]:
                case "content_block_start":
                    content.append(event["content_block"])
                    pieces = []
                case "content_block_delta":
                    delta = event["delta"]
                    pieces.append(delta["text"] if delta["type"] == "text_delta" else delta["partial_json"])
                case "content_block_stop" if content[-1]["type"] == "text":
                    content[-1]["text"] = "".join(pieces)
                case "content_block_stop":
                    content[-1]["input"] = json.loads("".join(pieces))
    return content


# --- The contestants -----------------------------------------------------------------------------------------------


def ours(url: str, stream: bool, journal: Any = None) -> Play:
    from toolroll import Agent, tool
    from toolroll.models.anthropic.model import AnthropicModel
    from toolroll.models.transport import HttpTransport

    model = AnthropicModel(MODEL, transport=HttpTransport(url), headers={"x-api-key": KEY})
    agent = Agent(model=model, tools=[tool(add)], stop_when=(), max_output_tokens=1024, journal=journal)

    async def play() -> str:
        if not stream:
            return (await agent.run(PROMPT)).text
        run = agent.stream(PROMPT)
        async for _ in run:
            pass
        assert run.result is not None
        return run.result.text

    return play


def ours_on_sqlite(url: str, stream: bool) -> Play:
    from toolroll.journal.sqlite import SqliteJournal

    folder = tempfile.mkdtemp(prefix="toolroll-loop-")
    return ours(url, stream, SqliteJournal(Path(folder) / "runs.sqlite"))


def pydantic_ai(url: str, stream: bool) -> Play:
    client = import_module("anthropic").AsyncAnthropic(base_url=url, api_key=KEY)
    library = import_module("pydantic_ai")
    provider = import_module("pydantic_ai.providers.anthropic").AnthropicProvider(anthropic_client=client)
    model = import_module("pydantic_ai.models.anthropic").AnthropicModel(MODEL, provider=provider)
    # Without max_tokens it streams either way.
    agent = library.Agent(model, tools=[add], model_settings={"max_tokens": 1024})

    async def listen(_context: Any, events: AsyncIterator[Any]) -> None:
        async for _ in events:
            pass

    async def play() -> str:
        handler: Any = {"event_stream_handler": listen} if stream else {}
        result = await agent.run(PROMPT, usage_limits=library.UsageLimits(request_limit=None), **handler)
        return str(result.output)

    return play


MAKERS: dict[str, Callable[[str, bool], Play]] = {
    "httpx (floor)": by_hand,
    "toolroll": ours,
    "toolroll, SQLite": ours_on_sqlite,
    "pydantic-ai": pydantic_ai,
}


# --- Measuring -----------------------------------------------------------------------------------------------------


def work(name: str) -> None:
    """A worker: plays what it is asked for, and says what that cost."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the server has what is left
    plays: dict[tuple[str, bool], Play] = {}

    async def handle(request: dict[str, int]) -> kit.Numbers:
        steps, calls, runs = request["steps"], request["calls"], request.get("runs", 1)
        url = f"http://127.0.0.1:{request['port']}/{steps}/{calls}/{request['words']}"
        key = (url, bool(request["stream"]))
        if key not in plays:
            plays[key] = MAKERS[name](*key)
            await plays[key]()  # the first one imports, connects and fills caches
        if seconds := request.get("profile"):
            return await profiled(plays[key], seconds)
        return await measured(plays[key], steps * calls, steps, runs)

    kit.serve(handle)


async def measured(play: Play, calls: int, steps: int, runs: int) -> kit.Numbers:
    global called  # noqa: PLW0603 - as above
    called = 0
    before_kb = forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    answers = await asyncio.gather(*(play() for _ in range(runs)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert called == calls * runs, f"{called} calls of {calls * runs}"
    assert {answer.strip() for answer in answers} == {"All is added."}, answers[0]
    done = steps * runs
    return {"cpu": cpu / done * 1e6, "wall": wall / done * 1e6, "kb": (memory("VmHWM") - before_kb) / runs}


def forget_peak() -> float:
    """Let the peak of memory be the one from now on; what is used now, in kB."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return memory("VmRSS")


def memory(field: str) -> float:
    """A figure of this process's memory, in kB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"{field}:")))


async def profiled(play: Play, seconds: int) -> kit.Numbers:
    """Where the time goes, to stderr."""
    import cProfile
    import pstats

    profile = cProfile.Profile()
    end = time.monotonic() + seconds
    profile.enable()
    while time.monotonic() < end:
        await play()
    profile.disable()
    stats = pstats.Stats(profile, stream=sys.stderr)
    stats.sort_stats("tottime").print_stats(40)
    stats.sort_stats("cumulative").print_stats("toolroll/", 60)
    return {}


@contextmanager
def fake_model() -> Iterator[int]:
    """The model's process; its port."""
    script = Path(__file__).parent / "fakes" / "anthropic.py"
    child = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        yield int(child.stdout.readline())
        child.stdin.close()


def measure(names: Sequence[str], rounds: int, request: dict[str, int]) -> dict[str, list[kit.Numbers]]:
    """All rounds in the same processes; in new ones each time where memory counts, for it never shrinks again."""
    contestants = {name: CONTESTANTS[name] for name in names}
    found: dict[str, list[kit.Numbers]] = {name: [] for name in names}
    times = rounds if "runs" in request else 1
    for _ in range(times):
        with ExitStack() as stack:
            workers = kit.open_workers(stack, __file__, contestants)
            for name, numbers in kit.rounds(workers, rounds // times, **request).items():
                found[name] += numbers
    return found


def ratios(found: dict[str, list[kit.Numbers]], name: str, figure: str) -> list[float]:
    """Against the floor of the same round."""
    return [one[figure] / floor[figure] for one, floor in zip(found[name], found[FLOOR], strict=True)]


def report(scenario: str, found: dict[str, list[kit.Numbers]]) -> str:
    header = [scenario, "CPU x floor", "us a step", "wall x floor"]
    many = "runs" in SCENARIOS[scenario]
    rows = []
    for name, numbers in found.items():
        row = [name, kit.spread(ratios(found, name, "cpu")), f"{median(one['cpu'] for one in numbers):.0f}"]
        row.append(kit.spread(ratios(found, name, "wall")))
        rows.append([*row, f"{median(one['kb'] for one in numbers):.0f}"] if many else row)
    return kit.table([*header, "kB a run"] if many else header, rows)


def too_slow(scenario: str, found: dict[str, list[kit.Numbers]]) -> Iterator[str]:
    for name, limits in MOST_TIMES_THE_FLOOR.items():
        limit = limits.get(scenario)
        if name in found and limit is not None and (ratio := median(ratios(found, name, "cpu"))) > limit:
            yield f"{name}: {ratio:.2f} times the floor at {scenario!r}, at most {limit}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--only", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    options.add_argument("--scenario", nargs="*", choices=SCENARIOS, default=list(SCENARIOS))
    options.add_argument("--profile", choices=CONTESTANTS)
    options.add_argument("--worker", choices=CONTESTANTS)
    given = options.parse_args()
    if given.worker:
        work(given.worker)
        return 0
    names = [given.profile] if given.profile else list(dict.fromkeys([FLOOR, *given.only]))
    problems: list[str] = []
    with fake_model() as port:
        for scenario in given.scenario:
            request = {"port": port, **SCENARIOS[scenario]}
            if given.profile:
                measure(names, 1, request | {"profile": 6})
                continue
            found = measure(names, given.rounds, request)
            print(report(scenario, found), flush=True)
            problems += too_slow(scenario, found)
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
