"""The help of every command about profiles, as it was looked at, on wide and narrow terminals (S6)."""

import json
import os
from pathlib import Path

import pytest
from tests.cli.ghostpen.pen import NAMES, Pen
from tests.packs.writing.profiles.samples import fields, put

from toolroll.cli.ghostpen import commands

GOLDENS = Path(__file__).parents[2] / "goldens"
COMMANDS = [
    words
    for name in NAMES
    for words in ((name,), *((name, one) for one in getattr(commands, name).__dict__.get("commands", ())))
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_W32_the_help_is_the_one_that_was_looked_at(
    pen: Pen, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write it anew with WRITE_GOLDENS=1, and read the difference."""
    monkeypatch.setenv("COLUMNS", "80")
    told = pen.help(*command)
    page = GOLDENS / "help" / ("-".join(("ghostpen", *command)) + ".txt")
    if os.environ.get("WRITE_GOLDENS"):
        page.write_text(told)
    assert told == page.read_text()
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize(
    "command",
    [("profile", "list"), ("profile", "show"), ("profile", "export", "default"), ("stats",), ("feedback", "list")],
    ids=" ".join,
)
def test_W32_the_json_is_the_one_that_was_looked_at(pen: Pen, command: tuple[str, ...]) -> None:
    """Write it anew with WRITE_GOLDENS=1, and read the difference."""
    put(pen.data, fields())
    told = json.dumps(pen.json(*command), ensure_ascii=False, indent=2) + "\n"
    page = GOLDENS / "answers" / ("-".join(("ghostpen", *command)) + ".json")
    if os.environ.get("WRITE_GOLDENS"):
        page.write_text(told)
    assert told == page.read_text()
