"""What a command does not load: the kits of vendors, telemetry, the keyring, the line editor of chats (S6)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.programs import Done, Program, Starter, environment
from tests.support.scene import LEAVES, Words, program_words

VENDORS = {"anthropic", "openai", "opentelemetry", "keyring", "prompt_toolkit", "tavily", "notion_client", "mcp"}
NEED_NONE: tuple[str, ...] = ("tools list", "tools show done", "runs list", "stats", "changes", "outputs list")
NEED_NONE += ("explore list",)
NEED_NONE += ("config list", "config path", "policy list", "trust list", "mcp list", "completion bash", "demo", "index")


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    with Starter(tmp_path_factory.mktemp("cold"), warm=False) as starter:
        yield starter


def started(cold: Starter, folder: Path, *words: str) -> Done:
    program: Program = "ghostpen" if words[0] == "ghostpen" else "toolroll"
    env = {name: value for name, value in environment(folder / "home").items() if "COVERAGE_" not in name}
    work = folder / "work"
    work.mkdir(exist_ok=True)
    cold.start(*words[program == "ghostpen" :], env=env, cwd=work, program=program)
    return cold.wait()


def vendors(loaded: set[str]) -> set[str]:
    return VENDORS & {name.partition(".")[0] for name in loaded}


def test_S6_no_help_loads_a_kit_of_a_vendor(cold: Starter, tmp_path: Path) -> None:
    for words in LEAVES:
        done = started(cold, tmp_path, *program_words(words), "--help")
        assert (done.code, vendors(cold.loaded)) == (0, set()), words


@pytest.mark.parametrize("line", NEED_NONE)
def test_S6_what_asks_no_model_loads_no_kit_of_a_vendor(line: str, cold: Starter, tmp_path: Path) -> None:
    done = started(cold, tmp_path, *line.split())
    assert (done.code, vendors(cold.loaded)) == (0, set()), done


def test_S6_doctor_looks_at_the_keyring_and_at_nothing_of_a_vendor(cold: Starter, tmp_path: Path) -> None:
    assert started(cold, tmp_path, "doctor").code == 0
    assert vendors(cold.loaded) <= {"keyring"}


@pytest.mark.parametrize("line", ["code Go.", "run Go.", "explore run Tea", "ghostpen Tea"])
def test_S6_a_run_without_a_model_loads_no_kit_of_a_vendor(line: str, cold: Starter, tmp_path: Path) -> None:
    words: Words = tuple(line.split())
    done = started(cold, tmp_path, *words)
    assert done.code in (1, 2), done
    assert vendors(cold.loaded) == set()
