"""What MCP costs: starting to serve and one call, beside a minimal server made with the SDK alone.

    python benchmarks/mcp_server.py [--rounds 40] [--calls 20]

Both servers offer one tool that adds two numbers, as an async function: a sync one runs in a thread here. Everything
is measured in one run, in turns: from the start of the process to the answer to `initialize` over stdio, and calls one
after another in process, over stdio and over HTTP, with the SDK's client in both eras. Ours checks arguments, rules and
permits, and with a journal records each call.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

import mcp_types as types
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Route

from mcp import Client, StdioServerParameters

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.fakes.mcp_minimal import minimal_server

ME = str(Path(__file__).resolve())
MINIMAL = str(Path(__file__).resolve().parent / "fakes" / "mcp_minimal.py")
START_AT_MOST = 3.0
CALL_AT_MOST = 1.5
STARTS = 7
ERAS = {"2025-11-25": "legacy", "2026-07-28": "auto"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
TOOL_FILE = (
    'from toolroll import tool\n\n\n@tool\nasync def add(a: int, b: int) -> int:\n    """Add."""\n    return a + b\n'
)


def our_server(folder: Path | None = None) -> Any:
    """Ours, with the same tool; with a folder, with a journal and outputs in it."""
    from toolroll import tool
    from toolroll.journal.sqlite import SqliteJournal
    from toolroll.mcp.server.server import ToolServer

    @tool
    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    journal = None if folder is None else SqliteJournal(folder / "runs.db")
    return ToolServer([add], journal=journal, outputs=None if folder is None else folder / "outputs")


def time_start(command: list[str], env: dict[str, str]) -> float:
    """Milliseconds of CPU from the start of a process to its answer to `initialize`."""
    before = os.times()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.kill()  # what it would do at its end does not count
    process.communicate()
    after = os.times()
    return (after.children_user + after.children_system - before.children_user - before.children_system) * 1_000


async def time_calls(client: Client, calls: int) -> float:
    """Microseconds of one call."""
    for _ in range(5):
        result = await client.call_tool("add", {"a": 1, "b": 2})
        assert isinstance(result.content[0], types.TextContent)
        assert result.content[0].text == "3"
    begun = time.perf_counter()
    for _ in range(calls):
        await client.call_tool("add", {"a": 1, "b": 2})
    return (time.perf_counter() - begun) / calls * 1e6


@asynccontextmanager
async def http_site(app: Any) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, http="h11", log_level="error"))
    task = asyncio.ensure_future(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await task


async def measure_calls(
    rounds: int, calls: int, folder: Path, env: dict[str, str]
) -> dict[str, dict[str, list[float]]]:
    """Times by place and contestant; contestants take turns."""
    from toolroll.mcp.server.http import HttpEndpoint

    found: dict[str, dict[str, list[float]]] = {}
    async with AsyncExitStack() as stack:
        minimal_app = minimal_server().streamable_http_app()
        plain, recorded = HttpEndpoint(our_server()), HttpEndpoint(our_server(folder / "http"))
        urls = {"the SDK alone": await stack.enter_async_context(http_site(minimal_app))}
        for name, endpoint in (("ours", plain), ("ours, recorded", recorded)):
            stack.push_async_callback(endpoint.aclose)
            urls[name] = await stack.enter_async_context(http_site(Starlette(routes=[Route("/mcp", endpoint)])))
        commands = {
            "the SDK alone": [sys.executable, MINIMAL],
            "ours": [sys.executable, ME, "--serve", "ours"],
            "ours, recorded": [sys.executable, ME, "--serve", str(folder / "stdio")],
        }
        servers: dict[str, Callable[[], Any]] = {
            "the SDK alone": minimal_server,
            "ours": lambda: our_server().protocol,
            "ours, recorded": lambda: our_server(folder / "memory").protocol,
        }
        connections: dict[str, Callable[[str], Any]] = {
            "in process": lambda name: servers[name](),
            "stdio": lambda name: StdioServerParameters(command=commands[name][0], args=commands[name][1:], env=env),
            "HTTP": lambda name: streamable_http_client(urls[name]),
        }
        for place, connect in connections.items():
            for era, mode in ERAS.items():
                times = found[f"{place}, {era}"] = {name: [] for name in commands}
                async with AsyncExitStack() as clients:
                    made = {
                        name: await clients.enter_async_context(Client(connect(name), mode=mode)) for name in commands
                    }
                    for _ in range(rounds):
                        for name, client in made.items():
                            times[name].append(await time_calls(client, calls))
    return found


def report(starts: dict[str, list[float]], calls: dict[str, dict[str, list[float]]]) -> str:
    base = median(starts["the SDK alone"])
    lines = ["Start to the answer to `initialize` over stdio, CPU time:", "", "| server | ms | times the SDK alone |"]
    lines.append("|---|---|---|")
    lines += [f"| {name} | {median(found):.0f} | {median(found) / base:.2f} |" for name, found in starts.items()]
    lines += ["", "One call, wall time in µs, the best round of each; in brackets times the SDK alone:", ""]
    lines += ["| | the SDK alone | ours | ours, recorded |", "|---|---|---|---|"]
    for place, times in calls.items():
        floor = min(times["the SDK alone"])
        cells = [f"{min(times[name]):,.0f} ({min(times[name]) / floor:.2f})" for name in ("ours", "ours, recorded")]
        lines.append(f"| {place} | {floor:,.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--serve", help="serve over stdio: ours, or a folder for the record")
    given = parser.parse_args()
    if given.serve:
        asyncio.run(_serve(given.serve))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "add.py").write_text(TOOL_FILE)
        env = {**os.environ, "TOOLROLL_HOME": str(folder / "home")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        toolroll = str(Path(sys.executable).with_name("toolroll"))
        programs = {
            "the SDK alone": [sys.executable, MINIMAL],
            "toolroll mcp --from add.py": [toolroll, "mcp", "--from", str(folder / "add.py"), "--root", name],
            "toolroll mcp (code)": [toolroll, "mcp", "--root", name],
        }
        starts: dict[str, list[float]] = {title: [] for title in programs}
        for number in range(min(given.rounds, STARTS) + 1):
            for title, command in programs.items():
                found = time_start(command, env)
                if number:  # the first compiles
                    starts[title].append(found)
        calls = asyncio.run(measure_calls(given.rounds, given.calls, folder, env))
    print(report(starts, calls))


async def _serve(what: str) -> None:
    from toolroll.mcp.server.stdio import serve_stdio

    await serve_stdio(our_server(None if what == "ours" else Path(what)))


if __name__ == "__main__":
    main()
