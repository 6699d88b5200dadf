"""One value of a settings file changes, and nothing else: not its meaning, not its comments, not its order."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import UsageError
from toolroll.home.settings_file import remove_value, set_value
from toolroll.home.settings_schema import format_value

FILE = """\
# What I like.
model = "sonnet"  # the "usual" # one

[code]
# Nobody's business.
deny = [
  "secrets/**", # these
  "*.pem",
]
check = ["a # b", 'c']\t# with a hash
"""


@pytest.mark.parametrize(
    ("name", "value", "changed"),
    [
        ("model", "opus", ('model = "sonnet"  #', 'model = "opus"  #')),
        ("code.check", ("x",), ("check = [\"a # b\", 'c']\t#", 'check = ["x"]\t#')),
        ("code.max_steps", 3, ("# with a hash\n", "# with a hash\nmax_steps = 3\n")),
        ("code.limits.matches", 5, ("# with a hash\n", "# with a hash\n\n[code.limits]\nmatches = 5\n")),
        (
            "code.deny",
            (),
            ('deny = [\n  "secrets/**", # these\n  "*.pem",\n]\n', "deny = []\n"),
        ),
    ],
)
def test_S41_only_the_value_changes(name: str, value: object, changed: tuple[str, str]) -> None:
    assert set_value(FILE, name, value) == FILE.replace(*changed)
    assert set_value(FILE.replace("\n", "\r\n"), name, value) == FILE.replace(*changed).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 'model = "x"\n'),
        ("# only words", '# only words\nmodel = "x"\n'),
        ("# top\n\n# of code\n[code]\n", '# top\n\n# of code\nmodel = "x"\n\n[code]\n'),
        ("[code]\n", 'model = "x"\n\n[code]\n'),
        ("'model' = 1", "'model' = \"x\""),
        ('"mo\\u0064el"=1#old', '"mo\\u0064el"="x"#old'),
        ('"a=b" = 1\n', '"a=b" = 1\nmodel = "x"\n'),
        ("code.check_seconds = 1\n", 'code.check_seconds = 1\nmodel = "x"\n'),
    ],
)
def test_S41_a_key_without_a_table_finds_its_place(text: str, expected: str) -> None:
    assert set_value(text, "model", "x") == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("code.deny = []\n", "code.max_steps", "code.deny = []\ncode.max_steps = 1\n"),
        (
            "[code]\nlimits.matches = 2\n",
            "code.limits.read_lines",
            "[code]\nlimits.matches = 2\nlimits.read_lines = 1\n",
        ),
        ("[code.limits]\n", "code.max_steps", "[code]\nmax_steps = 1\n\n[code.limits]\n"),
        ("code = {max_steps = 2}", "code.max_steps", "code = {max_steps = 1}"),
        ("code = {deny = []}", "code.max_steps", "code = {deny = [],max_steps = 1}"),
        ("model = 'x'\n", "code.max_steps", "model = 'x'\n\n[code]\nmax_steps = 1\n"),
        ("[ code ] # mine\n", "code.max_steps", "[ code ] # mine\nmax_steps = 1\n"),
    ],
)
def test_S41_tables_are_opened_once(text: str, name: str, expected: str) -> None:
    assert set_value(text, name, 1) == expected


def test_S41_what_cannot_be_changed_alone_is_left_to_a_person() -> None:
    with pytest.raises(UsageError, match="Change it in the file itself"):
        set_value("code = 3", "code.max_steps", 2)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (FILE, "model", FILE.replace('model = "sonnet"  # the "usual" # one\n', "")),
        ("a.b = 1\nc = 2\n", "a.b", "c = 2\n"),
        ("[a]\nb = 1\n", "a.b", "[a]\n"),
        ("a = {b = 1}\n", "a.b", "a = {}\n"),
        ("a = 1\n", "b", "a = 1\n"),
        ("a = 1\n", "a.b", "a = 1\n"),
    ],
)
def test_S41_a_value_is_taken_out(text: str, name: str, expected: str) -> None:
    assert remove_value(text, name) == expected


VALUES = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)


@given(VALUES | st.lists(VALUES, max_size=4))
def test_S41_every_value_is_read_as_it_was(value: object) -> None:
    assert tomllib.loads(f"x = {format_value(value)}") == {"x": value}


NAMES = ("model", "other", "code.deny", "code.max_steps", "code.check", "code.limits.matches", "code.limits.walk")
COMMENTS = st.sampled_from(["", "  # why", "\t#= [x] \"quoted\" 'too'", "#"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file with some of the settings, in tables or with dots, with comments, blank lines and long values."""
    lines: list[str] = []
    for table in ("", "code.", "code.limits."):
        inside = [name for name in NAMES if name.rpartition(".")[0] == table.rstrip(".")]
        chosen = draw(st.lists(st.sampled_from(inside), unique=True))
        opens = table != "" and draw(st.booleans())
        lines += draw(st.lists(st.sampled_from(["", "# = words", "  "]), max_size=2))
        if opens:
            lines.append(f"[{table.rstrip('.')}]{draw(COMMENTS)}")
        elif table and any(line.startswith("[") for line in lines):
            continue
        for name in chosen:
            value = format_value(draw(st.lists(VALUES, max_size=2) | VALUES))
            if draw(st.booleans()):
                value = f"[ # first\n{value},\n  # last\n]"
            lines.append(f"{name.removeprefix(table) if opens else name} = {value}{draw(COMMENTS)}")
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""])


@given(files(), st.sampled_from(NAMES), VALUES | st.lists(VALUES, max_size=2))
def test_S41_any_file_keeps_all_that_was_not_changed(text: str, name: str, value: Any) -> None:
    before = tomllib.loads(text)
    after = set_value(text, name, value)
    assert flat(tomllib.loads(after)) == flat(before) | {name: value}
    assert [line for line in comments(text) if line not in comments(after)] == []
    again = remove_value(after, name)
    assert flat(tomllib.loads(again)) == {key: one for key, one in flat(before).items() if key != name}


def comments(text: str) -> list[str]:
    """The lines that are nothing but a comment, outside of values."""
    return [line for line in text.split("\n") if line.startswith("# = words")]


def flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return found
