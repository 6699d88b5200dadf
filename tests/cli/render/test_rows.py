"""What a person is shown: all of it, and nothing that looks like something else."""

import json
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.cli.render.draw import MIN_TEXT_COLUMNS, fold
from toolroll.cli.render.rows import MAX_SUMMARY_CHARACTERS, Row, hunk_rows, preview_rows, request_rows
from toolroll.kernel.approval.request import ApprovalRequest, Effect, Preview, content_hash
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.diff.hunks import parse_diff
from toolroll.safe.text import suspicious, visible


def request(
    arguments: object, preview: Preview | None = None, *, why: str = "Because.", effect: Effect = "writes"
) -> ApprovalRequest:
    return ApprovalRequest(
        run_id="r",
        call_id="c",
        tool="save",
        effect=effect,
        arguments=arguments,
        why=why,
        preview=preview or Preview.of_text(f"save {dump_json(arguments)}"),
        paths=(),
        fingerprint="f",
    )


def text_of(rows: list[Row]) -> str:
    return "\n".join(row.gutter + row.text for row in rows)


def test_S5_a_request_says_who_wants_what_and_why() -> None:
    change = Preview.of_change("milk\nbread\n", "milk\noat bread\n", path="list.txt")
    rows = request_rows(request({"path": "list.txt", "amount": 2, "flag": None}, change), number=2, total=3)
    assert text_of(rows).split("\n") == [
        "save wants to write (2 of 3)",
        "why     Because.",
        'path    "list.txt"',
        "amount  2",
        "",
        "list.txt  +1 -1",
        "@@ -1,2 +1,2 @@",
        "1   milk",
        "2 - bread",
        "2 + oat bread",
        "",
        "also    flag null",
    ]
    assert [row.look for row in rows[-4:-2]] == ["removed", "added"]
    assert (rows[-4].other, rows[-3].other) == ("oat bread", "bread")


def test_S5_notes_stand_before_the_change_and_cannot_lie() -> None:
    change = replace(Preview.of_change("a\n", "b\n", path="x"), notes=("imported by 3 files", "\x1b[2Khidden"))
    change = replace(change, hints=("\x1b[2Khint",))
    told = text_of(request_rows(request({"path": "x"}, change))).split("\n")
    assert told[5] == "note  ‹U+001B›[2Khint"
    assert told[3:5] == ["note  imported by 3 files", "note  ‹U+001B›[2Khidden"]
    assert told.index("x  +1 -1") > told.index("note  imported by 3 files")


@pytest.mark.parametrize(
    ("effect", "words"),
    [("reads", "asks before it reads"), ("writes", "wants to write"), ("external", "wants to act outside")],
)
def test_S5_the_effect_is_said_in_words(effect: Effect, words: str) -> None:
    assert request_rows(request({}, effect=effect))[0].text == f"save {words}"


def test_S5_a_tool_without_a_preview_shows_its_arguments_once() -> None:
    text = text_of(request_rows(request({"to": "ada@example.org", "n": 1})))
    assert text.count("ada@example.org") == 1
    assert "│" not in text


def test_S5_arguments_that_are_no_object_are_shown_too() -> None:
    assert 'arguments  ["a"]' in text_of(request_rows(request(["a"], Preview.of_text("does it"))))


def test_XA6_an_argument_equal_to_the_reason_is_named_all_the_same() -> None:
    """The model chooses the reason: it must not choose with it which argument is left out."""
    asked = request({"reason": "ada@evil.example", "to": "ada@evil.example", "n": 1}, why="ada@evil.example")
    assert text_of(request_rows(asked)).split("\n")[1:] == [
        "why   ada@evil.example",
        "n     1",
        "also  reason the same as why, to the same as why",
    ]
    lines = request({"reason": "a  \nb"}, why="a  \nb")
    assert 'reason  "a  \\nb"' in text_of(request_rows(lines)), "blanks at the end of a line are seen only there"


def test_S5_what_is_null_false_or_empty_shares_a_line_with_whole_names() -> None:
    given: dict[str, object] = {
        "path": "a",
        "expected_replacements": None,
        "dry_run": False,
        "note": "",
        "zero": 0,
        "none": [],
    }
    assert text_of(request_rows(request(given))).split("\n")[2:] == [
        'path  "a"',
        "zero  0",
        "none  []",
        'also  expected_replacements null, dry_run false, note ""',
    ]
    named = request_rows(request({"a null, b": None, "x" * 90: False, "é\u202e": None}))
    assert [row.gutter + row.text for row in named][3:] == [
        'also  "a null, b" null,',
        f"      {'x' * 90} false,",
        '      "é‹U+202E›" null',
    ]
    assert "expected_replacements  1" in text_of(request_rows(request({"expected_replacements": 1})))


def test_S5_on_a_small_screen_the_change_comes_before_what_says_little() -> None:
    unused = {f"an_option_with_a_long_name_{number}": None for number in range(5)}
    rows = request_rows(request({"path": "a.js", **unused}, CHANGED_SET))
    shown = [line.render().plain for line in fold(rows, 40)]
    first = next(place for place, line in enumerate(shown) if "@@" in line)
    assert (first < 8, any("long_name" in line for line in shown[:first])) == (True, False)


BEFORE_SET = "".join(f"const value_{number} = 'the old text of line {number}';\n" for number in range(3))
OLD_LINE = "const value_1 = 'the old text of line 1';"
NEW_LINE = "const value_1 = 'a new text that is long enough';"
CHANGED_SET = Preview.of_change(BEFORE_SET, BEFORE_SET.replace(OLD_LINE, NEW_LINE), path="a.js")


def change_of(path: str, old: str, new: str) -> dict[str, object]:
    return {"path": path, "old_string": old, "new_string": new, "replace_all": False, "content": None}


def test_S5_several_changes_that_the_diff_shows_take_a_line_each() -> None:
    changes = [change_of("a.js", OLD_LINE, NEW_LINE), change_of("b.js", "milk", "tea")]
    rows = request_rows(request({"changes": changes}, CHANGED_SET))
    assert text_of(rows).split("\n")[2:6] == [
        'changes  1. path "a.js", old_string shown below, new_string shown below',
        '         2. path "b.js", old_string "milk", new_string "tea"',
        "         each: content null, replace_all false",
        "",
    ]
    assert "in full" not in text_of(rows)
    changes[1]["content"] = ""
    assert "         each: replace_all false" in text_of(request_rows(request({"changes": changes}, CHANGED_SET)))


def test_XA6_a_list_of_something_else_is_shown_in_full() -> None:
    for items in (["y" * 90, "z" * 90], [{"a": "y" * 90}, "z" * 90]):
        assert json.dumps("z" * 90) in text_of(request_rows(request({"items": items}))).split("items in full")[1]


def test_XA6_one_long_text_that_the_diff_does_not_show_is_enough_to_show_all_of_them() -> None:
    unseen = "x = 1;\n" * 30 + "and Mallory too"
    changes = [change_of("a.js", OLD_LINE, NEW_LINE), change_of("b.js", "milk", unseen)]
    text = text_of(request_rows(request({"changes": changes}, CHANGED_SET)))
    assert json.dumps(unseen) in text.split("changes in full")[1]


def test_XA6_a_text_cannot_pass_for_one_that_is_shown_below() -> None:
    lie = [{"shown below, b": "shown below", "text": "y" * 100}]
    told = 'items  1. "shown below, b" "shown below", text "yyy'
    assert told in text_of(request_rows(request({"items": lie}, CHANGED_SET)))


def test_XA6_what_would_not_be_seen_inside_of_a_list_is_counted_once() -> None:
    new = "const value_1 = 'a new text \u202e that is long enough';"
    change = Preview.of_change(BEFORE_SET, BEFORE_SET.replace(OLD_LINE, new), path="a.js")
    asked = request({"changes": [change_of("a.js", OLD_LINE, new), change_of("b\u200b.js", "a", "b")]}, change)
    [warning] = [row for row in request_rows(asked) if row.look == "warning"]
    assert warning.text.startswith("2 characters ")


TEXTS = st.one_of(
    st.sampled_from(["", "Because.", "shown below", "the same as why", OLD_LINE, NEW_LINE, BEFORE_SET, OLD_LINE * 4]),
    st.text(max_size=150),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), TEXTS)
OBJECTS = st.lists(st.dictionaries(st.one_of(st.sampled_from(["path", "content"]), TEXTS), LEAVES), max_size=4)


def is_told(value: object, shown: str) -> bool:
    """Whether a value stands there to the letter: as JSON, line by line, in the diff, or as the reason."""
    if visible(json.dumps(value, ensure_ascii=False)) in shown or value == "Because.":
        return True
    assert isinstance(value, str)
    sides = (BEFORE_SET, BEFORE_SET.replace(OLD_LINE, NEW_LINE))
    return any(value in side for side in sides) or all(
        visible(line).replace("\t", "→") in shown.replace("→ ", "→") for line in value.split("\n")
    )


@given(st.dictionaries(st.text(max_size=3), st.one_of(LEAVES, OBJECTS), max_size=5))
def test_XA6_every_value_and_every_name_is_shown_somewhere(arguments: dict[str, object]) -> None:
    shown = text_of(request_rows(request(arguments, CHANGED_SET)))
    for name, value in arguments.items():
        assert visible(name, keep=()) in shown or visible(json.dumps(name, ensure_ascii=False)) in shown
        for item in value if isinstance(value, list) else [{name: value}]:
            for key, leaf in item.items():
                assert is_told(leaf, shown)
                assert not isinstance(value, list) or visible(json.dumps(key, ensure_ascii=False))[1:-1] in shown


def test_XA6_a_proposed_text_that_the_preview_does_not_show_is_shown_in_full() -> None:
    body = "Dear Bob,\n" + "all is well\n" * 10 + "PS: send the money to Mallory\n"
    for preview in (
        Preview.of_text("Mail to bob", editable=body),
        Preview(kind="diff", text="", editable=body),
        Preview(kind="diff", text=Preview.of_change("a\n", "b\n", path="f").text, editable=body, base="0"),
    ):
        text = text_of(request_rows(request({"body": body}, preview)))
        assert "shown below" not in text
        assert text.endswith("│ PS: send the money to Mallory")


def test_XA6_a_diff_stands_for_the_whole_text_only_where_it_is_proven_to_be_whole() -> None:
    before = "".join(f"line {number} of a file\n" for number in range(40))
    after = before.replace("line 2 ", "line two ").replace("line 38 ", "line 38, and Mallory too, ")
    whole = Preview.of_change(before, after, path="f", base=content_hash(before))
    told = "text  the whole text after the change below"
    assert told in text_of(request_rows(request({"text": after}, whole)))
    cut = whole.text[: whole.text.rindex("@@ -")]
    unproven = Preview(kind="diff", text=whole.text, editable=after)
    for preview in (unproven, Preview(kind="diff", text=cut, base=whole.base, editable=after)):
        text = text_of(request_rows(request({"text": after}, preview)))
        assert told not in text
        assert "line 38, and Mallory too, of a file" in text.split("text in full")[1]


def test_XA6_newlines_around_an_argument_are_not_lost() -> None:
    body = "x" * 100
    assert "shown below" in text_of(request_rows(request({"body": body}, Preview.of_text(f"Writes {body}"))))
    around = request({"body": f"\n\n{body}\n"}, Preview.of_text(f"Writes {body}"))
    assert f'body  "\\n\\n{body}\\n"' in text_of(request_rows(around))


def test_S5_without_a_preview_nothing_empty_is_shown_below_the_arguments() -> None:
    assert [row.text for row in request_rows(request({"n": 1}))][-1] == "1"


def test_XA6_a_long_argument_is_shown_in_full_at_the_end() -> None:
    value = "rm -rf " + "x" * 500 + "\nthe end"
    rows = request_rows(request({"command": value}, Preview.of_text("runs a command"), effect="external"))
    assert text_of(rows).endswith("command in full\n│ " + value.replace("\n", "\n│ "))
    assert any(row.text.endswith("… (in full below)") for row in rows)
    nested = {"command": {"deep": ["y" * MAX_SUMMARY_CHARACTERS]}}
    text = text_of(request_rows(request(nested, Preview.of_text("runs a command"))))
    assert "y" * MAX_SUMMARY_CHARACTERS in text.split("command in full")[1]


def test_XA6_an_argument_that_the_diff_shows_is_not_repeated() -> None:
    """Its every line stands in the diff, whole; one line that does not is enough to show all of it."""
    before = "".join(f"line {number} of a file\n" for number in range(20))
    old, new = "line 5 of a file\nline 6 of a file\nline 7 of a file", "line 5 of a file\nall new\nline 7 of a file"
    change = Preview.of_change(before, before.replace(old, new), path="f")
    rows = request_rows(request({"old": old, "new": new}, change))
    assert [row.text for row in rows if row.look == "note"][:2] == ["shown below"] * 2
    other = text_of(request_rows(request({"old": old + " and more, which nobody sees in the diff"}, change)))
    assert "which nobody sees" in other


HOSTILE = {
    "ANSI": "a\x1b[2J\x1b[31mred",
    "OSC 8": "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
    "OSC 52": "\x1b]52;c;ZXZpbA==\x07",
    "CR overwrite": "rm -rf /\rls       ",
    "C1": "\x9b31m\x9d52;c;x\x9c",
    "bidi": "a\u202eb\u2066c",
    "zero-width": "pay\u200bpal\u2060",
    "tags": "x\U000e0041\U000e0042",
    "2,000 spaces": "safe" + " " * 2_000 + "evil",
}


@pytest.mark.parametrize("evil", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("where", ["why", "argument", "name", "diff", "path", "text", "raw diff"])
def test_XA6_hostile_text_is_shown_escaped_wherever_it_stands(evil: str, where: str) -> None:
    change = Preview.of_change("a\nb\n", "a\n" + (evil if where == "diff" else "c") + "\n", path="f")
    previews = {
        "path": Preview.of_change("a\n", "b\n", path=evil),
        "text": Preview.of_text("says\n" + evil),
        "raw diff": Preview(kind="diff", text="+" + evil + "\n"),
    }
    arguments = {("n" + evil if where == "name" else "n"): evil if where == "argument" else "x"}
    asked = request(arguments, previews.get(where, change), why=evil if where == "why" else "Because.")
    rows = request_rows(asked)
    for row in rows:
        assert not suspicious(row.gutter + row.text)
        assert "\n" not in row.text
    shown = text_of(rows)
    spelled = {"argument": ("‹U+", "spaces›", "\\u", "\\r"), "name": ("‹U+", "…")}
    assert any(mark in shown for mark in spelled.get(where, ("‹U+", "spaces›")))
    if where in ("diff", "text", "why"):
        assert visible(evil.rstrip(), keep=()) in shown


def test_XA6_what_would_not_be_seen_is_counted() -> None:
    change = Preview.of_change("a\n", "a\u202e\x1b[31m\n" + " " * 2_000 + "x\n", path="f")
    [warning] = [row for row in request_rows(request({}, change)) if row.look == "warning"]
    assert warning.text.startswith("3 characters that would not be seen are spelled out (")
    for kind in ("1 bidi", "1 control", "1 blank run"):
        assert kind in warning.text
    many = Preview.of_text("\x1b" * 5_000)
    assert "1000 or more characters" in text_of(request_rows(request({}, many)))
    assert not [row for row in request_rows(request({"a": "b"})) if row.look == "warning"]


def test_XA6_10000_lines_are_all_there() -> None:
    text = "".join(f"{number}\n" for number in range(10_000))
    rows = preview_rows(Preview.of_change("", text, path="f"))
    assert [row.text for row in rows if row.look == "added"] == [str(number) for number in range(10_000)]
    assert len(fold(rows, 80)) == 10_002


def test_S5_line_ends_are_said_once_where_all_are_alike() -> None:
    windows = preview_rows(Preview.of_change("a\r\nb\r\n", "a\r\nc\r\n", path="f"))
    assert windows[0].text == "f  +1 -1, CRLF line ends"
    assert "‹" not in text_of(windows)
    mixed = text_of(preview_rows(Preview.of_change("a\nb\r\n", "a\r\nb\r\n", path="f")))
    assert "1 - a\n1 + a‹U+000D›" in mixed


def test_S5_blanks_at_the_end_and_tabs_can_be_seen() -> None:
    rows = text_of(preview_rows(Preview.of_change("a\n\tb\n", "a  \n    b\n", path="f")))
    assert "+ a··" in rows
    assert "- →   b" in rows
    assert "+     b" in rows
    assert "- x→  y→" in text_of(preview_rows(Preview.of_change("x\ty\t\n", "", path="f")))


def test_S5_a_missing_newline_at_the_end_is_told() -> None:
    rows = preview_rows(Preview.of_change("a", "b\n", path="f"))
    assert text_of(rows[2:]) == "1 - a\n    no newline at the end\n1 + b"


def test_S5_a_change_of_nothing_says_so() -> None:
    assert text_of(preview_rows(Preview.of_change("a", "a", path="f"))) == "No line would change."


def test_S5_a_diff_we_cannot_read_is_shown_as_it_is() -> None:
    rows = preview_rows(Preview(kind="diff", text="+one\n-two\nthree\n"))
    assert [(row.look, row.gutter + row.text) for row in rows] == [
        ("added", "│ +one"),
        ("removed", "│ -two"),
        ("text", "│ three"),
    ]


def test_S5_the_counts_are_our_own() -> None:
    lie = Preview(kind="diff", text=Preview.of_change("a\n", "b\n", path="f").text, added=0, removed=0)
    assert preview_rows(lie)[0].text == "f  +1 -1"


def test_S5_removed_lines_find_the_lines_that_replace_them() -> None:
    rows = preview_rows(Preview.of_change("1\na\nb\nc\n2\n", "1\nA\nB\n2\nD\n", path="f"))
    pairs = {row.text: row.other for row in rows if row.look in ("added", "removed")}
    assert pairs == {"a": "A", "b": "B", "c": None, "A": "a", "B": "b", "D": None}


def test_S5_one_hunk_alone() -> None:
    diff = parse_diff(Preview.of_change("a\n", "b\n", path="f").text)
    assert diff is not None
    assert hunk_rows(diff.hunks[0], "f", number=1, total=2)[0].text == "f, change 1 of 2"


@given(st.text(max_size=200), st.integers(20, 50))
def test_XA6_folding_loses_nothing_and_keeps_out_of_the_gutter(text: str, width: int) -> None:
    from rich.cells import cell_len

    row = Row(text=visible(text, keep=()), gutter="  1 + ")
    lines = fold([row], width)
    assert "".join(row.text[line.start : line.end] for line in lines) == row.text
    for number, line in enumerate(lines):
        drawn = line.render().plain
        assert drawn.startswith("  1 + " if number == 0 else "    ┊ ")
        assert cell_len(drawn) <= max(width, MIN_TEXT_COLUMNS + 6)


def test_S5_marks_are_drawn_where_the_words_differ() -> None:
    rows = preview_rows(Preview.of_change("the old word\n", "the new word\n", path="f"))
    drawn = [line.render() for line in fold(rows, 80)][-2:]
    marked = [[line.plain[span.start : span.end] for span in line.spans if span.style == "reverse"] for line in drawn]
    assert marked == [["old"], ["new"]]


def test_the_arguments_are_json() -> None:
    """A text and a number, or a text with a quotation mark, are told apart."""
    text = text_of(request_rows(request({"a": "1", "b": 1, "c": 'x"y'})))
    assert all(json.dumps(value) in text for value in ("1", 1, 'x"y'))


@pytest.mark.parametrize("look", ["note", "warning"])
def test_XA6_our_own_words_are_folded_between_them_and_nothing_is_lost(look: Literal["note", "warning"]) -> None:
    text = "old_text is null, new_text is false, " + "x" * 30 + " end"
    lines = fold([Row(text=text, look=look, gutter="also  ")], 26)
    parts = [text[line.start : line.end] for line in lines]
    assert "".join(parts) == text
    assert parts == ["old_text is null, ", "new_text is false, ", "x" * 20, "x" * 10 + " end"]
