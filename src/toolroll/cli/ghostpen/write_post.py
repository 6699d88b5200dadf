"""One post from the command line: what was asked for, who is asked, and what the command ends with."""

import asyncio
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, cast

from toolroll.agent.events import Event
from toolroll.apps.models import connect_model
from toolroll.apps.run_log import open_journal
from toolroll.apps.spec import AgentSpec
from toolroll.cli.ghostpen.agent import choose_model
from toolroll.cli.ghostpen.context import CommandContext, translate_errors
from toolroll.cli.ghostpen.interrupt import InterruptiblePerson
from toolroll.cli.ghostpen.person import AbsentPerson, TerminalPerson, WritingApprover
from toolroll.cli.ghostpen.render import JsonRenderer, ProgressRenderer, outcome_fields
from toolroll.cli.interrupts import Interrupts
from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, STOPPED_BY_LIMIT
from toolroll.errors import UsageError
from toolroll.home.keys import with_keys
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.model import Model
from toolroll.packs.writing.posts.post_file import Platform
from toolroll.packs.writing.profiles.mix import Style, load_style
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.intents import find_platforms
from toolroll.packs.writing.session.interface import Assignment, DraftView, Outcome, Person
from toolroll.packs.writing.session.session import WritingSession
from toolroll.packs.writing.texts.messages import choose_language

_EMPTY: Final = "The request is empty. Say what the post is about: ghostpen 'post about X for LinkedIn'."


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """What was asked for on the command line."""

    request: str | None
    profile: str | None = None
    mix: tuple[str, str] | None = None
    platform: Platform | None = None
    notion: str | None = None
    model: str | None = None
    lang: str | None = None

    def __post_init__(self) -> None:
        if self.profile is not None and self.mix is not None:
            raise UsageError("--profile and --mix exclude each other: a mix names its base.")

    @property
    def profiles(self) -> tuple[str, ...]:
        """The profiles to write by, the base first."""
        return self.mix or (self.profile or DEFAULT,)


def write_post(desk: CommandContext, wanted: WriteOptions) -> int:
    """Write one post; the exit code."""
    with translate_errors(desk.lang):
        style = load_style(desk.profiles, *wanted.profiles)
    # Now that the profile is known, its own language counts, where nobody has named another.
    desk = replace(desk, lang=choose_language(wanted.lang, os.environ, style.fields["language"]))
    with translate_errors(desk.lang):
        named = choose_model(wanted.model)
        _check_request(desk, wanted.request)
        model = connect_model(named, os.environ)  # what is wrong with it is said before anybody types
        request = _ask_request(desk) if wanted.request is None else wanted.request
        assignment = Assignment(
            request=request,
            platform=wanted.platform or _named_platform(desk, request) or _first_platform(style),
            style=style,
            notion=wanted.notion,
        )
        return asyncio.run(_run_session(desk, assignment, named, model))


async def _run_session(desk: CommandContext, assignment: Assignment, named: str, model: Model) -> int:
    stopping = Interrupts(desk.spoken)
    lines = JsonRenderer(desk.session) if desk.session.json else None
    try:
        with closing(open_journal(os.environ)) as journal, stopping.listen(), stopping.cancel_here():
            person, place = _open_person(desk, _writing_context(desk, assignment.style, named, journal))
            hear: Callable[[Event], None] = ProgressRenderer(assignment.style.profile_used, desk.lang).on_event
            if lines is not None:
                person, hear = _JsonPerson(person, lines), lines.on_event
            stopped = InterruptiblePerson(person, stopping, hear)
            flow = WritingSession(assignment, model, place, stopped, emit=stopped.on_event, note=stopped.note)
            outcome = await flow.run(is_talk=desk.terminal is not None and not desk.yes, keep=desk.yes)
    except asyncio.CancelledError:
        stopping.settle()
        raise KeyboardInterrupt from None
    return _report(desk, outcome, lines)


def _writing_context(desk: CommandContext, style: Style, model: str, journal: SqliteJournal) -> WritingContext:
    data = desk.data.absolute()
    spec = AgentSpec.from_options(model=model, kind="write", root=str(data), profiles=style.profiles, lang=desk.lang)
    return WritingContext(
        data=data, lang=desk.lang, environment=with_keys(os.environ), journal=journal, settings=spec.record
    )


def _open_person(desk: CommandContext, place: WritingContext) -> tuple[Person, WritingContext]:
    """Who the post is for, and the place with whom to ask; with --yes the person has spoken already."""
    if desk.terminal is None or desk.yes:
        return AbsentPerson(desk.session), place
    from toolroll.cli.chat.input import open_input  # noqa: PLC0415 - only where somebody is asked

    person = TerminalPerson(desk.terminal, desk.lang, open_input(desk.session, translate=desk.spoken))
    return person, replace(place, approver=WritingApprover(desk.terminal, person, desk.lang))


class _JsonPerson:
    """A person whose drafts are told as JSON, too."""

    def __init__(self, person: Person, lines: JsonRenderer) -> None:
        self._person = person
        self._lines = lines

    async def ask(self, prompt: str) -> str | None:
        return await self._person.ask(prompt)

    def say(self, text: str) -> None:
        self._person.say(text)

    def show_draft(self, draft: DraftView) -> None:
        self._person.show_draft(draft)
        self._lines.draft(draft)


def _report(desk: CommandContext, outcome: Outcome, lines: JsonRenderer | None) -> int:
    """Say how it ended; the exit code."""
    code = _exit_code(outcome, kept=desk.yes)
    if lines is not None:
        lines.write("run_finished", outcome_fields(outcome))
    elif outcome.end == "saved" and not desk.yes and not desk.session.out.isatty():
        desk.session.write(str(outcome.file or outcome.notion_url))
    if outcome.end == "left" or (outcome.end == "drafted" and not outcome.is_whole):
        desk.say("not_saved")
    elif outcome.end == "drafted" and not desk.yes:
        desk.say("wanted_to_save" if code == NEEDS_APPROVAL else "one_draft")
    return code


def _exit_code(outcome: Outcome, *, kept: bool) -> int:
    if outcome.is_cut_off:
        return STOPPED_BY_LIMIT
    if outcome.end == "drafted" and outcome.is_whole and outcome.wanted_to_save and not kept:
        return NEEDS_APPROVAL
    is_failed = outcome.end == "nothing" or not outcome.is_whole or (kept and outcome.end != "saved")
    return FAILED if is_failed else DONE


def _check_request(desk: CommandContext, given: str | None) -> None:
    if desk.terminal is None if given is None else not given.strip():
        raise UsageError(_EMPTY)


def _ask_request(desk: CommandContext) -> str:
    """What the person wants, where they did not say it on the command line."""
    assert desk.terminal is not None  # `_check_request` has looked
    typed = desk.terminal.ask(f"{desk.words('ask_request')}\n> ") or ""
    _check_request(desk, typed)
    return typed


def _named_platform(desk: CommandContext, request: str) -> Platform | None:
    """The platform that the request is for; where it names others too, that is told."""
    found = find_platforms(request)
    if len(found) > 1:
        desk.say("platforms_named", platform=found[0], others=", ".join(found[1:]))
    return next(iter(found), None)


def _first_platform(style: Style) -> Platform:
    return cast("Platform", next(iter(style.fields["platforms"])))
