"""Start the scripted server, and call its tools in a run with somebody to ask."""

import json
import sys
from pathlib import Path
from typing import Any

from toolroll import ToolResult
from toolroll.kernel.call.context import Run
from toolroll.mcp_client import MCPServer
from toolroll.testing import RecordingApprover, make_run

SCRIPT = Path(__file__).with_name("scripted_server.py")
LEGACY, MODERN = ERAS = ("2025-11-25", "2026-07-28")
PATIENT_S = 120
"""To connect: a busy machine takes its time, and that is no finding."""


def scripted(*behave: str, era: str = LEGACY, state: Path | None = None, name: str = "s", **options: Any) -> MCPServer:
    """The server, described and not started."""
    args = [str(SCRIPT), "--era", era, *(word for one in behave for word in ("--behave", one))]
    args += ["--state", str(state)] if state is not None else []
    options = {"connect_seconds": PATIENT_S, "call_seconds": PATIENT_S} | options
    return MCPServer(name, command=sys.executable, args=["-S", *args], **options)


async def call(server: MCPServer, tool: str, run: Run | None = None, /, **arguments: object) -> ToolResult:
    """Call a tool by the server's name for it; everything is approved unless a run says otherwise."""
    found = {one.name: one for one in server}[f"{server.spec.name}__{tool}"]
    run = run or make_run(approver=RecordingApprover())
    return await found.execute_raw(json.dumps(arguments), run.context())


def entries(state: Path) -> list[dict[str, Any]]:
    """What the server wrote down."""
    return [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []


def calls(state: Path) -> list[dict[str, Any]]:
    """The calls that reached the server."""
    return [one for one in entries(state) if "call" in one]
