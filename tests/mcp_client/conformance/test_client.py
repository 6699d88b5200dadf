"""The official conformance suite passes with our client (S32): all that each revision requires."""

import logging
from pathlib import Path

import pytest
from tests.mcp.conformance.suite import NODE, PAGE, REVISIONS, SUITE, read_requirements
from tests.mcp_client.conformance.suite import run_client_suite, write_section

needs_suite = pytest.mark.skipif(
    not NODE.exists() or not SUITE.exists(), reason="needs node and the suite: make counterparts"
)


@needs_suite
@pytest.mark.parametrize("revision", REVISIONS)
async def test_S32_the_client_passes_what_a_revision_requires(
    revision: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    outcomes = await run_client_suite(revision, tmp_path)
    required = [one for one in outcomes if not one.reason]
    assert [one.scenario for one in required] == read_requirements(revision, "client")[0]
    assert [one for one in required if one.failed or not one.passed] == []
    headline = next(line for line in write_section({revision: outcomes}).splitlines() if line.startswith("### "))
    assert headline in PAGE.read_text(), "make conformance writes the page anew"
