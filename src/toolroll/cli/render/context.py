"""What a model would be sent next of a recorded run, as a table or as JSON."""

from collections.abc import Iterator
from typing import Final

from pydantic_core import to_jsonable_python

from toolroll.agent.context.report import ContextReport, recorded_context
from toolroll.cli.render.prose import terminal_columns
from toolroll.cli.session import DONE, Session
from toolroll.journal.journal import Recording
from toolroll.safe.text import one_line

MAX_TOOL_CHARACTERS: Final = 40
TABLE_COLUMNS: Final = 61
_FIGURES_COLUMNS: Final = 23
"""What stands beside the name on a narrow screen."""


def show_context(session: Session, recording: Recording) -> int:
    """Write the report on the context of a run."""
    report = recorded_context(recording.run_id, [record for _, record in recording.before_damage()])
    if session.json:
        told = to_jsonable_python(report)
        session.write_json({"run_id": recording.run_id, "percent": report.percent, **told})
    else:
        columns = terminal_columns(session.out) or TABLE_COLUMNS
        session.show("\n".join(context_lines(report, columns)))
    return DONE


def context_lines(report: ContextReport, columns: int = TABLE_COLUMNS) -> Iterator[str]:
    """Yield the report for a reader; on a narrow screen, a name for each row instead of the table."""
    yield from _table(report) if columns >= TABLE_COLUMNS else _narrow(report, columns)
    basis = "by the provider's count" if report.is_measured else "estimated"
    compacted = f", compacted {report.compactions} times" if report.compactions else ""
    size = f"{report.tokens:,} of {report.window_tokens:,} tokens ({report.percent:.1f}%)"
    yield f"{size}, {basis}{compacted}"


def _table(report: ContextReport) -> Iterator[str]:
    yield f"{'kind':<10} {'tool':<24} {'count':>6} {'tokens':>9} {'window':>7}"
    for row in report.rows:
        tool = one_line(row.tool, MAX_TOOL_CHARACTERS)
        yield f"{row.kind:<10} {tool:<24} {row.count:>6} {row.tokens:>9,} {row.percent:>6.1f}%"


def _narrow(report: ContextReport, columns: int) -> Iterator[str]:
    room = max(columns - _FIGURES_COLUMNS, 1)
    yield f"{one_line('kind, tool', room):<{room}}{'count':>6}{'tokens':>9}{'window':>7}"
    for row in report.rows:
        name = one_line(f"{row.kind} {row.tool}".strip(), room)
        yield f"{name:<{room}}{row.count:>6}{row.tokens:>9,}{row.percent:>6.1f}%"
