"""Words of our own on a screen: broken between words, so that a narrow terminal cuts none of them in two."""

import os
import re
import sys
from textwrap import TextWrapper
from typing import Final, TextIO

import click

MIN_COLUMNS: Final = 20
"""Below that there is nothing to break between: words are cut all the same."""

_INDENT: Final = "   "
_QUOTED: Final = re.compile(r"`[^`\n]+`|(?<!\w)'[^'\n]+'(?!\w)")
_GLUE: Final = "\0"
"""Stands for a blank where no line may end; in a text that was made safe it is not there."""


def wrap(text: str, width: int, *, cuts: bool = True, hang: int = 0) -> list[str]:
    """Break the text into lines of that width, between words, and never inside a quoted name that fits on a line.

    Without `cuts`, a word that is wider than a line stays whole: a terminal folds it, and it can still be copied. What
    goes on stands at least `hang` columns from the edge.
    """
    return [line for part in text.split("\n") for line in _lines(part, width, cuts=cuts, hang=hang)]


def _lines(part: str, width: int, *, cuts: bool, hang: int) -> list[str]:
    own = part[: len(part) - len(part.lstrip(" "))]
    indent = ((own if len(own) < width // 2 else "") + _INDENT).ljust(hang)

    def glued(found: re.Match[str]) -> str:
        return found[0].replace(" ", _GLUE) if len(found[0]) + len(indent) < width else found[0]

    wrapper = TextWrapper(
        width=width,
        subsequent_indent=indent,
        replace_whitespace=False,
        break_on_hyphens=False,
        break_long_words=cuts,
    )
    return [line.replace(_GLUE, " ") for line in wrapper.wrap(_QUOTED.sub(glued, part)) or [""]]


def terminal_columns(stream: TextIO) -> int | None:
    """Return how wide the terminal is that this goes to; None where it goes elsewhere, or nobody knows."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):  # closed, or no file at all
        return None
    return max(columns, MIN_COLUMNS) if columns > 0 else None


def fit(text: str, stream: TextIO | None, *, hang: int = 0) -> str:
    """Return a safe text for this stream: on a terminal, broken between words so that no line is too wide."""
    columns = None if stream is None else terminal_columns(stream)
    if columns is None:
        return text
    parts = text.split("\n")
    return "\n".join(
        part if len(part) <= columns else "\n".join(wrap(part, columns, cuts=False, hang=hang)) for part in parts
    )


def notify(text: str, *, dim: bool = False, red: bool = False) -> None:
    """Write a text that was made safe to stderr, beside the answer."""
    shown = fit(text, sys.stderr)
    click.echo(click.style(shown, dim=True if dim else None, fg="red" if red else None), err=True)
