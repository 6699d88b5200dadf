"""Webhooks: an address is told, with a signature, that a job has ended or waits (R33).

The signature is that of Standard Webhooks: HMAC-SHA256 over the id, the time and the body. Every try is a record of the
job. Whatever goes wrong here is recorded too, and fails no job.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from toolroll.errors import ServiceFailed, ToolrollError, UrlRefused, UsageError
from toolroll.home.settings import read_settings
from toolroll.home.webhook_secret import WebhookSecret
from toolroll.journal.journal import Journal, Recording
from toolroll.journal.records import StateSet
from toolroll.kernel.call.context import utc_now
from toolroll.safe.net.http import HttpClient, HttpLimits
from toolroll.safe.net.transport import guarded_transport
from toolroll.safe.net.urls import CheckedUrl, check_url, is_loopback
from toolroll.safe.secrets.redact import redact_shown, redact_value

Event: TypeAlias = Literal["job.done", "job.waiting", "job.dead", "job.cancelled"]

DELIVERY: Final = "delivery"
"""The name of the state that a job records each try of a webhook under."""
MAX_TRIES: Final = 3
PAUSES_S: Final = (1.0, 5.0)
"""Before the second and the third try."""
LIMITS: Final = HttpLimits(total_s=10.0, body_bytes=65_536)
MAX_ERROR_CHARACTERS: Final = 300
UNSIGNED: Final = "There is no secret to sign webhooks with. Create one: toolroll tokens webhook-secret"
_OK: Final = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What an address is told. The same news has the same id, however often it is sent."""

    id: str
    event: Event
    body: bytes

    @classmethod
    def new(cls, event: Event, data: Mapping[str, object], *, detail: str = "", now: datetime) -> "Message":
        """Return a message about a job, without secrets; `detail` tells it from other news of the same kind."""
        named = f"{data['id']}\0{event}\0{detail}".encode()
        content = {"type": event, "timestamp": now.isoformat(), "data": redact_value(dict(data))}
        return cls(
            id=f"msg_{hashlib.sha256(named).hexdigest()[:32]}",
            event=event,
            body=redact_shown(json.dumps(content, ensure_ascii=False)).encode("utf-8", "replace"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One try to deliver a message: the status of the answer, or why there was none."""

    id: str
    event: str
    at: str
    status: int | None = None
    error: str | None = None

    @property
    def is_delivered(self) -> bool:
        """Return whether the address took it."""
        return self.status in _OK


def read_deliveries(recording: Recording) -> tuple[Delivery, ...]:
    """Return all tries that a job recorded, in their order."""
    found = [record.value for _, record in recording if isinstance(record, StateSet) and record.name == DELIVERY]
    return tuple(delivery for value in found if (delivery := _read_delivery(value)) is not None)


def sign(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message, as its header has it."""
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


def shorten_address(url: str) -> str:
    """Return the scheme and the host of an address: the rest may be a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}/…"


def check_webhook(url: str, environment: Mapping[str, str]) -> str:
    """Return the address that a job is given, in its usual spelling; refuse one that could not be told anything."""
    if redact_shown(url) != url:
        raise UsageError(
            "The address of the webhook holds what looks like a secret, and jobs are recorded without secrets. "
            "Put it into your settings instead, which all jobs use: toolroll config set webhooks.url"
        )
    checked = _check(url, read_settings(environment).webhooks.hosts)
    if WebhookSecret.from_environment(environment).key() is None:
        raise UsageError(UNSIGNED)
    return checked.url


class WebhookSender:
    """Tells addresses about jobs, and records each try with the job.

    `ssl_context` replaces the usual certificates, for tests.
    """

    def __init__(
        self,
        journal: Journal,
        environment: Mapping[str, str],
        *,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._journal, self._environment = journal, environment
        self._clock, self._sleep = clock, sleep
        self._ssl_context = ssl_context

    def address(self, given: str | None) -> str | None:
        """Return the address that a job names, or else the one in the settings; None if nobody is to be told."""
        return given or read_settings(self._environment).webhooks.url

    async def deliver(self, job_id: str, url: str, message: Message, *, again: bool = False) -> bool:
        """Send a message, in up to three tries; return whether it was taken. The caller holds the job.

        What was taken or given up before is left, unless it is to be sent `again`.
        """
        past = [one for one in read_deliveries(await self._journal.read(job_id)) if one.id == message.id]
        if not again and any(one.is_delivered for one in past):
            return True
        for tried in range(0 if again else len(past), MAX_TRIES):
            if tried:
                await self._sleep(PAUSES_S[tried - 1])
            delivery, may_help = await self._try(url, message)
            await self._journal.append(job_id, StateSet(name=DELIVERY, value=asdict(delivery)))
            if delivery.is_delivered or not may_help:
                return delivery.is_delivered
        return False

    async def _try(self, url: str, message: Message) -> tuple[Delivery, bool]:
        """Return what one try came to, and whether another one could help."""
        now = self._clock()
        status: int | None
        error: str | None
        try:
            status, error, may_help = await self._post(url, message, int(now.timestamp())), None, True
        except ServiceFailed as failed:
            status, error, may_help = failed.status, failed.message, True
        except UrlRefused as refused:
            status, error, may_help = None, refused.message, refused.rule == "unresolved"
        except ToolrollError as failed:
            status, error, may_help = None, failed.message, False
        shown = None if error is None else redact_shown(error)[:MAX_ERROR_CHARACTERS]
        return Delivery(id=message.id, event=message.event, at=now.isoformat(), status=status, error=shown), may_help

    async def _post(self, url: str, message: Message, timestamp: int) -> int:
        key = WebhookSecret.from_environment(self._environment).key()
        if key is None:
            raise UsageError(UNSIGNED)
        hosts = read_settings(self._environment).webhooks.hosts
        checked = _check(url, hosts)
        # The address is judged after its name is looked up, and the connection goes to what was judged.
        transport = guarded_transport(
            schemes=(checked.scheme,), allow_hosts=frozenset(hosts), ssl_context=self._ssl_context
        )
        client = HttpClient(LIMITS, transport=transport)
        headers = {
            "content-type": "application/json",
            "webhook-id": message.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(key, message.id, timestamp, message.body),
        }
        try:
            # A redirect is an answer like any other, and none that says that the message was taken.
            answer = await client.request(
                "POST", checked.url, service=checked.host, headers=headers, content=message.body
            )
        finally:
            await client.aclose()
        return answer.status


def _check(url: str, hosts: Sequence[str]) -> CheckedUrl:
    """Judge the text of an address: https, or http to a host of this machine that the settings name."""
    allowed = frozenset(hosts)
    checked = check_url(url, schemes=("https", "http"), allow_hosts=allowed)
    if checked.scheme == "http" and not (checked.allowed and is_loopback(checked.url)):
        return check_url(url, allow_hosts=allowed)  # which says that it must be https
    return checked


def _read_delivery(value: object) -> Delivery | None:
    match value:
        case {"id": str(given), "event": str(event), "at": str(at), "status": int() | None as status, **more}:
            error = more.get("error")
            return Delivery(
                id=given, event=event, at=at, status=status, error=error if isinstance(error, str) else None
            )
        case _:
            return None
