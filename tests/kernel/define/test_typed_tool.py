"""A decorated function keeps its types for type checkers, and its nature for `inspect`."""

import functools
import inspect
from typing import assert_type

import pytest
from pydantic import BaseModel

from toolroll import Tool, ToolContext, define_tool, tool
from toolroll.errors import DefinitionError
from toolroll.kernel.define.wrappers import labelled, renamed, with_approval, with_timeout


@tool
def add(left: int, right: int = 1) -> int:
    """Add."""
    return left + right


@tool(timeout=5)
async def shout(text: str) -> str:
    """Shout."""
    return text.upper()


class Word(BaseModel):
    text: str


async def spell(word: Word, ctx: ToolContext) -> list[str]:
    return [*word.text]


async def test_A49_the_signature_stays_for_type_checkers() -> None:
    assert_type(add(1, right=2), int)
    assert_type(await shout("x"), str)
    both = [add, shout]  # a list of several tools is a list of tools
    assert [one.name for one in both] == ["add", "shout"]
    assert add(1, right=2) == 3
    assert await shout("x") == "X"


def test_A49_a_wrong_call_of_a_tool_is_an_error_to_type_checkers() -> None:
    with pytest.raises(TypeError):
        add("1")  # type: ignore[arg-type]  # mypy says so, and would complain if there were nothing to ignore


def test_A49_async_tools_are_recognized_and_sync_ones_are_not() -> None:
    class Finder:
        async def __call__(self, text: str) -> str:
            """Find."""
            return text

    made: list[Tool] = [
        shout,
        define_tool(name="spell", description="Spell.", input=Word, execute=spell),
        tool(name="find")(Finder()),
        tool(name="part")(functools.partial(shout.__wrapped__, text="x")),  # type: ignore[attr-defined]  # set by functools
    ]
    for one in made:
        for form in (one, renamed(one, "other"), with_approval(one), labelled(one, "private"), with_timeout(one, 3)):
            assert inspect.iscoroutinefunction(form), one.name
    assert not inspect.iscoroutinefunction(add)
    assert not inspect.iscoroutinefunction(with_timeout(add, 3))
    assert list(inspect.signature(shout).parameters) == ["text"]


def test_A49_a_description_is_given_first_or_by_name() -> None:
    @tool(description="Subtract.")
    def subtract(left: int) -> int:
        """Not this."""
        return left

    assert subtract.description == "Subtract."
    with pytest.raises(DefinitionError, match="one description"):
        tool("One.", description="Another.")
    with pytest.raises(DefinitionError, match="what this tool does"):
        tool(name="empty", description=" ")(lambda: "")


def test_A49_a_python_with_a_mark_for_async_objects_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    marked: list[object] = []
    monkeypatch.setattr(inspect, "markcoroutinefunction", marked.append, raising=False)
    made = tool(shout.__wrapped__)  # type: ignore[attr-defined]  # set by functools
    assert [made] == marked
