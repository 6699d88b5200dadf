"""`toolroll code`: an agent that explores and changes a project, each change with a person's approval."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolroll.cli.commands.changes import root_option
from toolroll.cli.commands.run import driven, read_prompt
from toolroll.cli.model_choice import MODEL_VARIABLE, model_from_settings
from toolroll.cli.options import QuotedCommand
from toolroll.cli.session import Session, event_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult
    from toolroll.agent.state import RunState
    from toolroll.cli.render.renderer import Renderer
    from toolroll.cli.spec import AgentSpec
    from toolroll.journal.sqlite import SqliteJournal


@click.command(cls=QuotedCommand)
@click.argument("prompt", required=False)
@root_option
@click.option(
    "--model",
    metavar="NAME",
    help=f"sonnet, openai:NAME, ollama:NAME, scripted:FILE, ...; {MODEL_VARIABLE} if not given.",
)
@click.option(
    "--max-steps", type=click.IntRange(min=1), metavar="N", help="Stop and ask after so many model calls (10)."
)
@click.option("--yes", is_flag=True, help="Approve every change unseen. They can be undone.")
@click.option("--read-only", is_flag=True, help="Explore only: no tool that changes anything is offered.")
@event_options
@click.pass_obj
def code(
    session: Session,
    prompt: str | None,
    *,
    root: Path | None,
    model: str | None,
    max_steps: int | None,
    yes: bool,
    read_only: bool,
) -> int:
    """Do what PROMPT asks in a project: find, read, explain, change ('-' reads it from stdin).

    Without a PROMPT, at a terminal, a chat begins: /help there tells what can be written.

    Every change is shown as a diff, and made only after your yes; 'toolroll undo' takes it back. Where nobody can be
    asked the run stops with exit code 3, and 'toolroll runs resume' goes on with the answer. With --json every event
    is a line {"index", "event", ...} on stdout, the last one run_finished.

    AGENTS.md in the project's folder is read as instructions. Tools of the project's own are used only after
    'toolroll trust add'.

    \b
    Examples:
      toolroll code 'Where is DatabaseService defined?' --model sonnet
      toolroll code 'Add a comment on top of main.js' --root ~/project
      toolroll code 'List all TODOs' --read-only --json
    """
    if prompt is None:
        from toolroll.cli.chat.input import check_terminal  # noqa: PLC0415 - rich: only for who chats

        check_terminal(session, what="PROMPT", more=" ('-' reads it from stdin)")
    from toolroll.cli.project_tools import show_notes  # noqa: PLC0415 - pydantic: not for --help
    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    folder = (root or Path.cwd()).resolve()
    settings = read_settings(os.environ, root=folder, flags={"model": model, "code.max_steps": max_steps})
    show_notes(settings)
    named = model_from_settings(settings)
    if yes and read_only:
        raise UsageError("--yes and --read-only exclude each other: there is nothing to approve.")
    session.claim_stdout()
    from toolroll.cli.code_agent import warn_about_instructions  # noqa: PLC0415 - as above
    from toolroll.cli.commands.call import set_up_log  # noqa: PLC0415 - these bring pydantic: four interpreter starts
    from toolroll.cli.spec import DEFAULT_STEPS, AgentSpec  # noqa: PLC0415 - as above

    set_up_log(session)
    warn_about_instructions(folder)
    text = None if prompt is None else read_prompt(prompt)
    steps = max_steps or settings.code.max_steps or DEFAULT_STEPS
    spec = AgentSpec.from_options(model=named, max_steps=steps, root=str(folder), read_only=read_only, kind="code")
    if text is None:
        from toolroll.cli.chat.code import chat_about_code  # noqa: PLC0415 - only for who chats

        return chat_about_code(session, spec, yes=yes)
    return _answered(session, spec, text, yes=yes, stdin_is_taken=prompt == "-")


def _answered(session: Session, spec: "AgentSpec", text: str, *, yes: bool, stdin_is_taken: bool) -> int:
    async def work(
        journal: "SqliteJournal", renderer: "Renderer", note: "Callable[[RunState], None]"
    ) -> "RunResult[Any]":
        from toolroll.agent.history.resume import resume_run  # noqa: PLC0415 - as above
        from toolroll.agent.run import execute_run, initial_messages, new_run  # noqa: PLC0415 - as above
        from toolroll.cli.spec import build_agent  # noqa: PLC0415 - as above

        async with build_agent(spec, journal, yes=yes, stdin_is_taken=stdin_is_taken) as agent:
            state = new_run(agent.setup, initial_messages(text, ()), renderer.on_event, stream=True)
            note(state)
            result = await execute_run(state)
            while wants_more(session, result, stdin_is_taken=stdin_is_taken):
                result = await resume_run(agent.setup, result.run_id, emit=renderer.on_event, stream=True, on_open=note)
            return result

    return driven(session, work)


def wants_more(session: Session, result: "RunResult[Any]", *, stdin_is_taken: bool = False) -> bool:
    """Whether somebody at a terminal wants to go on with a run that a limit has stopped."""
    if session.json or result.stop_reason != "condition":
        return False
    from toolroll.cli.terminal.approve import confirm  # noqa: PLC0415 - rich: only when somebody is asked
    from toolroll.cli.terminal.terminal import interruptible, open_terminal  # noqa: PLC0415 - as above

    terminal = open_terminal(os.environ, stdin_is_taken=stdin_is_taken)
    if terminal is None:
        return False
    count = len(result.steps)
    steps = "1 step" if count == 1 else f"{count} steps"
    with interruptible():
        return confirm(terminal, f"\nStopped after {steps} ({result.stop_detail}). Go on?")
