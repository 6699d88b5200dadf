"""What is denied leaks through no tool: answers are the same with the file and without it, but for a count."""

import os
import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.packs.code.conftest import BY_NAME, Coder, coding

from toolroll.kernel.approval.request import Reject

DENY: Final = ("secrets/**", "**/*.gem", "src/hidden.py")
OPEN: Final = {
    "src/app.py": "from src.shared import shared\nfrom src.hidden import treasure\n\n\ndef app():\n    treasure()\n",
    "src/shared.py": "def shared():\n    pass\n",
    "secret_plans.md": "No treasure here: SHARED\n",
}
HIDDEN: Final = {
    "src/hidden.py": "from src.shared import shared\n\n\ndef treasure():\n    shared()\n\n\nGEM_CANARY = 1\n",
    "secrets/deep/map.py": "from src.app import app\n\n\ndef treasure_map():\n    app()\n",
    "src/key.gem": "GEM_CANARY treasure\n",
}
COUNT: Final = re.compile(r", \d+ passed over \(\d+ denied\)|, \d+ passed over|\d+ ignored, |\d+ denied")

CALLS: Final[list[tuple[str, dict[str, object]]]] = [
    ("list_files", {"path": "src"}),
    ("list_files", {"path": ".", "recursive": True}),
    ("search_files", {"pattern": "treasure|CANARY|shared"}),
    ("search_files", {"pattern": "GEM_CANARY"}),
    ("search_files", {"pattern": "CANARY", "path": "src/hidden.py"}),
    ("search_files", {"pattern": "CANARY", "filePattern": "*.gem"}),
    ("find_files", {"pattern": "hidden"}),
    ("find_files", {"pattern": "*.py"}),
    ("find_files", {"pattern": "**/*.gem"}),
    ("read_file", {"path": "src/hidden.py"}),
    ("read_file", {"path": "secrets/deep/map.py"}),
    ("read_file", {"path": "src/hiden.py"}),
    ("read_file", {"path": "src/key"}),
    ("outline", {"path": "src/hidden.py"}),
    ("outline", {"path": "secrets/deep/map.py"}),
    ("find_definition", {"symbol": "treasure"}),
    ("find_definition", {"symbol": "treasur"}),
    ("find_definition", {"symbol": "GEM_CANARY"}),
    ("find_definition", {"symbol": "shared", "type": "import"}),
    ("find_importers", {"modulePath": "src/shared.py"}),
    ("find_importers", {"modulePath": "src/hidden.py"}),
    ("find_importers", {"modulePath": "src.hidden"}),
    ("find_importers", {"modulePath": "src/app.py"}),
    ("find_references", {"symbol": "treasure"}),
    ("find_references", {"symbol": "shared"}),
    ("repo_map", {}),
    ("edit", {"path": "src/hidden.py", "old_string": "GEM", "new_string": "x"}),
    ("edit", {"path": "src/key.gem", "old_string": "GEM", "new_string": "x", "dry_run": True}),
    ("edit_file", {"path": "secrets/deep/map.py", "content": "x\n", "description": "d"}),
    ("create_file", {"path": "src/hidden.py", "content": "x\n", "description": "d"}),
    ("create_file", {"path": "secrets/other", "content": "x\n", "description": "d"}),
    ("apply_changes", {"changes": [{"path": "src/hidden.py", "content": "x\n"}], "description": "d"}),
    ("edit", {"path": "src/shared.py", "old_string": "pass", "new_string": "..."}),
]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


async def answers(coder: Coder) -> list[str]:
    """What a model reads of every call, and a person of every question; without times and numbers of what is denied."""
    await coder("read_file", path="src/shared.py")
    texts = [f"{name} {result.code} {result.text}" for name, more in CALLS for result in [await coder(name, **more)]]
    asked = [f"{one.preview.text} {one.preview.notes}" for one in coder.asked]
    return [re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", COUNT.sub("", text)) for text in (*texts, *asked)]


def made(folder: Path, files: dict[str, str]) -> Path:
    for name in ("secrets", "secrets/deep"):  # folders are there in both: only what is in them is hidden
        (folder / name).mkdir(parents=True, exist_ok=True)
    return write(folder, files)


async def test_C2_a_denied_file_leaks_through_no_tool(tmp_path: Path) -> None:
    assert {name for name, _ in CALLS} == set(BY_NAME)
    async with coding(made(tmp_path / "a" / "app", OPEN | HIDDEN), Reject(), deny=DENY) as coder:
        with_it = await answers(coder)
    async with coding(made(tmp_path / "b" / "app", OPEN), Reject(), deny=DENY) as coder:
        without = await answers(coder)
    assert with_it == without
    assert not any("GEM_CANARY = " in text or "treasure_map" in text for text in with_it)


async def test_C2_an_index_from_before_the_rule_gives_nothing_away(tmp_path: Path) -> None:
    """Also while somebody without the rule keeps it up to date."""
    folder = made(tmp_path / "a" / "app", OPEN | HIDDEN)
    async with coding(folder) as free:
        assert "treasure" in await free.ok("repo_map")
        async with coding(folder, Reject(), deny=DENY) as coder:
            with_it = await answers(coder)
        assert "src/hidden.py:4" in await free.ok("find_definition", symbol="treasure")
    async with coding(made(tmp_path / "b" / "app", OPEN), Reject(), deny=DENY) as coder:
        assert with_it == await answers(coder)


async def test_XP3_a_rule_holds_for_links_to_what_is_denied(folder: Path) -> None:
    made(folder, OPEN | HIDDEN)
    (folder / "plain.txt").symlink_to("src/key.gem")
    (folder / "inner").symlink_to("secrets")
    async with coding(folder, deny=DENY) as coder:
        for path in ("plain.txt", "inner/deep/map.py"):
            for name, more in (
                ("read_file", {}),
                ("search_files", {"pattern": "CANARY"}),
                ("edit", {"old_string": "GEM", "new_string": "x"}),
                ("outline", {}),
            ):
                code, message = await coder.refused(name, path=path, **more)
                assert code == "path_validation", (name, path)
                assert "denied" in message
        assert (await coder.refused("list_files", path="inner"))[0] == "path_validation"
        assert coder.asked == []


ROUNDS: Final = 50 if "TOOLROLL_ROUNDS" in os.environ else 4
NAMES: Final = st.sampled_from(["secrets/a.py", "secrets/b/c.txt", "src/k.gem", "deep/er/x.gem", "src/hidden.py"])
QUERIES: Final = st.sampled_from(["canary", "c.*y", "def", "import", "x", ".", "secrets", "gem", "hidden", "a"])


@pytest.mark.slow
@settings(max_examples=ROUNDS, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(hidden=st.dictionaries(NAMES, st.sampled_from(["def canary(): pass\n", "import os\n", "x", ""])), query=QUERIES)
@pytest.mark.timeout(120)
async def test_C2_whatever_is_hidden_and_asked_the_answers_are_the_same(
    hidden: dict[str, str], query: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("search_files", {"pattern": query}),
        ("find_files", {"pattern": query}),
        ("find_definition", {"symbol": query}),
        ("find_references", {"symbol": query}),
        ("find_importers", {"modulePath": query}),
        ("list_files", {"path": "src"}),
        ("read_file", {"path": f"src/{query}"}),
    ]
    told = []
    for files in (OPEN, OPEN | hidden):
        folder = tmp_path_factory.mktemp("deny") / "app"
        for name in ("secrets/b", "deep/er", "src"):
            (folder / name).mkdir(parents=True)
        async with coding(write(folder, files), deny=DENY) as coder:
            texts = [(await coder(name, **more)).text for name, more in calls]
        told.append([re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", COUNT.sub("", text)) for text in texts])
    assert told[0] == told[1]
