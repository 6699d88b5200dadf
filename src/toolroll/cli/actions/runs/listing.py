"""What `toolroll runs list` does. It reads summaries, and loads neither an agent nor what decodes records."""

import os
from datetime import UTC, datetime
from typing import Final

from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.home.folders import find_folders
from toolroll.journal.summaries import RunSummary, read_summaries
from toolroll.safe.text import one_line

ID_CHARACTERS: Final = 12
"""Of an id in a list: 48 random bits are enough to tell runs apart."""
CHAT: Final = "chat"
"""The setting by which the runs of one chat are known."""
CHAT_CHARACTERS: Final = 4
MAX_CHAT_CHARACTERS: Final = 100
MAX_PROMPT_CHARACTERS: Final = 60


def list_runs(session: Session, *, limit: int) -> int:
    """List the latest runs; return the exit code."""
    found, total = read_summaries(find_folders(os.environ).run_log, limit=limit)
    if session.json:
        session.write_json({"runs": [summary_fields(one) for one in found]})
        return DONE
    if found:
        session.show("\n".join(map(format_summary, found)))
    else:
        notify("There are no runs yet. Start one with 'toolroll run'.")
    if total > limit:
        notify(f"· {total - limit:,} more: toolroll runs list --limit {total}")
    return DONE


def summary_fields(run: RunSummary) -> dict[str, object]:
    """Return a run of the list for a program."""
    return {
        "run_id": run.run_id,
        "began": run.began,
        "updated": run.updated,
        "state": _state(run),
        "steps": run.steps,
        "model": run.model,
        "parent": run.parent,
        "forked_from": run.forked_from,
        "at": run.at,
        "chat": run.settings.get(CHAT),
        "prompt": run.prompt,
        "is_damaged": run.is_damaged,
    }


def format_summary(run: RunSummary) -> str:
    """Return a run of the list as a line."""
    began = datetime.fromtimestamp(run.began, UTC).astimezone()
    state = "damaged" if run.is_damaged else _state(run)
    # Of the first lines only: a prompt may bring whole files along.
    words = run.prompt[: 10 * MAX_PROMPT_CHARACTERS].split()
    prompt = one_line(" ".join(words), MAX_PROMPT_CHARACTERS, is_spelled=True)  # by a chat, or by an exploration
    run_id = run.run_id[:ID_CHARACTERS].ljust(ID_CHARACTERS)
    chat = run.settings.get(CHAT)
    chat_name = one_line(f"chat {str(chat)[:CHAT_CHARACTERS]}: ", MAX_CHAT_CHARACTERS) if chat else ""
    steps = f"{run.steps:>3} {'step ' if run.steps == 1 else 'steps'}"
    return f"{run_id}  {began:%Y-%m-%d %H:%M}  {state:<16} {steps}  {chat_name}{prompt}"


def _state(run: RunSummary) -> str:
    return "unfinished" if run.stop_reason is None else run.stop_reason
