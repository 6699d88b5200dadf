"""The help of `ghostpen`: as it was looked at, and loaded quickly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.ghostpen.author import Desk

PAGES = Path(__file__).parents[2] / "goldens" / "help"


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("write",),
        ("serve",),
        ("completion",),
        ("posts",),
        *(("posts", one) for one in ("list", "show", "copy", "open")),
    ],
    ids=lambda command: " ".join(command) or "ghostpen",
)
def test_S6_W30_the_help_is_the_one_that_was_looked_at(
    desk: Desk, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write it anew with WRITE_GOLDENS=1, and read the difference."""
    monkeypatch.setenv("COLUMNS", "80")
    told = desk.run(*command, "--help")
    page = PAGES / ("-".join(("ghostpen", *command)) + ".txt")
    if os.environ.get("WRITE_GOLDENS"):
        page.write_text(told.out)
    assert (told.code, told.out) == (0, page.read_text())
    assert max(map(len, told.out.splitlines())) <= 80


def test_S6_W30_the_help_loads_no_pydantic() -> None:
    code = (
        "import sys, toolroll.cli.ghostpen.main, toolroll.cli.ghostpen.write; "
        "print(sorted({'pydantic', 'asyncio', 'rich', 'prompt_toolkit'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
