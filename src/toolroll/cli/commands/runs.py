"""`toolroll runs`: what was recorded, and going on with it, from any terminal."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from toolroll.cli.actions.runs.delete import delete
from toolroll.cli.actions.runs.export import export
from toolroll.cli.actions.runs.fork import fork
from toolroll.cli.actions.runs.resume import warn_if_driven, without_wait_warning
from toolroll.cli.commands.run import agent_options, checked_prompt, driven
from toolroll.cli.completers import complete_run_ids
from toolroll.cli.render.prose import notify
from toolroll.cli.run_log import find_run, read_run_log, read_run_settings, spec_from_recording
from toolroll.cli.session import DONE, FAILED, Session, event_options, output_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult
    from toolroll.agent.state import RunState
    from toolroll.cli.render.renderer import Renderer
    from toolroll.journal.journal import Recording
    from toolroll.journal.sqlite import SqliteJournal
    from toolroll.kernel.approval.request import Decision

DEFAULT_LISTED: Final = 20


@click.group()
def runs() -> None:
    """See the runs that were recorded, go on with one or another way, play one again, keep or delete it.

    \b
    Examples:
      toolroll runs list              what there is, with ids
      toolroll runs show 3f9c         what happened in one
      toolroll runs resume 3f9c       go on with it
    """


@runs.command("list", short_help="List the latest runs.")
@click.option(
    "--limit",
    default=DEFAULT_LISTED,
    type=click.IntRange(min=1),
    metavar="N",
    help=f"How many at most ({DEFAULT_LISTED} if not given).",
)
@output_options
@click.pass_obj
def list_runs(session: Session, *, limit: int) -> int:
    """List the latest runs: when each began, how it ended, after how many steps, and what was asked.

    \b
    Example:
      toolroll runs list --limit 5
    """
    from toolroll.cli.render.records import format_run, summarize_run  # noqa: PLC0415 - these bring pydantic: four interpreter starts

    async def work(journal: "SqliteJournal") -> "tuple[list[dict[str, object]], int]":
        rows = list(await journal.runs())
        return [summarize_run(row, await journal.read(row.run_id)) for row in rows[:limit]], len(rows) - limit

    found, more = read_run_log(work)
    if session.json:
        session.write_json({"runs": found})
        return DONE
    if found:
        session.show("\n".join(map(format_run, found)))
    else:
        notify("There are no runs yet. Start one with 'toolroll run'.")
    if more > 0:
        notify(f"· {more:,} more: toolroll runs list --limit {limit + more}")
    return DONE


@runs.command(short_help="Show what happened in a run.")
@click.argument("run_id", metavar="ID", shell_complete=complete_run_ids)
@click.option("--context", is_flag=True, help="Show what of it the model would be sent next, and how large that is.")
@output_options
@click.pass_obj
def show(session: Session, run_id: str, *, context: bool) -> int:
    """Show what happened in the run ID, record by record. The beginning of an id is enough.

    \b
    Examples:
      toolroll runs show 3f9c
      toolroll runs show 3f9c --context
    """
    from toolroll.cli.render.records import format_records, record_fields  # noqa: PLC0415 - as above

    async def work(journal: "SqliteJournal") -> "Recording":
        return await journal.read(await find_run(journal, run_id))

    recording = read_run_log(work)
    if context:
        from toolroll.cli.render.context import show_context  # noqa: PLC0415 - as above

        return show_context(session, recording)
    if session.json:
        records = [record_fields(number, record) for number, record in recording]
        told = {"run_id": recording.run_id, "is_damaged": recording.is_damaged, "notes": list(recording.notes)}
        session.write_json(told | {"records": records})
    else:
        session.show("\n".join(format_records(recording)))
    return DONE


@runs.command(short_help="Go on with a run.")
@click.argument("run_id", metavar="ID", shell_complete=complete_run_ids)
@click.option("--prompt", metavar="TEXT", help="Go on with this. Calls that were never finished are then not run.")
@click.option(
    "--approve", multiple=True, metavar="CALL", help="Yes to the question about this call; the run has named it."
)
@click.option("--reject", multiple=True, metavar="CALL[=WHY]", help="No to the question about this call, and why.")
@click.option("--model", metavar="NAME", help="Another model than before.")
@agent_options
@click.option("--yes", is_flag=True, help="Allow what would be asked about.")
@event_options
@click.pass_obj
def resume(
    session: Session,
    /,
    run_id: str,
    *,
    prompt: str | None,
    approve: tuple[str, ...],
    reject: tuple[str, ...],
    yes: bool,
    **changed: Any,
) -> int:
    """Go on with the run ID: with what was going on when it ended, with an answer, or with another prompt.

    What is on record is neither paid nor run again. A question is answered as it was asked; where what it was about has
    changed since, it is asked anew. A change that may have been made before a crash is looked for, or asked about.

    \b
    Examples:
      toolroll runs resume 3f9c
      toolroll runs resume 3f9c --approve call_7 --reject 'call_8=not this file'
    """
    has_told = not session.json and warn_if_driven(run_id)
    from toolroll.cli.commands.call import set_up_log  # noqa: PLC0415 - as above
    from toolroll.cli.spec import build_agent, spec_kind  # noqa: PLC0415 - as above

    decisions = _decisions(approve, reject)
    kept = read_run_log(lambda journal: read_run_settings(journal, run_id))
    if spec_kind(kept) == "explore":
        from toolroll.cli.actions.explore import resume_exploration  # noqa: PLC0415 - as above

        if decisions or prompt is not None:
            raise UsageError("An exploration is gone on with as it was begun: without --prompt, --approve, --reject.")
        return resume_exploration(session, kept, model=changed.get("model"))
    if prompt is not None:
        checked_prompt(prompt)
    session.claim_stdout()
    set_up_log(session)

    async def work(
        journal: "SqliteJournal", renderer: "Renderer", note: "Callable[[RunState], None]"
    ) -> "RunResult[Any]":
        from toolroll.agent.history.resume import resume_run  # noqa: PLC0415 - as above

        found = await find_run(journal, run_id)
        listener = without_wait_warning(renderer.on_event) if has_told else renderer.on_event
        async with build_agent(spec_from_recording(await journal.read(found), changed), journal, yes=yes) as agent:
            return await resume_run(
                agent.setup, found, decisions=decisions, prompt=prompt, emit=listener, stream=True, on_open=note
            )

    return driven(session, work)


@runs.command(short_help="Play a run again and tell what differs.")
@click.argument("run_id", metavar="ID", shell_complete=complete_run_ids)
@agent_options
@output_options
@click.pass_obj
def replay(session: Session, /, run_id: str, **changed: Any) -> int:
    """Play the run ID again with the recorded answers of its model, offline; tell every difference.

    Tools that only read are run. Those that change something are not: they are answered from the record. The exit code
    is 0 when all is the same, 1 when something differs.

    \b
    Examples:
      toolroll runs replay 3f9c
      toolroll runs replay 3f9c --from my_tools.py
    """
    session.claim_stdout()
    from toolroll.agent.history import replay as playing  # noqa: PLC0415 - as above
    from toolroll.cli.commands.call import set_up_log  # noqa: PLC0415 - as above
    from toolroll.cli.render.records import format_replay, replay_fields  # noqa: PLC0415 - as above
    from toolroll.cli.spec import build_agent  # noqa: PLC0415 - as above

    set_up_log(session)

    async def work(journal: "SqliteJournal") -> playing.ReplayReport:
        found = await find_run(journal, run_id)
        agent = build_agent(spec_from_recording(await journal.read(found), changed), journal, connect=False)
        return await playing.replay(agent, found)

    report = read_run_log(work)
    if session.json:
        session.write_json(replay_fields(report))
    else:
        session.show("\n".join(format_replay(report)))
    return DONE if report.is_same else FAILED


def _decisions(approve: Sequence[str], reject: Sequence[str]) -> "dict[str, Decision]":
    from toolroll.kernel.approval.request import Approve, Reject  # noqa: PLC0415 - as above

    refused = {call: why for call, _, why in (one.partition("=") for one in reject)}
    both = refused.keys() & set(approve)
    if both:
        raise UsageError(f"{min(both)!r} cannot be approved and rejected at once.")
    return {call: Approve() for call in approve} | {call: Reject(why or None) for call, why in refused.items()}


for command in (fork, export, delete):
    runs.add_command(command)
