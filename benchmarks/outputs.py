"""What keeping, paging and searching an output costs, against `cp`, bare `rg` and GNU `grep` on the same file.

    python benchmarks/outputs.py [--rounds 7] [--mib 1,100,1024] [--save]

In turns, CPU time of this process and of all programs that it starts, and wall time; files in the page cache. Keeping
and `cp` have the same durability: neither syncs, and both begin with nothing left to be written back. What is kept
comes in pieces from memory, as a tool gives it; reading it from a file first, as `cp` has to, has a row of its own. A
virtual machine that gives free memory back to its host pays several times the copy for a page that it has to ask for
again, now in one round, now in the other: memory is touched before each round of these, and besides the medians there
is the best round of each, which is what the work costs when nothing else happens.

`cp`, `rg` and `grep` are started as programs from the same process, so that all pay for a start; at 1 MiB that is
nearly all they do. `grep` runs with LC_ALL=C, which is its fastest. The memory is that of a process that keeps, pages
and searches once. ripgrep maps the file: what it holds of it is page cache, so that its own memory is bounded by a
limit that it runs under (RLIMIT_DATA) instead of being measured.
"""

import argparse
import asyncio
import mmap
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from multiprocessing import get_context
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, spread, table, where

from toolroll.outputs.reader import StoredOutput, page_content, read_page
from toolroll.outputs.search import MAX_MATCHES, find_matches, show_matches
from toolroll.outputs.store import OutputStore
from toolroll.safe.programs.ripgrep import ripgrep_path

MIB = 1 << 20
PIECE_BYTES = 1 << 18
MEMORY_MIB = 64
STORE_ROUNDS = 3  # times the others: see above
PATTERNS = {"no match": "absent", "one match a MiB": "needle", "every line": "a"}
HEAD = ["", "CPU ms", "floor CPU ms", "CPU × floor", "wall × floor", "`grep` CPU ms (ours × it)"]
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta eta theta")


def make_file(path: Path, size: int) -> None:
    """Lines of about 60 bytes, one in a MiB with a needle in it."""
    chosen = random.Random(1)
    lines = "".join(" ".join(chosen.choices(WORDS, k=9)) + "\n" for _ in range(MIB // 56)).encode()[: MIB - 8]
    block = lines + b"\nneedle\n"
    with path.open("wb") as file:
        for _ in range(size // MIB):
            file.write(block)


Work = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What one round took, in seconds."""

    cpu: float
    wall: float


def cpu_s() -> float:
    """Of this process and of the programs that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


async def timed(work: Work) -> Took:
    cpu, began = cpu_s(), time.perf_counter()
    await work()
    wall = time.perf_counter() - began
    return Took(cpu=cpu_s() - cpu, wall=wall)


async def copied(source: Path, target: Path) -> None:
    subprocess.run(["cp", str(source), str(target)], check=True)  # noqa: ASYNC221 - nothing else is running


async def kept(source: Path, store: OutputStore) -> StoredOutput:
    with source.open("rb", buffering=0) as file:
        return keep(iter(partial(file.read, PIECE_BYTES), b""), store)


async def kept_from_memory(block: bytes, times: int, store: OutputStore) -> StoredOutput:
    pieces = [block[start : start + PIECE_BYTES] for start in range(0, len(block), PIECE_BYTES)]
    return keep(chain.from_iterable(repeat(pieces, times)), store)


def keep(pieces: Iterable[bytes], store: OutputStore) -> StoredOutput:
    with store.writer("call", "tool") as out:
        for piece in pieces:
            out.write(piece)
    assert out.ref is not None
    return store.open(out.ref.id)


async def bare(command: Sequence[str], out: int) -> None:
    os.ftruncate(out, 0)
    environment = os.environ | {"LC_ALL": "C"}
    subprocess.run(  # noqa: ASYNC221 - as above
        command, check=False, stdout=out, stdin=subprocess.DEVNULL, env=environment
    )


def rg(pattern: str, path: Path) -> list[str]:
    return [ripgrep_path(), "--no-config", "-n", "-F", "-e", pattern, str(path)]


def grep(pattern: str, path: Path) -> list[str]:
    return ["grep", "-n", "-F", "-e", pattern, str(path)]


async def searched(output: StoredOutput, pattern: str) -> str:
    return show_matches(output, await find_matches(output, pattern, max_matches=MAX_MATCHES))


async def paged(output: StoredOutput, offset: int) -> None:
    page_content(output, read_page(output, offset=offset))


async def compare(works: Mapping[str, Work], rounds: int) -> dict[str, list[Took]]:
    """Each once a round, another one first each time."""
    took: dict[str, list[Took]] = {name: [] for name in works}
    for turn in range(rounds + 1):
        names = list(works)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            one = await timed(works[name])
            if turn:  # the first one warms up
                took[name].append(one)
    return took


def milliseconds(took: Sequence[Took]) -> str:
    return f"{median(one.cpu for one in took) * 1e3:.1f}"


def ratios(ours: Sequence[Took], floor: Sequence[Took]) -> list[str]:
    """By CPU, then by wall time."""
    pairs = list(zip(ours, floor, strict=True))
    return [
        spread([one.cpu / max(other.cpu, 1e-9) for one, other in pairs]),
        spread([one.wall / other.wall for one, other in pairs]),
    ]


async def storing(source: Path, folder: Path, rounds: int) -> list[list[str]]:
    """All three into new files, with nothing left to be written back from before: all rounds, then the best ones."""
    size = os.stat(source).st_size
    with source.open("rb") as file:
        block = file.read(MIB)
    took: dict[str, list[Took]] = {"keep": [], "read and keep": [], "cp": []}
    for turn in range(rounds):
        for name in list(took)[turn % 3 :] + list(took)[: turn % 3]:
            with tempfile.TemporaryDirectory(dir=folder) as fresh, OutputStore(Path(fresh), run_id="run") as store:
                works: dict[str, Work] = {
                    "keep": partial(kept_from_memory, block, size // MIB, store),
                    "read and keep": partial(kept, source, store),
                    "cp": partial(copied, source, Path(fresh, "copy")),
                }
                os.sync()
                toucher = get_context("fork").Process(target=touch_memory, args=[size])  # ours stays as small as it is
                toucher.start()
                toucher.join()
                took[name].append(await timed(works[name]))
    best = {name: [Took(cpu=min(one.cpu for one in of), wall=min(one.wall for one in of))] for name, of in took.items()}
    return [
        [
            f"{name} {size // MIB:,} MiB{which} (`cp`)",
            *map(milliseconds, (some[name], some["cp"])),
            *ratios(some[name], some["cp"]),
            "–",
        ]
        for name in ("keep", "read and keep")
        for which, some in (("", took), (", best round", best))
    ]


def touch_memory(size: int) -> None:
    """Have the host back what is about to be written to, in the large blocks in which it was given away."""
    room = size + size // 2
    with mmap.mmap(-1, room, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        for page in range(0, room, mmap.PAGESIZE):
            memory[page] = 1


async def searching(output: StoredOutput, pattern: str, out: int, rounds: int) -> list[str]:
    took = await compare(
        {
            "ours": partial(searched, output, pattern),
            "rg": partial(bare, rg(pattern, output.data_path), out),
            "grep": partial(bare, grep(pattern, output.data_path), out),
        },
        rounds,
    )
    by_grep = ratios(took["ours"], took["grep"])[0]
    shown = f"{milliseconds(took['grep'])} ({by_grep})"
    return [milliseconds(took["ours"]), milliseconds(took["rg"]), *ratios(took["ours"], took["rg"]), shown]


def told(row: list[str]) -> list[str]:
    """The row, which is shown at once: all of them take minutes."""
    print(" | ".join(row), file=sys.stderr, flush=True)
    return row


async def measure(size: int, rounds: int, folder: Path) -> list[list[str]]:
    source = folder / "source"
    make_file(source, size * MIB)
    rows = [told(row) for row in await storing(source, folder, STORE_ROUNDS * rounds)]
    output = await kept(source, OutputStore(folder / "outputs", run_id="run"))
    with (folder / "found").open("wb") as out:
        for name, pattern in PATTERNS.items():
            cells = await searching(output, pattern, out.fileno(), rounds)
            rows.append(told([f"search {size:,} MiB, {name} (`rg`)", *cells]))
    ends = {"first": partial(paged, output, 0), "last": partial(paged, output, output.meta.line_count - 1_000)}
    took = await compare(ends, rounds * 5)
    rows.append(
        [
            f"page of {size:,} MiB, first (last)",
            *(f"{median(one.wall for one in took[name]) * 1e3:.2f} wall" for name in ends),
            "–",
            "–",
            "–",
        ]
    )
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
        f"{where()}; {chosen.rounds} rounds.\n\n{table(HEAD, rows)}\n"
        f"The load average of the machine was {os.getloadavg()[1]:.1f}: the spreads show what others took.\n\n"
        f"Peak memory at the largest size: {peak}; ripgrep ran under a limit of {MEMORY_MIB} MiB.\n"
    )
    print(text)
    if chosen.save:
        save("outputs", text)


if __name__ == "__main__":
    asyncio.run(main())
