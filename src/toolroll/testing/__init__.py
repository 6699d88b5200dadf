"""Test your own tools: call them in runs that leave nothing to chance, and check them with `check_tool`."""

from toolroll.testing.check import check_tool
from toolroll.testing.report import Finding, ToolCheck
from toolroll.testing.run import (
    LedgerRow,
    RecordedRun,
    RecordingApprover,
    RecordingLedger,
    call,
    call_tool,
    counting_ids,
    fixed_clock,
    make_run,
    recorded_events,
)

__all__ = [
    "Finding",
    "LedgerRow",
    "RecordedRun",
    "RecordingApprover",
    "RecordingLedger",
    "ToolCheck",
    "call",
    "call_tool",
    "check_tool",
    "counting_ids",
    "fixed_clock",
    "make_run",
    "recorded_events",
]
