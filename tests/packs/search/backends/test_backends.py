"""Each backend against a service that answers as the real one does, well and badly."""

import json
from dataclasses import replace
from urllib.parse import parse_qs

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.search.services import FAULTS, KEY, PAGES, SERVICES, Fault, Service, Services, a_client, page, result

from toolroll.errors import ServiceFailed
from toolroll.packs.search.backend import LIMITS
from toolroll.packs.search.backends.duckduckgo import parse_page
from toolroll.packs.search.hits import SearchHit
from toolroll.safe.net.http import HttpClient

HITS = [SearchHit(title=title, url=url, snippet=text) for title, url, text in PAGES]

REASONS: dict[Fault, str] = {
    "401": "{title} refused the key (401).",
    "403": "{title} refused access (403).",
    "418": "{title} refused the request (418).",
    "429": "{title} got too many requests, or the plan is used up (429).",
    "503": "{title} failed (503).",
    "malformed": "{title} sent an answer that cannot be read.",
    "list": "{title} sent an answer that cannot be read.",
    "shapeless": "{title} sent an answer that cannot be read.",
    "huge": "{title} sent more than 2,097,152 bytes.",
    "bomb": "{title} sent more than 2,097,152 bytes.",
    "redirect": "{title} answered with a redirect, which is not followed (302).",
    "cut": "The connection to {title} failed (RemoteProtocolError).",
    "deflate": "{title} sent an answer that cannot be read.",
    "broken gzip": "{title} sent an answer that cannot be read.",
    "slow": "{title} did not answer within 3600 seconds.",
    "dribble": "{title} did not answer within 3600 seconds.",
}
TITLES = {"tavily": "Tavily", "brave": "Brave", "searxng": "SearXNG", "duckduckgo": "DuckDuckGo"}


async def search(
    services: Services, service: Service, *, limit: int = 5, query: str = "burnout 2025"
) -> list[SearchHit]:
    async with a_client() as client:
        return list(await services.backend(service, client).search(query, limit=limit))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("service", SERVICES)
async def test_R11_a_backend_gives_titles_links_and_snippets(
    services: Services, service: Service, packed: bool
) -> None:
    services.packed = packed
    assert await search(services, service) == HITS
    assert services.asked == [service]


@pytest.mark.parametrize("service", SERVICES)
async def test_R11_at_most_as_many_hits_as_wanted(services: Services, service: Service) -> None:
    services.found = [(f"Page {number}", f"https://example.com/{number}", "text") for number in range(20)]
    assert [hit.title for hit in await search(services, service)] == [f"Page {number}" for number in range(5)]


@pytest.mark.parametrize("service", SERVICES)
async def test_R11_nothing_found_is_an_answer(services: Services, service: Service) -> None:
    services.found = []
    assert await search(services, service) == []


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("service", SERVICES)
async def test_R11_XW8_every_failure_is_told_in_our_words_without_the_key(
    services: Services, service: Service, fault: Fault
) -> None:
    """And a redirect to a private address is not followed."""
    services.faults[service] = fault
    services.client_waits_s = 3_600
    client = HttpClient(replace(LIMITS, total_s=3_600))
    with pytest.raises(ServiceFailed) as caught:
        await services.backend(service, client).search("q", limit=5)
    await client.aclose()
    expected = REASONS[fault].format(title=TITLES[service])
    if service == "duckduckgo":
        expected = expected.replace("2,097,152", "524,288")
    if (service, fault) == ("searxng", "403"):
        expected = "SearXNG does not give JSON (403). Its settings need `json` among search.formats."
    assert caught.value.message == expected
    assert KEY not in str(caught.value)
    assert services.asked == [service]


async def test_R11_a_service_that_is_not_there_is_a_failure(services: Services) -> None:
    async with a_client() as client:
        backend = services.backend("tavily", client)
        await services.__aexit__(None, None, None)
        with pytest.raises(ServiceFailed, match=r"^Tavily could not be reached: "):
            await backend.search("q", limit=5)


async def test_R11_tavily_is_asked_as_it_wants_to_be(services: Services) -> None:
    await search(services, "tavily")
    [asked] = services.requests
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == {"query": "burnout 2025", "max_results": 5, "search_depth": "basic"}


async def test_R11_brave_is_asked_as_it_wants_to_be(services: Services) -> None:
    await search(services, "brave", query="a&b=c #d")
    [asked] = services.requests
    assert (asked.method, asked.path) == ("GET", "/res/v1/web/search")
    assert asked.headers["x-subscription-token"] == KEY
    assert asked.query == {"q": ["a&b=c #d"], "count": ["5"]}


async def test_R11_searxng_is_asked_as_it_wants_to_be(services: Services) -> None:
    await search(services, "searxng")
    [asked] = services.requests
    assert (asked.method, asked.query) == ("GET", {"q": ["burnout 2025"], "format": ["json"]})
    assert KEY not in str(asked)


async def test_R11_searxng_whose_engines_are_all_blocked_has_not_answered(services: Services) -> None:
    services.answers["searxng"] = b'{"results": [], "unresponsive_engines": [["google", "captcha"]]}'
    with pytest.raises(ServiceFailed, match="None of the engines of SearXNG answered"):
        await search(services, "searxng")


async def test_R11_the_keyless_one_is_asked_by_a_form(services: Services) -> None:
    await search(services, "duckduckgo")
    [asked] = services.requests
    assert (asked.method, asked.path) == ("POST", "/html/")
    assert parse_qs(asked.body.decode()) == {"q": ["burnout 2025"]}


@pytest.mark.parametrize("status", [200, 202])
async def test_R11_the_keyless_one_says_when_it_takes_us_for_a_robot(services: Services, status: int) -> None:
    services.answers["duckduckgo"] = b'<html><form id="challenge-form">Select all ducks</form></html>'
    services.statuses["duckduckgo"] = status
    with pytest.raises(ServiceFailed, match="takes us for a robot"):
        await search(services, "duckduckgo")


def test_R11_advertisements_and_strange_links_are_left_out() -> None:
    odd = "".join(
        result("odd", href, "x")
        for href in (
            "//duckduckgo.com/settings",
            "https://duckduckgo.com/l/?rut=1",
            "https://links.duckduckgo.com/d.js?q=1",
            "http://[",
            "//duckduckgo.com/l/?" + "&".join("a=b" for _ in range(30)),
        )
    )
    assert parse_page(f'<p class="result__snippet">before any</p>{odd}{page([])}') == []
    direct = result("Direct", "https://notduckduckgo.com/x", "said <so>")
    assert parse_page(direct) == [("Direct", "https://notduckduckgo.com/x", "said <so>")]


@pytest.mark.parametrize("page", ["<![odd[x]]>", f"&#{'9' * 5_000};", "", "<html>Sign in</html>"], ids=range(4))
def test_R11_a_page_of_another_kind_is_a_failure(page: str) -> None:
    with pytest.raises(ServiceFailed, match="cannot be read"):
        parse_page(page)


@given(st.text(st.sampled_from('<>/!-[]"= abCDATAhref&#;x1?'), max_size=200))
def test_R11_any_page_is_read_or_refused(text: str) -> None:
    try:
        found = parse_page(f'{text}<a class="result__a" href="https://example.com/">t</a>{text}')
    except ServiceFailed:
        return
    assert all(len(one) == 3 for one in found)


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30),
            st.sampled_from(["https://example.com/a?b=c&d=é", "https://example.org/%20/x"]),
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30),
        ),
        min_size=1,
    )
)
def test_R11_what_a_page_lists_is_what_is_read(found: list[tuple[str, str, str]]) -> None:
    assert parse_page(page(found)) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10) | st.just("https://example.com/"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["results", "web", "title", "url", "content", "description"]), inner)
    ),
    max_leaves=12,
)


@given(st.sampled_from(SERVICES), JSON | st.fixed_dictionaries({"results": JSON, "web": JSON}))
async def test_R11_any_json_is_read_or_refused(service: Service, said: object) -> None:
    body = json.dumps(said).encode()
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, stream=httpx2.ByteStream(body)))
    client = HttpClient(LIMITS, transport=transport)
    try:
        hits = await Services(url="https://example.com").backend(service, client).search("q", limit=5)
    except ServiceFailed:
        return
    finally:
        await client.aclose()
    assert all(hit.url.startswith("https://") and hit.title for hit in hits)
