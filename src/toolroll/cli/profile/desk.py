"""Where a command about profiles works: the data folder, the language, and the person who may be asked."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import click

from toolroll.cli.call import set_up_log
from toolroll.cli.session import FAILED, NEEDS_APPROVAL, Session
from toolroll.errors import (
    ChangeRefused,
    PathRefused,
    ProfileFixed,
    ProfileInvalid,
    ProfileMissing,
    ProfileNewer,
    ToolrollError,
)
from toolroll.packs.writing.fault_texts import fault_in
from toolroll.packs.writing.keys import data_folder
from toolroll.packs.writing.messages import Key, Lang, choose_language, say
from toolroll.packs.writing.names import DEFAULT, MAX_NAME_CHARACTERS
from toolroll.packs.writing.profiles import MAX_NAMES_SHOWN, ProfileStore
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from toolroll.cli.terminal import Terminal

Answer: TypeAlias = Literal["yes", "no", "all", "stop"]

_ANSWERS: Final[dict[str, Answer]] = {
    **dict.fromkeys(("y", "yes", "т", "так"), "yes"),
    **dict.fromkeys(("n", "no", "н", "ні"), "no"),
    **dict.fromkeys(("a", "all", "в", "всі", "усі"), "all"),
    **dict.fromkeys(("q", "quit", "stop", "с", "стоп"), "stop"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every command about profiles stands on. Words for the person go to stderr, the answer to stdout."""

    session: Session
    data: Path
    lang: Lang
    yes: bool = False
    terminal: "Terminal | None" = None

    @classmethod
    def opened(cls, session: Session, *, data: Path | None, lang: str | None, yes: bool = False) -> "Desk":
        """In the folder that was named, or the usual one; in the language of option, locale or default profile."""
        from toolroll.cli.terminal import open_terminal  # noqa: PLC0415 - rich: only where words are shown

        folder = data_folder(data)
        spoken = choose_language(lang, os.environ, None if lang else _language_in(folder))
        return cls(session=session, data=folder, lang=spoken, yes=yes, terminal=open_terminal(os.environ))

    @property
    def profiles(self) -> ProfileStore:
        """The profiles of the data folder."""
        return ProfileStore(self.data)

    def words(self, key: Key, **values: object) -> str:
        """A text in the person's language."""
        return say(key, self.lang, **values)

    def tell(self, text: str) -> None:
        """Show words beside the answer."""
        if self.terminal is not None:
            self.terminal.say(text)
        else:
            click.echo(terminal_safe(text), err=True)

    def say(self, key: Key, **values: object) -> None:
        """Show a text beside the answer."""
        self.tell(self.words(key, **values))

    def write(self, text: str, *, is_raw: bool = False, **fields: object) -> None:
        """The answer: as text, or as one JSON object of the fields.

        Text is spelt out for terminals also in a pipe, whose end may be one (`less -R`), unless it is for a program.
        """
        if self.session.json:
            self.session.write_json(fields)
        else:
            self.session.write(text if is_raw else terminal_safe(text))

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
            answer = _ANSWERS.get(typed.casefold())
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


def _language_in(data: Path) -> str | None:
    try:
        return ProfileStore(data).read(DEFAULT).profile.language
    except ToolrollError:
        return None


@contextmanager
def told_in(lang: Lang) -> Iterator[None]:
    """Inside, what profiles are refused for is told in that language, under the same codes."""
    try:
        yield
    except ToolrollError as error:
        words = told_of(error, lang)
        if words is not None:
            error.args, error.message = (words,), words
        raise


def told_of(error: ToolrollError, lang: Lang) -> str | None:
    """What a person reads about an error; None where it says all itself."""
    match error:
        case ProfileMissing(profile=name, available=()):
            return say("profile_not_found_init", lang, name=name)
        case ProfileMissing(profile=name, available=available):
            more = " …" if len(available) > MAX_NAMES_SHOWN else ""
            return say("profile_not_found", lang, name=name, available=", ".join(available[:MAX_NAMES_SHOWN]) + more)
        case ProfileInvalid(faults=faults, file=file) if file:
            return say("import_refused", lang, file=file, problems=listed(faults, lang))
        case ProfileInvalid(profile=name, faults=faults):
            return say("profile_invalid", lang, name=name, problems=listed(faults, lang))
        case ProfileFixed(profile=name):
            return say("reference_profile", lang, name=name)
        case ProfileNewer(profile=name):
            return say("profile_newer", lang, name=name)
        case ChangeRefused(fields=fields, faults=faults):
            return say("validation_failed", lang, field=", ".join(fields), problems=listed(faults, lang))
        case PathRefused(rule="profile_name", path=name):
            return say("bad_profile_name", lang, name=name[:MAX_NAME_CHARACTERS], most=MAX_NAME_CHARACTERS)
        case _:
            return None


def listed(faults: tuple[str, ...], lang: Lang) -> str:
    """Every broken rule on a line of its own."""
    return "\n".join(f"- {fault_in(one, lang)}" for one in faults)


Work: TypeAlias = Callable[[Desk], int]


def at_desk(session: Session, work: Work, *, data: Path | None, lang: str | None, yes: bool = False) -> int:
    """The exit code of a piece of work; what goes wrong in it is told in the person's language."""
    set_up_log(session)
    desk = Desk.opened(session, data=data, lang=lang, yes=yes)
    with told_in(desk.lang):
        return work(desk)
