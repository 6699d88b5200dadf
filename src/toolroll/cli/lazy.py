"""Commands and their bodies, imported when they are used: `--help` and Tab load nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

import click

from toolroll.lazy import load


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyCommand:
    """Where a command is, as `module:name`, and its line in the list."""

    place: str
    summary: str


def lazily(place: str) -> Callable[..., Any]:
    """Return a function that calls `module:name`, and imports it first."""

    def call(*args: Any, **options: Any) -> Any:
        return load(place)(*args, **options)

    return call


def body(place: str) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Give a command, which itself has only a help text, its body: `module:name`, imported when the command runs.

    So a command's signature stands apart from its body, and showing help loads nothing of the body.
    """
    return lambda signature: update_wrapper(lazily(place), signature)


class LazyGroup(click.Group):
    """Lists its commands from their lines; imports one when it is called, or asked for its help."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's shape
        """Return all names, in their order."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's shape
        """Import the command of that name, and return it."""
        if cmd_name not in self._lazy:
            return None
        command: click.Command = load(self._lazy[cmd_name].place)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's shape
        """Write the list in `--help`."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in self._lazy.items()])
