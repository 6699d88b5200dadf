"""What every test stands on: an empty home, none of the settings of the person who runs it, strace."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
OURS = {"TOOLROLL_ROUNDS"}


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


@pytest.fixture(autouse=True)
def traced_without_coverage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measuring coverage in a traced program would add system calls of its own, and 150 ms a start."""
    if request.node.get_closest_marker("strace"):
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("strace") and not strace_works():
        pytest.skip("needs strace, and the right to use it")
