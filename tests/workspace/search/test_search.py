"""Lines that match: found, counted, windowed, bounded in time; and why there may be none."""

import asyncio
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.safe.programs.test_ripgrep import seconds_of_programs
from tests.workspace.conftest import Opening
from tests.workspace.nasty import MB, NEEDLE, ODD_NAMES, TEXTS, write_nasty

from toolroll.errors import ArgumentsRefused, FileMissing, NotAFile, OutsideRoot, PathRefused
from toolroll.workspace.limits import Limits
from toolroll.workspace.search.globs import MAX_ALTERNATIVES, compile_glob, matches_glob
from toolroll.workspace.search.match_lines import MatchLine
from toolroll.workspace.search.search import FileMatches, SearchResult, _check_pattern, _Pattern, search
from toolroll.workspace.search.walk import Skipped
from toolroll.workspace.text import decode, split_lines
from toolroll.workspace.workspace import Workspace


def write(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def lines_of(result: SearchResult) -> dict[str, list[tuple[int, str]]]:
    return {str(file.path): [(line.number, line.text) for line in file.lines] for file in result.files}


async def test_C12_matches_are_grouped_by_file_with_line_numbers(workspace: Workspace, folder: Path) -> None:
    write(folder, b="TODO one\nx\nfix TODO\n", a__z="TODO", a__b="done")
    result = await search(workspace, "TODO")
    assert lines_of(result) == {"a/z": [(1, "TODO")], "b": [(1, "TODO one"), (3, "fix TODO")]}
    assert (result.total, result.shown, result.more, result.matching_files, result.searched) == (3, 3, 0, 2, 2)
    assert result.is_complete
    assert result.files[1] == FileMatches(
        path=workspace.path("b"),
        count=2,
        lines=(
            MatchLine(number=1, text="TODO one", start=0, end=4),
            MatchLine(number=3, text="fix TODO", start=4, end=8),
        ),
    )


async def test_C12_fifty_are_shown_and_the_rest_is_counted_truly(workspace: Workspace, folder: Path) -> None:
    for number in range(30):
        write(folder, **{f"f{number:02}": "needle\n" * 7})
    first, again = [await search(workspace, "needle") for _ in range(2)]
    assert first == again
    assert (first.shown, first.total, first.more, first.matching_files) == (50, 210, 160, 30)
    assert [str(file.path) for file in first.files] == [f"f{number:02}" for number in range(8)]
    assert [len(file.lines) for file in first.files] == [7] * 7 + [1]
    every = await search(workspace, "needle", max_matches=1_000)
    assert (every.shown, every.more) == (210, 0)


async def test_C12_more_files_than_one_command_takes(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolroll.workspace.search.search.HANDLES_AT_ONCE", 4)
    for number in range(10):
        write(folder, **{f"f{number}": "needle\n"})
    assert (await search(workspace, "needle")).shown == 10


async def test_C12_the_pattern_is_a_regular_expression_on_lines(workspace: Workspace, folder: Path) -> None:
    write(folder, a="foo(bar)\r\nfoobar\r\nFOO\r\n")
    assert lines_of(await search(workspace, r"foo\(")) == {"a": [(1, "foo(bar)")]}
    assert lines_of(await search(workspace, "^foobar$")) == {"a": [(2, "foobar")]}
    assert (await search(workspace, "foo", ignore_case=True)).total == 3
    assert (await search(workspace, "--files")).total == 0
    assert (await search(workspace, "-P")).total == 0


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "unclosed group"),
        ("a{2,1}", "invalid repetition"),
        ("(?=x)", "look-around"),
        (r"(x)\1", "backreferences"),
        ("a\nb", "literal"),
        ("(a{1000}){1000}{1000}", "size limit"),
        ("", "empty"),
        ("a\0b", "NUL"),
    ],
)
async def test_C12_a_bad_pattern_is_an_error_that_says_why(
    workspace: Workspace, folder: Path, pattern: str, why: str
) -> None:
    write(folder, a="x")
    with pytest.raises(ArgumentsRefused, match=why) as caught:
        await search(workspace, pattern)
    assert len(caught.value.message) < 2_000
    assert not any(option in caught.value.message for option in ("--pcre2", "--multiline", "(?:", "Consider"))


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "unclosed group in '('"),
        ("(\n\nerror: b", "unclosed group in '(‹U+000A›‹U+000A›error: b'"),
        ("(?=x)", "look-around, including look-ahead and look-behind, is not supported in '(?=x)'"),
        ("[" * 300, "unclosed character class in '" + "[" * 199 + "…'"),
    ],
)
async def test_C12_C42_a_bad_pattern_is_shown_as_it_was_given(
    workspace: Workspace, folder: Path, pattern: str, why: str
) -> None:
    write(folder, a="x")
    with pytest.raises(ArgumentsRefused) as caught:
        await search(workspace, pattern)
    assert caught.value.message.startswith(f"The pattern cannot be searched for: {why}\nLines are searched")


async def test_C12_XF6_a_catastrophic_pattern_takes_linear_time(workspace: Workspace, folder: Path) -> None:
    write(folder, a="a" * 100_000 + "!")
    before = seconds_of_programs()
    assert (await search(workspace, "^(a+)+$")).total == 0
    assert seconds_of_programs() - before < 3


async def test_C12_file_patterns(workspace: Workspace, folder: Path) -> None:
    write(folder, **{"a.js": "x", "b.jsx": "x", "src__c.js": "x", "src__d__e.ts": "x", "odd[1].md": "x"})
    write(folder, **{"app__[id]__page.tsx": "x"})
    (folder / ".gitignore").write_text("ignored.js\n")
    write(folder, **{"ignored.js": "x"})

    async def names(pattern: str, where: str = "") -> list[str]:
        result = await search(workspace, "x", folder=workspace.folder(where), file_pattern=pattern)
        return [str(file.path) for file in result.files]

    assert await names("*.js") == ["a.js", "src/c.js"]
    assert await names("*.{js,jsx}") == ["a.js", "b.jsx", "src/c.js"]
    assert await names("src/**") == ["src/c.js", "src/d/e.ts"]
    assert await names("src/*.js") == ["src/c.js"]
    assert await names("d/*", "src") == ["src/d/e.ts"]
    assert await names("**/*.ts") == ["src/d/e.ts"]
    assert await names("odd[[]1].md") == ["odd[1].md"]
    assert await names("odd[1].md") == ["odd[1].md"]
    assert await names("app/[id]/*") == ["app/[id]/page.tsx"]
    with pytest.raises(ArgumentsRefused, match="is not closed"):
        await names("[")
    assert await names("include:py") == []


async def test_C2_files_in_older_encodings_are_counted_where_nothing_matched(opened: Opening, folder: Path) -> None:
    workspace = opened("secret/**")
    write(folder, a="caf\xe9 au lait\n".encode("latin-1"), b="th\xe9\n", c=b"caf\xe9\n\0", d="th\xe9".encode("utf-16"))
    write(folder, secret__e=b"\xe9", f__g=b"\xff", h=b"x\r\ny\r\n")
    assert (await search(workspace, "caf\xe9")).not_utf8 == 2
    assert (await search(workspace, "caf. au")).not_utf8 == 2
    assert (await search(workspace, "caf\xe9", folder=workspace.path("a"))).not_utf8 == 1
    assert (await search(workspace, "caf\xe9", file_pattern="f/*")).not_utf8 == 1
    assert (await search(workspace, "coffee")).not_utf8 == 0
    matched = await search(workspace, "th\xe9")
    assert (matched.matching_files, matched.not_utf8) == (2, 0)


@pytest.mark.parametrize("name", [name for name, data in TEXTS.items() if b"needle" in data.replace(b"\0", b"")])
async def test_C12_every_nasty_text_is_searched(workspace: Workspace, folder: Path, name: str) -> None:
    write_nasty(folder)
    if name == "utf32le.txt":  # which ripgrep takes for UTF-16 with NULs in it
        assert (await search(workspace, NEEDLE, folder=workspace.path(name))).total == 0
        return
    result = await search(workspace, NEEDLE, folder=workspace.path(name))
    [file] = result.files
    [line] = file.lines
    text = decode(TEXTS[name], path=name)
    whole = split_lines(text.text)[line.number - 1].removesuffix("\r")
    assert (result.total, line.text[line.start : line.end]) == (1, NEEDLE)
    assert line.text in whole
    assert len(line.text) <= workspace.limits.match_characters
    assert (line.cut_before or line.cut_after) == (len(whole) > workspace.limits.match_characters)


async def test_C12_all_nasty_files_at_once(workspace: Workspace, folder: Path) -> None:
    write_nasty(folder)
    result = await search(workspace, NEEDLE, max_matches=1_000)
    expected = {name for name, data in TEXTS.items() if b"needle" in data.replace(b"\0", b"")} - {"utf32le.txt"}
    expected |= {os.fsdecode(name) for name in ODD_NAMES} | {"hard-twin.txt", "compressed.gz"}
    assert {str(file.path) for file in result.files} == expected
    assert "outside" not in str(result)


async def test_C12_a_long_line_is_a_window_around_the_match(opened: Opening, folder: Path) -> None:
    workspace = opened(limits=Limits(match_characters=30))
    write(folder, a="й" * 100 + "needle" + "ї" * 100, b="needle" + "z" * 100, c="z" * 100 + "needle")
    a, b, c = [file.lines[0] for file in (await search(workspace, "needle")).files]
    assert a == MatchLine(
        number=1, text="й" * 10 + "needle" + "ї" * 14, start=10, end=16, cut_before=True, cut_after=True
    )
    assert (b.text, b.cut_before, b.cut_after) == ("needle" + "z" * 24, False, True)
    assert (c.text, c.cut_before, c.cut_after) == ("z" * 24 + "needle", True, False)
    [whole] = (await search(workspace, "needle.*", folder=workspace.path("b"))).files[0].lines
    assert (whole.start, whole.end, whole.text) == (0, 30, "needle" + "z" * 24)


@given(
    st.text("aé日😀", max_size=60), st.text("bé日😀", max_size=60), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
)
def test_C12_windows_are_parts_of_the_line_in_any_encoding(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, encoding: str
) -> None:
    root = tmp_path_factory.mktemp("windows")
    line = f"{before}needle{after}"
    (root / "f").write_bytes(f"first é\n{line}\r\nlast".encode(encoding))
    with Workspace(root, state=root.parent / "state", limits=Limits(match_characters=24)) as workspace:
        [found] = asyncio.run(search(workspace, "needle")).files[0].lines
    assert found.number == 2
    assert found.text in line
    assert found.text[found.start : found.end] == "needle"
    assert len(found.text) == min(24, len(line))
    assert found.cut_before == (not line.startswith(found.text) or found.start < len(before))
    assert found.cut_after == (found.start + len(line) - len(before) > len(found.text))


async def test_C12_time_runs_out_with_what_there_was(opened: Opening, folder: Path) -> None:
    write(folder, a="needle\n")
    workspace = opened(limits=Limits(search_seconds=1e-9))
    result = await search(workspace, "needle")
    assert not result.is_complete
    assert result.total in {0, 1}  # what was printed in no time counts


async def test_C2_ignored_files_that_take_too_long_to_count_are_at_least_so_many(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, a="x", node_modules__n="x")
    monkeypatch.setattr("toolroll.workspace.search.walk.MAX_COUNTING_SECONDS", 0)
    assert (await search(workspace, "y")).skipped.at_least


async def test_C12_a_good_pattern_is_not_blamed_for_bad_files() -> None:
    await _check_pattern(_Pattern(pattern="fine", ignore_case=False), None)


async def test_C12_cancelling_leaves_no_process(workspace: Workspace, folder: Path) -> None:
    write(folder, a="x" * 5 * MB)
    task = asyncio.create_task(search(workspace, "needle"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    deadline = time.monotonic() + 60
    while any(link_to(entry) == folder for entry in Path("/proc").glob("[0-9]*/cwd")):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def link_to(entry: Path) -> Path | None:
    try:
        return entry.readlink()
    except OSError:
        return None


async def test_C2_no_match_explains_itself(opened: Opening, folder: Path) -> None:
    workspace = opened("secret/**", limits=Limits(search_file_bytes=1_000))
    write(folder, a="x", big="x" * 1_001, bin=b"x\0", secret__s="needle", node_modules__n="needle")
    (folder / ".git").mkdir()
    result = await search(workspace, "needle")
    assert (result.total, result.searched) == (0, 1)
    assert result.skipped == Skipped(ignored=1, binary=1, too_large=1, denied=1)
    assert result.skipped.total == 4
    other = await search(workspace, "needle", file_pattern="*.zip")
    assert (other.searched, other.skipped) == (0, Skipped(denied=1))


@pytest.mark.skipif(os.geteuid() == 0, reason="root passes every permission check")
async def test_C2_XF8_what_cannot_be_read_is_counted(workspace: Workspace, folder: Path) -> None:
    write(folder, a="x", b="needle")
    (folder / "b").chmod(0)
    assert (await search(workspace, "needle")).skipped == Skipped(unreadable=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root passes every permission check")
async def test_C2_XF8_a_folder_that_cannot_be_read_is_counted(opened: Opening, folder: Path) -> None:
    workspace = opened("secret/**")
    write(folder, **{"a.py": "x", "closed__b.py": "x", "odd\nname__c.py": "x", "secret__d": "x", "e.js": "x"})
    closed = [folder / name for name in ("closed", "odd\nname", "secret", "e.js")]
    for one in closed:
        one.chmod(0)
    try:
        some = await search(workspace, "x", file_pattern="[a]*.py")
        none = await search(workspace, "y")
    finally:
        for one in closed:
            one.chmod(0o755)
    assert (some.total, some.skipped) == (1, Skipped(unreadable=2))
    assert (none.searched, none.skipped) == (1, Skipped(unreadable=3))


async def test_C12_one_file_can_be_searched_though_it_is_ignored(opened: Opening, folder: Path) -> None:
    workspace = opened(limits=Limits(search_file_bytes=100))
    write(folder, node_modules__n="needle", big="needle" + "x" * 100, bin=b"needle\0")
    assert (await search(workspace, "needle", folder=workspace.path("node_modules/n"))).total == 1
    assert (await search(workspace, "needle", folder=workspace.path("big"))).skipped == Skipped(too_large=1)
    assert (await search(workspace, "needle", folder=workspace.path("bin"))).skipped == Skipped(binary=1)
    nothing = await search(workspace, "zzz", folder=workspace.path("node_modules/n"))
    assert (nothing.searched, nothing.skipped) == (1, Skipped())


async def test_C2_what_cannot_be_searched_is_an_error(opened: Opening, folder: Path) -> None:
    workspace = opened("secret/**")
    write_nasty(folder)
    for name, error in {
        "none.zip": FileMissing,
        "pipe": NotAFile,
        "socket": NotAFile,
        "link-outside": OutsideRoot,
        "link-loop": OutsideRoot,
        "secret": PathRefused,
        ".git": PathRefused,
    }.items():
        with pytest.raises(error):
            await search(workspace, "needle", folder=workspace.path(name))


@pytest.mark.parametrize(("pattern", "missed"), [("nowhere", 0), ("n.where", 0), ("où", 1), (r"o\x{f9}", 1)])
async def test_C2_in_a_large_project_too_what_was_passed_over_is_counted(
    opened: Opening, folder: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, missed: int
) -> None:
    workspace = opened("secret/**", limits=Limits(search_file_bytes=1_000))
    write(folder, **{"old.txt": "là".encode("latin-1"), "big.bin": b"\0tea", "key.pem": b"\0"})
    write(folder, **{"new.txt": "tea", "big": "x" * 1_001, ".ignore": "*.log\n"})
    write(folder, secret__s="tea", node_modules__a__b="tea", node_modules__c="tea", **{"we\nird.log": "tea"})
    write(folder, **{".env.local": "tea", ".env.example": "tea"})
    monkeypatch.setattr("toolroll.workspace.search.search.MAX_ACCOUNTED_FILES", 1)
    result = await search(workspace, pattern)
    assert result.searched == 4
    assert result.skipped == Skipped(ignored=3, binary=1, too_large=1, denied=3)
    assert result.not_utf8 == missed
    narrowed = await search(workspace, pattern, file_pattern="*.txt")
    assert (narrowed.searched, narrowed.skipped) == (2, Skipped(denied=3))


def test_globs_are_what_people_mean() -> None:
    for pattern, path, fit in [
        ("*.py", "a/b.py", True),
        ("/a/*.py", "a/b.py", True),
        ("./a/*.py", "a/b.py", True),
        ("a/*.py", "x/a/b.py", False),
        ("**/a/**/b", "a/b", True),
        ("a/**", "b/c", False),
        ("**", "a/b", True),
        ("{a,b}/{c,d}", "b/c", True),
        ("x{a,{b,c}}\\1", "xc\\1", True),
        ("[ab].c", "b.c", True),
        ("[ab].c", "[ab].c", True),
        ("[ab]*/c", "[ab]x/c", True),
        ("[ab].c", "x.c", False),
        ("{a", "{a", True),
        ("a,", "a", True),
    ]:
        assert matches_glob(pattern, path) == fit, pattern
    assert len(compile_glob("{a,b}" * 50)) <= 2 * 100 * MAX_ALTERNATIVES


@given(st.text("ab*?[]{},/!", max_size=12), st.text("ab/", min_size=1, max_size=8))
def test_no_glob_fails(pattern: str, path: str) -> None:
    assert matches_glob(pattern, path) in {True, False}
