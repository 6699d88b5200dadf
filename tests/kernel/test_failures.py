"""Tracebacks in the log: whole where they are needed, without secrets, and never endless."""

import logging

import pytest

from toolroll.kernel.call.context import Run
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.failures import MAX_TRACE_CHARACTERS, format_trace, log_failure
from toolroll.safe.secrets.redact import redact

KEY = "sk-ant-api03-" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lm" * 3
LOGGER = logging.getLogger("toolroll.tests.trace")


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


async def test_D6_a_secret_in_an_error_does_not_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    assert KEY not in redact(KEY)

    @tool
    def fail() -> str:
        """Fail."""
        raise ValueError(f"the server refused {KEY}")

    await fail.execute_raw("{}", Run().context())
    [record] = caplog.records
    assert KEY not in caplog.text
    assert record.exc_info is None
    assert "Traceback (most recent call last)" in record.getMessage()
    assert "ValueError: the server refused [redacted" in record.getMessage()


def test_D6_a_traceback_is_cut_to_its_end_and_can_be_encoded() -> None:
    text = format_trace(raised(ValueError("x" * 200_000 + "\ud800 the end")))
    assert len(text) == MAX_TRACE_CHARACTERS + 1
    assert text.startswith("…x")
    assert text.endswith("\ufffd the end")


def test_an_error_that_cannot_be_formatted_is_named() -> None:
    class Odd(SyntaxError):
        @property
        def filename(self) -> str:  # type: ignore[override]  # as foreign code does
            raise RuntimeError("no")

    assert format_trace(Odd("what")).endswith("Odd: what")


def test_nothing_is_formatted_for_a_log_that_nobody_keeps(caplog: pytest.LogCaptureFixture) -> None:
    LOGGER.setLevel(logging.CRITICAL)
    log_failure(LOGGER, raised(ValueError("x")), "%s failed", "it")
    assert caplog.records == []
    LOGGER.setLevel(logging.NOTSET)
    log_failure(LOGGER, raised(ValueError("x")), "%s failed", "it")
    assert caplog.messages[0].startswith("it failed\nTraceback")
