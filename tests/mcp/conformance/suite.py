"""Runs the official conformance suite, and writes its results: `python -m tests.mcp.conformance.suite`."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.applications import Starlette
from starlette.routing import Route
from tests.mcp.conformance.server import make_endpoint
from tests.mcp.server.site import serve

ROOT = Path(__file__).parents[3]
MODULES = ROOT / "build" / "npm" / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance"
NODE = MODULES / ".bin" / "node"
PAGE = ROOT / "docs" / "mcp-conformance.md"
REVISIONS = ("2026-07-28", "2025-11-25")
SECONDS = 120.0
_SECTION = re.compile(r"[a-z_]+:")
_STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one scenario; `reason` says why it is not required, if it is not."""

    scenario: str
    passed: int
    failed: int
    reason: str = ""


def read_requirements(revision: str, half: str = "server") -> tuple[list[str], dict[str, str]]:
    """The scenarios of a revision, as the suite has frozen them: the required ones, and why others are not."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (SUITE / "requirements" / f"{revision}.yaml").read_text().splitlines():
        if _SECTION.fullmatch(line):
            lines = sections[line.removesuffix(":")] = []
        elif line.startswith("  ") and sections:
            lines.append(line.strip())
    names = [line.partition(": ")[2] for line in sections["not_scored"] if line.startswith("- scenario: ")]
    reasons = [line.partition(": ")[2] for line in sections["not_scored"] if line.startswith("reason: ")]
    return [line.removeprefix("- ") for line in sections[half]], dict(zip(names, reasons, strict=True))


async def run_suite(revision: str, folder: Path) -> list[Outcome]:
    """Run all scenarios of a revision against our server."""
    endpoint = make_endpoint()
    async with serve(Starlette(routes=[Route("/mcp", endpoint)])) as url:
        command = [str(NODE), str(SUITE / "dist" / "index.js"), "server", "--url", f"{url}/mcp"]
        process = await asyncio.create_subprocess_exec(
            *command,
            *("--requirements", revision, "--output-dir", str(folder)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await asyncio.wait_for(process.wait(), SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
        await endpoint.aclose()
    return read_outcomes(revision, folder)


def read_outcomes(revision: str, folder: Path) -> list[Outcome]:
    """What the suite has stored, in the order of its list."""
    found: dict[str, tuple[int, int]] = {}
    for checks in folder.glob("*/checks.json"):
        states = [check["status"] for check in json.loads(checks.read_text())]
        name = _STAMP.sub("", checks.parent.name).removeprefix("server-")
        found[name] = (states.count("SUCCESS"), states.count("FAILURE"))
    wanted, extra = read_requirements(revision)
    return [
        Outcome(scenario=name, passed=found[name][0], failed=found[name][1], reason=extra.get(name, ""))
        for name in [*wanted, *extra]
        if name in found
    ]


def write_page(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """The page with the results."""
    version = json.loads((SUITE / "package.json").read_text())["version"]
    lines = [
        "# MCP conformance",
        "",
        f"Results of the official suite (`@modelcontextprotocol/conformance@{version}`) with the server of toolroll",
        "over HTTP. `make conformance` runs it and writes this page; `make test` runs it too, where Node is installed.",
        "",
        "The tools and resources that the suite calls are tools and documents of toolroll (`tests/mcp/conformance/`).",
        "What toolroll does not offer (prompts, completion, sampling, roots, logging, subscriptions, and questions",
        "other than its own approvals) is added to the same server with the means of the SDK.",
    ]
    for revision, found in outcomes.items():
        required = [one for one in found if not one.reason]
        passed = sum(not one.failed for one in required)
        lines += ["", f"## Revision {revision}: {passed} of {len(required)} required scenarios pass", ""]
        lines += format_table(found)
    return "\n".join(lines) + "\n"


def format_table(found: Sequence[Outcome]) -> list[str]:
    """The lines of a table, a scenario each."""
    lines = ["| scenario | checks passed | failed | |", "|---|---|---|---|"]
    return [*lines, *(f"| {one.scenario} | {one.passed} | {one.failed} | {_why(one)} |" for one in found)]


def _why(one: Outcome) -> str:
    return f"not required ({one.reason})" if one.reason else ("" if not one.failed else "**fails**")


async def main() -> None:
    """Run both revisions, and write the page."""
    outcomes = {}
    for revision in REVISIONS:
        with TemporaryDirectory() as folder:
            outcomes[revision] = await run_suite(revision, Path(folder))
    PAGE.write_text(write_page(outcomes))


if __name__ == "__main__":
    asyncio.run(main())
