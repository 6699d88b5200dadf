"""Arguments that hold a secret, of calls that a person was asked about: private files beside the run log.

The run log has them without the secret, so a later process could not run the call after a yes. A file is written before
the question is recorded, and goes when the call has its result or the run is deleted. It is not encrypted: whoever can
read it can read the key that would be needed, too.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from toolroll.journal.redaction import lost_a_secret, without_secrets
from toolroll.kernel.data.messages import ToolCall
from toolroll.safe.paths.files import private_folder, replace_file

FOLDER: Final = "sealed"
"""Beside the run log."""
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedArguments:
    """The arguments of a call as the model wrote them, and as they are recorded."""

    call_id: str
    arguments: str
    recorded: str


class SealedFolder:
    """The sealed arguments of all runs: a folder for each run, a file for each call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def seal(self, run_id: str, calls: Iterable[ToolCall], secrets: Sequence[str]) -> None:
        """Keep the arguments of those calls whose record loses a secret."""
        for call in calls:
            recorded = without_secrets({"arguments": call.arguments}, secrets)["arguments"]
            if lost_a_secret(recorded):
                known = self.read(run_id).get(call.id)
                if known is None or known.recorded != recorded:  # else a resumed run asks again, without the secret
                    self.keep(run_id, SealedArguments(call_id=call.id, arguments=call.arguments, recorded=recorded))

    def unseal(self, run_id: str, calls: Iterable[ToolCall]) -> dict[str, str]:
        """Return the arguments that were sealed for these recorded calls, by call id; drop all others of the run."""
        recorded = {call.id: call.arguments for call in calls}
        found: dict[str, str] = {}
        for call_id, sealed in self.read(run_id).items():
            if recorded.get(call_id) == sealed.recorded:
                found[call_id] = sealed.arguments
            else:
                self.remove(run_id, call_id)
        return found

    def keep(self, run_id: str, sealed: SealedArguments) -> None:
        """Write the arguments of a call; they are on the disk when this returns."""
        folder = private_folder(self._folder / _name(run_id))
        fields = asdict(sealed)
        data = json.dumps({**fields, "hash": _hash(fields)}).encode("ascii")
        fd = os.open(folder, _DIRECTORY)
        try:
            replace_file(fd, _name(sealed.call_id), data, path=str(folder))
        finally:
            os.close(fd)

    def read(self, run_id: str) -> dict[str, SealedArguments]:
        """Return what is kept for a run, by call id; a file that is not what was written is left out."""
        return {one.call_id: one for one in self._read(run_id)}

    def _read(self, run_id: str) -> Iterator[SealedArguments]:
        folder = self._folder / _name(run_id)
        with suppress(FileNotFoundError):
            for path in sorted(folder.iterdir()):
                with suppress(OSError, ValueError, KeyError, TypeError):
                    fields = json.loads(path.read_bytes())
                    if fields.pop("hash") == _hash(fields):
                        yield SealedArguments(**fields)

    def has_any(self, run_id: str) -> bool:
        """Return whether something may be kept for a run."""
        return (self._folder / _name(run_id)).exists()

    def remove(self, run_id: str, call_id: str) -> None:
        """Remove the arguments of a call, if they are there."""
        folder = f"{self._folder}/{_name(run_id)}"
        with suppress(OSError):  # nearly no call has such a file; one that cannot be removed goes with the run
            os.unlink(f"{folder}/{_name(call_id)}")  # noqa: PTH108 - for each call that ends
            os.rmdir(folder)  # noqa: PTH106 - if it was the last one

    def remove_run(self, run_id: str) -> None:
        """Remove all that is kept for a run."""
        shutil.rmtree(self._folder / _name(run_id), ignore_errors=True)


def _name(text: str) -> str:
    """Return an id of anybody, long or with slashes, as 32 letters and digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _hash(fields: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode("ascii")).hexdigest()
