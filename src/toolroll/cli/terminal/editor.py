"""A person's own editor on a proposed text, through a private file that is gone afterwards."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from toolroll.errors import UsageError
from toolroll.safe.paths.files import PRIVATE_FILE_MODE
from toolroll.safe.programs.run import ended_on_error

USUAL: Final = ("nano", "vi")
"""Editors to take where none is set: the one that says which key leaves it comes first."""

AT_LINE: Final = ("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "mg", "ne")
"""Editors that take `+12` for a line."""

_SUFFIX: Final = re.compile(r"\.[A-Za-z0-9]{1,10}")


def edit_text(text: str, *, name: str, environment: Mapping[str, str], input_fd: int, line: int = 1) -> str:
    """Return the text as the person left it in the editor; UsageError with what to do where that did not work.

    `name` only gives the ending, for the editor's colours. `line` is where the cursor stands in editors we know.
    """
    command = _command(environment)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise UsageError("This text is not valid Unicode, and no editor could keep it. Take it or leave it.") from None
    # A folder of its own, for the owner alone: editors leave backups beside the file.
    with tempfile.TemporaryDirectory(prefix="toolroll-") as folder:
        file = Path(folder, "proposed" + _ending(name))
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE_MODE), "wb") as out:
            out.write(data)
        _run([*command, *_at_line(command[0], line), str(file)], input_fd)
        return _read(file)


def _command(environment: Mapping[str, str]) -> list[str]:
    named = (environment.get(name, "").strip() for name in ("VISUAL", "EDITOR"))
    setting = next(filter(None, named), "") or _usual(environment)
    try:
        command = shlex.split(setting)
    except ValueError:
        raise UsageError(f"A quotation mark is not closed in EDITOR or VISUAL: {setting}") from None
    if not command:
        told = f"No editor is set, and there is no {' and no '.join(USUAL)} here."
        raise UsageError(f"{told} Set EDITOR, and start again.")
    return command


def _usual(environment: Mapping[str, str]) -> str:
    """The first of the usual editors that is there."""
    found = (shutil.which(name, path=environment.get("PATH", os.defpath)) for name in USUAL)
    return shlex.join([name for name in found if name][:1])


def _at_line(editor: str, line: int) -> list[str]:
    """What opens a file at a line; nothing for the first one, and in editors that are not known."""
    return [f"+{line}"] if line > 1 and Path(editor).name in AT_LINE else []


def _ending(name: str) -> str:
    ending = os.path.splitext(name)[1]  # noqa: PTH122 -- the name is only text here
    return ending if _SUFFIX.fullmatch(ending) else ".txt"


def _run(command: list[str], input_fd: int) -> None:
    sys.stderr.flush()
    try:
        with _unchanged_modes(input_fd), ended_on_error(os.environ) as environment:
            # What the editor draws goes where we draw: stdout belongs to the answer.
            done = subprocess.run(  # noqa: S603 - the person's own setting
                command, stdin=input_fd, stdout=2, env=environment, check=False
            )
    except OSError as error:
        raise UsageError(f"The editor {command[0]!r} could not be started: {error.strerror}. Check EDITOR.") from None
    if done.returncode:
        raise UsageError(f"The editor {command[0]!r} ended with an error ({done.returncode}). Nothing was changed.")


@contextmanager
def _unchanged_modes(terminal: int) -> Iterator[None]:
    """Set the terminal back afterwards: an editor that is killed cannot."""
    try:
        modes = termios.tcgetattr(terminal)
    except termios.error:  # no terminal
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error):  # it is gone
            termios.tcsetattr(terminal, termios.TCSADRAIN, modes)


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        raise UsageError("What the editor left behind is not a text file. Nothing was changed.") from None
