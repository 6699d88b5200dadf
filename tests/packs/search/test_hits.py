"""Text and links of strangers: bounded, visible, public."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.packs.search.hits import (
    MAX_LINK_CHARACTERS,
    MAX_SNIPPET_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    make_hits,
    plain_text,
    public_link,
)
from toolroll.safe.text import suspicious

PRIVATE = [
    "http://127.0.0.1/",
    "http://localhost:8080/admin",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.168.1.1/reboot",
    "http://2130706433/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "https://user:password@example.com/",
    "https://intranet/",
    "https://printer.local/",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "ftp://example.com/",
    "//example.com/",
    "https://example.com/a b",
    "https://exa\u202emple.com/",
    "https://example.com:25/",
    "",
    "https://example.com/" + "a" * MAX_LINK_CHARACTERS,
]


@pytest.mark.parametrize("link", PRIVATE, ids=range(len(PRIVATE)))
def test_XW8_a_link_to_no_public_page_is_no_hit(link: str) -> None:
    assert public_link(link) is None
    assert make_hits([("title", link, "text")], limit=5) == ()


@pytest.mark.parametrize(
    ("link", "spelled"),
    [
        ("HTTPS://Example.COM:443/A?b=c#d", "https://example.com/A?b=c"),
        (" https://example.com ", "https://example.com/"),
        ("https://example.com/Київ", "https://example.com/%D0%9A%D0%B8%D1%97%D0%B2"),
        ("https://example.com/%D0%9A", "https://example.com/%D0%9A"),
        ("https://example.com/\u3164x", "https://example.com/%E3%85%A4x"),
        ('https://example.com/<b>"', "https://example.com/%3Cb%3E%22"),
        ("https://приклад.укр/", "https://xn--80aikifvh.xn--j1amh/"),
        ("http://example.com:8080/(a)[1]", "http://example.com:8080/(a)[1]"),
    ],
)
def test_R11_a_link_has_one_spelling(link: str, spelled: str) -> None:
    assert public_link(link) == spelled
    assert public_link(spelled) == spelled


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<strong>Rates</strong> rose &amp; fell", "Rates rose & fell"),
        ("a\u00a0b\u2028c\n\n\td", "a b c d"),
        ("dif\u00adferent", "different"),
        ("\u202eevil\u202c \U000e0041\U000e0042tag \u200b\u2060\ufeff", "evil tag"),
        ("\x1b[2Jclear\x00", "[2Jclear"),
        ("\u3164 \u2800", ""),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("&lt;b&gt;", "<b>"),
        ("Ґанок у Києві", "Ґанок у Києві"),
        ("<unfinished", "<unfinished"),
        (f"a&#{'9' * 5_000};b&#65;", "abA"),
    ],
)
def test_R11_text_is_what_it_looks_like(text: str, plain: str) -> None:
    assert plain_text(text, 100) == plain


@given(st.text(), st.text(), st.integers(min_value=1, max_value=5))
def test_XL14_whatever_a_service_sends_is_short_and_visible(title: str, snippet: str, limit: int) -> None:
    found = [(title, f"https://example.com/{number}", snippet) for number in range(8)]
    hits = make_hits(found, limit=limit)
    assert len(hits) == limit
    for hit in hits:
        assert 0 < len(hit.title) <= MAX_TITLE_CHARACTERS
        assert len(hit.snippet) <= MAX_SNIPPET_CHARACTERS
        assert (suspicious(hit.title), suspicious(hit.snippet)) == ((), ())
        assert "\n" not in hit.title + hit.snippet


def test_XL14_endless_text_is_cut() -> None:
    [hit] = make_hits([("t" * 10**6, "https://example.com/", "s" * 10**6)], limit=5)
    assert (len(hit.title), len(hit.snippet)) == (MAX_TITLE_CHARACTERS, MAX_SNIPPET_CHARACTERS)
    assert hit.snippet.endswith("…")


def test_R11_a_page_comes_once_and_without_a_title_under_its_address() -> None:
    found = [("", "https://example.com/a#1", "one"), ("Again", "https://EXAMPLE.com/a#2", "two")]
    [hit] = make_hits(found, limit=5)
    assert (hit.title, hit.snippet) == ("https://example.com/a", "one")
