"""How the tools of this pack say that something failed: `{error: true, message}`, with what to try next (C42)."""

from collections.abc import Iterator
from contextlib import contextmanager

from toolroll.errors import NotAFile, ToolFailure, ToolrollError


@contextmanager
def told() -> Iterator[None]:
    """Inside, every error of ours becomes what a model reads about it, under the error's own code."""
    try:
        yield
    except NotAFile as error:
        raise failure(f"{error.message} list_files shows what there is.", code=error.code) from error
    except ToolrollError as error:
        raise failure(error.message, code=error.code) from error


def failure(message: str, *, code: str) -> ToolFailure:
    """A failure in the form that every tool of this pack has."""
    return ToolFailure({"error": True, "message": message}, code=code)
