"""Ids in every form in which they are pasted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.packs.writing.notion.blocks import find_id

HEX = "0123abcd0123456789ab0123456789ab"
DASHED = "0123abcd-0123-4567-89ab-0123456789ab"
OTHER = "f" * 32


@pytest.mark.parametrize(
    "given",
    [
        HEX,
        HEX.upper(),
        DASHED,
        f"  {HEX}\n",
        f"My-page-{HEX}",
        f"https://notion.so/{HEX}",
        f"https://www.notion.so/{HEX}?pvs=4",
        f"https://www.notion.so/team/My-page-{HEX}#{OTHER}",
        f"https://www.notion.so/team/My-page-{HEX}/",
        f"https://www.notion.so/{OTHER}?v={OTHER}&p={HEX}&pm=s",
        f"https://www.notion.so/{DASHED}",
        f"https://team.notion.site/%D0%94%D1%83%D0%BC%D0%BA%D0%B8-{HEX}",
        f"https://app.notion.com/p/team/{HEX}",
        f"notion://www.notion.so/team/My-page-{HEX}",
        f"www.notion.so/My-page-{HEX}",
    ],
)
def test_W17_an_id_is_found_in_every_form(given: str) -> None:
    assert find_id(given) == DASHED


@pytest.mark.parametrize(
    "given",
    [
        "",
        "abc123",
        "My page",
        HEX[:-1],
        f"x{HEX}",
        f"https://example.com/{HEX}",
        f"https://notion.so.example.com/{HEX}",
        f"https://evilnotion.so/{HEX}",
        f"file://notion.so/{HEX}",
        f"../{HEX}",
        f"https://[notion.so/{HEX}",
        "https://www.notion.so/team",
        f"{'a-' * 2_000}{HEX}",
    ],
)
def test_W17_what_is_no_id_of_notion_is_none(given: str) -> None:
    assert find_id(given) is None


@given(st.text(max_size=80) | st.text("0123456789abcdef-/?:.notis", max_size=80))
def test_W17_any_text_has_an_id_or_none(given: str) -> None:
    found = find_id(given)
    assert found is None or find_id(found) == found


@given(st.uuids(), st.text(max_size=30))
def test_W17_an_id_is_found_after_any_name(page: object, name: str) -> None:
    assert find_id(f"{name.replace('/', '').replace('?', '')}-{page}".strip()) == str(page)
