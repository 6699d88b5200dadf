"""Runs the client's half of the official conformance suite with our client, and adds the results to the page.

`make conformance` runs `python -m tests.mcp_client.conformance.suite` after the server's half, which writes the page.
"""

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mcp.conformance.suite import NODE, PAGE, REVISIONS, SUITE, Outcome, format_table, read_requirements
from tests.mcp_client.conformance.client import play

SECONDS = 300.0
RELAY = Path(__file__).with_name("relay.py")
HEADING = "## The client"
_STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


async def run_client_suite(revision: str, folder: Path) -> list[Outcome]:
    """Run all scenarios of a revision; what fails on a busy machine is tried once more, alone."""
    place = folder / "link"
    async with await asyncio.start_unix_server(_serve, str(place), limit=1_048_576):
        await _run(place, folder / "all", "--requirements", revision)
        outcomes = {one.scenario: one for one in read_client_outcomes(revision, folder / "all")}
        for name in [one.scenario for one in outcomes.values() if (one.failed or not one.passed) and not one.reason]:
            await _run(place, folder / "again", "--scenario", name, "--spec-version", revision)
        if (folder / "again").exists():
            outcomes |= {one.scenario: one for one in read_client_outcomes(revision, folder / "again")}
    return list(outcomes.values())


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    asked = json.loads(await reader.readline())
    try:
        await play(asked["scenario"], asked["url"], json.loads(asked["context"]))
    except Exception as error:
        writer.write(f"{type(error).__name__}: {error}\n".encode())
    writer.close()


async def _run(place: Path, folder: Path, *options: str) -> None:
    command = f"{sys.executable} -S -E {RELAY} {place}"
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(SUITE / "dist" / "index.js"), "client", "--command", command),
        *(*options, "--output-dir", str(folder)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await asyncio.wait_for(process.wait(), SECONDS)
    finally:
        if process.returncode is None:
            process.kill()


def read_client_outcomes(revision: str, folder: Path) -> list[Outcome]:
    """What the suite has stored, in the order of its list."""
    found: dict[str, tuple[int, int]] = {}
    for checks in sorted(folder.rglob("checks.json")):
        states = [check["status"] for check in json.loads(checks.read_text())]
        name = _STAMP.sub("", str(checks.parent.relative_to(folder)))
        found[name] = (states.count("SUCCESS"), states.count("FAILURE"))
    wanted, extra = read_requirements(revision, "client")
    return [
        Outcome(scenario=name, passed=found[name][0], failed=found[name][1], reason=extra.get(name, ""))
        for name in [*wanted, *extra]
        if name in found
    ]


def write_section(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """The part of the page about the client."""
    lines = [
        HEADING,
        "",
        "The same suite with `MCPServer`, the client of toolroll, in an agent whose person says yes to everything. The",
        "extensions of OAuth that are not required (client credentials, DPoP, workload identity) are not built.",
    ]
    for revision, found in outcomes.items():
        required = [one for one in found if not one.reason]
        passed = sum(not one.failed for one in required)
        lines += ["", f"### Client, revision {revision}: {passed} of {len(required)} required scenarios pass", ""]
        lines += format_table(found)
    return "\n".join(lines) + "\n"


async def main() -> None:
    """Run both revisions, and write the part of the page."""
    outcomes = {}
    for revision in REVISIONS:
        with TemporaryDirectory() as folder:
            outcomes[revision] = await run_client_suite(revision, Path(folder))
    before = PAGE.read_text().partition(HEADING)[0].rstrip("\n")
    PAGE.write_text(f"{before}\n\n{write_section(outcomes)}")


if __name__ == "__main__":
    asyncio.run(main())
