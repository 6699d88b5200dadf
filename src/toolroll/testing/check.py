"""Check a tool without running it: `check_tool`, which works only with the extra."""

from itertools import chain

from toolroll.kernel.define.tool import Tool
from toolroll.testing.report import ToolCheck, failure_text, require_extra


def check_tool(tool: Tool, *, examples: int = 100) -> ToolCheck:
    """Check what a tool says about its arguments against what it takes; `AssertionError` lists all that is broken.

    The schema is valid and closed, its bytes are stable, its strict forms are valid and mean the same, and `examples`
    arguments made up from it are taken. The tool itself is not run. Needs the extra: `pip install 'toolroll[testing]'`.
    """
    require_extra()
    from toolroll.testing.suite import run_checks  # noqa: PLC0415 - its imports need the extra

    outcomes = run_checks(tool, examples)
    problems = tuple(chain.from_iterable(outcome.problems for outcome in outcomes))
    findings = tuple(chain.from_iterable(outcome.findings for outcome in outcomes))
    if problems:
        raise AssertionError(failure_text(tool.name, problems, findings))
    return ToolCheck(tool=tool.name, held=tuple(outcome.held for outcome in outcomes), findings=findings)
