"""Keeping and opening: whole, private, scoped to the run; and what a disk, a crash or a guess can do to it."""

import logging
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.descriptors import as_many_descriptors

from toolroll.errors import OutputMissing
from toolroll.kernel.data.messages import DocumentPart, ImagePart, Part, TextPart
from toolroll.outputs import writer as write
from toolroll.outputs.format import Meta, decode_meta, encode_meta
from toolroll.outputs.reader import read_page
from toolroll.outputs.run_folder import folder_name
from toolroll.outputs.store import OutputStore
from toolroll.testing.run import counting_ids

PARTS: tuple[Part, ...] = (
    TextPart(text="one\n"),
    ImagePart(data=b"\x89PNG\n\x00", media_type="image/png"),
    TextPart(text=""),
    TextPart(text="two"),
    DocumentPart(data=b"%PDF", media_type="application/pdf", title="Report"),
    DocumentPart(data=b"", media_type="text/plain"),
)


LONG = "text\n" * 1_000
"""Too long to be packed together with others: see `test_pack.py` for those."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OutputStore]:
    with OutputStore(tmp_path / "outputs", run_id="run") as made:
        yield made


def keep(store: OutputStore, content: str | bytes | tuple[Part, ...] = LONG, call_id: str = "call") -> str:
    ref = store.keep(call_id, "tool", content)
    assert ref is not None
    return ref.id


@pytest.mark.parametrize(
    "content", ["", "text", "lone \ud800", b"", b"\xff\x00\n", PARTS, (), (TextPart(text="a"),)], ids=ascii
)
def test_K50_K56_everything_comes_back_as_it_was(store: OutputStore, content: str | bytes | tuple[Part, ...]) -> None:
    expected = b"" if content == "" else content  # nothing was said about its kind
    assert store.open(keep(store, content)).content() in (content, expected)


@given(content=st.one_of(st.text(), st.binary(), st.lists(st.text().map(lambda text: TextPart(text=text))).map(tuple)))
@settings(max_examples=50)
def test_K50_any_content_comes_back(tmp_path_factory: pytest.TempPathFactory, content: str | bytes) -> None:
    store = OutputStore(tmp_path_factory.mktemp("outputs"), run_id="run")
    found = store.open(keep(store, content)).content()
    assert found == content or not (content or found)


def test_K50_a_reference_says_size_and_lines(store: OutputStore) -> None:
    ref = store.keep("call", "tool", "é\nx")
    assert ref is not None
    assert (len(ref.id), ref.byte_size, ref.line_count) == (32, 4, 2)
    assert store.open(ref.id).ref == ref
    meta = store.open(ref.id).meta
    assert (meta.runs, meta.call_id, meta.tool, meta.kind) == (("run",), "call", "tool", "text")


def test_K50_pieces_are_written_as_they_come(store: OutputStore) -> None:
    with store.writer("call", "tool") as text, store.writer("call", "tool") as mixed:
        for piece in ("one\n", "two"):
            text.write(piece)
            mixed.write(piece)
        mixed.write(b"\xff")
        mixed.write("three")
    refs = [writer.ref.id for writer in (text, mixed) if writer.ref is not None]
    assert [store.open(ref).content() for ref in refs] == ["one\ntwo", b"one\ntwo\xffthree"]


def test_K50_what_ends_by_an_exception_is_not_kept(store: OutputStore) -> None:
    writer = store.writer("call", "tool")

    def fail() -> None:
        with writer:
            writer.write("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert writer.ref is None
    assert names(store) == []


def names(store: OutputStore) -> list[str]:
    return sorted(one.name for one in (store.folder / folder_name("run")).iterdir())


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_K50_XF9_files_and_folders_are_private_from_the_beginning(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        keep(OutputStore(tmp_path / "new" / "outputs", run_id="run"), (*PARTS, TextPart(text="x" * 300_000)))
    finally:
        os.umask(before)
    found = list((tmp_path / "new").rglob("*"))
    assert {one.name for one in found} >= {"data", "lines-262144", "meta.json", "part-1"}
    for one in (tmp_path / "new", *found):
        assert stat.S_IMODE(one.stat().st_mode) == (0o700 if one.is_dir() else 0o600), one


@pytest.mark.parametrize(
    "guess",
    ["", ".", "..", "../run", "/etc/passwd", "a/b", "\0", "x" * 65, "x" * 9_999, "é", "0" * 32, ".new-1", "\ud800"],
    ids=ascii,
)
def test_XC1_guessed_and_path_like_references_are_not_found(store: OutputStore, guess: str) -> None:
    keep(store)
    with pytest.raises(OutputMissing) as refused:
        store.open(guess)
    assert refused.value.code == "not_found"


def test_XC1_a_reference_leads_nowhere_in_another_run(store: OutputStore) -> None:
    own, other = keep(store), OutputStore(store.folder, run_id="other")
    foreign = keep(other)
    for one, ref in ((store, foreign), (other, own)):
        with pytest.raises(OutputMissing, match="There is no output"):
            one.open(ref)
        with pytest.raises(OutputMissing):
            one.open(f"../{folder_name('run')}/{own}")


def test_XC1_ids_are_random_and_as_long_as_that(store: OutputStore) -> None:
    ids = {keep(store, call_id="the same") for _ in range(50)}
    assert len(ids) == 50
    assert all(len(bytes.fromhex(one)) == 16 for one in ids)


def test_XC1_a_child_hands_up_and_cannot_look_up_or_sideways(store: OutputStore) -> None:
    child, sibling = store.child("run.1"), store.child("run.2")
    grandchild = child.child("run.1.1")
    mine, theirs, deep = keep(store), keep(child), keep(grandchild)
    assert child.run_id == "run.1"
    assert [store.open(ref).meta.runs[-1] for ref in (mine, theirs, deep)] == ["run", "run.1", "run.1.1"]
    assert child.open(deep).content() == LONG
    for one, ref in ((child, mine), (sibling, theirs), (sibling, deep), (grandchild, theirs), (grandchild, mine)):
        with pytest.raises(OutputMissing):
            one.open(ref)


def test_K50_a_run_that_is_resumed_finds_its_outputs_and_its_childrens(store: OutputStore) -> None:
    own, childs = keep(store), keep(store.child("run.1"))
    store.close()
    again = OutputStore(store.folder, run_id="run")
    assert again.open(own).content() == LONG
    assert again.child("run.1").open(childs).content() == LONG


def test_K50_long_and_strange_call_ids_and_runs_are_kept(tmp_path: Path) -> None:
    for run_id in ("r" * 5_000, "../..", "a/b\0", "\ud800", ""):
        store = OutputStore(tmp_path / "outputs", run_id=run_id)
        call_id = "c" * 100_000 + "/../\0"
        assert store.open(keep(store, call_id=call_id)).meta.call_id == call_id
    assert {one.parent for one in (tmp_path / "outputs").iterdir()} == {tmp_path / "outputs"}


def test_K50_ids_that_count_are_never_given_twice(tmp_path: Path) -> None:
    first = OutputStore(tmp_path, run_id="run", make_id=counting_ids())
    again = OutputStore(tmp_path, run_id="run", make_id=counting_ids())
    assert [keep(first), keep(first), keep(again)] == ["id_1", "id_2", "id_3"]


def test_K57_a_maker_of_unusable_ids_costs_the_reference(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = OutputStore(tmp_path, run_id="run", make_id=lambda: "../x")
    assert store.keep("call", "tool", "text") is None
    assert "the output of tool could not be kept: no free id" in caplog.text
    assert names(store) == []


@pytest.mark.parametrize("size", [5_000, 5_000_000])
@pytest.mark.parametrize("kind", ["text", "bytes", "parts"])
def test_K57_a_full_disk_costs_the_reference_and_nothing_else(
    store: OutputStore, kind: str, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    contents: dict[str, str | bytes | tuple[Part, ...]] = {
        "text": "x" * size,
        "bytes": b"x" * size,
        "parts": (TextPart(text="a"), ImagePart(data=b"x" * size, media_type="image/png"), TextPart(text="b")),
    }
    first = keep(store)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
    try:
        assert store.keep("call", "tool", contents[kind]) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert "the output of tool could not be kept: [Errno 27] File too large" in caplog.text
    assert names(store) == [first]
    assert store.open(keep(store)).content() == LONG


def test_K57_a_disk_that_is_really_full(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("needs /dev/full")
    store = OutputStore(tmp_path, run_id="run")
    keep(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "_NEW_FILE", os.O_WRONLY)
        patch.setattr(write, "DATA", "/dev/full")
        assert store.keep("call", "tool", "x" * 5_000_000) is None
        assert store.keep("call", "tool", LONG) is None
    assert len(names(store)) == 1


def test_K57_a_folder_that_cannot_be_made_costs_the_reference(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    assert OutputStore(tmp_path / "file" / "outputs", run_id="run").keep("call", "tool", "text") is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_K57_a_draft_that_cannot_be_opened_leaves_nothing(store: OutputStore, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(store)
    monkeypatch.setattr(write, "DATA", "no/such/folder")
    assert store.keep("call", "tool", LONG) is None
    assert len(names(store)) == 1


@pytest.mark.parametrize("damage", ["short", "empty", "no data", "no meta", "other", "newer", "no runs", "bad json"])
def test_K50_what_is_damaged_is_not_found(store: OutputStore, damage: str) -> None:
    kept = store.open(keep(store))
    data, meta = kept.data_path, kept.path / "meta.json"
    changes: dict[str, Callable[[], object]] = {
        "short": lambda: data.write_bytes(b"te"),
        "empty": lambda: meta.write_bytes(b""),
        "no data": data.unlink,
        "no meta": meta.unlink,
        "other": lambda: meta.write_bytes(meta.read_bytes().replace(kept.meta.id.encode(), b"0" * 32)),
        "newer": lambda: meta.write_bytes(meta.read_bytes().replace(b'"format":1', b'"format":2')),
        "no runs": lambda: meta.write_bytes(meta.read_bytes().replace(b'["run"]', b"[]")),
        "bad json": lambda: meta.write_bytes(meta.read_bytes()[:-1]),
    }
    changes[damage]()
    with pytest.raises(OutputMissing):
        store.open(kept.meta.id)


def test_K57_an_output_collected_while_it_is_read_is_a_typed_error(store: OutputStore) -> None:
    kept = store.open(keep(store, PARTS))
    for one in kept.path.iterdir():
        one.unlink()
    for read in (lambda: read_page(kept), kept.content):
        with pytest.raises(OutputMissing):
            read()
    plain = store.open(keep(store))
    plain.data_path.unlink()
    with pytest.raises(OutputMissing):
        plain.content()


KEEPER = """
import sys
from pathlib import Path
from toolroll.outputs.store import OutputStore
store = OutputStore(Path(sys.argv[1]), run_id="run")
store.keep("call", "tool", "whole\\n" * 1_000)
with store.writer("call", "tool") as out:
    out.write("x" * 3_000_000)
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_K57_a_run_killed_while_it_keeps_leaves_whole_outputs_only(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        store = OutputStore(tmp_path, run_id="run")
        during = keep(store)  # beside a live writer, whose draft stays
        assert sum(name.startswith(".new-") for name in names(store)) == 1
        store.close()
        process.kill()
    assert sum(name.startswith(".new-") for name in names(store)) == 1
    again = OutputStore(tmp_path, run_id="run")
    last = keep(again)
    found = names(again)
    assert len(found) == 3
    assert {during, last} < set(found)
    assert {again.open(name).content() for name in found} == {LONG, "whole\n" * 1_000}


def test_K50_threads_keep_at_once(store: OutputStore) -> None:
    refs: list[str] = []
    gate = threading.Barrier(8)

    def work(number: int) -> None:
        gate.wait()
        refs.extend(keep(store, f"{number} {index}") for index in range(10))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    with as_many_descriptors():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({store.open(ref).content() for ref in refs}) == 80
        store.close()


@given(
    st.builds(
        Meta,
        id=st.just("abc"),
        runs=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1).map(tuple),
        call_id=st.text(st.characters(exclude_categories=["Cs"])),
        tool=st.text(st.characters(exclude_categories=["Cs"])),
        made=st.floats(0, 1e12),
        pieces=st.just(()),
        format=st.just(1),
    )
)
def test_what_is_known_of_an_output_survives_its_file(meta: Meta) -> None:
    assert decode_meta(encode_meta(meta), "abc") == meta


@given(st.binary(max_size=200))
def test_any_other_file_is_no_meta(data: bytes) -> None:
    with pytest.raises(OutputMissing):
        decode_meta(data, "abc")


def test_the_clock_says_when(tmp_path: Path) -> None:
    times = count(100)
    store = OutputStore(tmp_path, run_id="run", clock=lambda: float(next(times)))
    assert store.open(keep(store)).meta.made >= 100
