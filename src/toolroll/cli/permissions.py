"""By whose leave a call runs here: the person's word on the command line, what they remembered, or their answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolroll.cli.render.prose import notify
from toolroll.errors import ToolrollError
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision
from toolroll.kernel.call.context import utc_now
from toolroll.kernel.define.tool import Tool
from toolroll.packs.catalog import CatalogEntry
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.home.rules import RuleBook


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """The rules and the person that a run is given; neither, for a tool that only reads."""

    policy: Policy | None = None
    approver: Approver | None = None


class YesApprover:
    """Says yes to everything: the person gave their word with `--yes`."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """A yes for each."""
        return [Approve() for _ in requests]


def permissions_for(
    entries: Sequence[CatalogEntry],
    *,
    yes: bool,
    stdin_is_taken: bool,
    environment: Mapping[str, str],
    folder: Path | None = None,
) -> Permissions:
    """Whom to ask about these tools; nobody is a possible answer, and then they do not run (XA8).

    What was remembered counts for the `folder` that they work in: the working folder, if it is not given.
    """
    asked = [entry for entry in entries if not _only_reads(entry.tool)]
    if not asked:
        return Permissions()
    if yes:
        return Permissions(approver=YesApprover())
    place = folder or Path.cwd()
    return _remembered_or_asked(asked, place, stdin_is_taken=stdin_is_taken, environment=environment)


def _only_reads(tool: Tool) -> bool:
    return tool.effect == "reads" and tool.core.effect == "reads" and not tool.asks


def _remembered_or_asked(
    entries: Sequence[CatalogEntry], folder: Path, *, stdin_is_taken: bool, environment: Mapping[str, str]
) -> Permissions:
    from toolroll.cli.terminal.approve import TerminalApprover  # noqa: PLC0415 - as above
    from toolroll.cli.terminal.remember import RuleMemory  # noqa: PLC0415 - rich and all that asks: only when somebody is to be asked
    from toolroll.cli.terminal.terminal import open_terminal  # noqa: PLC0415 - as above
    from toolroll.home.rules import RuleBook, ToolIdentity, workspace_key  # noqa: PLC0415 - as above
    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    workspace = workspace_key(folder)
    memory, policy = None, Policy()
    try:
        book = RuleBook.from_environment(environment)
        tools = [
            ToolIdentity(tool=entry.tool.name, fingerprint=entry.tool.describe().fingerprint, place=entry.place)
            for entry in entries
            if not entry.tool.asks
        ]
        _tell_unbound(book)
        memory = RuleMemory(book, workspace, tools=tools, clock=utc_now)
        policy = Policy(remembered=memory.rules)
    except ToolrollError as error:
        notify(f"Warning: {terminal_safe(error.message)}")
    terminal = open_terminal(environment, stdin_is_taken=stdin_is_taken)
    if terminal is None:
        return Permissions(policy=policy)
    seconds = read_settings(environment).approval_seconds
    approver = TerminalApprover(terminal, environment=environment, memory=memory, timeout_s=seconds)
    return Permissions(policy=policy, approver=approver)


def _tell_unbound(book: "RuleBook") -> None:
    if count := book.count_outdated():
        many = "1 remembered approval does not say which code its tool is, and counts"
        if count > 1:
            many = f"{count} remembered approvals do not say which code their tools are, and count"
        notify(f"Note: {many} for nothing. See '{terminal_safe(str(book.path))}'.")
