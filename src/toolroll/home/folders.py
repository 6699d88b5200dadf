"""Where the user's own files are: data, configuration and cache, apart from every workspace."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.errors import UsageError
from toolroll.safe.paths.names import quote_path

HOME_VARIABLE: Final = "TOOLROLL_HOME"
_VIRTUAL_FOLDERS: Final = ("/proc/", "/sys/", "/dev/fd/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The three places; none of them needs to exist. `safe.files.private_folder` makes one when it is first used."""

    data: Path
    config: Path
    cache: Path

    @property
    def run_log(self) -> Path:
        """Return the path of the file that holds all runs."""
        return self.data / "runs.db"


def find_folders(environment: Mapping[str, str]) -> Folders:
    """Find the user's folders: below `TOOLROLL_HOME` if that is set, else where this system keeps such files."""
    home = environment.get(HOME_VARIABLE)
    return _folders_below(home) if home else _system_folders()


def _folders_below(home: str) -> Folders:
    folder = Path(home)
    if not folder.is_absolute():
        # A relative one would change with the working folder: a workspace could then bring its own approvals.
        raise UsageError(f"{HOME_VARIABLE} is '{quote_path(home)}'. Set it to a whole path, beginning with '/'.")
    if why := _describe_problem(home):
        raise UsageError(f"{HOME_VARIABLE} is '{quote_path(home)}', {why}. Set it to a folder of your own.")
    return Folders(data=folder / "data", config=folder / "config", cache=folder / "cache")


def _describe_problem(home: str) -> str:
    """Describe why a path cannot hold folders of ours; empty where it is a folder, or may become one."""
    try:
        found = os.stat(home)  # noqa: PTH116 - as it was given
    except FileNotFoundError:
        # The system makes the folders there itself: nobody else can.
        return "where no folder can be made" if home.startswith(_VIRTUAL_FOLDERS) else ""
    except OSError as error:
        return f"which cannot be used: {error.strerror}"
    return "" if stat.S_ISDIR(found.st_mode) else "which is no folder"


def _system_folders() -> Folders:
    from platformdirs import PlatformDirs  # noqa: PLC0415 - one interpreter start, not needed with TOOLROLL_HOME

    places = PlatformDirs("toolroll", appauthor=False)
    return Folders(data=places.user_data_path, config=places.user_config_path, cache=places.user_cache_path)
