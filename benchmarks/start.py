"""What starting costs: imports and commands as ratios to a bare interpreter start and to importing pydantic.

    python benchmarks/start.py [--rounds 15]

Everything is measured in one run, in turns, so that a busy machine slows all alike. CPU time is what counts; wall time
stands beside it. Bytecode is compiled first: without it an import costs about two and a half times as much.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

BARE = "python -c pass"
PYDANTIC = "import pydantic"
PYDANTIC_USED = "from pydantic import BaseModel, TypeAdapter"
IMPORT = "import toolroll"
IMPORT_USED = "from toolroll import tool, Depends, ToolContext"
HELP = "toolroll --help"

PROGRAMS: dict[str, list[str]] = {
    BARE: [sys.executable, "-c", "pass"],
    **{
        code: [sys.executable, "-c", code]
        for code in (
            PYDANTIC,
            PYDANTIC_USED,
            IMPORT,
            IMPORT_USED,
            "import click",
        )
    },
    **{
        command: [str(Path(sysconfig.get_path("scripts"), "toolroll")), *command.split()[1:]]
        for command in (HELP, "toolroll tools list")
    },
}

HELP_AT_MOST_BARE_STARTS = 6.0
IMPORT_AT_MOST_PYDANTIC = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One run of one program, in milliseconds."""

    cpu: float
    wall: float


def environment() -> dict[str, str]:
    left_out = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    return {name: value for name, value in os.environ.items() if name not in left_out}


def start(command: Sequence[str]) -> Start | None:
    """Run a program to its end; None when it fails or is not there."""
    began = time.perf_counter()
    try:
        child = subprocess.Popen(
            command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return None
    # wait4 rather than wait: it alone tells what this one child used.
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    return None if child.returncode else Start(cpu=(used.ru_utime + used.ru_stime) * 1e3, wall=wall * 1e3)


def measure(names: list[str], rounds: int) -> dict[str, list[Start]]:
    """Every program once a round, each round beginning with another one."""
    found: dict[str, list[Start]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if (one := start(PROGRAMS[name])) is not None:
                found[name].append(one)
    return found


def ratios(found: list[Start], floor: list[Start], *, above: list[Start] | None = None) -> list[float]:
    """CPU of a program over that of its floor, round by round; with `above`, of what each costs on top of that."""
    base = [one.cpu for one in above] if above else [0.0] * len(found)
    return [
        (one.cpu - under) / max(other.cpu - under, 0.01) for one, other, under in zip(found, floor, base, strict=False)
    ]


def spread(values: list[float]) -> str:
    low, _, high = quantiles(values, n=4)
    return f"{median(values):.2f} ±{(high - low) / 2:.2f}"


def row(name: str, found: dict[str, list[Start]]) -> str:
    mine, bare = found[name], found[BARE]
    cells = [
        spread(ratios(mine, bare)),
        spread([one.wall / other.wall for one, other in zip(mine, bare, strict=False)]),
        spread(ratios(mine, found[PYDANTIC])),
        spread(ratios(mine, found[PYDANTIC_USED])),
        spread(ratios(mine, found[PYDANTIC_USED], above=bare)),
        f"{median(one.cpu for one in mine):.0f}",
    ]
    return f"| `{name}` | " + " | ".join(cells) + " |"


def table(found: dict[str, list[Start]]) -> str:
    header = (
        f"| | CPU × bare | wall × bare | CPU × `{PYDANTIC}` | CPU × `{PYDANTIC_USED}` | the same, less a bare start | "
        "CPU ms |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    return "\n".join([header, *(row(name, found) for name in found)])


BUDGETS = [
    (IMPORT, PYDANTIC, IMPORT_AT_MOST_PYDANTIC),
    (IMPORT_USED, PYDANTIC_USED, IMPORT_AT_MOST_PYDANTIC),
    (HELP, BARE, HELP_AT_MOST_BARE_STARTS),
]


def over_budget(found: dict[str, list[Start]]) -> bool:
    """Print how each promised ratio stands; whether one is exceeded."""
    over = False
    for name, floor, most in BUDGETS:
        if name in found:
            ratio = median(ratios(found[name], found[floor]))
            over = over or ratio > most
            print(f"- `{name}` to `{floor}`: {ratio:.2f}, at most {most:g}: {'over' if ratio > most else 'kept'}")
    return over


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="how often each program runs (at least 2)")
    options.add_argument("--strict", action="store_true", help="fail when a budget is exceeded")
    chosen = options.parse_args()
    # The first run compiles; what fails in it is left out.
    works = [name for name, command in PROGRAMS.items() if start(command) is not None]
    found = measure(works, max(chosen.rounds, 2))
    print(table(found), end="\n\n")
    for name in PROGRAMS.keys() - set(works):
        print(f"`{name}` does not run and was left out.")
    return int(over_budget(found) and chosen.strict)


if __name__ == "__main__":
    sys.exit(main())
