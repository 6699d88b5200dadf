"""From a request to a saved post (W30): draft, checks, the person's word, the next draft, and what is kept at the end.

The program decides everything that must not depend on a model: when the profile is read, what is checked, what counts
as a yes, and what is saved. The model writes, and sorts feedback.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from toolroll.agent.agent import Agent
from toolroll.agent.events import CallFinished, Event
from toolroll.agent.finish import NO_ANSWER
from toolroll.agent.result import RunResult
from toolroll.agent.run import new_run, play
from toolroll.agent.state import RunState
from toolroll.errors import ToolrollError
from toolroll.kernel.approval import ApprovalRequest, Approve, Decision
from toolroll.kernel.context import utc_now
from toolroll.kernel.conversation import Message
from toolroll.models.model import Model
from toolroll.packs.writing.agent import Place, writing_agent
from toolroll.packs.writing.answers import Wish, is_yes, takes_unfinished, wish_of
from toolroll.packs.writing.asking import Who, on_record
from toolroll.packs.writing.changes import differences
from toolroll.packs.writing.checks import Report, check_draft
from toolroll.packs.writing.drafting import Answer, read_answer, rules_of, topic_of
from toolroll.packs.writing.error_texts import told_of
from toolroll.packs.writing.gate import Gate
from toolroll.packs.writing.keeping import Keeper, Kept
from toolroll.packs.writing.messages import Key, say
from toolroll.packs.writing.mixing import Style, style_of
from toolroll.packs.writing.person import Person, Shown
from toolroll.packs.writing.post_file import Draft, Platform
from toolroll.packs.writing.profile import timestamp
from toolroll.packs.writing.profiles import ProfileStore
from toolroll.packs.writing.prompt import cut_off_prompt, passage_prompt, repair_prompt, request_prompt, update_prompt
from toolroll.packs.writing.rule import drafting_turn
from toolroll.packs.writing.source import Source, read_source
from toolroll.packs.writing.stats import DraftLog, DraftRecord
from toolroll.packs.writing.told import told_of_call

__all__ = ["Assignment", "End", "Flow", "Outcome", "Person", "Shown"]

End: TypeAlias = Literal["saved", "left", "drafted", "nothing"]
"""How it ended: the draft was kept, left, only shown, or there is none."""

_ENDED_WELL: Final = ("answer", "done", "condition")

_LOG: Final = logging.getLogger("toolroll.writing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What is to be written: for which platform, in which style, and from which page of Notion, if from one."""

    request: str
    platform: Platform
    style: Style
    notion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of it. `results` are all runs that it took, in their order.

    Where nobody could look at it, `is_whole` says that the draft is marked as a post and has its end, and `is_cut_off`
    that the model was stopped before it.
    """

    end: End
    draft: str
    topic: str
    notes: tuple[str, ...]
    rounds: int
    wanted_to_save: bool
    results: tuple[RunResult[object], ...]
    file: str | None = None
    notion_url: str | None = None
    is_whole: bool = True
    is_cut_off: bool = False


class _Yes:
    """The person has said so beforehand."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        return [Approve() for _ in requests]


class Flow:
    """One post, from its request to its end."""

    def __init__(
        self,
        assignment: Assignment,
        model: Model,
        place: Place,
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
        self._note = note
        self._clock = clock
        self._store = ProfileStore(place.data)
        self._gate = Gate(base=self._style.base, tell=self._tell_why)
        self._model = model
        self._messages: tuple[Message, ...] = ()
        self._results: list[RunResult[object]] = []
        self._draft: str | None = None
        self._lacks_end = False
        self._unfinished: Answer | None = None  # cut off in a later round: it does not replace a draft that has its end
        self._topic = ""
        self._notes: tuple[str, ...] = ()
        self._rounds = 0
        self._words = ""
        self._is_alone = False
        self._is_whole = True
        self._is_cut_off = False

    async def run(self, *, is_talk: bool = True, keep: bool = False) -> Outcome:
        """Write it: with a person who says what should be different, or one draft only; `keep` saves that one.

        Without a person to look at it, only what is marked as a post from its beginning to its end is saved.

        Raises what the store raises for a profile that cannot be read, and the `ModelError` of the first draft.
        """
        self._is_alone = keep or not is_talk
        async with writing_agent(self._model, self._style, self._gate, self._place) as agent:
            await self._first(agent)
            return await (self._alone(keep=keep) if self._is_alone else self._talk(agent))

    async def _alone(self, *, keep: bool) -> Outcome:
        self._show()
        if self._draft is None:
            return self._outcome("nothing")
        if not keep or not self._is_whole:
            return self._outcome("drafted")
        # The yes is to this one call: the model's own have nobody who would say it.
        allowed = replace(self._place, approver=_Yes())
        return await self._kept("save", allowed) or self._outcome("drafted")

    async def _first(self, agent: Agent[None]) -> None:
        self._gate.hear(self._asked.request)
        source, page = Source(), self._asked.notion
        if page is not None:
            source = await read_source(page, self._place, self._person, self._hear_source)
        prompt = request_prompt(self._asked.request, self._asked.platform, source.pasted)
        await self._take(agent, await self._played(agent, (*self._turn(prompt), *source.messages)))

    async def _talk(self, agent: Agent[None]) -> Outcome:
        self._show()
        while True:
            said = await self._person.ask(self._say("ask_feedback"))
            if self._unfinished is not None and said is not None and takes_unfinished(said):
                self._keep_cut_off(self._unfinished, self._unfinished.draft or "")
                self._show()
                continue
            wish = self._wish(said)
            ended = None if wish is None else await self._granted(wish)
            if ended is not None:
                return ended
            if wish is None and said and said.strip():
                await self._round(agent, said)
                self._show()

    def _wish(self, said: str | None) -> Wish | None:
        wish = "leave" if said is None else wish_of(said)
        return wish if wish == "leave" or self._draft is not None else None  # "ok" may answer what the model asks

    async def _granted(self, wish: Wish) -> Outcome | None:
        """The end that the person wants; None where it does not come to that."""
        last = await self._last_wish() if wish == "leave" else wish
        if last is None:
            return None
        if last == "leave":
            return self._ended(self._outcome("nothing" if self._draft is None else "left"))
        kept = await self._kept(last)
        if kept is None:
            self._person.say(self._say("not_saved"))
        return kept

    async def _last_wish(self) -> Wish | None:
        """What somebody who wants to leave does with the draft: leave it, keep it after all, or None to go on."""
        question = say("yes_no", self._place.lang, question=self._say("leave_unsaved"))
        while self._draft is not None:
            answer = await self._person.ask(question)
            if answer is None:
                break  # closed twice: nobody is there any more
            agreed = is_yes(answer)
            if agreed is False:
                return None
            wish: Wish | None = "leave" if agreed else wish_of(answer)
            if wish is not None:
                return wish
        return "leave"

    async def _round(self, agent: Agent[None], said: str) -> None:
        """What the person said goes to the model: feedback is counted, the draft written anew, an update proposed."""
        self._gate.hear(said, is_feedback=self._draft is not None)
        try:
            prompt = said if self._unfinished is None else cut_off_prompt(said)
            await self._take(agent, await self._played(agent, self._turn(prompt)))
            await self._propose(agent)
            self._style = style_of(self._store, *self._style.profiles)  # what was updated counts from now on
        except ToolrollError as error:  # the draft is still there, to be saved or tried again
            self._person.say(told_of(error, self._place.lang))

    # --- Drafts -------------------------------------------------------------------------------------------

    async def _take(self, agent: Agent[None], result: RunResult[object]) -> None:
        """The draft of a run, checked, and put right by one more call where it has to be."""
        answer = _answer_of(result, self._draft)
        if answer.missed:
            result = await self._played(agent, self._turn(passage_prompt(answer.missed)))
            answer = _answer_of(result, self._draft)
        self._words = self._say("edit_missed") if answer.missed else answer.words
        self._unfinished = None
        self._is_cut_off = result.stop_reason == "cut_off" and result.text != NO_ANSWER
        if answer.draft is None:
            if self._is_cut_off and self._draft is not None:
                self._words = f"{answer.words}\n{self._say('cut_off_before')}".strip()
            return
        has_ended = result.stop_reason in _ENDED_WELL
        if not (has_ended or self._is_cut_off) or (self._is_alone and answer.marks == "none"):
            self._words = f"{result.text.strip()}\n{self._say('not_a_post')}"
            return
        self._is_whole = has_ended and answer.marks == "whole"
        if self._is_cut_off and self._draft is not None and not self._lacks_end:
            self._unfinished = answer
            self._person.say(answer.draft)
            self._words = self._say("cut_off_kept", number=self._rounds)
            return
        if self._is_cut_off or (self._is_alone and not self._is_whole):
            self._keep_cut_off(answer, answer.draft)
            return
        await self._checked(agent, answer, answer.draft)

    async def _checked(self, agent: Agent[None], answer: Answer, draft: str) -> None:
        report = self._report(draft)
        if not report.is_clean and not answer.is_edit:  # a repair would touch what the person did not speak of
            self._person.say(f"· {self._say('repairing', count=len(report.findings))}")
            again = await self._played(agent, self._turn(repair_prompt(report.repair)))
            repaired = _answer_of(again, draft)
            if repaired.draft is not None and repaired.marks == "whole" and again.stop_reason in _ENDED_WELL:
                second = self._report(repaired.draft)
                if len(second.findings) < len(report.findings):  # no better is no reason to show another one
                    answer, draft, report = replace(answer, draft=repaired.draft), repaired.draft, second
        self._keep_draft(answer, report)

    def _keep_cut_off(self, answer: Answer, draft: str) -> None:
        self._unfinished = None
        self._keep_draft(answer, self._report(draft), more=(self._say("draft_cut_off"),))

    def _keep_draft(self, answer: Answer, report: Report, *, more: tuple[str, ...] = ()) -> None:
        self._draft = answer.draft
        self._topic = answer.topic or self._topic or topic_of(self._asked.request)
        self._notes = (*more, *(one.message for one in report.findings))
        self._lacks_end = bool(more)
        self._rounds += 1

    def _report(self, draft: str) -> Report:
        return check_draft(draft, rules_of(self._style.fields, self._asked.platform), lang=self._place.lang)

    def _show(self) -> None:
        if self._words:
            self._person.say(self._words)
            self._words = ""
        if self._draft is None:
            self._person.say(self._say("no_draft"))
            return
        report = self._report(self._draft)
        limit = rules_of(self._style.fields, self._asked.platform).max_length
        self._person.show_draft(
            Shown(
                text=self._draft,
                platform=self._asked.platform,
                number=self._rounds,
                length=report.length,
                limit=limit,
                notes=self._notes,
            )
        )

    # --- Feedback and the profile ---------------------------------------------------------------------------

    async def _propose(self, agent: Agent[None]) -> None:
        """Where feedback has come up often enough and the model has proposed nothing, it is asked to (W30)."""
        if not self._gate.reached or self._gate.has_proposed:
            return
        if not self._style.is_personal:
            self._person.say(self._say("reference_profile", name=self._style.base))
            return
        category, count = self._gate.reached[-1]
        self._gate.hear("", is_update_due=True)
        await self._played(agent, self._turn(update_prompt(category, count, self._style.base)))

    def _tell_why(self, count: int, changes: Mapping[str, object]) -> None:
        """Why the person is asked about their profile now, with the fields that would be different."""
        before = self._store.read(self._style.base).fields
        fields = [one.path for one in differences(before, changes) if one.old != one.new]
        self._person.say(self._say("ask_update", count=count, field=", ".join(fields)))

    # --- Keeping ---------------------------------------------------------------------------------------------

    async def _kept(self, wish: Wish, place: Place | None = None) -> Outcome | None:
        """The end of it where the draft was kept; None where the person, or the disk, said no."""
        assert self._draft is not None
        run_id = self._results[-1].run_id
        who: Who = "the person" if place is None else "the person, beforehand"
        asking = on_record(place or self._place, run_id, who=who, clock=self._clock)
        keeper = Keeper(asking, hear=self._hear, run_id=run_id)
        draft = Draft(
            content=self._draft,
            platform=self._asked.platform,
            topic=self._topic,
            profile_used=self._style.profile_used,
        )
        is_page = wish == "notion" and not keeper.missing
        if wish == "notion" and not is_page:  # the question that follows names the file, and nothing of a page
            self._person.say(self._say("notion_not_configured_saved", missing=keeper.missing))
        kept: Kept | None = await (keeper.keep_in_notion(draft) if is_page else keeper.keep(draft))
        if kept is None:
            return None
        outcome = replace(self._outcome("saved"), draft=kept.text, file=kept.file, notion_url=kept.notion_url)
        return self._ended(outcome)

    def _ended(self, outcome: Outcome) -> Outcome:
        if outcome.rounds:
            record = DraftRecord(
                at=timestamp(self._clock()),
                platform=self._asked.platform,
                profile=self._style.profile_used,
                rounds=outcome.rounds,
                is_accepted=outcome.end == "saved",
            )
            try:
                DraftLog(self._place.data).add(record)
            except ToolrollError as error:  # numbers about drafts are no reason to lose one
                _LOG.warning("the draft was not counted: %s", error.message)
        return outcome

    def _outcome(self, end: End) -> Outcome:
        return Outcome(
            end=end,
            draft=self._draft or "",
            topic=self._topic,
            notes=self._notes,
            rounds=self._rounds,
            wanted_to_save=self._gate.wanted_to_save,
            results=tuple(self._results),
            is_whole=self._is_whole or not self._is_alone,
            is_cut_off=self._is_cut_off and self._is_alone,
        )

    # --- Runs --------------------------------------------------------------------------------------------------

    def _turn(self, prompt: str) -> tuple[Message, ...]:
        return drafting_turn(self._store, prompt, profiles=self._style.profiles, messages=self._messages)

    async def _played(self, agent: Agent[None], said: Sequence[Message]) -> RunResult[object]:
        state = new_run(agent.setup, tuple(said), self._hear, stream=True)
        self._note(state)
        result = await play(state)
        self._messages = result.messages
        self._results.append(result)
        return result

    def _hear_source(self, event: Event) -> None:
        """Where nobody can paste the page instead, a read that fails ends the post with its own words."""
        is_end = self._is_alone and isinstance(event, CallFinished) and event.result.is_error
        (self._emit if is_end else self._hear)(event)

    def _hear(self, event: Event) -> None:
        self._emit(event)
        if not isinstance(event, CallFinished):
            return
        told = told_of_call(event.call, event.result, self._place.lang)
        if told is not None:
            self._person.say(told)

    def _say(self, key: Key, **values: object) -> str:
        return say(key, self._place.lang, **values)


def _answer_of(result: RunResult[object], before: str | None) -> Answer:
    """What a run answered; what stands in place of an answer is none."""
    return read_answer("" if result.text == NO_ANSWER else result.text, before=before)
