"""What `toolroll runs resume` does first: it says at once if another process is at work on the run (XD3).

Building an agent takes a second of computing, and on a busy machine several. Looking who works on a run takes a
quarter of it. So the rest is in `recorded_agent`, which is imported afterwards.
"""

import asyncio
import os
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from toolroll.apps.run_log import find_run, open_journal, read_run_log, read_run_settings
from toolroll.cli.render.prose import notify
from toolroll.cli.session import Session
from toolroll.errors import ToolrollError, UsageError
from toolroll.kernel.approval.request import Approve, Decision, Reject


def resume_run(
    session: Session,
    /,
    run_id: str,
    *,
    prompt: str | None,
    approve: tuple[str, ...],
    reject: tuple[str, ...],
    yes: bool,
    force: bool = False,
    **changed: Any,
) -> int:
    """Continue a run; return the exit code."""
    is_warned = not session.json and warn_if_busy(run_id)
    decisions = _parse_decisions(approve, reject)
    settings = read_run_log(lambda journal: read_run_settings(journal, run_id), os.environ)
    from toolroll.cli.actions.runs.recorded_agent import continue_exploration, continue_run  # noqa: PLC0415 - see above

    if settings.get("kind") == "explore":
        if decisions or prompt is not None:
            raise UsageError("An exploration is continued as it was begun: without --prompt, --approve and --reject.")
        return continue_exploration(session, settings, model=changed.get("model"), force=force)
    return continue_run(
        session,
        run_id,
        prompt=prompt,
        decisions=decisions,
        yes=yes,
        force=force,
        changed=changed,
        is_warned=is_warned,
    )


def warn_if_busy(given: str) -> bool:
    """Say that another process is at work on the run, and what to do; errors are left to who continues it."""
    try:
        found = asyncio.run(_find_process(given))
    except (ToolrollError, OSError):
        return False
    if found is None:
        return False
    run_id, process = found
    notify(f"! Run {run_id} is being driven by another process ({process}). This one waits, and shows how it ends.")
    notify("  If it waits for an answer, give it there. Ctrl-C here ends the waiting, and nothing else.")
    return True


async def _find_process(given: str) -> tuple[str, int | str] | None:
    with closing(open_journal(os.environ)) as journal:
        run_id = await find_run(journal, given)
        process = await journal.driver(run_id)
        return None if process is None else (run_id, process)


def _parse_decisions(approve: Sequence[str], reject: Sequence[str]) -> dict[str, Decision]:
    refused = {call: why for call, _, why in (one.partition("=") for one in reject)}
    both = refused.keys() & set(approve)
    if both:
        raise UsageError(f"{min(both)!r} cannot be approved and rejected at once.")
    return {call: Approve() for call in approve} | {call: Reject(why or None) for call, why in refused.items()}
