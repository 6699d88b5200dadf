"""The places that agents work in: a project folder with its settings and instructions, and where research is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolroll.agent.approvals import effect_of
from toolroll.apps.surface import Surface
from toolroll.errors import ToolrollError, UsageError
from toolroll.home.mcp_servers import MCP_JSON
from toolroll.home.settings import Settings, read_settings
from toolroll.kernel.define.tool import Tool
from toolroll.lazy import load
from toolroll.packs.code.prompt import INSTRUCTIONS, Instructions, read_instructions
from toolroll.workspace.changes.recovery import describe_recovery, open_history
from toolroll.workspace.limits import DEFAULT_LIMITS, Limits
from toolroll.workspace.workspace import Workspace

if TYPE_CHECKING:
    from toolroll.apps.mcp_servers import ServerPool
    from toolroll.packs.catalog import CatalogEntry


class Project:
    """One folder. Close it when the agents that work there have ended."""

    def __init__(
        self, root: Path, settings: Settings, environment: Mapping[str, str], servers: "ServerPool | None" = None
    ) -> None:
        self.root = root
        self.settings = settings
        self.environment = environment
        self._given_servers = servers

    @classmethod
    def open(
        cls,
        root: Path,
        environment: Mapping[str, str],
        *,
        flags: Mapping[str, object] | None = None,
        servers: "ServerPool | None" = None,
    ) -> "Project":
        """Open a folder, and read the settings that count there; `flags` are those given as options.

        `servers` are MCP servers that stay open when the project is closed.
        """
        return cls(root, read_settings(environment, root=root, flags=flags), environment, servers)

    @property
    def limits(self) -> Limits:
        """Return the limits of the workspace, as the settings have them."""
        return replace(DEFAULT_LIMITS, **self.settings.code.limits.model_dump(exclude_none=True))

    @property
    def deps(self) -> dict[str, object]:
        """Return what tools that work in a folder are given: which one, what is denied there, and its limits."""
        return {"root": self.root, "deny": self.settings.code.deny, "limits": self.limits}

    @cached_property
    def workspace(self) -> Workspace:
        """Return the folder as tools see it; opened when it is first needed."""
        deny = self.settings.code.deny
        return Workspace.of_user(self.root, environment=self.environment, deny=deny, limits=self.limits)

    @cached_property
    def instructions(self) -> Instructions:
        """Return the project's AGENTS.md."""
        return read_instructions(self.workspace)

    @cached_property
    def servers(self) -> "ServerPool | None":
        """Return the MCP servers that are used here; None where none is named. Nothing is started."""
        # The client is loaded only where a server is named: most commands need none of it.
        if self._given_servers is None and not self.settings.mcp_servers and not (self.root / MCP_JSON).exists():
            return None
        return self._given_servers or load("toolroll.apps.mcp_servers:ServerPool")(self.environment)

    async def learn_servers(self, surface: Surface) -> None:
        """Find the MCP servers that count here, and ask those whose tools nobody knows yet, for a few seconds."""
        if self.servers is not None:
            self.servers.update(load("toolroll.apps.mcp_servers:find_servers")(self.root, self.settings, surface))
            await self.servers.learn(surface)

    def detach_servers(self) -> "ServerPool | None":
        """Return the MCP servers, which now stay open when the project is closed; close them yourself."""
        self._given_servers = self.servers
        return self.servers

    def server_tools(self, surface: Surface, *, read_only: bool = False) -> "list[CatalogEntry]":
        """Return the tools of MCP servers that are known; with `read_only` those that you declared to only read."""
        found = [] if self.servers is None else self.servers.entries(surface)
        return [entry for entry in found if not read_only or entry.tool.effect == "reads"]

    def recover_changes(self, tools: Iterable[Tool], surface: Surface) -> None:
        """Put right what a kill left half done here, before any of these tools is judged; not if they only read."""
        if all(effect_of(tool) == "reads" for tool in tools):
            return
        try:
            history, recovered = open_history(self.workspace)
            history.close()
        except UsageError:  # nothing can be recorded here; a tool that wants to is refused for it
            return
        except ToolrollError as error:  # the first tool that writes is refused for it
            surface.warn(error.message)
            return
        for one in recovered:
            surface.warn(describe_recovery(one))

    def close(self) -> None:
        """Close the workspace, if it was opened, and end MCP servers that were started for it."""
        if "workspace" in self.__dict__:
            self.workspace.close()
        if self._given_servers is None and (pool := self.__dict__.get("servers")) is not None:
            pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def show_instructions_note(project: Project, surface: Surface) -> None:
    """Tell the person that the project's AGENTS.md instructs the model; warn where it is not used, or not all of it."""
    instructions = project.instructions
    if (instructions.text or "").strip():
        surface.note(f"The model follows {INSTRUCTIONS} of this project. Read it if you do not know who wrote it.")
    if instructions.note:
        surface.warn(instructions.note)


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
