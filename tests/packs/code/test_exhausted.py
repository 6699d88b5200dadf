"""Every tool where no descriptor is left, or only a few: an answer or a typed failure, and none of them is lost."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.packs.code.conftest import BY_NAME, coding
from tests.packs.code.test_nasty import tried

ROOM: Final = 64
CALLS: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("read_file", {"path": "a.py"}),
    ("read_file", {"path": "missing.py"}),
    ("list_files", {"path": "."}),
    ("list_files", {"path": ".", "recursive": True}),
    ("search_files", {"pattern": "x"}),
    ("search_files", {"pattern": "nowhere"}),
    ("find_files", {"pattern": "*"}),
    ("find_definition", {"symbol": "f"}),
    ("find_definition", {"symbol": "nothing"}),
    ("find_importers", {"modulePath": "a"}),
    ("outline", {"path": "a.py"}),
    ("find_references", {"symbol": "f"}),
    ("repo_map", {}),
    ("edit", {"path": "a.py", "old_string": "x", "new_string": "xx"}),
    ("edit_file", {"path": "a.py", "content": "def f(): pass\n", "description": "d"}),
    ("create_file", {"path": "made/f", "content": "x", "description": "d"}),
    ("apply_changes", {"changes": [{"path": "made/g", "content": "x", "create": True}], "description": "d"}),
)


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def only(free: int) -> Iterator[None]:
    """Inside, so many descriptors can be opened, and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_descriptors() + ROOM, hard))
    held: list[int] = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        for _ in range(free):
            os.close(held.pop())
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for one in held:
            os.close(one)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted by /proc")
@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=[f"{name}-{n}" for n, (name, _) in enumerate(CALLS)])
async def test_XF8_C42_without_descriptors_every_tool_fails_in_words(
    name: str, arguments: dict[str, object], folder: Path
) -> None:
    (folder / "b.py").write_text("from a import f\n")
    ends = []
    async with coding(folder, by_person=True) as coder:
        for free in (16, 0, 1, 2, 3, 4, 5, 6, 7):
            (folder / "a.py").write_text("def f():\n    x = 1\n")
            for made in folder.glob("made/*"):
                made.unlink()
            before = open_descriptors()
            with only(free):
                result = await tried(coder, name, **arguments)
            assert open_descriptors() <= before or free == 16, free  # what is opened once for a run stays open
            ends.append(result.code)
            is_made = "x = 1" not in (folder / "a.py").read_text() or any(folder.glob("made/*"))
            assert not (is_made and result.is_error), (free, result.text)
    assert set(ends) <= {None, "file_system", "usage", "file_not_found"}


def test_XF8_no_tool_is_left_out() -> None:
    assert {name for name, _ in CALLS} == set(BY_NAME)
