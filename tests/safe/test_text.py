"""XA6, XP10, XF4, C33: what is shown is all there is."""

import re
import time
import unicodedata

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolroll.safe.limits import MAX_BLANK_RUN_COLUMNS, MAX_MARKS_PER_BASE
from toolroll.safe.text import Finding, controls_safe, hidden_runs, one_line, suspicious, terminal_safe, visible

MARK = re.compile(r"‹(?:U\+([0-9A-F]{4,6})|([0-9]+) (spaces|tabs|wide spaces))›")
BLANKS = {"spaces": " ", "tabs": "\t", "wide spaces": "\u3000"}
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# The Default_Ignorable_Code_Point property of Unicode 16 (DerivedCoreProperties.txt), unassigned ones included.
IGNORABLE = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip

PLAIN = [
    'def f(x: int) -> str:\n\treturn f"{x!r}"  # ~`@$%^&*()[]{}<>\\|;:\',./?',
    "Привіт, світе! «Це — текст», з’їсти їжака… №5 ґанок",
    "你好，世界。「引用」 日本語のテキスト、カタカナ 한국어\u3000全角",
    "naïve café Ångström e\u0301 ñ œ ß ½ € £ ≠ → ✓ ═╗ █",
    "שלום עולם العربية ไทย हिन्दी Ελληνικά",
    "😀 🎉 🇺🇦 👍🏽",
    "",
]

ANY_TEXT = st.text(st.characters())  # lone surrogates included
NASTY = st.sampled_from([*map(chr, range(0xA1)), *BIDI, *"\u200b\u2028\u2029\ufeff\ufe0f\U000e0041\u3164\ud800\ue000"])
MARKS = st.sampled_from(
    ["‹", "›", "U+202E", "‹U+202E›", "‹2000 spaces›", "80 tabs›", " " * 79, "\t" * 10, "\u0301" * 9]
)
HOSTILE = st.lists(st.one_of(ANY_TEXT, NASTY, MARKS)).map("".join)


def is_forbidden(char: str, keep: str = "\n\t") -> bool:
    if char in keep or char in " \u3000":
        return False
    ignorable = any(low <= ord(char) <= high for low, high in IGNORABLE)
    return (
        ignorable or char in "\u2800\U00016fe4\U0001d159\U00013441\U00013442" or unicodedata.category(char)[0] in "CZ"
    )


def undo(shown: str) -> str:
    """The inverse of `visible`: it exists, therefore nothing is lost and no two texts look the same."""
    return MARK.sub(lambda m: chr(int(m[1], 16)) if m[1] else int(m[2]) * BLANKS[m[3]], shown)


@given(HOSTILE)
@example("‹U+202E›")
@example("‹80 spaces›" + " " * 80)
@example("‹" + " " * 80 + "spaces›")
def test_XA6_different_texts_never_look_the_same(text: str) -> None:
    assert undo(visible(text)) == text


@given(HOSTILE)
def test_XA6_nothing_forbidden_is_left(text: str) -> None:
    for shown in (visible(text), terminal_safe(text)):
        assert not [char for char in shown if is_forbidden(char)]
        shown.encode()


@pytest.mark.unmeasured
@pytest.mark.parametrize("plane", range(17))
def test_XA6_every_code_point_is_shown_or_spelled_out(plane: int) -> None:
    chars = list(map(chr, range(plane << 16, (plane + 1) << 16)))
    expected = [f"‹U+{ord(char):04X}›" if is_forbidden(char) else char for char in chars]
    assert "".join("a" + spelled for spelled in expected) == visible("".join("a" + char for char in chars))


@given(HOSTILE)
def test_XA6_terminal_safe_can_be_applied_again(text: str) -> None:
    once = terminal_safe(text)
    assert once == terminal_safe(once)
    assert visible(text) == terminal_safe(visible(text))


@pytest.mark.parametrize("text", PLAIN)
def test_C33_ordinary_text_is_unchanged(text: str) -> None:
    assert text == visible(text)
    assert text == terminal_safe(text)
    assert suspicious(text) == ()


@pytest.mark.parametrize(
    ("attack", "shown"),
    [
        ("\x1b[2J\x1b[31mred", "‹U+001B›[2J‹U+001B›[31mred"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "‹U+001B›]8;;http://evil‹U+001B›\\link‹U+001B›]8;;‹U+001B›\\"),
        ("\x1b]52;c;ZXZpbA==\x07", "‹U+001B›]52;c;ZXZpbA==‹U+0007›"),
        ("\x9b31m\x9d0;title\x9c", "‹U+009B›31m‹U+009D›0;title‹U+009C›"),
        ("rm -rf /\rls", "rm -rf /‹U+000D›ls"),
        ("a\x08b\x7fc\x00d", "a‹U+0008›b‹U+007F›c‹U+0000›d"),
        ("if access\u202e \u2066// admin\u2069", "if access‹U+202E› ‹U+2066›// admin‹U+2069›"),
        ("pass\u200bword\u00ad\u2060\ufeff", "pass‹U+200B›word‹U+00AD›‹U+2060›‹U+FEFF›"),
        ("hi\U000e0061\U000e007f", "hi‹U+E0061›‹U+E007F›"),
        ("❤\ufe0f", "❤‹U+FE0F›"),
        ("x\U000e0100y", "x‹U+E0100›y"),
        ("name\u3164 = \u1160\u115f\uffa0", "name‹U+3164› = ‹U+1160›‹U+115F›‹U+FFA0›"),
        ("a\u00a0b\u202fc\u2003d", "a‹U+00A0›b‹U+202F›c‹U+2003›d"),
        ("\ud800 \ue000 \u0378", "‹U+D800› ‹U+E000› ‹U+0378›"),
        ("end" + 2000 * " " + "; evil()", "end‹2000 spaces›; evil()"),
        ("literal ‹U+202E› and ‹3 tabs›", "literal ‹U+2039›U+202E› and ‹U+2039›3 tabs›"),
        ("‹guillemets› ‹U+zz›", "‹guillemets› ‹U+zz›"),
    ],
)
def test_XA6_attacks_are_spelled_out(attack: str, shown: str) -> None:
    assert shown == visible(attack)


@given(HOSTILE)
def test_XF4_only_a_line_feed_ends_a_line(text: str) -> None:
    shown = visible(text)
    assert text.count("\n") == shown.count("\n")
    assert shown.split("\n") == re.split(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", shown)


def test_C33_line_ends_are_shown_unless_told_elsewhere() -> None:
    assert visible("a\r\nb\rc") == "a‹U+000D›\nb‹U+000D›c"
    assert visible("a\r\nb\rc\r\r\n", show_crlf=False) == "a\nb‹U+000D›c‹U+000D›\n"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a\x1b[2Jb\x9bc\x07\x00\x7f", "a‹U+001B›[2Jb‹U+009B›c‹U+0007›‹U+0000›‹U+007F›"),
        ("user\u202etxt\u2066\u2028", "user‹U+202E›txt‹U+2066›‹U+2028›"),
        ("a\r\nb\rc\r\r\n", "a\r\nb‹U+000D›c‹U+000D›\r\n"),
        ("\tfamily 👩\u200d👧\u00a0‹U+001B›\n", "\tfamily 👩\u200d👧\u00a0‹U+001B›\n"),
    ],
)
def test_XW14_controls_are_spelled_out_and_all_else_stays(text: str, safe: str) -> None:
    assert controls_safe(text) == safe


@given(st.text())
def test_XW14_what_has_no_controls_any_more_stays_as_it_is(text: str) -> None:
    safe = controls_safe(text)
    assert controls_safe(safe) == safe
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", safe)


def test_keep_names_what_is_left_alone() -> None:
    assert visible("a\tb\nc", keep=()) == "a‹U+0009›b‹U+000A›c"
    assert visible("a\u00a0b", keep=("\u00a0",)) == "a\u00a0b"
    assert visible("a]b\x00", keep=("]",)) == "a]b‹U+0000›"


def test_XA6_mark_floods_are_bounded_and_bases_required() -> None:
    zalgo = "a" + "\u0301" * 500
    assert visible(zalgo) == "a" + "\u0301" * MAX_MARKS_PER_BASE + "‹U+0301›" * (500 - MAX_MARKS_PER_BASE)
    assert visible("\u0338a\n\u0335b") == "‹U+0338›a\n‹U+0335›b"
    assert visible("a\u200b\u0301") == "a‹U+200B›‹U+0301›"
    assert visible("«\u0301»") == "«\u0301»"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" " * (MAX_BLANK_RUN_COLUMNS - 1), " " * (MAX_BLANK_RUN_COLUMNS - 1)),
        (" " * MAX_BLANK_RUN_COLUMNS, "‹80 spaces›"),
        ("\t" * 9, "\t" * 9),
        ("\t" * 10, "‹10 tabs›"),
        ("\u3000" * 40, "‹40 wide spaces›"),
        (" \t" * 10, "‹1 spaces›‹1 tabs›" * 10),
        ("a" + " " * 100 + "b", "a‹100 spaces›b"),
    ],
)
def test_XA6_blanks_cannot_push_text_out_of_sight(text: str, shown: str) -> None:
    assert shown == hidden_runs(text)


def test_XA6_a_real_terminal_shows_every_character() -> None:
    """What pyte's screen holds afterwards is exactly what was sent: nothing moved, erased or coloured."""
    attack = "ok\x1b[1A\x1b[2K\x1b[8mhidden\x1b[0m\r\x9b2J\x08\x08\x1b]0;t\x07\x0e\x0f\x1bc end"
    screen = pyte.Screen(200, 3)
    pyte.Stream(screen).feed(terminal_safe(attack))
    assert screen.display[0].rstrip() == terminal_safe(attack)
    assert screen.display[0].rstrip().endswith(" end")


@given(HOSTILE, st.integers(min_value=1, max_value=60))
def test_one_line_is_safe_and_short(text: str, width: int) -> None:
    line = one_line(text, width)
    assert len(line) <= width
    assert not [char for char in line if is_forbidden(char, keep="")]
    assert visible(text, keep=()) == line or line.endswith("…")


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("one\ntwo\tthree", 40, "one‹U+000A›two‹U+0009›three"),
        ("abc\x1bdef", 8, "abc…"),
        ("abc\x1bdef", 12, "abc‹U+001B›…"),
        ("cafe\u0301s", 5, "caf…"),
        ("\u0301" * 3, 4, "…"),
        ("abc", 1, "…"),
        ("abc", 0, "…"),
        ("a ‹ b", 4, "a ‹…"),
        ("x" + " " * 300, 100, "x‹100 spaces›…"),
    ],
)
def test_XP10_one_line_cuts_at_a_whole_character(text: str, width: int, line: str) -> None:
    assert line == one_line(text, width)


@given(HOSTILE, st.integers(min_value=1, max_value=60))
def test_XA6_one_line_of_a_spelled_text_is_the_same_again(text: str, width: int) -> None:
    line = one_line(text, width, is_spelled=True)
    assert len(line) <= width
    assert not [char for char in line if is_forbidden(char, keep="")]
    spelled = visible(text, keep=())
    assert one_line(spelled, len(spelled), is_spelled=True) == spelled


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("a‹U+202E›b", 60, "a‹U+202E›b"),
        ("a\u202eb", 60, "a‹U+202E›b"),
        ("a‹U+2039›U+202E›b", 60, "a‹U+2039›U+202E›b"),
        ("abc‹U+001B›def", 11, "abc…"),
        ("abc‹U+001B›def", 12, "abc‹U+001B›…"),
        ("abc‹U+10FFFF›" + "d" * 60, 5, "abc…"),
        ("abc‹U+10FFFF›" + "d" * 60, 13, "abc…"),
        ("abc‹U+10FFFF›" + "d" * 60, 14, "abc‹U+10FFFF›…"),
    ],
)
def test_XA6_what_is_spelled_out_already_is_not_spelled_out_again(text: str, width: int, line: str) -> None:
    assert one_line(text, width, is_spelled=True) == line


def test_XP10_existing_names_are_listed_escaped() -> None:
    assert one_line("invoice\u202efdp.exe", 60) == "invoice‹U+202E›fdp.exe"
    assert one_line("a\nb\udcff", 60) == "a‹U+000A›b‹U+DCFF›"


@pytest.mark.parametrize(
    ("char", "kind", "name"),
    [
        ("\x1b", "control", "ESCAPE"),
        ("\x05", "control", "CONTROL"),
        ("\u2028", "control", "LINE SEPARATOR"),
        ("\u202e", "bidi", "RIGHT-TO-LEFT OVERRIDE"),
        ("\u200b", "invisible", "ZERO WIDTH SPACE"),
        ("\u3164", "invisible", "HANGUL FILLER"),
        ("\ufe0f", "invisible", "VARIATION SELECTOR-16"),
        ("\u00a0", "blank", "NO-BREAK SPACE"),
        ("\ud800", "surrogate", "SURROGATE"),
        ("\ue000", "private", "PRIVATE"),
        ("\u0378", "unassigned", "UNASSIGNED"),
    ],
)
def test_XA6_findings_name_what_was_found(char: str, kind: str, name: str) -> None:
    (finding,) = suspicious("ab" + char)
    assert (2, ord(char), name, kind) == (finding.position, finding.code_point, finding.name, finding.kind)


def test_XA6_findings_come_in_order_and_are_bounded() -> None:
    text = "\u3164a\x1b" + " " * 80 + "\u200b" + "e" + "\u0301" * 9 + "\n\u0301" + " " * 12
    kinds = [(finding.position, finding.kind) for finding in suspicious(text)]
    assert kinds == [
        (0, "invisible"),
        (2, "control"),
        (3, "blank run"),
        (83, "invisible"),
        (93, "marks"),
        (95, "marks"),
    ]
    assert suspicious("\x00" * 5000, limit=3)[-1].position == 2
    assert suspicious(" " * 80, limit=5) == (Finding(position=0, code_point=32, name="SPACE", kind="blank run"),)


@given(HOSTILE)
def test_XA6_findings_are_what_visible_spells_out(text: str) -> None:
    """The marks of our own spelling aside, which are only a way of writing."""
    assert (terminal_safe(text) != text) == bool(suspicious(text))


@pytest.mark.parametrize(
    "text",
    [
        "plain ascii text, a line of it\n" * 33_000,
        "Звичайний український текст — з «лапками».\n" * 14_000,
        "\x1b[31m" * 200_000,
        "\u200b" * 350_000,
        "a" + "\u0301" * 500_000,
        "a\u202e" * 250_000,
        " \t" * 500_000,
        " " * 1_000_000,
        (" " * 9 + "x") * 100_000,
        "‹1" * 250_000,
        "‹" + "1" * 1_000_000,
        "‹U+202E›" * 80_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
@pytest.mark.unmeasured
def test_XA6_a_megabyte_takes_linear_time(text: str) -> None:
    """The bound is far above the measured time (20 to 450 ms); anything quadratic takes minutes."""
    start = time.process_time()
    visible(text)
    suspicious(text)
    one_line(text, 80)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("char", ["\u2800", "\U00016fe4", "\U0001d159", "\U00013441", "\U00013442"])
def test_XA6_symbols_that_draw_nothing_are_spelled_out(char: str) -> None:
    assert visible(f"a{char}b") == f"a‹U+{ord(char):04X}›b"
