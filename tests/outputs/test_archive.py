"""What every archive of outputs promises: what one machine stored, another one reads, byte for byte (D10)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolroll.errors import OutputMissing
from toolroll.kernel.data.messages import ImagePart, TextPart
from toolroll.outputs.archive import CHUNK_BYTES, MemoryArchive, OutputArchive, restore_all
from toolroll.outputs.browse import all_outputs
from toolroll.outputs.postgres import PostgresArchive
from toolroll.outputs.run_folder import folder_name
from toolroll.outputs.store import OutputStore, inherit_outputs
from toolroll.postgres.address import parse_address
from toolroll.postgres.database import Database


@pytest.fixture(params=["memory", "postgres"])
def archive(request: pytest.FixtureRequest) -> Iterator[OutputArchive]:
    if request.param == "memory":
        yield MemoryArchive()
        return
    database = Database(parse_address(request.getfixturevalue("database_url")))
    yield PostgresArchive(database)
    database.close()


def machine(tmp_path: Path, name: str, archive: OutputArchive, run_id: str = "run") -> OutputStore:
    return OutputStore(tmp_path / name, run_id=run_id, archive=archive, secrets=["canary-4711"])


@pytest.mark.parametrize(
    "content",
    [
        "short",
        b"\0\xff bytes",
        "line\n" * 2_000,
        "x" * (2 * CHUNK_BYTES + 7),
        (TextPart(text="see"), ImagePart(data=b"\x89PNG" * 500, media_type="image/png")),
    ],
    ids=["short", "bytes", "long", "pieces", "parts"],
)
def test_D10_an_output_of_one_machine_is_read_on_another(
    tmp_path: Path, archive: OutputArchive, content: str | bytes | tuple[TextPart | ImagePart, ...]
) -> None:
    with machine(tmp_path, "one", archive) as one, machine(tmp_path, "two", archive) as two:
        ref = one.keep("c1", "look", content)
        assert ref is not None
        assert two.open(ref.id).content() == one.open(ref.id).content()
        assert two.open(ref.id).meta == one.open(ref.id).meta


def test_D10_an_archive_gives_nothing_to_a_run_that_may_not_read_it(tmp_path: Path, archive: OutputArchive) -> None:
    with machine(tmp_path, "one", archive) as one, machine(tmp_path, "two", archive, "other") as other:
        ref = one.keep("c1", "look", "mine")
        assert ref is not None
        with pytest.raises(OutputMissing):
            other.open(ref.id)
        with pytest.raises(OutputMissing):
            other.open("../escape")


def test_D6_a_known_secret_is_not_archived(tmp_path: Path, archive: OutputArchive) -> None:
    with machine(tmp_path, "one", archive) as one:
        for content in ("a canary-4711 b", "a canary-4711 b\n" * 1_000):
            ref = one.keep("c1", "look", content)
            assert ref is not None
            stored = b"".join(data for _, _, data in archive.load(folder_name("run"), ref.id))
            assert b"canary" not in stored


def test_D10_storing_twice_is_storing_once_and_deleting_deletes(tmp_path: Path, archive: OutputArchive) -> None:
    archive.store("f" * 32, "ref", lambda: [("data", 0, b"first")])
    archive.store("f" * 32, "ref", lambda: [("data", 0, b"second")])

    assert list(archive.load("f" * 32, "ref")) == [("data", 0, b"first")]
    assert list(archive.names("e" * 32)) == []
    assert archive.delete(["f" * 32]) == 1
    assert list(archive.names()) == []


def test_D10_a_fork_on_another_machine_has_the_outputs_of_its_run(tmp_path: Path, archive: OutputArchive) -> None:
    with machine(tmp_path, "one", archive) as one:
        refs = [one.keep("c1", "look", "short"), one.keep("c2", "look", "long\n" * 2_000)]
    named = {ref.id for ref in refs if ref is not None}

    assert inherit_outputs(tmp_path / "two", of_run="run", to_run="fork", named=named, archive=archive) == 2
    with machine(tmp_path, "three", archive, "fork") as third:
        assert {third.open(name).meta.runs for name in named} == {("fork",)}


def test_D10_all_outputs_can_be_listed_on_another_machine(tmp_path: Path, archive: OutputArchive) -> None:
    with machine(tmp_path, "one", archive) as one:
        refs = [one.keep("c1", "look", "short"), one.keep("c2", "look", "long\n" * 2_000)]
    for _ in range(2):
        restore_all(archive, tmp_path / "two")

    assert {kept.meta.id for kept in all_outputs(tmp_path / "two")} == {ref.id for ref in refs if ref is not None}
    assert len(all_outputs(tmp_path / "two")) == 2
