"""The outputs of one run: storing, opening, and handing them on to a run that is forked from it.

A stored output never changes, so the folder of a fork holds the same files by hard links: either folder can be removed,
and the other still has all of it.
"""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from toolroll.errors import OutputDamaged, OutputMissing, ToolrollError
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import OutputRef, Part
from toolroll.kernel.data.serialize import replace_surrogates
from toolroll.outputs.archive import OutputArchive, restore, store_folder, store_short
from toolroll.outputs.format import (
    ID,
    META,
    SHORT_CHARACTERS,
    append_packed,
    encode_meta,
    missing_output,
    packed_outputs,
)
from toolroll.outputs.reader import StoredOutput, load_output
from toolroll.outputs.retention import collect_when_due
from toolroll.outputs.run_folder import RunFolder, folder_name, temporary_name
from toolroll.outputs.writer import (
    OutputOrigin,
    OutputWriter,
    describe_short,
    make_free_id,
    mask_secrets,
    warn_not_stored,
)
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE


class OutputStore:
    """The outputs of one run, private to the user. Use `with`, or `close` it: until then they are not collected.

    A run reads its own outputs, and those of the runs it delegated to by a reference that they hand up; never those of
    its caller, its siblings or other runs. All of it is sync: keep large outputs from a thread. `secrets` are values
    that are never stored. With an `archive`, other machines can read them too.
    """

    def __init__(
        self,
        folder: Path,
        *,
        run_id: str,
        make_id: Callable[[], str] = random_id,
        clock: Callable[[], float] = time.time,
        secrets: Sequence[str] = (),
        archive: OutputArchive | None = None,
    ) -> None:
        self.folder = folder
        self.archive = archive
        self._secrets = tuple(secrets)
        self._runs: tuple[str, ...] = (replace_surrogates(run_id),)
        self._place = RunFolder(folder / folder_name(run_id))
        self._make_id = make_id
        self._clock = clock

    @property
    def run_id(self) -> str:
        """Return the run whose outputs these are."""
        return self._runs[-1]

    def child(self, run_id: str) -> "OutputStore":
        """Return the store of a run that this one delegates to: this run can read its outputs, not vice versa."""
        made = OutputStore(
            self.folder,
            run_id=run_id,
            make_id=self._make_id,
            clock=self._clock,
            secrets=self._secrets,
            archive=self.archive,
        )
        made._runs = (*self._runs, *made._runs)
        made._place = self._place
        return made

    def keep(self, call_id: str, tool: str, content: str | bytes | tuple[Part, ...]) -> OutputRef | None:
        """Keep an output whole; None when that failed, which is logged and costs nothing else."""
        if not isinstance(content, tuple) and len(content) < SHORT_CHARACTERS:
            return self._keep_short(call_id, tool, content)
        with self.writer(call_id, tool) as out:
            if isinstance(content, tuple):
                out.write_parts(content)
            else:
                out.write(content)
        return out.ref

    def writer(self, call_id: str, tool: str) -> OutputWriter:
        """Keep an output that comes in pieces: `with store.writer(...) as out: out.write(piece)`, then `out.ref`."""
        on_whole = None if self.archive is None else partial(store_folder, self.archive)
        return OutputWriter(self._hold, self._origin(call_id, tool), self._make_id, self._secrets, on_whole)

    def open(self, ref_id: str) -> StoredOutput:
        """Return the output behind a reference that this run may read, or OutputMissing (`not_found`)."""
        if self._place.path.exists():
            with suppress(OSError, ToolrollError):  # a folder that can only be read is read
                self._hold()
        found = self._load(ref_id)
        if self.run_id not in found.meta.runs:
            raise missing_output(ref_id)
        return found

    def close(self) -> None:
        """Let the outputs be collected when their time comes; until then they can be opened as before."""
        self._place.release()

    def _load(self, ref_id: str) -> StoredOutput:
        """Return an output of the folder; one that another machine stored is fetched first."""
        try:
            return load_output(self._place.path, ref_id)
        except OutputMissing:
            if self.archive is None or not restore(self.archive, self._place, ref_id):
                raise
            return load_output(self._place.path, ref_id)

    def _origin(self, call_id: str, tool: str) -> OutputOrigin:
        return OutputOrigin(
            runs=self._runs, call_id=replace_surrogates(call_id), tool=replace_surrogates(tool), made=self._clock()
        )

    def _keep_short(self, call_id: str, tool: str, content: str | bytes) -> OutputRef | None:
        origin = self._origin(call_id, tool)
        raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        data = mask_secrets(raw, self._secrets)
        try:
            folder = self._hold()
            meta = describe_short(make_free_id(folder, self._make_id), origin, data, is_text=isinstance(content, str))
            append_packed(folder, meta, data)
            if self.archive is not None:
                store_short(self.archive, folder, meta, data)
        except (OSError, ToolrollError) as error:
            warn_not_stored(origin.tool, error)
            return None
        return OutputRef(id=meta.id, byte_size=meta.byte_size, line_count=meta.line_count)

    def _hold(self) -> Path:
        was_held = self._place.is_held
        path = self._place.hold()
        if not was_held:  # only now: a run that is resumed after a long time must not collect itself
            collect_when_due(self.folder, now=self._clock())
        return path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def inherit_outputs(
    folder: Path, *, of_run: str, to_run: str, named: set[str], archive: OutputArchive | None = None
) -> int:
    """Give a new run the outputs of another that it has `named` references to; tells how many.

    Only what the other run could read itself is handed on. What is no longer kept is left out.
    """
    source, target = folder / folder_name(of_run), RunFolder(folder / folder_name(to_run))
    found = 0
    if archive is not None:
        _fetch(archive, source, named)
    try:
        for name in sorted(_output_ids(source)):
            if name in named:
                with suppress(OutputDamaged, OutputMissing):
                    found += _copy_output(load_output(source, name), target, of_run=of_run, to_run=to_run)
                    _store_copy(archive, target.path, name)
    finally:
        target.release()
    return found


def _fetch(archive: OutputArchive, source: Path, named: set[str]) -> None:
    place = RunFolder(source)
    for _, name in archive.names(source.name):
        if name in named and name not in _output_ids(source):
            restore(archive, place, name)
    place.release()


def _store_copy(archive: OutputArchive | None, folder: Path, name: str) -> None:
    if archive is None:
        return
    kept = load_output(folder, name)  # where it was not copied, there is none
    if kept.packed_at is None:
        store_folder(archive, kept.path)
        return
    with kept.open_data() as data:
        store_short(archive, kept.path.parent, kept.meta, data.read(0, data.byte_size))


def _output_ids(source: Path) -> list[str]:
    with suppress(FileNotFoundError):
        folders = [one.name for one in source.iterdir() if ID.fullmatch(one.name)]
        return [*folders, *(one.id for one in packed_outputs(source))]
    return []


def _copy_output(kept: StoredOutput, target: RunFolder, *, of_run: str, to_run: str) -> bool:
    if of_run not in kept.meta.runs:
        return False
    if kept.packed_at is not None:
        with kept.open_data() as data:
            append_packed(target.hold(), replace(kept.meta, runs=(to_run,)), data.read(0, data.byte_size))
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
