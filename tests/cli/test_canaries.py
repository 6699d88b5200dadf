"""Secrets of the environment, wherever they get to: none is on a screen, in a file of ours, or in an export (S41)."""

import base64
import json
import os
import stat
from pathlib import Path

import pytest
from tests.cli.chat.screen import CTRL_D, at_screen
from tests.cli.ghostpen.author import READ, post
from tests.support.model_script import Fault, Turn
from tests.support.model_server import ModelServer
from tests.support.programs import Done, toolroll
from tests.support.scene import Scene

NAMES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "NOTION_TOKEN", "TAVILY_API_KEY", "BRAVE_API_KEY")
CANARIES = {name: f"canary-{name.lower().replace('_', '-')}-0123456789abcdef" for name in NAMES}
ALL = " ".join(CANARIES.values())
LONG = "".join(f"line {number} with {ALL}\n" for number in range(2_000))
EXPORTS = ("runs.jsonl", "runs.html")


@pytest.fixture(name="scene")
def leaky(scene: Scene) -> Scene:
    """A project that has the canaries in files, as a person's own project may."""
    (scene.root / "short.txt").write_text(f"keys: {ALL}\n")
    (scene.root / "long.txt").write_text(LONG)
    return scene


def told(done: Done) -> None:
    """What a command said has none of them."""
    assert found_in((done.out + done.err).encode()) == [], done


def found_in(data: bytes) -> list[str]:
    """The names of the canaries in some bytes, as they are, or as JSON or a data base would hide them."""
    return [
        name
        for name, value in CANARIES.items()
        if value.encode() in data or base64.b64encode(value.encode())[:-4] in data
    ]


def nothing_kept(home: Path) -> None:
    """No file of ours has one, and no name of a file.

    But for what 'toolroll undo' puts back: files of the project as they were, byte for byte, for their owner alone.
    """
    every = [path for path in home.rglob("*") if path.is_file()]
    copies = [path for path in every if path.parent.name == "contents"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in copies} <= {0o600, 0o400}
    kept = sorted(set(every) - set(copies))
    assert kept
    leaks = {str(path.relative_to(home)): found for path in kept if (found := found_in(path.read_bytes()))}
    assert leaks == {}
    assert [path for path in home.rglob("*") if found_in(os.fsencode(path.name))] == []


def looked_at(scene: Scene) -> None:
    """What every command that shows something says, and every export."""
    for run in json.loads(scene.call("runs", "list", "--json", **CANARIES).out)["runs"]:
        for words in (("show",), ("show", "--json"), ("show", "--context"), ("export",)):
            told(scene.call("runs", words[0], run["run_id"], *words[1:], **CANARIES))
        for name in EXPORTS:
            told(scene.call("runs", "export", run["run_id"], "--output", name, "--force", **CANARIES))
            assert found_in((scene.root / name).read_bytes()) == []
    for output in json.loads(scene.call("outputs", "list", "--json", **CANARIES).out)["outputs"]:
        for options in ((), ("--raw",), ("--json",)):
            told(scene.call("outputs", "show", output["ref_id"], *options, **CANARIES))
    for line in ("runs list", "stats", "stats --json", "doctor", "doctor --json", "config list", "config list --json"):
        told(scene.call(*line.split(), **CANARIES))
    for line in ("config key list", "outputs list", "policy list", "changes", "trust list"):
        told(scene.call(*line.split(), **CANARIES))


def script(scene: Scene, *turns: object) -> str:
    """A model that says this."""
    (scene.folder / "said.json").write_text(json.dumps(turns))
    return f"scripted:{scene.folder}/said.json"


def calling(name: str, **arguments: object) -> dict[str, object]:
    return {"text": f"I call {name}.", "calls": [{"name": name, "arguments": arguments, "id": f"{name}_1"}]}


@pytest.mark.parametrize("words", [("code",), ("run", "--pack", "code")], ids=" ".join)
def test_S41_D1_prompts_arguments_results_and_files_lose_secrets_on_their_way_to_disk(
    words: tuple[str, ...], scene: Scene
) -> None:
    turns = (
        calling("read_file", path="short.txt"),
        {"calls": [{"name": "read_file", "arguments": {"path": "long.txt"}, "id": "long_1"}]},
        calling("search_files", pattern=CANARIES["OPENAI_API_KEY"]),
        calling("list_files", path=CANARIES["NOTION_TOKEN"]),
        calling("create_file", path="new.txt", content=ALL, description=f"For {ALL}"),
        "It is done.",
    )
    model = script(scene, *turns)
    for options in ((), ("--json",)):
        (scene.root / "new.txt").unlink(missing_ok=True)
        done = scene.call(*words, f"Use {ALL}.", "--model", model, "--yes", *options, **CANARIES)
        assert done.code == 0, done
    nothing_kept(scene.home)
    looked_at(scene)


def test_S41_an_exploration_keeps_no_secret(scene: Scene) -> None:
    scene.has("idea")
    (scene.root / "ideas" / "2026-01-02-tea" / "research.md").write_text(f"# Tea\n\n{ALL}\n")
    model = script(scene, calling("read_research", path="2026-01-02-tea/research.md"), f"# Roofs\n\n{ALL}")
    done = scene.call("explore", "run", "Roofs", "--context", ALL, "--stats", "--model", model, **CANARIES)
    assert done.code == 0, done
    nothing_kept(scene.home)
    looked_at(scene)


def test_S41_a_draft_keeps_no_secret(scene: Scene) -> None:
    scene.has("profile")
    model = script(scene, READ, post(f"Tea, and {ALL}."))
    done = scene.call("ghostpen", f"Tea with {ALL}", "--yes", "--model", model, **CANARIES)
    assert done.code == 0, done
    nothing_kept(scene.home)
    looked_at(scene)


@pytest.mark.parametrize(
    "words", [("code", "Go."), ("run", "Go."), ("explore", "run", "Tea"), ("ghostpen", "About tea")], ids=" ".join
)
def test_S41_what_a_provider_says_of_a_key_is_not_repeated(words: tuple[str, ...], scene: Scene) -> None:
    scene.has("profile")
    fault = Fault(status=401, kind="authentication_error", message=f"bad key {ALL}")
    for options in ((), ("--json",), ("--debug",)):
        with ModelServer([Turn(fault=fault)] * 3, lenient=True) as server:
            env = {**CANARIES, "ANTHROPIC_BASE_URL": server.url}
            done = scene.call(*words, "--model", "sonnet", *options, **env)
        assert done.code == 1, done
        told(done)
    nothing_kept(scene.home)
    looked_at(scene)


def test_S41_a_chat_keeps_no_secret_in_its_history(scene: Scene) -> None:
    turns = (calling("read_file", path="short.txt"), "It is read.")
    command = toolroll("code", "--model", script(scene, *turns))
    with at_screen(scene.home, scene.root, *command, rows=50, env=CANARIES) as screen:
        screen.say(f"Use {CANARIES['OPENAI_API_KEY']}", "It is read.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    nothing_kept(scene.home)
    looked_at(scene)


@pytest.mark.parametrize("is_failing", [False, True], ids=["done", "failed"])
def test_XL64_queued_work_keeps_no_secret(scene: Scene, is_failing: bool) -> None:
    """XL64: in prompts, steps, questions and errors of jobs, in the queue itself, and in what is said of them."""
    fault = Fault(status=400, kind="invalid_request_error", message=f"bad key {ALL}")
    with ModelServer([Turn(fault=fault)] * 9, lenient=True) as server:
        model = "sonnet" if is_failing else script(scene, calling("read_file", path="short.txt"), f"Read: {ALL}.")
        env = {**CANARIES, "ANTHROPIC_BASE_URL": server.url}
        told(scene.call("code", f"Use {ALL}.", "--queue", "--model", model, **env))
        told(scene.call("explore", "run", "Tea", "--context", ALL, "--queue", "--model", model, **env))
        for options in ((), ("--json",)):
            told(scene.call("worker", "--drain", *options, **env))
    jobs = json.loads(scene.call("jobs", "list", "--json", **CANARIES).out)["jobs"]
    assert len(jobs) == 2
    told(scene.call("jobs", "list", **CANARIES))
    for job in jobs:
        for options in ((), ("--json",)):
            told(scene.call("jobs", "show", job["id"], *options, **CANARIES))
    nothing_kept(scene.home)
    looked_at(scene)
