"""One set of errors for all providers: which, how long to wait, and words that say what to do and hold no key."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.asking import ask
from tests.models.shapes import ALL
from tests.models.test_retry import Waits, collect, rule_with
from tests.support.model_script import Fault, Turn, fail
from tests.support.model_server import KEY, ModelServer

from toolroll.errors import ModelError, RequestRefused
from toolroll.models.failures import ErrorBody, find_error, read_error, retry_after
from toolroll.models.model import Wire
from toolroll.models.retry import Retry

EACH = pytest.mark.parametrize("wire", ALL)

STATUSES = [
    (400, "invalid_request_error", "invalid_request"),
    (401, "authentication_error", "authentication"),
    (402, "billing_error", "quota"),
    (403, "permission_error", "permission"),
    (404, "not_found_error", "invalid_request"),
    (408, "timeout_error", "model_timeout"),
    (409, "api_error", "provider"),
    (413, "request_too_large", "context_too_long"),
    (422, "invalid_request_error", "invalid_request"),
    (429, "rate_limit_error", "rate_limit"),
    (500, "api_error", "provider"),
    (502, "api_error", "provider"),
    (503, "overloaded_error", "overloaded"),
    (504, "timeout_error", "model_timeout"),
    (529, "overloaded_error", "overloaded"),
    (599, "api_error", "provider"),
]
RETRIED = {"rate_limit", "overloaded", "model_timeout", "provider"}


async def error_of(wire: Wire, turn: Turn) -> ModelError:
    async with ModelServer([turn]) as server:
        with pytest.raises(ModelError) as caught:
            await ask(server.model(wire))
    return caught.value


@EACH
@pytest.mark.parametrize(("status", "kind", "code"), STATUSES)
async def test_A34_every_status_has_its_error(wire: Wire, status: int, kind: str, code: str) -> None:
    """A34, XL2: with a message that names status and reason; only those are retried where waiting helps."""
    error = await error_of(wire, fail(status, kind, "because"))
    assert (error.code, error.status, error.is_retriable) == (code, status, code in RETRIED)
    assert f"({status}): because" in error.message


@EACH
@pytest.mark.parametrize("status", [400, 429, 500])
async def test_A34_an_error_that_is_not_the_providers(wire: Wire, status: int) -> None:
    """A34: a proxy's page, an empty body, JSON of another shape."""
    for body in (b"<html>gateway</html>", b"", b"[]", b'{"detail": "nope"}', b'{"message": "nope"}', b'{"error": {}}'):
        error = await error_of(wire, fail(status, body=body))
        assert error.status == status
        assert ("nope" in error.message) == (b"nope" in body)


@EACH
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "location", ["http:\\\\host", "https://other.example/v1", "", "\\\\", "http://[", "//x:99999/"]
)
async def test_XL46_a_redirect_is_named_and_not_followed(wire: Wire, stream: bool, location: str) -> None:
    """The key goes to no other server, and nobody parses where it should go."""
    for status in (301, 302, 303, 307, 308):
        async with ModelServer([fail(status, headers={"location": location}, body=b"<html>")]) as server:
            with pytest.raises(RequestRefused, match=rf"redirect \({status}\)") as caught:
                await ask(server.model(wire), stream=stream)
            assert len(server.requests) == 1
        assert (caught.value.status, caught.value.is_retriable) == (status, False)


@EACH
@pytest.mark.parametrize("stream", [True, False])
async def test_XL46_a_web_page_instead_of_an_answer_is_named(wire: Wire, stream: bool) -> None:
    page = Fault(body=b"<html>Log in</html>", headers={"content-type": "Text/HTML; charset=utf-8"})
    async with ModelServer([Turn(fault=page)]) as server:
        with pytest.raises(RequestRefused, match="web page"):
            await ask(server.model(wire), stream=stream)


WORDS = [
    ("anthropic", 400, "invalid_request_error", None, "prompt is too long: 210000 tokens > 200000", "context_too_long"),
    (
        "anthropic",
        400,
        "invalid_request_error",
        None,
        "input length and `max_tokens` exceed context limit",
        "context_too_long",
    ),
    ("anthropic", 400, "invalid_request_error", None, "Output blocked by content filtering policy", "content_policy"),
    ("anthropic", 400, "invalid_request_error", None, "tool_use.id: String too long", "invalid_request"),
    ("anthropic", 429, "rate_limit_error", "monthly_spend_limit", "limit reached", "quota"),
    ("anthropic", 429, "rate_limit_error", None, "Number of requests has exceeded your rate limit", "rate_limit"),
    ("openai", 429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota", "quota"),
    ("openai", 429, "tokens", "rate_limit_exceeded", "Rate limit reached", "rate_limit"),
    ("openai", 400, "invalid_request_error", "context_length_exceeded", "too much", "context_too_long"),
    ("openai", 401, "invalid_request_error", "invalid_api_key", "Incorrect API key", "authentication"),
    ("openai", 400, "invalid_request_error", "invalid_prompt", "flagged", "content_policy"),
    ("openai", 400, "image_generation_user_error", "content_policy_violation", "no", "content_policy"),
    ("openai", 503, "server_error", "server_is_overloaded", "busy", "overloaded"),
    (
        "chat",
        400,
        "exceed_context_size_error",
        None,
        "the request exceeds the available context size",
        "context_too_long",
    ),
    ("chat", 400, "BadRequestError", "400", "This model's maximum context length is 4096 tokens", "context_too_long"),
    ("chat", 404, "api_error", None, "model 'x' not found", "invalid_request"),
    ("chat", 503, "server_error", None, "Too many requests at the moment", "overloaded"),
]


@pytest.mark.parametrize(("wire", "status", "kind", "code", "message", "expected"), WORDS)
async def test_A34_XL2_the_providers_words_count(
    wire: Wire, status: int, kind: str, code: str | None, message: str, expected: str
) -> None:
    """A34, XL2: spent money, a full context and refused content are not what their status says."""
    error = await error_of(wire, fail(status, kind, message, code=code))
    assert error.code == expected


async def test_XL2_what_will_not_go_away_says_what_to_do() -> None:
    advice = {401: "API key", 402: "credit", 403: "may not use", 413: "Shorten"}
    for status, words in advice.items():
        assert words in (await error_of("chat", fail(status, "whatever"))).message


async def test_XL1_a_quota_that_comes_back_is_haste() -> None:
    """XL1: words about a quota beside a time to wait mean requests a minute, not money."""
    error = await error_of("chat", fail(429, "", "Quota exceeded for this minute", headers={"retry-after": "20"}))
    assert (error.code, error.retry_after_s) == ("rate_limit", 20.0)


async def test_XL2_a_provider_may_say_that_trying_again_is_useless() -> None:
    error = await error_of("anthropic", fail(429, "rate_limit_error", "no", headers={"x-should-retry": "false"}))
    assert (error.code, error.is_retriable) == ("quota", False)


@EACH
async def test_A34_no_key_in_any_message(wire: Wire) -> None:
    """A34: providers quote the key they were sent."""
    error = await error_of(wire, fail(401, "authentication_error", f"Incorrect API key provided: {KEY}. Really."))
    assert KEY not in str(error)
    assert "Incorrect API key" in str(error)


async def test_A34_a_page_of_words_is_cut_and_made_harmless() -> None:
    error = await error_of("openai", fail(500, "api_error", "\x1b[2J" + "word " * 1_000))
    assert len(error.message) < 700
    assert "\x1b" not in error.message


async def test_A34_an_error_without_words() -> None:
    assert "no reason given" in (await error_of("chat", fail(500, "", ""))).message
    assert "api_error" in (await error_of("chat", fail(500, "api_error", ""))).message


DATE = "Sun, 06 Nov 2033 08:49:37 GMT"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": DATE, "date": "Sun, 06 Nov 2033 08:49:07 GMT"}, 30.0),
        ({"retry-after": DATE, "date": "Sun, 06 Nov 2033 09:49:07 GMT"}, 0.0),
        ({"retry-after": "Sun, 06 Nov 2033 08:49:37", "date": "Sun, 06 Nov 2033 08:49:36"}, 1.0),
        ({"retry-after": "Sun, 99 Nov 2033 08:49:37 GMT"}, None),
    ],
)
def test_XL1_waiting_times_of_every_form(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers) == expected


def test_XL1_a_date_counts_from_our_clock_where_the_server_sends_none() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < (retry_after({"retry-after": soon}) or 0) <= 100


@given(st.text(max_size=40), st.text(max_size=40))
def test_XL1_no_header_raises(seconds: str, date: str) -> None:
    wait = retry_after({"retry-after": seconds, "retry-after-ms": date, "date": date})
    assert wait is None or wait >= 0


@given(st.binary(max_size=60))
def test_no_body_raises(body: bytes) -> None:
    assert isinstance(read_error(body), ErrorBody)


def test_errors_are_found_in_every_form() -> None:
    assert find_error({}) is None
    assert find_error({"error": None}) is None
    assert find_error({"error": "words"}) == ErrorBody(message="words")
    full = {"type": "t", "code": 5, "message": "m", "details": {"a": 1}, "metadata": None}
    assert find_error({"error": full}) == ErrorBody(kind="t", code="5", message="m", details="{'a': 1}")


async def test_XL1_the_wish_of_the_provider_is_passed_on() -> None:
    for status in (429, 503, 529):
        error = await error_of("anthropic", fail(status, "overloaded_error", headers={"retry-after": "7"}))
        assert (error.retry_after_s, error.is_retriable) == (7.0, True)


NOW = "Sun, 06 Nov 2033 08:49:07 GMT"
SOON: dict[str, str] = {"retry-after": "20"}
USUAL_S = 0.5
"""What is waited where the provider says nothing that can be used."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """An answer of a provider, the error that it becomes, and the pause before the next try; None for no other try."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    reason: str | None = None
    message: str = "no"
    code: str
    wait_s: float | None


ROWS = {
    "milliseconds": Row(status=429, headers={"retry-after-ms": "1500"}, code="rate_limit", wait_s=1.5),
    "seconds": Row(status=429, headers={"retry-after": "7"}, code="rate_limit", wait_s=7.0),
    "none": Row(status=503, headers={"retry-after": "0"}, code="overloaded", wait_s=0.0),
    "float": Row(status=529, headers={"retry-after": "1.5"}, code="overloaded", wait_s=1.5),
    "date": Row(status=503, headers={"retry-after": DATE, "date": NOW}, code="overloaded", wait_s=30.0),
    "past": Row(status=503, headers={"retry-after": NOW, "date": DATE}, code="overloaded", wait_s=0.0),
    "negative": Row(status=429, headers={"retry-after": "-5"}, code="rate_limit", wait_s=USUAL_S),
    "an hour": Row(status=429, headers={"retry-after": "3600"}, code="rate_limit", wait_s=USUAL_S),
    "garbage": Row(status=429, headers={"retry-after": "soon, friend"}, code="rate_limit", wait_s=USUAL_S),
    "both": Row(status=429, headers={"retry-after-ms": "250", "retry-after": "9"}, code="rate_limit", wait_s=0.25),
    "one of both": Row(status=429, headers={"retry-after-ms": "x", "retry-after": "9"}, code="rate_limit", wait_s=9),
    "overloaded": Row(status=529, kind="overloaded_error", code="overloaded", wait_s=USUAL_S),
    "no permission": Row(status=403, kind="permission_error", headers=SOON, code="permission", wait_s=None),
    "too large": Row(status=413, kind="request_too_large", headers=SOON, code="context_too_long", wait_s=None),
    "no credit": Row(status=402, headers=SOON, code="quota", wait_s=None),
    "spent, by its code": Row(status=429, headers=SOON, reason="insufficient_quota", code="quota", wait_s=None),
    "spent, by its kind": Row(status=429, headers=SOON, kind="insufficient_quota", code="quota", wait_s=None),
    "billing": Row(status=429, headers=SOON, kind="billing_error", code="quota", wait_s=None),
    "spend cap": Row(status=429, headers=SOON, reason="monthly_spend_limit", code="quota", wait_s=None),
    "spend cap, in words": Row(status=429, message="You reached your spend limit.", code="quota", wait_s=None),
    "quota of a minute": Row(status=429, headers=SOON, message="Quota of this minute", code="rate_limit", wait_s=20.0),
    "not again": Row(status=429, headers={**SOON, "x-should-retry": "false"}, code="quota", wait_s=None),
}


@EACH
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", ROWS)
async def test_XL1_every_answer_that_makes_us_wait_or_give_up(wire: Wire, stream: bool, name: str) -> None:
    """XL1: the same on all wires. A key is never told, and no second request is sent where none helps."""
    row, waits, told = ROWS[name], Waits(), list[ModelError]()
    turn = fail(row.status, row.kind, f"{row.message} {KEY}", code=row.reason, headers=row.headers)
    async with ModelServer([turn, Turn("hello")]) as server:
        try:
            pieces = await collect(server.model(wire), rule_with(waits), stream=stream)
        except ModelError as error:
            told.append(error)
        else:
            told += [piece.error for piece in pieces if isinstance(piece, Retry)]
        assert len(server.requests) == 1 + len(waits)
    [one] = told
    assert (one.code, one.status) == (row.code, row.status)
    assert waits == ([] if row.wait_s is None else [row.wait_s])
    assert KEY not in f"{one} {one.message}"


@EACH
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 305, 307, 308])
async def test_XL1_XL46_a_redirect_brings_the_key_to_nobody(wire: Wire, stream: bool, status: int) -> None:
    """XL1, XL46: a second server watches, on another port and as another host, with and without a time to wait."""
    async with ModelServer(lambda _: Turn("mine"), lenient=True) as watcher, ModelServer(lambda _: turn) as server:
        for host in ("127.0.0.1", "localhost"):
            for headers in ({}, SOON):
                target = f"http://{host}:{watcher.port}/v1/messages"
                turn = fail(status, headers={"location": target, **headers})
                with pytest.raises(ModelError):
                    await collect(server.model(wire), rule_with(Waits()), stream=stream)
        assert len(server.requests) == 4
        assert watcher.requests == []
