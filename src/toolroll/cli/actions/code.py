"""What `toolroll code` does: it starts the coding agent in a project, for one prompt or for a chat."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from toolroll.agent.result import RunResult
from toolroll.apps.code import PLAN, AtLimit, build_code_agent
from toolroll.apps.models import choose_model
from toolroll.apps.project import Project, show_instructions_note
from toolroll.apps.run_log import RunLog
from toolroll.apps.spec import CODE_STEPS, AgentSpec
from toolroll.apps.surface import Surface
from toolroll.cli.driver import RunDriver, read_prompt
from toolroll.cli.piped_input import PipedInput, read_piped
from toolroll.cli.session import DONE, Session
from toolroll.cli.terminal.surface import show_setting_notes, terminal_surface
from toolroll.errors import UsageError
from toolroll.home.settings_schema import TerminalSettings
from toolroll.journal.conversations import ConversationSummary
from toolroll.lazy import load
from toolroll.models.scripted_file import PREFIX as SCRIPT

STDIN: Final = "-"
CHOOSE: Final = "?"
"""Given as an ID where the person chooses from a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions:
    """What was asked for on the command line."""

    root: Path | None
    model: str | None
    max_steps: int | None
    yes: bool
    read_only: bool
    queue: bool
    webhook: str | None
    continued: bool
    resumed: str | None
    prints: bool
    plans: bool

    def check(self, prompt: str | None) -> None:
        """Refuse with UsageError what makes no sense together."""
        if self.yes and self.read_only:
            raise UsageError("--yes and --read-only exclude each other: there is nothing to approve.")
        if self.continued and self.resumed is not None:
            raise UsageError("--continue and --resume exclude each other: name one chat.")
        if self.yes and self.plans:
            raise UsageError("--yes and --plan exclude each other: a plan changes nothing.")
        if self.webhook is not None and not self.queue:
            raise UsageError("--webhook is for queued tasks. Add --queue.")
        is_new = not self.continued and self.resumed is None
        if self.queue and (prompt is None or self.yes or self.prints or not is_new):
            raise UsageError(
                "--queue needs a PROMPT, and no --yes, --print, --continue or --resume: what the job asks is answered "
                "with 'toolroll jobs'."
            )


def run_code(session: Session, prompt: str | None, **options: Any) -> int:
    """Do what the prompt asks, or chat without one; return the exit code."""
    asked = CodeOptions(**options)
    asked.check(prompt)
    if asked.prints and prompt is None:
        prompt = STDIN
    if prompt is None:
        load("toolroll.cli.chat.input:check_terminal")(session, what="PROMPT", more=" ('-' reads it from stdin)")
    earlier = _find_earlier(asked)
    if asked.resumed is not None and earlier is None:
        return DONE
    piped = None if prompt in (None, STDIN) else read_piped()
    surface = terminal_surface(stdin_is_taken=prompt == STDIN or piped is not None, asks=not asked.prints)
    root = asked.root or (Path(earlier.folder) if earlier is not None else Path.cwd())
    with Project.open(root.resolve(), os.environ, flags=_flags(asked, earlier)) as project:
        show_setting_notes(project.settings, surface)
        _set_up_terminal(session, project.settings.terminal)
        spec = _make_spec(_with_model(session, asked, project), project, earlier)
        session.claim_stdout()
        session.set_up_logging()
        session.prints = asked.prints
        show_instructions_note(project, surface)
        code: int
        if asked.queue:
            code = _queue(session, spec, prompt or "", piped, webhook=asked.webhook)
        elif prompt is None:
            code = _chat(session, spec, project, surface, earlier, plans=asked.plans and not asked.read_only)
        elif piped is None and earlier is None:
            code = _answer(session, spec, read_prompt(prompt), project, surface, stdin_is_taken=prompt == STDIN)
        else:
            answer = load("toolroll.cli.chat.code:answer_once")
            code = answer(session, spec, read_prompt(prompt), project, surface, earlier=earlier, piped=piped)
        return code


def _chat(
    session: Session,
    spec: AgentSpec,
    project: Project,
    surface: Surface,
    earlier: ConversationSummary | None,
    *,
    plans: bool,
) -> int:
    chat = load("toolroll.cli.chat.code:chat_about_code")
    if plans:
        spec = replace(spec, read_only=False, is_plan=False, system="")
    code: int = chat(session, spec, project, surface, earlier=earlier, plans=plans)
    return code


def _find_earlier(asked: CodeOptions) -> ConversationSummary | None:
    """Return the chat that is continued; None for a new one, and where the person chose none from the list."""
    found: ConversationSummary | None = None
    if asked.continued:
        found = load("toolroll.cli.chat.reopen:find_last")((asked.root or Path.cwd()).resolve())
    elif asked.resumed is not None and asked.resumed != CHOOSE:
        found = load("toolroll.cli.chat.reopen:find_by_id")(asked.resumed)
    elif asked.resumed is not None:
        found = load("toolroll.cli.chat.reopen:choose_conversation")(asked.root and asked.root.resolve())
    if found is not None and asked.root is not None and str(asked.root.resolve()) != found.folder:
        raise UsageError(f"That chat is about '{found.folder}'. Leave out --root to go on there.")
    return found


def _flags(asked: CodeOptions, earlier: ConversationSummary | None) -> dict[str, object]:
    """Return the settings that options give; a chat goes on with its model unless another one is named."""
    recorded = None if earlier is None else earlier.last.settings.get("model")
    return {"model": asked.model or recorded, "code.max_steps": asked.max_steps}


def _set_up_terminal(session: Session, settings: TerminalSettings) -> None:
    session.theme = settings.theme
    session.has_vi_keys, session.rings = settings.keys == "vi", settings.bell == "on"


def _with_model(session: Session, asked: CodeOptions, project: Project) -> CodeOptions:
    """Set up a model with the person where there is none to ask yet."""
    session.prints = asked.prints
    is_person_there = os.isatty(0) and os.isatty(2)  # looked at first: to ask them loads what draws on a terminal
    if asked.queue or not is_person_there or (project.settings.model or "").startswith(SCRIPT):
        return asked
    chosen: str | None = load("toolroll.cli.first_run:set_up_model")(session, project.settings.model)
    return asked if chosen is None else replace(asked, model=chosen)


def _make_spec(asked: CodeOptions, project: Project, earlier: ConversationSummary | None) -> AgentSpec:
    before = {} if earlier is None else earlier.last.settings
    was_read_only = before.get("read_only") is True and before.get("is_plan") is not True
    return AgentSpec.from_options(
        model=asked.model or choose_model(project.settings),
        max_steps=asked.max_steps or project.settings.code.max_steps or CODE_STEPS,
        root=str(project.root),
        read_only=asked.read_only or asked.plans or (was_read_only and not asked.yes),
        is_plan=asked.plans,
        system=PLAN if asked.plans else "",
        kind="code",
        yes=asked.yes,
    )


def _queue(session: Session, spec: AgentSpec, prompt: str, piped: PipedInput | None, *, webhook: str | None) -> int:
    if piped is not None:
        raise UsageError("--queue takes no piped input. Put it into a file, and name the file in the prompt.")
    code: int = load("toolroll.cli.actions.queue:queue_code")(session, spec, read_prompt(prompt), webhook)
    return code


def _answer(
    session: Session, spec: AgentSpec, text: str, project: Project, surface: Surface, *, stdin_is_taken: bool
) -> int:
    driver = RunDriver(session, shows_deeds=not spec.read_only)
    limit = AtLimit.ASK if driver.can_ask(stdin_is_taken=stdin_is_taken) else AtLimit.ANSWER

    async def work(journal: RunLog) -> RunResult[Any]:
        await project.learn_servers(surface)
        async with build_code_agent(spec, project=project, surface=surface, journal=journal, at_limit=limit) as agent:
            project.recover_changes(agent.setup.tools, surface)
            result = await driver.follow(agent.start(text, listener=driver.listener, stream=True))
            while (wants := driver.wants_more(result, stdin_is_taken=stdin_is_taken)) is True:
                more = agent.start(resume=result.run_id, listener=driver.listener, stream=True)
                result = await driver.follow(more)
            if wants is None:
                return result
        async with build_code_agent(
            spec, project=project, surface=surface, journal=journal, at_limit=AtLimit.NOW
        ) as agent:
            return await driver.follow(agent.start(resume=result.run_id, listener=driver.listener, stream=True))

    return driver.run(work)
