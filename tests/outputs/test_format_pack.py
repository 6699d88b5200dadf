"""Short outputs: all of them kept, in one file, found by reference, and never taken for one another."""

import os
import resource
import signal
import stat
import threading
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import OutputMissing
from toolroll.outputs.browse import all_outputs, find_output
from toolroll.outputs.format import PACK, SHORT_CHARACTERS, packed_outputs
from toolroll.outputs.reader import StoredOutput, read_page
from toolroll.outputs.run_folder import folder_name
from toolroll.outputs.search import find_matches, show_matches
from toolroll.outputs.store import OutputStore, inherit_outputs
from toolroll.testing.run import counting_ids


@pytest.fixture
def store(tmp_path: Path) -> OutputStore:
    return OutputStore(tmp_path, run_id="run")


def keep(store: OutputStore, content: str | bytes, call_id: str = "call") -> str:
    ref = store.keep(call_id, "tool", content)
    assert ref is not None
    return ref.id


def pack_of(folder: Path, run_id: str = "run") -> Path:
    return folder / folder_name(run_id) / PACK


@given(st.lists(st.one_of(st.text(max_size=200), st.binary(max_size=200)), min_size=1, max_size=6))
def test_K50_any_short_outputs_come_back_byte_for_byte(contents: list[str | bytes]) -> None:
    """Whatever is in them: they lie beside each other, and only their sizes part them."""
    with TemporaryDirectory() as folder, OutputStore(Path(folder), run_id="run") as store:
        refs = [store.keep(f"call {number}", "tool", content) for number, content in enumerate(contents)]
        for ref, content in zip(refs, contents, strict=True):
            assert ref is not None
            found = store.open(ref.id)
            data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
            assert found.content() == content
            assert (found.ref, found.meta.byte_size) == (ref, len(data))
            assert ref.line_count == data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
            pages, page = b"", read_page(found)
            while page.data:
                pages += page.data
                if page.next is None:
                    break
                page = read_page(found, offset=page.next.offset, column=page.next.column)
            assert pages == data


def test_K50_they_take_one_private_file_and_longer_ones_a_folder(tmp_path: Path, store: OutputStore) -> None:
    old = os.umask(0)
    try:
        for number in range(5):
            keep(store, "x" * number)
        long = keep(store, "x" * SHORT_CHARACTERS)
    finally:
        os.umask(old)
    assert sorted(one.name for one in pack_of(tmp_path).parent.iterdir()) == sorted([PACK, long])
    assert stat.S_IMODE(pack_of(tmp_path).stat().st_mode) == 0o600


async def test_K54_they_are_searched_alone(store: OutputStore) -> None:
    """Neither what is known of them nor their neighbours are a part of them."""
    keep(store, "needle before\n")
    middle = store.open(keep(store, "one\nneedle two\nthree\n", "call needle"))
    keep(store, "needle after\n")
    found = await find_matches(middle, "needle", max_matches=5)
    assert (found.total, found.first[0].line, found.first[0].start) == (1, 1, 4)
    assert show_matches(middle, found, before=1, after=1).startswith("1-one\n2:needle two\n3-three\n[1 of 1")
    many = store.open(keep(store, "x\n" * 2_000))
    assert (await find_matches(many, "x", max_matches=1)).total == 2_000


def test_XC1_a_short_output_belongs_to_its_run_too(store: OutputStore, tmp_path: Path) -> None:
    """A run reads what its parts hand up; its parts, their siblings and strangers read nothing of it."""
    mine, part = keep(store, "mine"), store.child("run.c1")
    theirs = keep(part, "of a part")
    assert store.open(theirs).content() == "of a part"
    sibling, stranger = store.child("run.c2"), OutputStore(tmp_path, run_id="other")
    for reader, ref in [(part, mine), (sibling, mine), (sibling, theirs), (stranger, mine), (stranger, theirs)]:
        with pytest.raises(OutputMissing):
            reader.open(ref)
    for guess in (PACK, f"../{folder_name('run')}/{mine}", mine[:-1], mine + "\n", ""):
        with pytest.raises(OutputMissing):
            store.open(guess)


def test_XC1_an_output_that_looks_like_the_file_it_is_in_adds_nothing_to_it(store: OutputStore, tmp_path: Path) -> None:
    """A tool that answers with a pack, line ends and all, makes no outputs of other runs."""
    keep(store, "a secret")
    forged = pack_of(tmp_path).read_bytes().replace(b'["run"]', b'["evil"]')
    first = next(packed_outputs(pack_of(tmp_path).parent))
    evil = OutputStore(tmp_path / "elsewhere", run_id="evil")
    keep(evil, b"\n" + forged + forged)
    with pytest.raises(OutputMissing):
        evil.open(first.id)


def test_K50_long_call_ids_are_kept(store: OutputStore) -> None:
    ref = keep(store, "text", "c" * 1_000_000)
    after = keep(store, "after")
    assert store.open(ref).meta.call_id == "c" * 1_000_000
    assert store.open(after).content() == "after"


def test_K50_ids_that_count_are_never_given_twice(tmp_path: Path) -> None:
    first = OutputStore(tmp_path, run_id="run", make_id=counting_ids("out"))
    again = OutputStore(tmp_path, run_id="run", make_id=counting_ids("out"))
    assert [keep(first, "1"), keep(first, "2"), keep(again, "3")] == ["out_1", "out_2", "out_3"]
    assert again.open("out_1").content() == "1"


@pytest.mark.parametrize("lost", [1, 2, 20, 200])
def test_K57_what_a_power_cut_tore_is_not_there_and_costs_nothing_else(lost: int, tmp_path: Path) -> None:
    with OutputStore(tmp_path, run_id="run") as store:
        first, torn = keep(store, "first"), keep(store, "torn")
    pack = pack_of(tmp_path)
    os.truncate(pack, pack.stat().st_size - lost)
    again = OutputStore(tmp_path, run_id="run")
    with pytest.raises(OutputMissing):
        again.open(torn)
    after = keep(again, "after")
    assert [again.open(one).content() for one in (first, after)] == ["first", "after"]
    assert len(list(packed_outputs(pack.parent))) == 2


@pytest.mark.parametrize(
    "change", [(b'"format":1', b'"format":2'), (b'["run"]', b"[     ]"), (b'"text_bytes":4', b'"text_bytes":3')]
)
def test_K50_what_is_damaged_is_not_found(change: tuple[bytes, bytes], store: OutputStore, tmp_path: Path) -> None:
    ref = keep(store, "text")
    pack = pack_of(tmp_path)
    pack.write_bytes(pack.read_bytes().replace(*change))
    with pytest.raises(OutputMissing):
        store.open(ref)
    assert all_outputs(tmp_path) == []


def test_K50_zeros_at_the_end_are_cut_off(tmp_path: Path) -> None:
    """What some file systems leave after a power cut."""
    with OutputStore(tmp_path, run_id="run") as store:
        first = keep(store, "first")
    pack = pack_of(tmp_path)
    size = pack.stat().st_size
    os.truncate(pack, size + 100)
    with OutputStore(tmp_path, run_id="run") as again:
        assert again.open(first).content() == "first"
    assert pack.stat().st_size == size


@pytest.mark.parametrize("room", [0, 50])
def test_K57_a_full_disk_costs_the_reference_and_nothing_else(
    room: int, store: OutputStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where a part of it still fits."""
    first = keep(store, "first")
    size = pack_of(tmp_path).stat().st_size
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, limits[1]))
    try:
        assert store.keep("call", "tool", "lost") is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert "the output of tool could not be kept" in caplog.text
    assert pack_of(tmp_path).stat().st_size == size
    assert [store.open(one).content() for one in (first, keep(store, "after"))] == ["first", "after"]


def test_K57_a_pack_that_is_a_link_is_not_followed(store: OutputStore, tmp_path: Path) -> None:
    keep(store, "x" * SHORT_CHARACTERS)
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    pack_of(tmp_path).symlink_to(target)
    assert store.keep("call", "tool", "text") is None
    assert target.read_bytes() == b"precious"


def test_K57_a_pack_that_cannot_be_read_is_not_there(store: OutputStore, tmp_path: Path) -> None:
    keep(store, "x" * SHORT_CHARACTERS)
    pack_of(tmp_path).mkdir()
    with pytest.raises(OutputMissing):
        store.open("f" * 32)


def test_K50_threads_keep_at_once(store: OutputStore) -> None:
    refs: list[str] = []
    threads = [
        threading.Thread(target=lambda number=number: refs.extend(keep(store, f"{number} {n}\n") for n in range(50)))
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {store.open(one).content() for one in refs} == {f"{a} {b}\n" for a in range(4) for b in range(50)}


def test_short_outputs_are_listed_and_found_by_people(tmp_path: Path) -> None:
    times = count(1)
    with OutputStore(tmp_path, run_id="a", make_id=counting_ids("out"), clock=lambda: float(next(times))) as store:
        for content in ("one", "x" * SHORT_CHARACTERS, "three"):
            keep(store, content)
    assert [one.meta.id for one in all_outputs(tmp_path)] == ["out_3", "out_2", "out_1"]
    found: StoredOutput = find_output(tmp_path, "out_3")
    assert (found.content(), found.path.name) == ("three", PACK)


def test_D4_short_outputs_are_handed_on_to_a_fork(tmp_path: Path) -> None:
    with OutputStore(tmp_path, run_id="old") as old:
        mine, other = keep(old, "mine"), keep(old, "other")
    assert inherit_outputs(tmp_path, of_run="old", to_run="new", named={mine}) == 1
    with OutputStore(tmp_path, run_id="new") as new:
        assert new.open(mine).content() == "mine"
        assert new.open(mine).meta.runs == ("new",)
        with pytest.raises(OutputMissing):
            new.open(other)
