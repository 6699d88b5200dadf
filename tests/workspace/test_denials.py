"""A denied file leaks through nothing: with it or without it, whatever it holds, every answer is the same."""

import asyncio
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolroll.errors import ToolrollError
from toolroll.kernel.approval.policy import Rule
from toolroll.workspace.denials import Denials
from toolroll.workspace.read import read_lines
from toolroll.workspace.search.find import find_files
from toolroll.workspace.search.listing import Listing, list_folder
from toolroll.workspace.search.search import search
from toolroll.workspace.search.tree import tracked_paths
from toolroll.workspace.workspace import Workspace

ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "12"))
NAMES = st.sampled_from(["a", "b", "A", "sub", "Sub", "key.pem", ".env", "x.log", "y.LOG", "secret", "ſecret", "b[1]"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PATTERNS = st.sampled_from(
    [
        "secret/**",
        "**/*.log",
        "a",
        "sub/*",
        "**/secret/**",
        "b[1]",
        "*/a",
        "**/b",
        "?",
        "sub/**/x.log",
        "a**b",
        "!a",
        "{a}",
    ]
)


def fill(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        except OSError:
            continue  # a file where the other one needs a folder


async def answers(workspace: Workspace) -> list[object]:
    """All that can be learned without naming a denied file, but for how many of them there are."""
    told: list[object] = []
    for pattern, wanted in (("canary", None), (".", None), ("common", "*.log")):
        found = await search(workspace, pattern, file_pattern=wanted)
        told.append(replace(found, skipped=replace(found.skipped, denied=0)))
    for pattern in ("*", "secret"):
        files = await find_files(workspace, pattern)
        told.append(replace(files, skipped=replace(files.skipped, denied=0)))
    told += [contents(await list_folder(workspace, recursive=recursive)) for recursive in (False, True)]
    return [*told, sorted(map(str, tracked_paths(workspace)))]


def contents(listing: Listing) -> list[tuple[str, int]]:
    return [(str(entry.path), entry.size) for entry in listing.entries if entry.kind == "file"]


@pytest.mark.slow
@settings(max_examples=ROUNDS, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PATHS, min_size=1, max_size=8, unique=True), st.lists(PATTERNS, max_size=3))
def test_C2_a_denied_file_leaks_through_nothing(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], deny: list[str]
) -> None:
    root = tmp_path_factory.mktemp("leak") / "app"
    root.mkdir()
    with Workspace(root, state=root.parent / "state", deny=deny) as workspace:
        fill(root, dict.fromkeys(names, "common\n"))
        there = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
        denied = [name for name in there if workspace.is_denied(workspace.path(name))]
        assert all(refused(workspace, name) for name in denied)
        fill(root, dict.fromkeys(denied, "common canary\nand more"))
        with_them = asyncio.run(answers(workspace))
        for name in denied:
            (root / name).unlink()
        assert with_them == asyncio.run(answers(workspace))
    shutil.rmtree(root.parent)


def refused(workspace: Workspace, name: str) -> bool:
    try:
        read_lines(workspace, workspace.path(name))
    except ToolrollError as error:
        return "canary" not in error.message
    return False


@given(st.lists(NAMES | st.text("ab\\ \u200b:~1.[", min_size=1, max_size=4), min_size=1, max_size=3), PATTERNS)
def test_C2_the_quick_look_agrees_with_the_rule(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], pattern: str
) -> None:
    if any(name in {".", ".."} for name in names):
        return
    path = "/".join(names)
    root = tmp_path_factory.getbasetemp()
    with Workspace(root, deny=[pattern], protected=()) as workspace:
        prefixes = ["/".join(names[:count]) for count in range(1, len(names) + 1)]
        rule = Rule(action="deny", path=pattern)
        assert workspace.denials.hides(path) == any(rule.matches("read", [prefix]) for prefix in prefixes)
        assert list(workspace.denials.visible([path])) == ([] if workspace.denials.hides(path) else [path])


@given(st.lists(NAMES, min_size=1, max_size=3).map("/".join))
def test_C2_of_many_paths_those_are_visible_that_are_not_hidden(path: str) -> None:
    denials = Denials(["secret*"])
    paths = [path, ".env", "a/.git/config", "secret.txt", "id_rsa.bak", "a.py"]
    assert list(denials.visible(paths)) == [one for one in paths if not denials.hides(one)]
