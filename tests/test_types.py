"""What type checkers make of the public names: mypy reads this file with the rest, pyright is run by the tests here."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Annotated, Any, assert_type

import pytest
from pydantic import BaseModel

from toolroll import Agent, Depends, RunResult, ScriptedModel, Tool, ToolContext, tool
from toolroll.agent.events import Event, OutputArrived, RunFinished, TextArrived
from toolroll.agent.live import LiveRun

ROOT = Path(__file__).parents[1]
PYRIGHT = ROOT / "build" / "npm" / "node_modules" / "pyright" / "index.js"
LEAST_COMPLETE = 0.99
LEAST_SYMBOLS = 5_000
needs_pyright = pytest.mark.skipif(
    shutil.which("node") is None or not PYRIGHT.exists(), reason="needs node and pyright: make counterparts"
)


class Drink(BaseModel):
    name: str


class Food(BaseModel):
    name: str


def shelf() -> list[str]:
    return ["tea"]


@tool
def count(word: str, names: Annotated[list[str], Depends(shelf)], ctx: ToolContext) -> int:
    """Count a word."""
    return names.count(word)


@tool(effect="reads")
async def look(word: str) -> bool:
    """Look for a word."""
    return word == "tea"


async def test_A49_the_types_of_outputs_tools_and_events_are_inferred() -> None:
    model = ScriptedModel(['{"name": "tea"}'] * 2)
    plain = Agent(model=ScriptedModel(["Yes."]), tools=[count, look])
    assert_type(plain, Agent[None])
    assert_type((await plain.run("?")).output, None)
    drinks = Agent(model=model, output=Drink)
    assert_type(drinks, Agent[Drink])
    assert_type(await drinks.run("?"), RunResult[Drink])
    assert_type(drinks.start("?"), LiveRun[Drink])
    assert_type(Agent(model=model, output=list[Drink]), Agent[list[Drink]])
    assert_type(Agent(model=model, output=(Drink, Food)), Agent[Drink | Food])
    names: list[str] = []
    async for event in drinks.stream("?"):
        match event:
            case RunFinished(result=result):
                assert_type(result, RunResult[Drink])
                names.append(result.output.name if result.output else "")
            case OutputArrived(output=output):
                assert_type(output, Drink)
            case TextArrived(text=text):
                assert_type(text, str)
            case _:
                pass
    assert names[-1] == "tea"


def test_A49_a_tool_keeps_the_types_of_its_function() -> None:
    tools: list[Tool] = [count, look]
    assert [one.name for one in tools] == ["count", "look"]
    assert_type(count("tea", ["tea"], ToolContext()), int)


def listen(event: Event) -> str:
    return event.event


def run_pyright(folder: Path, *words: str, python: Path) -> Any:
    environment = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["node", str(PYRIGHT), "--outputjson", *words]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=800
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@needs_pyright
@pytest.mark.timeout(900)
def test_A49_pyright_finds_no_fault_in_the_examples_and_the_public_types(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    for file in [*(ROOT / "examples").glob("*.py"), Path(__file__)]:
        shutil.copy(file, tmp_path / "examples")
    config = {"include": ["examples"], "extraPaths": ["examples"], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    report = run_pyright(tmp_path, "--pythonpath", sys.executable, python=Path(sys.executable))
    assert [(one["file"], one["message"]) for one in report["generalDiagnostics"]] == []
    assert report["summary"]["filesAnalyzed"] > len(list((ROOT / "examples").glob("*.py")))


@needs_pyright
@pytest.mark.timeout(900)
def test_A49_the_types_of_the_package_are_complete(tmp_path: Path) -> None:
    """A package counts as typed only where it is installed: a copy of it is, beside what it needs."""
    home = tmp_path / "installed"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=120)
    [site] = home.glob("lib/python*/site-packages")
    shutil.copytree(ROOT / "src" / "toolroll", site / "toolroll", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    words = ("--verifytypes", "toolroll", "--ignoreexternal")
    report = run_pyright(tmp_path, *words, python=home / "bin" / "python")["typeCompleteness"]
    assert report["completenessScore"] >= LEAST_COMPLETE
    assert report["exportedSymbolCounts"]["withKnownType"] > LEAST_SYMBOLS
