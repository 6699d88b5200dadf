"""Where outputs are kept: one folder for a run and all that it delegates to, one folder in it for each output."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from toolroll.kernel.context import random_id
from toolroll.kernel.messages import OutputRef, Part
from toolroll.outputs.kept import KeptOutput

if TYPE_CHECKING:
    from toolroll.outputs.write import OutputWriter


class OutputStore:
    """The outputs of one run, private to the user. Use `with`, or `close` it: until then they are not collected.

    A run reads its own outputs and those of the runs it delegated to, by a reference that they hand up; never those of
    its caller, its siblings or other runs. All of it is sync: keep large outputs from a thread.
    """

    def __init__(self, folder: Path, *, run_id: str, make_id: Callable[[], str] = random_id) -> None:
        raise NotImplementedError

    def child(self, run_id: str) -> "OutputStore":
        """The store of a run that this one delegates to."""
        raise NotImplementedError

    def keep(self, call_id: str, tool: str, content: str | bytes | tuple[Part, ...]) -> OutputRef | None:
        """Keep an output whole; None when that failed, which is logged and costs nothing else."""
        raise NotImplementedError

    def writer(self, call_id: str, tool: str) -> "OutputWriter":
        """Keep an output that comes piece by piece: `with store.writer(...) as out: out.write(piece)`, then `out.ref`."""
        raise NotImplementedError

    def open(self, ref_id: str) -> KeptOutput:
        """The output behind a reference that this run may read, or OutputMissing (`not_found`)."""
        raise NotImplementedError

    def close(self) -> None:
        """Let the outputs be collected when their time comes; they can be opened as before."""
        raise NotImplementedError
