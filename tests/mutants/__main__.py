"""Report which small mistakes in the code no test would notice: `make mutants`, or `python -m tests.mutants`.

Mutates a sample of the places where a mistake costs most, runs the tests of each in a copy of the tree, and lists the
mutants that survive. Mutants that no test can or should notice are in harmless.toml, each with a reason.
"""

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.mutants.judge import Session, TreeCopy, Verdict, judge_all
from tests.mutants.mutate import Mutant, find_mutants
from tests.mutants.testmap import SOURCE, TestMap

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "mutants"
HARMLESS = Path(__file__).with_name("harmless.toml")
ROOMS = {
    "kernel": ["kernel"],
    "journal": ["journal"],
    "changes": ["workspace/changes"],
    "safe": ["safe"],
    "agent": ["agent"],
    "outputs": ["outputs"],
    "writing": ["packs/writing/profiles", "packs/writing/posts"],
}
TESTS = ["kernel", "journal", "safe", "agent", "outputs", "workspace/changes", "workspace/edit", "packs/writing"]
SAMPLE = 300  # about a quarter of an hour on two quiet cores
FEW_EXAMPLES = 20  # of a property test are enough to see which lines it runs


def room_files(room: str) -> list[Path]:
    """Return the modules of a room, relative to the root."""
    paths = [ROOT / SOURCE / name for name in ROOMS[room]]
    files = [file for path in paths for file in sorted(path.rglob("*.py"))]
    if not files:
        raise FileNotFoundError(f"There is no module in {', '.join(ROOMS[room])}: has the room moved?")
    return [file.relative_to(ROOT) for file in files]


def sample_mutants(rooms: Sequence[str], size: int, seed: int) -> dict[Mutant, str]:
    """Return a sample with the same share of every room, each with its room; the same for the same seed and tree."""
    listed = {tuple(entry[key] for key in ("file", "function", "before", "after")) for entry in harmless()}
    sample: dict[Mutant, str] = {}
    for place, room in enumerate(rooms):
        found = [mutant for file in room_files(room) for mutant in find_mutants(file, (ROOT / file).read_bytes())]
        random.Random(f"{seed} {room}").shuffle(found)
        share = size // len(rooms) + (place < size % len(rooms))
        sample |= dict.fromkeys([mutant for mutant in found if mutant.key not in listed][:share], room)
    return sample


def harmless() -> list[dict[str, str]]:
    """Return the listed mutants that no test can or should notice."""
    entries: list[dict[str, str]] = tomllib.loads(HARMLESS.read_text()).get("harmless", [])
    return entries


def load_map(copies: Sequence[TreeCopy]) -> TestMap:
    """Return which test runs which line, found out once for a state of the tree."""
    digest = hashlib.sha256()
    for file in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]):
        if file.parent != Path(__file__).parent:
            digest.update(b"%s\0%s\0" % (bytes(file.relative_to(ROOT)), file.read_bytes()))
    folder = BUILD / digest.hexdigest()[:16]
    if not folder.exists():
        print("Finding out which test runs which line (once for a state of the tree) ...", flush=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as unfinished:
            _measure(copies, Path(unfinished))
            Path(unfinished).rename(folder)
            Path(unfinished).mkdir()
    return TestMap(ROOT, folder)


def _measure(copies: Sequence[TreeCopy], target: Path) -> None:
    """Run all tests under coverage, a part of the files in each copy."""
    files = sorted(file for name in TESTS for file in (ROOT / "tests" / name).rglob("test_*.py"))
    names = [str(file.relative_to(ROOT)) for file in files]
    measured = ",".join(str(file) for room in ROOMS for file in room_files(room))

    def run(place: int) -> int:
        settings = copies[place].scratch / "coverage.ini"
        settings.write_text(f"[run]\nrelative_files = true\ndata_file = {target / str(place)}\ninclude = {measured}\n")
        session = Session(most_examples=FEW_EXAMPLES)
        options = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
        code = session.run(*options, *names[place :: len(copies)])
        seconds = {test: seconds for test, seconds in session.seconds.items() if test not in session.unfit}
        (target / f"{place}.json").write_text(json.dumps(seconds))
        return code

    def start(place: int) -> int:
        return copies[place].fork(lambda: run(place))

    for process in [start(place) for place in range(len(copies))]:
        os.waitpid(process, 0)


def write_report(verdicts: Sequence[Verdict], rooms: Mapping[Mutant, str], target: Path) -> None:
    """Write the verdicts as JSON."""
    names = ("file", "function", "before", "after")
    rows = [
        {"room": rooms[it.mutant], "ending": it.ending, "tests": it.tests, "by": it.by}
        | dict(zip(names, it.mutant.key, strict=True))
        for it in verdicts
    ]
    target.write_text(json.dumps(rows, indent=1, ensure_ascii=False))


def main() -> None:
    """Judge a sample and print the survivors and the score of each room."""
    options = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    options.add_argument("--sample", type=int, default=SAMPLE, help="how many mutants")
    options.add_argument("--seed", type=int, default=0, help="which ones")
    options.add_argument("--room", choices=ROOMS, action="append", help="only this room (can be repeated)")
    options.add_argument("--workers", type=int, default=2, help="how many at a time")
    given = options.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    rooms = sample_mutants(given.room or list(ROOMS), given.sample, given.seed)
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copies = [TreeCopy(ROOT, Path(folder) / str(number)) for number in range(given.workers)]
        for verdict in judge_all(list(rooms), copies, load_map(copies)):
            verdicts.append(verdict)
            write_report(verdicts, rooms, BUILD / f"seed-{given.seed}.json")
            mutant = verdict.mutant
            if verdict.ending == "survived":
                print(f"{mutant.path}, {mutant.function or 'top level'}: not noticed by {verdict.tests} tests")
                print(f"  - {mutant.before}\n  + {mutant.after}", flush=True)
            elif sys.stderr.isatty():
                print(f"{len(verdicts)} of {len(rooms)}", end="\r", file=sys.stderr, flush=True)
    for room in dict.fromkeys(rooms.values()):
        ours = [verdict for verdict in verdicts if rooms[verdict.mutant] == room]
        noticed = sum(verdict.ending != "survived" for verdict in ours)
        print(f"{room:10} {noticed:4} of {len(ours):4} noticed, {noticed / len(ours):4.0%}")


if __name__ == "__main__":
    main()
