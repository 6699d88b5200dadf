"""The person for whom a post is written: at a terminal, where they can be asked, or somewhere else, where nobody is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click
from rich.text import Text

from toolroll.cli.render.prose import wrap
from toolroll.cli.render.rows import Row, preview_rows, request_rows
from toolroll.cli.session import Session
from toolroll.cli.terminal.pager import Pager
from toolroll.cli.terminal.terminal import Terminal, interruptible, without_wakeups
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, Reject
from toolroll.packs.writing.session.intents import QuestionTopic, parse_yes_no
from toolroll.packs.writing.session.interface import DraftView
from toolroll.packs.writing.texts.messages import Key, Lang, say
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.cli.chat.input import LineInput

PROMPT: Final = "> "
_QUESTIONS: Final[Mapping[str, Key]] = {
    "save_to_file": "ask_save",
    "write_to_notion": "ask_notion",
    "update_style_profile": "ask_profile_change",
}


_ABOUT: Final[Mapping[str, QuestionTopic]] = {
    "save_to_file": "save",
    "write_to_notion": "save",
    "update_style_profile": "update",
}


class TerminalPerson:
    """Sits at a terminal: sees drafts there, and answers."""

    def __init__(self, terminal: Terminal, lang: Lang, lines: "LineInput | None" = None) -> None:
        self._terminal = terminal
        self._lang = lang
        self._lines = lines
        self.seen = ""
        """The text of the draft that was shown last."""

    async def ask(self, prompt: str) -> str | None:
        """What they type; None when they close the input. With a line editor, what is pasted stays one answer."""
        if prompt.endswith(" "):  # a question that a letter answers
            with interruptible():
                return self._terminal.ask(prompt, fresh=True)
        if self._lines is None:
            with interruptible():
                return self._terminal.ask(f"{prompt}\n{PROMPT}" if prompt else "")
        if prompt:
            self._terminal.say(prompt, "title")
        return await self._lines.read(PROMPT)

    def say(self, text: str) -> None:
        """Words of the program, and of the model; a text that is there to be copied is not broken into lines."""
        if "\n\n" in text:
            self._terminal.console.print(Text(terminal_safe(text)), soft_wrap=True)
        else:
            self._terminal.say(text)

    def show_draft(self, draft: DraftView) -> None:
        """The draft with its figures above, and below what is wrong with it."""
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
    """Nobody can be asked: drafts go to stdout, everything else to stderr."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def ask(self, prompt: str) -> str | None:
        """Nobody answers."""
        del prompt
        return None

    def say(self, text: str) -> None:
        """A line on stderr."""
        click.echo(terminal_safe(text), err=True)

    def show_draft(self, draft: DraftView) -> None:
        """The text alone on stdout, unless that is for JSON; what is wrong with it on stderr."""
        if not self._session.json:
            self._session.write(draft.text)
        for note in draft.notes:
            self.say(f"! {note}")


class WritingApprover:
    """Asks in the person's language about each thing that would be kept, changed or sent, after it was seen in full."""

    def __init__(self, terminal: Terminal, person: TerminalPerson, lang: Lang) -> None:
        self._terminal = terminal
        self._person = person
        self._lang = lang

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """One decision for each; blocks until the person has answered.

        Ctrl-C is a no to all that is still open, where there is a draft to go back to; else it is KeyboardInterrupt.
        """
        with without_wakeups(), interruptible():
            return self._decisions(requests)

    def _decisions(self, requests: Sequence[ApprovalRequest]) -> list[Decision]:
        decisions: list[Decision] = []
        try:
            decisions.extend(map(self._decision, requests))
        except KeyboardInterrupt:
            if not self._person.seen:
                raise
            self._terminal.show([Row()])  # the cursor stands behind the question
            decisions.extend(map(self._refused, requests[len(decisions) :]))
        return decisions

    def _decision(self, request: ApprovalRequest) -> Decision:
        if self._shown(self._rows(request)) and self._agreed(request.tool):
            return Approve()
        return self._refused(request)

    def _refused(self, request: ApprovalRequest) -> Decision:
        if request.tool == "update_style_profile":
            self._person.say(say("not_updated", self._lang))
        return Reject()

    def _rows(self, request: ApprovalRequest) -> list[Row]:
        if request.tool not in _QUESTIONS or request.preview.notes:
            return [Row(), *request_rows(request)]
        preview = request.preview
        if request.tool == "save_to_file" and preview.editable == self._person.seen:
            # It stands above to the letter: only where it will be is new.
            preview = Preview.of_text(preview.text.removesuffix(preview.editable or "").rstrip().removesuffix(":"))
        return [Row(), *preview_rows(preview)]

    def _shown(self, rows: Sequence[Row]) -> bool:
        """Whether it was seen to its end; a person who turns back before has said no."""
        pager = Pager(self._terminal, rows)
        pager.forward()
        while not pager.is_seen:
            first, last, total = pager.lines
            match self._terminal.ask(say("page_keys", self._lang, first=first, last=last, all=total)):
                case "":
                    pager.forward()
                case "v":
                    pager.rest()
                case "n" | "н" | None:
                    return False
                case _:
                    continue
        return True

    def _agreed(self, tool: str) -> bool:
        asked = say("yes_no", self._lang, question=say(_QUESTIONS.get(tool, "ask_allow"), self._lang))
        while True:
            answer = parse_yes_no(self._terminal.ask(asked, fresh=True), about=_ABOUT.get(tool, "other"))
            if answer is not None:
                return answer


def draft_title(draft: DraftView, lang: Lang) -> str:
    """The figures of a draft on one line."""
    return say(
        "draft_title",
        lang,
        number=draft.number,
        platform=draft.platform,
        length=draft.length,
        limit=draft.limit,
    )
