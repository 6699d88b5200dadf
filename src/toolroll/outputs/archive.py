"""Where outputs are stored beside their folder, so that another machine can read them.

A folder is what every reader works on. An archive gets a copy of each output as soon as it is whole, and gives it back
to a machine that does not have it: as the same files, with the same checksums.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from toolroll.errors import OutputMissing
from toolroll.outputs.format import ID, META, Meta, append_packed, decode_meta, encode_meta, packed_outputs
from toolroll.outputs.run_folder import RunFolder, temporary_name
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE

PACKED: Final = "packed"
"""The name under which an archive has the bytes of a short output, which has no folder of its own."""
CHUNK_BYTES: Final = 1 << 20
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

Chunk: TypeAlias = tuple[str, int, bytes]
"""A piece of a file: its name, which piece of it, and the bytes."""


class OutputArchive(Protocol):
    """A store of outputs that many machines share. Folders and outputs are named as on the disk."""

    def store(self, folder: str, output: str, read: Callable[[], Iterable[Chunk]], /) -> None:
        """Store all of an output, or nothing of it; doing it twice is doing it once. It may be read several times."""
        ...

    def load(self, folder: str, output: str, /) -> Iterator[Chunk]:
        """Yield the pieces of an output, file by file in order; nothing where it is not there."""
        ...

    def names(self, folder: str | None = None, /) -> Sequence[tuple[str, str]]:
        """Return all outputs, or those of a folder, each as the names of its folder and its own."""
        ...

    def delete(self, folders: Sequence[str], /) -> int:
        """Delete the outputs of these folders; return how many that were."""
        ...


class MemoryArchive:
    """An archive that lasts as long as the process."""

    def __init__(self) -> None:
        self._chunks: dict[tuple[str, str], list[Chunk]] = {}

    def store(self, folder: str, output: str, read: Callable[[], Iterable[Chunk]], /) -> None:
        """Store all of an output, or nothing of it."""
        self._chunks.setdefault((folder, output), list(read()))

    def load(self, folder: str, output: str, /) -> Iterator[Chunk]:
        """Yield the pieces of an output."""
        yield from self._chunks.get((folder, output), ())

    def names(self, folder: str | None = None, /) -> Sequence[tuple[str, str]]:
        """Return all outputs, or those of a folder."""
        return [name for name in self._chunks if folder in (None, name[0])]

    def delete(self, folders: Sequence[str], /) -> int:
        """Delete the outputs of these folders; return how many that were."""
        return len([self._chunks.pop(name) for name in list(self._chunks) if name[0] in folders])


def store_short(archive: OutputArchive, folder: Path, meta: Meta, data: bytes) -> None:
    """Copy a short output into the archive."""
    archive.store(folder.name, meta.id, lambda: [(META, 0, encode_meta(meta)), (PACKED, 0, data)])


def store_folder(archive: OutputArchive, path: Path) -> None:
    """Copy an output that has a folder of its own into the archive."""
    archive.store(path.parent.name, path.name, lambda: _read_chunks(path))


def restore(archive: OutputArchive, folder: RunFolder, ref_id: str) -> bool:
    """Put an output that the archive has into the folder of its run; return whether it is there now."""
    if not ID.fullmatch(ref_id):
        return False
    made: Path | None = None
    try:
        for name, _, data in archive.load(folder.path.name, ref_id):
            if made is None:
                made = folder.hold() / temporary_name()
                made.mkdir(PRIVATE_FOLDER_MODE)
            _append(made, name, data)
        return made is not None and _finish(made, folder.path, ref_id)
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def restore_all(archive: OutputArchive, folder: Path, *, given: str = "") -> None:
    """Put outputs whose reference begins so into the folder of all runs, where they are missing."""
    for name, ref_id in archive.names():
        path = folder / name
        if ref_id.startswith(given) and ID.fullmatch(name) and ref_id not in _local_outputs(path):
            place = RunFolder(path)
            restore(archive, place, ref_id)
            place.release()


def _local_outputs(folder: Path) -> set[str]:
    with suppress(FileNotFoundError):
        folders = {one.name for one in folder.iterdir() if ID.fullmatch(one.name)}
        return folders | {one.id for one in packed_outputs(folder)}
    return set()


def _read_chunks(path: Path) -> Iterator[Chunk]:
    for file in sorted(path.iterdir()):
        with file.open("rb") as opened:
            yield file.name, 0, opened.read(CHUNK_BYTES)  # also of an empty file
            number = 1
            while data := opened.read(CHUNK_BYTES):
                yield file.name, number, data
                number += 1


def _append(made: Path, name: str, data: bytes) -> None:
    if "/" in name or name.startswith("."):  # whoever can write to the archive writes nowhere else on this machine
        raise OutputMissing("The archive names a file that no output has.")
    with os.fdopen(os.open(made / name, _NEW_FILE, PRIVATE_FILE_MODE), "ab") as file:
        file.write(data)


def _finish(made: Path, folder: Path, ref_id: str) -> bool:
    with suppress(FileNotFoundError):
        data = (made / PACKED).read_bytes()
        append_packed(folder, decode_meta((made / META).read_bytes(), ref_id), data)
        return True
    with suppress(OSError):  # another process of this machine was faster
        made.rename(folder / ref_id)
    return (folder / ref_id).exists()
