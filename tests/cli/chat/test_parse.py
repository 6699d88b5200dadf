"""Messages in a chat: commands, mentions, and what of them nobody would have seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.cli.chat.commands import COMMANDS
from toolroll.cli.chat.parse import (
    ChatCommand,
    Mention,
    UnknownCommand,
    find_mentions,
    format_mention,
    parse_command,
    remove_escapes,
    spell_out_hidden,
)
from toolroll.safe.text import suspicious

NAMES = tuple(COMMANDS)
HIDDEN = {"control", "bidi", "invisible", "surrogate"}


def mentioned(text: str) -> list[str]:
    """The names in a message."""
    return [mention.name for mention in find_mentions(text)]


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("/help", ChatCommand(name="help")),
        ("  /HELP  ", ChatCommand(name="help")),
        ("/model sonnet", ChatCommand(name="model", rest="sonnet")),
        ("/new An idea\nof two lines", ChatCommand(name="new", rest="An idea\nof two lines")),
        ("/modle", UnknownCommand(name="modle", nearest="model")),
        ("/un", UnknownCommand(name="un", nearest="undo")),
        ("/frobnicate", UnknownCommand(name="frobnicate")),
        ("/etc/hosts is wrong", None),
        ("// a comment", None),
        ("/2 of it", None),
        ("/", ChatCommand(name="help")),
        ("/ of it", None),
        ("What does /help do?", None),
        ("", None),
    ],
)
def test_S1_commands_begin_with_a_slash_and_the_nearest_is_named(
    text: str, parsed: ChatCommand | UnknownCommand | None
) -> None:
    assert parse_command(text, NAMES) == parsed


@given(text=st.text())
def test_S1_every_text_is_a_command_or_goes_to_the_model(text: str) -> None:
    parsed = parse_command(text, NAMES)
    if parsed is not None:
        assert text.strip().startswith(f"/{parsed.name}") or parsed.name in NAMES
    if isinstance(parsed, ChatCommand):
        assert parsed.name in NAMES


@given(name=st.sampled_from(NAMES), rest=st.text(alphabet="aб 'c\n-", max_size=20))
def test_S1_what_stands_behind_a_command_is_kept(name: str, rest: str) -> None:
    assert parse_command(f"/{name} {rest}", NAMES) == ChatCommand(name=name, rest=rest.strip())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@src/main.js", ["src/main.js"]),
        ("see @my\\ dir/a\\ b.py, and", ["my dir/a b.py"]),
        ("Look at @a.py, @b.py; and (@c.py).", ["a.py", "b.py", "c.py"]),
        ('@"my file.txt" and @b', ["my file.txt", "b"]),
        ("@a.py @a.py", ["a.py"]),
        ("mail me at a@b.c or x.y+z@example.org", []),
        ("\\@a.py and `@b.py` and '@scope/package' and x/@y", []),
        ("@@a", []),
        ("@ @... @)", []),
        ('@"" @" "', []),
        ("@файл.txt!", ["файл.txt"]),
        ("@decorator\ndef f(): ...", ["decorator"]),
        ('@app.route("/x")', ["app.route("]),
    ],
)
def test_S1_what_may_be_a_file_is_found(text: str, names: list[str]) -> None:
    assert mentioned(text) == names


def test_S1_a_mention_is_read_from_the_longest_to_the_shortest() -> None:
    [mention] = find_mentions("(see @a.py.)")
    assert mention == Mention(spellings=("a.py.)", "a.py.", "a.py"), is_quoted=False)


@given(text=st.text(alphabet='@\\"a./ )\n', max_size=30))
def test_S1_mentions_are_parts_of_the_message(text: str) -> None:
    plain = text.replace("\\ ", " ")
    for mention in find_mentions(text):
        assert all(f"@{one}" in f"{plain}\0{text}" or f'@"{one}"' in text for one in mention.spellings)
        assert mention.name.strip()


PATHS = st.text(alphabet="aб. -_/)\\", min_size=1, max_size=12).filter(lambda path: path.strip())


@given(path=PATHS)
def test_S1_a_suggested_path_is_found_again(path: str) -> None:
    assert path in next(find_mentions(f"see {format_mention(path)} there")).spellings


@given(text=st.text(alphabet="@\\ab ", max_size=20))
def test_S1_only_the_escapes_are_taken_out(text: str) -> None:
    assert remove_escapes(text) == text.replace("\\@", "@")


@given(text=st.text())
def test_XA6_nothing_hidden_is_left_in_a_message(text: str) -> None:
    safe = spell_out_hidden(text)
    assert not {one.kind for one in suspicious(safe, limit=len(safe) + 1)} & HIDDEN
    assert spell_out_hidden(safe) == safe


def test_XA6_what_is_drawn_stays_as_it_is() -> None:
    plain = "def f():\n\treturn 'Привіт, 世界'" + " " * 300 + "\u00a0end"
    assert spell_out_hidden(plain) == plain
    assert spell_out_hidden("a\r\nb\rc\x1b[2Jd\u202ee\U000e0041") == "a\nb\nc‹U+001B›[2Jd‹U+202E›e‹U+E0041›"
