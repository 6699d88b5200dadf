"""A search backend is added in one place: a module below `backends`, listed there with its SPEC."""

import json
from collections.abc import Sequence

import pytest

from toolroll.cli.actions.doctor.services import check_services
from toolroll.errors import UsageError
from toolroll.home.keys import is_key_name
from toolroll.packs.keys import all_keys, check_key_name
from toolroll.packs.search import backends
from toolroll.packs.search.backend import Access, BackendContext, BackendSpec
from toolroll.packs.search.hits import SearchHit, make_hits
from toolroll.packs.search.settings import SearchSettings
from toolroll.packs.search.tool import make_search_tool
from toolroll.testing import RecordingApprover, call_tool, make_run


class Toy:
    """Finds one page for every query, without asking anybody."""

    name = "toy"

    def __init__(self, access: Access, context: BackendContext) -> None:
        self._access = access

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        return make_hits([(f"About {query}", f"{self._access.url}/{query}", self._access.key[:3])], limit=limit)


SPEC = BackendSpec(
    name="toy",
    title="Toy",
    make=Toy,
    key_variable="TOY_API_KEY",
    url_variable="TOY_BASE_URL",
    default_url="https://toy.example.com",
)
ENVIRONMENT = {"TOY_API_KEY": "abcdefgh"}


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "BACKENDS", (SPEC, *backends.BACKENDS))


async def test_R11_a_backend_that_is_listed_is_used_where_its_key_is_set() -> None:
    approver = RecordingApprover()
    async with make_run(approver=approver) as run:
        result = await call_tool(make_search_tool(ENVIRONMENT), run, query="tea")
    answer = json.loads(result.text)
    assert answer["by"] == "toy"
    assert answer["results"] == [{"title": "About tea", "url": "https://toy.example.com/tea", "snippet": "abc"}]
    assert "of: toy, duckduckgo" in str(approver.requests[0].preview.text)
    assert SearchSettings.from_environment({}).names == ("duckduckgo",)


def test_R11_its_variables_are_checked_like_those_of_the_others() -> None:
    with pytest.raises(UsageError, match="TOY_BASE_URL would send the key unencrypted"):
        SearchSettings.from_environment({**ENVIRONMENT, "TOY_BASE_URL": "http://toy.example.com"})


def test_R11_its_key_may_be_in_the_keyring() -> None:
    assert all_keys()["TOY_API_KEY"] == "search with Toy"
    assert is_key_name("TOY_API_KEY")
    check_key_name("TOY_API_KEY")


def test_R11_doctor_names_it() -> None:
    [found] = (one for one in check_services(ENVIRONMENT, model=None, online=False) if one.name == "search")
    assert found.text == "asked in this order: toy, duckduckgo"
