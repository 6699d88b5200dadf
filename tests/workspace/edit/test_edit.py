"""Edits change what they name and nothing else, or say why not."""

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolroll.errors import EditRefused, StaleFile
from toolroll.kernel.approval.request import content_hash
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.edit.edit import EditResult, edit_text

LINE = st.text(alphabet=st.sampled_from("ab \t\"'é$\\&1\u200b"), max_size=6)


def edit(data: bytes, old: str, new: str, **options: object) -> EditResult:
    return edit_text(data, old, new, path="a.py", **options)  # type: ignore[arg-type]


def refused(data: bytes, old: str, new: str, **options: object) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        edit(data, old, new, **options)
    assert caught.value.code == "edit_refused"
    assert caught.value.path == "a.py"
    assert "Nothing was changed" in caught.value.message
    return caught.value


@pytest.mark.parametrize("text", [r"\1", "$&", "$1 \\g<0> \\\\", "\\n", "%s {x}"])
def test_XE3_C18_replacement_is_literal(text: str) -> None:
    assert edit(b"x = (1)\n", "(1)", text).data == b"x = " + text.encode() + b"\n"


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, str, str, bytes, bytes]:
    """A file around a unique line, with mixed ends, odd bytes and marks, and what precedes and follows that line."""
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    odd = st.sampled_from([b"", b"\xff\xff", b"\x00", b"\r", b"  ", b"\t", "é".encode(), b"\xe9", "\u2028".encode()])
    line = st.builds(lambda a, b, c: a.encode() + b + c.encode(), st.text("ab ", max_size=4), odd, LINE)
    end = st.sampled_from([b"\n", b"\r\n"])
    before = b"".join(draw(st.lists(st.builds(lambda one, two: one + two, line, end), max_size=5)))
    after = b"".join(draw(st.lists(st.builds(lambda one, two: two + one, line, end), max_size=5)))
    return mark + before, "TARGET", draw(st.text("xyz \t", max_size=5)), mark + before, after


@given(files())
def test_C3_XE4_bytes_outside_the_span_are_unchanged(case: tuple[bytes, str, str, bytes, bytes]) -> None:
    before, old, new, prefix, suffix = case
    data = before + old.encode() + suffix
    assert edit(data, old, new).data == prefix + new.encode() + suffix


@given(st.lists(LINE, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n", "\r"]), st.lists(LINE, max_size=4))
def test_C3_inserted_lines_take_the_ends_of_their_neighbours(lines: list[str], end: str, new: list[str]) -> None:
    data = end.join([*lines, "TARGET", *lines, ""]).encode()
    edited = edit(data, "TARGET", "\n".join(["NEW", *new]))
    assert edited.data == end.join([*lines, "NEW", *new, *lines, ""]).encode()


def test_C3_mixed_ends_stay_line_by_line() -> None:
    data = b"a\r\nb\nc\r\nd\ne"
    assert edit(data, "b\nc\nd", "b\nX\nc\nd").data == b"a\r\nb\nX\nc\r\nd\ne"
    assert edit(data, "c", "c\nX").data == b"a\r\nb\nc\r\nX\r\nd\ne"


def test_XE4_bare_carriage_returns_beside_newlines_are_data() -> None:
    data = b"10%\r20%\rdone\nnext\n"
    assert edit(data, "20%", "x\ny").data == b"10%\rx\ny\rdone\nnext\n"
    assert edit(b"a\rb\rc", "a\nb", "a\nX\nb").data == b"a\rX\rb\rc"


def test_XE4_no_half_of_a_line_end_is_left() -> None:
    assert edit(b"a\r\nb\r\n", "\nb", " b").data == b"a b\r\n"
    assert edit(b"a\r\nb\r\n", "a\n", "").data == b"b\r\n"


def test_C3_a_request_that_spells_out_line_ends_is_taken_literally() -> None:
    assert edit(b"a\r\nb\r\n", "a\r\nb", "a\nb").data == b"a\nb\r\n"


@pytest.mark.parametrize(("old", "new", "after"), [("b", "b\n", b"a\nb\n"), ("b", "c", b"a\nc"), ("a\nb", "", b"")])
def test_XE4_the_last_line_end_changes_only_by_request(old: str, new: str, after: bytes) -> None:
    assert edit(b"a\nb", old, new).data == after


def test_C3_the_byte_order_mark_stays() -> None:
    assert edit(b"\xef\xbb\xbfa\r\n", "a", "b").data == b"\xef\xbb\xbfb\r\n"
    assert edit(b"\xff\xfea\x00\n\x00", "a", "é").data == b"\xff\xfe\xe9\x00\n\x00"


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        (b"caf\xe9 au lait\nx\n", "café au lait", "café au miel", b"caf\xe9 au miel\nx\n"),
        (b"caf\xe9 au lait\r\nx\r\n", "café au lait\nx", "x\ncafé", b"x\r\ncaf\xe9\r\n"),
        (b"  caf\xe9\n", "\tcafé\n", "\tcafés\n", b"  caf\xe9s\n"),
        (b"\xe9\n", "é", "x", b"x\n"),
        # Beside a stray byte, UTF-8 is shown as Latin-1 too: what reads as é is the byte, not the letter.
        (b"\xc3\xa9 \xe9\n", "é", "éé", b"\xc3\xa9 \xe9\xe9\n"),
        (b"\xc3\xa9 \xff\n", "Ã© ÿ", "Ã©ÿ", b"\xc3\xa9\xff\n"),
        (b"\xc3\xa9 \xff\n", "é", "é1", b"\xc3\xa91 \xff\n"),
        (b"\xe2\x82\xac \xff\n", "€", "€1", b"\xe2\x82\xac1 \xff\n"),
    ],
)
def test_C3_bytes_of_an_unknown_encoding_may_be_kept(data: bytes, old: str, new: str, expected: bytes) -> None:
    assert edit(data, old, new).data == expected


def test_C3_bytes_of_an_unknown_encoding_are_only_copied() -> None:
    error = refused(b"caf\xe9 au lait\n", "café au lait", "café\nü")
    assert (error.rule, error.lines) == ("encoding", (2,))
    assert "only ASCII can be added; 'ü' is not" in error.message
    assert refused(b"caf\xe9\n", "caf", "café").rule == "encoding"


@given(st.binary(max_size=12), st.binary(max_size=12), st.binary(min_size=1, max_size=6))
def test_C3_what_was_shown_leads_back_to_its_bytes(before: bytes, after: bytes, added: bytes) -> None:
    prefix, suffix = b"\xff<" + before.replace(b"\r", b"") + b"\n", b"\n" + after.replace(b"\r", b"")
    kept = bytes(byte | 0x80 for byte in added)
    assume(b"[" not in before + after)
    old = f"[{kept.decode('latin-1')}]"
    assert edit(prefix + old.encode("latin-1") + suffix, old, old[:-1]).data == prefix + b"[" + kept + suffix


def test_C3_text_that_the_encoding_cannot_hold_is_refused() -> None:
    latin = b"# coding: latin-1\nx = '\xe9'\n"
    assert edit(latin, "x = 'é'", "x = 'ü'").data == b"# coding: latin-1\nx = '\xfc'\n"
    error = refused(latin, "x", "one\n€")
    assert error.rule == "encoding"
    assert "iso8859-1" in error.message
    assert "'€'" in error.message
    assert error.lines == (2,)
    assert "is not UTF-8" in refused(b"x\xff\n", "x", "é").message
    assert refused(b"x\n", "x", "\udcff").rule == "encoding"
    assert edit(b"x\xff\n", "x", "y").data == b"y\xff\n"


def test_C18_trailing_blanks_are_not_compared_and_stay() -> None:
    edited = edit(b"a  \nb\t\r\nc\n", "a\nb\nc", "a\nB\nc")
    assert edited.data == b"a  \nB\r\nc\n"
    assert edited.tier == "trailing blanks"
    assert edited.note == (
        "old_string was not found exactly, but with different trailing blanks; lines that stay keep the file's own, "
        "changed ones have those of new_string."
    )
    assert edit(b"x = 1\n", "x = ", "y = ").note is None


def test_C18_text_that_stands_for_something_left_out_is_pointed_out() -> None:
    assert edit(b"a\nb\n", "a", "x\n# ... existing code ...").note == (
        "New text seems to stand for text left out: '# ... existing code ...'."
    )


def test_C18_blanks_that_end_a_request_inside_a_line_count() -> None:
    assert refused(b"foobar\n", "foo ", "x").rule == "not_found"
    assert edit(b"a  \n\nb\n", "\n\nb", "\nB").data == b"a  \nB\n"
    assert refused(b"a \nbc", "a\nb ", "x").rule == "not_found"
    assert edit(b"a \nb", "a\nb ", "x").tier == "trailing blanks"


@pytest.mark.parametrize(
    ("data", "old", "new", "after", "tier"),
    [
        (b"class A:\r\n    def f():\r\n        pass\r\n", "def f():\n    pass\n", "def f():\n    return 1\n",
         b"class A:\r\n    def f():\r\n        return 1\r\n", "indentation"),
        (b"def f():\n  pass\n", "    def f():\n      pass", "    def f():\n\n      go",
         b"def f():\n\n  go\n", "indentation"),
        (b"if x:\n\tgo()\n\tif y:\n\t\tstop()\n", "if x:\n    go()\n    if y:\n        stop()\n",
         "if x:\n    go()\n    if z:\n        stop()\n      odd\n", b"if x:\n\tgo()\n\tif z:\n\t\tstop()\n\t  odd\n",
         "tabs and spaces"),
        (b"if x:\n  go()\n", "if x:\n\tgo()", "if x:\n\tgo()\n\n\tstop()",
         b"if x:\n  go()\n\n  stop()\n", "tabs and spaces"),
    ],
)  # fmt: skip
def test_C18_indentation_is_carried_over(data: bytes, old: str, new: str, after: bytes, tier: str) -> None:
    edited = edit(data, old, new)
    assert edited.data == after
    assert edited.tier == tier


@pytest.mark.parametrize(
    ("data", "old"),
    [
        (b"  a\n    b\n", "a\n b"),  # no one rule for both lines
        (b"\ta\n   b\n", "    a\n    b"),
        (b"  a\n", "a\n\n"),
        (b"  a", " a\n"),  # there is no line end
        (b"  a\n \n", "  \n  \n"),
        (b"value = 1\n", "value = 2"),  # never by likeness
        (b"def foo(): pass\n", "def fop(): pass"),
    ],
)
def test_C18_nothing_is_guessed(data: bytes, old: str) -> None:
    assert refused(data, old, "x").rule == "not_found"


def test_C18_lines_that_cannot_be_moved_out_are_refused() -> None:
    error = refused(b"def f():\n  pass\n", "    def f():\n      pass", "    def f():\n  go")
    assert error.rule == "indentation"


def test_XE2_several_places_are_an_error_with_all_of_them() -> None:
    error = refused(b"x\ny\nx\nxx\n", "x", "z")
    assert error.rule == "ambiguous"
    assert error.lines == (1, 3, 4, 4)
    assert "4 times, at lines 1, 3, 4, 4" in error.message
    assert "replace_all" in error.message
    assert refused(b"aaa", "aa", "b").lines == (1, 1)
    many = refused(b"x\n" * 30, "x", "z")
    assert "and 10 more" in many.message
    assert len(many.lines) == 30


def test_XE2_nothing_found_is_an_error_that_helps() -> None:
    error = refused(b"def f():\n    pass\n", "def f():\n    return 1", "x")
    assert error.rule == "not_found"
    assert "0 times" in error.message
    assert "Its first line is at line 1" in error.message
    assert "first line" not in refused(b"a\n", "b\nc", "x").message
    assert "first line" not in refused(b"a\n", "\n\n\n", "x").message
    assert "not UTF-8" in refused(b"\xe9\n", "ü", "x").message


def test_C18_all_places_on_request() -> None:
    assert edit(b"x\ny x\r\nxx\r\n", "x", "z\nz", replace_all=True).data == b"z\nz\ny z\r\nz\r\nz\r\nzz\r\nz\r\n"
    assert edit(b"x y\r\nx\r\n", "x", "z", replace_all=True).data == b"z y\r\nz\r\n"
    assert edit(b"a\r\nb\r\na\r\nb\r\n", "a\nb", "c", replace_all=True).data == b"c\r\nc\r\n"
    assert edit(b"x x x", "x", "yy", replace_all=True).lines == (1, 1, 1)


def test_C18_the_expected_number_must_be_right() -> None:
    assert edit(b"x x", "x", "y", expected_replacements=2).data == b"y y"
    error = refused(b"x\nx", "x", "y", expected_replacements=1, replace_all=True)
    assert error.rule == "count"
    assert "1 times, but it is there 2 times, at lines 1, 2" in error.message
    assert refused(b"x", "x", "y", expected_replacements=0).rule == "count"


def test_C18_other_indentation_must_be_unique() -> None:
    data = b"  a\n  b\n   a\n   b\n"
    error = refused(data, "a\nb", "c", replace_all=True)
    assert error.rule == "ambiguous"
    assert error.lines == (1, 3)
    assert "with different indentation" in error.message


@pytest.mark.parametrize(("old", "new", "rule"), [("", "x", "empty_old"), ("x", "x", "no_change")])
def test_C18_requests_without_sense_are_refused(old: str, new: str, rule: str) -> None:
    assert refused(b"x\n", old, new).rule == rule


def test_C18_an_edit_that_changes_nothing_is_refused() -> None:
    assert refused(b"a \nb\n", "a\nb", "a  \nb").rule == "no_change"


def test_C19_XE1_an_unexpected_content_is_stale() -> None:
    assert edit(b"x", "x", "y", expected_hash=content_hash(b"x")).data == b"y"
    with pytest.raises(StaleFile, match=content_hash(b"x")) as caught:
        edit(b"x", "x", "y", expected_hash=content_hash(b"y"))
    assert caught.value.code == "stale_edit"


NEAR = {
    "quotes": ("say(“hello”)", 'say("hello")'),
    "request quotes": ("say('hello')", "say(‘hello’)"),
    "dashes": ("a – b — c", "a - b - c"),
    "composed": ("cafe\u0301 x", "café x"),
    "zero width": ("na\u200bme", "name"),
    "zero width asked": ("name", "na\u200dme"),
    "no-break space": ("a\u00a0b", "a b"),
    "ellipsis": ("wait…", "wait..."),
}


@pytest.mark.parametrize("name", NEAR)
def test_XE5_look_alikes_are_offered_not_applied(name: str) -> None:
    there, asked = NEAR[name]
    error = refused(f"one\n  {there}\ntwo\n".encode(), asked, "new")
    assert error.rule == "not_found"
    assert error.lines == (2,)
    assert f"At line 2 the file has exactly:\n  {there}\n" in error.message
    assert edit(f"one\n  {there}\ntwo\n".encode(), there, "new").data == b"one\n  new\ntwo\n"


@pytest.mark.parametrize("old", ["\n67\n", "67\n", "67\n2", "\nby 6"])
def test_XE5_a_line_that_is_simply_longer_is_no_look_alike(old: str) -> None:
    error = refused(b"1\n67 by 6\n2\n", old, "new")
    assert error.rule == "not_found"
    assert "looks like" not in error.message


def test_XE5_a_look_alike_with_its_line_ends_is_offered() -> None:
    assert refused("1\n  “67”\n2\n".encode(), '\n"67"\n', "new").lines == (2,)


def test_XE5_offers_are_few_and_short() -> None:
    long = "“" + "x" * 700 + "”"
    error = refused(f"{long}\n{long}\n{long}\n{long}\n".encode(), '"' + "x" * 700 + '"', "new")
    assert error.lines == (1, 2, 3)
    assert "102 characters more" in error.message
    assert "At lines 2 to 3 the file" in refused("x\n“b”\n–".encode(), '"b"\n-', "n").message


@given(st.binary(max_size=60), st.text(alphabet="ab\n\r \t", min_size=1, max_size=6), st.text(max_size=6))
def test_C3_whatever_happens_is_an_edit_or_a_refusal(data: bytes, old: str, new: str) -> None:
    try:
        edited = edit(data, old, new)
    except EditRefused:
        return
    assert edited.data != data


@given(st.text("ab\n", max_size=30), st.text("ab\n", min_size=1, max_size=4), st.text("abc\n", max_size=4))
def test_C18_exact_edits_are_plain_replacement(text: str, old: str, new: str) -> None:
    assume(text.count(old) >= 1 and old != new and text.replace(old, new) != text)
    overlapping = len(re.findall(f"(?={re.escape(old)})", text))
    assume(overlapping == text.count(old))
    assert edit(text.encode(), old, new, replace_all=True).data == text.replace(old, new).encode()


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("a" * 1_000_000, "a" * 1000 + "b"),
        ("a\r\n" * 100_000, "a\n" * 1000 + "b"),
        (" " * 1_000_000, "\n \nx"),
        ("\n" * 200_000, "\n" * 1000 + "x"),
        ("  a\n" * 100_000, "a\n" * 500 + "a"),
        ("  a\n" * 30_000, "\ta\n"),
    ],
    ids=["letters", "lines", "blanks", "newlines", "windows", "many windows"],
)
def test_C18_hostile_repetition_takes_bounded_time(text: str, old: str) -> None:
    began = time.process_time()
    with pytest.raises(EditRefused):
        edit(text.encode(), old, "new")
    assert time.process_time() - began < 5


def test_C18_thousands_of_places_take_no_longer_each() -> None:
    data = b"".join(b"%s%d = tea\n" % (b"cup" if number % 2 else b"mug", number) for number in range(20_000))
    started = time.process_time()
    edited = edit_text(data, "cup", "glass", path="f", replace_all=True)
    proposal = Proposal(changes=(Change(path=RelativePath(parts=("f",)), before=data, after=edited.data),))
    preview = proposal.preview()
    assert time.process_time() - started < 3
    assert edited.data == data.replace(b"cup", b"glass")
    assert (preview.added, preview.removed) == (10_000, 10_000)
