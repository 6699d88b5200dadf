"""What a process does before its command: warn of a home that others can change, and begin to trace where asked."""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Final

import click

HOME: Final = "TOOLROLL_HOME"
_TRACING: Final = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_UNTRACED: Final = frozenset(
    "call changes completion config demo doctor outputs policy redo stats tools trust undo".split()  # noqa: SIM905
)
"""Commands that ask no model."""


def prepare(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Say once what is wrong with the user's home, and set up tracing for commands that ask a model."""
    if shared_home(environment):
        told = f"Warning: other users can write to {HOME}, where your settings, rules and runs are kept."
        click.echo(f"{told} Make it yours alone (chmod 700), or see 'toolroll doctor'.", err=True)
    first = next((word for word in arguments if not word.startswith("-")), None)
    if first is not None and first not in _UNTRACED and any(map(environment.get, _TRACING)):
        from toolroll.cli.telemetry import set_up_tracing  # noqa: PLC0415 - only for who traces

        set_up_tracing()


def shared_home(environment: Mapping[str, str]) -> bool:
    """Whether others can put files of theirs into the folder that is named for the user's own."""
    home = environment.get(HOME)
    try:
        mode = os.stat(home).st_mode if home else 0  # noqa: PTH116 - pathlib is two milliseconds, for one call
    except OSError:
        return False
    return bool(mode & (stat.S_IWGRP | stat.S_IWOTH))
