"""What `toolroll runs delete` does: it deletes runs for good, with the outputs of their tools, after a yes."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.agent.context.outputs import FOLDER
from toolroll.apps.run_log import RunLog, find_run, open_archive, read_run_log
from toolroll.cli.actions.runs.listing import format_summary
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.cli.terminal.surface import ask_consent
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.deletion import Deletion
from toolroll.journal.journal import RunRow
from toolroll.journal.places import find_run_log
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, CallEnded, RunEnded
from toolroll.journal.summaries import read_summaries
from toolroll.outputs.format import packed_outputs
from toolroll.outputs.run_folder import folder_name, remove_folder
from toolroll.safe.text import terminal_safe
from toolroll.workspace.changes.content_cache import remove_contents
from toolroll.workspace.workspace import WORKSPACES

DAY_S: Final = 24 * 3600
MAX_SHOWN: Final = 20
HISTORY_STAYS: Final = "What the runs changed in projects stays, and 'toolroll undo' still knows of it."


def delete_runs(session: Session, run_ids: tuple[str, ...], *, older_than: int | None, force: bool, yes: bool) -> int:
    """Show what would be deleted, ask, and delete it; return the exit code."""
    if bool(run_ids) == (older_than is not None):
        raise UsageError("Name the runs to delete, or say --older-than DAYS; one of the two.")

    async def work(journal: RunLog) -> int:
        if older_than is None:
            choice = await _named(journal, run_ids, force=force)
        else:
            choice = await _older(journal, time.time() - older_than * DAY_S, force=force)
        return await _Deletion(session, journal, choice).run(yes=yes)

    return read_run_log(work, os.environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The runs that go, and those that stay although they were meant, each with why."""

    chosen: Sequence[RunRow]
    left: Mapping[str, str]


async def _named(journal: RunLog, given: Sequence[str], *, force: bool) -> _Choice:
    """The runs of these ids; refused if one of them cannot be deleted."""
    rows = {row.run_id: row for row in await journal.runs()}
    chosen = {run_id: rows[run_id] for run_id in [await find_run(journal, one) for one in given]}
    for row in chosen.values():
        if row.parent in rows:
            raise JournalRefused(f"Run {row.run_id} is a part of run {row.parent}, and goes with it.")
        why = await _obstacle(journal, row, force=force)
        if why is not None:
            raise JournalRefused(f"Run {row.run_id} {why}")
    return _Choice(chosen=list(chosen.values()), left={})


async def _older(journal: RunLog, than: float, *, force: bool) -> _Choice:
    """All that nothing was added to since then; what cannot be deleted stays."""
    rows = {row.run_id: row for row in await journal.runs()}
    chosen: list[RunRow] = []
    left: dict[str, str] = {}
    for row in rows.values():
        if row.updated < than and row.parent not in rows:
            why = await _obstacle(journal, row, force=force)
            if why is None:
                chosen.append(row)
            else:
                left[row.run_id] = why
    return _Choice(chosen=chosen, left=left)


async def _obstacle(journal: RunLog, row: RunRow, *, force: bool) -> str | None:
    """Why a run is not deleted, if it is not."""
    if await journal.is_held(row.run_id):
        return "is going on. Wait until it ends, or stop it, and delete it then."
    if not force and await _waits(journal, row):
        return f"waits for an answer: see 'toolroll runs resume {row.run_id}'. Add --force to delete it all the same."
    return None


async def _waits(journal: RunLog, row: RunRow) -> bool:
    """Whether a question of the run is open. Most runs have ended, and then their last record tells."""
    is_over = row.last_kind == "finished"
    recording = await journal.read(row.run_id, after=row.records - 1 if is_over else 0)
    waiting: set[str] = set()
    for _, record in recording:
        match record:
            case RunEnded() if is_over:
                return record.stop_reason == "approval_pending"
            case ApprovalQuestion():
                waiting.add(record.call_id)
            case ApprovalAnswer():
                waiting.discard(record.call_id)
            case CallEnded():
                waiting.discard(record.result.call_id)
            case _:
                continue
    return bool(waiting)


class _Deletion:
    """Deletes the runs that were chosen."""

    def __init__(self, session: Session, journal: RunLog, choice: _Choice) -> None:
        self._session = session
        self._journal = journal
        self._choice = choice
        self._ids = [row.run_id for row in choice.chosen]

    async def run(self, *, yes: bool) -> int:
        """Show, ask, delete; return the exit code."""
        weight = await self._journal.measure_deletion(self._ids)
        outputs = _find_outputs(self._journal.folder, weight.runs)
        if not self._session.json:
            self._show(weight, outputs)
        if weight.runs and not yes and (refusal := self._ask()) is not None:
            return refusal
        return self._done(await self._journal.delete(self._ids), outputs)

    def _show(self, weight: Deletion, outputs: "_Outputs") -> None:
        shown = dict.fromkeys(self._ids[:MAX_SHOWN])
        found, _ = read_summaries(find_run_log(os.environ), limit=len(shown), only=shown)
        for run in sorted(found, key=lambda one: self._ids.index(one.run_id)):
            notify(terminal_safe(format_summary(run)))
        if len(self._ids) > MAX_SHOWN:
            notify(f"... and {len(self._ids) - MAX_SHOWN:,} more")
        for run_id, why in self._choice.left.items():
            notify(f"Note: run {run_id} stays: it {why}")
        if weight.runs:
            notify(f"To delete: {_sum(weight, outputs, len(self._ids))}.\n{HISTORY_STAYS}")

    def _ask(self) -> int | None:
        return ask_consent(
            self._session,
            "Delete this for good?",
            nobody="Nobody could be asked, so nothing was deleted. Add --yes to do it.",
            refused="Nothing was deleted.",
        )

    def _done(self, gone: Deletion, outputs: "_Outputs") -> int:
        for folder in outputs.folders:
            remove_folder(folder)
        with open_archive(os.environ) as archive:
            if archive is not None:
                archive.delete([folder_name(run_id) for run_id in gone.runs])
        remove_contents(self._journal.folder / WORKSPACES, gone.runs)
        fields = {"records": gone.records, "texts": gone.texts, "byte_size": gone.byte_size}
        removed = {"outputs": outputs.count, "output_bytes": outputs.byte_size}
        if self._session.json:
            left = [{"run_id": run_id, "why": why} for run_id, why in self._choice.left.items()]
            self._session.write_json({"deleted": list(gone.runs), "left": left} | fields | removed)
        elif gone.runs:
            self._session.show(f"Deleted: {_sum(gone, outputs, len(self._ids))}.")
        else:
            notify("There is nothing to delete.")
        return DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outputs:
    """The outputs of tools in some runs."""

    folders: Sequence[Path]
    count: int
    byte_size: int


def _find_outputs(folder: Path, run_ids: Sequence[str]) -> _Outputs:
    folders = [path for path in (folder / FOLDER / folder_name(run_id) for run_id in run_ids) if path.is_dir()]
    count = sum(one.is_dir() for path in folders for one in path.iterdir())
    count += sum(1 for path in folders for _ in packed_outputs(path))
    return _Outputs(folders=folders, count=count, byte_size=sum(map(_size, folders)))


def _size(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # gone meanwhile
                found += (Path(place) / name).lstat().st_size
    return found


def _sum(deletion: Deletion, outputs: _Outputs, runs: int) -> str:
    parts = len(deletion.runs) - runs
    named = f"{runs:,} run{'s' if runs != 1 else ''}"
    with_parts = f" with {parts:,} part{'s' if parts != 1 else ''}" if parts > 0 else ""
    records = f"{deletion.records:,} records ({deletion.byte_size:,} bytes)"
    return f"{named}{with_parts}, {records}, {outputs.count:,} outputs ({outputs.byte_size:,} bytes)"
