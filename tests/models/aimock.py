"""A fake provider that others wrote, in Node: `make counterparts` installs it, pinned, below build/."""

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "build" / "npm" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
LISTENS = re.compile(r"listening on (http://127\.0\.0\.1:\d+)")

needs_aimock = pytest.mark.skipif(
    shutil.which("node") is None or not PROGRAM.exists(), reason="needs node and aimock: make counterparts"
)


@contextmanager
def aimock(folder: Path, fixtures: Sequence[Any]) -> Iterator[str]:
    """The address of a server that answers by these fixtures; a request that none of them fits is refused."""
    file = folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": fixtures}))
    command = ["node", str(PROGRAM), "--port", "0", "--fixtures", str(file), "--strict"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        found = next((match for line in process.stdout if (match := LISTENS.search(line))), None)
        assert found is not None, "aimock ended before it listened"
        reading = threading.Thread(target=process.stdout.read)  # a full pipe would stop it
        reading.start()
        yield found[1]
        process.kill()
        reading.join()
    finally:
        process.kill()
        process.communicate()
