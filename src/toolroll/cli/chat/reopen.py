"""Earlier conversations about code, to go on with: the last one in a folder, one by its id, or one from a list (S9)."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from toolroll.cli.actions.runs.listing import ID_CHARACTERS, format_cost, format_folder, format_title
from toolroll.cli.render.prose import notify
from toolroll.cli.render.rows import Row
from toolroll.cli.session import Session
from toolroll.cli.terminal.terminal import Terminal, interruptible, open_terminal
from toolroll.errors import UsageError
from toolroll.journal.conversations import ConversationSummary, find_conversations
from toolroll.journal.journal import Recording
from toolroll.journal.places import find_run_log
from toolroll.journal.records import StateSet
from toolroll.kernel.data.messages import AssistantMessage, Message, TextPart, UserMessage
from toolroll.safe.text import one_line, terminal_safe

MIN_ID_CHARACTERS: Final = 4
MAX_CHOICES: Final = 9
MAX_MODEL_CHARACTERS: Final = 30
MAX_LAST_LINES: Final = 12
"""Of the last answer: half of a small screen."""

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def find_last(root: Path) -> ConversationSummary:
    """Return the latest conversation about this folder; UsageError if there is none."""
    found = next((one for one in _read() if one.folder == str(root)), None)
    if found is None:
        raise UsageError(f"There is no earlier chat in {root}. Start one without --continue.")
    return found


def find_by_id(given: str) -> ConversationSummary:
    """Return the conversation that a run of this id belongs to; the beginning of the id is enough."""
    wanted = given.casefold()
    fitting = [
        one
        for one in (_read() if len(wanted) >= MIN_ID_CHARACTERS else ())
        if any(run.run_id.startswith(wanted) for run in one.runs) or one.chat_id.startswith(wanted)
    ]
    if len(fitting) > 1:
        raise UsageError(f"{len(fitting)} chats begin with {given!r}. Write more of the id.")
    if not fitting:
        raise UsageError(f"There is no chat {one_line(given, 64)!r}. 'toolroll code --resume' lists them.")
    return fitting[0]


def choose_conversation(root: Path | None) -> ConversationSummary | None:
    """Let the person choose from a list: of this folder, or of all. Return None for none of them."""
    terminal = open_terminal(os.environ)
    if terminal is None:
        raise UsageError("There is no terminal to choose at. Name the chat: toolroll code --resume ID (or --continue).")
    found = list(islice((one for one in _read() if root is None or one.folder == str(root)), MAX_CHOICES))
    if not found:
        raise UsageError("There is no earlier chat to go on with.")
    with interruptible():
        return _choose(terminal, found)


def _choose(terminal: Terminal, found: Sequence[ConversationSummary]) -> ConversationSummary | None:
    terminal.show([row for number, one in enumerate(found, 1) for row in _choice_rows(number, one)])
    while True:
        answer = terminal.ask(f"Which one? [1-{len(found)}, Enter for none] ", fresh=True)
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(found):
            return found[int(answer) - 1]
        terminal.say(f"Type a number from 1 to {len(found)}, or only Enter.")


def _choice_rows(number: int, one: ConversationSummary) -> list[Row]:
    title = format_title(one.title) or one.chat_id[:ID_CHARACTERS]
    return [
        Row(text=title, look="heading", gutter=f"{number}  "),
        Row(text=describe_conversation(one), look="note", gutter="   "),
    ]


def describe_conversation(one: ConversationSummary) -> str:
    """Return what tells a conversation from others, on one line."""
    said = "1 message" if one.messages == 1 else f"{one.messages} messages"
    fork = [] if one.first.forked_from is None else [f"fork of {one.first.forked_from[:ID_CHARACTERS]}"]
    model = one_line(one.last.model, MAX_MODEL_CHARACTERS)
    age = format_age(datetime.now(UTC).timestamp() - one.last.updated)
    cost = [] if one.cost is None else [format_cost(one.cost)]
    return " · ".join([age, *fork, said, model, *cost, format_folder(one.folder)])


def format_age(seconds: float) -> str:
    """Return how long ago something was."""
    for unit, name in _UNITS:
        if (count := int(seconds // unit)) > 0:
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"


def show_last_words(session: Session, messages: Sequence[Message], found: ConversationSummary) -> None:
    """Show which conversation is gone on with, and how it ended."""
    notify(terminal_safe(f"· Going on with: {format_title(found.title)}"), dim=True)
    notify(terminal_safe(f"  {describe_conversation(found)}"), dim=True)
    said = next((one for one in reversed(messages) if isinstance(one, UserMessage)), None)
    if said is not None:
        texts = (part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in said.content)
        notify(terminal_safe(f"> {format_title(''.join(texts))}"), dim=True)
    answer = next((one.text for one in reversed(messages) if isinstance(one, AssistantMessage) and one.text), "")
    lines = answer.strip().split("\n")
    if answer.strip():
        session.show("\n".join(lines[-MAX_LAST_LINES:]))


def read_state(recording: Recording, prefix: str) -> dict[str, object]:
    """Return what was kept with a run under names that begin so."""
    kept = {one.name: one.value for _, one in recording if isinstance(one, StateSet)}
    return {name: value for name, value in kept.items() if name.startswith(prefix)}


def _read() -> Iterator[ConversationSummary]:
    return find_conversations(find_run_log(os.environ), application="code")
