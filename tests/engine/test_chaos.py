"""Chaos on PostgreSQL: workers killed and stopped, connections cut, the server restarted (D10, D11)."""

import os
from pathlib import Path

import pytest
from tests.engine.chaos import Chaos
from tests.support.postgres import Cluster

FULL = int(os.environ.get("TOOLROLL_ROUNDS", "0"))


@pytest.mark.slow
@pytest.mark.unmeasured
async def test_D11_all_jobs_finish_and_every_change_is_made_once_whatever_is_killed(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAOS_CALL_S", "0.1")
    if not FULL:
        monkeypatch.setenv("CHAOS_SILENCE_S", "0.8")
    size = {"jobs": 200, "steps": 10, "workers": 4} if FULL else {"jobs": 16, "steps": 6, "workers": 2}
    chaos = Chaos(cluster, tmp_path, **size, seed=FULL)
    try:
        if FULL:
            report = await chaos.run(limit_s=900)
        else:
            report = await chaos.run(kill_s=0.8, stop_s=1.2, pause_s=0.3, restart_s=1.5, limit_s=120, most=1)
    finally:
        chaos.close()
    assert report.kills > 0
    assert (report.done, report.effects_missing, report.effects_twice, report.paid_again) == (size["jobs"], 0, 0, 0)
