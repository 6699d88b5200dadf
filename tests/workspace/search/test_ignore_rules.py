"""Ignore files mean what git takes them to mean, and no pattern takes long."""

import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolroll.workspace.search.ignore_rules import MAX_PATTERNS, parse_rules
from toolroll.workspace.search.tree import tracked_paths
from toolroll.workspace.workspace import Workspace

NAME = st.sampled_from(["a", "b", "ab", "a.b", "abc"])
PIECE = st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "a*", "*b", "**", "a.b", "[a-b]*", "\\a", "[[:alpha:]]"])
PATTERN = st.builds(
    lambda sign, root, pieces, end: sign + root + "/".join(pieces) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/", "**/"]),
    st.lists(PIECE, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/**", " "]),
)
PATHS = st.sets(st.lists(NAME, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(paths=PATHS, rules=st.dictionaries(st.sampled_from(["", "a/"]), st.lists(PATTERN, max_size=4), max_size=2))
def test_C2_XF12_the_same_files_count_as_for_git(paths: set[str], rules: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "app"
        root.mkdir()
        for path in sorted(paths, key=len, reverse=True):
            if not (root / path).exists() and not any(one.is_file() for one in (root / path).parents):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).touch()
        for folder, lines in rules.items():
            if (root / folder).is_dir():
                (root / folder / ".gitignore").write_text("\n".join(lines))
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        listed = ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard"]
        expected = set(subprocess.run(listed, check=True, capture_output=True).stdout.decode().split("\0")) - {""}
        with Workspace(root, state=Path(name) / "state") as workspace:
            assert set(map(str, tracked_paths(workspace))) == expected


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("#a", "#a", None),
        ("\\#a", "#a", True),
        ("\\!a", "!a", True),
        ("a\\ ", "a ", True),
        ("a\\", "a\\", None),
        ("[", "[", None),
        ("[a", "a", None),
        ("[]a]", "]", True),
        ("[b-a]", "b", None),
        ("[!b-a]", "b", True),
        ("[[:nothing:]]", "n", None),
        ("[\\]]", "]", True),
        ("[a\\", "a", None),
        ("x[a/]b", "x/b", None),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("/**", "x/y", True),
        ("a\r", "a", True),
        ("/", "a", None),
        ("{a,b}", "a", None),
        ("x" * 5_000, "x", None),
    ],
)
def test_C2_XF12_odd_lines(line: str, path: str, expected: bool | None) -> None:
    rules = parse_rules(line.encode())
    assert rules is not None
    assert rules.verdict(path, path.rpartition("/")[2], is_folder=False) == expected


@pytest.mark.parametrize("pattern", ["a*" * 100 + "b", "**/a*/" * 40 + "b", "*" * 4_000, "[!b]*" * 200 + "x"])
def test_XF12_no_pattern_takes_long(pattern: str) -> None:
    rules = parse_rules(pattern.encode())
    assert rules is not None
    began = time.process_time()
    rules.verdict("/".join(["a" * 200] * 20), "a" * 250, is_folder=True)
    assert time.process_time() - began < 2
    assert parse_rules(b"a\n" * (MAX_PATTERNS + 1)) is None


@given(st.binary(max_size=60), st.text("ab/*[]", min_size=1, max_size=8))
def test_XF12_no_ignore_file_fails(data: bytes, path: str) -> None:
    rules = parse_rules(data)
    assert rules is not None
    assert rules.verdict(path, path.rpartition("/")[2], is_folder=False) in {True, False, None}
