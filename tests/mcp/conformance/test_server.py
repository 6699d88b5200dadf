"""The official conformance suite passes with our server (S32): all that each revision requires."""

from pathlib import Path

import pytest
from tests.mcp.conformance.suite import NODE, PAGE, REVISIONS, SUITE, read_requirements, run_suite, write_page

needs_suite = pytest.mark.skipif(
    not NODE.exists() or not SUITE.exists(), reason="needs node and the suite: make counterparts"
)


@needs_suite
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("revision", REVISIONS)
async def test_S32_the_server_passes_what_a_revision_requires(revision: str, tmp_path: Path) -> None:
    outcomes = await run_suite(revision, tmp_path)
    required = [one for one in outcomes if not one.reason]
    assert [one.scenario for one in required] == read_requirements(revision)[0]
    assert [one for one in required if one.failed or not one.passed] == []
    headline = next(line for line in write_page({revision: outcomes}).splitlines() if line.startswith("## "))
    assert headline in PAGE.read_text(), "make conformance writes the page anew"
