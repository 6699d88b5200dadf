"""The desk of a writer on a page: posts that are being written, each by the same session as in a terminal.

What was said and every draft are kept in files, so that a page that is opened again, or a server that is started again,
shows them and goes on from the last draft.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from toolroll.agent.events import CallFinished, CallStarted, Event, Retrying, StepStarted, TextArrived, Warned
from toolroll.agent.live import LiveRun
from toolroll.agent.run import close_models
from toolroll.apps.desk_person import WORDS, Asked, DeskPerson, Finish
from toolroll.apps.desk_posts import DeskShelf, KeptPost
from toolroll.apps.feed import Feed
from toolroll.apps.models import absolute_model_name, choose_model, connect_model
from toolroll.apps.recorded_messages import read_messages
from toolroll.apps.spec import AgentSpec
from toolroll.errors import DecisionRefused, LockTimeout, RunMissing, ToolrollError
from toolroll.home.folders import find_folders
from toolroll.home.keys import with_keys
from toolroll.home.settings import read_settings
from toolroll.journal.conversations import CHAT
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.consent import Outflow
from toolroll.kernel.approval.request import Decision
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import Message
from toolroll.models.model import Model
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.posts.store import PostStore
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.gate import TRACK
from toolroll.packs.writing.session.intents import find_platforms
from toolroll.packs.writing.session.interface import Assignment, EarlierDraft, Outcome, Question
from toolroll.packs.writing.session.session import WritingSession
from toolroll.packs.writing.session.tool_calls import describe_feedback_count, parse_object
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Lang, known_language, say, translate
from toolroll.packs.writing.tools.toolset import SEARCH
from toolroll.safe.locks import FileLock

NEWS: Final = "post:"
"""What the names of posts begin with in the news, where chats have their ids alone."""

PostState: TypeAlias = Literal["writing", "asking", "deciding", "paused", "ended"]
"""`asking`: it is the person's turn. `deciding`: a call waits for their answer. `paused`: it can go on."""


@dataclass(slots=True)
class _Work:
    """A post that is being written in this process."""

    person: DeskPerson
    model: Model
    task: "asyncio.Task[None] | None" = None
    live: LiveRun[None] | None = None
    text: str = ""
    """What the model has written of an answer that is not complete."""

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostView:
    """A post of the desk as it stands."""

    post: KeptPost
    state: PostState
    question: Question | None = None
    asked: Asked | None = None
    writing: str = ""


class Desk:
    """All posts of the desk; use it in one event loop, and close it at the end."""

    def __init__(self, data: Path, journal: Journal, environment: Mapping[str, str], feed: Feed) -> None:
        self.data: Final = data
        self.profiles: Final = ProfileStore(data)
        self.posts: Final = PostStore(data)
        self._journal = journal
        self._environment = environment
        self._feed = feed
        self._shelf = DeskShelf(find_folders(environment).data)
        self._works: dict[str, _Work] = {}

    async def start(
        self,
        request: str,
        *,
        platform: Platform | None = None,
        profiles: tuple[str, ...] = (DEFAULT,),
        model: str | None = None,
        notion: str | None = None,
        lang: Lang = "en",
    ) -> str:
        """Begin a post, and return its id. Without a platform, the one that the request names counts."""
        style = load_style(self.profiles, *profiles)
        named = model or choose_model(read_settings(self._environment))
        found = (*find_platforms(request), *style.fields["platforms"])
        post = KeptPost(
            id=random_id(),
            created=time.time(),
            request=request,
            platform=platform or found[0],
            profiles=style.profiles,
            model=absolute_model_name(named),
            lang=known_language(lang),
            notion=notion,
        )
        with self._taking(post.id) as lock:
            self._begin(post, lock)
        return post.id

    async def tell(self, post_id: str, text: str) -> None:
        """Say what should be different, or answer a question; a post that was interrupted goes on."""
        work = self._works.get(post_id)
        if work is not None and work.is_running:
            work.person.tell(text)
            return
        await self.go_on(post_id, text)

    async def finish(self, post_id: str, how: Finish) -> None:
        """Save the draft, save it to Notion, or leave it; the session asks before it does."""
        await self.tell(post_id, WORDS[how])

    async def go_on(self, post_id: str, *said: str) -> None:
        """Go on with a post that was interrupted: from its last draft, or from the beginning."""
        if self.view(post_id).post.end is not None or self._is_running(post_id):
            raise DecisionRefused("This post is complete, or is being written. Begin another one.")
        with self._taking(post_id) as lock:
            await self._drop(post_id)
            post = self.view(post_id).post  # as the server that wrote it until now has left it
            earlier = None if not post.drafts else await self._find_earlier(post)
            self._begin(post.model_copy(update={"error": ""}), lock, *(said if earlier else ()), earlier=earlier)

    def answer(self, post_id: str, call_id: str, digest: str, decision: Decision) -> None:
        """Answer what a post asks about a call."""
        work = self._works.get(post_id)
        if work is None:
            raise DecisionRefused("Nothing is asked about this post. Look at it again.")
        work.person.answer(call_id, digest, decision)

    def stop(self, post_id: str) -> None:
        """Stop the model; the draft before stays."""
        work = self._works.get(post_id)
        if work is not None and work.live is not None:
            work.live.stop()

    async def remove(self, post_id: str) -> None:
        """Take a post from the desk; what was saved of it stays. DecisionRefused if another server is writing it."""
        await self._drop(post_id)
        if self._shelf.read(post_id) is None:
            return
        with self._taking(post_id) as lock:
            self._shelf.remove(post_id)
        self._shelf.unlock(lock)
        self._feed.change(NEWS + post_id)

    def view(self, post_id: str) -> PostView:
        """Return a post as it stands; RunMissing if there is none of that id."""
        work = self._works.get(post_id)
        # A post that is not being written here may have been written by another server since.
        post = work.person.post if work is not None and work.is_running else self._shelf.read(post_id)
        if post is None:
            raise RunMissing("There is no such post on the desk.")
        if work is None or not work.is_running:
            return PostView(post=post, state="paused" if post.end is None else "ended")
        person = work.person
        state: PostState = "deciding" if person.asked else "asking" if person.question else "writing"
        return PostView(post=post, state=state, question=person.question, asked=person.asked, writing=work.text)

    def list(self) -> list[PostView]:
        """Return all posts of the desk, the newest first."""
        return [self.view(post.id) for post in self._shelf.posts()]

    async def close(self) -> None:
        """Stop everything; each post can go on from what is kept."""
        for post_id in tuple(self._works):
            await self._drop(post_id)
        self.posts.close()

    def _is_running(self, post_id: str) -> bool:
        work = self._works.get(post_id)
        return work is not None and work.is_running

    async def _drop(self, post_id: str) -> None:
        """End what this process does for a post, and let go of it."""
        work = self._works.pop(post_id, None)
        if work is None:
            return
        if work.task is not None and not work.task.done():
            work.task.cancel()
            await asyncio.wait([work.task])
        await close_models([work.model])

    async def _find_earlier(self, post: KeptPost) -> EarlierDraft:
        last = post.drafts[-1]
        messages: tuple[Message, ...] = ()
        with suppress(RunMissing):  # cut off before its first record was written
            messages = read_messages(await self._journal.read(post.run_id))
        return EarlierDraft(
            text=last.text,
            topic=post.topic,
            rounds=last.number,
            run_id=post.run_id,
            messages=messages,
        )

    def _begin(self, post: KeptPost, lock: FileLock, *said: str, earlier: EarlierDraft | None = None) -> None:
        model = connect_model(post.model, self._environment)
        outflow = Outflow()
        person = DeskPerson(post, outflow, self._keep, inbox=list(said))
        work = self._works[post.id] = _Work(person, model)
        if not post.lines:
            person.add_line("you", post.request)
        self._keep(post)
        work.task = asyncio.ensure_future(self._write(work, outflow, earlier))
        # From here on the lock is the task's. It is over only then: whoever looks on the news must not find it running.
        work.task.add_done_callback(lambda _task: self._end(work, lock))

    @contextmanager
    def _taking(self, post_id: str) -> Iterator[FileLock]:
        """Take the lock of a post, and keep it unless the block fails."""
        lock = self._shelf.lock(post_id)
        try:
            lock.acquire()
        except LockTimeout as error:
            raise DecisionRefused("Another server is writing this post. Go on there, or end that server.") from error
        try:
            yield lock
        except BaseException:
            self._shelf.unlock(lock)
            raise

    def _end(self, work: _Work, lock: FileLock) -> None:
        self._shelf.unlock(lock)
        self._feed.change(NEWS + work.person.post.id)

    def _keep(self, post: KeptPost) -> None:
        work = self._works.get(post.id)
        self._shelf.write(post if work is None else work.person.post)
        self._feed.change(NEWS + post.id)

    async def _write(self, work: _Work, outflow: Outflow, earlier: EarlierDraft | None) -> None:
        person, post = work.person, work.person.post
        changed: dict[str, object] = {}
        try:
            style = load_style(self.profiles, *post.profiles)
            session = WritingSession(
                Assignment(request=post.request, platform=post.platform, style=style, notion=post.notion),
                work.model,
                self._context(post, person, outflow),
                person,
                listener=lambda event: self._listen(work, style.profile_used, event),
                on_start=lambda run: self._watch(work, run),
                asks_to_save=True,
                earlier=earlier,
            )
            changed = _outcome_fields(await session.run())
        except ToolrollError as error:
            changed = {"error": describe_error(error, post.lang)}
        finally:
            work.live, work.text = None, ""
            person.post = person.post.model_copy(update=changed)
            self._shelf.write(person.post)

    def _context(self, post: KeptPost, person: DeskPerson, outflow: Outflow) -> WritingContext:
        data = self.data.absolute()
        spec = AgentSpec(
            model=post.model,
            kind="write",
            root=str(data),
            folder=str(data),
            profiles=post.profiles,
            lang=post.lang,
        )
        return WritingContext(
            data=data,
            lang=post.lang,
            environment=with_keys(self._environment),
            approver=person,
            journal=self._journal,
            record={**spec.record, CHAT: post.id},
            outflow=outflow,
        )

    def _watch(self, work: _Work, run: LiveRun[None]) -> None:
        work.live = run
        work.person.post = work.person.post.model_copy(update={"run_id": run.run_id})

    def _listen(self, work: _Work, profile_used: str, event: Event) -> None:
        post_id = work.person.post.id
        match event:
            case TextArrived(text=text):
                self._feed.write(NEWS + post_id, text, at=len(work.text))
                work.text += text
            case StepStarted():
                work.text = ""
            case _:
                pass
        note = _describe(event, profile_used, work.person.post.lang)
        if note is not None:
            work.person.add_line("note", note)


def _outcome_fields(outcome: Outcome) -> dict[str, object]:
    return {
        "end": outcome.end,
        "topic": outcome.topic,
        "file": outcome.file,
        "notion_url": outcome.notion_url,
    }


def _describe(event: Event, profile_used: str, lang: Lang) -> str | None:
    """Return what a person reads while they wait; None for what is not for them."""
    match event:
        case StepStarted(number=1):
            return say("writing", lang, profile=profile_used)
        case CallStarted(call=call) if call.name == SEARCH:
            return say("searching", lang, query=parse_object(call.arguments).get("query", ""))
        case CallFinished(call=call, result=result) if call.name == TRACK:
            return describe_feedback_count(result, lang)
        case Warned(text=text):
            return translate(text, lang)
        case Retrying(reason=reason):
            return say("asked_again", lang, reason=reason)
        case _:
            return None
