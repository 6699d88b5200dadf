"""What `toolroll explore` does: it explores an idea now or later, and shows the exploration while it goes."""

import os
import re
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from toolroll.apps.explore import ExploreOptions, ask_for_searches, check_token, make_research_options, open_source
from toolroll.apps.models import connect_model
from toolroll.apps.project import Project
from toolroll.apps.run_log import RunLog
from toolroll.cli.actions.queue import QueuePlace, queue_ideas
from toolroll.cli.driver import Driver
from toolroll.cli.render.exploration import ExplorationRenderer
from toolroll.cli.session import INTERRUPTED, Session
from toolroll.cli.terminal.surface import terminal_surface
from toolroll.errors import FileTooLarge, ModelError, UsageError
from toolroll.lazy import load
from toolroll.packs.research.exploration import ExplorationResult, Job, explore
from toolroll.safe.paths.os_errors import os_errors
from toolroll.workspace.text import decode

_MAX_CONTEXT_BYTES: Final = 200_000
"""Of 50,000 characters in UTF-8."""
_FILE_NAME: Final = re.compile(
    r"[^\s]*/|[^\s]*[^\s/.]\.(md|markdown|txt|text|rst|json|html|csv|pdf|docx)", re.IGNORECASE
)


def run_explore(
    session: Session,
    idea: str | None,
    *,
    mode: str,
    model: str | None,
    context: str,
    update: bool,
    continue_from: str | None,
    two_phase: bool,
    stats: bool,
    ideas: Path | None,
    repo: str | None,
    branch: str | None,
    yes: bool,
    queue: bool,
    ideas_file: BinaryIO | None,
    priority: int,
    webhook: str | None,
    at: str | None,
    every: str | None,
    timeout_s: float,
    token_limit: int | None,
    max_steps: int,
) -> int:
    """Explore an idea now or later, or chat without one; return the exit code."""
    is_queued = queue or any(one is not None for one in (ideas_file, at, every))
    if is_queued and (idea is None) == (ideas_file is None):
        raise UsageError("Name one IDEA to queue, or a --file of ideas.")
    if webhook is not None and not is_queued:
        raise UsageError("--webhook is for queued ideas. Add --queue.")
    if idea is None and not is_queued:
        load("toolroll.cli.chat.input:check_terminal")(session, what="IDEA")
    if update and continue_from is not None:
        raise UsageError("--update and --continue-from exclude each other. Choose one of them.")
    options = ExploreOptions(
        idea=idea or "",
        mode=mode,
        model=model or "",
        context=read_context(context),
        update=update,
        continue_from=continue_from,
        two_phase=two_phase,
        stats=stats,
        ideas=None if ideas is None else str(ideas.absolute()),
        repo=repo,
        branch=branch,
        timeout_s=timeout_s,
        token_limit=token_limit,
        max_steps=max_steps,
    )
    if is_queued:
        place = QueuePlace(priority=priority, webhook=webhook, at=at, every=every)
        return queue_ideas(session, options, ideas_file, place, yes=yes)
    if idea is None:
        code: int = load("toolroll.cli.chat.explore:chat_about_ideas")(session, options, yes=yes)
        return code
    return run_exploration(session, options, yes=yes)


def run_exploration(
    session: Session,
    options: ExploreOptions,
    *,
    job: Job | None = None,
    yes: bool = False,
    force: bool = False,
) -> int:
    """Explore, and show it; return the exit code. `job` is one that was cut off, and is continued.

    `force` continues it although the last attempts died.
    """
    request, place = options.request, options.place
    check_token(place, os.environ)
    with Project.open(Path.cwd(), os.environ, flags={"model": options.model or None}) as project:
        chosen = options.with_model(project)
        session.claim_stdout()
        session.set_up_logging()
        driver = ExplorationDriver(session, ExplorationRenderer(session, model=chosen.model))
        surface = terminal_surface()

        async def work(journal: RunLog) -> ExplorationResult:
            await project.learn_servers(surface)
            async with open_source(place, os.environ) as source:
                made = make_research_options(
                    chosen,
                    model=connect_model(chosen.model, os.environ, settings=project.settings),
                    project=project,
                    surface=surface,
                    journal=journal,
                )
                made["on_event"] = driver.listener
                made["force"] = force
                made["on_open"] = driver.interrupts.watch
                prepare = partial(ask_for_searches, surface=surface, yes=yes, is_resumed=job is not None)
                return await explore(request, source, job=job, prepare=prepare, **made)

        return driver.run(work)


class ExplorationDriver(Driver[ExplorationResult]):
    """Drives an exploration of one run or two; one that is cut off can be resumed."""

    def __init__(self, session: Session, exploration: ExplorationRenderer) -> None:
        self._exploration = exploration
        super().__init__(session, self._exploration)

    def end_early(self, error: ModelError | None) -> int:
        """Show how to continue, and why the exploration ended."""
        self._exploration.close()
        self._exploration.suggest_resume()
        if error is not None and not self._exploration.was_stopped:
            raise error
        self.session.fail("interrupted", self.session.interrupted_message)
        return INTERRUPTED


def read_context(given: str) -> str:
    """Return the text, or the content of the file of that name."""
    path = Path(given) if given and "\n" not in given and "\0" not in given else None
    try:
        if path is None or not path.is_file():
            return _check_text(given)
    except OSError:  # too long for a name
        return given
    with os_errors(given), path.open("rb") as file:
        data = file.read(_MAX_CONTEXT_BYTES + 1)
    if len(data) > _MAX_CONTEXT_BYTES:
        raise FileTooLarge(
            f"'{given}' has more than {_MAX_CONTEXT_BYTES:,} bytes.", path=given, limit_bytes=_MAX_CONTEXT_BYTES
        )
    return decode(data, path=given).text


def _check_text(given: str) -> str:
    """Return a context in words; one word with the ending of a file is a name that was mistyped."""
    if _FILE_NAME.fullmatch(given):
        raise UsageError(f"There is no file '{given}' for --context. A text has blanks in it.")
    return given
