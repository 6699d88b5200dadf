"""Run all checks of a tool that are possible without running it: `check_tool`."""

from itertools import chain

from toolroll.kernel.define.tool import Tool
from toolroll.testing.report import Finding, Outcome, ToolCheck, failure_text, require_extra


def check_tool(tool: Tool, *, examples: int = 100) -> ToolCheck:
    """Check what a tool says about its arguments against what it takes; `AssertionError` lists all that is broken.

    The schema is valid and closed, its bytes are stable, its strict forms are valid and mean the same, and `examples`
    arguments made up from it are taken. The tool itself is not run. Needs the extra: `pip install 'toolroll[testing]'`.
    """
    require_extra()
    outcomes = _run_checks(tool, examples)
    problems = tuple(chain.from_iterable(outcome.problems for outcome in outcomes))
    findings = tuple(chain.from_iterable(outcome.findings for outcome in outcomes))
    if problems:
        raise AssertionError(failure_text(tool.name, problems, findings))
    return ToolCheck(tool=tool.name, held=tuple(outcome.held for outcome in outcomes), findings=findings)


def _run_checks(tool: Tool, examples: int) -> list[Outcome]:
    from toolroll.testing.schema import check_schema  # noqa: PLC0415 - as above
    from toolroll.testing.stability import check_bytes  # noqa: PLC0415 - these need the extra

    described = [check_schema(tool), check_bytes(tool)]
    if described[0].problems:  # nothing can be made up from a schema that is none
        return described
    return described + _check_calls(tool, examples)


def _check_calls(tool: Tool, examples: int) -> list[Outcome]:
    from toolroll.testing.arguments import check_arguments  # noqa: PLC0415 - as above
    from toolroll.testing.samples import NoSamples  # noqa: PLC0415 - as above
    from toolroll.testing.strict import check_strict  # noqa: PLC0415 - as above

    try:
        return [check_arguments(tool, examples), check_strict(tool, examples)]
    except NoSamples as error:
        text = f"no arguments can be made up from this schema ({error}), so none were tried."
        return [Outcome(held="arguments: none tried", findings=(Finding(check="arguments", text=text),))]
