"""What the page costs: the server's start, the first screen, long runs, long diffs and long answers, and many tabs.

    python benchmarks/page.py

The real server in a process of its own, and Chromium. A long task keeps the page from answering;
Chromium tells of each that takes more than 50 ms. Times depend on the machine; the limits hold on two busy cores.
"""

import asyncio
import http.client
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from toolroll.journal.records import CallEnded, MessageAdded, ModelTurn, Record, RunBegan, RunEnded
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Origin,
    TextBlock,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from toolroll.kernel.data.usage import Usage

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
TOOLROLL = str(Path(sysconfig.get_path("scripts"), "toolroll"))
STARTS_AT_MOST = 15.0
FIRST_SCREEN_BYTES = 300_000
LONG_TASK_MS = 100.0
TABS = 50
SILENT = 2_000
ROUNDS = 3
"""What the machine does besides only adds to a task: the best round counts."""
ORIGIN = Origin(wire="chat", model="bench")
PIECE = "## Part {0}\n\nA paragraph with `code`, **weight** and a [link](https://example.org/{0}).\n\n- one\n- two\n\n"
CODE = "```python\ndef part_{0}(x):\n    return x * {0}  # a comment\n```\n\n"
WATCH = """
window.longTasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((one) => window.longTasks.push(one.duration)))
  .observe({ type: "longtask", buffered: true });
"""


def events(project: Path) -> list[Record]:
    """A run of 1,000 events: 500 turns with a call each."""
    settings = {"kind": "code", "model": "sonnet", "root": str(project), "folder": str(project)}
    found: list[Record] = [
        RunBegan(model="bench", system="", tools={}, settings=settings),
        MessageAdded(message=UserMessage.of("A thousand events")),
    ]
    for number in range(500):
        call = ToolCall(id=f"c{number}", name="read_file", arguments=json.dumps({"path": f"src/file_{number}.py"}))
        message = AssistantMessage(blocks=(TextBlock(text=f"Step {number}."), CallBlock(call=call)), origin=ORIGIN)
        found.append(turn(message))
        result = ToolMessage(call_id=call.id, name=call.name, content="line\n" * 200)
        found.append(CallEnded(result=result, code=None, duration_ms=3.0))
    return [*found, turn(AssistantMessage(blocks=(TextBlock(text="All read."),), origin=ORIGIN)), end("All read.")]


def answer(project: Path) -> list[Record]:
    """A run with an answer of 100 KB."""
    text = "".join(PIECE.format(number) + CODE.format(number) for number in range(700))[:100_000] + "\n\nThe end."
    settings = {"kind": "code", "model": "sonnet", "root": str(project), "folder": str(project)}
    return [
        RunBegan(model="bench", system="", tools={}, settings=settings),
        MessageAdded(message=UserMessage.of("A long answer")),
        turn(AssistantMessage(blocks=(TextBlock(text=text),), origin=ORIGIN)),
        end(text),
    ]


def turn(message: AssistantMessage) -> ModelTurn:
    usage = Usage(input_tokens=1_000, output_tokens=50, requests=1)
    return ModelTurn(message=message, stop="end", stop_detail="", usage=usage, cost=0.001, duration_s=0.5)


def end(text: str) -> RunEnded:
    return RunEnded(stop_reason="answer", stop_detail="", text=text, has_answer=True)


async def record(home: Path, project: Path) -> None:
    journal = SqliteJournal(home / "data" / "runs.db")
    for run_id, records in (("events", events(project)), ("answer", answer(project))):
        await journal.append(run_id, *records)
        await journal.release(run_id)
    journal.close()


class Server:
    """The server in a process of its own."""

    def __init__(self, home: Path, project: Path) -> None:
        environment = {**os.environ, "TOOLROLL_HOME": str(home), "TOOLROLL_MODEL": "sonnet"}
        command = [TOOLROLL, "serve", "--no-open", "--json", "--port", "0", "--root", str(project)]
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.link = json.loads(self.process.stdout.readline())["url"]
        self.url = self.link.partition("/#")[0]
        # The first request goes out after the line was read; what is loaded behind the page begins with its answer.
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"))
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        self.first_byte_s = self.cpu_s()
        connection.close()

    def cpu_s(self) -> float:
        """The CPU time of all threads until now, in seconds."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1_000

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def measure_start(home: Path, project: Path) -> tuple[float, float]:
    """The CPU time from the start to the first byte of the page, in seconds and in starts of a bare interpreter."""
    served = []
    for _ in range(ROUNDS):
        server = Server(home, project)
        served.append(server.first_byte_s)
        server.stop()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(10):
        subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    bare = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 10
    return median(served), median(served) / bare


def open_page(browser: Browser, server: Server) -> tuple[Page, list[int]]:
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    page.add_init_script(WATCH)
    sizes: list[int] = []
    page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))
    page.goto(server.link)
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()
    return page, sizes


def longest_task(page: Page) -> float:
    """The longest task in milliseconds since the last time; 0 if there was none of 50 ms."""
    page.wait_for_timeout(1_500)
    found: list[float] = page.evaluate("() => window.longTasks.splice(0)")
    return max(found, default=0.0)


def visit(page: Page, server: Server, run_id: str, text: str) -> float:
    page.goto(f"{server.url}/#/")
    longest_task(page)
    page.goto(f"{server.url}/#/chat/{run_id}")
    expect(page.get_by_text(text, exact=True)).to_be_visible()
    return longest_task(page)


def measure_diff(page: Page, server: Server, project: Path) -> float:
    """A question with a diff of 10,000 lines: shown first, and then all of it."""
    (project / "big.py").write_text("".join(f"value_{number} = {number}\n" for number in range(5_000)))
    read = {"calls": [{"name": "read_file", "arguments": {"path": "big.py"}}]}
    arguments = {"path": "big.py", "old_string": "value_", "new_string": "amount_", "replace_all": True}
    edit = {"calls": [{"name": "edit", "arguments": {**arguments, "description": "Rename."}}]}
    script = project.parent / "diff.json"
    script.write_text(json.dumps([read, edit, "Done."]))
    page.goto(f"{server.url}/#/")
    longest_task(page)
    page.get_by_label("What should be found or changed?").fill("Rename all")
    page.get_by_label("Model").fill(f"scripted:{script}")
    page.get_by_role("button", name="Start").click()
    more = page.get_by_role("button", name="Show all")
    expect(more).to_be_visible()
    more.click()
    expect(page.get_by_text("amount_4999 = 4999")).to_be_attached()
    took = longest_task(page)
    assert page.locator(".ln").count() == 5_000  # side by side
    return took


async def measure_tabs(server: Server, cookie: dict[str, Any]) -> tuple[float, float]:
    """The memory of the server before and after so many tabs listened to 200 changes."""
    host, port = server.url.removeprefix("http://").split(":")
    head = f"Host: {host}:{port}\r\nCookie: {cookie['name']}={cookie['value']}\r\nOrigin: {server.url}\r\n"
    before = server.memory_mb()
    streams = []
    for _ in range(TABS):
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
        writer.write(f"GET /api/news?chat=events HTTP/1.1\r\n{head}\r\n".encode())
        await writer.drain()
        await reader.readline()
        streams.append((reader, writer))
    for _ in range(200):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /api/home HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
        await reader.read()
        writer.close()
    after = server.memory_mb()
    for _, writer in streams:
        writer.close()
    return before, after


async def measure_silence(server: Server) -> tuple[float, float]:
    """The memory of the server before and after so many connections that say nothing; it answers again afterwards."""
    host, port = server.url.removeprefix("http://").split(":")
    before = server.memory_mb()
    opened = [await asyncio.open_connection(host, int(port)) for _ in range(SILENT)]
    after = server.memory_mb()
    for reader, _ in opened:
        await asyncio.wait_for(reader.read(), 60)  # the server closes them
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /healthz HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    assert b"200 OK" in await reader.readline()
    writer.close()
    return before, after


def main() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (8_192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    socket.setdefaulttimeout(60)
    with tempfile.TemporaryDirectory(prefix="page-") as name:
        home, project = Path(name) / "home", Path(name) / "project"
        project.mkdir()
        asyncio.run(record(home, project))
        start_s, starts = measure_start(home, project)
        server = Server(home, project)
        try:
            with sync_playwright() as engine:
                browser = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                page, sizes = open_page(browser, server)
                first_ms, size = longest_task(page), sum(sizes)
                rows = [
                    (
                        "start to first byte",
                        f"{start_s:.2f} s of CPU",
                        f"{starts:.1f} bare starts",
                        starts <= STARTS_AT_MOST,
                    ),
                    ("first screen", f"{size / 1_000:.0f} KB", task(first_ms), size <= FIRST_SCREEN_BYTES),
                ]
                for run_id, title, shown in (
                    ("events", "run of 1,000 events", "All read."),
                    ("answer", "answer of 100 KB", "The end."),
                ):
                    took = min(visit(page, server, run_id, shown) for _ in range(ROUNDS))
                    rows.append((title, task(took), "", took <= LONG_TASK_MS))
                took = min(measure_diff(page, server, project) for _ in range(ROUNDS))
                rows.append(("diff of 10,000 lines", task(took), "", took <= LONG_TASK_MS))
                cookie = next(dict(one) for one in page.context.cookies())
                browser.close()
            before, after = asyncio.run(measure_tabs(server, cookie))
            rows.append((f"{TABS} tabs", f"{before:.0f} -> {after:.0f} MB", "", after < before * 1.3))
            before, after = asyncio.run(measure_silence(server))
            rows.append((f"{SILENT:,} silent connections", f"{before:.0f} -> {after:.0f} MB", "", after < before * 1.5))
        finally:
            server.stop()
    for title, one, two, holds in rows:
        print(f"{title:28} {one:26} {two:26} {'ok' if holds else 'TOO MUCH'}")
    sys.exit(0 if all(holds for *_, holds in rows) else 1)


def task(milliseconds: float) -> str:
    return f"longest task {milliseconds:.0f} ms" if milliseconds else "no task over 50 ms"


if __name__ == "__main__":
    main()
