"""The body of `ghostpen write`: one post, the person who is asked about it and may press Ctrl-C, and the exit code."""

import asyncio
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from toolroll.agent.events import CallFinished, CallStarted, Event
from toolroll.agent.live import LiveRun
from toolroll.agent.result import RunResult
from toolroll.apps.models import connect_model
from toolroll.apps.run_log import RunLog, open_journal
from toolroll.apps.spec import AgentSpec
from toolroll.cli.chat.input import open_input
from toolroll.cli.driver import Interrupts
from toolroll.cli.ghostpen.context import CommandContext, choose_model, translate_errors
from toolroll.cli.ghostpen.person import AbsentPerson, TerminalPerson, WritingApprover
from toolroll.cli.ghostpen.render import JsonRenderer, ProgressRenderer, outcome_fields
from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, STOPPED_BY_LIMIT, Session
from toolroll.errors import UsageError
from toolroll.home.keys import with_keys
from toolroll.kernel.approval.consent import Outflow
from toolroll.lazy import load
from toolroll.models.model import Model
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.profiles.mix import Style, load_style
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.schema import Language
from toolroll.packs.writing.session.agent import POST_CONSENT, WritingContext
from toolroll.packs.writing.session.intents import find_platforms
from toolroll.packs.writing.session.interface import Assignment, DraftView, Outcome, Person, Question
from toolroll.packs.writing.session.session import WritingSession
from toolroll.packs.writing.texts.messages import choose_language


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """The options of the command."""

    request: str | None
    profile: str | None = None
    mix: tuple[str, str] | None = None
    platform: Platform | None = None
    notion: str | None = None
    model: str | None = None
    lang: str | None = None
    post_lang: Language | None = None

    @property
    def profiles(self) -> tuple[str, ...]:
        """Return the profiles to write by, the base first."""
        return self.mix or (self.profile or DEFAULT,)


def run_write(
    session: Session,
    request: str | None,
    *,
    profile: str | None,
    mix: tuple[str, str] | None,
    platform: Platform | None,
    notion: str | None,
    post_lang: Language | None,
    model: str | None,
    yes: bool,
    demo: bool,
    data: Path | None,
    lang: str | None,
) -> int:
    """Write a post, or show how one is written; return the exit code."""
    session.set_up_logging()
    if demo:
        code: int = load("toolroll.cli.ghostpen.demo:play_demo")(session, lang=lang)
        return code
    options = WriteOptions(
        request=request,
        profile=profile,
        mix=mix,
        platform=platform,
        notion=notion,
        model=model,
        lang=lang,
        post_lang=post_lang,
    )
    return write_post(CommandContext.open(session, data=data, lang=lang, yes=yes), options)


def write_post(context: CommandContext, options: WriteOptions) -> int:
    """Write one post and return the exit code."""
    with translate_errors(context.lang):
        if options.profile is not None and options.mix is not None:
            raise UsageError(context.text("profile_and_mix"))
        style = load_style(context.profiles, *options.profiles)
    # Now that the profile is known, its language counts if nobody has named another.
    context = replace(context, lang=choose_language(options.lang, os.environ, style.fields["language"]))
    with translate_errors(context.lang):
        named = choose_model(options.model)
        _check_request(context, options.request)
        model = connect_model(named, os.environ)  # its errors are reported before anybody types
        request = _ask_request(context) if options.request is None else options.request
        assignment = Assignment(
            request=request,
            platform=options.platform or _named_platform(context, request) or _first_platform(style),
            style=style,
            notion=options.notion,
            language=options.post_lang,
        )
        return asyncio.run(_run_session(context, assignment, named, model))


async def _run_session(context: CommandContext, assignment: Assignment, named: str, model: Model) -> int:
    interrupts = Interrupts(context.translate)
    lines = JsonRenderer(context.session) if context.session.json else None
    try:
        with closing(open_journal(os.environ)) as journal, interrupts.listen(), interrupts.cancel_here():
            person, writing = _open_person(context, _writing_context(context, assignment.style, named, journal))
            listener: Callable[[Event], None] = ProgressRenderer(assignment.style.profile_used, context.lang).on_event
            if lines is not None:
                person, listener = _JsonPerson(person, lines), lines.on_event
            watched = InterruptiblePerson(person, interrupts, listener)
            session = WritingSession(
                assignment, model, writing, watched, listener=watched.on_event, on_start=watched.on_start
            )
            outcome = await session.run(is_talk=context.terminal is not None and not context.yes, keep=context.yes)
    except asyncio.CancelledError:
        interrupts.settle()
        raise KeyboardInterrupt from None
    return _report(context, outcome, lines)


def _writing_context(context: CommandContext, style: Style, model: str, journal: RunLog) -> WritingContext:
    data = context.data.absolute()
    spec = AgentSpec.from_options(model=model, kind="write", root=str(data), profiles=style.profiles, lang=context.lang)
    return WritingContext(
        data=data, lang=context.lang, environment=with_keys(os.environ), journal=journal, record=spec.record
    )


def _open_person(context: CommandContext, writing: WritingContext) -> tuple[Person, WritingContext]:
    """Return the person, and the context with the approver who asks them; with --yes they have agreed already."""
    if context.terminal is None or context.yes:
        return AbsentPerson(context.session), replace(writing, outflow=Outflow(POST_CONSENT))
    person = TerminalPerson(context.terminal, context.lang, open_input(context.session, translate=context.translate))
    return person, replace(writing, approver=WritingApprover(context.terminal, person, context.lang, writing.outflow))


class _JsonPerson:
    """A person whose drafts are also written as JSON."""

    def __init__(self, person: Person, lines: JsonRenderer) -> None:
        self._person = person
        self._lines = lines

    async def ask(self, question: Question) -> str | None:
        return await self._person.ask(question)

    def say(self, text: str) -> None:
        self._person.say(text)

    def show_draft(self, draft: DraftView) -> None:
        self._person.show_draft(draft)
        self._lines.draft(draft)


def _report(context: CommandContext, outcome: Outcome, lines: JsonRenderer | None) -> int:
    """Report how it ended, and return the exit code."""
    code = _exit_code(outcome, kept=context.yes)
    if lines is not None:
        lines.write("run_finished", outcome_fields(outcome))
    elif outcome.end == "saved" and not context.yes and not context.session.out.isatty():
        context.session.write(str(outcome.file or outcome.notion_url))
    if outcome.end == "left" or (outcome.end == "drafted" and not outcome.is_whole):
        context.say("not_saved")
    elif outcome.end == "drafted" and not context.yes:
        context.say("wanted_to_save" if code == NEEDS_APPROVAL else "one_draft")
    return code


def _exit_code(outcome: Outcome, *, kept: bool) -> int:
    if outcome.is_cut_off:
        return STOPPED_BY_LIMIT
    if outcome.end == "drafted" and outcome.is_whole and outcome.wanted_to_save and not kept:
        return NEEDS_APPROVAL
    is_failed = outcome.end == "nothing" or not outcome.is_whole or (kept and outcome.end != "saved")
    return FAILED if is_failed else DONE


def _check_request(context: CommandContext, given: str | None) -> None:
    if context.terminal is None if given is None else not given.strip():
        raise UsageError(context.text("empty_request"))


def _ask_request(context: CommandContext) -> str:
    """Ask the person what the post is about."""
    assert context.terminal is not None  # `_check_request` has looked
    typed = context.terminal.ask(f"{context.text('ask_request')}\n> ") or ""
    _check_request(context, typed)
    return typed


def _named_platform(context: CommandContext, request: str) -> Platform | None:
    """Return the platform that the request is for, and say so where it names several."""
    found = find_platforms(request)
    if len(found) > 1:
        context.say("platforms_named", platform=found[0], others=", ".join(found[1:]))
    return next(iter(found), None)


def _first_platform(style: Style) -> Platform:
    return cast("Platform", next(iter(style.fields["platforms"])))


class InterruptiblePerson:
    """The same person, who is not asked any more once they have pressed Ctrl-C.

    What was done by then is still shown. KeyboardInterrupt ends the rest: before the model is asked again, and before
    the person is.
    """

    def __init__(self, person: Person, interrupts: Interrupts, listener: Callable[[Event], None]) -> None:
        self._person = person
        self._interrupts = interrupts
        self._listener = listener
        self._work = _Work()

    async def ask(self, question: Question) -> str | None:
        """Ask the person."""
        self._check()
        with self._interrupts.pause():
            return await self._person.ask(question)

    def say(self, text: str) -> None:
        """Show a message."""
        self._person.say(text)

    def show_draft(self, draft: DraftView) -> None:
        """Show a draft."""
        self._check()
        self._person.show_draft(draft)

    def on_start(self, run: LiveRun[None]) -> None:
        """Watch a run that is about to begin."""
        self._check()
        self._work = _Work(run)
        self._interrupts.watch(self._work)

    def on_event(self, event: Event) -> None:
        """Note which calls are running, and pass the event on."""
        if isinstance(event, CallStarted):
            self._work.calls.add(event.call.id)
            self._interrupts.watch(self._work)
        elif isinstance(event, CallFinished):
            self._work.calls.discard(event.call.id)
        self._listener(event)

    def _check(self) -> None:
        if self._interrupts.is_requested:
            raise KeyboardInterrupt


class _Work:
    """What Ctrl-C stops: a run, or calls of the program's own, which no run belongs to."""

    def __init__(self, run: LiveRun[None] | None = None) -> None:
        self._run = run
        self.calls: set[str] = set()

    @property
    def is_calling(self) -> bool:
        return bool(self.calls)

    @property
    def result(self) -> RunResult[object] | None:
        return None if self._run is None else self._run.result

    def stop(self) -> None:
        """Stop the run, if there is one; after a call of the program's own, nothing more is begun."""
        if self._run is not None:
            self._run.stop()
