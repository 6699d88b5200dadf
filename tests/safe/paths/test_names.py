"""What a path may look like: no test here touches the file system."""

import os
from pathlib import PurePosixPath
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolroll.errors import PathRefused
from toolroll.safe.paths import names
from toolroll.safe.paths.names import RelativePath, Rule, check_new_name, parse_path, quote_path
from toolroll.safe.paths.protected import PROTECTED_NAMES, WRITE_PROTECTED_NAMES, fold_name, is_protected

# Pieces that attacks on paths are made of, so that random text meets the rules often.
PIECES = st.sampled_from(
    [
        "/",
        "..",
        ".",
        "~",
        "\\",
        "a",
        "b.py",
        ".git",
        ".env",
        " ",
        "'",
        '"',
        "\0",
        "\n",
        "\u202e",
        "\u200d",
        "C:",
        "é",
        "％",
    ]
)
PATHISH = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))

REFUSED = [
    ("", "empty"),
    (" \t\r\n ", "empty"),
    (".", "dot"),
    ("./a", "dot"),
    ("a/./b", "dot"),
    ("a/.", "dot"),
    ("..", "dot_dot"),
    ("../x", "dot_dot"),
    ("a/../../b", "dot_dot"),
    ("a/..", "dot_dot"),
    ("/", "absolute"),
    ("/etc/passwd", "absolute"),
    ("//server/share", "absolute"),
    ("C:/Windows", "absolute"),
    ("c:", "absolute"),
    ("~", "home"),
    ("~/x", "home"),
    ("~root/.ssh", "home"),
    ("a\\b", "backslash"),
    ("..\\..\\x", "backslash"),
    ("C:\\Windows", "backslash"),
    ("a\0b", "control"),
    ("a\nb", "control"),
    ("a\x1b[31m", "control"),
    ("a\x7f", "control"),
    ("a\x85b", "control"),
    ("a\x9bb", "control"),
    ("a\ud800", "surrogate"),
    ("a\udcff/b", "surrogate"),
    ("a/", "trailing_slash"),
    ("a//b", "double_slash"),
    ("a/ b", "outer_space"),
    ("a /b", "outer_space"),
    ("a\u00a0", "outer_space"),
    ("\u3000a", "outer_space"),
    ("a.", "trailing_dot"),
    ("a./b", "trailing_dot"),
    ("...", "trailing_dot"),
    ('"a/b"', "trailing_quote"),
    ("a'", "trailing_quote"),
    ("a`/b", "trailing_quote"),
    ("a" * 256, "component_too_long"),
    ("é" * 128, "component_too_long"),
    ("a/" * 2048 + "a", "too_long"),
    ("a/" * 128 + "a", "too_deep"),
]


@pytest.mark.parametrize(("text", "rule"), REFUSED)
def test_XP1_XP7_a_refused_path_names_the_rule(text: str, rule: str) -> None:
    with pytest.raises(PathRefused) as caught:
        parse_path(text)
    assert rule == caught.value.rule
    assert caught.value.code == "path_validation"
    assert {str(name): why for name, why in names._WHY.items()}[rule] in caught.value.message
    assert caught.value.path.replace("\u3000", "").isprintable()
    assert len(caught.value.message) < 2_000


def test_XP1_no_file_system_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: object, **__: object) -> None:
        raise AssertionError("the file system was asked")

    for name in ("open", "stat", "lstat", "access", "readlink", "scandir", "listdir"):
        monkeypatch.setattr(os, name, touched)
    for text, _ in REFUSED:
        with pytest.raises(PathRefused):
            parse_path(text)
    check_new_name(parse_path("src/main.py"))
    assert is_protected(parse_path("src/.git"))


def test_XP1_the_limit_counts_characters_after_trimming() -> None:
    path = parse_path(f"  {'é' * 99}/{'é' * 100}\n", max_characters=200)
    assert len(str(path)) == 200
    with pytest.raises(PathRefused, match="too long") as caught:
        parse_path("a/" * 100 + "b", max_characters=200)
    assert caught.value.rule == "too_long"


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "src/main.py",
        ".env",
        ".github/workflows/ci.yml",
        "...a",
        "..a",
        "a..b",
        "a b/c d",
        "-rf",
        "a:b",
        "x~1",
        "%2e%2e/etc",
        "..%2f..%2fetc",
        "..;/etc",
        "％２ｅ",
        "．．／etc",
        "Привіт/світ.md",
        "e\u0301.txt",
        'say "hi" now',
        "$(reboot)",
        "a" * 255,
    ],
)
def test_XP1_ordinary_and_merely_odd_names_can_be_named(text: str) -> None:
    assert str(parse_path(text)) == text


def test_every_rule_is_shown_by_a_test_and_has_a_text() -> None:
    of_new_names = {"invisible", "reserved_character", "reserved_name"}
    of_children = {"separator"}
    assert set(get_args(Rule)) == {rule for _, rule in REFUSED} | of_new_names | of_children
    assert set(get_args(Rule)) == set(names._WHY)


@pytest.mark.parametrize("text", [" a/b.py", "a/b.py\n", "\ta/b.py \r\n"])
def test_XP7_the_trimmed_text_is_the_only_one(text: str) -> None:
    path = parse_path(text)
    assert path == RelativePath(parts=("a", "b.py"))
    assert str(path) == "a/b.py"
    with pytest.raises(PathRefused) as caught:
        parse_path(text.replace("/", "/../"))
    assert caught.value.path == "a/../b.py"
    assert "'a/../b.py'" in caught.value.message


@given(PATHISH)
@example("a/" * 127 + "b")
@example("．．/x")
def test_XP1_whatever_is_accepted_stays_below_the_root(text: str) -> None:
    try:
        path = parse_path(text)
    except PathRefused:
        return
    joined = str(path)
    assert joined in text
    assert "/".join(path.parts) == joined
    assert ".." not in path.parts
    assert not joined.startswith(("/", "~"))
    assert not any(ord(character) < 32 for character in joined)
    assert os.path.normpath(f"/root/{joined}") == f"/root/{joined}"
    assert PurePosixPath("/root", joined).is_relative_to("/root")
    assert parse_path(joined) == path


@given(st.lists(PATHISH, max_size=4))
def test_XP1_no_path_can_be_built_that_climbs(parts: list[str]) -> None:
    try:
        path = RelativePath(parts=tuple(parts))
    except PathRefused:
        return
    joined = os.path.normpath(os.path.join("/root", *path.parts))
    assert joined == "/".join(["/root", *path.parts])
    assert "\0" not in joined


@pytest.mark.parametrize(
    ("part", "rule"),
    [
        ("", "double_slash"),
        (".", "dot"),
        ("..", "dot_dot"),
        ("a/b", "separator"),
        ("/", "separator"),
        ("a\0", "control"),
    ],
)
def test_XP1_a_path_made_by_hand_keeps_the_rules_too(part: str, rule: str) -> None:
    with pytest.raises(PathRefused) as caught:
        RelativePath(parts=("a", part))
    assert caught.value.rule == rule


def test_parents_and_children() -> None:
    path = parse_path("a/b")
    assert path.name == "b"
    assert path.parent == parse_path("a")
    assert path.parent.parent == RelativePath(parts=())
    assert path.parent.parent.parent == path.parent.parent
    assert str(path.parent.parent) == "."
    assert path.parent.parent.name == ""
    assert path.child("c d") == parse_path("a/b/c d")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("b ", "outer_space"),
        ("b\n", "control"),
        ("b.", "trailing_dot"),
        ("b'", "trailing_quote"),
        ("b\udcff", "surrogate"),
        ("b\\c", "backslash"),
        ("..", "dot_dot"),
        ("b/c", "separator"),
        ("", "double_slash"),
    ],
)
def test_XP7_a_listed_name_that_cannot_be_expressed_is_an_error(name: str, rule: str) -> None:
    with pytest.raises(PathRefused) as caught:
        parse_path("a").child(name)
    assert caught.value.rule == rule


@given(st.text(max_size=12))
def test_XP7_what_a_folder_can_name_the_parser_can_name(name: str) -> None:
    try:
        path = parse_path("a").child(name)
    except PathRefused:
        return
    assert parse_path(str(path)) == path


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("a\u202etxt.exe", "invisible"),
        ("a\u2066b", "invisible"),
        ("a\u200bb", "invisible"),
        ("a\u200db", "invisible"),
        ("a\u00adb", "invisible"),
        ("a\ufe0f", "invisible"),
        ("a\U000e0041", "invisible"),
        ("a\U000e0100", "invisible"),
        ("a\u3164b", "invisible"),
        ("a\u2028b", "invisible"),
        ("a\u00a0b", "invisible"),
        ("a\ufeffb", "invisible"),
        ("a:b", "reserved_character"),
        ("a*b", "reserved_character"),
        ("a?b", "reserved_character"),
        ("a<b", "reserved_character"),
        ("a>b", "reserved_character"),
        ("a|b", "reserved_character"),
        ('a"b', "reserved_character"),
        ("CON", "reserved_name"),
        ("nul.txt", "reserved_name"),
        ("Aux .c", "reserved_name"),
        ("com1", "reserved_name"),
        ("LPT³.log", "reserved_name"),
        ("CONOUT$", "reserved_name"),
    ],
)
def test_XP10_deceiving_and_untravelled_names_are_opened_but_not_made(name: str, rule: str) -> None:
    path = parse_path(f"src/{name}/x")
    with pytest.raises(PathRefused) as caught:
        check_new_name(path)
    assert caught.value.rule == rule
    assert caught.value.path.isprintable()


@pytest.mark.parametrize(("part", "rule"), [("a\x1b", "control"), ("a\x9b", "control"), ("a\udc80", "surrogate")])
def test_XP10_controls_and_surrogates_are_refused_for_paths_made_by_hand(part: str, rule: str) -> None:
    with pytest.raises(PathRefused) as caught:
        check_new_name(RelativePath(parts=(part,)))
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    "name", ["console.py", "com10", "null", "aux_files", "Привіт.md", "日本語", "e\u0301", "a b", "-x"]
)
def test_XP10_ordinary_names_can_be_made(name: str) -> None:
    check_new_name(parse_path(name))


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("a\x1b[31m", "a‹U+001B›[31m"),
        ("a\u202eb", "a‹U+202E›b"),
        ("a\udcff", "a‹U+DCFF›"),
        ("a\nb", "a‹U+000A›b"),
        ("Привіт", "Привіт"),
    ],
)
def test_XP10_existing_odd_names_are_shown_escaped(name: str, spelled: str) -> None:
    assert quote_path(name) == spelled


@pytest.mark.parametrize(
    "text",
    [
        ".git/config",
        ".GIT/config",
        "a/.Git",
        ".git\u200d/config",
        ".g\u200cit/config",
        "\u202e.git/x",
        ".ｇｉｔ/config",
        "．git/x",
        ".git::$INDEX_ALLOCATION/config",
        ".git:stream",
        "git~1/config",
        "GIT~1",
        "GIT~12/x",
        ".Env",
        ".ENV",
        "a/.env.production",
        ".env.local",
        "ENV~1.LOC",
        ".ſſh/config",
        ".SSH/id_ed25519",
        "keys/server.PEM",
        "TOOLRO~1/settings",
        ".toolroll/settings",
        "id_rsa",
        ".env~",
        ".ENV.BAK",
        "id_rsa~",
        "id_rsa.bak",
        "id_rsa.orig.~2~",
        "a/server.key.old",
        ".id_rsa.swp",
        "..env.swo",
        "#id_rsa#",
        ".docker/config.json",
    ],
)
def test_XP8_protected_in_every_spelling(text: str) -> None:
    assert is_protected(parse_path(text))


@pytest.mark.parametrize("part", [".git ", ".git.", ".git. .", ".git\u00a0", ".env :x"])
def test_XP8_protected_also_where_only_the_disk_has_such_a_name(part: str) -> None:
    assert is_protected(RelativePath(parts=("a", part)))


@pytest.mark.parametrize(
    "text",
    [
        ".gitignore",
        ".github/workflows/ci.yml",
        "git/x",
        ".env.example",
        ".ENV.Sample",
        "environment.py",
        "env",
        "keyboard.py",
        "pem.txt",
        "id_rsa.pub",
        "id_rsa.pub~",
        "notes.txt.bak",
        "main.py~",
        ".main.py.swp",
        "#",
        "#1",
        "v1.0~x",
        "digit~1",
        ".vscode/tasks.json",
    ],
)
def test_XP8_ordinary_neighbours_are_not_protected(text: str) -> None:
    assert not is_protected(parse_path(text))


@pytest.mark.parametrize(
    "text",
    [".vscode/tasks.json", ".VSCode/launch.json", ".idea/runConfigurations/a.xml", ".idea/workspace.xml", ".bashrc",
     ".mcp.json", ".husky/pre-commit", "a.code-workspace", ".git/config", ".env"],
)  # fmt: skip
def test_XP8_what_would_run_by_itself_is_protected_for_writing(text: str) -> None:
    assert is_protected(parse_path(text), WRITE_PROTECTED_NAMES)


@pytest.mark.parametrize("text", [".github/workflows/ci.yml", "Makefile", ".env.example", "vscode/a", "src/profile.py"])
def test_XP8_what_runs_when_a_person_asks_can_be_written(text: str) -> None:
    assert not is_protected(parse_path(text), WRITE_PROTECTED_NAMES)


def test_XP8_the_protected_names_can_be_chosen() -> None:
    path = parse_path("a/Secret/b.txt")
    assert is_protected(path, ["secret"])
    assert is_protected(path, {"*.TXT"})
    assert not is_protected(path, {"*.txt", "!b.*"})
    assert not is_protected(path, [])
    assert not is_protected(RelativePath(parts=()), PROTECTED_NAMES)


@given(st.one_of(PATHISH, st.text(st.characters(), max_size=20)))
@example("git~1")
@example(".git :x ..")
@example("\u0345\u0301\u1fb7")
def test_XP8_folding_twice_is_folding_once(name: str) -> None:
    folded = fold_name(name)
    assert fold_name(folded) == folded


@given(st.sampled_from(sorted(name for name in PROTECTED_NAMES if "*" not in name and "!" not in name)), st.data())
def test_XP8_no_mix_of_case_and_invisible_characters_gets_around_it(name: str, data: st.DataObject) -> None:
    hidden = st.sampled_from(["", "", "\u200b", "\u200d", "\u2060", "\ufe0f", "\u00ad", "\U000e0061"])
    odd = "".join(
        data.draw(hidden) + (character.upper() if data.draw(st.booleans()) else character) for character in name
    )
    ending = data.draw(st.sampled_from(["", ".", " ", "::$DATA", ":x", ". ."]))
    assert is_protected(RelativePath(parts=("a", odd + ending)))
