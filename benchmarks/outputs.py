"""What keeping, paging and searching an output costs, against `cp` and bare `rg` on the same file.

    python benchmarks/outputs.py [--rounds 7] [--mib 1,100,1024] [--save]

In turns, wall time, files in the page cache. `cp` and `rg` are started as programs from the same process, so that both
sides pay for a start; at 1 MiB that is nearly all they do. The memory is that of a process that keeps, pages and
searches once. ripgrep maps the file: what it holds of it is page cache, so that its own memory is bounded by a limit
that it runs under (RLIMIT_DATA) instead of being measured.
"""

import argparse
import asyncio
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, spread, table, where

from toolroll.outputs.excerpt import excerpt
from toolroll.outputs.grep import MAX_MATCHES, find_matches
from toolroll.outputs.kept import KeptOutput
from toolroll.outputs.page import answer, read_page
from toolroll.outputs.store import OutputStore
from toolroll.safe.ripgrep import ripgrep_path

MIB = 1 << 20
PIECE_BYTES = MIB
MEMORY_MIB = 64
PATTERNS = {"no match": "absent", "one match a MiB": "needle", "every line": "a"}
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta eta theta")


def make_file(path: Path, size: int) -> None:
    """Lines of about 60 bytes, one in a MiB with a needle in it."""
    chosen = random.Random(1)
    lines = "".join(" ".join(chosen.choices(WORDS, k=9)) + "\n" for _ in range(MIB // 56)).encode()[: MIB - 8]
    block = lines + b"\nneedle\n"
    with path.open("wb") as file:
        for _ in range(size // MIB):
            file.write(block)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def copied(source: Path, target: Path) -> None:
    subprocess.run(["cp", str(source), str(target)], check=True)  # noqa: ASYNC221 - nothing else is running


async def kept(source: Path, store: OutputStore) -> KeptOutput:
    with store.writer("call", "tool") as out, source.open("rb", buffering=0) as file:
        while piece := file.read(PIECE_BYTES):
            out.write(piece)
    assert out.ref is not None
    return store.open(out.ref.id)


async def bare(pattern: str, path: Path, out: int) -> None:
    command = [ripgrep_path(), "--no-config", "-n", "-F", "-e", pattern, str(path)]
    os.ftruncate(out, 0)
    subprocess.run(command, check=False, stdout=out, stdin=subprocess.DEVNULL)  # noqa: ASYNC221 - as above


async def searched(output: KeptOutput, pattern: str) -> str:
    return excerpt(output, await find_matches(output, pattern, max_matches=MAX_MATCHES))


async def paged(output: KeptOutput, offset: int) -> None:
    answer(output, read_page(output, offset=offset))


async def compare(
    ours: Callable[[], Awaitable[object]], floor: Callable[[], Awaitable[object]], rounds: int
) -> tuple[list[float], list[float]]:
    """Both once a round, the other one first each time."""
    pairs = (list[float](), list[float]())
    for turn in range(rounds + 1):
        order = ((0, ours), (1, floor)) if turn % 2 else ((1, floor), (0, ours))
        for index, work in order:
            took = await timed(work)
            if turn:  # the first one warms up
                pairs[index].append(took)
    return pairs


def ratio(ours: list[float], floor: list[float]) -> str:
    return spread([one / other for one, other in zip(ours, floor, strict=True)])


async def storing(source: Path, folder: Path, rounds: int) -> list[str]:
    """Both into new files, with nothing left to be written back from before."""
    took: dict[str, list[float]] = {"ours": [], "cp": []}
    for turn in range(rounds):
        for name in ("ours", "cp") if turn % 2 else ("cp", "ours"):
            with tempfile.TemporaryDirectory(dir=folder) as fresh, OutputStore(Path(fresh), run_id="run") as store:
                os.sync()
                work = partial(kept, source, store) if name == "ours" else partial(copied, source, Path(fresh, "copy"))
                took[name].append(await timed(work))
    return [*(f"{median(one) * 1e3:.1f}" for one in took.values()), ratio(took["ours"], took["cp"])]


async def measure(size: int, rounds: int, folder: Path) -> list[list[str]]:
    source = folder / "source"
    make_file(source, size * MIB)
    rows = [[f"keep {size:,} MiB (`cp`)", *await storing(source, folder, rounds)]]
    output = await kept(source, OutputStore(folder / "outputs", run_id="run"))
    with (folder / "found").open("wb") as out:
        for name, pattern in PATTERNS.items():
            mine, floor = await compare(
                partial(searched, output, pattern), partial(bare, pattern, output.data_path, out.fileno()), rounds
            )
            cells = [f"{median(mine) * 1e3:.1f}", f"{median(floor) * 1e3:.1f}", ratio(mine, floor)]
            rows.append([f"search {size:,} MiB, {name} (`rg`)", *cells])
    first, last = await compare(
        partial(paged, output, 0), partial(paged, output, output.meta.line_count - 1_000), rounds * 5
    )
    rows.append([f"page of {size:,} MiB, first (last)", *(f"{median(one) * 1e3:.2f}" for one in (first, last)), "–"])
    return rows


async def once(folder: Path) -> None:
    """The worker for memory: keep, page and search; then say what that took."""
    output = await kept(folder / "source", OutputStore(folder / "outputs", run_id="memory"))
    await paged(output, output.meta.line_count // 2)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_MIB * MIB, MEMORY_MIB * MIB))  # for ripgrep, which inherits it
    for pattern in PATTERNS.values():
        await searched(output, pattern)


def memory(folder: Path) -> str:
    """Of a worker that does it all once, and of one that does nothing."""
    peaks = [
        int(subprocess.run([sys.executable, __file__, *given], check=True, capture_output=True, text=True).stdout)
        for given in (["--worker", str(folder)], ["--worker", ""])
    ]
    return f"{peaks[0] / 1024:.0f} MiB, of which {peaks[1] / 1024:.0f} MiB are Python and imports"


async def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=7, help="how often each is measured (at least 2)")
    options.add_argument("--mib", default="1,100,1024", help="sizes of the output")
    options.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    options.add_argument("--worker", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker is not None:
        if chosen.worker:
            await once(Path(chosen.worker))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    rows: list[list[str]] = []
    peak = ""
    for size in map(int, chosen.mib.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            rows += await measure(size, max(chosen.rounds, 2), Path(folder))
            peak = memory(Path(folder))
    text = (
        f"{where()}; {chosen.rounds} rounds.\n\n{table(['', 'ms', 'floor ms', '× floor'], rows)}\n"
        f"The load average of the machine was {os.getloadavg()[1]:.1f}: the spreads show what others took.\n\n"
        f"Peak memory at the largest size: {peak}; ripgrep ran under a limit of {MEMORY_MIB} MiB.\n"
    )
    print(text)
    if chosen.save:
        save("outputs", text)


if __name__ == "__main__":
    asyncio.run(main())
