"""Webhooks over a real TLS socket: what is sent, how it is signed, to whom it is never sent (R33)."""

import asyncio
import base64
import hashlib
import hmac
import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.apps.test_jobs import EDIT, READ, exploration, local_store, states, status_of, store, task, work
from tests.support.webhook_server import Receiver, receiving

from toolroll.apps.job_driver import JobDriver
from toolroll.apps.job_news import tell_again
from toolroll.apps.job_upkeep import JobUpkeep
from toolroll.apps.jobs import JobStore
from toolroll.apps.webhooks import MAX_TRIES, Message, WebhookSender, check_webhook, sign
from toolroll.errors import UrlRefused, UsageError
from toolroll.home.webhook_secret import VARIABLE, WebhookSecret
from toolroll.journal.records import StateSet

__all__ = ["local_store", "store"]

NOW = datetime(2026, 11, 18, 4, 0, tzinfo=UTC)
CANARY = "canary-webhook-0123456789abcdef"


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    with receiving(tmp_path_factory.mktemp("tls")) as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(receiver: Receiver) -> None:
    receiver.got.clear()
    receiver.answers.clear()


@pytest.fixture
def environment(tmp_path: Path, receiver: Receiver) -> dict[str, str]:
    made = {"TOOLROLL_HOME": str(tmp_path / "home"), "TOOLROLL_WEBHOOKS_HOSTS": receiver.host}
    WebhookSecret.from_environment(made).create()
    return made


@pytest.fixture
def sender(store: JobStore, environment: dict[str, str], receiver: Receiver) -> WebhookSender:
    async def no_pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    return WebhookSender(store.journal, environment, clock=lambda: NOW, sleep=no_pause, ssl_context=receiver.context)


@pytest.fixture
async def job(store: JobStore) -> str:
    """A job that is held here."""
    await store.journal.append("job-1", StateSet(name="begun", value=1))
    return "job-1"


async def drive(store: JobStore, sender: WebhookSender, environment: dict[str, str], job_id: str) -> str:
    return await JobDriver(store.journal, environment, sender=sender)(job_id)


async def test_R33_the_end_of_a_job_is_told_with_a_signature_that_can_be_checked(
    store: JobStore, tmp_path: Path, sender: WebhookSender, environment: dict[str, str], receiver: Receiver
) -> None:
    job_id, _ = await store.submit(replace(exploration(tmp_path, "# Tea"), webhook=receiver.url))
    assert await drive(store, sender, environment, job_id) == "done"

    [(headers, body)] = receiver.got
    secret = (tmp_path / "home" / "config" / "webhook-secret").read_text().strip()
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert int(headers["webhook-timestamp"]) == NOW.timestamp()
    told = json.loads(body)
    assert (told["type"], told["data"]["id"], told["data"]["state"]) == ("job.done", job_id, "done")
    assert told["data"]["document"].endswith("research.md")
    [delivery] = (await status_of(store, job_id)).deliveries
    assert (delivery.status, delivery.error, delivery.id) == (204, None, headers["webhook-id"])


def test_R33_the_signature_is_that_of_standard_webhooks() -> None:
    """The example of the specification."""
    key = base64.b64decode("plJ3nmyCDGBKInavdOK15jsl")
    body = b'{"event_type":"ping","data":{"success":true}}'
    signature = "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="
    assert sign(key, "msg_loFOjxBNrRLzqYUf", 1_731_705_121, body) == signature


async def test_R33_an_address_that_fails_is_tried_three_times_and_fails_no_job(
    store: JobStore, tmp_path: Path, sender: WebhookSender, environment: dict[str, str], receiver: Receiver
) -> None:
    receiver.answers += [500, 302, 404]
    job_id, _ = await store.submit(replace(exploration(tmp_path, "# Tea"), webhook=receiver.url))
    assert await drive(store, sender, environment, job_id) == "done"
    status = await status_of(store, job_id)
    assert [one.status for one in status.deliveries] == [500, 302, 404]  # a redirect is not followed
    assert states(status)["notify"] == "done"
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1

    await work(store, tmp_path, until=("done",))
    assert await tell_again(store, sender, await status_of(store, job_id), now=NOW)
    assert [one.status for one in (await status_of(store, job_id)).deliveries] == [500, 302, 404, 204]


async def test_R33_a_message_that_was_taken_is_not_sent_again_after_a_crash(
    job: str, sender: WebhookSender, receiver: Receiver
) -> None:
    message = Message.new("job.done", {"id": job}, now=NOW)
    receiver.answers += [500, 200]
    assert await sender.deliver(job, receiver.url, message)
    assert await sender.deliver(job, receiver.url, message)
    assert len(receiver.got) == 2
    receiver.answers += [500] * MAX_TRIES
    other = Message.new("job.dead", {"id": job}, now=NOW)
    assert not await sender.deliver(job, receiver.url, other)
    assert not await sender.deliver(job, receiver.url, other)
    assert len(receiver.got) == 2 + MAX_TRIES


@pytest.mark.parametrize("state", ["dead", "cancelled"])
async def test_R33_what_was_given_up_or_cancelled_is_told_once_by_any_worker(
    store: JobStore, tmp_path: Path, sender: WebhookSender, receiver: Receiver, state: str
) -> None:
    request = replace(exploration(tmp_path, "# Tea"), webhook=receiver.url)
    job_id, _ = await store.submit(request)
    if state == "dead":
        (tmp_path / "script.json").unlink()
        await work(store, tmp_path, until=("dead",))
    else:
        await store.engine.cancel(job_id)
    for upkeep in (JobUpkeep(store, sender), JobUpkeep(store, sender)):
        await upkeep.tell_ended()
        await upkeep.tell_ended()
    [(_, body)] = receiver.got
    told = json.loads(body)
    assert (told["type"], told["data"]["state"]) == (f"job.{state}", state)
    assert ("script.json" in (told["data"]["error"] or "")) == (state == "dead")


async def test_R33_a_question_is_told_without_what_it_shows(
    store: JobStore, tmp_path: Path, sender: WebhookSender, environment: dict[str, str], receiver: Receiver
) -> None:
    job_id, _ = await store.submit(replace(task(tmp_path, READ, EDIT, "Done."), webhook=receiver.url))
    assert await drive(store, sender, environment, job_id) == "waiting"
    [(_, body)] = receiver.got
    assert json.loads(body)["data"]["questions"] == ["edit_1"]
    assert b"x = 2" not in body


async def test_R33_no_secret_is_in_a_webhook_or_its_record(
    store: JobStore,
    tmp_path: Path,
    sender: WebhookSender,
    environment: dict[str, str],
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", CANARY)
    request = exploration(tmp_path, "# Tea", idea=f"Tea with {CANARY}")
    job_id, _ = await store.submit(replace(request, webhook=receiver.url))
    await drive(store, sender, environment, job_id)
    [(headers, body)] = receiver.got
    assert CANARY not in body.decode() + str(headers)
    key = (tmp_path / "home" / "config" / "webhook-secret").read_text().strip()
    assert key not in json.dumps((await status_of(store, job_id)).fields) + body.decode() + str(headers)
    assert (tmp_path / "home" / "config" / "webhook-secret").stat().st_mode & 0o777 == 0o600


REFUSED = [
    "http://example.com/hook",
    "https://10.0.0.1/hook",
    "https://169.254.169.254/latest",
    "https://[::1]/hook",
    "https://localhost/hook",
    "https://user:pass@example.com/hook",
    "ftp://example.com/",
    "no address",
    "https://[::1",
]


@pytest.mark.parametrize("url", REFUSED)
def test_R33_addresses_that_are_private_or_not_https_are_refused_when_a_job_is_queued(
    environment: dict[str, str], url: str
) -> None:
    with pytest.raises((UrlRefused, UsageError)):
        check_webhook(url, environment)


async def test_R33_a_name_that_leads_to_a_private_address_is_refused_when_it_is_sent(
    store: JobStore, job: str, sender: WebhookSender, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(host: str, port: int, **_options: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer)
    port = receiver.host.rpartition(":")[2]
    message = Message.new("job.done", {"id": job}, now=NOW)
    assert not await sender.deliver(job, f"https://hooks.example.com:{port}/", message)
    assert receiver.got == []
    recording = await store.journal.read(job)
    assert len(recording) == 2  # another try would not help


async def test_R33_a_certificate_that_nobody_vouches_for_is_refused(
    store: JobStore, job: str, environment: dict[str, str], receiver: Receiver
) -> None:
    async def no_pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    strict = WebhookSender(store.journal, environment, sleep=no_pause)
    assert not await strict.deliver(job, receiver.url, Message.new("job.done", {"id": job}, now=NOW))
    assert receiver.got == []


def test_R33_a_secret_is_needed_and_not_replaced_by_accident(tmp_path: Path) -> None:
    environment = {"TOOLROLL_HOME": str(tmp_path / "home")}
    with pytest.raises(UsageError, match="webhook-secret"):
        check_webhook("https://example.com/hook", environment)
    secret = WebhookSecret.from_environment(environment)
    first = secret.create()
    with pytest.raises(UsageError, match="--new"):
        secret.create()
    assert secret.create(replace=True) != first
    assert check_webhook("https://EXAMPLE.com/hook", environment) == "https://example.com/hook"
    with pytest.raises(UsageError, match="cannot be used"):
        WebhookSecret.from_environment(environment | {VARIABLE: "whsec_short"}).key()
    given = "whsec_" + base64.b64encode(b"k" * 24).decode()
    assert WebhookSecret.from_environment({VARIABLE: given, **environment}).key() == b"k" * 24


def test_R33_an_address_with_a_secret_in_it_belongs_into_the_settings(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", CANARY)
    with pytest.raises(UsageError, match=r"webhooks\.url"):
        check_webhook(f"https://example.com/{CANARY}", environment)


async def test_R33_the_address_of_the_settings_is_told_about_all_jobs(
    store: JobStore, tmp_path: Path, environment: dict[str, str], receiver: Receiver
) -> None:
    environment["TOOLROLL_WEBHOOKS_URL"] = receiver.url
    sender = WebhookSender(store.journal, environment, ssl_context=receiver.context)
    job_id, _ = await store.submit(exploration(tmp_path, "# Tea"))
    assert await drive(store, sender, environment, job_id) == "done"
    assert len(receiver.got) == 1
