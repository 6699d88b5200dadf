"""`toolroll code`: an agent that explores and changes a project, each change with a person's approval."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolroll.cli.first_run import MODEL_VARIABLE, model_in
from toolroll.cli.history import root_option
from toolroll.cli.quoted import QuotedCommand
from toolroll.cli.run import driven, read_prompt
from toolroll.cli.session import Session, event_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult
    from toolroll.agent.state import RunState
    from toolroll.cli.making import Making
    from toolroll.cli.telling import Teller
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
    from toolroll.cli.own import tell_notes  # noqa: PLC0415 - pydantic: not for --help
    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    folder = (root or Path.cwd()).resolve()
    settings = read_settings(os.environ, root=folder, flags={"model": model, "code.max_steps": max_steps})
    tell_notes(settings)
    named = model_in(settings)
    if yes and read_only:
        raise UsageError("--yes and --read-only exclude each other: there is nothing to approve.")
    session.claim_stdout()
    from toolroll.cli.call import set_up_log  # noqa: PLC0415 - these bring pydantic: four interpreter starts
    from toolroll.cli.coding import tell_instructions  # noqa: PLC0415 - as above
    from toolroll.cli.making import DEFAULT_STEPS, Making  # noqa: PLC0415 - as above

    set_up_log(session)
    tell_instructions(folder)
    text = None if prompt is None else read_prompt(prompt)
    steps = max_steps or settings.code.max_steps or DEFAULT_STEPS
    making = Making.here(model=named, max_steps=steps, root=str(folder), read_only=read_only, kind="code")
    if text is None:
        from toolroll.cli.chat.coding import chat_about_code  # noqa: PLC0415 - only for who chats

        return chat_about_code(session, making, yes=yes)
    return _answered(session, making, text, yes=yes, stdin_is_taken=prompt == "-")


def _answered(session: Session, making: "Making", text: str, *, yes: bool, stdin_is_taken: bool) -> int:
    async def work(journal: "SqliteJournal", teller: "Teller", note: "Callable[[RunState], None]") -> "RunResult[Any]":
        from toolroll.agent.resume import go_on  # noqa: PLC0415 - as above
        from toolroll.agent.run import new_run, opening, play  # noqa: PLC0415 - as above
        from toolroll.cli.making import make_agent  # noqa: PLC0415 - as above

        async with make_agent(making, journal, yes=yes, stdin_is_taken=stdin_is_taken) as agent:
            state = new_run(agent.setup, opening(text, ()), teller.hear, stream=True)
            note(state)
            result = await play(state)
            while wants_more(session, result, stdin_is_taken=stdin_is_taken):
                result = await go_on(agent.setup, result.run_id, emit=teller.hear, stream=True, on_open=note)
            return result

    return driven(session, work)


def wants_more(session: Session, result: "RunResult[Any]", *, stdin_is_taken: bool = False) -> bool:
    """Whether somebody at a terminal wants to go on with a run that a limit has stopped."""
    if session.json or result.stop_reason != "condition":
        return False
    from toolroll.cli.approve import confirmed  # noqa: PLC0415 - rich: only when somebody is asked
    from toolroll.cli.terminal import interruptible, open_terminal  # noqa: PLC0415 - as above

    terminal = open_terminal(os.environ, stdin_is_taken=stdin_is_taken)
    if terminal is None:
        return False
    count = len(result.steps)
    steps = "1 step" if count == 1 else f"{count} steps"
    with interruptible():
        return confirmed(terminal, f"\nStopped after {steps} ({result.stop_detail}). Go on?")
