"""What `--json` of every command looks like, and the pages of its help, as they were looked at (S2, S6)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.cli.ends import ENDS, IN_LINES
from tests.support.scene import LEAVES, Scene, Words, commands, program_words

GOLDENS = Path(__file__).parents[1] / "goldens"
ERROR = {"error": {"code": "str", "message": "str"}}


def page_of(words: Words) -> str:
    """The name of a command's page, by its own program."""
    named = program_words(words)
    return "-".join(named if named[:1] == ("ghostpen",) else ("toolroll", *named))


def shape(value: Any) -> Any:
    """A value with types in place of what it holds; of a list each kind once."""
    match value:
        case dict():
            return {name: shape(one) for name, one in value.items()}
        case list():
            kinds = {json.dumps(shape(one)) for one in value}
            return [json.loads(kind) for kind in sorted(kinds)]
        case None:
            return "null"
        case _:
            return type(value).__name__


def shape_of_lines(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The same for events, by their names."""
    return {one["event"]: shape(one) for one in lines}


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_S2_the_json_is_the_one_that_was_looked_at(words: Words, scene: Scene) -> None:
    """Write it anew with WRITE_GOLDENS=1, and read the difference."""
    end = next((end for end in ENDS[words] if end.code == 0), ENDS[words][0])
    scene.has(*end.has.split())
    if end.first:
        scene.call(*scene.words(end.first), stdin=end.stdin)
    done = scene.call(*program_words(words), "--json", *scene.words(end.line), stdin=end.stdin)
    assert done.code == end.code, done
    told = shape_of_lines(done.lines) if words in IN_LINES else shape(done.lines[0])
    page = GOLDENS / "shapes" / f"{page_of(words)}.json"
    if os.environ.get("WRITE_GOLDENS"):
        page.write_text(json.dumps(told, indent=2) + "\n")
    assert told == json.loads(page.read_text())
    assert words in IN_LINES or len(done.lines) == 1
    if end.code:
        assert told == ERROR


def test_S6_every_command_has_a_page_and_every_page_a_command() -> None:
    named = {page_of(words) for words, _ in commands()}
    assert {path.stem for path in (GOLDENS / "help").glob("*.txt")} == named
    assert {path.stem for path in (GOLDENS / "shapes").glob("*.json")} == {page_of(words) for words in LEAVES}


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_S6_every_command_shows_how_it_is_called(words: Words) -> None:
    told = LEAVES[words].help or ""
    _, found, examples = told.partition("Example")
    assert found
    assert page_of(words).partition("-")[0] in examples
