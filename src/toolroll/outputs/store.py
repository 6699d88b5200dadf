"""Where outputs are kept: one folder for a run and all that it delegates to, in it one for each output, and a file for
all that are short."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from toolroll.errors import ToolrollError
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import OutputRef, Part
from toolroll.kernel.data.serialize import well_formed
from toolroll.outputs.collect import collect_when_due
from toolroll.outputs.kept import KeptOutput, load
from toolroll.outputs.masking import masked
from toolroll.outputs.meta import missing
from toolroll.outputs.pack import SHORT_CHARACTERS, append
from toolroll.outputs.place import RunFolder, folder_name
from toolroll.outputs.write import Origin, OutputWriter, free_id, short_meta, warn_not_kept


class OutputStore:
    """The outputs of one run, private to the user. Use `with`, or `close` it: until then they are not collected.

    A run reads its own outputs, and those of the runs it delegated to by a reference that they hand up; never those of
    its caller, its siblings or other runs. All of it is sync: keep large outputs from a thread. `secrets` are values
    that are never stored.
    """

    def __init__(
        self,
        folder: Path,
        *,
        run_id: str,
        make_id: Callable[[], str] = random_id,
        clock: Callable[[], float] = time.time,
        secrets: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self._secrets = tuple(secrets)
        self._runs: tuple[str, ...] = (well_formed(run_id),)
        self._place = RunFolder(folder / folder_name(run_id))
        self._make_id = make_id
        self._clock = clock

    @property
    def run_id(self) -> str:
        """The run whose outputs these are."""
        return self._runs[-1]

    def child(self, run_id: str) -> "OutputStore":
        """The store of a run that this one delegates to: its outputs can be read here too, not the other way round."""
        made = OutputStore(self.folder, run_id=run_id, make_id=self._make_id, clock=self._clock, secrets=self._secrets)
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
        return OutputWriter(self._hold, self._origin(call_id, tool), self._make_id, self._secrets)

    def open(self, ref_id: str) -> KeptOutput:
        """The output behind a reference that this run may read, or OutputMissing (`not_found`)."""
        if self._place.path.exists():
            with suppress(OSError, ToolrollError):  # a folder that can only be read is read
                self._hold()
        found = load(self._place.path, ref_id)
        if self.run_id not in found.meta.runs:
            raise missing(ref_id)
        return found

    def close(self) -> None:
        """Let the outputs be collected when their time comes; until then they can be opened as before."""
        self._place.release()

    def _origin(self, call_id: str, tool: str) -> Origin:
        return Origin(runs=self._runs, call_id=well_formed(call_id), tool=well_formed(tool), made=self._clock())

    def _keep_short(self, call_id: str, tool: str, content: str | bytes) -> OutputRef | None:
        origin = self._origin(call_id, tool)
        raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        data = masked(raw, self._secrets)
        try:
            folder = self._hold()
            meta = short_meta(free_id(folder, self._make_id), origin, data, is_text=isinstance(content, str))
            append(folder, meta, data)
        except (OSError, ToolrollError) as error:
            warn_not_kept(origin.tool, error)
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
