"""What the tools of this pack depend on: the data folder and the stores in it, opened once for a run.

A surface names the data folder in `deps` as `data`. Without it, `./data` is used if it exists, else a folder among the
user's own data.
"""

import os
from pathlib import Path
from typing import Annotated, Final, cast

from toolroll.home.folders import find_folders
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.depends.dependency import DependencyKey, Depends
from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.store import ProfileStore

LOCAL_DATA: Final = Path("data")
"""In the working folder, for people who keep posts and profiles beside other work."""
FOLDER: Final = "ghostpen"


def data_folder_of_run(ctx: ToolContext) -> Path:
    """Return the folder with profiles, posts and feedback; it may not exist yet."""
    return data_folder(cast("Path | str | None", ctx.deps.get("data")))


def data_folder(given: Path | str | None = None) -> Path:
    """Return the folder that was named, or the default one."""
    if given is not None:
        return Path(given)
    local = Path.cwd() / LOCAL_DATA
    return local if local.is_dir() else find_folders(os.environ).data / FOLDER


DATA: Final[DependencyKey[Path]] = DependencyKey("writing.data", data_folder_of_run, scope="run")

DataFolder = Annotated[Path, Depends(DATA)]


def open_profiles(data: DataFolder) -> ProfileStore:
    """Open the profiles of the data folder."""
    return ProfileStore(data)


PROFILES: Final[DependencyKey[ProfileStore]] = DependencyKey("writing.profiles", open_profiles, scope="run")


def open_feedback(data: DataFolder) -> FeedbackStore:
    """Open the feedback in the data folder."""
    return FeedbackStore(data)


FEEDBACK: Final[DependencyKey[FeedbackStore]] = DependencyKey("writing.feedback", open_feedback, scope="run")
