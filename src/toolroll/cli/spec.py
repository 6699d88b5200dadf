"""An agent from the command line, and the same agent again from what a run has kept."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from toolroll.agent.agent import Agent
from toolroll.agent.approvals import AskLater
from toolroll.agent.options import AgentOptions
from toolroll.agent.stop import step_count_is
from toolroll.cli.code_agent import build_code_prompt, list_code_tools
from toolroll.cli.permissions import permissions_for
from toolroll.cli.workspace_settings import workspace_deps
from toolroll.errors import FileMissing, NotAFile, UsageError
from toolroll.home.folders import find_folders
from toolroll.home.keys import known_secrets
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.catalog import parse_model
from toolroll.models.model import Model
from toolroll.models.scripted import ScriptedModel
from toolroll.models.scripted_file import PREFIX, scripted_file
from toolroll.packs.catalog import CatalogEntry, read_catalog
from toolroll.packs.load import source_place
from toolroll.safe.paths.names import quote_path

Kind: TypeAlias = Literal["run", "code", "explore", "write"]
"""Which command made the agent, and makes it again."""

DEFAULT_STEPS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """What an agent is made of, in words that can be kept: with them `runs resume` makes it again, anywhere."""

    model: str
    packs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    system: str = ""
    max_steps: int = DEFAULT_STEPS
    folder: str = ""
    root: str = ""
    read_only: bool = False
    kind: Kind = "run"
    """The coding agent, at work in `root`, has its own tools and prompt; the writing agent, too, `root` its data."""
    profiles: tuple[str, ...] = ()
    lang: str = ""

    @classmethod
    def from_options(cls, **given: Any) -> "AgentSpec":
        """From the options of a command, given in this folder."""
        spec = cls(**given, folder=str(Path.cwd()))
        return cls(**asdict(spec) | {"model": absolute_model_name(spec.model)})

    @classmethod
    def from_record(cls, settings: Mapping[str, object], **changed: Any) -> "AgentSpec":
        """From what a run has kept, with what is to be different now."""
        names = {one.name for one in fields(cls)}
        known = {name: _tuple(value) for name, value in settings.items() if name in names}
        known["kind"] = spec_kind(settings)
        known |= {name: value for name, value in changed.items() if value not in (None, "", ())}
        if "model" not in known:
            raise UsageError("This run was not started by 'toolroll run'. Name the --model (and --from) to go on with.")
        spec = cls(**known)  # type: ignore[arg-type]  # what `settings` wrote
        if spec.folder and Path(spec.folder) != Path.cwd():
            raise UsageError(f"This run was started in another folder. Go there first: cd '{spec.folder}'.")
        return spec

    @property
    def settings(self) -> dict[str, object]:
        """What a run keeps of it; files by their whole path."""
        return asdict(self) | {"sources": [source_place(source) for source in self.sources]}

    def entries(self) -> Sequence[CatalogEntry]:
        """The tools, with where they are from."""
        if self.kind == "code":
            return list_code_tools(Path(self.root), read_only=self.read_only, environment=os.environ)
        catalog = read_catalog(self.packs, self.sources)
        if not self.tools:
            return catalog.entries
        unknown = [name for name in self.tools if catalog.get(name) is None]
        if unknown:
            raise UsageError(catalog.tools.unknown(unknown[0]).text)
        return [entry for entry in catalog.entries if entry.tool.name in self.tools]


def spec_kind(settings: Mapping[str, object]) -> Kind:
    """Which command a run was begun by, from what it has kept."""
    if settings.get("is_code") is True:  # as records of the first versions have it
        return "code"
    return cast("Kind", settings.get("kind", "run"))


def open_journal(environment: Mapping[str, str]) -> SqliteJournal:
    """The user's own run log; their keys are never written to it."""
    path = find_folders(environment).run_log
    return SqliteJournal(path, secrets=known_secrets(environment))


def build_agent(
    spec: AgentSpec, journal: SqliteJournal, *, yes: bool = False, stdin_is_taken: bool = False, connect: bool = True
) -> Agent[None]:
    """The agent. Where nobody can be asked, what needs an answer waits in the run log for one.

    Without `connect` its model cannot be asked, and needs no key.
    """
    if spec.kind == "write":
        from toolroll.cli.ghostpen.agent import build_writer  # noqa: PLC0415 - only who goes on writing needs it

        return build_writer(spec, journal, connect=connect)
    entries = spec.entries()
    settings = spec.settings
    folder = Path(spec.root) if spec.root else Path.cwd()
    permissions = permissions_for(
        entries, yes=yes, stdin_is_taken=stdin_is_taken, environment=os.environ, folder=folder
    )
    options: AgentOptions = {
        "model": resolve_model(spec.model) if connect else ScriptedModel([]),
        "tools": [entry.tool for entry in entries],
        "system": _system(spec, entries),
        "deps": workspace_deps(Path(spec.root) if spec.root else None, os.environ),
        "stop_when": step_count_is(spec.max_steps),
        "approver": permissions.approver or AskLater(),
        "journal": journal,
        "settings": settings,
    }
    if permissions.policy is not None:
        options["policy"] = permissions.policy
    return Agent(**options)


def _system(spec: AgentSpec, entries: Sequence[CatalogEntry]) -> str:
    return build_code_prompt(Path(spec.root), entries, spec.system) if spec.kind == "code" else spec.system


def resolve_model(name: str) -> Model | str:
    """What an agent is given as the model of that name: its script, or the name itself."""
    if not name.startswith(PREFIX):
        return _check_model_name(name)
    path = Path(name.removeprefix(PREFIX))
    if path.is_dir():  # `scripted:` alone is the working folder by now
        raise UsageError(f"'{path}' is a folder. Name the file with the script: {PREFIX}FILE.")
    try:
        return scripted_file(path)
    except (FileMissing, NotAFile):  # their words are for a model, which can list a folder
        raise FileMissing(f"There is no file '{_as_typed(path)}'.", path=str(path)) from None


def _as_typed(path: Path) -> str:
    """A path as it is written here; by now it is absolute."""
    here = Path.cwd()
    return quote_path(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _check_model_name(name: str) -> str:
    """The name, if it is one of a model; the command line has a kind that an agent does not know by name."""
    try:
        parse_model(name)
    except UsageError as error:
        raise UsageError(f"{error.message} A script is played by {PREFIX}FILE.") from None
    return name


def absolute_model_name(name: str) -> str:
    """The name of a model, that of a script by its whole path: it is to hold in another folder, too."""
    return f"{PREFIX}{Path(name.removeprefix(PREFIX)).absolute()}" if name.startswith(PREFIX) else name


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
