"""XD15: kills at random moments of runs with changes, approvals and a sub-agent repeat, lose and spoil nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KILLS = 500 if os.environ.get("TOOLROLL_ROUNDS") else 15


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_XD15_kills_at_random_moments_repeat_lose_and_spoil_nothing(tmp_path: Path) -> None:
    """15 kills in CI, 500 with TOOLROLL_ROUNDS."""
    command = [sys.executable, str(ROOT / "tests" / "agent" / "chaos.py"), str(tmp_path), "1", str(KILLS)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("kills") == KILLS
    assert found.pop("runs") > 1
    assert found == dict.fromkeys(("unreadable", "repeated", "lost", "unfinished", "unsure"), 0)
