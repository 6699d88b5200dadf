"""What is piped into a command beside its prompt: `git diff | toolroll code 'review this'` (S10)."""

import os
import select
import stat
import sys
from dataclasses import dataclass
from typing import Final

from toolroll.apps.run_log import open_archive
from toolroll.cli.render.prose import notify
from toolroll.errors import UsageError
from toolroll.home.folders import find_folders
from toolroll.home.keys import known_secrets
from toolroll.outputs.cut import cut_for_context
from toolroll.outputs.run_folder import outputs_folder
from toolroll.outputs.store import OutputStore

MAX_PIPED_BYTES: Final = 64 * 1024 * 1024
"""Read into memory; a log of a day is smaller."""
HINT_AFTER_S: Final = 3.0
NAME: Final = "stdin"
MARK_CHARACTERS: Final = 8
_CHUNK_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PipedInput:
    """A text that came through stdin."""

    text: str

    @property
    def description(self) -> str:
        """Return what was attached, in words for the person."""
        lines = len(self.text.splitlines())
        return f"{NAME} ({'1 line' if lines == 1 else f'{lines:,} lines'})"

    def attach(self, prompt: str, *, run_id: str) -> str:
        """Return the prompt of the run with the text behind it; the whole of it goes to the run's stored outputs.

        The marks around it have a part of the run's id: no line of the text can pass for its end.
        """
        folder = outputs_folder(find_folders(os.environ))
        secrets = known_secrets(os.environ)
        with (
            open_archive(os.environ) as archive,
            OutputStore(folder, run_id=run_id, secrets=secrets, archive=archive) as store,
        ):
            shown = cut_for_context(self.text, store.keep(NAME, NAME, self.text))
        mark = run_id[:MARK_CHARACTERS]
        return f"{prompt}\n\n[piped in by the user: {NAME} {mark}]\n{shown.rstrip()}\n[end of {NAME} {mark}]"


def read_piped() -> PipedInput | None:
    """Return what is piped in, or None: a terminal, nothing, or a stdin that is no pipe and no file."""
    fd = _stdin_fd()
    data = b"" if fd is None else _read_all(fd)
    if not data.strip():
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError("What is piped in is no text in UTF-8. Pipe text, or add '< /dev/null' to pipe nothing.")
    return PipedInput(text=text)


def _stdin_fd() -> int | None:
    """Return the descriptor of stdin where it is a pipe or a file; a program that calls us may have replaced it."""
    try:
        fd = sys.stdin.fileno()
    except (AttributeError, ValueError):  # closed, or no file at all
        return None
    mode = os.fstat(fd).st_mode
    return fd if stat.S_ISFIFO(mode) or stat.S_ISREG(mode) else None


def _read_all(fd: int) -> bytes:
    """Read to the end; a person who waits is told what for."""
    if not select.select([fd], [], [], HINT_AFTER_S)[0]:
        notify(
            "· Waiting for what is piped in. Ctrl-C stops; '< /dev/null' behind the command pipes nothing.", dim=True
        )
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(fd, _CHUNK_BYTES):
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_PIPED_BYTES:
            raise UsageError(
                f"More than {MAX_PIPED_BYTES // 1024 // 1024} MB are piped in. Put it into a file, and name the file "
                "in the prompt."
            )
    return b"".join(chunks)
