"""Tools whose calls are answered from outside, without an agent around them (A45)."""

from typing import Annotated

import pytest

from toolroll import Depends, define_tool, tool
from toolroll.errors import ArgumentsRefused, DefinitionError, ToolFailure, UsageError
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.labels import UNTRUSTED
from toolroll.kernel.define.deferred import WAITING, as_deferred

PAPER = {"type": "object", "properties": {"paper": {"type": "string"}}, "required": ["paper"]}


@tool(deferred=True)
def sign(paper: str) -> bool:
    """Let the customer sign a paper."""
    raise AssertionError(paper)


async def receive(delivered: object, text: str = '{"paper": "lease"}') -> tuple[ToolResult, Run]:
    """Call the tool in a run to which this is delivered."""

    async def deliver(call_id: str, arguments: object, why: str) -> object:
        assert (call_id, arguments, why) == ("c1", {"paper": "lease"}, "Let the customer sign a paper.")
        return delivered

    run = Run()
    run.receive = deliver
    return await sign.execute_raw(text, ToolContext(run=run, call_id="c1")), run


async def test_A45_what_is_delivered_is_checked_and_untrusted() -> None:
    result, run = await receive("yes")
    assert (result.is_error, result.text) == (False, "true")
    assert run.labels >= UNTRUSTED


async def test_A45_a_failure_can_be_delivered_too() -> None:
    result, _ = await receive(ToolFailure("The customer is away.", code="away"))
    assert (result.is_error, result.code) == (True, "away")


async def test_A45_a_call_that_waits_has_nothing_to_say_and_no_label() -> None:
    result, run = await receive(WAITING)
    assert (result.text, run.labels) == ("", frozenset())


async def test_A45_where_nothing_can_wait_the_call_fails() -> None:
    result = await sign.execute_raw('{"paper": "lease"}', ToolContext(run=Run(), call_id="c1"))
    assert result.code == "no_result"


def test_A45_a_result_of_a_wrong_type_is_refused_with_its_place() -> None:
    deferred = as_deferred(define_tool(name="read", description="Read.", input=PAPER, deferred=True, result=list[int]))
    assert deferred is not None
    with pytest.raises(ArgumentsRefused, match=r"read does not fit its type: 1: Input should be a valid integer"):
        deferred.check_result([1, "x"])
    ready = ToolResult.of_text("as it is")
    assert deferred.check_result(ready) is ready
    free = as_deferred(define_tool(name="read", description="Read.", input=PAPER, deferred=True))
    assert free is not None
    assert free.check_result(("anything",)) == ("anything",)


def test_A45_what_never_runs_takes_nothing_injected_and_cannot_be_called() -> None:
    with pytest.raises(DefinitionError, match="nothing can be injected"):

        @tool(deferred=True)
        def file(paper: str, folder: Annotated[str, Depends(str)]) -> str:
            """File a paper."""
            return paper + folder

    with pytest.raises(DefinitionError, match="its result cannot be checked"):
        define_tool(
            name="read", description="Read.", input=PAPER, deferred=True, result=object().__class__.__subclasses__
        )
    made = as_deferred(define_tool(name="read", description="Read.", input=PAPER, deferred=True))
    assert made is not None
    with pytest.raises(UsageError, match="answered from outside"):
        made(paper="lease")
    assert as_deferred(object()) is None
