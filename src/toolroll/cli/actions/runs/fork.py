"""`toolroll runs fork`: another way from the middle of a run."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from toolroll.cli.commands.run import agent_options, checked_prompt, driven
from toolroll.cli.completers import complete_run_ids
from toolroll.cli.run_log import find_run, read_run_settings, spec_from_recording
from toolroll.cli.session import Session, event_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult
    from toolroll.agent.state import RunState
    from toolroll.cli.render.renderer import Renderer
    from toolroll.journal.sqlite import SqliteJournal


@click.command(short_help="Go another way from a step of a run.")
@click.argument("run_id", metavar="ID", shell_complete=complete_run_ids)
@click.option(
    "--at",
    required=True,
    type=click.IntRange(min=0),
    metavar="STEP",
    help="Begin after this step of it; 0 is the beginning.",
)
@click.option("--model", metavar="NAME", help="Another model than before.")
@click.option("--prompt", metavar="TEXT", help="Go on with this; at step 0, in the place of the prompt.")
@agent_options
@click.option("--yes", is_flag=True, help="Allow what would be asked about.")
@event_options
@click.pass_obj
def fork(session: Session, /, run_id: str, *, at: int, prompt: str | None, yes: bool, **changed: Any) -> int:
    """Go another way from after step STEP of the run ID: a new run, with another model or prompt.

    It begins with the conversation as it was then, with todos, what was read, and what tools answered; that is neither
    paid nor run again. Limits begin anew. The run ID stays as it is. Files stay as they are now: see 'toolroll undo'.

    \b
    Examples:
      toolroll runs fork 3f9c --at 2 --model opus
      toolroll runs fork 3f9c --at 0 --prompt 'Do it without a new dependency.'
    """
    session.claim_stdout()
    from toolroll.cli.commands.call import set_up_log  # noqa: PLC0415 - these bring pydantic: four interpreter starts
    from toolroll.cli.spec import build_agent, spec_kind  # noqa: PLC0415 - as above

    set_up_log(session)
    if prompt is not None:
        checked_prompt(prompt)

    async def work(
        journal: "SqliteJournal", renderer: "Renderer", note: "Callable[[RunState], None]"
    ) -> "RunResult[Any]":
        from toolroll.agent.history.fork import fork_run  # noqa: PLC0415 - as above
        from toolroll.agent.history.resume import resume_run  # noqa: PLC0415 - as above

        found = await find_run(journal, run_id)
        if spec_kind(await read_run_settings(journal, found)) == "explore":
            raise UsageError("An exploration cannot be forked. 'toolroll explore IDEA' explores the idea anew.")
        async with build_agent(spec_from_recording(await journal.read(found), changed), journal, yes=yes) as agent:
            made = await fork_run(agent.setup, found, at=at, replaces_prompt=prompt is not None)
            return await resume_run(agent.setup, made, prompt=prompt, emit=renderer.on_event, stream=True, on_open=note)

    return driven(session, work)
