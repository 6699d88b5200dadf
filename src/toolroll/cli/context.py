"""What a model would be sent next of a recorded run, as a table or as JSON."""

from collections.abc import Iterator

from pydantic_core import to_jsonable_python

from toolroll.agent.context.report import ContextReport, recorded_context
from toolroll.cli.session import DONE, Session
from toolroll.journal.journal import Recording
from toolroll.safe.text import one_line

MAX_TOOL_CHARACTERS = 40


def show_context(session: Session, recording: Recording) -> int:
    """Write the report on the context of a run."""
    report = recorded_context(recording.run_id, [record for _, record in recording])
    if session.json:
        told = to_jsonable_python(report)
        session.write_json({"run_id": recording.run_id, "percent": report.percent, **told})
    else:
        session.tell("\n".join(report_lines(report)))
    return DONE


def report_lines(report: ContextReport) -> Iterator[str]:
    """The report for a reader."""
    yield f"{'kind':<10} {'tool':<24} {'count':>6} {'tokens':>9} {'window':>7}"
    for row in report.rows:
        tool = one_line(row.tool, MAX_TOOL_CHARACTERS)
        yield f"{row.kind:<10} {tool:<24} {row.count:>6} {row.tokens:>9,} {row.percent:>6.1f}%"
    basis = "by the provider's count" if report.is_measured else "estimated"
    compacted = f", compacted {report.compactions} times" if report.compactions else ""
    size = f"{report.tokens:,} of {report.window_tokens:,} tokens ({report.percent:.1f}%)"
    yield f"{size}, {basis}{compacted}"
