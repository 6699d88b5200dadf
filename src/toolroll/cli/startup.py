"""What a process does before its command: warn of a home that others can change, and begin to trace where asked."""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Final

HOME: Final = "TOOLROLL_HOME"
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_BASES: Final = {"XDG_DATA_HOME": ".local/share", "XDG_CONFIG_HOME": ".config", "XDG_CACHE_HOME": ".cache"}
_TRACING: Final = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_UNTRACED: Final = frozenset(
    "call changes completion config demo doctor outputs policy redo stats tools trust undo".split()  # noqa: SIM905
)
"""Commands that ask no model."""


def prepare(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Say once what is wrong with the user's home, and set up tracing for commands that ask a model."""
    shared = HOME if is_home_shared(environment) else find_shared_folder(environment, own=True)
    if shared:
        told = f"Warning: other users can write to {shared}, where your settings, rules and runs are kept."
        from toolroll.cli.render.prose import notify  # noqa: PLC0415 - only for a warning

        notify(f"{told} Make it yours alone (chmod 700), or see 'toolroll doctor'.")
    first = next((word for word in arguments if not word.startswith("-")), None)
    if first is not None and first not in _UNTRACED and any(map(environment.get, _TRACING)):
        from toolroll.cli.tracing import set_up_tracing  # noqa: PLC0415 - only when tracing

        set_up_tracing()


def is_home_shared(environment: Mapping[str, str]) -> bool:
    """Return whether others can put files of theirs into the folder that is named for the user's own."""
    home = environment.get(HOME)
    mode = None if not home else _status(home)
    return mode is not None and bool(mode.st_mode & _OTHERS)


def find_shared_folder(environment: Mapping[str, str], *, own: bool) -> str | None:
    """Return the first folder above ours, up to the user's home, that others can write to; with `own`, ours too.

    Who can write to one above can put another in the place of ours, with rules that allow everything.
    """
    above, ours = _home_folders(environment)
    if own:
        for place in ours:
            found = _status(place)
            if found is not None and found.st_mode & _OTHERS:
                return repr(place)
    return next((repr(place) for place in above if _is_writable_by_others(place)), None)


def _is_writable_by_others(place: str) -> bool:
    found = _status(place)
    if found is None:
        return False
    # Many systems give each user a group of their own, with the same number: nobody else is in it.
    others = stat.S_IWOTH if found.st_gid == found.st_uid else _OTHERS
    return bool(found.st_mode & others)


def _home_folders(environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The folders above ours, and ours, as far as they can be told without loading what knows all systems."""
    if home := environment.get(HOME):
        return [], [f"{home}/{name}" for name in ("data", "config", "cache")]
    home = environment.get("HOME", "")
    if not home.startswith("/"):
        return [], []
    bases = [environment.get(name) or f"{home}/{usual}" for name, usual in _BASES.items()]
    above = [home]
    for base in bases:
        while base.startswith(f"{home}/"):
            above.append(base)
            base = base.rpartition("/")[0]  # noqa: PLW2901 - upwards, to the home
    return list(dict.fromkeys(above)), [f"{base}/toolroll" for base in bases]


def _status(place: str) -> os.stat_result | None:
    try:
        return os.stat(place)  # noqa: PTH116 - pathlib is two milliseconds, for a few calls
    except (OSError, ValueError):
        return None
