"""By whose leave a call runs here: the person's word on the command line, what they remembered, or their answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from toolroll.errors import ToolrollError
from toolroll.kernel.approval import ApprovalRequest, Approve, Approver, Decision
from toolroll.kernel.context import utc_now
from toolroll.kernel.policy import Policy
from toolroll.kernel.tool import Tool
from toolroll.safe.text import terminal_safe


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """The rules and the person that a run is given; neither, for a tool that only reads."""

    policy: Policy | None = None
    approver: Approver | None = None


class YesApprover:
    """Says yes to everything: the person gave their word with `--yes`."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """A yes for each."""
        return [Approve() for _ in requests]


def leave_for(tool: Tool | None, *, yes: bool, stdin_is_taken: bool, environment: Mapping[str, str]) -> Leave:
    """Whom to ask about this tool; nobody is a possible answer, and then it does not run (XA8)."""
    if tool is None or (tool.effect == "reads" and tool.core.effect == "reads" and not tool.asks):
        return Leave()
    if yes:
        return Leave(approver=YesApprover())
    return _remembered_or_asked(stdin_is_taken=stdin_is_taken, environment=environment)


def _remembered_or_asked(*, stdin_is_taken: bool, environment: Mapping[str, str]) -> Leave:
    from toolroll.cli.always import Memory  # noqa: PLC0415 - rich and all that asks: only when somebody is to be asked
    from toolroll.cli.approve import TerminalApprover  # noqa: PLC0415 - as above
    from toolroll.cli.terminal import open_terminal  # noqa: PLC0415 - as above
    from toolroll.home.rules import RuleBook, workspace_of  # noqa: PLC0415 - as above

    workspace = workspace_of(Path.cwd())
    memory, policy = None, Policy()
    try:
        book = RuleBook.of_user(environment)
        policy = Policy(book.rules_for(workspace))
        memory = Memory(book, workspace, clock=utc_now)
    except ToolrollError as error:
        click.echo(f"Warning: {terminal_safe(error.message)}", err=True)
    terminal = open_terminal(environment, stdin_is_taken=stdin_is_taken)
    if terminal is None:
        return Leave(policy=policy)
    return Leave(policy=policy, approver=TerminalApprover(terminal, environment=environment, memory=memory))
