"""One post, from the request to the saved file (W30): draft, checks, the person's word, the next draft, the end.

The program decides everything that must not depend on a model: when the profile is read, what is checked, what counts
as a yes, and what is saved. The model writes, and sorts feedback. This module is the conversation; `drafts` handles
the answers of the model, and `save` the end of a draft.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from toolroll.agent.events import CallFinished, Event
from toolroll.errors import ToolFailure, ToolrollError
from toolroll.kernel.call.context import utc_now
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, Message, ToolResults
from toolroll.models.model import Model
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.profiles.changes import list_changes
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.agent import OnStart, Writer, WritingContext, writing_agent
from toolroll.packs.writing.session.drafts import Drafts, rules_for
from toolroll.packs.writing.session.gate import Gate
from toolroll.packs.writing.session.intents import Intent, accepts_unfinished, find_language, parse_intent, parse_yes_no
from toolroll.packs.writing.session.interface import Assignment, EarlierDraft, End, Outcome, Person, Question
from toolroll.packs.writing.session.prompt import cut_off_prompt, request_prompt, update_prompt
from toolroll.packs.writing.session.save import DraftCloser, SaveIntent
from toolroll.packs.writing.session.tool_calls import call_tool, describe_call
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key, say
from toolroll.packs.writing.tools.notion_tools import read_notion_page

END: Final = "."
"""Alone on a line: the end of what was pasted."""


class WritingSession:
    """Writes one post with a person, or alone.

    `listener` is called with every event, and `on_start` with every run before it begins. With `earlier` the session
    goes on from the draft of another one, which it does not show again.
    """

    def __init__(
        self,
        assignment: Assignment,
        model: Model,
        context: WritingContext,
        person: Person,
        *,
        listener: Callable[[Event], None] = lambda _event: None,
        on_start: OnStart = lambda _run: None,
        clock: Callable[[], datetime] = utc_now,
        earlier: EarlierDraft | None = None,
        asks_to_save: bool = False,
    ) -> None:
        self._assignment = assignment
        self._asks_to_save = asks_to_save
        self._earlier = earlier
        self._style = assignment.style
        self._language = assignment.language or find_language(assignment.request)
        self._context = context
        self._person = person
        self._listener = listener
        self._is_alone = False
        self._store = ProfileStore(context.data)
        self._gate = Gate(base=self._style.base, is_personal=self._style.is_personal, on_proposal=self._explain_update)
        self._agent = writing_agent(model, self._style, self._gate, context)
        self._writer = Writer(
            self._agent,
            self._store,
            self._style.profiles,
            listener=self._on_event,
            on_start=on_start,
            messages=() if earlier is None else earlier.messages,
        )
        self._drafts = Drafts(
            assignment.request,
            self._writer,
            person,
            context.lang,
            lambda: rules_for(self._style.fields, assignment.platform, self._language),
        )
        if earlier is not None:
            self._drafts.restore(earlier.text, topic=earlier.topic, rounds=earlier.rounds)
        self._closer = DraftCloser(context, person, listener=self._on_event, clock=clock)

    async def run(self, *, is_talk: bool = True, keep: bool = False) -> Outcome:
        """Write the post: with a person who says what should be different, or one draft only; `keep` saves that one.

        Where nobody looks at the draft, it is saved only if it is marked as a post and complete.

        Raises what the store raises for a profile that cannot be read, and the `ModelError` of the first draft.
        """
        self._is_alone = keep or not is_talk
        async with self._agent:
            if self._earlier is None:
                await self._write_first()
                self._drafts.show()
            return await (self._end_alone(keep=keep) if self._is_alone else self._talk())

    async def _write_first(self) -> None:
        self._gate.start_turn(self._assignment.request)
        source, page = Source(), self._assignment.notion
        if page is not None:
            source = await read_source(page, self._context, self._person, self._on_source_event)
        prompt = request_prompt(
            self._assignment.request, self._assignment.platform, source.pasted, language=self._language
        )
        await self._drafts.take(await self._writer.answer(prompt, *source.messages), is_alone=self._is_alone)

    async def _end_alone(self, *, keep: bool) -> Outcome:
        if self._drafts.text is None:
            return self._outcome("nothing")
        if not keep or not self._drafts.is_whole:
            return self._outcome("drafted")
        return await self._save("both", is_agreed=True) or self._outcome("drafted")

    # --- What the person says -------------------------------------------------------------------------------

    async def _talk(self) -> Outcome:
        question = Question(text=self._say("ask_feedback"))
        while True:
            said = await self._person.ask(question)
            if self._drafts.has_unfinished and said is not None and accepts_unfinished(said):
                self._drafts.take_unfinished()
                self._drafts.show()
            elif (intent := self._parse(said)) is not None:
                ended = await self._follow(intent)
                if ended is not None:
                    return ended
            elif said and said.strip():
                await self._next_round(said)
                self._drafts.show()

    def _parse(self, said: str | None) -> Intent | None:
        intent = "leave" if said is None else parse_intent(said)
        return intent if intent == "leave" or self._drafts.text is not None else None  # "ok" may answer the model

    async def _follow(self, intent: Intent) -> Outcome | None:
        """Save or leave as the person wants; return None where it does not come to that."""
        last = await self._confirm_leave() if intent == "leave" else intent
        if last is None:
            return None
        if last == "leave":
            return self._leave()
        # The person has just said so, about the draft they see; a surface may let them edit it once more.
        saved = await self._save(last, is_agreed=not self._asks_to_save)
        if saved is None:
            self._person.say(self._say("not_saved"))
        return saved

    async def _confirm_leave(self) -> Intent | None:
        """Ask somebody who wants to leave about the draft: leave it, save it after all, or None to continue."""
        question = Question(text=self._say("leave_unsaved"), kind="yes_no")
        while self._drafts.text is not None:
            answer = await self._person.ask(question)
            if answer is None:
                break  # closed twice: nobody is there any more
            agreed = parse_yes_no(answer)
            if agreed is False:
                return None
            intent: Intent | None = "leave" if agreed else parse_intent(answer)
            if intent is not None:
                return intent
        return "leave"

    # --- Feedback and the profile ---------------------------------------------------------------------------

    async def _next_round(self, said: str) -> None:
        """Give the model what the person said: feedback is counted, the draft rewritten, an update proposed."""
        self._gate.start_turn(said, is_feedback=self._drafts.text is not None)
        try:
            self._language = find_language(said) or self._language
            prompt = cut_off_prompt(said) if self._drafts.has_cut_off else said
            await self._drafts.take(await self._writer.answer(prompt))
            await self._propose_update()
            self._style = load_style(self._store, *self._style.profiles)  # an update counts from now on
        except ToolrollError as error:  # the draft is still there, to be saved or tried again
            self._person.say(describe_error(error, self._context.lang))

    async def _propose_update(self) -> None:
        """Ask the model for an update if feedback has come up often enough and it has proposed none (W30)."""
        if not self._gate.reached or self._gate.has_proposed:
            return
        if not self._style.is_personal:
            self._person.say(self._say("reference_profile", name=self._style.base))
            return
        category, count = self._gate.reached[-1]
        self._gate.start_turn("", is_update_due=True)
        await self._writer.answer(update_prompt(category, count, self._style.base))

    def _explain_update(self, count: int, changes: Mapping[str, object]) -> None:
        """Say why the person is asked about their profile now, with the fields that would change."""
        before = self._store.read(self._style.base).fields
        fields = [one.path for one in list_changes(before, changes) if one.old != one.new]
        self._person.say(self._say("ask_update", count=count, field=", ".join(fields)))

    # --- The end --------------------------------------------------------------------------------------------

    async def _save(self, intent: SaveIntent, *, is_agreed: bool = False) -> Outcome | None:
        """Return the outcome if the draft was saved; None where the person, or the disk, refused."""
        draft, run_id = self._draft, self._run_id
        assert draft is not None
        saved = await self._closer.save(draft, intent, run_id, rounds=self._drafts.rounds, is_agreed=is_agreed)
        if saved is None:
            return None
        return replace(self._outcome("saved"), draft=saved.text, file=saved.file, notion_url=saved.notion_url)

    def _leave(self) -> Outcome:
        draft = self._draft
        if draft is None:
            return self._outcome("nothing")
        self._closer.leave(draft, rounds=self._drafts.rounds)
        return self._outcome("left")

    @property
    def _run_id(self) -> str:
        """Return the run that the draft is from, or was last spoken of in."""
        if self._writer.results:
            return self._writer.results[-1].run_id
        return "" if self._earlier is None else self._earlier.run_id

    @property
    def _draft(self) -> Draft | None:
        """Return the current draft as it would be saved."""
        if self._drafts.text is None:
            return None
        return Draft(
            content=self._drafts.text,
            platform=self._assignment.platform,
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

    # --- Events ---------------------------------------------------------------------------------------------

    def _on_source_event(self, event: Event) -> None:
        """Pass an event on; where nobody can paste the page instead, a failed read ends the post with its message."""
        is_end = self._is_alone and isinstance(event, CallFinished) and event.result.is_error
        (self._listener if is_end else self._on_event)(event)

    def _on_event(self, event: Event) -> None:
        self._listener(event)
        if not isinstance(event, CallFinished):
            return
        text = describe_call(event.call, event.result, self._context.lang)
        if text is not None:
            self._person.say(text)

    def _say(self, key: Key, **values: object) -> str:
        return say(key, self._context.lang, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a post is written from: the read of a page as a call and its result, or a text that was pasted."""

    messages: tuple[Message, ...] = ()
    pasted: str = ""


async def read_source(page: str, context: WritingContext, person: Person, listener: Callable[[Event], None]) -> Source:
    """Read the page; where that fails the person may paste its text. Raises `ToolFailure` where nobody can."""
    call, result = await call_tool(context, read_notion_page.name, {"page_id": page}, listener=listener)
    if not result.is_error:
        read = (
            AssistantMessage(blocks=(CallBlock(call=call),)),
            ToolResults(results=(result.to_message(call_id=call.id, name=call.name),)),
        )
        return Source(messages=read)
    pasted = await _ask_for_text(person, Question(text=say("paste_source", context.lang)))
    if pasted is None:
        raise ToolFailure(describe_call(call, result, context.lang) or result.text, code=result.code or "notion_error")
    return Source(pasted=pasted)


async def _ask_for_text(person: Person, question: Question) -> str | None:
    """Return all lines up to a dot, or an empty text for an empty first line; None where nobody answers."""
    first = await person.ask(question)
    if not first or first.strip() == END:
        return None if first is None else ""
    if "\n" in first:  # pasted as a whole
        return first
    lines = [first]
    more = Question(text="", kind="more")
    while (line := await person.ask(more)) is not None and line.strip() != END:
        lines.append(line)
    return "\n".join(lines)
