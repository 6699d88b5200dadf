"""The approver at a terminal (S5): shows all of a request, and takes a yes only from a person who has had it in view.

Every key that can lead to a yes works after the last page only (XA6). Ctrl-D is a no; Ctrl-C is a no to everything
and ends the command.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from toolroll.apps.permissions import RuleMemory
from toolroll.cli.render.rows import Row, argument_rows, is_told_by_diff, preview_rows, request_rows
from toolroll.cli.session import ring
from toolroll.cli.terminal.always_rule import remember
from toolroll.cli.terminal.editor import edit_text
from toolroll.cli.terminal.hunks import choose_hunks
from toolroll.cli.terminal.pager import PAGE_HELP, PAGE_KEYS, Pager, show_all
from toolroll.cli.terminal.terminal import Terminal, confirm, interruptible, open_terminal
from toolroll.errors import ToolrollError
from toolroll.kernel.approval.hunk_choice import HunkChoice, find_choice
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, Reject
from toolroll.kernel.call.context import random_id
from toolroll.kernel.diff.hunks import EDITED, Diff, restore_original
from toolroll.kernel.diff.unified import unified_diff
from toolroll.safe.limits import APPROVAL_TIMEOUT_S
from toolroll.safe.text import visible

_WORDS: Final = {"yes": "y", "no": "n", "edit": "e", "all": "a", "hunks": "h", "always": "!", "help": "?"}
_HELP: Final = """\
y  yes, do exactly this
n  no; you may say why, and the model reads it
e  change the text in your editor first
h  go through the changes one by one, and take only some
a  yes to this and all others of this batch, after you have seen them
!  yes, and from now on without asking for this tool on such paths
Ctrl-D is no. Ctrl-C is no to everything, and stops."""

Answer: TypeAlias = Decision | Literal["all"] | None
"""What a key led to: a decision, the wish to approve all that follows, or nothing yet."""


def make_approver(
    memory: RuleMemory | None, timeout_s: float | None, *, stdin_is_taken: bool
) -> "TerminalApprover | None":
    """Return an approver that asks the person at the terminal; None where nobody is there.

    Without `timeout_s` a question waits for ever.
    """
    terminal = open_terminal(os.environ, stdin_is_taken=stdin_is_taken)
    if terminal is None:
        return None
    return TerminalApprover(terminal, environment=os.environ, memory=memory, timeout_s=timeout_s)


def ask_yes_or_no(question: str, *, rows: Sequence[Row], stdin_is_taken: bool) -> bool | None:
    """Show `rows` to their end, and ask; return None where nobody is there to answer."""
    terminal = open_terminal(os.environ, stdin_is_taken=stdin_is_taken)
    if terminal is None:
        return None
    with interruptible():
        return (not rows or show_all(terminal, rows)) and confirm(terminal, question)


class TerminalApprover:
    """Asks the person at a terminal about each request."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        environment: Mapping[str, str],
        memory: RuleMemory | None = None,
        timeout_s: float | None = APPROVAL_TIMEOUT_S,
    ) -> None:
        self._terminal = terminal
        self._timeout_s = timeout_s
        self._environment = environment
        self._memory = memory

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Return one decision for each; wait until the person has answered. Ctrl-C is raised as KeyboardInterrupt.

        Where no key is pressed for too long nobody is there: that is a no to this request and to all after it (C30).
        """
        decisions: list[Decision] = []
        ring()
        try:
            with interruptible(), self._terminal.waiting(self._timeout_s):
                self._ask_all(requests, decisions)
        except TimeoutError:
            told = f"no answer within {self._timeout_s:g} seconds"
            then = "What asked goes on without it; Ctrl-C stops it. Set approval_seconds to wait longer."
            self._terminal.say(f"There was {told}: that is a no. {then}", "warning")
            decisions += [Reject(told)] * (len(requests) - len(decisions))
        return decisions

    def _ask_all(self, requests: Sequence[ApprovalRequest], decisions: list[Decision]) -> None:
        while len(decisions) < len(requests):
            if self._is_covered(requests[len(decisions)]):
                decisions.append(Approve())
                continue
            answer = self._question(requests, len(decisions)).ask()
            if answer != "all":
                decisions.append(answer)
            elif self._confirm_all(requests, len(decisions) + 1):
                decisions += [Approve(batch=random_id())] * (len(requests) - len(decisions))

    def _is_covered(self, request: ApprovalRequest) -> bool:
        """Whether an "always" to a question before this one holds for it, too; that is told."""
        if self._memory is None or not self._memory.covers(request):
            return False
        paths = ", ".join(visible(path, keep=()) for path in request.judged_paths)
        about = f"{request.tool} on {paths}" if paths else request.tool
        self._terminal.say(f"\nWithout asking, as you have said always: {about}.")
        return True

    def _question(self, requests: Sequence[ApprovalRequest], index: int) -> "_Question":
        return _Question(
            self._terminal,
            requests[index],
            rows=request_rows(requests[index], number=index + 1, total=len(requests)),
            others=len(requests) - index - 1,
            environment=self._environment,
            memory=self._memory,
        )

    def _confirm_all(self, requests: Sequence[ApprovalRequest], first: int) -> bool:
        """Show what has not been shown yet, then ask once about all of it."""
        for index in range(first, len(requests)):
            self._terminal.say("")
            if not show_all(self._terminal, request_rows(requests[index], number=index + 1, total=len(requests))):
                return False
        return confirm(self._terminal, f"Yes to all {len(requests) - first + 1}?")


class _Question:
    """The conversation about one request."""

    def __init__(
        self,
        terminal: Terminal,
        request: ApprovalRequest,
        *,
        rows: Sequence[Row],
        others: int,
        environment: Mapping[str, str],
        memory: RuleMemory | None,
    ) -> None:
        self._terminal = terminal
        self._request = request
        self._pager = Pager(terminal, rows)
        self._environment = environment
        self._memory = memory
        preview = request.preview
        self._choice = find_choice(preview)
        self._diff = self._choice.single if self._choice else None
        self._keys: dict[str, tuple[str, Callable[[], Answer]]] = {
            "y": ("yes", Approve),
            "n": ("no", self._no),
            **({"e": ("edit", self._edit)} if _is_text(preview, self._choice) else {}),
            **({"h": ("hunks", self._choose_hunks)} if self._choice else {}),
            **({"a": (f"all {others + 1}", self._all)} if others else {}),
            **({"!": ("always", self._always)} if memory and memory.can_remember(request) else {}),
        }

    def ask(self) -> Decision | Literal["all"]:
        """Show, then ask until there is an answer."""
        self._pager.forward()
        while True:
            key = self._terminal.ask(self._prompt(), fresh=self._pager.is_seen, again=self._again)
            answer = Reject() if key is None else self._press(_WORDS.get(key.casefold(), key.casefold()))
            if answer is not None:
                return answer

    def _prompt(self) -> str:
        if not self._pager.is_seen:
            return f"{self._pager.place} · {PAGE_KEYS}: "
        self._say_keys()
        return "Allow this? "

    def _say_keys(self) -> None:
        legend = " · ".join([*(f"{key} {told}" for key, (told, _) in self._keys.items()), "? help"])
        self._terminal.say("\n" + legend)

    def _again(self) -> None:
        self._terminal.say("")
        self._pager.again()
        if self._pager.is_seen:
            self._say_keys()

    def _press(self, key: str) -> Answer:
        if key in ("", "v", "b"):
            self._turn(key)
        elif key == "?":
            self._help()
        elif key not in self._keys:
            missing = _UNAVAILABLE.get(key, "That is no key here.")
            self._terminal.say(f"{missing} Type one of {' '.join(self._keys)} or ?, then Enter.")
        elif key != "n" and not self._pager.is_seen:
            self._terminal.say(
                f"{self._pager.unseen:,} lines are still unseen. Press Enter for the next page, v for all."
            )
        else:
            return self._keys[key][1]()
        return None

    def _help(self) -> None:
        self._terminal.say(_HELP if self._pager.is_seen else PAGE_HELP, "text")
        if self._pager.is_seen and is_told_by_diff(self._request):
            self._terminal.say(f"\nThe call of {self._request.tool}, as the model wrote it:")
            show_all(self._terminal, argument_rows(self._request))

    def _turn(self, key: str) -> None:
        if key == "b":
            self._pager.back()
        elif self._pager.is_seen:
            self._terminal.say(f"Type one of {' '.join(self._keys)} or ?, then Enter.")
        elif key == "v":
            self._pager.rest()
        else:
            self._pager.forward()

    def _no(self) -> Decision:
        return Reject(self._terminal.ask("Why not? (Enter to say nothing) ") or None)

    def _all(self) -> Literal["all"]:
        return "all"

    def _edit(self) -> Decision | None:
        if self._choice is not None and self._choice.is_patch:
            return self._edit_one_of(self._choice.diffs, dict(self._request.preview.texts))
        proposed = self._request.preview.editable
        assert proposed is not None
        text = self._edit_text(proposed, self._diff)
        return None if text is None else Approve(edited=text)

    def _edit_one_of(self, diffs: Sequence[Diff], texts: Mapping[str, str]) -> Decision | None:
        """Let the person edit the text of one file; the others are taken as they are."""
        files = [diff for diff in diffs if diff.name in texts]
        listed = (f"{number}  {visible(diff.name, keep=())}" for number, diff in enumerate(files, 1))
        self._terminal.say("\n".join(listed), "text")
        answer = self._terminal.ask(f"Which file? [1-{len(files)}] ") or ""
        numbered = {str(number): diff for number, diff in enumerate(files, 1)}
        if answer not in numbered:
            self._terminal.say("No file was chosen.")
            return None
        diff = numbered[answer]
        text = self._edit_text(texts[diff.name], diff)
        before = restore_original(texts[diff.name], diff)
        if text is None or before is None:
            return None
        own = "".join([f"{EDITED}{diff.name}\n", *list(unified_diff(before, text, path=diff.name))[1:]])
        return Approve(edited="".join(own if one is diff else one.text for one in diffs))

    def _edit_text(self, proposed: str, diff: Diff | None) -> str | None:
        """Return the text as the person wants it; None where they leave it."""
        text = proposed
        while True:
            try:
                text = edit_text(
                    text,
                    name=diff.name if diff else "",
                    line=_first_changed_line(diff),
                    environment=self._environment,
                    input_fd=self._terminal.input_fd,
                )
            except ToolrollError as error:
                self._terminal.say(error.message, "warning")
                return None
            if text == proposed:
                self._terminal.say("You changed nothing.")
                return None
            if not show_all(self._terminal, _edited_rows(proposed, text, diff)):
                return None
            match self._terminal.ask("\nUse your text? [y yes · n no · e edit on] ", fresh=True):
                case "y" | "yes":
                    return text
                case "e" | "edit":
                    continue
                case _:
                    self._terminal.say("Your text was dropped.")
                    return None

    def _choose_hunks(self) -> Decision | None:
        assert self._choice is not None
        return choose_hunks(self._choice, self._terminal, show_all)

    def _always(self) -> Decision | None:
        assert self._memory is not None
        return Approve() if remember(self._memory, self._request, self._terminal) else None


_UNAVAILABLE: Final = {
    "e": "What this tool proposes cannot be edited.",
    "h": "There is no diff of a text to go through here.",
    "a": "There is only this one.",
    "!": "Nothing can be remembered here: the call names no path or could send private text to a server, the tool asks "
    "each time, or no rules can be kept.",
}


def _first_changed_line(diff: Diff | None) -> int:
    """The number of the first line that changes, in the new text."""
    if diff is None or not diff.hunks:
        return 1
    hunk = diff.hunks[0]
    before = next((at for at, line in enumerate(hunk.lines) if line.sign != " "), 0)
    return max(hunk.new_start + before + 1, 1)


def _edited_rows(proposed: str, text: str, diff: Diff | None) -> list[Row]:
    """Return what the person's own text would change: against what is there now, where that is known."""
    before = restore_original(proposed, diff) if diff else None
    name = diff.name if diff else "the proposed text"
    title = "With your text" if before is not None else "What you changed"
    change = Preview.of_change(proposed if before is None else before, text, path=name)
    return [Row(), Row(text=title, look="title"), *preview_rows(change)]


def _is_text(preview: Preview, choice: HunkChoice | None) -> bool:
    """Whether a person may write something else: the text of one file, also where there are several."""
    return preview.editable is not None and (choice is None or choice.single is not None or bool(preview.texts))
