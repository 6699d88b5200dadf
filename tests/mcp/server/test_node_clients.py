"""S30: clients that others wrote in Node use every tool, over stdio and HTTP: the inspector, and both SDKs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.server.test_resources import make_documents
from tests.support.programs import environment

NPM = Path(__file__).parents[3] / "build" / "npm"
MODULES = NPM / "node_modules"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
WAIT_S = 300.0
CALLS: Mapping[str, Mapping[str, Any]] = {
    "read_file": {"path": "shop.py"},
    "list_files": {"path": "."},
    "search_files": {"pattern": "price"},
    "find_files": {"pattern": "*.py"},
    "find_definition": {"symbol": "price"},
    "find_importers": {"modulePath": "shop.py"},
    "outline": {"path": "shop.py"},
    "find_references": {"symbol": "price"},
    "repo_map": {},
    "edit_file": {"path": "whole.txt", "content": "new\n", "description": "all of it"},
    "create_file": {"path": "made.txt", "content": "made\n", "description": "another file"},
    "edit": {"path": "part.txt", "old_string": "old", "new_string": "new"},
    "apply_changes": {
        "description": "two at once",
        "changes": [{"path": "several.txt", "old_string": "old", "new_string": "new"}],
    },
    "read_research": {"path": "2026-11-01-tea/research.md"},
    "read_style_profile": {},
    "update_style_profile": {"changes": {"voice.tone": "calm"}, "reason": "the user said so"},
    "list_profiles": {},
    "read_past_posts": {"keywords": ["tea"]},
    "save_to_file": {"content": "On milk.", "platform": "x", "topic": "milk"},
    "search_web": {"query": "tea"},
    "read_notion_page": {"page_id": "0" * 32},
    "write_to_notion": {"content": "On tea.", "title": "Tea", "platform": "x", "topic": "tea"},
    "track_feedback": {"category": "too_formal", "raw_feedback": "Warmer, please."},
    "done": {"message": "That is all."},
    "write_todos": {"todos": [{"content": "Buy tea", "status": "pending"}]},
    "read_todos": {},
    "tool_output_cache": {"ref": "none"},
    "tool_output_cache_grep": {"ref": "none", "pattern": "x"},
}
"""Right arguments for every tool."""
WITHOUT_SERVICE = {"search_web", "read_notion_page", "write_to_notion", "tool_output_cache", "tool_output_cache_grep"}
"""They need a key that a test has not, or an output that is not there: their answer is an error that says so."""
AFTER_READING = {"edit_file", "edit", "apply_changes"}
"""They are refused in a run that has not read the file, and each process of the inspector is a run of its own."""
READS = [("read_file", {"path": f"{name}.txt"}) for name in ("whole", "part", "several")]
FEW = ("create_file",)
ALL_CALLS = CALLS if os.environ.get("TOOLROLL_ROUNDS") else {name: CALLS[name] for name in FEW}
"""The inspector is a process for each call; with TOOLROLL_ROUNDS it makes all of them, otherwise the SDKs alone do."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    if not INSPECTOR.exists():
        pytest.skip("needs the inspector and the SDKs of npm: make counterparts")
    make_documents(tmp_path)
    root = tmp_path / "project"
    root.mkdir()
    (root / "shop.py").write_text("def price():\n    return 3\n")
    for name in ("whole", "part", "several"):
        (root / f"{name}.txt").write_text("old\n")
    return tmp_path


def command(folder: Path, *more: str) -> list[str]:
    packs = [word for pack in ("code", "research", "writing", "standard") for word in ("--pack", pack)]
    places = ["--root", str(folder / "project"), "--data", str(folder / "data"), "--ideas", str(folder / "ideas")]
    toolroll = shutil.which("toolroll", path=str(Path(sys.executable).parent))
    assert toolroll is not None
    return [toolroll, "mcp", "serve", *packs, *places, *more]


@contextmanager
def http_server(folder: Path, *more: str) -> Iterator[tuple[str, str]]:
    """`toolroll mcp --http` as a process; gives its address and the token of this launch."""
    with subprocess.Popen(
        command(folder, "--http", "--port", "0", "--json", *more),
        stdout=subprocess.PIPE,
        env=environment(folder / "home"),
    ) as server:
        assert server.stdout is not None
        said = json.loads(server.stdout.readline())
        try:
            yield said["url"], said["token"]
        finally:
            server.terminate()


def run_node(folder: Path, *arguments: str) -> dict[str, Any]:
    node = next(MODULES.glob("node-linux-*/bin/node"), None) or shutil.which("node")
    assert node is not None, "npm came with it"
    env = {**environment(folder / "home"), "HOME": str(folder / "home")}
    done = subprocess.run(
        [str(node), *arguments], env=env, cwd=NPM, capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def inspect(folder: Path, target: Sequence[str], method: str, *more: str) -> dict[str, Any]:
    result: dict[str, Any] = run_node(
        folder, str(INSPECTOR), "--cli", *target, "--method", method, "--format", "json", "-q", *more
    )["result"]
    return result


def check_results(results: Mapping[str, Any]) -> None:
    for name, result in results.items():
        assert bool(result.get("isError")) == (name in WITHOUT_SERVICE), (name, result)


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_S30_the_inspector_lists_and_calls_tools(transport: str, era: str, project: Path) -> None:
    """Its `--strict` finds no schema that some client could not take."""

    def use(*target: str) -> None:
        listed = inspect(project, target, "tools/list", "--strict", "--protocol-era", era)["tools"]
        assert sorted(CALLS) == [tool["name"] for tool in listed]
        check_results(
            {
                name: inspect(
                    project, target, "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments),
                    "--protocol-era", era,
                )
                for name, arguments in ALL_CALLS.items()
                if name not in AFTER_READING
            }
        )  # fmt: skip

    if transport == "stdio":
        use(*command(project, "--yes"))
    else:
        with http_server(project, "--yes") as (url, token):
            use(url, "--header", f"Authorization: Bearer {token}")
    assert (project / "project" / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize("sdk", ["sdk", "client"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_S30_the_sdks_in_typescript_use_every_tool(transport: str, sdk: str, project: Path) -> None:
    """The one of 2025-11-25 and the one of 2026-07-28: tools, approval by a form, and resources."""
    given: dict[str, Any] = {
        "calls": [*READS, *CALLS.items()], "allow": True, "read": "toolroll://research/2026-11-01-tea/research.md"
    }  # fmt: skip
    script = project / "client.mjs"
    shutil.copy(Path(__file__).with_name("client.mjs"), script)
    (project / "node_modules").symlink_to(MODULES)  # node looks for packages beside the script
    if transport == "stdio":
        found = run_node(project, str(script), sdk, json.dumps({**given, "stdio": command(project)}))
    else:
        with http_server(project) as (url, token):
            found = run_node(project, str(script), sdk, json.dumps({**given, "url": url, "token": token}))
    assert sorted(CALLS) == [tool["name"] for tool in found["tools"]]
    check_results(found["results"])
    assert any("+new" in question for question in found["questions"]), "the diff is in the form"
    assert [(project / "project" / f"{name}.txt").read_text() for name in ("whole", "part", "several")] == ["new\n"] * 3
    assert found["read"]["contents"][0]["text"] == "# Tea\n"
    assert "toolroll://profile/default" in [one["uri"] for one in found["resources"]]
