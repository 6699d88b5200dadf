"""The line editor of a chat, made of prompt_toolkit. Imported by a session alone: it takes ten interpreter starts."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final

from prompt_toolkit.application import get_app, run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, is_done
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.defaults import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.containers import ConditionalContainer, HSplit, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle, PromptSession

from toolroll.cli.chat.parse import MAX_MESSAGE_CHARACTERS, describe_too_long, spell_out_hidden
from toolroll.messages import Template

if TYPE_CHECKING:
    from toolroll.cli.chat.suggestions import Suggester, Suggestion

CONTINUED: Final = "· "
LEAVE_HINT: Final = Template("press_again_to_leave", "Press Ctrl-C again to leave.")()
MENU_ROWS: Final = 6


def make_prompt_session(
    *,
    texts: Sequence[str],
    suggester: "Suggester | None",
    warn: Callable[[str], None],
    status: Callable[[], str] | None = None,
    has_vi_keys: bool = False,
) -> "PromptSession[str]":
    """Return what reads one message after the other from the terminal, and shows it on stderr.

    `texts` are what the arrow keys bring back, the oldest first; `warn` shows a line above the message, and `status`
    is the line below it.
    """
    session = _Session(
        input=create_input(sys.stdin),
        output=_output(),
        multiline=True,
        prompt_continuation=_continued,
        key_bindings=_Keys(warn).bindings,
        history=InMemoryHistory(texts),
        # In a thread: a key never waits for a suggestion.
        completer=None if suggester is None else ThreadedCompleter(_Completer(suggester)),
        complete_style=CompleteStyle.COLUMN,
        complete_while_typing=suggester is not None,
        reserve_space_for_menu=MENU_ROWS if suggester is not None else 0,
        enable_history_search=False,
        enable_system_prompt=False,
        enable_suspend=False,
        enable_open_in_editor=False,
        mouse_support=False,
        vi_mode=has_vi_keys,
    )
    if status is not None:
        _add_status(session, status)
    return session


def _add_status(session: "PromptSession[str]", status: Callable[[], str]) -> None:
    """Put a line below the message. The editor's own toolbar would wait for the place of the cursor, see `_output`."""
    control = FormattedTextControl(lambda: [("fg:ansibrightblack", status())])
    line = ConditionalContainer(Window(control, height=1, dont_extend_height=True), filter=~is_done)
    session.layout.container = HSplit([session.layout.container, line])


class _Session(PromptSession[str]):
    """Leaves room for a menu only while one may come: the line below the prompt stands right below it else."""

    _rows = 0

    @property
    def reserve_space_for_menu(self) -> int:
        """Return the rows below the message that are kept free."""
        return self._rows if _may_complete(self.default_buffer.document.text_before_cursor) else 0

    @reserve_space_for_menu.setter
    def reserve_space_for_menu(self, rows: int) -> None:
        self._rows = rows


def _may_complete(before: str) -> bool:
    return before.startswith("/") or "@" in before


def _continued(_width: int, _line: int, is_wrapped: int) -> str:
    """What stands before the second line and those after it; a line that is only too long has nothing there."""
    return "" if is_wrapped else CONTINUED


def _output() -> Vt100_Output:
    # Without asking where the cursor is: the answer may come when somebody else reads the keyboard, as typed letters.
    return Vt100_Output(
        sys.stderr, _size, term=os.environ.get("TERM"), default_color_depth=ColorDepth.from_env(), enable_cpr=False
    )


def _size() -> Size:
    columns, rows = get_terminal_size()
    return Size(rows=rows, columns=columns)


class _Completer(Completer):
    """Suggestions in the form that the line editor takes."""

    def __init__(self, suggester: "Suggester") -> None:
        self._suggester = suggester

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 - its shape
        """What may be meant; looked for as long as it is typed, for nobody asks again before the next key."""
        before = document.text_before_cursor
        found = self._suggester.suggest(before)
        while not found and self._suggester.may_find_more(before) and _is_typed(document):
            found = self._suggester.suggest(before)
        return [_completion(one) for one in found]


def _is_typed(document: Document) -> bool:
    """Whether this is what stands there now, and was not sent off."""
    app = get_app()
    return not app.is_done and app.current_buffer.document == document


def _completion(one: "Suggestion") -> Completion:
    return Completion(one.text, start_position=-one.replaces, display_meta=one.about or None)


class _Keys:
    """What the keys of a message do; the rest is as in every line editor."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._was_empty = False
        self.bindings = KeyBindings()
        add = self.bindings.add
        add("enter")(self._send)
        add("enter", filter=Condition(_is_choosing))(self._take)
        add("escape", "enter")(self._new_line)
        add("escape", "c-j")(
            self._new_line
        )  # the same, typed before the editor was there: the terminal made it a line end
        # A Ctrl-D that was typed before the editor was there: the terminal made it a mark that ends a line.
        add("c-@")(_nothing)
        add("c-c")(self._clear)
        add("c-d", filter=Condition(_is_empty))(self._leave)
        add(Keys.BracketedPaste)(self._paste)

    def _send(self, event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.is_cursor_at_the_end and buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    def _take(self, event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    def _new_line(self, event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    def _clear(self, event: KeyPressEvent) -> None:
        """The first press clears the line; pressed again, with nothing typed between, it leaves."""
        is_again = event.is_repeat and self._was_empty
        self._was_empty = _is_empty()
        event.current_buffer.reset()
        if self._was_empty and is_again:
            event.app.exit(exception=EOFError)
        elif self._was_empty:
            run_in_terminal(lambda: self._warn(LEAVE_HINT))

    def _leave(self, event: KeyPressEvent) -> None:
        event.app.exit(exception=EOFError)

    def _paste(self, event: KeyPressEvent) -> None:
        text = spell_out_hidden(event.data)
        if len(text) + len(event.current_buffer.text) > MAX_MESSAGE_CHARACTERS:
            run_in_terminal(lambda: self._warn(describe_too_long(text)))
        else:
            event.current_buffer.insert_text(text)


def _nothing(_event: KeyPressEvent) -> None:
    return None


def _is_choosing() -> bool:
    """Whether one of several suggestions is picked: Enter then takes it. Where there was one, nothing is left open."""
    state = get_app().current_buffer.complete_state
    return state is not None and state.current_completion is not None and len(state.completions) > 1


def _is_empty() -> bool:
    return not get_app().current_buffer.text
