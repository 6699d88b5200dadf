"""The drafts of one post: what is made of each answer of the model, and the draft that counts now (W30, W33)."""

from collections.abc import Callable
from dataclasses import replace

from toolroll.agent.finish import NO_ANSWER
from toolroll.agent.result import RunResult
from toolroll.packs.writing.checks import Report, Rules, check_draft
from toolroll.packs.writing.drafting import Answer, read_answer, topic_of
from toolroll.packs.writing.fate import fate_of, run_end_of
from toolroll.packs.writing.messages import Key, Lang, say
from toolroll.packs.writing.person import Person, Shown
from toolroll.packs.writing.prompt import passage_prompt, repair_prompt
from toolroll.packs.writing.writer import Writer


class Drafts:
    """The draft there is, if there is one, with its topic and what is wrong with it; `rounds` counts those taken.

    `rules` are asked for at every check: a profile may have changed since the last one. For a draft that nobody looks
    at, `is_whole` says that it is marked as a post and has its end, and `is_cut_off` that the model was stopped.
    """

    def __init__(self, request: str, writer: Writer, person: Person, lang: Lang, rules: Callable[[], Rules]) -> None:
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
        self._unfinished: Answer | None = None
        self._words = ""

    @property
    def has_unfinished(self) -> bool:
        """Whether the last answer was cut off and laid aside: it does not replace a draft that has its end."""
        return self._unfinished is not None

    async def take(self, result: RunResult[object], *, is_alone: bool = False) -> None:
        """Take the draft of a run, put right by one more call where it has to be; `is_alone`: nobody looks at it."""
        answer, result = await self._in_place(result)
        ending = run_end_of(result)
        self._unfinished = None
        self.is_cut_off = ending == "cut_off"
        self._words = self._say("edit_missed") if answer.missed else answer.words
        if answer.draft is None:
            self._miss_draft(answer)
            return
        has_finished = self.text is not None and not self._lacks_end
        fate = fate_of(answer.marks, ending, has_finished=has_finished, is_alone=is_alone)
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
            Shown(
                text=self.text,
                platform=rules.platform,
                number=self.rounds,
                length=self._report(self.text).length,
                limit=rules.max_length,
                notes=self.notes,
            )
        )

    async def _in_place(self, result: RunResult[object]) -> tuple[Answer, RunResult[object]]:
        """The answer, with the run that it is from; edits of passages that are not there are asked for once more."""
        answer = _answer_of(result, self.text)
        if answer.missed:
            result = await self._writer.answer(passage_prompt(answer.missed))
            answer = _answer_of(result, self.text)
        return answer, result

    def _miss_draft(self, answer: Answer) -> None:
        """Words alone; where they were cut off, a draft may have been meant to follow, and the one before stays."""
        if self.is_cut_off and self.text is not None:
            self._words = f"{answer.words}\n{self._say('cut_off_before')}".strip()

    def _lay_aside(self, answer: Answer, draft: str) -> None:
        self._unfinished = answer
        self._person.say(draft)
        self._words = self._say("cut_off_kept", number=self.rounds)

    def _keep_unfinished(self, answer: Answer, draft: str) -> None:
        self._unfinished = None
        self._keep(answer, self._report(draft), more=(self._say("draft_cut_off"),))

    async def _check(self, answer: Answer, draft: str) -> None:
        report = self._report(draft)
        if not report.is_clean and not answer.is_edit:  # a repair would touch what the person did not speak of
            draft, report = await self._repaired(draft, report)
        self._keep(replace(answer, draft=draft), report)

    async def _repaired(self, draft: str, report: Report) -> tuple[str, Report]:
        """A draft that breaks fewer rules, by one more call; no better is no reason to show another one."""
        self._person.say(f"· {self._say('repairing', count=len(report.findings))}")
        again = await self._writer.answer(repair_prompt(report.repair))
        answer = _answer_of(again, draft)
        if answer.draft is None or answer.marks != "whole" or run_end_of(again) != "well":
            return draft, report
        second = self._report(answer.draft)
        return (answer.draft, second) if len(second.findings) < len(report.findings) else (draft, report)

    def _keep(self, answer: Answer, report: Report, *, more: tuple[str, ...] = ()) -> None:
        self.text = answer.draft
        self.topic = answer.topic or self.topic or topic_of(self._request)
        self.notes = (*more, *(one.message for one in report.findings))
        self._lacks_end = bool(more)
        self.rounds += 1

    def _report(self, draft: str) -> Report:
        return check_draft(draft, self._rules(), lang=self._lang)

    def _say(self, key: Key, **values: object) -> str:
        return say(key, self._lang, **values)


def _answer_of(result: RunResult[object], before: str | None) -> Answer:
    """What a run answered; what stands in place of an answer is none."""
    return read_answer("" if result.text == NO_ANSWER else result.text, before=before)
