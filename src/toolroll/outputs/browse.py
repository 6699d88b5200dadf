"""All kept outputs of a user, for people: whatever run they belong to. Models never come here."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolroll.errors import OutputMissing, UsageError
from toolroll.outputs.format import ID, has_lost_pack, lost_output, packed_outputs
from toolroll.outputs.reader import StoredOutput, load_output, load_packed
from toolroll.safe.text import one_line

MIN_ID_CHARACTERS: Final = 4
"""Of the beginning of a reference, where that is enough to tell it from the others."""

_SHOWN_CHARACTERS: Final = 64


def all_outputs(folder: Path) -> list[StoredOutput]:
    """Return every output that is there whole, the latest first."""
    found: list[StoredOutput] = []
    for run in _folders(folder):
        found += _load_whole((run, output.name) for output in _folders(run))
        for packed in packed_outputs(run):
            with suppress(OutputMissing):
                found.append(load_packed(run, packed))
    return sorted(found, key=lambda kept: (-kept.meta.made, kept.meta.id))


def find_output(folder: Path, given: str) -> StoredOutput:
    """Return the output with that reference, or the only one whose reference begins so.

    A run that was forked from another has the same outputs under the same references: the latest is taken.
    """
    fitting = [(run, name) for run, name in _places(folder) if name.startswith(given)]
    names = {given} & {name for _, name in fitting} or {name for _, name in fitting}
    if names and given not in names and len(given) < MIN_ID_CHARACTERS:
        raise UsageError(f"{given!r} is too short. Write {MIN_ID_CHARACTERS} characters of the reference, or more.")
    if len(names) > 1:
        raise UsageError(f"{len(names)} outputs begin with {given!r}. Write more of the reference.")
    found = list(_load_whole(place for place in fitting if place[1] in names))
    if not found:
        if any(map(has_lost_pack, _folders(folder))):
            raise lost_output(given)
        shown = one_line(given, _SHOWN_CHARACTERS)
        raise OutputMissing(f"There is no output '{shown}'. See 'toolroll outputs list'.")
    return max(found, key=lambda kept: kept.meta.made)


def _load_whole(places: Iterable[tuple[Path, str]]) -> Iterator[StoredOutput]:
    for run, name in places:
        with suppress(OutputMissing):
            yield load_output(run, name)


def _places(folder: Path) -> Iterator[tuple[Path, str]]:
    """The folder of each run with the name of each output in it."""
    for run in _folders(folder):
        yield from ((run, output.name) for output in _folders(run))
        yield from ((run, packed.id) for packed in packed_outputs(run))


def _folders(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        return [Path(one.path) for one in entries if ID.fullmatch(one.name) and one.is_dir(follow_symlinks=False)]
    return []
