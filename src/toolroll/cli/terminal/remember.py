"""The `!` of an approval: a narrow rule, agreed upon with the person and kept outside of the workspace (K43)."""

from collections.abc import Callable, Collection
from datetime import datetime
from posixpath import dirname, splitext
from typing import Final, Literal

from toolroll.cli.terminal.terminal import Terminal
from toolroll.errors import ToolrollError
from toolroll.home.rules import RememberedRule, RuleBook, ToolIdentity, path_problem
from toolroll.kernel.approval.policy import Rule
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.safe.text import visible

_WILD: Final = ("*", "?")


class RuleMemory:
    """Where "always" goes: the rule book, for one workspace and the tools of which it is known where they are from.

    Tools that ask each time by their own word are none of these: no rule would spare the question.
    """

    def __init__(
        self, book: RuleBook, workspace: str, *, tools: Collection[ToolIdentity], clock: Callable[[], datetime]
    ) -> None:
        self._book = book
        self._workspace = workspace
        self._tools = tools
        self._places = {tool.tool: tool.place for tool in tools}
        self._clock = clock
        self._for_now: list[Rule] = []

    def rules(self) -> tuple[Rule, ...]:
        """What counts at this moment; of a book that cannot be read any more nothing, so that all is asked about."""
        try:
            return (*self._book.rules_for(self._workspace, self._tools), *self._for_now)
        except (ToolrollError, OSError):
            return tuple(self._for_now)

    def can_remember(self, request: ApprovalRequest) -> bool:
        """Whether there is something to bind a rule to: a path, and the place of the tool."""
        return bool(request.paths) and request.tool in self._places

    def covers(self, request: ApprovalRequest) -> bool:
        """Whether a rule that was made since this was asked spares the question."""
        if request.is_exposed:  # no rule is enough for that (XL14)
            return False
        return any(rule.matches(request.tool, request.paths) for rule in self.rules())

    def remember(self, request: ApprovalRequest, terminal: Terminal) -> bool:
        """Agree on a rule that covers this request, and keep it; False when the person backs out, or it cannot be."""
        suggestion = suggest_glob(request.paths)
        glob = self._ask_glob(terminal, request, suggestion)
        if glob is None:
            return False
        self._tell_rule(terminal, request, glob)
        match _ask_scope(terminal):
            case "project":
                return self._keep(terminal, request, glob)
            case "now":
                self._for_now.append(Rule(action="allow", tool=request.tool, path=glob))
                terminal.say("Allowed until this command ends. Nothing is written down.")
                return True
            case None:
                return False

    def _tell_rule(self, terminal: Terminal, request: ApprovalRequest, glob: str) -> None:
        told = f"{request.tool} on {visible(glob, keep=())}\nin {visible(self._workspace, keep=())}"
        told += f"\nas long as it is the one from {visible(self._places[request.tool], keep=())}"
        terminal.say(f"From now on without asking:\n{told}", "text")

    def _keep(self, terminal: Terminal, request: ApprovalRequest, glob: str) -> bool:
        try:
            tool = ToolIdentity(tool=request.tool, fingerprint=request.fingerprint, place=self._places[request.tool])
            self._book.add(RememberedRule.for_tool(tool, path=glob, workspace=self._workspace, added=self._clock()))
        except ToolrollError as error:
            terminal.say(error.message, "warning")
            return False
        terminal.say(f"Remembered in {visible(str(self._book.path), keep=())}.")
        terminal.say("To be asked again: toolroll policy list, then toolroll policy forget NUMBER.")
        return True

    def _ask_glob(self, terminal: Terminal, request: ApprovalRequest, suggestion: str | None) -> str | None:
        shown = f" [{visible(suggestion, keep=())}]" if suggestion else ""
        typed = terminal.ask(f"On which paths?{shown} ")
        glob = suggestion if typed == "" else typed
        if not glob:
            return None
        problem = path_problem(glob)
        if problem is None and not Rule(action="allow", path=glob).matches(request.tool, request.paths):
            problem = "it does not fit what is asked for here."
        if problem is not None:
            terminal.say(f"{visible(glob, keep=())}: {problem}", "warning")
            return None
        return glob


def _ask_scope(terminal: Terminal) -> Literal["project", "now"] | None:
    """For how long; None for not at all."""
    terminal.say("y always in this project · r until this command ends · n no")
    while True:
        match terminal.ask("Always allow this? [y/n] ", fresh=True):
            case "y" | "yes":
                return "project"
            case "r" | "run":
                return "now"
            case "n" | "no" | None:
                return None
            case _:
                terminal.say("Type y, r or n, then Enter.")


def suggest_glob(paths: tuple[str, ...]) -> str | None:
    """The narrowest glob for these paths: the one path itself, or their one folder and ending; None without one."""
    if any(sign in path for path in paths for sign in _WILD):
        return None  # such a name, taken for a pattern, would allow others too
    if len(set(paths)) == 1:
        glob = paths[0]
    else:
        folders, endings = {dirname(path) for path in paths}, {splitext(path)[1] for path in paths}
        if len(folders) != 1:
            return None
        glob = "/".join([*filter(None, folders), "*" + (endings.pop() if len(endings) == 1 else "")])
    return None if path_problem(glob) else glob
