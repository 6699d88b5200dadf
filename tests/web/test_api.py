"""The HTTP API over a real socket: what it does, whom it lets in, and what it refuses (R32, D13, XW1, XW3)."""

import asyncio
import gzip
import json
import socket
import time
from pathlib import Path
from typing import Any

import httpx2
import hypothesis
import pytest
import schemathesis
from tests.web.conftest import WAIT_S, Site

from toolroll.apps.jobs import JobRequest
from toolroll.apps.spec import AgentSpec
from toolroll.web import guard
from toolroll.web.api import OPERATIONS
from toolroll.web.models import make_openapi

READ = {"calls": [{"name": "read_file", "arguments": {"path": "a.py"}, "id": "read_1"}]}
CHANGE = {"path": "a.py", "old_string": "1", "new_string": "2"}
EDIT = {"calls": [{"name": "edit", "id": "edit_1", "arguments": CHANGE}]}


def wait_for(client: httpx2.Client, job_id: str, state: str) -> dict[str, Any]:
    ends = time.monotonic() + WAIT_S
    job: dict[str, Any] = client.get(f"/api/jobs/{job_id}").json()
    while job["state"] != state:
        assert time.monotonic() < ends, job
        time.sleep(0.02)
        job = client.get(f"/api/jobs/{job_id}").json()
    return job


def queue(client: httpx2.Client, **body: object) -> httpx2.Response:
    return client.post("/api/explorations", json={"idea": "Tea", **body})


def test_R32_an_idea_is_queued_explored_and_its_document_read(site: Site) -> None:
    with site.client() as client:
        queued = queue(client)
        assert (queued.status_code, queued.json()["state"]) == (202, "queued")
        job = wait_for(client, queued.json()["id"], "done")
        assert {step["name"]: step["state"] for step in job["steps"]} == dict.fromkeys(
            ("initialize", "check_existing", "generate_research", "write", "notify"), "done"
        )
        assert queued.headers["location"] == f"/api/jobs/{job['id']}"
        document = client.get(f"/api/jobs/{job['id']}/document")
        assert (document.text, document.headers["content-type"]) == (
            "# Tea\n\nIt is hot.\n",
            "text/markdown; charset=utf-8",
        )
        assert [one["id"] for one in client.get("/api/jobs?state=done").json()["jobs"]] == [job["id"]]


def test_R32_events_go_on_after_the_last_one_that_was_seen(site: Site) -> None:
    with site.client() as client:
        job_id = queue(client).json()["id"]
        wait_for(client, job_id, "done")
        whole = client.get(f"/api/jobs/{job_id}/events").text.split("\n\n")
        rest = client.get(f"/api/jobs/{job_id}/events", headers={"Last-Event-ID": "5"}).text.split("\n\n")
    ids = [int(line.removeprefix("id: ")) for event in whole for line in event.split("\n") if line.startswith("id: ")]
    assert ids == sorted(ids)
    assert rest == [event for event in whole if not event.startswith(tuple(f"id: {n}\n" for n in range(6)))]
    assert whole[-2] == 'event: end\ndata: {"state": "done"}'


@pytest.mark.parametrize("slots", [0])
def test_R32_a_key_makes_two_requests_one_job(site: Site) -> None:
    with site.client() as client, site.client("other") as other:
        first = client.post("/api/explorations", json={"idea": "Tea"}, headers={"Idempotency-Key": "k1"}).json()
        again = client.post("/api/explorations", json={"idea": "Coffee"}, headers={"Idempotency-Key": "k1"}).json()
        theirs = other.post("/api/explorations", json={"idea": "Milk"}, headers={"Idempotency-Key": "k1"}).json()
    assert (first["id"], again["title"]) == (again["id"], "Tea")
    assert theirs["id"] != first["id"]


@pytest.mark.parametrize("slots", [0])
def test_R32_a_token_sees_its_own_jobs_only(site: Site) -> None:
    with site.client() as client, site.client("other") as other, site.client("admin") as admin:
        job_id = queue(client).json()["id"]
        assert other.get(f"/api/jobs/{job_id}").json() == other.get("/api/jobs/job-" + "0" * 32).json()
        assert other.get(f"/api/jobs/{job_id}").status_code == 404
        assert other.post(f"/api/jobs/{job_id}/cancel").status_code == 404
        assert other.get("/api/jobs").json() == {"jobs": [], "next": None}
        assert admin.get(f"/api/jobs/{job_id}").status_code == 200
        assert client.post(f"/api/jobs/{job_id}/cancel").json()["state"] == "cancelled"
        assert client.post(f"/api/jobs/{job_id}/cancel").json()["code"] == "wrong_state"
        assert client.post(f"/api/jobs/{job_id}/retry").json()["state"] == "queued"


@pytest.mark.parametrize("slots", [0])
def test_R32_wrong_and_missing_tokens_get_nothing(site: Site) -> None:
    with site.client("") as nobody, site.client("reader") as reader:
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {site.secrets['owner']}"}):
            answer = nobody.get("/api/jobs", headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
        assert (queue(reader).status_code, queue(reader).json()["code"]) == (403, "forbidden")
        assert nobody.get("/healthz").json() == nobody.get("/readyz").json() == {"status": "ok"}
        assert nobody.get("/metrics").status_code == 401
        assert 'toolroll_jobs{state="queued"} 0' in reader.get("/metrics").text
        assert site.service.tokens.revoke("reader")
        assert reader.get("/api/jobs").status_code == 401
    stored = (site.root / "home" / "config" / "tokens.json").read_text()
    assert not any(secret in stored for secret in site.secrets.values())


@pytest.mark.parametrize("slots", [0])
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"idea": ""}', 400, "invalid_body"),
        (b'{"idea": "x", "more": 1}', 400, "invalid_body"),
        (b'{"idea": "x", "model": "scripted:/etc/passwd"}', 400, "invalid_body"),
        (b'{"idea": "x", "model": "openai-compatible:x@http://10.0.0.1"}', 400, "invalid_body"),
        (b'{"idea": "x", "model": "nobody:x"}', 202, ""),
        (b'{"idea": "x", "update": true, "continue_from": "y"}', 400, "usage"),
        (b"[" * 100_000, 400, "invalid_body"),
        (b"\xff", 400, "invalid_body"),
    ],
)
def test_R32_a_wrong_body_is_refused_and_nothing_is_queued(site: Site, body: bytes, status: int, code: str) -> None:
    with site.client() as client:
        answer = client.post("/api/explorations", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json().get("code", "")) == (status, code)
        assert len(client.get("/api/jobs").json()["jobs"]) == (status == 202)


@pytest.mark.parametrize("slots", [0])
def test_R32_pages_and_filters(site: Site) -> None:
    with site.client() as client:
        ids = [queue(client, idea=f"Idea {n}").json()["id"] for n in range(5)][::-1]
        first = client.get("/api/jobs?limit=2").json()
        second = client.get("/api/jobs", params={"limit": "2", "after": first["next"]}).json()
        last = client.get("/api/jobs", params={"limit": "2", "after": second["next"]}).json()
        assert [job["id"] for page in (first, second, last) for job in page["jobs"]] == ids
        assert last["next"] is None
        for wrong in ("state=lost", "limit=0", "limit=x", "limit=99999", "after=x", "more=1"):
            assert client.get(f"/api/jobs?{wrong}").json()["code"] == "invalid_query"


def test_D13_a_change_is_answered_over_http_once(site: Site) -> None:
    project = site.root / "project"
    project.mkdir()
    (project / "a.py").write_text("x = 1\n")
    script = site.root / "change.json"
    script.write_text(json.dumps([READ, EDIT, "Done."]))
    spec = AgentSpec(model=f"scripted:{script}", root=str(project), folder=str(project), kind="code")
    request = JobRequest(code=spec, prompt="Set x to 2", owner="owner")
    with site.client() as client:
        job_id, _ = asyncio.run(site.service.store.submit(request))
        job = wait_for(client, job_id, "waiting")
        [question] = job["questions"]
        assert "+x = 2" in question["preview"]
        answer = {"call_id": question["call_id"], "decision": "approve"}
        assert client.post(f"/api/jobs/{job_id}/answers", json=answer).status_code == 200
        assert client.post(f"/api/jobs/{job_id}/answers", json=answer).status_code == 409
        wait_for(client, job_id, "done")
    assert (project / "a.py").read_text() == "x = 2\n"


HOSTS = ["evil.com", "evil@127.0.0.1", "localhost..", "127.0.0.1.evil.com", "", "[::1", "localhost:99999999"]


@pytest.mark.parametrize("slots", [0])
@pytest.mark.parametrize("host", HOSTS)
def test_XW1_other_hosts_are_refused(site: Site, host: str) -> None:
    with site.client() as client:
        answer = client.get("/healthz", headers={"Host": host})
        assert answer.status_code in (400, 421)


@pytest.mark.parametrize("slots", [0])
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "[::1]:8420", "127.0.0.1"])
def test_XW1_names_of_this_machine_are_accepted(site: Site, host: str) -> None:
    with site.client() as client:
        assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("slots", [0])
def test_XW2_forms_and_text_queue_nothing(site: Site) -> None:
    with site.client() as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            answer = client.post("/api/explorations", content=b'{"idea": "x"}', headers={"Content-Type": kind})
            assert (answer.status_code, answer.json()["code"]) == (415, "not_json")


@pytest.mark.parametrize("slots", [0])
def test_XW3_large_bodies_are_cut_off(site: Site) -> None:
    with site.client() as client:
        answer = client.post("/api/explorations", content=b"x" * (guard.BODY_BYTES + 1))
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("slots", [0])
def test_XW3_packed_and_nested_bodies_are_cut_off(site: Site) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < guard.BODY_BYTES
    headers = {"Content-Type": "application/json"}
    with site.client() as client:
        packed = client.post("/api/explorations", content=bomb, headers={**headers, "Content-Encoding": "gzip"})
        assert packed.status_code == 400  # nothing is unpacked
        for body in (b"[" * 500_000, b"[" + b"1," * 500_000 + b"1]"):
            assert client.post("/api/explorations", content=body, headers=headers).status_code == 400
        assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("slots", [0])
def test_XW3_slow_heads_and_bodies_are_cut_off(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "HEAD_SECONDS", 0.2)
    host, port = site.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
        assert slow.recv(100) == b""


def test_S24_the_api_keeps_to_its_openapi_document(tmp_path: Path, site: Site) -> None:
    """With many requests that are made from the document itself: no answer is a 5xx, or of another shape."""
    schema = schemathesis.openapi.from_dict(make_openapi(OPERATIONS))
    schema.config.update(base_url=site.url)
    headers = {"Authorization": f"Bearer {site.secrets['owner']}"}
    settings = hypothesis.settings(
        max_examples=12, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), database=None
    )
    for operation in schema.get_all_operations():
        assert isinstance(operation, schemathesis.core.result.Ok)

        @hypothesis.given(case=operation.ok().as_strategy())
        @settings
        def check(case: schemathesis.Case[Any]) -> None:
            answer = case.call(headers=headers, timeout=WAIT_S)
            assert answer.status_code < 500, answer.text
            case.validate_response(answer, checks=[schemathesis.checks.response_schema_conformance])

        check()
