"""What a step of the loop costs: one call of a model and the tool calls it leads to, in CPU time of the process.

    python benchmarks/loop.py [--rounds 9] [--save] [--only NAME ...] [--scenario NAME ...]
    python benchmarks/loop.py --profile NAME [--scenario NAME]

Everything is a ratio to the floor: a loop written by hand on httpx that does nothing but what it must. All talk to the
same model on this machine (fakes/, in a process of its own), each from its own environment, in turns. The
first run makes the environments with uv, in the user's cache folder.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks import kit
from benchmarks.contestants import CONTESTANTS, FLOOR, Play, called

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
LEAST_CPU_S = 0.2
"""A conversation is played again until it has taken so long: what is shorter is mostly noise."""
SLOW_ROUNDS = 3
"""How often the slow ones are measured: some take a minute for what takes the floor a second."""


# --- Measuring -----------------------------------------------------------------------------------------------------


def work(name: str) -> None:
    """A worker: plays what it is asked for, and says what that cost."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the server has what is left
    plays: dict[tuple[str, bool], Play] = {}

    async def handle(request: dict[str, int]) -> kit.Numbers:
        steps, calls, runs = request["steps"], request["calls"], request.get("runs", 1)
        url = f"http://127.0.0.1:{request[CONTESTANTS[name].api]}/{steps}/{calls}/{request['words']}"
        key = (url, bool(request["stream"]))
        if key not in plays:
            plays[key] = CONTESTANTS[name].make(*key)
            await plays[key]()  # the first one imports, connects and fills caches
        if seconds := request.get("profile"):
            return await profiled(plays[key], seconds)
        return await measured(plays[key], steps * calls, steps, runs)

    kit.serve(handle)


async def measured(play: Play, calls: int, steps: int, runs: int) -> kit.Numbers:
    called.clear()
    done, answers, before_kb = 0, list[str](), forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    while done == 0 or (runs == 1 and time.process_time() - cpu < LEAST_CPU_S):
        answers = await asyncio.gather(*(play() for _ in range(runs)))
        done += runs
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert len(called) == calls * done, f"{len(called)} calls of {calls * done}"
    assert all("All is added." in answer for answer in answers), answers[0]
    per_step = 1e6 / (done * steps)
    return {"cpu": cpu * per_step, "wall": wall * per_step, "kb": (memory("VmHWM") - before_kb) / runs}


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
def fake_model(name: str) -> Iterator[int]:
    """The model's process; its port."""
    script = Path(__file__).parent / "fakes" / f"{name}.py"
    child = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        yield int(child.stdout.readline())
        child.stdin.close()


def measure(
    names: Sequence[str], rounds: int, slow_rounds: int, request: dict[str, int]
) -> dict[str, list[kit.Numbers]]:
    """Rounds in the same processes; in new ones each time where memory counts, for it never shrinks again."""
    found: dict[str, list[kit.Numbers]] = {name: [] for name in names}
    afresh = "runs" in request
    with ExitStack() as stack:
        workers: dict[str, kit.Worker] = {}
        for number in range(rounds):
            now = [name for name in names if number < slow_rounds or not CONTESTANTS[name].is_slow]
            if afresh or not workers:
                stack.close()
                named = {name: (CONTESTANTS[name].environment, CONTESTANTS[name].pins) for name in now}
                workers = kit.open_workers(stack, __file__, named)
            first = 0 if afresh else number % len(now)
            for name, numbers in kit.beside(workers, FLOOR, now[first:] + now[:first], **request).items():
                found[name].append(numbers)
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return found


def profile(name: str, request: dict[str, int]) -> None:
    with ExitStack() as stack:
        one = {name: (CONTESTANTS[name].environment, CONTESTANTS[name].pins)}
        kit.open_workers(stack, __file__, one)[name].ask(**request, profile=6)


def ratios(numbers: Sequence[kit.Numbers], figure: str) -> list[float]:
    return [one[figure] / one[f"floor {figure}"] for one in numbers]


def report(scenario: str, found: dict[str, list[kit.Numbers]]) -> str:
    header = [scenario, "CPU × floor", "CPU µs a step", "wall × floor"]
    many = "runs" in SCENARIOS[scenario]
    rows = []
    for name, numbers in found.items():
        row = [name, kit.spread(ratios(numbers, "cpu")), f"{median(one['cpu'] for one in numbers):.0f}"]
        row.append(kit.spread(ratios(numbers, "wall")))
        rows.append([*row, f"{median(one['kb'] for one in numbers):.0f}"] if many else row)
    return kit.table([*header, "kB a run"] if many else header, rows)


def too_slow(scenario: str, found: dict[str, list[kit.Numbers]]) -> Iterator[str]:
    for name, limits in MOST_TIMES_THE_FLOOR.items():
        limit = limits.get(scenario)
        if name in found and limit is not None and (ratio := median(ratios(found[name], "cpu"))) > limit:
            yield f"{name}: {ratio:.2f} times the floor at {scenario!r}, at most {limit}"


def circumstances(rounds: int, slow_rounds: int) -> str:
    """When, where, and against whom."""
    pins = sorted({pin for one in CONTESTANTS.values() for pin in one.pins})
    return (
        f"{kit.where()}; {', '.join(pins)}. Medians of {rounds} rounds ({slow_rounds} of the slow ones), each against "
        "the floor right before and after it; ± is half of the middle half. The load at the end was "
        f"{os.getloadavg()[2]:.1f}."
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--slow-rounds", type=int, default=SLOW_ROUNDS, help="of those that take many times as long")
    options.add_argument("--only", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    options.add_argument("--scenario", nargs="*", choices=SCENARIOS, default=list(SCENARIOS))
    options.add_argument("--save", action="store_true", help="write the section of RESULTS.md anew")
    options.add_argument("--profile", choices=CONTESTANTS)
    options.add_argument("--worker", choices=CONTESTANTS)
    given = options.parse_args()
    if given.worker:
        work(given.worker)
        return 0
    names = [given.profile] if given.profile else list(dict.fromkeys([FLOOR, *given.only]))
    problems: list[str] = []
    tables: list[str] = []
    with fake_model("anthropic") as anthropic, fake_model("chat") as chat:
        for scenario in given.scenario:
            request = {"anthropic": anthropic, "chat": chat, **SCENARIOS[scenario]}
            if given.profile:
                profile(given.profile, request)
                continue
            found = measure(names, given.rounds, given.slow_rounds, request)
            tables.append(report(scenario, found))
            print(tables[-1], flush=True)
            problems += too_slow(scenario, found)
    if given.save:
        kit.save("loop", "\n".join([circumstances(given.rounds, given.slow_rounds) + "\n", *tables]))
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
