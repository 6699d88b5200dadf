"""Run all checks of `check_tool`. This module is apart because it cannot be imported without the extra."""

from toolroll.kernel.define.tool import Tool
from toolroll.testing.arguments import check_arguments
from toolroll.testing.report import Finding, Outcome
from toolroll.testing.samples import NoSamples
from toolroll.testing.schema import check_schema
from toolroll.testing.stability import check_bytes
from toolroll.testing.strict import check_strict


def run_checks(tool: Tool, examples: int) -> list[Outcome]:
    """Return what each check found; arguments are only made up from a valid schema."""
    described = [check_schema(tool), check_bytes(tool)]
    if described[0].problems:
        return described
    try:
        return [*described, check_arguments(tool, examples), check_strict(tool, examples)]
    except NoSamples as error:
        text = f"no arguments can be made up from this schema ({error}), so none were tried."
        return [*described, Outcome(held="arguments: none tried", findings=(Finding(check="arguments", text=text),))]
