"""From a request to a saved post (W30): draft, checks, the person's word, the next draft, and what is kept at the end.

The program decides everything that must not depend on a model: when the profile is read, what is checked, what counts
as a yes, and what is saved. The model writes, and sorts feedback. Here is the conversation; what becomes of an answer
of the model is in `drafts`, and how a post is kept and counted in `ending`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from toolroll.agent.events import CallFinished, Event
from toolroll.agent.state import RunState
from toolroll.errors import ToolrollError
from toolroll.kernel.call.context import utc_now
from toolroll.models.model import Model
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.profiles.changes import list_changes
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.agent import Writer, WritingContext, writing_agent
from toolroll.packs.writing.session.draft_answer import rules_for
from toolroll.packs.writing.session.drafts import Drafts
from toolroll.packs.writing.session.gate import Gate
from toolroll.packs.writing.session.intents import Intent, accepts_unfinished, parse_intent, parse_yes_no
from toolroll.packs.writing.session.interface import Assignment, End, Outcome, Person
from toolroll.packs.writing.session.prompt import cut_off_prompt, request_prompt, update_prompt
from toolroll.packs.writing.session.save import DraftCloser
from toolroll.packs.writing.session.source import Source, read_source
from toolroll.packs.writing.texts.call_texts import describe_call
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key, say


class WritingSession:
    """One post, from its request to its end."""

    def __init__(
        self,
        assignment: Assignment,
        model: Model,
        place: WritingContext,
        person: Person,
        *,
        emit: Callable[[Event], None] = lambda _event: None,
        note: Callable[[RunState], None] = lambda _state: None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._asked = assignment
        self._style = assignment.style
        self._place = place
        self._person = person
        self._emit = emit
        self._is_alone = False
        self._store = ProfileStore(place.data)
        self._gate = Gate(base=self._style.base, tell=self._tell_why)
        self._agent = writing_agent(model, self._style, self._gate, place)
        self._writer = Writer(self._agent, self._store, self._style.profiles, hear=self._hear, note=note)
        self._drafts = Drafts(
            assignment.request,
            self._writer,
            person,
            place.lang,
            lambda: rules_for(self._style.fields, assignment.platform),
        )
        self._ending = DraftCloser(place, person, hear=self._hear, clock=clock)

    async def run(self, *, is_talk: bool = True, keep: bool = False) -> Outcome:
        """Write it: with a person who says what should be different, or one draft only; `keep` saves that one.

        Without a person to look at it, only what is marked as a post from its beginning to its end is saved.

        Raises what the store raises for a profile that cannot be read, and the `ModelError` of the first draft.
        """
        self._is_alone = keep or not is_talk
        async with self._agent:
            await self._first()
            self._drafts.show()
            return await (self._alone(keep=keep) if self._is_alone else self._talk())

    async def _first(self) -> None:
        self._gate.hear(self._asked.request)
        source, page = Source(), self._asked.notion
        if page is not None:
            source = await read_source(page, self._place, self._person, self._hear_source)
        prompt = request_prompt(self._asked.request, self._asked.platform, source.pasted)
        await self._drafts.take(await self._writer.answer(prompt, *source.messages), is_alone=self._is_alone)

    async def _alone(self, *, keep: bool) -> Outcome:
        if self._drafts.text is None:
            return self._outcome("nothing")
        if not keep or not self._drafts.is_whole:
            return self._outcome("drafted")
        return await self._kept("save", is_agreed=True) or self._outcome("drafted")

    # --- What the person says -------------------------------------------------------------------------------

    async def _talk(self) -> Outcome:
        while True:
            said = await self._person.ask(self._say("ask_feedback"))
            if self._drafts.has_unfinished and said is not None and accepts_unfinished(said):
                self._drafts.take_unfinished()
                self._drafts.show()
            elif (wish := self._wish(said)) is not None:
                ended = await self._granted(wish)
                if ended is not None:
                    return ended
            elif said and said.strip():
                await self._round(said)
                self._drafts.show()

    def _wish(self, said: str | None) -> Intent | None:
        wish = "leave" if said is None else parse_intent(said)
        return wish if wish == "leave" or self._drafts.text is not None else None  # "ok" may answer the model

    async def _granted(self, wish: Intent) -> Outcome | None:
        """The end that the person wants; None where it does not come to that."""
        last = await self._last_wish() if wish == "leave" else wish
        if last is None:
            return None
        if last == "leave":
            return self._left()
        kept = await self._kept(last)
        if kept is None:
            self._person.say(self._say("not_saved"))
        return kept

    async def _last_wish(self) -> Intent | None:
        """What somebody who wants to leave does with the draft: leave it, keep it after all, or None to go on."""
        question = say("yes_no", self._place.lang, question=self._say("leave_unsaved"))
        while self._drafts.text is not None:
            answer = await self._person.ask(question)
            if answer is None:
                break  # closed twice: nobody is there any more
            agreed = parse_yes_no(answer)
            if agreed is False:
                return None
            wish: Intent | None = "leave" if agreed else parse_intent(answer)
            if wish is not None:
                return wish
        return "leave"

    # --- Feedback and the profile ---------------------------------------------------------------------------

    async def _round(self, said: str) -> None:
        """What the person said goes to the model: feedback is counted, the draft written anew, an update proposed."""
        self._gate.hear(said, is_feedback=self._drafts.text is not None)
        try:
            prompt = cut_off_prompt(said) if self._drafts.has_unfinished else said
            await self._drafts.take(await self._writer.answer(prompt))
            await self._propose()
            self._style = load_style(self._store, *self._style.profiles)  # what was updated counts from now on
        except ToolrollError as error:  # the draft is still there, to be saved or tried again
            self._person.say(describe_error(error, self._place.lang))

    async def _propose(self) -> None:
        """Where feedback has come up often enough and the model has proposed nothing, it is asked to (W30)."""
        if not self._gate.reached or self._gate.has_proposed:
            return
        if not self._style.is_personal:
            self._person.say(self._say("reference_profile", name=self._style.base))
            return
        category, count = self._gate.reached[-1]
        self._gate.hear("", is_update_due=True)
        await self._writer.answer(update_prompt(category, count, self._style.base))

    def _tell_why(self, count: int, changes: Mapping[str, object]) -> None:
        """Why the person is asked about their profile now, with the fields that would be different."""
        before = self._store.read(self._style.base).fields
        fields = [one.path for one in list_changes(before, changes) if one.old != one.new]
        self._person.say(self._say("ask_update", count=count, field=", ".join(fields)))

    # --- The end -----------------------------------------------------------------------------------------------

    async def _kept(self, wish: Intent, *, is_agreed: bool = False) -> Outcome | None:
        """The end of it where the draft was kept; None where the person, or the disk, said no."""
        draft, run_id = self._draft, self._writer.results[-1].run_id
        assert draft is not None
        kept = await self._ending.keep(draft, wish, run_id, rounds=self._drafts.rounds, is_agreed=is_agreed)
        if kept is None:
            return None
        return replace(self._outcome("saved"), draft=kept.text, file=kept.file, notion_url=kept.notion_url)

    def _left(self) -> Outcome:
        draft = self._draft
        if draft is None:
            return self._outcome("nothing")
        self._ending.leave(draft, rounds=self._drafts.rounds)
        return self._outcome("left")

    @property
    def _draft(self) -> Draft | None:
        """The draft there is, as it would be kept."""
        if self._drafts.text is None:
            return None
        return Draft(
            content=self._drafts.text,
            platform=self._asked.platform,
            topic=self._drafts.topic,
            profile_used=self._style.profile_used,
        )

    def _outcome(self, end: End) -> Outcome:
        drafts = self._drafts
        return Outcome(
            end=end,
            draft=drafts.text or "",
            topic=drafts.topic,
            notes=drafts.notes,
            rounds=drafts.rounds,
            wanted_to_save=self._gate.wanted_to_save,
            results=tuple(self._writer.results),
            is_whole=drafts.is_whole or not self._is_alone,
            is_cut_off=drafts.is_cut_off and self._is_alone,
        )

    # --- What is told -------------------------------------------------------------------------------------------

    def _hear_source(self, event: Event) -> None:
        """Where nobody can paste the page instead, a read that fails ends the post with its own words."""
        is_end = self._is_alone and isinstance(event, CallFinished) and event.result.is_error
        (self._emit if is_end else self._hear)(event)

    def _hear(self, event: Event) -> None:
        self._emit(event)
        if not isinstance(event, CallFinished):
            return
        told = describe_call(event.call, event.result, self._place.lang)
        if told is not None:
            self._person.say(told)

    def _say(self, key: Key, **values: object) -> str:
        return say(key, self._place.lang, **values)
