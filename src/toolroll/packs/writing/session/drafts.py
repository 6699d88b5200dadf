"""The drafts of one post: what happens to each answer of the model, and which draft counts now (W30, W33)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from toolroll.agent.result import RunResult
from toolroll.packs.writing.posts.checks import DraftReport, DraftRules, check_draft
from toolroll.packs.writing.session.agent import Writer
from toolroll.packs.writing.session.draft_answer import DraftAnswer, Marks, read_answer, topic_from_request
from toolroll.packs.writing.session.interface import DraftView, Person
from toolroll.packs.writing.session.prompt import passage_prompt, repair_prompt
from toolroll.packs.writing.texts.messages import Key, Lang, say

RunEnd: TypeAlias = Literal["well", "cut_off", "badly"]
"""How a run ended: by itself, in the middle of a text, or in any other way (a limit, a stop)."""

DraftDecision: TypeAlias = Literal["told", "aside", "unfinished", "checked"]
"""Of a draft: it is told as words and is no post; laid aside for the person to take; taken as one that lacks its end;
or checked, repaired where it has to be, and taken."""

_ENDED_WELL: Final = ("answer", "done", "condition")


def classify_end(result: RunResult[object]) -> RunEnd:
    """How a run ended. One that was cut off before its first word has nothing in whose middle it could be."""
    if result.stop_reason in _ENDED_WELL:
        return "well"
    return "cut_off" if result.stop_reason == "cut_off" and result.has_answer else "badly"


def decide_draft(marks: Marks, ending: RunEnd, *, has_finished: bool, is_alone: bool) -> DraftDecision:
    """What becomes of a draft with such marks, from a run that ended so.

    `has_finished` says that there is a draft already that has its end, which an unfinished one does not replace.
    `is_alone` says that nobody looks at it: then only what is marked as a post counts as one.
    """
    if ending == "badly" or (is_alone and marks == "none"):
        return "told"
    if ending == "cut_off":
        return "aside" if has_finished else "unfinished"
    return "unfinished" if is_alone and marks != "whole" else "checked"


class Drafts:
    """The draft there is, if there is one, with its topic and what is wrong with it; `rounds` counts those taken.

    `rules` are asked for at every check: a profile may have changed since the last one. For a draft that nobody looks
    at, `is_whole` says that it is marked as a post and has its end, and `is_cut_off` that the model was stopped.
    """

    def __init__(
        self, request: str, writer: Writer, person: Person, lang: Lang, rules: Callable[[], DraftRules]
    ) -> None:
        self._request = request
        self._writer = writer
        self._person = person
        self._lang = lang
        self._rules = rules
        self.text: str | None = None
        self.topic = ""
        self.notes: tuple[str, ...] = ()
        self.rounds = 0
        self.is_whole = True
        self.is_cut_off = False
        self._lacks_end = False
        self._unfinished: DraftAnswer | None = None
        self._words = ""

    @property
    def has_unfinished(self) -> bool:
        """Whether the last answer was cut off and laid aside: it does not replace a draft that has its end."""
        return self._unfinished is not None

    async def take(self, result: RunResult[object], *, is_alone: bool = False) -> None:
        """Take the draft of a run, put right by one more call where it has to be; `is_alone`: nobody looks at it."""
        answer, result = await self._in_place(result)
        ending = classify_end(result)
        self._unfinished = None
        self.is_cut_off = ending == "cut_off"
        self._words = self._say("edit_missed") if answer.missed else answer.words
        if answer.draft is None:
            self._miss_draft(answer)
            return
        has_finished = self.text is not None and not self._lacks_end
        fate = decide_draft(answer.marks, ending, has_finished=has_finished, is_alone=is_alone)
        if fate == "told":
            self._words = f"{result.text.strip()}\n{self._say('not_a_post')}"
            return
        self.is_whole = ending == "well" and answer.marks == "whole"
        if fate == "aside":
            self._lay_aside(answer, answer.draft)
        elif fate == "unfinished":
            self._keep_unfinished(answer, answer.draft)
        else:
            await self._check(answer, answer.draft)

    def take_unfinished(self) -> None:
        """Take the one that was laid aside all the same: the person wants it."""
        assert self._unfinished is not None  # `has_unfinished` was looked at
        self._keep_unfinished(self._unfinished, self._unfinished.draft or "")

    def show(self) -> None:
        """Show the person the model's words about it, and the draft there is."""
        if self._words:
            self._person.say(self._words)
            self._words = ""
        if self.text is None:
            self._person.say(self._say("no_draft"))
            return
        rules = self._rules()
        self._person.show_draft(
            DraftView(
                text=self.text,
                platform=rules.platform,
                number=self.rounds,
                length=self._report(self.text).length,
                limit=rules.max_length,
                notes=self.notes,
            )
        )

    async def _in_place(self, result: RunResult[object]) -> tuple[DraftAnswer, RunResult[object]]:
        """The answer, with the run that it is from; edits of passages that are not there are asked for once more."""
        answer = _answer_of(result, self.text)
        if answer.missed:
            result = await self._writer.answer(passage_prompt(answer.missed))
            answer = _answer_of(result, self.text)
        return answer, result

    def _miss_draft(self, answer: DraftAnswer) -> None:
        """Words alone; where they were cut off, a draft may have been meant to follow, and the one before stays."""
        if self.is_cut_off and self.text is not None:
            self._words = f"{answer.words}\n{self._say('cut_off_before')}".strip()

    def _lay_aside(self, answer: DraftAnswer, draft: str) -> None:
        self._unfinished = answer
        self._person.say(draft)
        self._words = self._say("cut_off_kept", number=self.rounds)

    def _keep_unfinished(self, answer: DraftAnswer, draft: str) -> None:
        self._unfinished = None
        self._keep(answer, self._report(draft), more=(self._say("draft_cut_off"),))

    async def _check(self, answer: DraftAnswer, draft: str) -> None:
        report = self._report(draft)
        if not report.is_clean and not answer.is_edit:  # a repair would touch what the person did not speak of
            draft, report = await self._repaired(draft, report)
        self._keep(replace(answer, draft=draft), report)

    async def _repaired(self, draft: str, report: DraftReport) -> tuple[str, DraftReport]:
        """A draft that breaks fewer rules, by one more call; no better is no reason to show another one."""
        self._person.say(f"· {self._say('repairing', count=len(report.findings))}")
        again = await self._writer.answer(repair_prompt(report.repair))
        answer = _answer_of(again, draft)
        if answer.draft is None or answer.marks != "whole" or classify_end(again) != "well":
            return draft, report
        second = self._report(answer.draft)
        return (answer.draft, second) if len(second.findings) < len(report.findings) else (draft, report)

    def _keep(self, answer: DraftAnswer, report: DraftReport, *, more: tuple[str, ...] = ()) -> None:
        self.text = answer.draft
        self.topic = answer.topic or self.topic or topic_from_request(self._request)
        self.notes = (*more, *(one.message for one in report.findings))
        self._lacks_end = bool(more)
        self.rounds += 1

    def _report(self, draft: str) -> DraftReport:
        return check_draft(draft, self._rules(), lang=self._lang)

    def _say(self, key: Key, **values: object) -> str:
        return say(key, self._lang, **values)


def _answer_of(result: RunResult[object], before: str | None) -> DraftAnswer:
    """What a run answered; what stands in place of an answer is none."""
    return read_answer(result.text if result.has_answer else "", before=before)
