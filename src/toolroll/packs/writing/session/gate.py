"""What the model may do by itself, turn by turn: rules of the session that no prompt can change (W30).

Nothing is saved before the person asks for it, and then once; a profile is changed only if feedback has come up often
enough, or the person speaks of it. The gate is checked before the person is asked, and does not replace their yes: it
keeps a model that asks again and again from disturbing them.
"""

from collections.abc import Callable, Mapping
from typing import Final

from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.function import CoreTool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.wrappers import WrapperTool
from toolroll.packs.writing.profiles.feedback import Category
from toolroll.packs.writing.session.intents import mentions_profile, mentions_saving
from toolroll.packs.writing.tools.errors import tool_failure

SAVING: Final = ("save_to_file", "write_to_notion")
UPDATE: Final = "update_style_profile"
TRACK: Final = "track_feedback"
MAX_CATEGORIES_A_MESSAGE: Final = 3
"""Categories of feedback in one message of the person: more comes from a model that counts for its own sake."""

_NOT_CONFIRMED: Final = (
    "Not done: the person has not said that this draft is to be kept. Show the draft; when they confirm it, the "
    "program saves it by itself."
)
_ASKED: Final = "Not done: the person was asked about this already, for what they said last. Do not ask again."
_NOT_DUE: Final = (
    "Not done: a profile is updated when the same feedback has come up three times, or when the person asks for it."
)
_NO_FEEDBACK: Final = "Not counted: the person has given no feedback on a draft yet."
_REFERENCE: Final = (
    "Not counted: this post follows a reference profile, and the counts are about the author's own style."
)
_COUNTED: Final = "Not counted: what the person said last has been counted already."


class Gate:
    """What is allowed in the turn after the person's last message. It starts closed.

    `on_proposal` is called with the count and the changes before the person is asked about an update due to feedback.
    """

    def __init__(
        self,
        *,
        base: str,
        is_personal: bool = True,
        on_proposal: Callable[[int, Mapping[str, object]], None] = lambda _count, _changes: None,
    ) -> None:
        self._base = base
        self._is_personal = is_personal
        self._on_proposal = on_proposal
        self._counts: list[int] = []
        self._last_words = ""
        self._is_feedback = False
        self._calls: dict[str, str] = {}
        self._tracked: dict[str, str] = {}
        self._proposed: set[str] = set()
        self.reached: list[tuple[Category, int]] = []
        """Categories that came up often enough in this turn, with their counts; each at most once for a post."""
        self.is_update_due: bool = False
        self.wanted_to_save: bool = False
        """Whether the model has tried to save something that nobody had confirmed."""

    @property
    def last_words(self) -> str:
        """Return what the person said last, to the letter."""
        return self._last_words

    def start_turn(self, said: str, *, is_feedback: bool = False, is_update_due: bool = False) -> None:
        """Begin a turn with what the person said, and whether it is about a draft they have seen."""
        self._last_words, self._is_feedback = said, is_feedback
        self.is_update_due = is_update_due
        if not is_update_due:
            self._counts.clear()
        self.reached.clear()
        self._calls.clear()
        self._tracked.clear()

    def check(self, tool: str, arguments: Mapping[str, object], call_id: str) -> None:
        """Raise the failure that the model gets if a call is not allowed now."""
        if tool in SAVING:
            self._check_saving()
        elif tool == UPDATE:
            self._check_update(arguments)
        else:
            self._check_feedback(arguments, call_id)
            return
        if self._calls.setdefault(tool, call_id) != call_id:
            raise tool_failure("asked_already", _ASKED)

    def on_result(self, tool: str, answer: object) -> None:
        """Note the answer to a call that was allowed."""
        if tool != TRACK or not isinstance(answer, Mapping) or not answer["threshold_reached"]:
            return
        category = answer["category"]
        if category not in self._proposed:  # whoever has said no once is not asked again for the same post
            self._proposed.add(category)
            self.reached.append((category, answer["count"]))
            self._counts.append(answer["count"])
            self.is_update_due = True

    def on_preview(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Explain once why the person is about to be asked, if feedback is the reason for the call."""
        changes = arguments.get("changes")
        if tool == UPDATE and self._counts and isinstance(changes, Mapping):
            self._on_proposal(self._counts[-1], changes)
            self._counts.clear()

    @property
    def has_proposed(self) -> bool:
        """Return whether the model itself has proposed an update in this turn."""
        return UPDATE in self._calls

    def _check_saving(self) -> None:
        if not mentions_saving(self._last_words) or not self._is_feedback:
            self.wanted_to_save = True
            raise tool_failure("not_confirmed", _NOT_CONFIRMED)

    def _check_update(self, arguments: Mapping[str, object]) -> None:
        if arguments.get("profile_name") != self._base:
            message = f"Not done: feedback on this draft is about the profile '{self._base}', and about no other."
            raise tool_failure("other_profile", message)
        if self._is_personal and not self.is_update_due and not mentions_profile(self._last_words):
            raise tool_failure("not_due", _NOT_DUE)

    def _check_feedback(self, arguments: Mapping[str, object], call_id: str) -> None:
        if not self._is_feedback:
            raise tool_failure("no_feedback", _NO_FEEDBACK)
        if not self._is_personal:
            raise tool_failure("reference_feedback", _REFERENCE)
        category = str(arguments.get("category"))
        if self._tracked.get(category, call_id) != call_id or (
            category not in self._tracked and len(self._tracked) >= MAX_CATEGORIES_A_MESSAGE
        ):
            raise tool_failure("counted_already", _COUNTED)
        self._tracked[category] = call_id


class GatedTool(WrapperTool):
    """The same tool, but the gate is checked before anybody is asked."""

    def __init__(self, inner: Tool, gate: Gate) -> None:
        super().__init__(inner)
        self._gate = gate

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
        """Return the preview of the tool inside, if the call is allowed."""
        fields = self._check(arguments, ctx)
        found = await self._inner.preview(arguments, ctx, edited)
        self._gate.on_preview(self.name, fields)
        return found

    async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
        """Return the answer of the tool inside, if the call is allowed."""
        self._check(permit.arguments, ctx)
        answer = await self._inner.invoke(permit, ctx)
        self._gate.on_result(self.name, answer)
        return answer

    def _check(self, arguments: object, ctx: ToolContext) -> Mapping[str, object]:
        core = self.core
        assert isinstance(core, CoreTool)  # as all tools of this pack are
        fields = core.fields(arguments)
        self._gate.check(self.name, fields, ctx.call_id)
        return fields


def apply_gate(tools: tuple[Tool, ...], gate: Gate) -> tuple[Tool, ...]:
    """Return the tools, with the gate before those that save, change or count anything."""
    return tuple(GatedTool(one, gate) if one.name in (*SAVING, UPDATE, TRACK) else one for one in tools)
