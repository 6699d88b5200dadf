"""`toolroll runs delete`: runs taken out of the run log for good, with what was kept of their tools' answers."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolroll.cli.completers import complete_run_ids
from toolroll.cli.render.prose import notify
from toolroll.cli.run_log import find_run, read_run_log
from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, Session, output_options
from toolroll.errors import JournalRefused, UsageError

if TYPE_CHECKING:
    from toolroll.journal.deletion import Deletion
    from toolroll.journal.journal import RunRow
    from toolroll.journal.sqlite import SqliteJournal

DAY_S: Final = 24 * 3600
MAX_SHOWN: Final = 20
HISTORY_STAYS: Final = "What the runs changed in projects stays, and 'toolroll undo' still knows of it."


@click.command(short_help="Delete runs for good.")
@click.argument("run_ids", nargs=-1, metavar="[ID]...", shell_complete=complete_run_ids)
@click.option(
    "--older-than",
    type=click.IntRange(min=0),
    metavar="DAYS",
    help="All runs that nothing was added to for so many days.",
)
@click.option("--force", is_flag=True, help="Also those that wait for an answer.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@output_options
@click.pass_obj
def delete(session: Session, run_ids: tuple[str, ...], *, older_than: int | None, force: bool, yes: bool) -> int:
    """Delete runs with their parts, and what tools answered in them. Lists what goes, and asks.

    A run that is going on is not deleted. What runs changed in a project stays, and can still be undone.

    \b
    Examples:
      toolroll runs delete 3f9c 81ab
      toolroll runs delete --older-than 90 --yes
    """
    if bool(run_ids) == (older_than is not None):
        raise UsageError("Name the runs to delete, or say --older-than DAYS; one of the two.")

    async def work(journal: "SqliteJournal") -> int:
        if older_than is None:
            choice = await _named(journal, run_ids, force=force)
        else:
            choice = await _older(journal, time.time() - older_than * DAY_S, force=force)
        return await _Deleting(session, journal, choice).run(yes=yes)

    return read_run_log(work)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The runs that go, and those that stay although they were meant, each with why."""

    chosen: "Sequence[RunRow]"
    left: Mapping[str, str]


async def _named(journal: "SqliteJournal", given: Sequence[str], *, force: bool) -> _Choice:
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


async def _older(journal: "SqliteJournal", than: float, *, force: bool) -> _Choice:
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


async def _obstacle(journal: "SqliteJournal", row: "RunRow", *, force: bool) -> str | None:
    """Why a run is not deleted, if it is not."""
    if await journal.is_held(row.run_id):
        return "is going on. Wait until it ends, or stop it, and delete it then."
    if not force and await _waits(journal, row):
        return f"waits for an answer: see 'toolroll runs resume {row.run_id}'. Add --force to delete it all the same."
    return None


async def _waits(journal: "SqliteJournal", row: "RunRow") -> bool:
    """Whether a question of the run is open. Most runs have ended, and then their last record tells."""
    from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, CallEnded, RunEnded  # noqa: PLC0415 - pydantic: not for --help

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


class _Deleting:
    """What was chosen, on its way out."""

    def __init__(self, session: Session, journal: "SqliteJournal", choice: _Choice) -> None:
        self._session = session
        self._journal = journal
        self._choice = choice
        self._ids = [row.run_id for row in choice.chosen]

    async def run(self, *, yes: bool) -> int:
        """Show, ask, delete; the exit code."""
        weight = await self._journal.measure_deletion(self._ids)
        kept = _kept(self._journal.folder, weight.runs)
        if not self._session.json:
            await self._tell(weight, kept)
        if weight.runs and not yes and (refusal := self._not_agreed()) is not None:
            return refusal
        return self._done(await self._journal.delete(self._ids), kept)

    async def _tell(self, weight: "Deletion", kept: "_Kept") -> None:
        from toolroll.cli.render.records import format_run, summarize_run  # noqa: PLC0415 - as above
        from toolroll.safe.text import terminal_safe  # noqa: PLC0415 - as above

        for row in self._choice.chosen[:MAX_SHOWN]:
            notify(terminal_safe(format_run(summarize_run(row, await self._journal.read(row.run_id)))))
        if len(self._ids) > MAX_SHOWN:
            notify(f"... and {len(self._ids) - MAX_SHOWN:,} more")
        for run_id, why in self._choice.left.items():
            notify(f"Note: run {run_id} stays: it {why}")
        if weight.runs:
            notify(f"To delete: {_sum(weight, kept, len(self._ids))}.\n{HISTORY_STAYS}")

    def _not_agreed(self) -> int | None:
        """None once somebody has said yes; else the exit code."""
        from toolroll.cli.terminal.approve import confirm  # noqa: PLC0415 - rich: only when somebody is asked
        from toolroll.cli.terminal.terminal import interruptible, open_terminal  # noqa: PLC0415 - as above

        terminal = open_terminal(os.environ)
        if terminal is None:
            self._session.fail("needs_approval", "Nobody could be asked, so nothing was deleted. Add --yes to do it.")
            return NEEDS_APPROVAL
        with interruptible():
            if confirm(terminal, "Delete this for good?"):
                return None
        self._session.fail("rejected", "Nothing was deleted.")
        return FAILED

    def _done(self, gone: "Deletion", kept: "_Kept") -> int:
        from toolroll.outputs.run_folder import remove_folder  # noqa: PLC0415 - as above

        for folder in kept.folders:
            remove_folder(folder)
        fields = {"records": gone.records, "texts": gone.texts, "byte_size": gone.byte_size}
        outputs = {"outputs": kept.outputs, "output_bytes": kept.byte_size}
        if self._session.json:
            left = [{"run_id": run_id, "why": why} for run_id, why in self._choice.left.items()]
            self._session.write_json({"deleted": list(gone.runs), "left": left} | fields | outputs)
        elif gone.runs:
            self._session.show(f"Deleted: {_sum(gone, kept, len(self._ids))}.")
        else:
            notify("There is nothing to delete.")
        return DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What tools answered in some runs."""

    folders: Sequence[Path]
    outputs: int
    byte_size: int


def _kept(folder: Path, run_ids: Sequence[str]) -> _Kept:
    from toolroll.agent.context.outputs import FOLDER  # noqa: PLC0415 - as above
    from toolroll.outputs.format import packed_outputs  # noqa: PLC0415 - as above
    from toolroll.outputs.run_folder import folder_name  # noqa: PLC0415 - as above

    folders = [path for path in (folder / FOLDER / folder_name(run_id) for run_id in run_ids) if path.is_dir()]
    outputs = sum(one.is_dir() for path in folders for one in path.iterdir())
    outputs += sum(1 for path in folders for _ in packed_outputs(path))
    return _Kept(folders=folders, outputs=outputs, byte_size=sum(map(_size, folders)))


def _size(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # gone meanwhile
                found += (Path(place) / name).lstat().st_size
    return found


def _sum(deletion: "Deletion", kept: _Kept, runs: int) -> str:
    parts = len(deletion.runs) - runs
    named = f"{runs:,} run{'s' if runs != 1 else ''}"
    with_parts = f" with {parts:,} part{'s' if parts != 1 else ''}" if parts > 0 else ""
    records = f"{deletion.records:,} records ({deletion.byte_size:,} bytes)"
    return f"{named}{with_parts}, {records}, {kept.outputs:,} outputs ({kept.byte_size:,} bytes)"
