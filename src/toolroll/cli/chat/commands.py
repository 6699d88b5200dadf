"""What the commands of a chat do: each calls what its twin in the shell calls."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from toolroll.cli.actions.list_tools import format_tools
from toolroll.cli.actions.runs.listing import ID_CHARACTERS, format_cost
from toolroll.cli.chat.export import export_chat
from toolroll.cli.chat.parse import split_words
from toolroll.cli.chat.reopen import choose_conversation, find_by_id, show_last_words
from toolroll.cli.commands.changes import redo, undo
from toolroll.cli.commands.policy import list_rules, policy
from toolroll.cli.render.context import show_context
from toolroll.cli.render.prose import notify
from toolroll.cli.terminal.terminal import interruptible
from toolroll.cli.termination import is_ending
from toolroll.errors import UsageError
from toolroll.lazy import load
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.apps.run_log import RunLog
    from toolroll.cli.chat.conversation import ChatAgent
    from toolroll.cli.chat.status import ChatFigures
    from toolroll.cli.session import Session

COMMANDS: Final[Mapping[str, str]] = {
    "help": "what can be written here",
    "undo": "take back the latest change, or CHANGE; it is shown first",
    "redo": "make a change again that was undone",
    "model": "which model answers; with NAME, another one from now on",
    "context": "how full the model's window is, and of what",
    "tools": "the tools it has, and what they may do",
    "mcp": "the MCP servers that are used here, and their tools",
    "policy": 'what runs unasked here; with forget NUMBER, take back an "always"',
    "export": "write this chat to FILE (.md, .html or .jsonl); --force overwrites one",
    "resume": "go on with an earlier chat in this folder: from a list, or ID",
    "plan": "explore and propose, change nothing until /go; with TEXT, about that",
    "go": "leave plan mode, and do what was planned; with TEXT, say more",
    "init": "look at the project, and propose an AGENTS.md",
    "cost": "what this chat has taken so far",
    "new": "begin anew, with TEXT if there is one",
    "clear": "the same as /new",
    "exit": "leave (or Ctrl-D)",
    "quit": "the same as /exit",
}
"""All commands, with what each does."""

LEAVING: Final = ("exit", "quit")

IN_A_PROJECT: Final = ("undo", "redo", "policy", "init")
"""Those that need a folder that files are changed in."""

_KEYS: Final = (
    "Enter sends. Alt-Enter, or a \\ at the end of a line, begins a new line; what is pasted stays one message.",
    "Tab completes commands and @paths. Arrow-up brings back what you wrote before.",
    "Ctrl-C stops an answer, or clears the line; twice on an empty line it leaves, as Ctrl-D does.",
    '@path attaches a file, @"a path" or @a\\ path one with blanks; \\@ is an @ that attaches nothing.',
)

_KEYS_IN_PLAIN: Final = (
    "Enter sends; a \\ at the end of a line begins a new line. What is pasted is one message: Enter then sends it.",
    *_KEYS[2:],
)

GO: Final = "Go ahead with the plan."
INIT: Final = (
    "Look around in this project, and propose an AGENTS.md in its folder for agents that will work here: what it is, "
    "how to build, test and check it, where things are, and rules that its code keeps to. At most 60 lines. If there "
    "is an AGENTS.md, improve it and keep what is true."
)

Send: TypeAlias = Callable[[str], Awaitable[None]]


class Commands:
    """The commands of one chat."""

    def __init__(
        self, session: "Session", agent: "ChatAgent", journal: "RunLog", send: Send, figures: "ChatFigures"
    ) -> None:
        self._session, self._agent, self._journal, self._send = session, agent, journal, send
        self._figures = figures
        self._does: dict[str, Callable[[str], Awaitable[None]]] = {
            "help": self._help,
            "undo": self._undo,
            "redo": self._redo,
            "model": self._model,
            "context": self._context,
            "tools": self._tools,
            "mcp": self._mcp,
            "policy": self._policy,
            "export": self._export,
            "resume": self._resume,
            "plan": self._plan,
            "go": self._go,
            "init": self._init,
            "cost": self._cost,
            "new": self._new,
            "clear": self._new,
        }

    @property
    def known(self) -> dict[str, str]:
        """Return the commands that there are here."""
        info = self._agent.info
        missing = {*(() if info.workspace else IN_A_PROJECT), *(() if info.reopen else ("resume",))}
        missing |= set() if info.plan else {"plan", "go", "init"}
        return {name: about for name, about in COMMANDS.items() if name not in missing}

    async def do(self, name: str, rest: str) -> None:
        """Do what is meant by one of them; what goes wrong is raised."""
        await self._does[name](rest)

    async def _help(self, _rest: str) -> None:
        formatter = click.get_current_context().make_formatter()
        formatter.write_dl([(f"/{name}", about) for name, about in self.known.items()])
        for told in _KEYS_IN_PLAIN if self._session.plain else _KEYS:
            formatter.write_paragraph()
            formatter.write_text(told)
        self._session.write(formatter.getvalue())

    async def _undo(self, rest: str) -> None:
        self._shell(undo, split_words(rest))

    async def _redo(self, rest: str) -> None:
        self._shell(redo, split_words(rest))

    async def _policy(self, rest: str) -> None:
        name, *behind = split_words(rest) or [""]
        command = policy.commands.get(name, list_rules)
        if self._agent.info.is_unasked and command is list_rules:
            notify("This chat was begun with --yes: every change is made without asking. Else:")
        self._shell(command, behind if name in policy.commands else split_words(rest))
        if command is list_rules:
            for one in self._agent.info.temporary_rules:
                notify(
                    terminal_safe(
                        f"Until this chat ends, without asking: {one.tool}" + (f" on {one.path}" if one.path else "")
                    )
                )

    def _shell(self, command: click.Command, words: list[str]) -> None:
        """Run a command of the shell in this project; it answers as it does there, and Ctrl-C ends it alone."""
        workspace = self._agent.info.workspace
        assert workspace is not None
        arguments = [*words, "--root", str(workspace.root)]
        try:
            with self._context_of(command, arguments) as context, interruptible():
                command.invoke(context)
        except KeyboardInterrupt:
            if is_ending():
                raise
            click.echo("\nNothing was done.", err=True)
        except click.exceptions.Exit:  # of --help, which has been shown
            return

    def _context_of(self, command: click.Command, arguments: list[str]) -> AbstractContextManager[click.Context]:
        # With a session of its own: a --json is for this command alone.
        parent, own = click.get_current_context().find_root(), replace(self._session)
        context: click.Context = command.make_context(command.name, arguments, parent=parent, obj=own)
        return context

    async def _model(self, rest: str) -> None:
        if rest:
            await self._agent.use_model(rest)
        self._session.write(f"model: {self._agent.info.model}")

    async def _context(self, _rest: str) -> None:
        runs = self._agent.info.conversation.run_ids
        if not runs:
            raise UsageError("Nothing was said yet, so the model's window is empty.")
        show_context(self._session, await self._journal.read(runs[-1]))

    async def _tools(self, _rest: str) -> None:
        self._session.write(format_tools(self._agent.info.list_tools()))

    async def _mcp(self, _rest: str) -> None:
        learn = self._agent.info.learn_servers
        pool = None if learn is None else await learn()
        if pool is None or not pool.named:
            notify("No MCP server is used here. To add one: toolroll mcp add --help")
            return
        self._session.write(load("toolroll.cli.actions.mcp.servers:format_pool")(pool))

    async def _export(self, rest: str) -> None:
        written = await export_chat(self._agent.info, rest, self._journal)
        self._session.write(f"Written to {written}.")

    async def _resume(self, rest: str) -> None:
        info = self._agent.info
        assert info.reopen is not None  # else the command is not known
        assert info.workspace is not None
        root = Path(info.workspace.root)
        try:
            found = find_by_id(rest) if rest else choose_conversation(root)
        except KeyboardInterrupt:
            if is_ending():
                raise
            click.echo("", err=True)
            return
        if found is None:
            return
        if found.folder != str(root):
            raise UsageError(
                f"That chat is about another folder. Leave, and resume it there: cd '{found.folder}' && "
                f"toolroll code --resume {found.chat_id[:ID_CHARACTERS]}"
            )
        await info.reopen(found)
        show_last_words(self._session, self._agent.info.conversation.messages, found)

    async def _plan(self, rest: str) -> None:
        plan = self._agent.info.plan
        assert plan is not None  # else the command is not known
        plan(is_on=True)
        notify("· Plan mode: nothing is changed until you write /go.", dim=True)
        if rest:
            await self._send(rest)

    async def _go(self, rest: str) -> None:
        info = self._agent.info
        assert info.plan is not None  # else the command is not known
        if not info.is_planning:
            raise UsageError("There is no plan to go with. /plan begins one.")
        info.plan(is_on=False)
        await self._send(f"{GO} {rest}".rstrip())

    async def _init(self, rest: str) -> None:
        await self._send(f"{INIT} {rest}".rstrip())

    async def _cost(self, _rest: str) -> None:
        cost = self._figures.cost
        told = "not known for this model" if cost is None else format_cost(cost)
        self._session.write(f"tokens: {self._figures.total_tokens:,}\ncost: {told}")

    async def _new(self, rest: str) -> None:
        self._agent.forget()
        click.echo("· A new chat begins.", err=True)
        if rest:
            await self._send(rest)
