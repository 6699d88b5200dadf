"""How the tools of this pack say that something failed: `{error: true, message}`, with what to try next (C42)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from toolroll.errors import FileProblem, JournalRefused, LockTimeout, NotAFile, ToolFailure, ToolrollError

_OWN_FILE: Final = re.compile(r"'/(?:[^']*/)?([^'/]*)'")
_OWN_DATA: Final = (
    "This is about toolroll's own data folder, not about the project. The user has to see to it: free some space or "
    "give access there, or name another folder with TOOLROLL_HOME."
)


@contextmanager
def tool_errors(*, instead: str = "list_files shows what there is.") -> Iterator[None]:
    """Inside, every error of ours becomes what a model reads about it, under the error's own code.

    `instead` is what to try where something is of the wrong kind.
    """
    try:
        yield
    except ToolrollError as error:
        raise tool_failure(_message(error, instead), code=error.code) from error


def _message(error: ToolrollError, instead: str) -> str:
    if isinstance(error, LockTimeout):
        return _OWN_FILE.sub(_locate, error.message)
    if _is_about_own_data(error):
        return f"{_OWN_FILE.sub(_locate, error.message)} {_OWN_DATA}"
    return f"{error.message} {instead}" if isinstance(error, NotAFile) else error.message


def _is_about_own_data(error: ToolrollError) -> bool:
    """Whether it is about the history or the folder of it and the locks: files of the project have relative paths."""
    return error.path.startswith("/") if isinstance(error, FileProblem) else isinstance(error, JournalRefused)


def _locate(found: re.Match[str]) -> str:
    """A file of ours without its folder: where a person's home is, is nothing for a model, and of no use to it."""
    return f"'<data folder>/{found[1]}'"


def tool_failure(message: str, *, code: str) -> ToolFailure:
    """A failure in the form that every tool of this pack has."""
    return ToolFailure({"error": True, "message": message}, code=code)
