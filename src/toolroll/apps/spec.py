"""What an agent is built from, in plain values: a run records them, and `runs resume` builds the same agent again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from toolroll.apps.models import absolute_model_name
from toolroll.errors import UsageError
from toolroll.packs.catalog import source_place

Kind: TypeAlias = Literal["run", "code", "explore", "write"]
"""Which command built the agent, and can build it again."""

DEFAULT_STEPS: Final = 10
CODE_STEPS: Final = 30
"""For the coding agent: a change in a project of some size takes about twenty."""
_NOT_RECORDED: Final = ("yes",)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Which agent, for which folder, with which model, tools, limits and permissions."""

    model: str
    packs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    offers_all: bool = True
    """Whether all tools are offered where none are named, as earlier versions did."""
    system: str = ""
    max_steps: int = DEFAULT_STEPS
    folder: str = ""
    """The working folder of the process that started the run: names of files in the spec are relative to it."""
    root: str = ""
    """The project of the coding agent, or the data folder of the writing agent."""
    read_only: bool = False
    is_plan: bool = False
    """Whether the run only plans, and the chat that it belongs to may go on to change things."""
    kind: Kind = "run"
    profiles: tuple[str, ...] = ()
    lang: str = ""
    yes: bool = False
    """Whether everything is approved unseen. Never recorded: each command must be given it anew."""

    @classmethod
    def from_options(cls, **options: Any) -> "AgentSpec":
        """Return the spec for options given in the current folder."""
        spec = cls(**options, folder=str(Path.cwd()))
        return cls(**asdict(spec) | {"model": absolute_model_name(spec.model)})

    @classmethod
    def from_record(cls, settings: Mapping[str, object], **changed: Any) -> "AgentSpec":
        """Return the spec that a run recorded in this folder, with the values that are `changed` now."""
        spec = cls.from_job(settings, **changed)
        if spec.folder and Path(spec.folder) != Path.cwd():
            raise UsageError(f"This run was started in another folder. Go there first: cd '{spec.folder}'.")
        return spec

    @classmethod
    def from_job(cls, settings: Mapping[str, object], **changed: Any) -> "AgentSpec":
        """Return the spec that was recorded; a job names its files so that they are found from any folder."""
        names = {one.name for one in fields(cls)}.difference(_NOT_RECORDED)
        known = {name: _tuple(value) for name, value in settings.items() if name in names}
        known["kind"] = recorded_kind(settings)
        known |= {name: value for name, value in changed.items() if value not in (None, "", ())}
        if "model" not in known:
            raise UsageError("This run was not started by 'toolroll run'. Name the --model (and --from) to go on with.")
        return cls(**known)  # type: ignore[arg-type]  # what `record` wrote

    @property
    def record(self) -> dict[str, object]:
        """Return what a run records of the spec; files by their absolute paths."""
        recorded = {name: value for name, value in asdict(self).items() if name not in _NOT_RECORDED}
        return recorded | {"sources": [source_place(source) for source in self.sources]}

    @property
    def project_folder(self) -> Path:
        """Return the folder that the agent's tools work in."""
        return Path(self.root) if self.root else Path.cwd()


def recorded_kind(settings: Mapping[str, object]) -> Kind:
    """Return which command started a run, by what the run recorded."""
    if settings.get("is_code") is True:  # as the first versions recorded it
        return "code"
    return cast("Kind", settings.get("kind", "run"))


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
