"""From a request to a saved post: what the program decides, with models that say whatever they like."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.packs.writing.profiles.samples import draft, state_of

from toolroll.agent.events import CallFinished, Event
from toolroll.errors import ProfileMissing, RequestRefused
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.data.messages import AssistantMessage, TextBlock
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.models.scripted import Call, Line, ScriptedModel
from toolroll.packs.writing.posts.stats import DraftLog
from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.interface import Assignment, DraftView, Outcome, Question
from toolroll.packs.writing.session.session import WritingSession
from toolroll.packs.writing.texts.messages import Lang, languages

NOW = datetime(2026, 2, 9, 10, tzinfo=UTC)
SAVE = Call("save_to_file", {"content": "stolen", "platform": "x", "topic": "t"})
PAGE = Call("write_to_notion", {"content": "stolen", "title": "t", "platform": "x", "topic": "t"})
UPDATE = Call("update_style_profile", {"changes": {"voice.tone": "rude"}, "reason": "because"})


def post(text: str, topic: str = "чай") -> str:
    return f'<post topic="{topic}">\n{text}\n</post>'


def track(category: str = "too_formal") -> Call:
    return Call("track_feedback", {"category": category, "raw_feedback": "hm"})


class Scripted:
    """A person who says what is written down, and decides as they are told; everything they see is kept."""

    def __init__(self, *answers: str | None, decides: Callable[[ApprovalRequest], Decision] | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.told: list[str] = []
        self.drafts: list[DraftView] = []
        self.requests: list[ApprovalRequest] = []
        self._decides = decides or (lambda _request: Approve())

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question.text)
        return self.answers.pop(0) if self.answers else None

    def say(self, text: str) -> None:
        self.told.append(text)

    def show_draft(self, draft: DraftView) -> None:
        self.drafts.append(draft)

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        self.requests += requests
        return [self._decides(one) for one in requests]


class Desk:
    """A data folder with a profile, and all that happened in it."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.store = ProfileStore(data)
        self.events: list[Event] = []
        self.model = ScriptedModel([])
        self.store.create(draft(), now=NOW)

    async def write(
        self,
        person: Scripted,
        *lines: Line,
        profiles: Sequence[str] = ("default",),
        environment: Mapping[str, str] | None = None,
        notion: str | None = None,
        lang: Lang = "en",
        request: str = "пост про чай",
        **how: bool,
    ) -> Outcome:
        self.model = ScriptedModel(lines)
        context = WritingContext(data=self.data, lang=lang, approver=person, environment=environment or {})
        assignment = Assignment(
            request=request, platform="linkedin", style=load_style(self.store, *profiles), notion=notion
        )
        session = WritingSession(
            assignment, self.model, context, person, listener=self.events.append, clock=lambda: NOW
        )
        return await session.run(**how)

    def posts(self) -> list[str]:
        return [path.read_text(encoding="utf-8") for path in (self.data / "output" / "generated").glob("*.md")]

    def codes(self) -> list[str | None]:
        return [one.result.code for one in self.events if isinstance(one, CallFinished)]

    def profile(self) -> dict[str, Any]:
        return self.store.read("default").fields


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "data")


async def test_W30_a_draft_is_saved_at_once_after_the_word(desk: Desk) -> None:
    person = Scripted("зберігай")
    outcome = await desk.write(person, post("Чай."))
    assert (outcome.end, outcome.draft, outcome.rounds, outcome.topic) == ("saved", "Чай.", 1, "чай")
    [text] = desk.posts()
    assert text.endswith("---\n\nЧай.\n")
    assert person.requests == []
    assert outcome.file is not None
    assert outcome.file.endswith("-chai-linkedin.md")
    [record] = DraftLog(desk.data).read()
    assert (record.rounds, record.is_accepted, record.at) == (1, True, "2026-02-09T10:00:00Z")


async def test_W30_a_no_to_leaving_goes_on(desk: Desk) -> None:
    person = Scripted("exit", "no", "exit", "yes")
    outcome = await desk.write(person, post("Чай."))
    assert (outcome.end, desk.posts()) == ("left", [])
    assert [one for one in person.asked if "Leave" in one] == ["Leave without saving the draft?"] * 2
    [record] = DraftLog(desk.data).read()
    assert record.is_accepted is False


@pytest.mark.parametrize(
    ("lang", "word"),
    [("en", "save"), ("en", "Yes, save it!"), ("uk", "зберігай"), ("uk", "так, збережи"), ("uk", "готово")],
)
async def test_W30_W34_whoever_says_save_when_asked_to_leave_gets_it_saved(desk: Desk, lang: Lang, word: str) -> None:
    person = Scripted("exit", word)
    outcome = await desk.write(person, post("Чай."), lang=lang)
    assert (outcome.end, person.requests) == ("saved", [])
    assert desk.posts()[0].endswith("Чай.\n")


async def test_W30_what_is_neither_yes_nor_no_never_leaves_a_draft(desk: Desk) -> None:
    person = Scripted("exit", "", "не зберігай", "perhaps", "no", "exit", "quit")
    outcome = await desk.write(person, post("Чай."))
    assert (outcome.end, len([one for one in person.asked if "Leave" in one])) == ("left", 5)


async def test_W30_rounds_go_on_from_the_conversation_and_blank_lines_are_no_feedback(desk: Desk) -> None:
    person = Scripted("", "коротше", "save")
    outcome = await desk.write(person, post("Чай зелений."), ["Done.", track("too_long")], f"Ось.\n{post('Чай.', '')}")
    assert (outcome.rounds, outcome.draft, outcome.topic) == (2, "Чай.", "чай")
    assert [one.number for one in person.drafts] == [1, 2]
    assert "Ось." in person.told
    assert DraftLog(desk.data).read()[0].rounds == 2


async def test_W30_a_question_of_the_model_is_no_draft(desk: Desk) -> None:
    person = Scripted("ok", "про зелений", None)
    outcome = await desk.write(person, "Про який чай?", "Справді?", post("Зелений."))
    assert (outcome.end, outcome.draft) == ("left", "Зелений.")
    assert person.told[:2] == ["Про який чай?", "The model wrote no draft."]


async def test_W30_leaving_without_a_draft_asks_nothing(desk: Desk) -> None:
    person = Scripted("exit")
    outcome = await desk.write(person, "Про який чай?")
    assert (outcome.end, outcome.rounds, len(person.asked)) == ("nothing", 0, 1)
    assert DraftLog(desk.data).read() == ()


async def test_W30_an_edit_changes_only_its_part_and_one_that_misses_is_tried_again(desk: Desk) -> None:
    person = Scripted("заміни", "заміни", "заміни", None)

    def edit(old: str) -> str:
        return f"<edit><old>{old}</old><new>мед</new></edit>"

    outcome = await desk.write(
        person, post("Чай, чай і цукор."), edit("цукор"), edit("сіль"), edit("Чай"), edit("сіль"), edit("сіль")
    )
    assert outcome.draft == "мед, чай і мед."
    assert [one.text for one in person.drafts] == [
        "Чай, чай і цукор.",
        "Чай, чай і мед.",
        "мед, чай і мед.",
        "мед, чай і мед.",
    ]
    assert "The edit could not be made" in person.told[-1]


async def test_W33_a_draft_that_breaks_rules_is_repaired_by_one_call(desk: Desk) -> None:
    person = Scripted(None)
    outcome = await desk.write(person, post("Синергія чаю."), post("Дружба чаю."))
    assert (outcome.draft, outcome.notes) == ("Дружба чаю.", ())
    asked = str(desk.model.requests[1])
    assert "Say it without 'синергія' in any form" in asked
    assert [one.text for one in person.drafts] == ["Дружба чаю."], "only the checked one is shown"


@pytest.mark.parametrize("again", [post("Синергія чаю."), "Чому?", post("Синергія, синергія чаю і all in English")])
async def test_W33_what_cannot_be_repaired_is_shown_with_a_warning(desk: Desk, again: str) -> None:
    person = Scripted(None)
    outcome = await desk.write(person, post("Синергія чаю."), again)
    assert outcome.draft == "Синергія чаю."
    assert [one for one in person.drafts[0].notes if "avoids 'синергія'" in one]
    assert len(desk.model.requests) == 2, "one call, not more"


async def test_W30_W33_an_edit_is_checked_and_never_repaired(desk: Desk) -> None:
    """The person wants one word changed: a warning, and not a letter of the rest."""
    person = Scripted("заміни чай на синергію", None)
    edit = "<edit><old>Чай</old><new>Синергія</new></edit>"
    outcome = await desk.write(person, post("Чай і мед."), edit)
    assert outcome.draft == "Синергія і мед."
    assert len(person.drafts[1].notes) == 1


async def test_W33_a_repair_that_helps_in_part_is_taken(desk: Desk) -> None:
    outcome = await desk.write(Scripted(None), post("Синергія, синергія чаю."), post("Синергія чаю."))
    assert outcome.draft == "Синергія чаю."
    assert len(outcome.notes) == 1


def cut(text: str) -> ModelResponse:
    origin = ScriptedModel([]).origin
    message = AssistantMessage(blocks=(TextBlock(text=text),), origin=origin)
    return ModelResponse(message=message, stop="max_tokens", usage=Usage(input_tokens=1, output_tokens=1))


async def test_XE8_W30_a_draft_that_was_cut_off_says_so(desk: Desk) -> None:
    person = Scripted(None)
    outcome = await desk.write(person, cut('<post topic="чай">\nЧай є'))
    assert (outcome.draft, outcome.notes) == ("Чай є", ("The model was cut off: the end of the draft may be missing.",))


CUT = '<post topic="мед">\nМед є'
NOT_TAKEN: dict[Lang, str] = {
    "en": "The model was cut off before the end of this text, so it was not taken. Draft 1, below, still counts and is "
    'the one that will be saved. Say "take it" to take the unfinished text anyway, or say again what should be '
    "different.",
    "uk": "Відповідь моделі обірвалася, тому цього тексту не взято. Чернетка 1, нижче, лишається: саме її буде "
    "збережено. Скажіть «бери», щоб усе ж узяти недописане, або ще раз скажіть, що змінити.",
}
LACKS_END: dict[Lang, str] = {
    "en": "The model was cut off: the end of the draft may be missing.",
    "uk": "Відповідь моделі обірвалася: чернетка може бути без кінця.",
}
BEFORE: dict[Lang, str] = {
    "en": "The model was cut off before it wrote the post. The draft is unchanged.",
    "uk": "Відповідь моделі обірвалася ще до поста. Чернетка не змінилася.",
}


@pytest.mark.parametrize("lang", languages())
async def test_XE8_W30_W34_a_later_draft_that_was_cut_off_does_not_replace_a_whole_one(desk: Desk, lang: Lang) -> None:
    person = Scripted("довше", "save")
    outcome = await desk.write(person, post("Чай."), cut(CUT), lang=lang)
    assert (outcome.end, outcome.draft, outcome.topic, outcome.rounds) == ("saved", "Чай.", "чай", 1)
    assert person.told[-3:-1] == ["Мед є", NOT_TAKEN[lang]], "the unfinished text is there to be seen"
    assert [(one.number, one.text, one.notes) for one in person.drafts] == [(1, "Чай.", ())] * 2
    [saved] = desk.posts()
    assert saved.endswith("\n\nЧай.\n")


@pytest.mark.parametrize(("lang", "word"), [("en", "Take it!"), ("uk", "Бери недописане")])
async def test_XE8_W30_W34_an_unfinished_draft_is_taken_where_the_person_says_so(
    desk: Desk, lang: Lang, word: str
) -> None:
    person = Scripted("довше", word, "save")
    outcome = await desk.write(person, post("Чай."), cut(CUT), lang=lang)
    assert (outcome.end, outcome.draft, outcome.topic, outcome.rounds) == ("saved", "Мед є", "мед", 2)
    assert (person.drafts[-1].text, person.drafts[-1].notes) == ("Мед є", (LACKS_END[lang],))
    assert len(desk.model.requests) == 2, "the word is not for the model"


async def test_XE8_W30_after_one_that_was_cut_off_the_model_is_told_which_draft_there_is(desk: Desk) -> None:
    edit = "<edit><old>Чай.</old><new>Чай і мед.</new></edit>"
    person = Scripted("довше", "take out the tea", "бери", "save")
    outcome = await desk.write(person, post("Чай."), cut(CUT), edit, "Що саме взяти?")
    assert (outcome.end, outcome.draft) == ("saved", "Чай і мед.")
    said = [str(messages) for messages in desk.model.requests]
    assert ["was cut off before its end" in one for one in said] == [False, False, True, True]
    assert "бери" in said[3], "without an unfinished text it is a word like any other"


async def test_XE8_W30_of_two_that_lack_their_end_the_later_one_counts(desk: Desk) -> None:
    outcome = await desk.write(Scripted("ще", "save"), cut("<post>\nЧай є"), cut(CUT))
    assert (outcome.draft, outcome.notes) == ("Мед є", (LACKS_END["en"],))
    outcome = await desk.write(Scripted("ще", "save"), cut("<post>\nЧай є"), post("Чай."))
    assert (outcome.draft, outcome.notes) == ("Чай.", ())


@pytest.mark.parametrize("lang", languages())
async def test_XE8_W30_W34_a_turn_that_was_cut_off_before_the_post_leaves_the_draft(desk: Desk, lang: Lang) -> None:
    person = Scripted("довше", "ще довше", "save")
    outcome = await desk.write(person, post("Чай."), cut("Ось він:\n<post>"), cut("<post>"), lang=lang)
    assert (outcome.end, outcome.draft) == ("saved", "Чай.")
    assert [one for one in person.told if BEFORE[lang] in one] == [f"Ось він:\n{BEFORE[lang]}", BEFORE[lang]]


async def test_W30_a_refusal_is_no_draft(desk: Desk) -> None:
    refusal = cut("I will not.")
    outcome = await desk.write(
        Scripted(None), ModelResponse(message=refusal.message, stop="refusal", usage=refusal.usage)
    )
    assert outcome.end == "nothing"


EMPTY = AssistantMessage(blocks=(), origin=ScriptedModel([]).origin)


@pytest.mark.parametrize("keep", [True, False])
async def test_W30_an_empty_turn_is_no_draft(desk: Desk, *, keep: bool) -> None:
    empty = ModelResponse(message=EMPTY, stop="end", usage=Usage(input_tokens=1, output_tokens=0))
    person = Scripted()
    outcome = await desk.write(person, empty, empty, empty, keep=keep, is_talk=not keep)
    assert (outcome.end, outcome.draft, desk.posts(), person.drafts) == ("nothing", "", [], [])
    assert person.told[-1] == "The model wrote no draft."


async def test_W30_words_after_a_draft_do_not_replace_it(desk: Desk) -> None:
    person = Scripted("коротше", "save")
    outcome = await desk.write(person, post("Чай."), "Коротше вже нікуди.")
    assert (outcome.end, outcome.draft, outcome.rounds) == ("saved", "Чай.", 1)
    assert "Коротше вже нікуди." in person.told


async def test_W30_a_first_draft_without_marks_is_none_until_the_person_takes_it(desk: Desk) -> None:
    person = Scripted("бери", "save")
    outcome = await desk.write(person, "Чай і мед.")
    assert (outcome.end, outcome.draft, outcome.notes) == ("saved", "Чай і мед.", ())
    assert "not marked as a post" in person.told[0]
    left = await desk.write(Scripted("exit"), "Чай і мед.")
    assert (left.end, left.draft) == ("nothing", "")


@pytest.mark.parametrize(
    ("request_text", "said", "is_clean"),
    [("post about tea", None, False), ("post about tea in English", None, True), ("tea", "зроби англійською", True)],
)
async def test_W36_a_post_in_another_language_is_checked_against_that_one(
    desk: Desk, request_text: str, said: str | None, is_clean: bool
) -> None:
    english = post("Here is the thing: tea is a drink that people like very much in the morning.")
    words = () if said is None else (said,)
    turns = [english, english] if said is None else [post("Чай — це добре."), english]
    person = Scripted(*words, "save")
    outcome = await desk.write(person, *turns, request=request_text)
    assert (not outcome.notes) == is_clean


@pytest.mark.parametrize("keep", [True, False])
async def test_W30_where_nobody_looks_text_without_marks_is_told_and_not_saved(desk: Desk, *, keep: bool) -> None:
    person = Scripted()
    outcome = await desk.write(person, "Вибачте, не можу.", keep=keep, is_talk=False)
    assert (outcome.end, outcome.is_cut_off, desk.posts(), person.drafts) == ("nothing", False, [], [])
    assert person.told[0] == "Вибачте, не можу.\nThis is not marked as a post, so it was not taken for one."


@pytest.mark.parametrize("is_stopped", [True, False])
async def test_XE8_W30_where_nobody_looks_a_post_without_its_end_is_not_saved(desk: Desk, *, is_stopped: bool) -> None:
    person = Scripted()
    text = '<post topic="чай">\nЧай є'
    outcome = await desk.write(person, cut(text) if is_stopped else text, keep=True)
    assert (outcome.end, outcome.is_whole, outcome.is_cut_off) == ("drafted", False, is_stopped)
    assert person.drafts[0].notes == ("The model was cut off: the end of the draft may be missing.",)
    assert desk.posts() == []


async def test_W33_a_repair_without_marks_is_ignored(desk: Desk) -> None:
    for again in ("Дружба чаю.", "<post>\nДружба чаю"):
        outcome = await desk.write(Scripted(), post("Синергія чаю."), again, keep=True)
        assert (outcome.end, outcome.draft) == ("saved", "Синергія чаю.")


async def test_W30_a_model_that_fails_later_leaves_the_draft_to_be_saved(desk: Desk) -> None:
    person = Scripted("коротше", "save")
    outcome = await desk.write(person, post("Чай."), RequestRefused("The model is down."))
    assert (outcome.end, outcome.draft) == ("saved", "Чай.")
    assert any("down" in one for one in person.told)


async def test_W11_the_profile_is_read_by_the_program_in_each_round(desk: Desk) -> None:
    await desk.write(Scripted("коротше", None), post("Чай зелений."), post("Чай."))
    for request in desk.model.requests:
        assert "дружній, трохи іронічний" in str(request)
    (desk.data / "profiles" / "default.json").unlink()
    with pytest.raises(ProfileMissing):
        await desk.write(Scripted())


async def test_W31_a_mix_is_saved_as_one_and_the_other_profile_is_left_alone(desk: Desk) -> None:
    desk.store.create(draft(profile_name="alex", profile_type="reference"), now=NOW)
    update = Call("update_style_profile", {"profile_name": "alex", "changes": {"voice.tone": "x"}, "reason": "профіль"})
    person = Scripted("онови профіль alex", "save")
    outcome = await desk.write(person, post("Чай."), update, post("Чай."), profiles=("default", "alex"))
    assert outcome.end == "saved"
    assert "profile_used: mix:default+alex" in desk.posts()[0]
    assert "other_profile" in desk.codes()
    assert "mixes two profiles" not in str(desk.model.requests[0]), "that is in the system prompt"


async def test_W30_a_person_may_ask_for_an_update(desk: Desk) -> None:
    person = Scripted("онови профіль: тон спокійний", None)
    calm = Call("update_style_profile", {"changes": {"voice.tone": "спокійний"}, "reason": "сам попросив"})
    await desk.write(person, post("Чай."), calm, post("Чай."))
    assert desk.profile()["voice"]["tone"] == "спокійний"
    assert "Profile 'default' is now at version 2." in person.told


def counted(desk: Desk, count: int) -> None:
    entry = {"count": count, "last_seen": "", "history": []}
    (desk.data / "feedback-tracker.json").write_text(json.dumps({"too_formal": entry}))


async def test_W30_at_the_threshold_an_update_is_proposed_also_by_a_model_that_forgets(desk: Desk) -> None:
    counted(desk, 2)
    person = Scripted("занадто офіційно", None)
    change = Call("update_style_profile", {"changes": {"voice.formality": "простіше"}, "reason": "too_formal"})
    await desk.write(person, post("Чай."), track(), post("Чай, друзі."), change, "Готово.")
    assert person.told[0] == "You have said this 3 times. Update voice.formality in your profile?"
    [request] = person.requests
    assert request.preview.text.endswith("voice.formality\n- casual\n+ простіше")
    assert desk.profile()["voice"]["formality"] == "простіше"
    assert json.loads((desk.data / "feedback-tracker.json").read_text())["too_formal"]["count"] == 0
    assert "call update_style_profile once" in str(desk.model.requests[3])
    assert person.drafts[-1].text == "Чай, друзі.", "what the model says of the update is no draft"


async def test_W30_the_question_about_an_update_names_what_it_would_really_change(desk: Desk) -> None:
    counted(desk, 2)
    person = Scripted("занадто офіційно", None)
    tone = desk.profile()["voice"]["tone"]
    wrong = Call("update_style_profile", {"changes": {"voice.formality": ""}, "reason": "too_formal"})
    right = {"voice.tone": tone, "voice.personality": "свій хлопець", "voice.formality": "простіше"}
    change = Call("update_style_profile", {"changes": right, "reason": "too_formal"})
    await desk.write(person, post("Чай."), [track()], wrong, post("Чай."), change, "Готово.")
    assert not [one for one in person.told if "You have said this" in one], "nothing can be asked about"
    counted(desk, 2)
    person = Scripted("занадто офіційно", None)
    await desk.write(person, post("Чай."), [track()], change, post("Чай."))
    [asked] = [one for one in person.told if "You have said this" in one]
    assert asked == "You have said this 3 times. Update voice.personality, voice.formality in your profile?"


async def test_W31_feedback_on_a_reference_profile_proposes_nothing(desk: Desk) -> None:
    desk.store.create(draft(profile_name="alex", profile_type="reference"), now=NOW)
    counted(desk, 2)
    person = Scripted("занадто офіційно", None)
    await desk.write(person, post("Чай."), track(), post("Чай."), profiles=("alex",))
    assert (person.told, person.requests) == ([], [])
    assert FeedbackStore(desk.data).entries()["too_formal"].count == 2, "a count of the author's own style"


def obedient(*calls: Call) -> Callable[[ModelRequest], Line]:
    """Makes these calls in every turn until it has been told no to all of them, then drafts."""

    def line(request: ModelRequest) -> Line:
        made = sum(isinstance(one, AssistantMessage) for one in request.messages)
        return list(calls) if made % 4 else post("Чай.")

    return line


@pytest.mark.parametrize("decision", [Approve(), Reject()])
async def test_W12_W15_W18_XL14_an_obedient_model_keeps_nothing_without_a_persons_word(
    desk: Desk, decision: Decision
) -> None:
    """It saves, writes to Notion and updates at once, and again and again: nobody is even asked."""
    before = state_of(desk.data)
    person = Scripted("коротше", "ще коротше", None, decides=lambda _request: decision)
    desk.model = ScriptedModel(obedient(SAVE, PAGE, UPDATE))
    context = WritingContext(data=desk.data, lang="en", approver=person)
    style = load_style(desk.store, "default")
    session = WritingSession(
        Assignment(request="пост про чай", platform="linkedin", style=style),
        desk.model,
        context,
        person,
        listener=desk.events.append,
    )
    outcome = await session.run()
    assert person.requests == []
    after = state_of(desk.data)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) <= {"drafts.jsonl"}
    assert outcome.wanted_to_save
    assert {"not_confirmed", "not_due"} <= set(desk.codes())


async def test_W15_XL14_after_a_word_of_saving_the_model_can_ask_once_and_no_is_no(desk: Desk) -> None:
    person = Scripted("save it somewhere nice", None, decides=lambda _request: Reject())
    await desk.write(person, post("Чай."), [SAVE, SAVE, PAGE], [SAVE, PAGE], post("Чай."))
    assert sorted(one.tool for one in person.requests) == ["save_to_file", "write_to_notion"]
    assert desk.posts() == []
    assert desk.codes().count("asked_already") == 3


async def test_W19_XL14_a_model_that_counts_again_and_again_counts_once_a_message(desk: Desk) -> None:
    person = Scripted("hm", None)
    kinds = ("too_formal", "too_formal", "too_long", "tone_off", "hook_weak")
    await desk.write(person, track(), post("Чай."), [track(one) for one in kinds], [track(), track()], post("Чай."))
    found = json.loads((desk.data / "feedback-tracker.json").read_text())
    assert {name: one["count"] for name, one in found.items()} == {"too_formal": 1, "too_long": 1, "tone_off": 1}
    assert desk.codes()[0] == "no_feedback"
    assert desk.codes().count("counted_already") == 4


async def test_W19_W30_feedback_is_kept_in_the_persons_own_words_of_that_turn(desk: Desk) -> None:
    said = ["  Занадто офіційно, і «гачок» слабкий!", "Way too stiff"]
    turns: list[Line] = [post("Чай."), [track(), track("hook_weak")], post("Чай!"), [track()], post("Чай?")]
    await desk.write(Scripted(*said, None), *turns)
    kept = {name: [one.raw for one in entry.history] for name, entry in FeedbackStore(desk.data).entries().items()}
    assert kept == {"too_formal": said, "hook_weak": said[:1]}


async def test_W30_XA8_where_nobody_is_asked_one_draft_is_all(desk: Desk) -> None:
    person = Scripted()
    outcome = await desk.write(person, [SAVE], post("Чай."), is_talk=False)
    assert (outcome.end, outcome.wanted_to_save, desk.posts(), person.asked) == ("drafted", True, [], [])
    assert [one.text for one in person.drafts] == ["Чай."]
    nothing = await desk.write(person, "Про що?", is_talk=False)
    assert (nothing.end, nothing.draft) == ("nothing", "")


async def test_W30_a_yes_beforehand_is_for_the_draft_and_for_nothing_else(desk: Desk) -> None:
    before = desk.profile()
    person = Scripted(decides=lambda _request: Reject())
    about = Call("update_style_profile", {"changes": {"voice.tone": "rude"}, "reason": "профіль"})
    outcome = await desk.write(person, [SAVE, about], post("Чай."), keep=True, is_talk=False)
    assert outcome.end == "saved"
    [text] = desk.posts()
    assert "stolen" not in text
    assert desk.profile() == before


async def test_W15_W30_a_yes_beforehand_with_a_broken_disk_shows_the_text(desk: Desk) -> None:
    (desk.data / "output").write_text("in the way")
    person = Scripted()
    outcome = await desk.write(person, post("Чай."), keep=True)
    assert (outcome.end, outcome.file) == ("drafted", None)
    assert person.told[-1].endswith("\n\nЧай.")


async def test_W35_a_draft_that_cannot_be_counted_is_saved_all_the_same(desk: Desk) -> None:
    (desk.data / "drafts.jsonl").mkdir()
    assert (await desk.write(Scripted("save"), post("Чай."))).end == "saved"


async def test_W30_whoever_said_no_to_an_update_is_not_asked_again_for_this_post(desk: Desk) -> None:
    counted(desk, 2)
    person = Scripted("hm", "hm", None, decides=lambda _request: Reject())
    change = Call("update_style_profile", {"changes": {"voice.formality": "простіше"}, "reason": "too_formal"})
    await desk.write(person, post("Чай."), track(), change, post("Чай."), track(), change, post("Чай."))
    assert len(person.requests) == 1
    assert desk.codes()[-1] == "not_due"
    assert desk.profile()["voice"]["formality"] == "casual"
