"""A GitHub that others wrote, in Node: `make counterparts` installs it and the Node that it needs, pinned."""

import base64
import json
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import httpx2
import pytest

MODULES = Path(__file__).parents[3] / "build" / "npm" / "node_modules"
PROGRAM = MODULES / "emulate" / "dist" / "index.js"
NEEDED_NODE = 22


@cache
def node() -> str | None:
    """A Node that is new enough: the pinned one, or the machine's."""
    pinned = next(iter(sorted(MODULES.glob("node-*/bin/node"))), None)
    if pinned is not None:
        return str(pinned)
    found = shutil.which("node")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], check=False, capture_output=True, text=True).stdout
    version = re.match(r"v(\d+)\.", said)
    return found if version and int(version[1]) >= NEEDED_NODE else None


def need_emulate() -> None:
    if node() is None or not PROGRAM.exists():
        pytest.skip("needs node 22 and emulate: make counterparts")


@contextmanager
def emulated(folder: Path, owner: str, names: Sequence[str]) -> Iterator[str]:
    """The address of a GitHub with these repositories of one owner, each with nothing but a README."""
    repositories = [{"owner": owner, "name": name, "auto_init": True} for name in names]
    seed = folder / "seed.json"
    seed.write_text(json.dumps({"github": {"users": [{"login": owner}], "repos": repositories}}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(node()), str(PROGRAM), "start", "--service", "github", "--seed", str(seed), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        assert any("Ready" in line for line in process.stdout), "emulate ended before it was ready"
        reading = threading.Thread(target=process.stdout.read)  # a full pipe would stop it
        reading.start()
        yield f"http://127.0.0.1:{port}"
        process.kill()
        reading.join()
    finally:
        process.kill()
        process.communicate()


def put(url: str, repository: str, path: str, data: bytes) -> None:
    """Make a file there, by another client than ours."""
    body = {"message": "seed", "content": base64.b64encode(data).decode()}
    answer = httpx2.put(f"{url}/repos/{repository}/contents/{path}", json=body, headers={"authorization": "Bearer t"})
    assert answer.status_code == 201, answer.text
