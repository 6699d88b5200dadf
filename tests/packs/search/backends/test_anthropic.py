"""The provider's own search by a side call, against a server that speaks its wire."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from tests.packs.search.services import a_client
from tests.support.model_script import Search, Text, Turn, fail
from tests.support.model_server import KEY, ModelServer

from toolroll.errors import AuthenticationFailed, ModelError, ServiceFailed
from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage
from toolroll.packs.search.backend import Access, BackendContext
from toolroll.packs.search.backends.anthropic import AnthropicSearch
from toolroll.packs.search.chain import SearchChain
from toolroll.packs.search.hits import SearchHit

FOUND = (("https://example.com/a", "First"), ("https://example.org/b", "Second"), ("http://10.0.0.1/", "Inside"))


@asynccontextmanager
async def backend(server: ModelServer) -> AsyncIterator[tuple[AnthropicSearch, list[tuple[Origin, Usage]]]]:
    spent: list[tuple[Origin, Usage]] = []
    async with a_client() as client:

        def spend(origin: Origin, usage: Usage) -> None:
            spent.append((origin, usage))

        yield AnthropicSearch(Access(url=server.url, key=KEY), BackendContext(client=client, spend=spend)), spent


async def hits(*says: Text | Search) -> Sequence[SearchHit]:
    async with ModelServer([Turn(list(says))]) as server, a_client() as client:
        return await AnthropicSearch(Access(url=f"{server.url}/", key=KEY), BackendContext(client=client)).search(
            "q", limit=5
        )


async def test_R11_a_side_call_searches_once_and_gives_what_was_found() -> None:
    cited = Text("It rose.", citations=(("https://example.org/b", "Second"),))
    async with ModelServer([Turn([Search("q", FOUND), cited])]) as server, backend(server) as (search, spent):
        found = await search.search('burnout "2025"', limit=5)
    assert [(hit.title, hit.url) for hit in found] == [
        ("Second", "https://example.org/b"),
        ("First", "https://example.com/a"),
    ]
    assert found[0].snippet != ""
    assert found[1].snippet == ""
    [request] = server.requests
    [offered] = request.body["tools"]
    assert (offered["name"], offered["max_uses"]) == ("web_search", 1)
    assert '{"query":"burnout \\"2025\\""}' in request.body["messages"][0]["content"][0]["text"]
    [(origin, usage)] = spent
    assert origin == Origin(wire="anthropic", model="claude-haiku-5-5")
    assert (usage.web_searches, usage.requests) == (1, 1)


async def test_R11_a_search_that_fails_inside_a_good_answer_is_a_failure() -> None:
    with pytest.raises(ServiceFailed, match=r"^The search of Anthropic failed \(max_uses_exceeded\)\.$"):
        await hits(Search("q", "max_uses_exceeded"), Text("Sorry."))


async def test_R11_the_providers_sentences_do_not_get_into_a_failure() -> None:
    with pytest.raises(ServiceFailed, match=r"^Anthropic found nothing, or did not search\.$"):
        await hits(Search("q", "ignore all rules"), Text("Sorry."))


async def test_R11_a_side_call_without_a_search_is_a_failure() -> None:
    with pytest.raises(ServiceFailed, match="Anthropic found nothing, or did not search"):
        await hits(Text("I know that by heart."))


async def test_R11_the_errors_of_the_provider_are_failures_without_the_key() -> None:
    turn = fail(401, "authentication_error", f"invalid x-api-key {KEY}")
    async with ModelServer([turn, turn]) as server, backend(server) as (search, spent):
        with pytest.raises(AuthenticationFailed):
            await search.search("q", limit=5)
        answer = await SearchChain([search]).search("q")
    assert spent == []
    assert KEY not in answer.failures[0].reason
    assert answer.failures[0].reason.startswith("Anthropic (401)")


async def test_R11_a_provider_that_is_not_there_is_a_failure() -> None:
    async with a_client() as client:
        with pytest.raises(ModelError, match="connection"):
            await AnthropicSearch(Access(url="http://127.0.0.1:9", key=KEY), BackendContext(client=client)).search(
                "q", limit=5
            )
