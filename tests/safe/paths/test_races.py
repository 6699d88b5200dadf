"""XP5: somebody swaps a folder for a link to the outside, again and again, while everything is used."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from toolroll.errors import ToolrollError
from toolroll.safe.paths import openat2
from toolroll.safe.paths.names import parse_path
from toolroll.safe.paths.root import Root

ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "1000"))
CANARY = b"canary: this content is outside"
LEAK = "../../../outside/inner/deep"

# Two names change places as fast as the system can do it: in one step on Linux, in three elsewhere.
SWAP = """
import ctypes, os, sys
one, other = (os.fsencode(name) for name in sys.argv[1:])
at_once = getattr(ctypes.CDLL(None), "renameat2", None)
print("swapping", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1000):
        try:
            if at_once is None:
                os.rename(one, one + b"~")
                os.rename(other, one)
                os.rename(one + b"~", other)
            else:
                at_once(-100, one, -100, other, 2)
        except FileNotFoundError:  # moved away for a moment by what is being tested
            pass
"""


@pytest.fixture(params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "walk":
        monkeypatch.setattr(openat2, "is_available", lambda: False)
    elif not openat2.is_available():
        pytest.skip("this system has no openat2")
    # The races are about names; waiting for the disk would only make them rarer.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return str(request.param)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    for top, content in {"app/work": b"inside", "outside": CANARY}.items():
        (tmp_path / top / "inner").mkdir(parents=True)
        (tmp_path / top / "file").write_bytes(content)
        (tmp_path / top / "inner/deep").write_bytes(content)
    (tmp_path / "outside/only-outside").write_bytes(CANARY)
    (tmp_path / "outside/inner/only-outside").write_bytes(CANARY)
    (tmp_path / "app/trap").symlink_to("../outside")
    (tmp_path / "app/work/trap").symlink_to("../../outside/inner")
    (tmp_path / "app/work/inner/trap").symlink_to(LEAK)
    return tmp_path / "app"


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", SWAP, one, other], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "swapping\n"
            yield
        finally:
            process.kill()


def picture(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """All that shows that somebody was there: also a temporary file that came and went changes a folder's times."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, status.st_ctime_ns, content)
    return found


def attempts(root: Root) -> dict[str, Callable[[], object]]:
    """One use of each kind, through the folder that is swapped; each gives what it has seen."""
    file, deep, new = parse_path("work/file"), parse_path("work/inner/deep"), parse_path("work/inner/new")
    made = parse_path("work/inner/made/more")
    return {
        "read": lambda: root.read_bytes(file, limit_bytes=1000),
        "read deep": lambda: root.read_bytes(deep, limit_bytes=1000),
        "list": lambda: [entry.name for entry in root.list_folder(parse_path("work"))],
        "list deep": lambda: [entry.name for entry in root.list_folder(deep.parent)],
        "stat": lambda: root.stat(file).size,
        "write": lambda: root.write_file(file, b"inside, written"),
        "write deep": lambda: root.write_file(deep, b"inside, written"),
        "create": lambda: root.create_file(new, b"inside, new"),
        "make": lambda: root.make_folders(made),
        "remove": lambda: root.remove_file(new),
        "unmake": lambda: root.remove_folder(made),
        "unmake parent": lambda: root.remove_folder(made.parent),
        "sweep": lambda: root.sweep_temporary(deep.parent),
    }


def restore(app: Path) -> None:
    """Where the file itself is swapped, a write may replace the link: put both back, without looking too closely."""
    file, link = app / "work/inner/deep", app / "work/inner/trap"
    if file.is_symlink() == link.is_symlink():
        with suppress(OSError):
            file.unlink(missing_ok=True)
            link.unlink(missing_ok=True)
            file.write_bytes(b"inside")
            link.symlink_to(LEAK)


SWAPPED = {
    "above": ("work", "trap"),
    "below": ("work/inner", "work/trap"),
    "file": ("work/inner/deep", "work/inner/trap"),
}


@pytest.mark.unmeasured
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("swapped", SWAPPED)
def test_XP5_what_is_swapped_for_a_link_leads_nowhere(app: Path, way: str, swapped: str) -> None:
    one, other = (app / name for name in SWAPPED[swapped])
    rounds = ROUNDS // 5 if swapped == "file" else ROUNDS  # the promise is about folders, and these take longer
    before = picture(app.parent / "outside")
    done: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    with Root(app) as root, swapping(one, other):
        uses = attempts(root)
        for _ in range(rounds):
            if swapped == "file":
                restore(app)
            for name, use in uses.items():
                try:
                    seen = use()
                except ToolrollError:
                    refused[name] += 1
                    continue
                done[name] += 1
                assert seen != CANARY
                assert not isinstance(seen, list) or "only-outside" not in seen
    assert picture(app.parent / "outside") == before
    # Both sides of the race were met, or this would prove nothing.
    raced = {"read deep", "write deep"}
    raced |= {"list deep", "create", "make"} if swapped != "file" else set()
    assert raced <= set(done) & set(refused)
    print(f"{way}, {swapped}: {rounds} rounds, {done.total()} done, {refused.total()} refused, 0 escapes")


@pytest.mark.timeout(120)
def test_XP5_the_same_race_defeats_who_checks_first_and_opens_then(app: Path) -> None:
    """The control: a path that is resolved, found to be inside and then opened leads out here, soon."""
    path = app / "work/file"
    with swapping(app / "work", app / "trap"):
        for _ in range(1_000_000):
            with suppress(OSError):
                if path.resolve().is_relative_to(app.resolve()) and path.read_bytes() == CANARY:
                    return
    pytest.fail("the race was never lost, so it does not race")
