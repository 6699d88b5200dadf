"""Models on this machine: a GGUF file and llama.cpp (A30, A37). `make test-local` installs what the last tests need."""

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.models.gguf import write_model
from tests.support.model_script import Turn
from tests.support.model_server import ModelServer

from toolroll import Agent, step_count_is, tool
from toolroll.errors import ProviderFailed, UsageError
from toolroll.models import local
from toolroll.models.connect import ConnectSettings, connect
from toolroll.models.local import LocalOptions, LocalTransport, threads_of
from toolroll.models.retry import RetryRule
from toolroll.models.small import SmallModel

LIBRARY = """
from types import SimpleNamespace

started = []

class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

class Server:
    def __init__(self, settings):
        if settings.model.path.endswith("broken.gguf"):
            raise RuntimeError("failed to load model")
        started.append(settings)
        self.listening_address = ADDRESS
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A library of the same face, whose server is ours."""

    def made(address: str) -> Any:
        folder = tmp_path / "library"
        folder.mkdir()
        (folder / "xllamacpp.py").write_text(f"{LIBRARY}\nADDRESS = {address!r}\n")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
        return import_module("xllamacpp")

    yield made
    sys.modules.pop("xllamacpp", None)


@tool
async def switch(light: Literal["on", "off"]) -> str:
    """Switch the light."""
    return f"The light is {light}."


async def test_A30_A37_the_server_is_started_with_the_first_question_and_kept(tmp_path: Path, stand_in: Any) -> None:
    file = write_model(tmp_path / "tiny.gguf")
    script = [Turn('{"tool": "switch", "arguments": {"light": "on"}}'), *[Turn('{"answer": "on"}')] * 2]
    async with ModelServer(script) as server:
        library = stand_in(server.url)
        settings = ConnectSettings(local=LocalOptions(window_tokens=1024, threads=3))
        model = connect(f"local:{file}", environment={}, settings=settings)
        await model.aclose()
        assert library.started == []
        async with Agent(model=model, tools=[switch]) as agent:
            assert (await agent.run("light, please")).text == "on"
            assert (await agent.run("and now?")).text == "on"
    [started] = library.started
    assert (started.hostnames, started.port, started.model.path) == (["127.0.0.1"], 0, str(file))
    assert (started.n_ctx, started.cpuparams.n_threads, started.cpuparams_batch.n_threads) == (1024, 3, 3)
    assert server.requests[0].body["max_tokens"] == LocalOptions().max_output_tokens
    assert server.requests[0].body["model"] == "tiny.gguf"


async def test_A37_two_first_questions_start_one_server(tmp_path: Path, stand_in: Any) -> None:
    file = write_model(tmp_path / "tiny.gguf")
    async with ModelServer([*[Turn("here")] * 2]) as server:
        library = stand_in(server.url)
        async with Agent(model=f"local:{file}") as agent:
            await asyncio.gather(agent.run("one"), agent.run("two"))
    assert len(library.started) == 1
    transport = LocalTransport(file, LocalOptions())
    assert transport._start() is transport._start()
    assert len(library.started) == 2


async def test_A37_a_file_that_cannot_be_loaded_says_so(tmp_path: Path, stand_in: Any) -> None:
    stand_in("http://127.0.0.1:1")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and no more")
    agent = Agent(model=f"local:{tmp_path / 'broken.gguf'}", retry=RetryRule(retries=0))
    with pytest.raises(ProviderFailed, match=r"llama\.cpp cannot run .*broken\.gguf.*failed to load"):
        await agent.run("hello")


def test_A37_a_missing_extra_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match=r"pip install 'toolroll\[local\]'"):
        connect(f"local:{tmp_path / 'x.gguf'}", environment={})


def test_A37_so_is_a_missing_file_and_one_of_another_kind(tmp_path: Path, stand_in: Any) -> None:
    stand_in("http://127.0.0.1:1")
    with pytest.raises(UsageError, match=r"There is no model '.*none\.gguf'"):
        connect(f"local:{tmp_path / 'none.gguf'}", environment={})
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(UsageError, match="is no GGUF file"):
        connect(f"local:{tmp_path / 'text.gguf'}", environment={})


@pytest.mark.parametrize(("cores", "threads"), [(8, 7), (2, 1), (1, 1), (None, 1)])
def test_A37_one_core_is_left_to_everything_else(
    cores: int | None, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert threads_of(LocalOptions()) == threads


# From here on llama.cpp itself, with a model of random weights: whatever it says, the schema makes a turn of it.


def real(folder: Path, **options: Any) -> SmallModel:
    pytest.importorskip("xllamacpp", reason="needs the extra `local`: make test-local")
    made = connect(
        f"local:{write_model(folder / 'tiny.gguf')}",
        environment={},
        settings=ConnectSettings(local=LocalOptions(window_tokens=4096, **options)),
    )
    assert isinstance(made, SmallModel)
    return made


Answer: Any = Literal["yes", "no"]  # free text of such a model is not even UTF-8, which llama.cpp refuses


@pytest.mark.parametrize("stream", [True, False])
async def test_A37_a_real_server_makes_valid_calls_of_nonsense(tmp_path: Path, stream: bool) -> None:
    model = real(tmp_path, max_output_tokens=600)
    made: list[bool] = []
    endings: set[str] = set()
    options: Any = {"stop_when": step_count_is(3), "close_with_answer": False, "output": Answer}
    async with Agent(model=model, tools=[switch], **options) as agent:
        for number in range(8):
            prompt = f"Switch the light on, please. {number}"
            result = await (agent.stream(prompt).wait() if stream else agent.run(prompt))
            made += [call.ok for step in result.steps for call in step.calls]
            endings.add(result.stop_reason)
    assert made
    assert all(made)
    assert endings <= {"answer", "condition", "repeated_calls", "cut_off"}


async def test_A37_a_real_server_keeps_to_a_checked_answer(tmp_path: Path) -> None:
    async with Agent(model=real(tmp_path, max_output_tokens=600), output=Answer) as agent:
        result = await agent.run("Is it raining?")
    assert result.stop_reason in ("answer", "cut_off")
    assert result.output in ("yes", "no", None)
