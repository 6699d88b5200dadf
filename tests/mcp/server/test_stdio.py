"""The server as a process of its own: stdout is the protocol's alone, and it ends with its client."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.mcp.server.site import HELLO
from tests.support.programs import environment

NOISY = '''
import os, subprocess, sys
from toolroll import tool

print("noise while it is loaded")


@tool
def noisy() -> str:
    """Print wherever it can."""
    print("noise")
    os.write(1, b"raw noise\\n")
    subprocess.run(["echo", "noise of a child"])
    subprocess.run(["cat"])  # its stdin is not the client's
    sys.stdout.flush()
    return "quiet"
'''
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "noisy", "arguments": {}}}
WAIT_S = 60.0


def command(folder: Path) -> list[str]:
    (folder / "noisy.py").write_text(NOISY)
    return [sys.executable, "-m", "toolroll", "mcp", "--from", str(folder / "noisy.py"), "--root", str(folder)]


def line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def test_S30_XM18_stdout_is_the_protocols_alone_and_the_end_of_input_is_the_end(tmp_path: Path) -> None:
    given = line(HELLO) + line({"jsonrpc": "2.0", "method": "notifications/initialized"}) + line(CALL)
    with subprocess.Popen(
        command(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path / "home"),
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(given)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        rest, noise = server.stdout.read(), server.stderr.read()
        assert server.wait(WAIT_S) == 0
    assert [one["id"] for one in answers] == [1, 2]
    assert answers[1]["result"]["content"] == [{"type": "text", "text": "quiet"}]
    assert rest == b""
    for said in (b"noise while it is loaded", b"raw noise", b"noise of a child"):
        assert said in noise


def test_S30_XM18_a_client_that_dies_leaves_no_process_behind(tmp_path: Path) -> None:
    """The pipe is held open by somebody else, so that there is no end of input."""
    read_fd, write_fd = os.pipe()
    started = f"subprocess.Popen({command(tmp_path)!r}, stdin={read_fd})"
    start = f"import subprocess; child = {started}; print(child.pid, flush=True); child.wait()"
    client = subprocess.Popen(
        [sys.executable, "-c", start],
        pass_fds=[read_fd],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(tmp_path / "home"),
    )
    assert client.stdout is not None
    os.write(write_fd, line(HELLO))
    server = int(client.stdout.readline())
    assert json.loads(client.stdout.readline())["id"] == 1, "it serves"
    client.send_signal(signal.SIGKILL)
    client.wait()
    until = time.monotonic() + WAIT_S
    while is_alive(server) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(server)
    client.stdout.close()
    os.close(read_fd)
    os.close(write_fd)


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
