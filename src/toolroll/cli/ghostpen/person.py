"""The person a post is written for: at a terminal, where they can be asked, or elsewhere, where nobody is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click
from rich.text import Text

from toolroll.cli.render.prose import wrap
from toolroll.cli.render.rows import Row, preview_rows, request_rows
from toolroll.cli.session import Session
from toolroll.cli.terminal.pager import Pager
from toolroll.cli.terminal.terminal import Terminal, interruptible, without_wakeups
from toolroll.cli.termination import is_ending
from toolroll.kernel.approval.consent import Outflow
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, Reject
from toolroll.packs.writing.session.agent import POST_CONSENT
from toolroll.packs.writing.session.intents import QuestionTopic, parse_yes_no
from toolroll.packs.writing.session.interface import DraftView, Question
from toolroll.packs.writing.session.questions import NO_SEARCHES, QUESTIONS
from toolroll.packs.writing.texts.messages import Key, Lang, say, understood_words
from toolroll.packs.writing.tools.toolset import SEARCH
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.cli.chat.input import LineInput

PROMPT: Final = "> "
_ABOUT: Final[Mapping[str, QuestionTopic]] = {
    "save_to_file": "save",
    "write_to_notion": "save",
    "update_style_profile": "update",
}


class TerminalPerson:
    """A person at a terminal, who sees drafts and answers."""

    def __init__(self, terminal: Terminal, lang: Lang, lines: "LineInput | None" = None) -> None:
        self._terminal = terminal
        self._lang = lang
        self._lines = lines
        self.seen: str = ""
        """The text of the draft that was shown last."""

    async def ask(self, question: Question) -> str | None:
        """Return what they type; None when they close the input. With a line editor, a pasted text is one answer."""
        if question.kind == "yes_no":
            with interruptible():
                return self._terminal.ask(f"{say('yes_no', self._lang, question=question.text)} ", fresh=True)
        if self._lines is None:
            with interruptible():
                return self._terminal.ask("" if question.kind == "more" else f"{question.text}\n{PROMPT}")
        if question.kind != "more":
            self._terminal.say(question.text, "title")
        return await self._lines.read(PROMPT)

    def say(self, text: str) -> None:
        """Show a message of the program or the model; a text that is there to be copied is not broken into lines."""
        if "\n\n" in text:
            self._terminal.console.print(Text(terminal_safe(text)), soft_wrap=True)
        else:
            self._terminal.say(text)

    def show_draft(self, draft: DraftView) -> None:
        """Show the draft with its figures above, and below the rules that it breaks."""
        self._terminal.show(
            [
                Row(),
                *(Row(text=line, look="title") for line in self._lines_of(draft_title(draft, self._lang))),
                Row(),
                *preview_rows(Preview.of_text(draft.text)),
                Row(),
                *(Row(text=line, look="warning") for note in draft.notes for line in self._lines_of(f"! {note}")),
            ]
        )
        self.seen = draft.text

    def _lines_of(self, text: str) -> list[str]:
        return wrap(terminal_safe(text), self._terminal.size[0])


class AbsentPerson:
    """Stands in where nobody can be asked: drafts go to stdout, everything else to stderr."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def ask(self, question: Question) -> str | None:
        """Return None: nobody answers."""
        del question
        return None

    def say(self, text: str) -> None:
        """Write a line to stderr."""
        click.echo(terminal_safe(text), err=True)

    def show_draft(self, draft: DraftView) -> None:
        """Write the text to stdout, unless that is for JSON, and the rules that it breaks to stderr."""
        if not self._session.json:
            self._session.write(draft.text)
        for note in draft.notes:
            self.say(f"! {note}")


class WritingApprover:
    """Asks in the person's language about what would be saved, changed or sent, after showing it in full."""

    def __init__(self, terminal: Terminal, person: TerminalPerson, lang: Lang, outflow: Outflow | None = None) -> None:
        self._terminal = terminal
        self._person = person
        self._lang = lang
        self._outflow = outflow or Outflow()
        self._is_search_declined = False

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Return one decision for each; blocks until the person has answered.

        Ctrl-C is a no to all that is still open if there is a draft to go back to; else it raises KeyboardInterrupt.
        """
        with without_wakeups(), interruptible():
            return self._decide_all(requests)

    def _decide_all(self, requests: Sequence[ApprovalRequest]) -> list[Decision]:
        decisions: list[Decision] = []
        try:
            decisions.extend(map(self._decide_one, requests))
        except KeyboardInterrupt:
            if not self._person.seen or is_ending():
                raise
            self._terminal.show([Row()])  # the cursor stands behind the question
            decisions.extend(map(self._refuse, requests[len(decisions) :]))
        return decisions

    def _decide_one(self, request: ApprovalRequest) -> Decision:
        if request.tool == SEARCH and request.is_exposed:
            return self._decide_search(request)
        if self._show(self._rows(request)) and self._ask(request.tool):
            return Approve()
        return self._refuse(request)

    def _decide_search(self, request: ApprovalRequest) -> Decision:
        """Ask once for all searches of the post; then only about one that is beyond what was agreed on."""
        if self._outflow.consent is None:
            if self._is_search_declined:
                return Reject(NO_SEARCHES)
            self._is_search_declined = not self._ask_for_searches(request)
            if self._is_search_declined:
                return Reject(NO_SEARCHES)
            self._outflow.grant(POST_CONSENT)
        if self._outflow.take(request.call_id, request.arguments) is None:
            return Approve()
        is_agreed = self._show([Row(), *request_rows(request)]) and self._ask_key("ask_search_alone")
        return Approve() if is_agreed else Reject()

    def _ask_for_searches(self, first: ApprovalRequest) -> bool:
        calls, characters = POST_CONSENT.calls, POST_CONSENT.characters
        is_seen = self._show([Row(), *preview_rows(first.preview)])
        return is_seen and self._ask_key("ask_searches", calls=calls, characters=characters)

    def _refuse(self, request: ApprovalRequest) -> Decision:
        if request.tool == "update_style_profile":
            self._person.say(say("not_updated", self._lang))
        return Reject()

    def _rows(self, request: ApprovalRequest) -> list[Row]:
        if request.tool not in QUESTIONS or request.preview.notes:
            return [Row(), *request_rows(request)]
        preview = request.preview
        if request.tool == "save_to_file" and preview.editable == self._person.seen:
            # The draft was shown above to the letter: only the path is new.
            preview = Preview.of_text(preview.text.removesuffix(preview.editable or "").rstrip().removesuffix(":"))
        return [Row(), *preview_rows(preview)]

    def _show(self, rows: Sequence[Row]) -> bool:
        """Show the rows page by page; return whether they were seen to the end. Turning back before is a no."""
        pager = Pager(self._terminal, rows)
        pager.forward()
        while not pager.is_seen:
            first, last, total = pager.lines
            typed = self._terminal.ask(f"{say('page_keys', self._lang, first=first, last=last, all=total)} ")
            if typed == "":
                pager.forward()
            elif parse_yes_no(typed) is False:
                return False
            elif typed in understood_words("rest"):
                pager.rest()
        return True

    def _ask(self, tool: str) -> bool:
        return self._ask_key(QUESTIONS.get(tool, "ask_allow"), about=_ABOUT.get(tool, "other"))

    def _ask_key(self, key: Key, *, about: QuestionTopic = "other", **values: object) -> bool:
        question = say("yes_no", self._lang, question=say(key, self._lang, **values))
        while True:
            answer = parse_yes_no(self._terminal.ask(f"{question} ", fresh=True), about=about)
            if answer is not None:
                return answer


def draft_title(draft: DraftView, lang: Lang) -> str:
    """Return the figures of a draft on one line."""
    return say(
        "draft_title",
        lang,
        number=draft.number,
        platform=draft.platform,
        length=draft.length,
        limit=draft.limit,
    )
