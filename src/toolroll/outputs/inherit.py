"""Outputs that another run takes over: the same references, and the same bytes on the disk, in a folder of its own.

What was kept never changes, so both folders can hold the same files by hard links. Either may be collected or deleted:
the other still has all of it.
"""

import os
import shutil
from collections.abc import Container
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolroll.errors import OutputMissing
from toolroll.outputs.kept import KeptOutput, load
from toolroll.outputs.meta import ID, encode_meta
from toolroll.outputs.pack import append, packed_in
from toolroll.outputs.place import RunFolder, folder_name, temporary_name
from toolroll.outputs.write import META
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE


def inherit_outputs(folder: Path, *, of_run: str, to_run: str, named: Container[str]) -> int:
    """Give a new run the outputs of another that it has `named` references to; tells how many.

    Only what the other run could read itself is handed on. What is no longer kept is left out.
    """
    source, target = folder / folder_name(of_run), RunFolder(folder / folder_name(to_run))
    found = 0
    try:
        for name in sorted(_names(source)):
            if name in named:
                with suppress(OutputMissing):
                    found += _taken(load(source, name), target, of_run=of_run, to_run=to_run)
    finally:
        target.release()
    return found


def _names(source: Path) -> list[str]:
    with suppress(FileNotFoundError):
        folders = [one.name for one in source.iterdir() if ID.fullmatch(one.name)]
        return [*folders, *(one.id for one in packed_in(source))]
    return []


def _taken(kept: KeptOutput, target: RunFolder, *, of_run: str, to_run: str) -> bool:
    if of_run not in kept.meta.runs:
        return False
    if kept.packed_at is not None:
        with kept.opened() as data:
            append(target.hold(), replace(kept.meta, runs=(to_run,)), data.read(0, data.byte_size))
        return True
    made = target.hold() / temporary_name()
    made.mkdir(PRIVATE_FOLDER_MODE)
    try:
        for file in kept.path.iterdir():
            if file.name != META:
                _link(file, made / file.name)
        fd = os.open(made / META, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE_MODE)
        with os.fdopen(fd, "wb") as meta:
            meta.write(encode_meta(replace(kept.meta, runs=(to_run,))))
        made.rename(target.path / kept.meta.id)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return True


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)
        target.chmod(PRIVATE_FILE_MODE)
