"""A group of commands that are imported when they are used, and can be listed before."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyCommand:
    """Where a command is, as `module:name`, and its line in the list."""

    place: str
    summary: str


class LazyGroup(click.Group):
    """Lists its commands from their lines; imports one when it is called, or asked for its help."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's shape
        """All names, in their order."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's shape
        """The command of that name."""
        if cmd_name not in self._lazy:
            return None
        module, _, name = self._lazy[cmd_name].place.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's shape
        """The list in `--help`."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in self._lazy.items()])
