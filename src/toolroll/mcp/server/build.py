"""The server of `toolroll mcp`: the tools that a person names, with their project, rules and run log."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolroll.agent.approvals import effect_of
from toolroll.agent.context.outputs import FOLDER
from toolroll.apps.permissions import permissions_for
from toolroll.apps.project import Project, ResearchPlace
from toolroll.apps.run_log import RunLog
from toolroll.apps.surface import Surface
from toolroll.errors import UsageError
from toolroll.kernel.define.tool import Tool
from toolroll.lazy import load
from toolroll.mcp.server.resources import DocumentSource
from toolroll.mcp.server.run_record import MCP_KIND
from toolroll.mcp.server.server import ToolServer
from toolroll.packs.catalog import CatalogEntry, read_catalog
from toolroll.packs.code.keys import WORKSPACE
from toolroll.packs.writing.texts.messages import LANG, choose_language

DEFAULT_PACK: Final = "code"
_DOCUMENT_TOOLS: Final = frozenset({"read_past_posts", "read_research", "read_style_profile"})
INSTRUCTIONS: Final = (
    "Tools of toolroll for the folder {root}. Paths are relative to it. A tool that changes something is shown to the "
    "user first, who can allow or reject it; a rejected call comes back as an error with the reason. Read a file "
    "before you edit it. The user can revert every change with 'toolroll undo'. Results that are too long are cut: "
    "read on with tool_output_cache, or search them with tool_output_cache_grep."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """What a person wants served."""

    root: Path
    packs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    read_only: bool = False
    yes: bool = False
    data: Path | None = None
    place: ResearchPlace = field(default_factory=ResearchPlace)

    def __post_init__(self) -> None:
        if self.yes and self.read_only:
            raise UsageError("--yes approves changes, and --read-only has none: give one of them.")


def build_server(options: ServerOptions, *, project: Project, surface: Surface, journal: RunLog) -> ToolServer:
    """Return the server; calls are recorded in the journal, and outputs are kept beside it."""
    entries = list_entries(options)
    permissions = permissions_for(entries, surface, settings=project.settings, folder=options.root, yes=options.yes)
    tools = [entry.tool for entry in entries]
    project.recover_changes(tools, surface)
    return ToolServer(
        tools,
        instructions=INSTRUCTIONS.format(root=options.root),
        deps={
            **project.deps,
            "data": options.data,
            "ideas": options.place.ideas,
            "repository": options.place.repo,
            "branch": options.place.branch,
            LANG: choose_language(None, surface.environment),
        },
        overrides={WORKSPACE.id: lambda: project.workspace},
        policy=permissions.policy,
        approver=permissions.approver,
        approval_seconds=project.settings.approval_seconds,
        journal=journal,
        outputs=journal.folder / FOLDER,
        record={"kind": MCP_KIND, "root": str(options.root), "packs": list(options.packs)},
        documents=_documents(tools),
    )


def _documents(tools: Sequence[Tool]) -> Sequence[DocumentSource]:
    """What these tools read can be read as resources; the packs are loaded only if one of their tools is served."""
    if not {tool.name for tool in tools} & _DOCUMENT_TOOLS:
        return ()
    found: Sequence[DocumentSource] = load("toolroll.mcp.server.documents:documents_of")(tools)
    return found


def list_entries(options: ServerOptions) -> Sequence[CatalogEntry]:
    """Return the tools that are served, each with where it is from; without a pack or a file, those of `code`."""
    packs = options.packs if options.packs or options.sources else (DEFAULT_PACK,)
    entries = read_catalog(packs, options.sources).entries
    if not options.read_only:
        return entries
    found = [entry for entry in entries if effect_of(entry.tool) == "reads" and not entry.tool.asks]
    if not found:
        raise UsageError("None of these tools only reads, so that --read-only leaves nothing to serve.")
    return found
