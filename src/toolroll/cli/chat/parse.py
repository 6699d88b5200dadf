"""What a message in a chat is: a command that begins with `/`, or words for the model with files that `@path` names.

Nothing here asks the file system, and no two texts are told apart by anything but their letters.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeAlias

from toolroll.errors import UsageError
from toolroll.messages import Template, Text
from toolroll.safe.text import suspicious, visible

MAX_MESSAGE_CHARACTERS: Final = 100_000
"""Of one message: about 25,000 tokens. What is longer belongs into a file that is mentioned."""

TOO_LONG: Final = Template(
    "message_too_long",
    "The message has {count} characters, and the limit is {most}.",
    "Put it into a file, and mention the file with @.",
)

HELP: Final = "help"

# A path (`/etc/hosts`), a comment (`//`) or a fraction (`/2`) at the beginning is no command.
_COMMAND: Final = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?", re.DOTALL)
# Not behind a letter (an e-mail address), a quotation mark or a slash (a package in code), nor behind a second `@`.
_AT: Final = r"""(?<![\w.+\-@/\\"'`])@"""
_LETTER: Final = r"""[^\s@"'`<>|]"""
_MENTION: Final = re.compile(rf'{_AT}(?:"([^"\n]+)"|({_LETTER}(?:(?<={_LETTER}\\) (?=[^\s@])|{_LETTER})*))')
_OPEN: Final = re.compile(rf'{_AT}"(?![^"\n]*")[^\n]*')
_BLANK: Final = "\\ "  # as a shell completes it
_ESCAPED: Final = re.compile(r"\\@")
_AFTER: Final = ".,;:!?)]}…"
_LIKENESS: Final = 0.5
"""Of an unknown command to the one that was meant: `/quit` is not like anything, `/modle` is."""
_HIDDEN: Final = frozenset({"control", "bidi", "invisible", "surrogate"})


def describe_too_long(text: str) -> Text:
    """Return the note about a message, or about text that was pasted into one, that is too long."""
    return TOO_LONG(count=f"{len(text):,}", most=f"{MAX_MESSAGE_CHARACTERS:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCommand:
    """A command, and what stands behind its name."""

    name: str
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCommand:
    """What looks like a command and is none; `nearest` is what may have been meant, or nothing."""

    name: str
    nearest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """What may be a path, from the most that can belong to it to the least: `a.py).` may be `a.py`."""

    spellings: tuple[str, ...]
    is_quoted: bool

    @property
    def name(self) -> str:
        """Return as much of the mention as a path usually has."""
        return self.spellings[-1]


Parsed: TypeAlias = ChatCommand | UnknownCommand | None


def parse_command(text: str, known: Iterable[str]) -> Parsed:
    """Return the command of a message; `/` alone lists the commands. Return None for what goes to the model."""
    if text.strip() == "/":
        return ChatCommand(name=HELP)
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    name, names = found[1].casefold(), list(known)
    if name in names:
        return ChatCommand(name=name, rest=(found[2] or "").strip())
    return UnknownCommand(name=found[1], nearest=_nearest(name, names))


def split_words(rest: str) -> list[str]:
    """Return what stands behind a command, in words as in a shell; UsageError where a quotation mark is open."""
    try:
        return shlex.split(rest)
    except ValueError:
        raise UsageError(f"A quotation mark is not closed: {rest}") from None


def _nearest(name: str, names: list[str]) -> str:
    begun = [one for one in names if one.startswith(name)]
    return next(iter(begun or get_close_matches(name, names, n=1, cutoff=_LIKENESS)), "")


def find_mentions(text: str) -> Iterator[Mention]:
    """Yield all that may be files in a message, in their order, each once."""
    seen: set[tuple[str, ...]] = set()
    for found in _MENTION.finditer(text):
        mention = _quoted(found[1]) if found[1] else _bare(found[2].replace(_BLANK, " "))
        if mention is not None and mention.spellings not in seen:
            seen.add(mention.spellings)
            yield mention


def _quoted(name: str) -> Mention | None:
    return Mention(spellings=(name,), is_quoted=True) if name.strip() else None


def _bare(token: str) -> Mention | None:
    ends = [len(token)]
    while ends[-1] and token[ends[-1] - 1] in _AFTER:
        ends.append(ends[-1] - 1)
    spellings = tuple(token[:end] for end in ends if end)
    # `@...` and `@)` name nothing, however they are read.
    return Mention(spellings=spellings, is_quoted=False) if ends[-1] else None


def find_open_mention(text: str) -> str | None:
    """Return a mention whose quotation mark is not closed in its line, as it is written; None where there is none."""
    found = _OPEN.search(text)
    return None if found is None else found[0]


def remove_escapes(text: str) -> str:
    """Return the message as it is sent: `\\@` is an `@` that mentions nothing."""
    return _ESCAPED.sub("@", text)


def format_mention(path: str) -> str:
    """Return how a path is written so that it is found again: in quotation marks where it would end too early."""
    bare = _MENTION.fullmatch(f"@{path}")
    plain = bare is not None and bare[2] is not None and path[-1] not in (*_AFTER, "\\") and _BLANK not in path
    return f"@{path}" if plain else f'@"{path}"'


def spell_out_hidden(text: str) -> str:
    """Return a text that was typed or pasted with everything invisible spelled out: no hidden word reaches a model.

    Line ends become `\\n`; blanks, tabs and all that is drawn stay as they are.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    pieces, at = [], 0
    for one in suspicious(text, limit=len(text)):
        if one.kind in _HIDDEN:
            pieces += [text[at : one.position], visible(text[one.position], keep=())]
            at = one.position + 1
    return "".join([*pieces, text[at:]])
