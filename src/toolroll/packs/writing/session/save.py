"""Save a finished post where the person wants it, and count how its draft ended."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final, Literal, TypeAlias

from toolroll.agent.events import Event
from toolroll.errors import ToolrollError
from toolroll.home.keys import with_keys
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.posts.stats import DraftLog, DraftRecord
from toolroll.packs.writing.profiles.schema import timestamp
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.intents import Intent
from toolroll.packs.writing.session.interface import Person
from toolroll.packs.writing.session.tool_calls import Who, call_tool, parse_object, record_approvals, record_state
from toolroll.packs.writing.texts.messages import say
from toolroll.packs.writing.tools.notion_tools import DATABASE, SAVE, TOKEN

MAX_TITLE_CHARACTERS: Final = 100
"""Of a page in Notion that nobody gave a title: its first line, cut."""

SAVED_STATE: Final = "saved"
"""The name under which a run keeps where its post is."""

_LOG: Final = logging.getLogger("toolroll.writing")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedDraft:
    """A post that was saved: its text, which the person may have changed, and where it is."""

    text: str
    file: str | None = None
    notion_url: str | None = None


SaveIntent: TypeAlias = Intent | Literal["both"]
"""What the person wants: the file, the page with the file beside it, or (said beforehand) both."""


class DraftCloser:
    """Ends a draft: saves it or leaves it, and counts either."""

    def __init__(
        self,
        context: WritingContext,
        person: Person,
        *,
        listener: Callable[[Event], None],
        clock: Callable[[], datetime],
    ) -> None:
        self._context = context
        self._person = person
        self._listener = listener
        self._clock = clock

    async def save(
        self, draft: Draft, intent: SaveIntent, run_id: str, *, rounds: int, is_agreed: bool = False
    ) -> SavedDraft | None:
        """Save it as the person wants; return None where they, or the disk, refused.

        It is counted as soon as it is saved, whatever follows. With `is_agreed` the person has said that it is to be
        saved: to a file only ("save"), in which case they are asked about a page, or to a page too.
        """
        count = partial(self._count, draft, rounds=rounds, is_accepted=True)
        context = self._approving_context(run_id, is_agreed=is_agreed, is_beforehand=intent == "both")
        asking = self._approving_context(run_id, is_agreed=False)
        page_context = asking if intent == "save" else context
        saver = PostSaver(context, page_context, listener=self._listener, run_id=run_id, on_saved=count)
        if intent == "notion" and saver.missing:
            self._person.say(say("notion_not_configured_saved", self._context.lang, missing=saver.missing))
        return await saver.save(draft, needs_file=intent != "notion")

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
            DraftLog(self._context.data).add(record)
        except ToolrollError as error:  # statistics are no reason to lose a draft
            _LOG.warning("the draft was not counted: %s", error.message)

    def _approving_context(self, run_id: str, *, is_agreed: bool, is_beforehand: bool = False) -> WritingContext:
        """Return the context to save in. What the person said counts for this call, never for calls of the model."""
        if is_agreed:
            context = replace(self._context, approver=_AlwaysApprove())
            who: Who = "the person, beforehand" if is_beforehand else "the person"
            return record_approvals(context, run_id, who=who, clock=self._clock)
        return record_approvals(self._context, run_id, who="the person", clock=self._clock)


class PostSaver:
    """Saves a post after the person's yes; where it is goes into the record of the run at once.

    `on_saved` is called once, as soon as the post is saved anywhere: the next question may be the end of the process.
    """

    def __init__(
        self,
        context: WritingContext,
        page_context: WritingContext | None = None,
        *,
        listener: Callable[[Event], None],
        run_id: str = "",
        on_saved: Callable[[], None] = lambda: None,
    ) -> None:
        self._context = context
        self._page_context = page_context or context
        self._listener = listener
        self._run_id = run_id
        self._on_saved = on_saved

    async def save(self, draft: Draft, *, needs_file: bool = True) -> SavedDraft | None:
        """Save it to a file and, where Notion is configured, to a page as well; return None where it was not saved.

        Where the disk refuses, a page alone will do, unless the file is needed.
        """
        _, result = await call_tool(self._context, "save_to_file", _arguments(draft), listener=self._listener)
        answer = parse_object(result.text)
        if result.is_error:
            return None if needs_file or self.missing else await self._save_page_alone(draft)
        self._on_saved()
        saved = SavedDraft(text=str(answer.get("content", draft.content)), file=str(answer["file_path"]))
        await self._record(saved)  # the question about a page may be the end of the process
        page = None if self.missing else await self._save_page(replace(draft, content=saved.text), file=saved.file)
        if page is None or page.notion_url is None:
            return saved
        saved = replace(saved, notion_url=page.notion_url)
        await self._record(saved)
        return saved

    async def _save_page_alone(self, draft: Draft) -> SavedDraft | None:
        saved = await self._save_page(draft)
        if saved is not None:
            self._on_saved()
            await self._record(saved)
        return saved

    @property
    def missing(self) -> str:
        """Return the settings that Notion needs and that are not set; empty where it is configured."""
        environment = self._context.environment
        found = {TOKEN: with_keys(environment).get(TOKEN, ""), DATABASE: environment.get(DATABASE, "")}
        return ", ".join(name for name, value in found.items() if not value.strip())

    async def _save_page(self, draft: Draft, *, file: str | None = None) -> SavedDraft | None:
        """Save it to a page; where that fails, to a file, unless it is in one already."""
        context = self._page_context
        if file is not None:
            context = replace(context, overrides={**context.overrides, SAVE.id: lambda: _already_saved(file)})
        title = draft.topic or draft.content.partition("\n")[0]
        arguments = {**_arguments(draft), "title": title[:MAX_TITLE_CHARACTERS]}
        _, result = await call_tool(context, "write_to_notion", arguments, listener=self._listener)
        answer = parse_object(result.text)
        if not result.is_error:
            return SavedDraft(text=draft.content, notion_url=str(answer["notion_url"]))
        instead = answer.get("save_to_file")
        saved = instead.get("file_path") if isinstance(instead, Mapping) else None
        return SavedDraft(text=draft.content, file=str(saved)) if saved else None

    async def _record(self, saved: SavedDraft) -> None:
        if self._context.journal is not None:
            places = {"file": saved.file, "notion_url": saved.notion_url}
            value = {name: place for name, place in places.items() if place}
            await record_state(self._context.journal, self._run_id, SAVED_STATE, value)


class _AlwaysApprove:
    """Approves what the person has agreed to beforehand."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        return [Approve() for _ in requests]


def _already_saved(file: str) -> Callable[..., object]:
    async def save(**_given: object) -> Mapping[str, object]:
        return {"success": True, "file_path": file}

    return save


def _arguments(draft: Draft) -> dict[str, object]:
    return {
        "content": draft.content,
        "platform": draft.platform,
        "topic": draft.topic,
        "profile_used": draft.profile_used,
    }
