"""The end of a post: it is kept where the person wants it, and how it fared is counted."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from toolroll.agent.events import Event
from toolroll.errors import ToolrollError
from toolroll.kernel.approval import ApprovalRequest, Approve, Decision
from toolroll.packs.writing.agent import Place
from toolroll.packs.writing.answers import Wish
from toolroll.packs.writing.asking import on_record
from toolroll.packs.writing.keeping import Keeper, Kept
from toolroll.packs.writing.messages import say
from toolroll.packs.writing.person import Person
from toolroll.packs.writing.post_file import Draft
from toolroll.packs.writing.profile import timestamp
from toolroll.packs.writing.stats import DraftLog, DraftRecord

_LOG: Final = logging.getLogger("toolroll.writing")


class _Yes:
    """The person has said so beforehand."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        return [Approve() for _ in requests]


class Ending:
    """Keeps a draft or leaves it, in one place, for one person; either is counted."""

    def __init__(
        self, place: Place, person: Person, *, hear: Callable[[Event], None], clock: Callable[[], datetime]
    ) -> None:
        self._place = place
        self._person = person
        self._hear = hear
        self._clock = clock

    async def keep(self, draft: Draft, wish: Wish, run_id: str, *, rounds: int, is_agreed: bool = False) -> Kept | None:
        """Keep it as the person wishes; None where they, or the disk, said no.

        It is counted as soon as it is saved, whatever follows. With `is_agreed` the person said yes beforehand.
        """
        place = self._asking(run_id, is_agreed=is_agreed)
        saved = partial(self._count, draft, rounds=rounds, is_accepted=True)
        keeper = Keeper(place, hear=self._hear, run_id=run_id, saved=saved)
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

    def _asking(self, run_id: str, *, is_agreed: bool) -> Place:
        """Where the question is asked. A yes from before is to this one call: the model's own have nobody to say it."""
        if is_agreed:
            place = replace(self._place, approver=_Yes())
            return on_record(place, run_id, who="the person, beforehand", clock=self._clock)
        return on_record(self._place, run_id, who="the person", clock=self._clock)
