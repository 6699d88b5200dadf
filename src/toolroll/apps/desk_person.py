"""The person at the desk of a page: what they are asked waits until an answer comes, and everything is kept."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from toolroll.apps.desk_posts import KeptDraft, KeptLine, KeptPost
from toolroll.errors import DecisionRefused
from toolroll.kernel.approval.consent import Outflow
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.packs.writing.session.agent import POST_CONSENT
from toolroll.packs.writing.session.interface import DraftView, Question
from toolroll.packs.writing.session.questions import NO_SEARCHES, QUESTIONS
from toolroll.packs.writing.texts.messages import Key, say
from toolroll.packs.writing.tools.toolset import SEARCH

Finish: TypeAlias = Literal["save", "notion", "leave"]
WORDS: Final[dict[Finish, str]] = {"save": "save", "notion": "save to notion", "leave": "exit"}
"""What a button says to the session: words that it understands in every language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A call that the person is asked about, with the question in their language."""

    request: ApprovalRequest
    question: str


@dataclass(slots=True)
class DeskPerson:
    """The person of one post. `on_change` is called with the post whenever something was said, shown or asked."""

    post: KeptPost
    outflow: Outflow
    on_change: Callable[[KeptPost], None]
    question: Question | None = None
    asked: Asked | None = None
    inbox: list[str] = field(default_factory=list)
    """What was said before it was asked for."""
    _words: "asyncio.Future[str] | None" = None
    _decision: "asyncio.Future[Decision] | None" = None
    _is_search_declined: bool = False

    async def ask(self, question: Question) -> str | None:
        """Wait for what the person says."""
        if not self.inbox:
            self.question, self._words = question, asyncio.get_running_loop().create_future()
            if question.kind == "yes_no":
                self.add_line("says", question.text)
            self.change()
            try:
                self.inbox.append(await self._words)
            finally:
                self.question, self._words = None, None
        said = self.inbox.pop(0)
        self.add_line("you", said)
        return said

    def say(self, text: str) -> None:
        """Show a message."""
        self.add_line("says", text)

    def show_draft(self, draft: DraftView) -> None:
        """Show a draft; the same one again, after something else was done, is no new version."""
        if not self.post.drafts or self.post.drafts[-1].text != draft.text:
            shown = KeptDraft(number=draft.number, text=draft.text)
            self.post = self.post.model_copy(update={"drafts": (*self.post.drafts, shown)})
            self.add_line("draft", str(draft.number))

    async def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision]:
        """Return a decision for each call, once the person has seen it and answered."""
        return [await self._decide_one(request) for request in requests]

    def tell(self, text: str) -> None:
        """Take what the person says; DecisionRefused if nobody asks for it."""
        if self._words is None or self._words.done():
            raise DecisionRefused("The last word is still being worked on. Wait until the draft is there.")
        self._words.set_result(text)

    def answer(self, call_id: str, digest: str, decision: Decision) -> None:
        """Take the answer about a call, bound to what was shown; DecisionRefused if that is not asked."""
        asked, decided = self.asked, self._decision
        is_same = asked is not None and (asked.request.call_id, asked.request.digest) == (call_id, digest)
        if not is_same or decided is None or decided.done():
            raise DecisionRefused("What this is about has changed, or was answered. Look at it again.")
        decided.set_result(decision)

    def add_line(self, kind: Literal["you", "says", "note", "draft"], text: str) -> None:
        """Add to what was said."""
        self.post = self.post.model_copy(update={"lines": (*self.post.lines, KeptLine(kind=kind, text=text))})
        self.change()

    def change(self) -> None:
        """Tell that something is different."""
        self.on_change(self.post)

    async def _decide_one(self, request: ApprovalRequest) -> Decision:
        if request.tool == SEARCH and request.is_exposed:
            return await self._decide_search(request)
        decision = await self._ask_about(request, QUESTIONS.get(request.tool, "ask_allow"))
        if isinstance(decision, Reject) and request.tool == "update_style_profile":
            self.say(say("not_updated", self.post.lang))
        return decision

    async def _decide_search(self, request: ApprovalRequest) -> Decision:
        """Ask once for all searches of the post; then only about one that is beyond what was agreed on."""
        if self.outflow.consent is None:
            if not self._is_search_declined:
                bounds = {"calls": POST_CONSENT.calls, "characters": POST_CONSENT.characters}
                agreed = await self._ask_about(request, "ask_searches", **bounds)
                self._is_search_declined = isinstance(agreed, Reject)
            if self._is_search_declined:
                return Reject(NO_SEARCHES)
            self.outflow.grant(POST_CONSENT)
        if self.outflow.take(request.call_id, request.arguments) is None:
            return Approve()
        return await self._ask_about(request, "ask_search_alone")

    async def _ask_about(self, request: ApprovalRequest, key: Key, **values: object) -> Decision:
        self.asked = Asked(request=request, question=say(key, self.post.lang, **values))
        self._decision = asyncio.get_running_loop().create_future()
        self.change()
        try:
            return await self._decision
        finally:
            self.asked, self._decision = None, None
