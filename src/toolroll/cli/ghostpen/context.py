"""What every ghostpen command works with: the data folder, the language, and the person who may be asked."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from toolroll.apps import models
from toolroll.cli.render.prose import notify
from toolroll.cli.session import FAILED, NEEDS_APPROVAL, Session
from toolroll.cli.terminal.terminal import Terminal, open_terminal
from toolroll.errors import FileMissing, ToolrollError
from toolroll.home.env_file import add_env_files
from toolroll.home.keys import is_key_name
from toolroll.home.settings import read_settings
from toolroll.messages import Template
from toolroll.packs.keys import all_keys
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.intents import Answer, parse_answer
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key, Lang, choose_language, say, translate
from toolroll.packs.writing.tools.dependencies import LOCAL_DATA, data_folder, is_trusted, trust_data
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.text import terminal_safe

ENV_NAMES: Final = frozenset({*filter(is_key_name, all_keys()), "NOTION_DATABASE_ID"})
"""What is taken from a `.env` file: keys, and the database that posts go to; never an address."""

WITHOUT_MODEL: Final = Template(
    "ghostpen_without_model", "Without a model, 'ghostpen --demo' shows how a post is written."
)()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """The session of a command with its data folder and language. Messages go to stderr, the answer to stdout."""

    session: Session
    data: Path
    lang: Lang
    yes: bool = False
    terminal: Terminal | None = None

    def __post_init__(self) -> None:
        # The session reports errors after the command has ended: its own words are in the person's language too.
        self.session.error_label = self.text("error_word")
        self.session.interrupted_message = self.text("interrupted")

    @classmethod
    def open(cls, session: Session, *, data: Path | None, lang: str | None, yes: bool = False) -> "CommandContext":
        """Return the context for a folder, or the default one; in the language of option, locale or default profile."""
        spoken = choose_language(lang, os.environ)
        if data is None and LOCAL_DATA.is_dir() and not is_trusted(Path.cwd()):
            _ask_for_trust(session, spoken)
        with translate_errors(spoken):
            folder = data_folder(data)
        added = add_env_files((folder, Path.cwd()), ENV_NAMES, os.environ)
        if added:
            notify(say("env_file_used", spoken, names=", ".join(added)), dim=True)
        chosen = choose_language(lang, os.environ, None if lang else _profile_language(folder))
        terminal = open_terminal(os.environ, translate=lambda message: translate(message, chosen))
        return cls(session=session, data=folder, lang=chosen, yes=yes, terminal=terminal)

    @property
    def profiles(self) -> ProfileStore:
        """Return the profiles of the data folder."""
        return ProfileStore(self.data)

    def text(self, key: Key, **values: object) -> str:
        """Return a text in the person's language."""
        return say(key, self.lang, **values)

    def translate(self, message: str) -> str:
        """Return a message of another part of the program in the person's language."""
        return translate(message, self.lang)

    def show(self, text: str) -> None:
        """Show a message beside the answer."""
        if self.terminal is not None:
            self.terminal.say(text)
        else:
            notify(terminal_safe(text))

    def say(self, key: Key, **values: object) -> None:
        """Show a text beside the answer."""
        self.show(self.text(key, **values))

    def write(self, text: str, *, is_raw: bool = False, **fields: object) -> None:
        """Write the answer: as text, or with --json as one object of the fields.

        Text is made safe for terminals also in a pipe, whose end may be one (`less -R`), unless it is for a program.
        """
        if self.session.json:
            self.session.write_json(fields)
        elif is_raw:
            self.session.write_data(text)
        else:
            self.session.show(text if self.session.out.isatty() else terminal_safe(text))

    @contextmanager
    def file_errors(self, file: str) -> Iterator[None]:
        """Describe errors of a file for a person: the advice of the stores is for a model, which can list a folder."""
        try:
            with os_errors(file):
                yield
        except FileMissing as error:
            raise FileMissing(self.text("no_file", file=error.path), path=error.path) from None

    def confirm(self, key: Key, **values: object) -> int | None:
        """Return None once the person agrees, or did so with --yes; else the exit code, after saying so."""
        if self.yes:
            return None
        if self.terminal is None:
            return self.fail_nobody()
        return None if self.ask_yes_no(self.text(key, **values)) else self.fail_declined()

    def ask_yes_no(self, question: str) -> bool:
        """Ask until the person says yes or no; a closed input is a no."""
        return self._ask("yes_no", question, ("yes", "no", "stop")) == "yes"

    def ask_each(self, question: str) -> Answer:
        """Ask about one of several things; a closed input stops."""
        return self._ask("yes_no_all", question, ("yes", "no", "all", "stop"))

    def fail_nobody(self) -> int:
        """Report that nobody is there to be asked; return the exit code."""
        self.session.fail("needs_approval", self.text("nobody_to_ask"))
        return NEEDS_APPROVAL

    def fail_declined(self) -> int:
        """Report that the person does not want it; return the exit code."""
        self.session.fail("rejected", self.text("nothing_done"))
        return FAILED

    def _ask(self, key: Literal["yes_no", "yes_no_all"], question: str, known: tuple[Answer, ...]) -> Answer:
        assert self.terminal is not None  # the caller has looked
        while True:
            typed = self.terminal.ask(f"{self.text(key, question=question)} ", fresh=True)
            answer = parse_answer(typed)
            if answer in known and (answer != "stop" or typed is None or "all" in known):
                return answer


Command: TypeAlias = Callable[[CommandContext], int]


def run_command(session: Session, command: Command, *, data: Path | None, lang: str | None, yes: bool = False) -> int:
    """Run the body of a command and return its exit code; errors are described in the person's language."""
    session.set_up_logging()
    context = CommandContext.open(session, data=data, lang=lang, yes=yes)
    with translate_errors(context.lang):
        return command(context)


@contextmanager
def translate_errors(lang: Lang) -> Iterator[None]:
    """Describe errors in that language, under the same codes."""
    try:
        yield
    except ToolrollError as error:
        message = describe_error(error, lang)
        error.args, error.message = (message,), message
        raise


def _ask_for_trust(session: Session, lang: Lang) -> None:
    """Ask, where somebody is there, whether `./data` is theirs; its profiles say how to write."""
    terminal = open_terminal(os.environ, translate=lambda message: translate(message, lang))
    context = CommandContext(session=session, data=LOCAL_DATA, lang=lang, terminal=terminal)
    if terminal is not None and context.ask_yes_no(context.text("ask_trust_data", folder=LOCAL_DATA)):
        trust_data(Path.cwd())


def _profile_language(data: Path) -> str | None:
    try:
        return ProfileStore(data).read(DEFAULT).profile.language
    except ToolrollError:
        return None


def choose_model(given: str | None) -> str:
    """Return the name of the model: given here, in the environment, or in the settings."""
    settings = read_settings(os.environ, root=Path.cwd(), flags={"model": given or None})
    return models.choose_model(settings, alternative=WITHOUT_MODEL)
