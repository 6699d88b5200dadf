"""Overrides are read by provider, id or key, and one that matches nothing is refused (A42)."""

import gc
from typing import Annotated

import pytest

from toolroll import DependencyKey, Depends, Run
from toolroll.errors import DependencyError
from toolroll.kernel.depends.dependency import CONTEXT, find_keys
from toolroll.kernel.depends.overrides import check_matched, read_overrides


def inner() -> str:
    return "inner"


def outer(value: Annotated[str, Depends(inner)]) -> str:
    return value


def unused() -> str:
    return "unused"


KEY = DependencyKey[str]("overrides.key", outer)


async def test_A42_a_key_is_its_id() -> None:
    def fake() -> str:
        return "fake"

    assert read_overrides({KEY: fake, inner: fake, "x": fake}) == {"overrides.key": fake, inner: fake, "x": fake}
    assert await Run(overrides={KEY: fake}).context().resolve(KEY) == "fake"


def test_A42_an_override_matches_what_is_needed_on_the_way() -> None:
    for name in (KEY.id, outer, inner):
        check_matched({name: unused}, [Depends(KEY), Depends(inner)])
    check_matched({outer: unused, unused: inner}, [Depends(outer)])  # what replaces one may be replaced itself
    with pytest.raises(DependencyError, match=r"^The override of unused matches no dependency\. Dependencies .*inner"):
        check_matched({unused: inner}, [Depends(KEY)])
    with pytest.raises(DependencyError, match=r"matches no dependency\. Did you mean overrides\.key\?"):
        check_matched({"overrides.kay": inner}, [Depends(KEY)])


def test_A42_what_has_the_context_can_need_every_key_there_is() -> None:
    check_matched({KEY.id: unused, outer: unused}, [CONTEXT])
    with pytest.raises(DependencyError, match=r"^The override of nowhere matches no dependency"):
        check_matched({"nowhere": inner}, [CONTEXT])


def test_A42_of_two_equal_keys_one_that_is_thrown_away_leaves_the_other() -> None:
    first, second = DependencyKey[str]("twice", inner), DependencyKey[str]("twice", inner)
    assert first == second
    del first
    gc.collect()
    assert [key for key in find_keys() if key.id == "twice"] == [second]
