"""Searching: literal or linear, bounded, with true counts; against Python's own search as the oracle."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.safe.programs.test_ripgrep import seconds_of_programs

from toolroll.errors import OutputMissing, ToolFailure
from toolroll.outputs import search as excerpts
from toolroll.outputs import search as searching
from toolroll.outputs.reader import PAGE_BYTES, StoredOutput, read_page
from toolroll.outputs.search import MAX_MATCHES, find_matches, show_matches
from toolroll.outputs.store import OutputStore
from toolroll.safe.programs import ripgrep, ripgrep_process
from toolroll.safe.programs.ripgrep import RipgrepEnd

ROWS = re.compile(r"(\d+)([:-])(.*)")


@pytest.fixture
def store(tmp_path: Path) -> OutputStore:
    return OutputStore(tmp_path / "outputs", run_id="run")


def kept(store: OutputStore, content: str | bytes) -> StoredOutput:
    ref = store.keep("call", "tool", content)
    assert ref is not None
    return store.open(ref.id)


async def grep(
    output: StoredOutput, pattern: str, *, regex: bool = False, before: int = 0, after: int = 0, most: int = MAX_MATCHES
) -> list[str]:
    """The rows of the answer, without its last line."""
    matches = await find_matches(output, pattern, regex=regex, max_matches=most)
    *rows, _ = show_matches(output, matches, before=before, after=after).split("\n")
    return rows


async def test_K54_literal_unless_regex(store: OutputStore) -> None:
    output = kept(store, "a.c\nabc\nA.C\n")
    assert await grep(output, "a.c") == ["1:a.c"]
    assert await grep(output, "a.c", regex=True) == ["1:a.c", "2:abc"]
    assert await grep(output, "(?i)a[.]c$", regex=True) == ["1:a.c", "3:A.C"]
    assert await grep(output, "-e") == []


async def test_K54_the_answer_is_exact(store: OutputStore) -> None:
    output = kept(store, "".join(f"{number}\n" for number in range(1, 101)))
    matches = await find_matches(output, "5", max_matches=2)
    assert show_matches(output, matches, before=1) == (
        "4-4\n5:5\n--\n14-14\n15:15\n...and 17 more\n[2 of 19 matching lines. Read on from the last one: "
        f'tool_output_cache {{"ref_id": "{output.meta.id}", "offset": 14}}]'
    )
    nothing = await find_matches(output, "x", max_matches=2)
    assert show_matches(output, nothing) == "[No line of 100 matches.]"
    empty = kept(store, "")
    assert show_matches(empty, await find_matches(empty, "x", max_matches=2)) == "[The output is empty.]"


async def test_K54_context_that_overlaps_or_touches_is_merged(store: OutputStore) -> None:
    output = kept(store, "".join(f"{letter}\n" for letter in "abcdefghijkl"))
    assert await grep(output, "[cfl]", regex=True, before=1, after=1) == (
        ["2-b", "3:c", "4-d", "5-e", "6:f", "7-g", "--", "11-k", "12:l"]
    )
    assert await grep(output, "[ab]", regex=True, before=5, after=0) == ["1:a", "2:b"]


async def test_K54_fifty_matches_unless_asked_otherwise(store: OutputStore) -> None:
    output = kept(store, "x\n" * 120)
    rows = await grep(output, "x")
    assert (len(rows), rows[-1]) == (51, "...and 70 more")
    assert len(await grep(output, "x", most=120)) == 120


async def test_K54_matches_that_do_not_fit_are_counted_as_more(store: OutputStore) -> None:
    output = kept(store, ("x" * 900 + "\n") * 100)
    rows = await grep(output, "x", most=100)
    assert rows[-1] == f"...and {100 - (len(rows) - 1)} more"
    assert 50 < len(rows) < 60
    assert len("\n".join(rows).encode()) <= PAGE_BYTES + 100


async def test_K54_context_that_fills_the_answer_before_the_first_match(
    store: OutputStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excerpts, "PAGE_BYTES", 10)
    output = kept(store, "aaaaaa\nbbbbbb\nxx\n")
    assert await grep(output, "x", before=2) == ["1-aaaaaa", "...and 1 more"]


@pytest.mark.parametrize(
    "pattern", ["(", "a{2", "[z-a]", r"(?P<a>x)(?P<a>y)", r"\1", r"a(?=b)", r"a\nb", "x{99999}{99}"]
)
async def test_K54_XF6_a_pattern_that_cannot_be_used_is_an_error(store: OutputStore, pattern: str) -> None:
    before = seconds_of_programs()
    with pytest.raises(ToolFailure, match="The pattern cannot be used: ") as refused:
        await find_matches(kept(store, "abc"), pattern, regex=True, max_matches=1)
    assert refused.value.failure_code == "invalid_pattern"
    assert "meta.json" not in refused.value.message
    assert seconds_of_programs() - before < 5


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "unclosed group"),
        ("a(?=b)", "look-around, including look-ahead and look-behind, is not supported"),
        (r"a\nb", r'the literal "\n" is not allowed in a regex'),
        ("x{9999}{9999}", "compiled regex exceeds size limit of 10485760"),
    ],
)
async def test_K54_a_pattern_is_refused_in_one_sentence(store: OutputStore, pattern: str, why: str) -> None:
    with pytest.raises(ToolFailure) as refused:
        await find_matches(kept(store, "abc"), pattern, regex=True, max_matches=1)
    assert refused.value.message == f"The pattern cannot be used: {why}."


@pytest.mark.parametrize("pattern", ["", "a\nb", "a\0", "\ud800", "x" * 8_193], ids=lambda text: ascii(text[:8]))
@pytest.mark.parametrize("regex", [False, True])
async def test_K54_patterns_that_no_search_takes(store: OutputStore, pattern: str, regex: bool) -> None:
    with pytest.raises(ToolFailure) as refused:
        await find_matches(kept(store, "abc"), pattern, regex=regex, max_matches=1)
    assert refused.value.failure_code == "invalid_pattern"


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*)(.*)(.*)(.*)[^a]$", "(a?){50}a{50}b"])
async def test_XF6_a_hostile_pattern_takes_linear_time(store: OutputStore, pattern: str) -> None:
    output = kept(store, ("a" * 5_000 + "!\n") * 20 + "a" * 100_000 + "!")
    before = seconds_of_programs()
    matches = await find_matches(output, pattern, regex=True, max_matches=1)
    assert matches.total in (0, 21)
    assert seconds_of_programs() - before < 4


async def test_XF6_a_search_past_its_time_is_stopped(store: OutputStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SEARCH_S", 0.0)
    with pytest.raises(ToolFailure, match="took longer than 0 s") as refused:
        await find_matches(kept(store, "x\n" * 1_000_000), "x", regex=True, max_matches=1)
    assert refused.value.failure_code == "pattern_timeout"


async def test_K54_a_search_that_was_killed_is_not_taken_for_its_end(
    store: OutputStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\necho '1:1:0:x'\nkill -9 $$\n")
    program.chmod(0o700)
    monkeypatch.setattr(ripgrep, "ripgrep_path", lambda: str(program))
    with pytest.raises(ToolFailure, match="before it had seen all") as refused:
        await find_matches(kept(store, "x\nx\n"), "x", regex=True, max_matches=1)
    assert refused.value.failure_code == "search_failed"


async def test_K57_an_output_collected_before_it_is_searched_is_not_found(store: OutputStore) -> None:
    output = kept(store, "x\n" * 5_000)
    output.data_path.unlink()
    short = kept(store, "x")
    short.data_path.unlink()
    for one in (output, short):
        for regex in (False, True):
            with pytest.raises(OutputMissing, match="There is no output"):
                await find_matches(one, "x", regex=regex, max_matches=1)


@pytest.mark.parametrize(("chunk_bytes", "limit_bytes"), [(7, 1_000), (300, 1_000), (300, 1 << 28), (65_536, 1 << 28)])
@pytest.mark.parametrize("recount_ms", [0, 1_000])
@pytest.mark.parametrize("content", ["x\n" * 100, "y\n" * 5_000 + "x\n" * 100, "x\n" * 100 + "y\n" * 5_000], ids=len)
async def test_K54_the_count_is_true_however_it_was_made(
    store: OutputStore,
    content: str,
    chunk_bytes: int,
    recount_ms: int,
    limit_bytes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "_RECOUNT_MS", recount_ms)
    monkeypatch.setattr(searching, "_LISTED_PER_MS", 1)
    monkeypatch.setattr(searching, "_OUTPUT_BYTES", limit_bytes)
    monkeypatch.setattr(ripgrep_process, "PROGRAM_READ_BYTES", chunk_bytes)
    matches = await find_matches(kept(store, content), "x", regex=True, max_matches=3)
    first = content[: content.index("x")].count("\n")
    assert (matches.total, [one.line for one in matches.first]) == (100, [first, first + 1, first + 2])


async def test_K54_where_many_match_they_are_counted_anew(store: OutputStore, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    async def watched(arguments: tuple[str, ...], **given: Any) -> RipgrepEnd:
        asked.append(arguments)
        return await ripgrep.stream_ripgrep(arguments, **given)

    monkeypatch.setattr(searching, "stream_ripgrep", watched)
    few, many = kept(store, "x\n" * 500), kept(store, "x\n" * 2_000_000)
    assert (await find_matches(few, "x", regex=True, max_matches=5)).total == 500
    assert ["--count" in one for one in asked] == [False]
    assert (await find_matches(many, "x", regex=True, max_matches=5)).total == 2_000_000
    assert ["--count" in one for one in asked] == [False, False, True]


async def test_K50_binary_and_invalid_text_are_searched_too(store: OutputStore) -> None:
    output = kept(store, b"\xff\xfex\n\0\0needle\0\ncaf\xe9 needle")
    rows = await grep(output, "needle")
    assert rows == ["2:\0\0needle\0", "3:caf\\xe9 needle"]
    assert await grep(output, r"(?-u)\xe9", regex=True) == ["3:caf\\xe9 needle"]


async def test_K54_a_long_line_is_shown_around_its_first_match(store: OutputStore) -> None:
    output = kept(store, "first\n" + "é" * 50_000 + "needle" + "漢" * 50_000 + "\nlast needle")
    [long, last] = await grep(output, "needle")
    assert last == "3:last needle"
    assert long.startswith("2:…é")
    assert "éneedle漢" in long
    assert len(long.encode()) < 1_200
    note = re.search(r"漢… \[line of ([\d,]+) bytes, from offset (\d+) column (\d+)\]$", long)
    assert note is not None
    assert note[1] == "250,007"
    page = read_page(output, offset=int(note[2]), column=int(note[3]), limit=1)
    assert page.lines[0].startswith(long[3:300])


async def test_K54_long_lines_at_their_beginning_and_end(store: OutputStore) -> None:
    output = kept(store, "needle" + "x" * 5_000 + "\n" + "x" * 5_000 + "needle\n" + "ctx" * 1_000)
    start, end, around = await grep(output, "needle", after=1)
    assert start.startswith("1:needlexxx")
    assert "x… [line of 5,007 bytes" in start
    assert re.fullmatch(r"2:…x{300}needle \[line of 5,007 bytes, from offset 1 column 4700\]", end)
    assert around.startswith("3-ctxctx")
    assert "… [line of 3,000 bytes, from offset 2 column 0]" in around


async def test_K55_a_line_of_ten_megabytes_gives_a_small_answer(store: OutputStore) -> None:
    output = kept(store, "y" * 5_000_000 + "needle" + "z" * 5_000_000)
    [row] = await grep(output, "needle")
    assert len(row) < 1_200
    assert "yneedlez" in row


@given(
    lines=st.lists(st.text("abé\r", max_size=5), max_size=30),
    pattern=st.text("abé", min_size=1, max_size=2),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    most=st.integers(1, 10),
    by_ripgrep=st.booleans(),
)
@settings(max_examples=60)
async def test_K54_the_lines_are_those_that_python_finds(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    pattern: str,
    before: int,
    after: int,
    most: int,
    by_ripgrep: bool,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if by_ripgrep:
            patch.setattr(searching, "SMALL_BYTES", -1)
        await _finds_those(tmp_path_factory, lines, pattern, before, after, most)


async def _finds_those(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], pattern: str, before: int, after: int, most: int
) -> None:
    output = kept(OutputStore(tmp_path_factory.mktemp("outputs"), run_id="run"), "".join(f"{one}\n" for one in lines))
    matching = [number for number, line in enumerate(lines, 1) if pattern in line]
    shown = set(matching[:most])
    around = {at for one in shown for at in range(one - before, one + after + 1) if 0 < at <= len(lines)}
    rows = await grep(output, pattern, before=before, after=after, most=most)
    found = [match for row in rows if (match := ROWS.fullmatch(row.replace("\r", "R")))]
    assert [int(match[1]) for match in found] == sorted(around)
    assert {int(match[1]) for match in found if match[2] == ":"} >= shown
    assert [match[3] for match in found] == [lines[at - 1].replace("\r", "R") for at in sorted(around)]
    rest = [row for row in rows if row.startswith("...and")]
    assert rest == ([f"...and {len(matching) - most} more"] if len(matching) > most else [])


@given(data=st.binary(max_size=60), text=st.sampled_from(["a", "\r", "ab", "é"]), most=st.integers(1, 5))
@settings(max_examples=40)
async def test_K54_a_text_is_found_in_memory_where_ripgrep_finds_it(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, text: str, most: int
) -> None:
    mixed = data + text.encode() + b"\n" + data[::2] + text.encode() * 2
    output = kept(OutputStore(tmp_path_factory.mktemp("outputs"), run_id="run"), mixed)
    here = await find_matches(output, text, max_matches=most)
    assert here == await find_matches(output, re.escape(text), regex=True, max_matches=most)


@pytest.mark.parametrize("text", [".", "a.*b", "[x", "(", "\\", "a\t|", "é+"], ids=ascii)
async def test_K54_what_is_not_listed_is_counted_letter_by_letter_too(store: OutputStore, text: str) -> None:
    """Signs that mean something in a pattern mean themselves; a line that has it twice counts once."""
    output = kept(store, f"{text}\nabxé\n" * 40 + f"{text} {text}\n\n" * 30 + text)
    found = await find_matches(output, text, max_matches=3)
    assert (found.total, [one.line for one in found.first]) == (71, [0, 2, 4])


async def test_K54_a_folder_above_that_ignores_everything_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / ".ignore").write_text("*\n")
    (tmp_path / ".gitignore").write_text("*\n{\n")
    output = kept(OutputStore(tmp_path / "outputs", run_id="run"), "needle\n" * 1_000)
    assert (await find_matches(output, "need.e", regex=True, max_matches=1)).total == 1_000
