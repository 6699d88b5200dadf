"""A dependency that fails after its tool has answered: the answer is told, and that nothing is sure (K20)."""

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from tests.kernel.stand_ins import Person

from toolroll import DependencyKey, Depends, Preview, Run, TextPart, ToolContext, ToolFailure, ToolResult, tool


class Answers:
    """Things that a tool can answer with while its dependency does not close."""

    def __init__(self, answer: object, error: BaseException | None = None) -> None:
        def get_db() -> Iterator[str]:
            yield "db"
            raise error or OSError("disk full")

        @tool(effect="writes")
        def put(db: Annotated[str, Depends(get_db)]) -> object:
            """Put it there."""
            return answer

        self.put = put

    async def result(self) -> ToolResult:
        return await self.put.execute_raw("{}", Run(approver=Person()).context())


async def test_K20_parts_are_told_after_a_note_that_cleaning_up_failed() -> None:
    result = await Answers([TextPart(text="stored")]).result()
    assert isinstance(result.content, tuple)
    head, answer = result.content
    assert (answer, result.code) == (TextPart(text="stored"), "cleanup_failed")
    assert isinstance(head, TextPart)
    assert "cleaning up after it failed: disk full." in head.text


async def test_K20_a_failure_that_a_tool_returns_goes_before_one_of_cleaning_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = await Answers({"ok": False, "why": "no"}).result()
    assert (result.text, result.code) == ('{"ok":false,"why":"no"}', "tool_failed")
    assert "OSError: disk full" in caplog.text


async def test_K20_K34_a_provider_may_say_itself_what_the_model_reads_of_its_end() -> None:
    result = await Answers("stored", ToolFailure("It was not stored. Call again.", code="not_stored")).result()
    assert (result.text, result.code) == ("It was not stored. Call again.", "not_stored")


async def test_K20_an_answer_that_cannot_be_written_down_is_one_also_without_cleaning_up() -> None:
    class Trap(dict[str, object]):
        def items(self) -> Any:
            raise ValueError("trap")

    result = await Answers(Trap(a=1)).result()
    assert (result.text, result.code) == ("Error executing tool: trap", "tool_error")


async def test_K20_of_a_group_of_one_error_the_one_is_told() -> None:
    result = await Answers("stored", ExceptionGroup("g", [KeyError("k")])).result()
    assert "cleaning up after it failed: KeyError: 'k'. " in result.text


async def test_K20_K41_a_preview_whose_cleaning_up_fails_is_not_shown() -> None:
    def get_db() -> Iterator[str]:
        yield "db"
        raise OSError("disk full")

    key = DependencyKey[str]("db", get_db)

    async def preview(_arguments: object, ctx: ToolContext, _edited: str | None) -> Preview:
        return Preview.of_text(await ctx.resolve(key))

    @tool(effect="writes", preview=preview)
    async def put() -> str:
        """Put it there."""
        return "stored"

    person = Person()
    result = await put.execute_raw("{}", Run(approver=person).context())
    assert (result.text, person.asked) == ("Error executing tool: its preview failed: disk full", [])
