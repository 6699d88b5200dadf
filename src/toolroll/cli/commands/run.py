"""`toolroll run`: an agent from the command line, told while it goes, kept in the run log."""

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from toolroll.cli.model_choice import MODEL_VARIABLE, resolve_model_name
from toolroll.cli.options import QuotedCommand
from toolroll.cli.session import INTERRUPTED, Session, event_options, source_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult
    from toolroll.agent.state import RunState
    from toolroll.cli.render.renderer import Renderer
    from toolroll.errors import ToolrollError
    from toolroll.journal.sqlite import SqliteJournal

F = TypeVar("F", bound=Callable[..., Any])


def agent_options(command: F) -> F:
    """Adds what an agent is made of, but for its model: `--tools`, `--pack`, `--from`, `--system`, `--max-steps`."""
    tools = click.option("--tools", metavar="A,B,...", help="Only these of the tools.")
    system = click.option("--system", metavar="TEXT", help="What the model is told before everything else.")
    steps = click.option(
        "--max-steps", type=click.IntRange(min=1), metavar="N", help="Stop after so many model calls (10 if not given)."
    )
    return tools(source_options(system(steps(command))))


@click.command(cls=QuotedCommand)
@click.argument("prompt")
@click.option(
    "--model",
    metavar="NAME",
    help=f"sonnet, openai:NAME, ollama:NAME, scripted:FILE, ...; {MODEL_VARIABLE} if not given.",
)
@agent_options
@click.option("--yes", is_flag=True, help="Allow what would be asked about.")
@event_options
@click.pass_obj
def run(
    session: Session,
    prompt: str,
    *,
    model: str | None,
    tools: str | None,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
    system: str | None,
    max_steps: int | None,
    yes: bool,
) -> int:
    """Answer PROMPT with a model and tools ('-' reads it from stdin).

    The model's words go to stdout as they come, a line for each tool call to stderr. With --json every event is a line
    {"index", "event", ...} on stdout, the last one run_finished.

    A tool that changes something asks first, at the terminal. Where nobody can be asked the run stops, the exit code is
    3, and 'toolroll runs resume' goes on with the answer. Ctrl-C stops a run and keeps it: it can be resumed, too.

    \b
    Examples:
      toolroll run 'What is in notes.txt?' --model sonnet --from my_tools.py
      toolroll run 'Plan my day.' --model ollama:qwen3 --tools write_todos,done
    """
    named = resolve_model_name(model)
    session.claim_stdout()
    from toolroll.cli.commands.call import set_up_log  # noqa: PLC0415 - these bring pydantic: four interpreter starts
    from toolroll.cli.spec import DEFAULT_STEPS, AgentSpec, build_agent  # noqa: PLC0415 - as above

    set_up_log(session)
    text = read_prompt(prompt)
    spec = AgentSpec.from_options(
        model=named,
        packs=packs,
        sources=sources,
        tools=names_in(tools),
        system=system or "",
        max_steps=max_steps or DEFAULT_STEPS,
    )

    async def work(
        journal: "SqliteJournal", renderer: "Renderer", note: "Callable[[RunState], None]"
    ) -> "RunResult[Any]":
        from toolroll.agent.run import execute_run, initial_messages, new_run  # noqa: PLC0415 - as above

        async with build_agent(spec, journal, yes=yes, stdin_is_taken=prompt == "-") as agent:
            state = new_run(agent.setup, initial_messages(text, ()), renderer.on_event, stream=True)
            note(state)
            return await execute_run(state)

    return driven(session, work, model=named)


def names_in(given: str | None) -> tuple[str, ...]:
    """The names in a list with commas."""
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


def read_prompt(prompt: str) -> str:
    """The prompt: as it was given, or from stdin for '-'; checked."""
    return checked_prompt(_prompt_on_stdin() if prompt == "-" else prompt)


def checked_prompt(text: str) -> str:
    """The same text. An empty one, or one longer than a message in a chat, is refused before it costs anything."""
    from toolroll.cli.chat.parse import MAX_MESSAGE_CHARACTERS  # noqa: PLC0415 - not for --help

    if not text.strip():
        raise UsageError("The prompt is empty. Say what is to be done.")
    if len(text) > MAX_MESSAGE_CHARACTERS:
        told = f"The prompt has {len(text):,} characters, and may have {MAX_MESSAGE_CHARACTERS:,}."
        raise UsageError(f"{told} Put the rest into a file, and name it in the prompt.")
    return text


def _prompt_on_stdin() -> str:
    if sys.stdin is None:
        raise UsageError("The prompt was to come from stdin, and it is closed. Pipe it in, or write it here.")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise UsageError("The prompt on stdin is not UTF-8. Send text in that encoding.") from None


def driven(session: Session, work: Callable[..., "Awaitable[RunResult[Any]]"], *, model: str = "") -> int:
    """Drive a run from the terminal to its end: told while it goes, stopped by Ctrl-C; the exit code."""
    import asyncio  # noqa: PLC0415 - as above

    return asyncio.run(_Drive(session, model).run(work))


class _Drive:
    """One run that a person watches."""

    def __init__(self, session: Session, model: str) -> None:
        from toolroll.cli.interrupts import Interrupts  # noqa: PLC0415 - as above
        from toolroll.cli.render.renderer import TolerantRenderer, make_renderer  # noqa: PLC0415 - as above

        self._session = session
        self._renderer = TolerantRenderer(session, make_renderer(session, model=model))
        self._stopping = Interrupts()

    async def run(self, work: Callable[..., "Awaitable[RunResult[Any]]"]) -> int:
        """The exit code."""
        with self._stopping.listening():
            try:
                return await self._told(work)
            finally:
                self._renderer.close()

    async def _told(self, work: Callable[..., "Awaitable[RunResult[Any]]"]) -> int:
        import asyncio  # noqa: PLC0415 - as above
        import os  # noqa: PLC0415 - as above
        from contextlib import closing  # noqa: PLC0415 - as above

        from toolroll.cli.spec import open_journal  # noqa: PLC0415 - as above
        from toolroll.errors import ModelError  # noqa: PLC0415 - as above

        try:
            with self._stopping.answering(), closing(open_journal(os.environ)) as journal:
                return self._renderer.finish(await work(journal, self._renderer, self._stopping.note))
        except ModelError as error:
            return self._ended(error)
        except (asyncio.CancelledError, KeyboardInterrupt):
            self._stopping.settle()
            return self._ended(None)

    def _ended(self, error: "ToolrollError | None") -> int:
        """The end of a run that was cut short; what is on record of it can be resumed."""
        result = self._stopping.result
        if result is not None:
            code = self._renderer.finish(result, error)
            return INTERRUPTED if error is None else code
        if error is not None:
            raise error
        self._session.fail("interrupted", "Interrupted.")
        return INTERRUPTED
