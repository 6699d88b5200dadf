"""What `toolroll runs list` does. It reads summaries, and loads neither an agent nor what decodes records."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.journal.conversations import CHAT, ConversationSummary, read_conversations
from toolroll.journal.places import find_run_log
from toolroll.journal.summaries import RunSummary, read_summaries
from toolroll.safe.text import one_line

ID_CHARACTERS: Final = 12
"""Of an id in a list: 48 random bits are enough to tell runs apart."""
MAX_NAME_CHARACTERS: Final = 40
MAX_FOLDER_CHARACTERS: Final = 4_096
MAX_PROMPT_CHARACTERS: Final = 60
_CENTS_FROM_USD: Final = 0.1
"""Below that, whole cents say too little."""


def list_runs(session: Session, *, limit: int, all_runs: bool = False) -> int:
    """List the latest conversations, or with `all_runs` the latest runs; return the exit code."""
    place = find_run_log(os.environ)
    if all_runs:
        runs, total = read_summaries(place, limit=limit)
        found = [ConversationSummary(chat_id=str(run.settings.get(CHAT) or run.run_id), runs=(run,)) for run in runs]
    else:
        found, total = read_conversations(place, limit=limit)
    if session.json:
        session.write_json({"runs": [conversation_fields(one) for one in found]})
        return DONE
    if found:
        session.show("\n".join(map(format_conversation, found)), hang=ID_CHARACTERS + 2)
    else:
        notify("There are no runs yet. Start one with 'toolroll run'.")
    if total > limit:
        notify(f"· {total - limit:,} more: toolroll runs list --limit {total}{' --all' if all_runs else ''}")
    return DONE


def conversation_fields(found: ConversationSummary) -> dict[str, object]:
    """Return a conversation of the list for a program; `run_id` is its latest run."""
    return summary_fields(found.last) | {
        "began": found.first.began,
        "steps": found.steps,
        "title": found.title,
        "messages": found.messages,
        "application": found.application,
        "folder": found.folder,
        "cost": found.cost,
        "runs": [run.run_id for run in found.runs],
    }


def summary_fields(run: RunSummary) -> dict[str, object]:
    """Return a run for a program."""
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


def format_conversation(found: ConversationSummary) -> str:
    """Return a conversation of the list as a line: its latest run, its title, and what it was about."""
    line = _format_line(found.last, steps=found.steps, title=found.title)
    return f"{line}  ({', '.join(_describe(found))})"


def format_summary(run: RunSummary) -> str:
    """Return a run as a line."""
    return _format_line(run, steps=run.steps, title=run.prompt)


def format_title(prompt: str) -> str:
    """Return the beginning of a prompt on one line; of its first lines only, as it may bring whole files along."""
    words = prompt[: 10 * MAX_PROMPT_CHARACTERS].split()
    return one_line(" ".join(words), MAX_PROMPT_CHARACTERS, is_spelled=True)  # by a chat, or by an exploration


def format_cost(cost: float | None) -> str:
    """Return what something cost, as people read it."""
    return "cost unknown" if cost is None else f"${cost:.2f}" if not cost or cost >= _CENTS_FROM_USD else f"${cost:.4f}"


def format_folder(folder: str) -> str:
    """Return a folder as people write it: below their home with `~`."""
    home = str(Path.home())
    short = f"~{folder.removeprefix(home)}" if folder == home or folder.startswith(f"{home}{os.sep}") else folder
    shown = one_line(short, MAX_FOLDER_CHARACTERS)
    return shown if len(shown) <= MAX_NAME_CHARACTERS else f"…{shown[1 - MAX_NAME_CHARACTERS :]}"  # its end tells more


def _format_line(run: RunSummary, *, steps: int, title: str) -> str:
    began = datetime.fromtimestamp(run.began, UTC).astimezone()
    state = "damaged" if run.is_damaged else _state(run)
    run_id = run.run_id[:ID_CHARACTERS].ljust(ID_CHARACTERS)
    count = f"{steps:>3} {'step ' if steps == 1 else 'steps'}"
    return f"{run_id}  {began:%Y-%m-%d %H:%M}  {state:<16} {count}  {format_title(title)}"


def _describe(found: ConversationSummary) -> list[str]:
    run, count = found.last, found.messages
    said = [f"{count} messages"] if count > 1 else []
    fork = [] if run.forked_from is None else [f"fork of {run.forked_from[:ID_CHARACTERS]} at step {run.at}"]
    part = [] if run.parent is None else [f"part of {run.parent[:ID_CHARACTERS]}"]
    names = [one_line(one, MAX_NAME_CHARACTERS) for one in (found.application, run.model) if one]
    return [*fork, *part, *names, *said, format_cost(found.cost), *filter(None, [format_folder(found.folder)])]


def _state(run: RunSummary) -> str:
    return "unfinished" if run.stop_reason is None else run.stop_reason
