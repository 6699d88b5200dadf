"""XD10: a tool with records of its own says what became of a call that was cut off."""

import pytest
from pydantic import BaseModel

from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import CallOutcome
from toolroll.kernel.define.decorator import define_tool, tool
from toolroll.kernel.define.tool import Tool


class Empty(BaseModel):
    pass


def made(outcome: object) -> Tool:
    async def find(_ctx: ToolContext) -> CallOutcome | None:
        return outcome  # type: ignore[return-value]  # one of them is wrong on purpose

    return define_tool(
        name="t",
        description="Do.",
        input=Empty,
        execute=lambda _given, _ctx: "done",
        outcome=find,
    )


async def test_XD10_a_tool_without_records_knows_nothing() -> None:
    @tool
    def plain() -> str:
        """Do."""
        return ""

    assert await plain.find_outcome(ToolContext()) is None
    assert await Tool.find_outcome(plain, ToolContext()) is None, "so does one that somebody wrote without @tool"


async def test_XD10_an_outcome_is_what_the_tool_says() -> None:
    done = CallOutcome(state="done", text="It is there.")
    assert await made(done).find_outcome(ToolContext()) == done
    assert await made(None).find_outcome(ToolContext()) is None


async def test_XD10_anything_else_is_a_mistake_of_the_tool() -> None:
    with pytest.raises(TypeError, match="it returned str, not a CallOutcome"):
        await made("done").find_outcome(ToolContext())
