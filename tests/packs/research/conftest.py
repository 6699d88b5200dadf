"""The same research in three places: a folder, our GitHub on loopback, and one that others wrote."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.packs.research import emulate
from tests.packs.research.hub import REPOSITORY, TOKEN, Hub

from toolroll.packs.research.github import GitHubSource
from toolroll.packs.research.local import LocalSource
from toolroll.packs.research.source import ResearchSource

OWNER = "octo"


@dataclass
class Emulator:
    """The one server of a module, with an empty repository for each test."""

    url: str
    free: list[str]


@dataclass
class Shelf:
    """A source, and the way to put files there behind its back (paths below `ideas/`)."""

    source: ResearchSource
    put: Callable[[str, bytes], None]
    name: str


@pytest.fixture
def pauses() -> list[float]:
    """How long a source would have waited."""
    return []


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub(token=TOKEN) as hub:
        yield hub


@contextmanager
def folder_shelf(folder: Path) -> Iterator[Shelf]:
    def put(path: str, data: bytes) -> None:
        (folder / "ideas" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "ideas" / path).write_bytes(data)

    yield Shelf(source=LocalSource(folder / "ideas", state=folder / "state"), put=put, name="folder")


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    emulate.need_emulate()
    names = [f"research-{number}" for number in range(100)]
    with emulate.emulated(tmp_path_factory.mktemp("emulate"), OWNER, names) as url:
        yield Emulator(url=url, free=names)


@pytest.fixture
async def github(hub: Hub, pauses: list[float]) -> AsyncIterator[GitHubSource]:
    """A source over our own GitHub; it waits for nothing, and tells how long it would have."""

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with GitHubSource(REPOSITORY, token=TOKEN, base_url=hub.url, sleep=sleep) as source:
        yield source


@pytest.fixture(params=["folder", "github", "emulate"])
async def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shelf]:
    """Research in each of the three places."""
    if request.param == "folder":
        with folder_shelf(tmp_path) as shelf:
            yield shelf
    elif request.param == "github":
        with Hub(token=TOKEN) as hub:
            hub.put("README.md", b"# Research")
            async with GitHubSource(REPOSITORY, token=TOKEN, base_url=hub.url) as source:
                yield Shelf(source=source, put=lambda path, data: hub.put(f"ideas/{path}", data), name="github")
    else:
        emulator: Emulator = request.getfixturevalue("emulator")
        repository = f"{OWNER}/{emulator.free.pop()}"
        async with GitHubSource(repository, token=TOKEN, base_url=emulator.url) as source:
            yield Shelf(
                source=source,
                put=lambda path, data: emulate.put(emulator.url, repository, f"ideas/{path}", data),
                name="emulate",
            )
