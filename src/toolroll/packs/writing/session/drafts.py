"""The drafts of one post: what happens to each answer of the model, and which draft counts now (W30, W33)."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from toolroll.agent.result import RunResult
from toolroll.models.text_calls import is_raw_call
from toolroll.packs.writing.posts.checks import DraftReport, DraftRules, check_draft
from toolroll.packs.writing.posts.platforms import LIMITS, Platform
from toolroll.packs.writing.profiles.schema import Language, ProfileFields
from toolroll.packs.writing.session.agent import Writer
from toolroll.packs.writing.session.interface import DraftView, Person
from toolroll.packs.writing.session.prompt import EXAMPLE_POST, passage_prompt, repair_prompt
from toolroll.packs.writing.texts.messages import Key, Lang, say

Marks: TypeAlias = Literal["none", "open", "whole"]
"""The marks around a draft: none, one without its end, or complete (as a post, or as edits)."""

RunEnd: TypeAlias = Literal["well", "cut_off", "badly"]
"""How a run ended: by itself, in the middle of a text, or in any other way (a limit, a stop)."""

DraftDecision: TypeAlias = Literal["words", "aside", "unfinished", "checked"]
"""What happens to a draft: it is shown as words and not as a post; laid aside for the person to take; taken although
its end is missing; or checked, repaired where it has to be, and taken."""

MAX_TOPIC_WORDS: Final = 6
"""Words of a topic that the model did not name: enough for the name of a file."""

_ENDED_WELL: Final = ("answer", "done", "condition")
_POST: Final = re.compile(r"<post(?P<about>[^<>]*)>(?P<text>.*?)(?P<end></post>|\Z)", re.DOTALL)
_TOPIC: Final = re.compile(r"""topic\s*=\s*["“«'](?P<topic>[^"”»'<>]*)""")
_EDIT: Final = re.compile(r"<edit>\s*<old>(?P<old>.*?)</old>\s*<new>(?P<new>.*?)</new>\s*(?:</edit>|\Z)", re.DOTALL)
_FENCE: Final = re.compile(r"\A```\w*\n(?P<text>.*?)\n?```\Z", re.DOTALL)
_EDGES: Final = re.compile(r"\A[ \t]*\n|\n[ \t]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftAnswer:
    """What a model said: a post or None, its topic if it was named, and the words around it.

    `is_edit` means that it is the draft before with some passages replaced. `missed` are the passages of edits that do
    not occur exactly once in the draft, each with how often it does.
    """

    draft: str | None
    topic: str = ""
    words: str = ""
    marks: Marks = "whole"
    is_edit: bool = False
    missed: tuple[tuple[str, int], ...] = ()


def read_answer(text: str, *, before: str | None = None) -> DraftAnswer:
    """Return the post in an answer; `before` is the draft that edits are made to.

    If a model forgets the marks of its first draft, the whole answer may be the post, unless it is one paragraph that
    ends with a question: the person can take it. Once there is a draft, an answer without marks is only words.
    """
    posts = list(_POST.finditer(text))
    if posts:
        # A draft ends at its closing mark: a small model goes on with half of another, or with both parts of a talk.
        found = next((one for one in reversed(posts) if one["end"]), posts[-1]) if before is None else posts[-1]
        topic = _TOPIC.search(found["about"])
        return DraftAnswer(
            draft=_trim(found["text"]) or None,
            topic=" ".join(topic["topic"].split()) if topic else "",
            words=_POST.sub("", text).strip(),
            marks="whole" if found["end"] else "open",
        )
    edits = list(_EDIT.finditer(text))
    if edits and before is not None:
        return _apply_edits(before, edits, _EDIT.sub("", text).strip())
    plain = text.strip()
    if is_raw_call(plain):
        return DraftAnswer(draft=None)
    if not plain or edits or before is not None or ("\n\n" not in plain and plain.endswith("?")):
        return DraftAnswer(draft=None, words=plain)
    fenced = _FENCE.match(plain)
    return DraftAnswer(draft=fenced["text"] if fenced else plain, marks="none")


def is_copied(draft: str, samples: Collection[str]) -> bool:
    """Return whether a draft is the example of the prompt, or a post of the author that the profile shows."""
    plain = _plain(draft)
    return any(plain == _plain(one) for one in (EXAMPLE_POST, *samples))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def topic_from_request(request: str) -> str:
    """Return a topic made of the request, where the model has named none."""
    return " ".join(request.split()[:MAX_TOPIC_WORDS])


def rules_for(fields: ProfileFields, platform: Platform, language: Language | None = None) -> DraftRules:
    """Return the rules for a draft (W33); a platform that the profile lacks has its own limit.

    `language` is one that the person wants this post in, other than that of the profile.
    """
    style = fields["platforms"].get(platform)
    return DraftRules(
        platform=platform,
        max_length=style["max_length"] if style else LIMITS[platform],
        avoid=fields["voice"]["avoid"],
        language=language or fields["language"],
        samples=tuple(one["text"] for one in fields["examples"]),
    )


def _apply_edits(before: str, edits: list[re.Match[str]], words: str) -> DraftAnswer:
    text, missed = before, []
    for edit in edits:
        old, new = _trim(edit["old"]), _trim(edit["new"])
        times = text.count(old) if old else 0
        if times == 1:
            text = text.replace(old, new)
        else:
            missed.append((old, times))
    # All or nothing: half of what was asked for is harder to see than nothing.
    return DraftAnswer(draft=None if missed else text, words=words, is_edit=True, missed=tuple(missed))


def _trim(text: str) -> str:
    """Remove the line ends that belong to the marks."""
    return _EDGES.sub("", text)


def classify_end(result: RunResult[object]) -> RunEnd:
    """Return how a run ended; one that was cut off before its first word has no text that could be incomplete."""
    if result.stop_reason in _ENDED_WELL:
        return "well"
    return "cut_off" if result.stop_reason == "cut_off" and result.has_answer else "badly"


def decide_draft(marks: Marks, ending: RunEnd, *, has_finished: bool, is_alone: bool) -> DraftDecision:
    """Return what happens to a draft with such marks, from a run that ended so.

    Only what is marked as a post counts as one. `has_finished` means that there is a complete draft already, which an
    unfinished one does not replace. `is_alone` means that nobody looks at it.
    """
    if ending == "badly" or marks == "none":
        return "words"
    if ending == "cut_off":
        return "aside" if has_finished else "unfinished"
    return "unfinished" if is_alone and marks != "whole" else "checked"


class Drafts:
    """The current draft, if there is one, with its topic and the rules it breaks; `rounds` counts those taken.

    `rules` is called for every check: the profile may have changed since the last one. For a draft that nobody looks
    at, `is_whole` says that it is marked as a post and complete, and `is_cut_off` that the model was stopped.
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
        self.topic: str = ""
        self.notes: tuple[str, ...] = ()
        self.rounds: int = 0
        self.is_whole: bool = True
        self.is_cut_off: bool = False
        self._lacks_end = False
        self._unfinished: DraftAnswer | None = None
        self._words = ""

    @property
    def has_unfinished(self) -> bool:
        """Return whether the last answer was cut off, or not marked as a post, and laid aside for the person."""
        return self._unfinished is not None

    @property
    def has_cut_off(self) -> bool:
        """Return whether it was laid aside because it was cut off."""
        return self._unfinished is not None and self._unfinished.marks != "none"

    async def take(self, result: RunResult[object], *, is_alone: bool = False) -> None:
        """Take the draft of a run, repaired by one more call if needed; `is_alone` means that nobody looks at it."""
        answer, result = await self._ask_for_missed(result)
        ending = classify_end(result)
        self._unfinished = None
        self.is_cut_off = ending == "cut_off"
        self._words = self._say("edit_missed") if answer.missed else answer.words
        if answer.draft is None:
            self._on_words_only(answer)
            return
        has_finished = self.text is not None and not self._lacks_end
        decision = decide_draft(answer.marks, ending, has_finished=has_finished, is_alone=is_alone)
        if decision == "words":
            can_take = ending == "well" and not is_alone
            self._unfinished = answer if can_take else None
            self._words = f"{result.text.strip()}\n{self._say('not_a_post_take' if can_take else 'not_a_post')}"
            return
        self.is_whole = ending == "well" and answer.marks == "whole"
        if decision == "aside":
            self._lay_aside(answer, answer.draft)
        elif decision == "unfinished":
            self._keep_unfinished(answer, answer.draft)
        else:
            await self._check(answer, answer.draft)

    def restore(self, text: str, *, topic: str, rounds: int) -> None:
        """Begin with a draft of an earlier session; it is checked by the rules as they are now."""
        self.text, self.topic, self.rounds = text, topic or topic_from_request(self._request), rounds
        self.notes = tuple(one.message for one in self._report(text).findings)

    def take_unfinished(self) -> None:
        """Take the draft that was laid aside: the person wants it anyway."""
        assert self._unfinished is not None  # the caller has looked at `has_unfinished`
        answer, draft = self._unfinished, self._unfinished.draft or ""
        if answer.marks == "none":
            self._unfinished = None
            self._keep(answer, self._report(draft))
        else:
            self._keep_unfinished(answer, draft)

    def show(self) -> None:
        """Show the person what the model says about the draft, and the draft."""
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

    async def _ask_for_missed(self, result: RunResult[object]) -> tuple[DraftAnswer, RunResult[object]]:
        """Return the answer and its run; edits of passages that are not in the draft are asked for once more."""
        answer = self._read(result)
        if answer.missed:
            result = await self._writer.answer(passage_prompt(answer.missed))
            answer = self._read(result)
        return answer, result

    def _on_words_only(self, answer: DraftAnswer) -> None:
        """Keep the draft; if the words were cut off, a new one may have been meant to follow."""
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
            draft, report = await self._repair(draft, report)
        self._keep(replace(answer, draft=draft), report)

    async def _repair(self, draft: str, report: DraftReport) -> tuple[str, DraftReport]:
        """Ask once for a draft that breaks fewer rules; one that is no better is not used."""
        self._person.say(f"· {self._say('repairing', count=len(report.findings))}")
        result = await self._writer.answer(repair_prompt(report.repair))
        answer = read_answer(answer_text(result), before=draft)
        if answer.draft is None or answer.marks != "whole" or classify_end(result) != "well":
            return draft, report
        second = self._report(answer.draft)
        return (answer.draft, second) if len(second.findings) < len(report.findings) else (draft, report)

    def _keep(self, answer: DraftAnswer, report: DraftReport, *, more: tuple[str, ...] = ()) -> None:
        self.text = answer.draft
        self.topic = answer.topic or self.topic or topic_from_request(self._request)
        self.notes = (*more, *(one.message for one in report.findings))
        self._lacks_end = bool(more)
        self.rounds += 1

    def _read(self, result: RunResult[object]) -> DraftAnswer:
        answer = read_answer(answer_text(result), before=self.text)
        is_copy = answer.draft is not None and not answer.is_edit and is_copied(answer.draft, self._rules().samples)
        return DraftAnswer(draft=None, words=self._say("draft_copied")) if is_copy else answer

    def _report(self, draft: str) -> DraftReport:
        return check_draft(draft, self._rules(), lang=self._lang)

    def _say(self, key: Key, **values: object) -> str:
        return say(key, self._lang, **values)


def answer_text(result: RunResult[object]) -> str:
    """Return what the model said; empty where a run ended before its first word."""
    return result.text if result.has_answer else ""
