"""Check that a tool takes what its schema says, and that arguments survive being written and read again."""

from dataclasses import dataclass
from typing import Final, get_args

from pydantic import ValidationError
from pydantic_core.core_schema import ErrorType

from toolroll.errors import ArgumentsRefused
from toolroll.kernel.call.execute import admit
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool
from toolroll.testing.report import Finding, Outcome
from toolroll.testing.run import make_run
from toolroll.testing.samples import Counterexample, ShortestFinding, check_samples

_BUILT_IN: Final = frozenset(get_args(ErrorType))
# Raised by validators written in Python, or about what follows from `format`, which JSON Schema only mentions.
_BEYOND_SCHEMA: Final = (
    *("value_error", "assertion_error", "bytes_invalid_encoding", "finite_number", "string_not_ascii"),
    *("date_", "datetime_", "decimal_", "json_", "time_", "timezone_", "url_", "uuid_"),
)
_WHY: Final = "An approval is bound to what is written, so that has to say everything."


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedArguments:
    """Arguments that the tool does not take, why, and whether no schema could have said so."""

    text: str
    is_beyond_schema: bool


def validate_arguments(tool: Tool, raw: str) -> object | RefusedArguments:
    """Validate arguments through the executor, without running the tool."""
    admitted = admit(tool, raw, make_run(approver=None).context())
    if isinstance(admitted, ToolResult):
        beyond = admitted.code == ArgumentsRefused.code and _is_beyond_schema(tool, raw)
        return RefusedArguments(text=_one_line(admitted.text), is_beyond_schema=beyond)
    return admitted.arguments


def _one_line(text: str) -> str:
    heading, *faults = text.splitlines()
    return "; ".join(fault.removeprefix("- ") for fault in faults) or heading


def _is_beyond_schema(tool: Tool, raw: str) -> bool:
    try:
        tool.validate(raw)
    except ArgumentsRefused as error:
        cause = error.__context__
        # A wrapper that refuses by itself is Python code too.
        kinds = [detail["type"] for detail in cause.errors()] if isinstance(cause, ValidationError) else ["value_error"]
        return any(kind not in _BUILT_IN or kind.startswith(_BEYOND_SCHEMA) for kind in kinds)
    return False


def check_arguments(tool: Tool, count: int) -> Outcome:
    """Check that the tool takes made-up arguments that fit its schema, also when they are written and read again."""
    looking = _ArgumentCheck(tool)
    problem = check_samples(tool.parameters, count, looking.look)
    return Outcome(
        held=f"arguments: {looking.taken} of {looking.seen} made up from the schema are taken, also when written again",
        findings=looking.stricter.findings,
        problems=(problem,) if problem else (),
    )


class _ArgumentCheck:
    def __init__(self, tool: Tool) -> None:
        self.seen = 0
        self.taken = 0
        self.stricter = ShortestFinding()
        self._tool = tool

    def look(self, raw: str) -> None:
        self.seen += 1
        first = validate_arguments(self._tool, raw)
        if isinstance(first, RefusedArguments):
            self._add_refusal(raw, first)
        else:
            self._look_again(raw, first)
            self.taken += 1

    def _add_refusal(self, raw: str, refusal: RefusedArguments) -> None:
        if not refusal.is_beyond_schema:
            raise Counterexample(_finding(f"what fits the schema is refused: {refusal.text}", raw))
        self.stricter.offer(_finding(f"the code is stricter than the schema can say: {refusal.text}", raw))

    def _look_again(self, raw: str, first: object) -> None:
        written = dump_json(first)
        again = validate_arguments(self._tool, written)
        if isinstance(again, RefusedArguments):
            raise Counterexample(_finding(f"taken, but not when written again as {written}: {again.text}", raw))
        if again != first:
            raise Counterexample(
                _finding(f"taken, but when written again as {written} it means something else. {_WHY}", raw)
            )


def _finding(text: str, raw: str) -> Finding:
    return Finding(check="arguments", text=text, example=raw)
