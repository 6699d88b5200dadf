"""Where research is kept. Apart from `explore`, since `toolroll call` needs it and no agent."""

from dataclasses import dataclass

from toolroll.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchPlace:
    """Where research is kept: in a folder, `./ideas` if none is named, or in a repository on GitHub."""

    ideas: str | None = None
    repo: str | None = None
    branch: str | None = None

    def __post_init__(self) -> None:
        if self.repo is None and self.branch is not None:
            raise UsageError("--branch is for --repo: a folder has none.")
        if self.repo is not None and self.ideas is not None:
            raise UsageError("--ideas and --repo exclude each other: research is kept in one place.")
