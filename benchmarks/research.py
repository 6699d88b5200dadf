"""What an exploration costs beside the model: the whole of it, and the list of earlier research for its prompt.

    python benchmarks/research.py [--rounds 9] [--ideas 10,1000] [--save]

In turns, CPU time of this process, files in the page cache. The model is a script that reads four documents at once and
then writes: no time of a model is in it. The floor reads the same four files and writes the document and the log with
the same care (a new file, fsync, rename), and nothing else; that of the list looks for a document in each folder.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, spread, table, where

from toolroll import ScriptedModel, SqliteJournal
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call, Line
from toolroll.packs.research.exploration import ExploreRequest, explore
from toolroll.packs.research.frameworks import load_framework
from toolroll.packs.research.ideas import RELATED_TOKENS, list_related
from toolroll.packs.research.local import LocalSource

READS = 4
DOCUMENT = "# Roofs\n\n" + "A roof turns light into current. " * 300
EARLIER = "# Earlier\n\n" + "What was found out before. " * 300


def make_ideas(folder: Path, count: int) -> list[str]:
    names = [f"2025-{1 + number % 12:02}-{1 + number % 28:02}-idea-number-{number}" for number in range(count)]
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "research.md").write_text(EARLIER, encoding="utf-8")
    return [f"{name}/research.md" for name in names]


async def explored(folder: Path, state: Path, paths: list[str], idea: str) -> None:
    said: list[Line] = [[Call("read_research", {"path": path}) for path in paths[:READS]], DOCUMENT]

    def script(_request: ModelRequest) -> Line:
        return said.pop(0)

    journal = SqliteJournal(state / "runs.db")
    try:
        source = LocalSource(folder, state=state)
        wish = ExploreRequest(idea=idea, framework=load_framework("exploration"))
        await explore(wish, source, model=ScriptedModel(script), environment={}, journal=journal)
    finally:
        journal.close()


async def floor(folder: Path, paths: list[str], idea: str) -> None:
    for path in paths[:READS]:
        (folder / path).read_text(encoding="utf-8")
    target = folder / f"floor-{idea}"
    target.mkdir()
    for name, text in (("research.md", DOCUMENT), ("exploration-log.json", json.dumps([{"idea": idea}]))):
        new = target / f"{name}.new"
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(target / name)


async def listed(folder: Path, state: Path) -> int:
    return len(list_related("Solar roofs", await LocalSource(folder, state=state).list_ideas()))


async def scanned(folder: Path) -> int:
    return sum((Path(entry.path) / "research.md").is_file() for entry in os.scandir(folder) if entry.is_dir())


async def cpu(work: Callable[[], Awaitable[object]]) -> float:
    began = time.process_time()
    await work()
    return time.process_time() - began


async def compared(
    ours: Callable[[int], Awaitable[object]], theirs: Callable[[int], Awaitable[object]], rounds: int
) -> list[str]:
    await ours(-1), await theirs(-1)  # what is imported and made once
    mine: list[float] = []
    floors: list[float] = []
    for turn in range(rounds):
        for work, kept in ((ours, mine), (theirs, floors)):
            kept.append(await cpu(lambda work=work, turn=turn: work(turn)))  # type: ignore[misc]
    ratios = [one / other for one, other in zip(mine, floors, strict=True)]
    return [f"{median(mine) * 1e3:.1f}", f"{median(floors) * 1e3:.2f}", spread(ratios)]


async def measure(count: int, rounds: int, place: Path) -> list[list[str]]:
    folder, state = place / "ideas", place / "state"
    state.mkdir()
    paths = make_ideas(folder, count)
    listing = await compared(lambda _: listed(folder, state), lambda _: scanned(folder), rounds)
    whole = await compared(
        lambda turn: explored(folder, state, paths, f"Roof {turn}"),
        lambda turn: floor(folder, paths, str(turn)),
        rounds,
    )
    characters = await listed(folder, state)
    about = f"{count:,} earlier ideas"
    return [[f"list of {about} ({characters:,} characters)", *listing], [f"exploration, {about}", *whole]]


async def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="how often each is measured (at least 2)")
    options.add_argument("--ideas", default="10,1000", help="how many earlier ideas there are")
    options.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    chosen = options.parse_args()
    rows: list[list[str]] = []
    for count in map(int, chosen.ideas.split(",")):
        with tempfile.TemporaryDirectory() as place:
            rows += await measure(count, max(chosen.rounds, 2), Path(place))
    text = (
        f"{where()}; {chosen.rounds} rounds; load {os.getloadavg()[0]:.1f}.\n\n"
        f"{table(['', 'CPU ms', 'floor ms', '× floor'], rows)}\n"
        f"The list may take {RELATED_TOKENS:,} tokens of each request. An exploration is two requests with {READS} "
        "reads, its run log, the document and its log; a model takes a minute or more for it.\n"
    )
    print(text)
    if chosen.save:
        save("research", text)


if __name__ == "__main__":
    asyncio.run(main())
