"""The `!` of an approval: the person agrees on a narrow rule, for this project or until the command ends (K43)."""

from posixpath import dirname, splitext
from typing import Final, Literal

from toolroll.apps.permissions import RuleMemory
from toolroll.cli.session import is_in_chat
from toolroll.cli.terminal.terminal import Terminal
from toolroll.errors import ToolrollError
from toolroll.home.rules import path_problem
from toolroll.kernel.approval.policy import Rule
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.safe.text import visible

_WILD: Final = ("*", "?")


def remember(memory: RuleMemory, request: ApprovalRequest, terminal: Terminal) -> bool:
    """Agree on a rule that covers this request, and add it; return False when the person backs out, or it fails."""
    glob = None
    if not memory.is_for_all_calls(request):
        glob = _ask_glob(terminal, request, suggest_glob(request.files))
        if glob is None:
            return False
    _show_rule(memory, request, glob, terminal)
    match _ask_scope(terminal):
        case "project":
            return _add_rule(memory, request, glob, terminal)
        case "now":
            memory.add_temporary(request, glob)
            terminal.say(f"Allowed until this {'chat' if is_in_chat() else 'command'} ends. Nothing is stored.")
            return True
        case None:
            return False


def suggest_glob(paths: tuple[str, ...]) -> str | None:
    """Return the narrowest glob for these paths: the one path itself, or their one folder and ending."""
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


def _ask_glob(terminal: Terminal, request: ApprovalRequest, suggestion: str | None) -> str | None:
    suggested = f" [{visible(suggestion, keep=())}]" if suggestion else ""
    typed = terminal.ask(f"On which paths?{suggested} ")
    glob = suggestion if typed == "" else typed
    if not glob:
        return None
    problem = path_problem(glob)
    if problem is None and not Rule(action="allow", path=glob).matches(request.tool, request.files):
        problem = "it does not match what is asked for here."
    if problem is not None:
        terminal.say(f"{visible(glob, keep=())}: {problem}", "warning")
        return None
    return glob


def _show_rule(memory: RuleMemory, request: ApprovalRequest, glob: str | None, terminal: Terminal) -> None:
    place = visible(memory.places[request.tool], keep=())
    origin = f"(the {request.tool} tool from {place}, as it is defined now)"
    if memory.is_command(request):
        origin = (
            "(the command as your settings have it now; it runs what is in the project then, also what a model wrote)"
        )
    elif glob is None:
        origin = "(the tool of this server, as it is defined now)"
    lines = [
        "From now on without asking:",
        f"{request.tool}, whatever it is given" if glob is None else f"{request.tool} on {visible(glob, keep=())}",
        f"in {visible(memory.workspace, keep=())}",
        origin,
    ]
    terminal.say("\n".join(lines), "text")
    if glob is not None and not Rule(action="allow", path=glob).matches(request.tool, request.judged_paths):
        names = ", ".join(visible(link.name, keep=()) for link in request.links)
        terminal.say(f"You are still asked about {names}: it is a link, and the rule is for the file itself.")


def _ask_scope(terminal: Terminal) -> Literal["project", "now"] | None:
    """Return for how long the rule holds; None for not at all."""
    until = "chat" if is_in_chat() else "command"
    terminal.say(f"[y] always in this project  [r] until this {until} ends  [n] no")
    while True:
        match terminal.ask("Always allow this? ", fresh=True):
            case "y" | "yes":
                return "project"
            case "r" | "run":
                return "now"
            case "n" | "no" | None:
                return None
            case _:
                terminal.say("Type y, r or n, then Enter.")


def _add_rule(memory: RuleMemory, request: ApprovalRequest, glob: str | None, terminal: Terminal) -> bool:
    try:
        memory.add(request, glob)
    except ToolrollError as error:
        terminal.say(error.message, "warning")
        return False
    terminal.say(f"Remembered in {visible(str(memory.path), keep=())}.")
    terminal.say("To be asked again: toolroll policy list, then toolroll policy forget NUMBER.")
    return True
