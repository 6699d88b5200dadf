"""XP5: a folder is swapped for a link to the outside, again and again, while the tree is walked through by name."""

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.safe.paths.test_races import app, swapping

from toolroll.errors import ToolrollError
from toolroll.workspace.search.find import find_files
from toolroll.workspace.search.listing import list_folder
from toolroll.workspace.search.search import search
from toolroll.workspace.workspace import Workspace

ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "15"))

__all__ = ["app"]


async def names_seen(workspace: Workspace, where: str) -> dict[str, list[str]]:
    """What each way to look around shows, or nothing where it is refused."""
    seen: dict[str, list[str]] = {}
    for name in ("list", "find", "search", "suggest"):
        try:
            folder = workspace.folder(where)
            if name == "list":
                seen[name] = [str(one.path) for one in (await list_folder(workspace, folder, recursive=True)).entries]
            elif name == "find":
                seen[name] = [str(path) for path in (await find_files(workspace, "*", folder=folder)).paths]
            elif name == "search":
                found = await search(workspace, "inside|canary", folder=folder)
                seen[name] = [f"{one.path} {line.text}" for one in found.files for line in one.lines]
            else:
                workspace.read(workspace.path("nowhere/only-outside"))
        except ToolrollError as error:
            seen[name] = error.message.partition("Did you mean")[2].split()
    return seen


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("where", ["", "work"])
async def test_XP5_C1_a_walk_that_is_led_outside_shows_nothing_of_it(app: Path, tmp_path: Path, where: str) -> None:
    done: Counter[str] = Counter()
    with Workspace(app, state=tmp_path / "state") as workspace, swapping(app / "work", app / "trap"):
        # On a busy machine every look of a few rounds may be refused, which would prove nothing.
        while done["round"] < ROUNDS or not done["list"]:
            done["round"] += 1
            for name, seen in (await names_seen(workspace, where)).items():
                done[name] += bool(seen)
                assert not any("only-outside" in one or "canary" in one for one in seen), (name, seen)
