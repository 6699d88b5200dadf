"""What every test stands on: an empty home, none of the settings of the person who runs it, strace."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from tests.support import postgres

# A loaded machine is no finding: hypothesis' clock judges the example, not the code. In CI the examples are the same
# each time, so that a change is judged by what it changes; everywhere else they are new, and find new things.
settings.register_profile(
    "toolroll",
    database=None,
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("toolroll")

SERVICES = ("ANTHROPIC_", "BRAVE_", "GITHUB_", "NOTION_", "OPENAI_", "SEARXNG_", "TAVILY_")
FOREIGN_SETTINGS = ("TOOLROLL_", "XDG_", *SERVICES)
# Servers and databases for the tests that ask for them.
cluster, database_url, databases = postgres.cluster, postgres.database_url, postgres.databases

OURS = {"TOOLROLL_PICTURES", "TOOLROLL_ROUNDS", "TOOLROLL_TEST_DATABASE_URL"}


MEMORY = Path("/dev/shm")
"""A folder in memory on Linux: what the tests write and sync costs nothing there."""
MEMORY_BYTES = 2_000_000_000
"""What must be free there, and is not in many containers: 64 MB is usual."""


def pytest_configure() -> None:
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_BYTES:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # look for it again
    # Modules and tests live until the end: to look for garbage among them takes half of the time to collect them.
    gc.disable()
    # What a shell without job control starts in the background ignores SIGINT, after nohup SIGHUP, and so do children.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home folder with nothing in it; tests neither read nor change the real one."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - OURS:
            if name.startswith(FOREIGN_SETTINGS):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        yield home


@cache
def strace_works() -> bool:
    """Whether strace is there and may trace: containers often forbid it."""
    program = shutil.which("strace")
    if program is None:
        return False
    return subprocess.run([program, "-o", os.devnull, "true"], check=False, capture_output=True).returncode == 0


def is_measured(item: pytest.Item) -> bool:
    """Return whether coverage counts what a test runs: only where its room is measured, and no test that runs for long.

    Measuring makes Python half as slow again, and a program that a test starts 150 ms slower: more than most take.
    """
    if item.get_closest_marker("unmeasured"):
        return False
    sources = item.config.getoption("cov_source", None) or [True]
    room = item.path.relative_to(Path(__file__).parent).parts[0]
    return True in sources or room in {Path(source).name for source in sources}


@cache
def tracer() -> object:
    """Return what measures coverage in this process, as it is when the first test begins."""
    return sys.gettrace()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    measured, measure = is_measured(item), cast("Any", tracer())
    # Set for each test: Python switches a tracer off that fails, as at the limit of recursion.
    sys.settrace(measure if measured else None)
    with pytest.MonkeyPatch.context() as patch:
        if not measured or item.get_closest_marker("strace"):  # measuring has system calls of its own
            patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        try:
            return (yield)
        finally:
            sys.settrace(measure)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("strace") and not strace_works():
        pytest.skip("needs strace, and the right to use it")
