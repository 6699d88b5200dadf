"""What the tools of this pack depend on: the data folder and the stores in it, opened once for a run.

A surface names the data folder in `deps` as `data`. Without it, `./data` is used if it exists, else a folder among the
user's own data. A project that somebody else wrote may bring a `./data`, with profiles that say how to write: it is
used only once a person trusts it.

These tools take names of profiles and words, no paths, and follow no link below the data folder. What a rule keeps from
a tool by a path of the data folder (`profiles/work.json`, `output/generated/**`) is neither read nor listed.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Final, cast

from toolroll.errors import UsageError
from toolroll.home.folders import find_folders
from toolroll.home.rules import workspace_key
from toolroll.home.trust import TrustBook
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.depends.dependency import DependencyKey, Depends
from toolroll.messages import Template
from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.safe.paths.names import parse_path
from toolroll.workspace.denials import Denials

LOCAL_DATA: Final = Path("data")
"""In the working folder, for people who keep posts and profiles beside other work."""
FOLDER: Final = "ghostpen"
NOT_TRUSTED: Final = Template(
    "data_not_trusted",
    "Nobody has trusted the folder '{folder}' here, so it is not used.",
    "Look into it, then name it with --data {folder}, or trust it once: toolroll trust add {folder}",
)


def data_folder_of_run(ctx: ToolContext) -> Path:
    """Return the folder with profiles, posts and feedback; it may not exist yet."""
    return data_folder(cast("Path | str | None", ctx.deps.get("data")))


def data_folder(given: Path | str | None = None) -> Path:
    """Return the folder that was named, or the default one; UsageError for `./data` that nobody has trusted."""
    if given is not None:
        return Path(given)
    local = Path.cwd() / LOCAL_DATA
    if not local.is_dir():
        return find_folders(os.environ).data / FOLDER
    if not is_trusted(Path.cwd()):
        raise UsageError(NOT_TRUSTED(folder=LOCAL_DATA))
    return local


def is_trusted(root: Path) -> bool:
    """Return whether a person trusts the data folder of a folder, whatever it holds."""
    return TrustBook.from_environment(os.environ).trusts(workspace_key(root), f"{LOCAL_DATA}/", b"")


def trust_data(root: Path) -> None:
    """Trust the data folder of a folder."""
    TrustBook.from_environment(os.environ).add(workspace_key(root), f"{LOCAL_DATA}/", b"")


def distrust_data(root: Path) -> bool:
    """Trust the data folder of a folder no longer; return whether somebody did."""
    return TrustBook.from_environment(os.environ).remove(workspace_key(root), f"{LOCAL_DATA}/")


def check_visible(path: str, ctx: ToolContext) -> None:
    """Raise PathRefused for a file of the data folder that rules keep from this call."""
    if ctx.denied_paths:
        Denials(ctx.denied_paths, protected=()).check(parse_path(path), "read")


def keep_visible(paths: Collection[str], ctx: ToolContext) -> Collection[str]:
    """Return those files of the data folder that no rule keeps from this call."""
    return Denials(ctx.denied_paths, protected=()).visible(paths) if ctx.denied_paths else paths


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
