"""Backends in turn, and which of them there are."""

import pytest
from tests.packs.search.services import FAULTS, KEY, PAGES, SERVICES, Fault, Services, a_client

from toolroll.errors import ServiceFailed, UsageError
from toolroll.kernel.call.context import Run
from toolroll.packs.search.backend import TIMEOUT_S, BackendContext
from toolroll.packs.search.chain import RunQuota, SearchChain, SearchFailed
from toolroll.packs.search.hits import SearchHit
from toolroll.packs.search.settings import SearchSettings
from toolroll.safe.text import suspicious

TITLES = [title for title, _, _ in PAGES]


class Says:
    """A backend that says what it is told to."""

    def __init__(self, name: str, *answers: list[SearchHit] | Exception) -> None:
        self.name = name
        self.answers = list(answers)

    async def search(self, query: str, *, limit: int) -> list[SearchHit]:
        said = self.answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


def hit(number: int = 1) -> SearchHit:
    return SearchHit(title=f"Page {number}", url=f"https://example.com/{number}", snippet="")


async def test_R11_the_first_that_answers_is_asked_and_no_other(services: Services) -> None:
    async with a_client() as client:
        answer = await SearchChain(services.settings.make_backends(BackendContext(client=client))).search("q")
    assert (answer.used, answer.failures, [one.title for one in answer.hits]) == ("tavily", (), TITLES)
    assert services.asked == ["tavily"]


@pytest.mark.parametrize("fault", FAULTS)
async def test_R11_after_any_failure_the_next_one_is_asked(services: Services, fault: Fault) -> None:
    services.faults |= {"tavily": fault, "brave": fault, "searxng": fault}
    services.client_waits_s = 3_600
    async with a_client() as client:
        answer = await SearchChain(
            services.settings.make_backends(BackendContext(client=client)), timeout_s=3_600
        ).search("q")
    assert (answer.used, [one.title for one in answer.hits]) == ("duckduckgo", TITLES)
    assert [one.backend for one in answer.failures] == ["tavily", "brave", "searxng"]
    assert all(one.reason and KEY not in one.reason for one in answer.failures)
    assert services.asked == list(SERVICES)


async def test_R11_one_that_says_nothing_is_waited_for_so_long_and_no_longer(services: Services) -> None:
    services.faults |= {"tavily": "slow", "brave": "dribble"}
    services.client_waits_s = 3_600
    async with a_client() as client:
        answer = await SearchChain(
            services.settings.make_backends(BackendContext(client=client)), timeout_s=3_600
        ).search("q")
    assert {one.reason for one in answer.failures} == {
        f"{name} did not answer within 3600 seconds." for name in ("tavily", "brave")
    }
    assert (answer.used, TIMEOUT_S) == ("searxng", 10)


async def test_R11_when_all_fail_that_is_the_answer(services: Services) -> None:
    services.faults |= {"tavily": "401", "brave": "429", "searxng": "503", "duckduckgo": "redirect"}
    async with a_client() as client:
        answer = await SearchChain(services.settings.make_backends(BackendContext(client=client))).search("q")
    assert (answer.used, answer.hits, answer.is_spent) == (None, (), False)
    assert [one.backend for one in answer.failures] == list(SERVICES)


async def test_R11_the_words_of_a_failure_are_short_visible_and_without_keys() -> None:
    said = f"\x1b[2J\u202eAuthorization: Bearer sk-ant-api03-{'x' * 80} {'long ' * 100}"
    answer = await SearchChain([Says("odd", ServiceFailed(said))]).search("q")
    [failed] = answer.failures
    assert "sk-ant" not in failed.reason
    assert len(failed.reason) <= 200
    assert suspicious(failed.reason) == ()


async def test_R11_a_backend_that_gives_too_much_is_cut() -> None:
    answer = await SearchChain([Says("eager", [hit(number) for number in range(9)])]).search("q")
    assert len(answer.hits) == 5


async def test_R11_nothing_found_is_an_answer_and_no_failure() -> None:
    answer = await SearchChain([Says("first", []), Says("second", [hit()])]).search("q")
    assert (answer.used, answer.hits, answer.failures) == ("first", (), ())


async def test_R11_a_run_has_a_quota_that_goes_on_with_it() -> None:
    run = Run()
    chain = SearchChain([Says("one", [hit()], ServiceFailed("down"), [hit()])], quota=RunQuota(run, limit=2))
    assert (await chain.search("a")).used == "one"
    assert (await chain.search("b")).failures == (SearchFailed(backend="one", reason="down"),)
    resumed = Run()
    for name, value in run.state.items():
        resumed.set_state(name, value)
    answer = await SearchChain([Says("one")], quota=RunQuota(resumed, limit=2)).search("c")
    assert answer.is_spent
    assert answer.failures[0].reason == "This run has used up its searches."
    assert RunQuota(resumed).used == 2


async def test_R11_backends_come_in_a_fixed_order_by_the_keys_there_are() -> None:
    everything = {
        "SEARXNG_URL": "http://10.0.0.7:8888",
        "BRAVE_API_KEY": "b",
        "TAVILY_API_KEY": "t",
        "ANTHROPIC_API_KEY": "a",
    }
    some = {"BRAVE_API_KEY": " b\n", "TAVILY_API_KEY": "  ", "SEARXNG_URL": " "}
    cases: dict[tuple[str, ...], dict[str, str]] = {
        ("anthropic", "tavily", "brave", "searxng", "duckduckgo"): everything,
        ("brave", "duckduckgo"): some,
        ("duckduckgo",): {},
    }
    async with a_client() as client:
        for names, environment in cases.items():
            assert (
                tuple(
                    one.name
                    for one in SearchSettings.from_environment(environment).make_backends(BackendContext(client=client))
                )
                == names
            )
            assert SearchSettings.from_environment(environment).names == names


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"SEARXNG_URL": "searx.example.org"}, "SEARXNG_URL is no address"),
        ({"SEARXNG_URL": "file:///etc/passwd"}, "SEARXNG_URL is no address"),
        ({"SEARXNG_URL": "http://["}, "SEARXNG_URL is no address"),
        ({"SEARXNG_URL": "https://searx.example.org/?q="}, "SEARXNG_URL is no address"),
        ({"TAVILY_API_KEY": KEY, "TAVILY_BASE_URL": "http://example.com"}, "TAVILY_BASE_URL would send the key"),
        ({"BRAVE_API_KEY": f"{KEY}\x00"}, "BRAVE_API_KEY holds characters"),
        ({"ANTHROPIC_API_KEY": f"{KEY}é"}, "ANTHROPIC_API_KEY holds characters"),
    ],
)
def test_R11_a_setting_that_makes_no_sense_is_refused_at_once(environment: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        SearchSettings.from_environment(environment)
    assert KEY not in str(caught.value)


def test_R11_no_key_is_shown_by_the_settings() -> None:
    known = SearchSettings.from_environment({"TAVILY_API_KEY": KEY, "BRAVE_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})
    assert KEY not in repr(known)
    assert "https://api.tavily.com" in repr(known)


async def test_R11_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with a_client() as client:
        assert len(await services.backend("searxng", client).search("q", limit=5)) == 2
