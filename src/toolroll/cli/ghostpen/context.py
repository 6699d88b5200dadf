"""Where a command about profiles works: the data folder, the language, and the person who may be asked."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolroll.cli.render.prose import notify
from toolroll.cli.session import FAILED, NEEDS_APPROVAL, Session
from toolroll.errors import FileMissing, ToolrollError
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.intents import parse_yes_no
from toolroll.packs.writing.texts.error_texts import describe_error, translate_message
from toolroll.packs.writing.texts.messages import Key, Lang, choose_language, say
from toolroll.packs.writing.tools.dependencies import data_folder
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.cli.terminal.terminal import Terminal

__all__ = ["Answer", "Command", "CommandContext", "describe_error", "run_command", "translate_errors"]

Answer: TypeAlias = Literal["yes", "no", "all", "stop"]

_ANSWERS: Final[dict[str, Answer]] = {
    **dict.fromkeys(("a", "all", "в", "всі", "усі"), "all"),
    **dict.fromkeys(("q", "quit", "stop", "с", "стоп"), "stop"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """What every command about profiles stands on. Words for the person go to stderr, the answer to stdout."""

    session: Session
    data: Path
    lang: Lang
    yes: bool = False
    terminal: "Terminal | None" = None

    def __post_init__(self) -> None:
        # Errors are told by the session, after the desk is gone: its own words are in the person's language too.
        self.session.error_label = self.words("error_word")
        self.session.interrupted_message = self.words("interrupted")

    @classmethod
    def opened(cls, session: Session, *, data: Path | None, lang: str | None, yes: bool = False) -> "CommandContext":
        """In the folder that was named, or the usual one; in the language of option, locale or default profile."""
        from toolroll.cli.terminal.terminal import open_terminal  # noqa: PLC0415 - rich: only where words are shown

        folder = data_folder(data)
        spoken = choose_language(lang, os.environ, None if lang else _profile_language(folder))
        return cls(session=session, data=folder, lang=spoken, yes=yes, terminal=open_terminal(os.environ))

    @property
    def profiles(self) -> ProfileStore:
        """The profiles of the data folder."""
        return ProfileStore(self.data)

    def words(self, key: Key, **values: object) -> str:
        """A text in the person's language."""
        return say(key, self.lang, **values)

    def spoken(self, text: str) -> str:
        """Words that another room says in English, in the person's language."""
        return translate_message(text, self.lang)

    def tell(self, text: str) -> None:
        """Show words beside the answer."""
        if self.terminal is not None:
            self.terminal.say(text)
        else:
            notify(terminal_safe(text))

    def say(self, key: Key, **values: object) -> None:
        """Show a text beside the answer."""
        self.tell(self.words(key, **values))

    def write(self, text: str, *, is_raw: bool = False, **fields: object) -> None:
        """The answer: as text, or as one JSON object of the fields.

        Text is spelt out for terminals also in a pipe, whose end may be one (`less -R`), unless it is for a program.
        """
        if self.session.json:
            self.session.write_json(fields)
        elif is_raw:
            self.session.write(text)
        else:
            self.session.show(text if self.session.out.isatty() else terminal_safe(text))

    @contextmanager
    def reading(self, file: str) -> Iterator[None]:
        """Inside, a file that cannot be opened is told in words for a person; those of a store tell a model to list."""
        try:
            with os_errors(file):
                yield
        except FileMissing as error:
            raise FileMissing(self.words("no_file", file=error.path), path=error.path) from None

    def not_agreed(self, key: Key, **values: object) -> int | None:
        """None once the person has said yes, or has said so beforehand; else the exit code, and it was told."""
        if self.yes:
            return None
        if self.terminal is None:
            return self.nobody()
        return None if self.choose("yes_no", self.words(key, **values)) == "yes" else self.left()

    def choose(self, key: Literal["yes_no", "yes_no_all"], question: str) -> Answer:
        """What the person answers; a closed input is a no that stops."""
        assert self.terminal is not None  # who can be asked was found out before
        known = ("yes", "no") if key == "yes_no" else ("yes", "no", "all", "stop")
        while True:
            typed = self.terminal.ask(self.words(key, question=question), fresh=True)
            if typed is None:
                return "stop"
            answer = _parse_answer(typed)
            if answer is not None and answer in known:
                return answer

    def nobody(self) -> int:
        """There is nobody to ask."""
        self.session.fail("needs_approval", self.words("nobody_to_ask"))
        return NEEDS_APPROVAL

    def left(self) -> int:
        """The person does not want it."""
        self.session.fail("rejected", self.words("nothing_done"))
        return FAILED


def _parse_answer(typed: str) -> Answer | None:
    agreed = parse_yes_no(typed)
    if agreed is None:
        return _ANSWERS.get(typed.casefold())
    return "yes" if agreed else "no"


def _profile_language(data: Path) -> str | None:
    try:
        return ProfileStore(data).read(DEFAULT).profile.language
    except ToolrollError:
        return None


@contextmanager
def translate_errors(lang: Lang) -> Iterator[None]:
    """Inside, what goes wrong is told in that language, under the same codes."""
    try:
        yield
    except ToolrollError as error:
        words = describe_error(error, lang)
        error.args, error.message = (words,), words
        raise


Command: TypeAlias = Callable[[CommandContext], int]


def run_command(session: Session, work: Command, *, data: Path | None, lang: str | None, yes: bool = False) -> int:
    """The exit code of a piece of work; what goes wrong in it is told in the person's language."""
    session.set_up_logging()
    desk = CommandContext.opened(session, data=data, lang=lang, yes=yes)
    with translate_errors(desk.lang):
        return work(desk)
