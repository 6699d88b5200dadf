"""The ideas of the page: documents with versions and sources, and what an exploration did (S20, XW4)."""

import json
import time
from typing import Any

import httpx2
from tests.web.conftest import WAIT_S, Site

from toolroll.journal.journal import Recording
from toolroll.journal.records import StateSet
from toolroll.web.ideas_api import list_activities, read_footnotes, split_versions

NOTE = "[^1]: [Tea \\[hot\\]](<https://example.org/tea>), found 2026-11-18"
DOCUMENT = f"# Tea\n\nIt is hot[^1].\n\n## Sources\n\n1. x\n\n{NOTE}\n\n## Update - 2026-11-19\n\nStill hot.\n"


def write_idea(site: Site, name: str, content: str = DOCUMENT, **entry: object) -> str:
    folder = site.root / "ideas" / name
    folder.mkdir(parents=True)
    (folder / "research.md").write_text(content)
    logged = {
        "idea": name[11:],
        "mode": "business",
        "model": "m",
        "completed_at": "2026-11-18T10:00:00Z",
        "steps": 3,
        **entry,
    }
    (folder / "exploration-log.json").write_text(json.dumps([logged]))
    return f"{name}/research.md"


def wait_for_job(client: httpx2.Client, job_id: str) -> dict[str, Any]:
    ends = time.monotonic() + WAIT_S
    while True:
        job: dict[str, Any] = client.get(f"/api/jobs/{job_id}").json()
        if job["state"] not in ("queued", "running"):
            return job
        assert time.monotonic() < ends, job
        time.sleep(0.02)


def test_S20_a_document_is_read_with_its_versions_and_sources(site: Site) -> None:
    path = write_idea(site, "2026-11-18-tea", cost_usd=0.1, runs=["r1"])
    with site.browser() as client:
        listed = client.get("/api/ideas").json()
        assert ([one["path"] for one in listed["ideas"]], listed["is_repo"]) == ([path], False)
        found = client.get(f"/api/ideas/document?path={path}").json()
        assert [one["date"] for one in found["versions"]] == ["", "2026-11-19"]
        assert [(one["number"], one["title"], one["url"]) for one in found["sources"]] == [
            (1, "Tea [hot]", "https://example.org/tea")
        ]
        assert [(one["mode"], one["runs"]) for one in found["runs"]] == [("business", ["r1"])]
        for wrong in ("nothing/research.md", "../home/config/settings.toml", "", "/etc/passwd"):
            assert client.get("/api/ideas/document", params={"path": wrong}).status_code == 404


def test_S20_what_an_exploration_did_is_listed(site: Site) -> None:
    with site.browser() as client:
        job = wait_for_job(client, client.post("/api/explorations", json={"idea": "Tea"}).json()["id"])
        assert job["state"] == "done"
        done = client.get(f"/api/jobs/{job['id']}/activity").json()
        assert done["written"] > 0
        assert client.get(f"/api/jobs/job-{'0' * 32}/activity").status_code == 404
        assert [one["title"] for one in client.get("/api/ideas").json()["ideas"]] == ["Tea"]
    page = {"title": "Tea", "url": "https://example.org/", "cited": False}
    records = (StateSet(name="search.query:1", value="tea prices"), StateSet(name="search.source:ab", value=page))
    activities = list(list_activities(Recording(run_id="r", records=tuple(enumerate(records)))))
    assert [(one.kind, one.text, one.url) for one in activities] == [
        ("query", "tea prices", ""),
        ("page", "Tea", "https://example.org/"),
    ]


def test_S20_versions_lose_no_text() -> None:
    assert "".join(one.text for one in split_versions(DOCUMENT)) == DOCUMENT
    assert [one.found for one in read_footnotes(DOCUMENT)] == ["2026-11-18"]
