"""What a run may do unasked: what the person said on the command line, what they remembered, or who is asked."""

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from toolroll.apps.surface import Surface, TemporaryRule
from toolroll.errors import DecisionRefused, ToolrollError
from toolroll.home.rules import COMMAND_PLACE, SERVER_PLACE, RememberedRule, RuleBook, ToolIdentity, workspace_key
from toolroll.home.settings import Settings
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision, Reject
from toolroll.kernel.call.context import utc_now
from toolroll.kernel.define.tool import Tool
from toolroll.packs.catalog import CatalogEntry

NOT_RUN_UNSEEN: Final = "--yes does not run this unseen, and nobody can be asked. Work without it."
NOT_UNSEEN: Final = (
    "--yes does not take such a change unseen. Propose only what has to be different, for example with edit, and keep "
    "the rest as it is."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """The policy and the approver that a run is given; a tool that only reads needs neither."""

    policy: Policy | None = None
    approver: Approver | None = None


class YesApprover:
    """Approves everything: the person gave their word with `--yes`.

    They gave it for calls that are made once. Whether to repeat a call that may have taken effect already, and what a
    server asks in the middle of a call, the person is asked; with nobody there, the question waits in the run log.
    """

    def __init__(self, make_person: Callable[[], Approver | None] = lambda: None) -> None:
        self._make_person = make_person

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Approve each request that is no repetition, and that the program has no doubts about."""
        person = self._make_person() if any(request.preview.doubts for request in requests) else None
        doubted = [request for request in requests if request.preview.doubts and person is None]
        personal = [request for request in requests if _is_personal(request) and request not in doubted]
        answers = iter(await self._ask_person(personal) if personal else ())
        decisions: list[Decision] = []
        for request in requests:
            is_asked = request in personal
            decisions.append(next(answers) if is_asked else _doubt(request) if request in doubted else Approve())
        return decisions

    async def _ask_person(self, repeats: Sequence[ApprovalRequest]) -> Sequence[Decision]:
        person = self._make_person()
        if person is None:
            raise DecisionRefused(f"--yes does not repeat {repeats[0].tool}: answer for the call {repeats[0].call_id}.")
        answer = person.decide(repeats)
        return await answer if inspect.isawaitable(answer) else answer


def _is_personal(request: ApprovalRequest) -> bool:
    return request.is_repeat or request.is_question or bool(request.preview.doubts)


def _doubt(request: ApprovalRequest) -> Reject:
    """Return the answer to a change that the program has doubts about, where nobody can be asked."""
    advice = NOT_UNSEEN if request.preview.kind == "diff" else NOT_RUN_UNSEEN
    return Reject(f"{' '.join(request.preview.doubts)} {advice}")


class RuleMemory:
    """The rules a person has said "always" to: kept in the rule book of one workspace, or for this command alone.

    It knows the tools whose origin is known, but for those that ask each time by themselves: no rule would spare the
    question.
    """

    def __init__(
        self,
        book: RuleBook,
        workspace: str,
        *,
        tools: Collection[ToolIdentity],
        clock: Callable[[], datetime],
        temporary: list[TemporaryRule] | None = None,
        remote: Sequence[CatalogEntry] = (),
    ) -> None:
        self._book = book
        self._tools = tools
        self._remote = remote
        self._clock = clock
        self._temporary: list[TemporaryRule] = [] if temporary is None else temporary
        self.workspace = workspace
        self.places: dict[str, str] = {
            **{tool.tool: tool.place for tool in tools},
            **{entry.tool.name: entry.place for entry in remote},
        }
        """Where each tool is from."""

    @property
    def path(self) -> Path:
        """Return the file that rules are kept in."""
        return self._book.path

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that count now; of a book that cannot be read any more none, so that all is asked about."""
        # Of a server's tools, which can change at any time, as they are now.
        tools = [*self._tools, *map(_identify, self._remote)]
        known = {(tool.tool, tool.fingerprint) for tool in tools}
        temporary = [one.rule for one in self._temporary if (one.tool, one.fingerprint) in known]
        try:
            return (*self._book.rules_for(self.workspace, tools), *temporary)
        except (ToolrollError, OSError):
            return tuple(temporary)

    def can_remember(self, request: ApprovalRequest) -> bool:
        """Return whether a rule can be bound to something: a path, server or command, and the origin of the tool."""
        if request.is_question or request.tool not in self.places:
            return False
        # What could carry private text out of the run is asked about whatever a rule says (XL14).
        return bool(request.paths) or (self.is_for_all_calls(request) and not request.is_exposed)

    def is_for_all_calls(self, request: ApprovalRequest) -> bool:
        """Return whether leave is for whatever the tool is given: that of a server, or a command of the settings."""
        return self.is_remote(request) or self.is_command(request)

    def is_command(self, request: ApprovalRequest) -> bool:
        """Return whether it is about a command that the settings name."""
        return self.places.get(request.tool, "").startswith(COMMAND_PLACE)

    def is_remote(self, request: ApprovalRequest) -> bool:
        """Return whether it is about a tool of an MCP server, which names no paths."""
        return self.places.get(request.tool, "").startswith(SERVER_PLACE)

    def covers(self, request: ApprovalRequest) -> bool:
        """Return whether a rule that was added since the question was asked answers it."""
        if request.is_exposed or _is_personal(request):  # no rule is enough for that (XL14, A55)
            return False
        if self.is_remote(request):  # it may be asked about because its definition has changed (XM2)
            return False
        return any(rule.matches(request.tool, request.judged_paths) for rule in self.rules())

    def add(self, request: ApprovalRequest, glob: str | None) -> None:
        """Allow this tool on these paths, or with None whatever it is given, from now on, in this workspace.

        ToolrollError says why that cannot be kept.
        """
        tool = ToolIdentity(tool=request.tool, fingerprint=request.fingerprint, place=self.places[request.tool])
        self._book.add(RememberedRule.for_tool(tool, path=glob, workspace=self.workspace, added=self._clock()))

    def add_temporary(self, request: ApprovalRequest, glob: str | None) -> None:
        """Allow this tool, as it is defined now, on these paths until the command ends."""
        self._temporary.append(TemporaryRule(tool=request.tool, path=glob, fingerprint=request.fingerprint))


def permissions_for(
    entries: Sequence[CatalogEntry], surface: Surface, *, settings: Settings, folder: Path, yes: bool = False
) -> Permissions:
    """Return who decides about these tools in this folder; with nobody to ask, they do not run (XA8)."""
    asked = [entry for entry in entries if not _only_reads(entry.tool)]
    if not asked:
        return Permissions()
    if yes:
        return Permissions(approver=YesApprover(lambda: surface.make_approver(None, settings.approval_seconds)))
    memory = _open_memory(asked, folder, surface)
    policy = Policy() if memory is None else Policy(remembered=memory.rules)
    return Permissions(policy=policy, approver=surface.make_approver(memory, settings.approval_seconds))


def _only_reads(tool: Tool) -> bool:
    return tool.effect == "reads" and tool.core.effect == "reads" and not tool.asks


def _open_memory(entries: Sequence[CatalogEntry], folder: Path, surface: Surface) -> RuleMemory | None:
    remote = [entry for entry in entries if entry.place.startswith(SERVER_PLACE)]
    tools = [_identify(entry) for entry in entries if not entry.tool.asks and entry not in remote]
    try:
        book = RuleBook.from_environment(surface.environment)
        _note_unbound(book, surface)
    except ToolrollError as error:
        surface.warn(error.message)
        return None
    return RuleMemory(
        book,
        workspace_key(folder),
        tools=tools,
        clock=utc_now,
        temporary=surface.temporary_rules,
        remote=remote,
    )


def _identify(entry: CatalogEntry) -> ToolIdentity:
    return ToolIdentity(tool=entry.tool.name, fingerprint=entry.tool.describe().fingerprint, place=entry.place)


def _note_unbound(book: RuleBook, surface: Surface) -> None:
    if count := book.count_outdated():
        many = "1 remembered approval does not say which code its tool is, and counts"
        if count > 1:
            many = f"{count} remembered approvals do not say which code their tools are, and count"
        surface.note(f"{many} for nothing. See '{book.path}'.")
