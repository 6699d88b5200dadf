"""Turn errors into the failures that these tools report: `{error: true, message}`, with what to try next (C42)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Final

from toolroll.errors import FileProblem, JournalRefused, LockTimeout, NotAFile, ToolFailure, ToolrollError
from toolroll.kernel.define.wrappers import WrapperTool
from toolroll.messages import Template, Text

_OWN_DATA: Final = (
    "This is about toolroll's own data folder, not about the project. The user has to see to it: free some space or "
    "give access there, or name another folder with TOOLROLL_HOME."
)
_UNUSABLE: Final = Template("own_data_unusable", "Something is wrong with '{path}'.")


@contextmanager
def tool_errors(*, instead: str = "list_files shows what there is.") -> Iterator[None]:
    """Raise every error of ours inside as a failure that a model can read, under the error's own code.

    `instead` is what to try where something is of the wrong kind.
    """
    try:
        yield
    except ToolrollError as error:
        raise tool_failure(_describe(error, instead), code=error.code) from error


def tool_failure(message: str, *, code: str) -> ToolFailure:
    """Return a failure in the form that every tool of this pack has."""
    return ToolFailure(_error_object(message), code=code)


class CodeTool(WrapperTool):
    """A tool of this pack: rejected, refused and invalid calls read as all of its failures do."""

    def failure_content(self, message: str) -> object:
        """Return the error object with this message."""
        return _error_object(message)


def _error_object(message: str) -> dict[str, object]:
    return {"error": True, "message": message}


def _describe(error: ToolrollError, instead: str) -> str:
    if isinstance(error, LockTimeout):
        return _hide_folders(error)
    if _is_about_own_data(error):
        return f"{_hide_folders(error)} {_OWN_DATA}"
    return f"{error.message} {instead}" if isinstance(error, NotAFile) else error.message


def _is_about_own_data(error: ToolrollError) -> bool:
    """Return whether it is about the history or our folder: files of the project have relative paths."""
    return error.path.startswith("/") if isinstance(error, FileProblem) else isinstance(error, JournalRefused)


def _hide_folders(error: ToolrollError) -> str:
    """Return the message without the folders of our files: where a person's home is, is of no use to a model."""
    if isinstance(error.message, Text):
        values = {name: _hide_folder(value) for name, value in error.message.values.items()}
        return error.message.template(**values)
    return _UNUSABLE(path=_hide_folder(error.path if isinstance(error, FileProblem) else "/"))


def _hide_folder(value: object) -> object:
    is_path = isinstance(value, PurePath | str) and str(value).startswith("/")
    return f"<data folder>/{PurePath(str(value)).name}" if is_path else value
