"""Looking around: `read_file`, `list_files`, `search_files`, `find_files`, as a model gets them."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.context.counted import results_in
from tests.agent.stage import Call
from tests.packs.code.conftest import MAIN, Coder, coding

from toolroll import Agent, ScriptedModel
from toolroll.kernel.approval.request import content_hash
from toolroll.outputs.cut import CONTEXT_BYTES
from toolroll.outputs.store import OutputStore
from toolroll.packs.code.agent import code_agent
from toolroll.packs.code.answers import MAX_PAGE_BYTES, count_fitting, format_all_matches, format_found, format_search
from toolroll.packs.code.seen_files import SeenFiles
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.limits import Limits
from toolroll.workspace.search.find import FoundFiles
from toolroll.workspace.search.match_lines import MatchLine
from toolroll.workspace.search.search import FileMatches, SearchResult
from toolroll.workspace.search.walk import Skipped


def size(text: str) -> int:
    return len(text.encode())


async def test_C10_a_file_comes_with_line_numbers_its_size_and_its_hash(coder: Coder, project: Path) -> None:
    text = await coder.ok("read_file", path=MAIN)
    data = (project / MAIN).read_bytes()
    heading, *lines = text.split("\n")
    assert heading == f"{MAIN}: 9 lines, {len(data)} bytes, hash {content_hash(data)}"
    assert lines == [f"{number}\t{line}" for number, line in enumerate(data.decode().splitlines(), 1)]


async def test_C10_pages_lead_from_one_to_the_next_and_are_all_of_it(coder: Coder, folder: Path) -> None:
    (folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 4_501)))
    seen, offset, pages = [], 1, 0
    while offset:
        text = await coder.ok("read_file", path="long.txt", offset=offset)
        seen += [line.partition("\t")[2] for line in text.split("\n") if "\t" in line]
        onward = re.search(r"\[([\d,]+) more lines: read on with offset=(\d+)\]$", text)
        offset, pages = int(onward[2]) if onward else 0, pages + 1
        assert onward is None or int(onward[1].replace(",", "")) == 4_500 - offset + 1
    assert (seen, pages) == ([f"line {number}" for number in range(1, 4_501)], 3)
    assert SeenFiles(coder.run).get("long.txt").is_whole  # type: ignore[union-attr]
    part = await coder.ok("read_file", path="long.txt", offset=4_499, limit=1)
    assert part.split("\n")[1:] == ["4499\tline 4499", "[1 more line: read on with offset=4500]"]


@pytest.mark.parametrize("line", ["x" * 1_000, "漢" * 1_000, "😀" * 2_000, "\u202e" * 1_999, "\t" * 2_000])
async def test_C10_a_page_stays_below_what_is_cut(line: str, coder: Coder, folder: Path) -> None:
    (folder / "wide.txt").write_text(f"{line}\n" * 100)
    seen, offset = [], 1
    while offset:
        text = await coder.ok("read_file", path="wide.txt", offset=offset)
        assert size(text) < CONTEXT_BYTES
        seen += re.findall(r"^ *(\d+)\t", text, re.MULTILINE)
        onward = re.search(r"offset=(\d+)\]$", text)
        offset = int(onward[1]) if onward else 0
    assert seen == [str(number) for number in range(1, 101)]


async def test_C10_a_line_that_is_too_long_is_read_in_windows(coder: Coder, folder: Path) -> None:
    (folder / "min.js").write_text("short\n" + "".join(f"{number:06}" for number in range(1_000)) + "\n")
    text = await coder.ok("read_file", path="min.js")
    assert "[line 2 has 6,000 characters, here are 0 to 2,000: for others set offset=2, limit=1 and column]" in text
    text = await coder.ok("read_file", path="min.js", offset=2, limit=1, column=5_994)
    assert "2\t000999\n" in text
    known = SeenFiles(coder.run).get("min.js")
    assert known is not None
    assert (known.spans, known.is_whole) == ([(0, 1)], False)


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"a\r\nb\r\n", "CRLF line ends"),
        (b"a\nb\r\n", "mixed line ends"),
        (b"caf\xe9\n", "Latin-1"),
        (b"a\rb\r", "line ends"),
    ],
)
async def test_C10_what_is_unusual_about_a_file_is_said(data: bytes, note: str, coder: Coder, folder: Path) -> None:
    (folder / "odd").write_bytes(data)
    assert note.casefold() in (await coder.ok("read_file", path="odd")).split("\n")[0].casefold()


async def test_C10_XF2_an_empty_file_is_no_error_and_seen_whole(coder: Coder, folder: Path) -> None:
    (folder / "empty").touch()
    hash_ = content_hash("")
    assert await coder.ok("read_file", path="empty") == f"empty: 0 lines, 0 bytes, hash {hash_}"
    assert SeenFiles(coder.run).get("empty").is_whole  # type: ignore[union-attr]


@pytest.mark.parametrize(("more", "is_read"), [(-1, True), (0, True), (1, False)])
async def test_XF2_the_limit_counts_bytes(more: int, is_read: bool, folder: Path) -> None:
    (folder / "f").write_bytes(b"x" * (1_000 + more))
    async with coding(folder, limits=Limits(file_bytes=1_000)) as coder:
        if is_read:
            assert await coder.ok("read_file", path="f")
        else:
            code, message = await coder.refused("read_file", path="f")
            assert code == "file_too_large"
            assert "1,001 bytes" in message
            assert "search_files" in message


async def test_XF4_line_numbers_are_those_of_newlines(coder: Coder, folder: Path) -> None:
    (folder / "f").write_text("a\vb\fc\x85d\u2028e\u2029f\nneedle\n")
    assert "\n2\tneedle" in await coder.ok("read_file", path="f")
    assert "\n  2: needle" in await coder.ok("search_files", pattern="needle")


async def test_C10_C42_a_near_miss_is_suggested(coder: Coder, project: Path) -> None:
    code, message = await coder.refused("read_file", path="src/mian.js")
    assert code == "file_not_found"
    assert "Did you mean 'src/main.js'?" in message


async def test_C11_a_folder_with_kind_size_and_date(coder: Coder, folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "a.txt").write_text("12345")
    (folder / "link").symlink_to("a.txt")
    (folder / "node_modules").mkdir()
    for name in ("a.txt", "src", "node_modules"):
        os.utime(folder / name, (0, 1_700_000_000))
    assert await coder.ok("list_files", path=".") == (
        "./ (4 entries)\n"
        "folder  node_modules/  2023-11-14 22:13  (ignored)\n"
        "folder  src/  2023-11-14 22:13\n"
        "file    a.txt  5 bytes  2023-11-14 22:13\n"
        "link    link"
    )
    assert await coder.ok("list_files", path="src") == "src/ is empty."
    (folder / "src/b.txt").write_text("1")
    assert "file    src/b.txt  1 byte  " in await coder.ok("list_files", path="src")
    (folder / "src/b.txt").unlink()
    assert (await coder.ok("list_files", path="src", offset=3)).startswith("src/ is empty")


async def test_C10_C44_the_bytes_of_one_read_are_a_setting_that_is_named_where_it_cuts(folder: Path) -> None:
    (folder / "long.txt").write_text("twenty characters...\n" * 100)
    async with coding(folder, limits=Limits(read_bytes=500)) as coder:
        *_, last = (await coder.ok("read_file", path="long.txt")).split("\n")
        assert last == "[80 more lines (one read shows 500 bytes at most): read on with offset=21]"
        *_, last = (await coder.ok("read_file", path="long.txt", limit=5)).split("\n")
        assert last == "[95 more lines: read on with offset=6]"


@pytest.mark.parametrize("recursive", [False, True])
async def test_C11_C42_who_lists_a_file_is_sent_elsewhere(recursive: bool, coder: Coder, folder: Path) -> None:
    (folder / "a.py").touch()
    os.mkfifo(folder / "pipe")
    for name, kind in (("a.py", "a file"), ("pipe", "a pipe")):
        code, message = await coder.refused("list_files", path=name, recursive=recursive)
        advice = "Name the folder that it is in; read_file reads a file."
        assert (code, message) == ("not_a_file", f"'{name}' is {kind}, and a folder is needed. {advice}")
    _, message = await coder.refused("read_file", path="pipe")
    assert message.endswith("list_files shows what there is.")


async def test_C11_C2_XF1_nothing_that_is_not_empty_is_called_so(folder: Path) -> None:
    (folder / "e").mkdir()
    os.mkfifo(folder / "a")
    async with coding(folder, deny=("e/secret",)) as coder:
        for recursive in (False, True):
            listed = await coder.ok("list_files", path=".", recursive=recursive)
            assert [line[:10] for line in sorted(listed.split("\n"))] == ["./ (2 entr", "folder  e/", "pipe    a"]
            assert await coder.ok("list_files", path="e", recursive=recursive) == "e/ is empty."
        (folder / "e/secret").touch()
        (folder / "a").unlink()
        assert await coder.ok("list_files", path="e") == "e/ has nothing to show, 1 passed over (1 denied)."
        below = await coder.ok("list_files", path=".", recursive=True)
        assert below == "./ has nothing to show, 1 passed over (1 denied)."


@pytest.mark.parametrize(("path", "meant"), [("./src", "src"), (" ./src/ ", "src"), ("./src/a.js", "src/a.js")])
async def test_C42_XP1_a_path_as_lists_and_shells_show_it_is_told_as_it_should_be(
    path: str, meant: str, coder: Coder, project: Path
) -> None:
    for name in ("list_files", "search_files", "find_files"):
        more = {} if name == "list_files" else {"pattern": "x"}
        code, message = await coder.refused(name, path=path, **more)
        assert code == "path_validation"
        assert message.endswith(f" Here that is '{meant}'."), name


async def test_C11_C12_C13_a_folder_may_end_with_a_slash(coder: Coder, project: Path) -> None:
    for path in ("src/", "./", " src/services/ "):
        plain = path.strip().removesuffix("/")
        for name, more in (
            ("list_files", {}),
            ("search_files", {"pattern": "TODO"}),
            ("find_files", {"pattern": "*.js"}),
        ):
            assert await coder.ok(name, path=path, **more) == await coder.ok(name, path=plain, **more)


async def test_C2_a_folder_that_is_denied_is_denied_with_a_slash_too(project: Path) -> None:
    async with coding(project, deny=("src/services",)) as coder:
        for name, more in (("list_files", {}), ("search_files", {"pattern": "x"}), ("find_files", {"pattern": "*"})):
            assert (await coder.refused(name, path="src/services/", **more))[0] == "path_validation"


async def test_C42_XP1_a_file_is_told_as_it_should_be(coder: Coder, project: Path) -> None:
    for path in (f"./{MAIN}", f"{MAIN}/"):
        _, message = await coder.refused("read_file", path=path)
        assert message.endswith(f" Here that is '{MAIN}'.")
    assert await coder.ok("find_files", pattern=f"./{MAIN}") == MAIN


@pytest.mark.parametrize("path", ["/", "//", ".//etc", "./../x", "././src", "src//", "../", "./~/x", "src/./services"])
async def test_C42_XP1_what_has_no_right_spelling_is_given_none(path: str, coder: Coder, project: Path) -> None:
    code, message = await coder.refused("list_files", path=path)
    assert code == "path_validation"
    assert "Here that is" not in message


async def test_C11_XP7_names_that_differ_in_blanks_look_different(coder: Coder, folder: Path) -> None:
    (folder / "sp.txt").write_text("one needle\n")
    (folder / "sp.txt ").write_text("another needle\n")
    odd = "sp.txt‹U+0020›"
    for recursive in (False, True):
        [_, plain, other] = (await coder.ok("list_files", path=".", recursive=recursive)).split("\n")
        assert plain.startswith("file    sp.txt  11 bytes")
        assert other.startswith(f"file    {odd}  15 bytes")
    assert await coder.ok("find_files", pattern="sp*") == f"sp.txt\n{odd}"
    assert f"\n{odd}\n  1: another" in await coder.ok("search_files", pattern="needle")
    assert (await coder.ok("read_file", path="sp.txt ")).startswith("sp.txt: 1 line, 11 bytes")


async def test_C33_XP7_names_that_look_the_same_are_told_apart(coder: Coder, folder: Path) -> None:
    composed, apart = "caf\u00e9", "cafe\u0301"
    for name in (f"{composed}.txt", f"{apart}.txt", f"alone-{apart}.txt"):
        (folder / name).write_text("x")
    note = "[a name with ‹U+...› for letters looks like another one, and is written with just these characters]"
    for recursive in (False, True):
        [_, *lines, last] = (await coder.ok("list_files", path=".", recursive=recursive)).split("\n")
        assert {line.split()[1] for line in lines} == {
            f"{composed}.txt",
            "cafe‹U+0301›.txt",
            f"alone-{apart}.txt",
        }
        assert last == note
    found = await coder.ok("find_files", pattern="caf*")
    assert found == f"{composed}.txt\ncafe‹U+0301›.txt\n{note}"
    assert await coder.ok("find_files", pattern="alone*") == f"alone-{apart}.txt"
    assert (await coder.ok("read_file", path=f"{apart}.txt")).startswith("cafe")


async def test_C11_a_hundred_a_page_and_how_many_more(coder: Coder, folder: Path) -> None:
    for number in range(230):
        (folder / f"f{number:03}").touch()
    seen: list[str] = []
    for offset, more in [(0, 130), (100, 30), (200, 0)]:
        text = await coder.ok("list_files", path=".", offset=offset)
        assert text == await coder.ok("list_files", path=".", offset=offset, recursive=True)
        heading, *lines = text.split("\n")
        assert heading == "./ (230 entries)"
        if more:
            assert lines.pop() == f"...and {more} more (offset={offset + 100})"
        seen += [line.split()[1] for line in lines]
    assert seen == [f"f{number:03}" for number in range(230)]
    assert await coder.ok("list_files", path=".", offset=500) == "There are 230 entries, so none from offset 500 on."


async def test_C11_a_page_of_long_names_is_shorter_and_none_is_lost(coder: Coder, folder: Path) -> None:
    deep = folder.joinpath(*["d" * 250] * 4)
    deep.mkdir(parents=True)
    names = ["\u200b" * 60 + f"{number:03}" for number in range(100)]
    for name in names:
        (deep / name).touch()
    seen, offset = 0, 0
    while True:
        text = await coder.ok("list_files", path=".", recursive=True, offset=offset)
        assert size(text) < CONTEXT_BYTES
        seen += sum(line.startswith("file ") for line in text.split("\n"))
        onward = re.search(r"more \(offset=(\d+)\)$", text)
        if onward is None:
            break
        offset = int(onward[1])
    assert seen == 100
    assert size(await coder.ok("find_files", pattern="*")) < CONTEXT_BYTES


async def test_C12_matches_by_file_with_numbers(coder: Coder, project: Path) -> None:
    text = await coder.ok("search_files", pattern="TODO", filePattern="*.js")
    assert text.split("\n")[:3] == [
        "3 matching lines in 3 files",
        "src/main.js",
        "  8: // TODO: read the name of the board from the command line",
    ]
    assert await coder.ok("search_files", pattern="TODO", path="src/services") == (
        "2 matching lines in 2 files\n"
        "src/services/DatabaseService.js\n  16:     // TODO: write to a temporary file first\n"
        "src/services/ReminderService.js\n  12:     // TODO: remind nobody twice on one day"
    )
    none = await coder.ok("search_files", pattern="nowhere", path=MAIN)
    assert none == "No line matches 'nowhere': 1 file was searched."


async def test_C2_letters_that_cannot_be_found_are_told(coder: Coder, folder: Path) -> None:
    (folder / "a").write_bytes(b"caf\xe9 au lait\n")
    assert "caf\xe9 au lait" in await coder.ok("search_files", pattern="caf")
    none = await coder.ok("search_files", pattern="caf\xe9")
    note = "not UTF-8: letters beyond ASCII are not found in"
    assert none == f"No line matches 'caf\xe9': 1 file was searched. 1 of them is {note} it, try a part in ASCII."
    (folder / "b").write_bytes(b"\xe9")
    assert f"2 of them are {note} them" in await coder.ok("search_files", pattern="caf\xe9")


async def test_C12_a_long_line_is_shown_around_the_match(coder: Coder, folder: Path) -> None:
    (folder / "min.js").write_text("x" * 5_000 + "needle" + "y" * 5_000)
    [_, _, line] = (await coder.ok("search_files", pattern="needle")).split("\n")
    assert re.fullmatch(r"  1: …x+needley+…", line)
    assert len(line) < 300


async def test_C12_fifty_are_shown_the_rest_is_counted_and_all_of_it_is_kept(folder: Path, tmp_path: Path) -> None:
    for number in range(30):
        (folder / f"f{number:02}").write_text("needle\n" * 7)
    script = ScriptedModel([Call("search_files", {"pattern": "needle"}), "Found."])
    result = await code_agent(folder, model=script, outputs=tmp_path / "outputs").run("find the needle")
    [message] = results_in(result.messages)
    assert message.output_ref is not None
    lines = str(message.content).split("\n")
    assert lines[0] == "210 matching lines in 30 files"
    assert sum(line.endswith(": needle") for line in lines) == 50
    assert lines[-3] == "...and 160 more: narrow it with path or filePattern"
    whole = str(OutputStore(tmp_path / "outputs", run_id=result.run_id).open(message.output_ref.id).content())
    assert whole.count(": needle") == 210
    assert "more" not in whole
    assert whole.endswith(": needle\n")
    assert whole.startswith("\n".join(lines[:-3]))


async def test_C12_beyond_what_is_kept_the_number_is_still_true(folder: Path) -> None:
    (folder / "f").write_text("needle\n" * 40)
    async with coding(folder, limits=Limits(matches=5, kept_matches=10)) as coder:
        result = await coder("search_files", pattern="needle")
    assert result.text.endswith("...and 35 more: narrow it with path or filePattern")
    assert result.whole is not None
    last = "...and 30 more: they are not kept, and a narrower pattern, path or filePattern shows them"
    assert result.whole.split("\n")[-2:] == [last, ""]
    async with coding(folder, limits=Limits(matches=40)) as coder:
        assert (await coder("search_files", pattern="needle")).whole is None


async def test_C12_matches_in_wide_characters_stay_below_what_is_cut(coder: Coder, folder: Path) -> None:
    deep = folder.joinpath(*["漢" * 80] * 3)
    deep.mkdir(parents=True)
    for number in range(60):
        (deep / f"{number}.txt").write_text("😀" * 1_000 + "needle" + "😀" * 1_000)
    text = await coder.ok("search_files", pattern="needle")
    assert size(text) < CONTEXT_BYTES
    shown = text.count("needle")
    assert f"...and {60 - shown} more" in text


@pytest.mark.parametrize("pattern", ["(", "a{99999999}", "[z-a]", r"\p{Nope}", "x\ny"])
async def test_C12_C42_a_bad_pattern_is_explained(pattern: str, coder: Coder, folder: Path) -> None:
    (folder / "f").write_text("x")
    code, message = await coder.refused("search_files", pattern=pattern)
    assert code == "invalid_arguments"
    assert message.startswith("The pattern cannot be searched for: ")
    assert "put a backslash before each" in message


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)*x"])
async def test_XF6_a_catastrophic_pattern_is_none(pattern: str, coder: Coder, folder: Path) -> None:
    (folder / "f").write_text("a" * 200_000 + "!")
    assert "f" in await coder.ok("search_files", pattern=pattern)


async def test_C12_time_that_runs_out_is_said(folder: Path) -> None:
    for number in range(50):
        (folder / f"f{number}").write_text("needle\n" * 100)
    async with coding(folder, limits=Limits(search_seconds=1e-9)) as coder:
        assert "the time was up" in await coder.ok("search_files", pattern="needle")
        assert "the time was up" in await coder.ok("find_files", pattern="f*")
        assert "the time was up" in await coder.ok("list_files", path=".", recursive=True)


async def test_C13_globs_and_parts_of_names_the_most_relevant_first(coder: Coder, project: Path) -> None:
    assert (await coder.ok("find_files", pattern="report")).split("\n") == [
        "scripts/teaboard/report.py",
        "src/services/ReportService.js",
    ]
    assert await coder.ok("find_files", pattern="**/board.py") == "scripts/teaboard/board.py"
    assert await coder.ok("find_files", pattern="m?in.js", path="src") == "src/main.js"
    none = await coder.ok("find_files", pattern="nothing.here")
    assert none.startswith("No file fits 'nothing.here': 14 files were looked at")
    assert none.endswith("Try a shorter part of the name, or list_files; search_files looks for words inside files.")


async def test_C13_so_many_and_how_many_more(folder: Path) -> None:
    for number in range(12):
        (folder / f"f{number:02}").touch()
    async with coding(folder, limits=Limits(found_files=10)) as coder:
        text = await coder.ok("find_files", pattern="f*")
    assert text.split("\n")[-2:] == ["f09", "...and 2 more: name more of the path"]


async def test_C2_an_empty_answer_explains_itself(coder: Coder, folder: Path) -> None:
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "a.log").write_text("needle")
    (folder / "b.bin").write_bytes(b"needle\0")
    text = await coder.ok("search_files", pattern="needle")
    assert text == "No line matches 'needle': 1 file was searched, 2 passed over (1 ignored, 1 binary)."


@pytest.mark.parametrize(
    ("skipped", "told"),
    [
        (Skipped(ignored=4_100, at_least=True), ", at least 4,100 passed over (4,100 ignored)."),
        (Skipped(at_least=True), "; counting what was passed over took too long."),
        (Skipped(denied=1, timed_out=True), ", 1 passed over (1 denied); the time was up before all were seen."),
    ],
)
def test_C2_what_could_not_be_counted_in_time_is_told_so(skipped: Skipped, told: str) -> None:
    result = SearchResult(files=(), total=0, matching_files=0, searched=15_000, skipped=skipped)
    assert format_search(result, "x") == f"No line matches 'x': 15,000 files were searched{told}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root passes every permission check")
async def test_C2_XF8_a_folder_that_cannot_be_read_is_told(coder: Coder, folder: Path) -> None:
    for name in ("open", "closed"):
        (folder / name).mkdir()
        (folder / name / "f.txt").write_text("needle\n")
    (folder / "closed").chmod(0)
    try:
        listed = await coder.ok("list_files", path=".", recursive=True)
        found = await coder.ok("find_files", pattern="f.txt")
        matched = await coder.ok("search_files", pattern="needle", filePattern="*.txt")
        none = await coder.ok("search_files", pattern="nowhere")
    finally:
        (folder / "closed").chmod(0o755)
    assert listed.startswith("./ (1 entry, 1 passed over (1 unreadable))\n")
    assert found == "open/f.txt\n[1 unreadable: not looked into]"
    assert matched.endswith("\n  1: needle\n[1 unreadable: not looked into]")
    assert none == "No line matches 'nowhere': 1 file was searched, 1 passed over (1 unreadable)."


def test_C12_the_last_line_of_what_is_kept_says_how_to_see_the_rest() -> None:
    some = FileMatches(path=RelativePath(parts=("a",)), count=3, lines=(MatchLine(number=1, text="x", start=0, end=1),))
    result = SearchResult(files=(some,), total=3, matching_files=1, searched=1, skipped=Skipped(unreadable=1))
    assert format_all_matches(result, "x").split("\n")[-3:] == [
        "[1 unreadable: not looked into]",
        "...and 2 more: they are not kept, and a narrower pattern, path or filePattern shows them",
        "",
    ]


def test_C2_XF8_with_matches_only_what_could_have_more_is_told() -> None:
    some = FileMatches(path=RelativePath(parts=("a",)), count=1, lines=(MatchLine(number=1, text="x", start=0, end=1),))
    result = SearchResult(files=(some,), total=1, matching_files=1, searched=1, skipped=Skipped(unreadable=2, denied=3))
    last = "[2 unreadable: not looked into]"
    assert format_search(result, "x") == f"1 matching line in 1 file\na\n  1: x\n{last}"
    found = FoundFiles(paths=(some.path,), total=1, searched=4, skipped=Skipped(unreadable=2, timed_out=True))
    assert format_found(found, "a").startswith(f"a\n{last}\n[the time was up")


async def test_C44_the_limits_are_settings(project: Path) -> None:
    limits = Limits(read_lines=2, line_characters=10, matches=1, page_entries=1, found_files=1, match_characters=12)
    async with coding(project, limits=limits) as coder:
        text = await coder.ok("read_file", path=MAIN)
        assert "[line 1 has 43 characters, here are 0 to 10" in text
        assert "[7 more lines: read on with offset=3]" in text
        assert "...and 6 more (offset=1)" in await coder.ok("list_files", path=".")
        assert "...and 3 more" in await coder.ok("search_files", pattern="TODO")
        assert "...and 5 more" in await coder.ok("find_files", pattern="*.js")


@given(st.lists(st.text(max_size=60), max_size=40), st.integers(0, 400))
def test_C10_as_many_lines_as_fit_and_at_least_one(lines: list[str], most: int) -> None:
    count = count_fitting(lines, most)
    used = [len(line.encode("utf-8", "surrogatepass")) + 1 for line in lines]
    assert count == len(lines) or sum(used[: count + 1]) > most
    assert sum(used[:count]) <= most or count == 1
    assert (count == 0) is (lines == [])


def test_C10_a_page_and_its_heading_are_below_what_is_cut() -> None:
    assert MAX_PAGE_BYTES + 4_096 < CONTEXT_BYTES


def test_an_agent_of_this_pack_is_an_agent(folder: Path) -> None:
    assert isinstance(code_agent(folder, model=ScriptedModel([])), Agent)
