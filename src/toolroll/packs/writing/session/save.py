"""Save a finished post where the person wants it, and count how its draft ended.

The program makes these calls itself. They go through the same checks, questions and answers as calls of a model.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Final

from toolroll.agent.events import CallFinished, CallStarted, Event
from toolroll.errors import JsonRefused, ToolrollError
from toolroll.home.keys import with_keys
from toolroll.journal import records
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.call.context import Run, random_id
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.toolset import Toolset
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.posts.stats import DraftLog, DraftRecord
from toolroll.packs.writing.profiles.schema import timestamp
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.approval_record import record_approvals
from toolroll.packs.writing.session.intents import Intent
from toolroll.packs.writing.session.interface import Person
from toolroll.packs.writing.texts.messages import say
from toolroll.packs.writing.tools.notion_tools import DATABASE, SAVE, TOKEN

MAX_TITLE_CHARACTERS: Final = 100
"""Of a page in Notion that nobody gave a title: its first line, cut."""

OWN_CALL_PREFIX: Final = "own_"
"""What the ids of the program's own calls begin with."""

SAVED_STATE: Final = "saved"
"""The name under which a run keeps where its post is."""

_LOG: Final = logging.getLogger("toolroll.writing")

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedDraft:
    """A post that is kept: its text, which the person may have changed, and where it is."""

    text: str
    file: str | None = None
    notion_url: str | None = None


async def call_tool(
    place: WritingContext,
    name: str,
    arguments: Fields,
    *,
    hear: Callable[[Event], None],
    make_id: Callable[[], str] = random_id,
) -> tuple[ToolCall, ToolResult]:
    """Make one call in the person's name; both are told as those of a model are."""
    call = ToolCall(id=f"{OWN_CALL_PREFIX}{make_id()}", name=name, arguments=dump_json(arguments))
    hear(CallStarted(call=call))
    started = perf_counter()
    async with Run(policy=Policy(), approver=place.approver, deps=place.deps, overrides=place.overrides) as run:
        [result] = await execute_step(Toolset(place.tools), [call], run)
    hear(CallFinished(call=call, result=result, duration_ms=(perf_counter() - started) * 1_000))
    return call, result


async def record_saved(place: WritingContext, run_id: str, kept: SavedDraft) -> None:
    """Put where a post is into the record of the run that wrote it. It is kept already: what fails here is logged."""
    if place.journal is None:
        return
    where = {name: value for name, value in (("file", kept.file), ("notion_url", kept.notion_url)) if value}
    try:
        await place.journal.append(run_id, records.StateSet(name=SAVED_STATE, value=where))
        await place.journal.release(run_id)
    except (ToolrollError, OSError) as error:
        _LOG.warning("the record of run %s does not tell where the post is: %s", run_id, error)


class PostSaver:
    """Keeps a post where the person wants it, after their yes; where it is goes on record with the run at once.

    `saved` is called once, as soon as the post is kept anywhere: the next question may be the end of the process.
    """

    def __init__(
        self,
        place: WritingContext,
        *,
        hear: Callable[[Event], None],
        run_id: str = "",
        saved: Callable[[], None] = lambda: None,
    ) -> None:
        self._place = place
        self._hear = hear
        self._run_id = run_id
        self._saved = saved

    async def keep(self, draft: Draft) -> SavedDraft | None:
        """In a file, and, where Notion is configured, as a page beside; None where it is not kept."""
        _, result = await call_tool(self._place, "save_to_file", _arguments(draft), hear=self._hear)
        answer = parse_object(result.text)
        if result.is_error:
            return None
        self._saved()
        kept = SavedDraft(text=str(answer.get("content", draft.content)), file=str(answer["file_path"]))
        await record_saved(self._place, self._run_id, kept)  # the question about a page may be the end of the process
        page = None if self.missing else await self._page(replace(draft, content=kept.text), file=kept.file)
        if page is None or page.notion_url is None:
            return kept
        kept = replace(kept, notion_url=page.notion_url)
        await record_saved(self._place, self._run_id, kept)
        return kept

    async def keep_in_notion(self, draft: Draft) -> SavedDraft | None:
        """As a page in Notion; where that fails, in a file."""
        kept = await self._page(draft)
        if kept is not None:
            self._saved()
            await record_saved(self._place, self._run_id, kept)
        return kept

    async def _page(self, draft: Draft, *, file: str | None = None) -> SavedDraft | None:
        """A page; where that fails, a file, unless it is in one already."""
        place = self._place
        if file is not None:
            place = replace(place, overrides={**place.overrides, SAVE.id: lambda: _already_saved(file)})
        arguments = {**_arguments(draft), "title": _title(draft)}
        _, result = await call_tool(place, "write_to_notion", arguments, hear=self._hear)
        answer = parse_object(result.text)
        if not result.is_error:
            return SavedDraft(text=draft.content, notion_url=str(answer["notion_url"]))
        instead = answer.get("save_to_file")
        saved = instead.get("file_path") if isinstance(instead, Mapping) else None
        return SavedDraft(text=draft.content, file=str(saved)) if saved else None

    @property
    def missing(self) -> str:
        """The settings without which there is no Notion; empty where it is configured."""
        environment = self._place.environment
        found = {TOKEN: with_keys(environment).get(TOKEN, ""), DATABASE: environment.get(DATABASE, "")}
        return ", ".join(name for name, value in found.items() if not value.strip())


def parse_object(text: str) -> Fields:
    """The object that a result is; nothing where it is none."""
    try:
        found = parse_json(text)
    except JsonRefused:
        return {}
    return found if isinstance(found, dict) else {}


def _already_saved(file: str) -> Callable[..., object]:
    async def save(**_given: object) -> Fields:
        return {"success": True, "file_path": file}

    return save


def _arguments(draft: Draft) -> dict[str, object]:
    return {
        "content": draft.content,
        "platform": draft.platform,
        "topic": draft.topic,
        "profile_used": draft.profile_used,
    }


def _title(draft: Draft) -> str:
    return draft.topic[:MAX_TITLE_CHARACTERS] or draft.content.partition("\n")[0][:MAX_TITLE_CHARACTERS]


class _AlwaysApprove:
    """The person has said so beforehand."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        return [Approve() for _ in requests]


class DraftCloser:
    """Keeps a draft or leaves it, in one place, for one person; either is counted."""

    def __init__(
        self, place: WritingContext, person: Person, *, hear: Callable[[Event], None], clock: Callable[[], datetime]
    ) -> None:
        self._place = place
        self._person = person
        self._hear = hear
        self._clock = clock

    async def keep(
        self, draft: Draft, wish: Intent, run_id: str, *, rounds: int, is_agreed: bool = False
    ) -> SavedDraft | None:
        """Keep it as the person wishes; None where they, or the disk, said no.

        It is counted as soon as it is saved, whatever follows. With `is_agreed` the person said yes beforehand.
        """
        place = self._asking(run_id, is_agreed=is_agreed)
        saved = partial(self._count, draft, rounds=rounds, is_accepted=True)
        keeper = PostSaver(place, hear=self._hear, run_id=run_id, saved=saved)
        if wish == "notion" and not keeper.missing:
            return await keeper.keep_in_notion(draft)
        if wish == "notion":  # the question that follows names the file, and nothing of a page
            self._person.say(say("notion_not_configured_saved", self._place.lang, missing=keeper.missing))
        return await keeper.keep(draft)

    def leave(self, draft: Draft, *, rounds: int) -> None:
        """Leave it unsaved."""
        self._count(draft, rounds=rounds, is_accepted=False)

    def _count(self, draft: Draft, *, rounds: int, is_accepted: bool) -> None:
        record = DraftRecord(
            at=timestamp(self._clock()),
            platform=draft.platform,
            profile=draft.profile_used,
            rounds=rounds,
            is_accepted=is_accepted,
        )
        try:
            DraftLog(self._place.data).add(record)
        except ToolrollError as error:  # numbers about drafts are no reason to lose one
            _LOG.warning("the draft was not counted: %s", error.message)

    def _asking(self, run_id: str, *, is_agreed: bool) -> WritingContext:
        """Where the question is asked. A yes from before is to this one call: the model's own have nobody to say it."""
        if is_agreed:
            place = replace(self._place, approver=_AlwaysApprove())
            return record_approvals(place, run_id, who="the person, beforehand", clock=self._clock)
        return record_approvals(self._place, run_id, who="the person", clock=self._clock)
