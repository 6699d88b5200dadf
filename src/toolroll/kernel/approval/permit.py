"""The permit that lets one call through to one tool.

Only the executor writes permits, after policy and person have spoken. The tool at the core redeems it: for itself, in
this call, with exactly these arguments and, where it changes anything or a person was asked, once. Whatever is wrapped
around a tool can pass a permit on or let it lapse, but cannot run the tool with another one's, with other arguments,
with a permit of its own making, a second time, or after the call has ended.

What this cannot promise: everything here lives in one Python process, where code can read private names and rewrite
any object. A wrapper that sets `permit._open`, or calls the plain function behind the tool, is not stopped. Nor can it
be proved that what a wrapper's `preview` and `why` show is true: a person approves the arguments, which are bound, and
those words, which the wrapper's author answers for. So wrappers are code to be trusted like the tool itself; permits
see to it that no mistake in them, and no order they are stacked in, runs what nobody allowed. Code that is not trusted
belongs into another process.
"""

from typing import TYPE_CHECKING, Final, Literal, NoReturn, SupportsIndex, TypeAlias

from toolroll.errors import PermitRefused
from toolroll.kernel.approval.request import Preview, Target, content_hash
from toolroll.kernel.data.serialize import dump_sealed

if TYPE_CHECKING:
    from toolroll.kernel.call.context import ToolContext
    from toolroll.kernel.define.tool import Tool

Grant: TypeAlias = Literal["effect", "policy", "person"]
"""Why the call is allowed: because the tool only reads, because a rule allows it, or because a person said yes."""

_MINT: Final = object()
"""What the executor shows when it writes a permit; nobody else has a reason to."""


class Permit:
    """Permission for one call: its arguments, where its paths lead, the preview of what it changes, and who gave it."""

    __slots__ = ("_core", "_ctx", "_granted", "_open", "_payload", "_preview", "_seal", "_targets", "arguments")

    def __init__(
        self,
        mint: object,
        core: "Tool",
        arguments: object,
        ctx: "ToolContext",
        granted: Grant = "effect",
        seal: str | None = None,
        preview: Preview | None = None,
        targets: tuple[Target, ...] = (),
    ) -> None:
        if mint is not _MINT:
            raise PermitRefused("Only the executor writes permits. Run the tool with execute_raw(...).")
        self.arguments: object = arguments
        self._core = core
        self._ctx = ctx
        self._granted = granted
        self._seal = seal
        self._preview = preview
        self._payload = None if preview is None else make_seal(preview.payload)
        self._targets = targets
        self._open = True

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise PermitRefused("A permit cannot be copied: it would let a second call through.")

    @property
    def granted(self) -> Grant:
        """Say who allowed the call."""
        return self._granted

    @property
    def preview(self) -> Preview | None:
        """Return what the person approved, or what a rule allowed."""
        self._ctx.has_unread_edit = False
        return self._preview

    @property
    def targets(self) -> tuple[Target, ...]:
        """Return where the paths of the call led when it was judged."""
        return self._targets

    @property
    def changes(self) -> bool:
        """Return whether the tool it is for changes anything."""
        return self._core.effect != "reads"

    def redeem(self, core: "Tool", ctx: "ToolContext") -> object:
        """Return the arguments to run with; refuse another tool or call, changed arguments, and a second change.

        Call it as `Permit.redeem(permit, self, ctx)`: an object that only looks like a permit has no say then.
        """
        if type(self) is not Permit:
            raise PermitRefused(f"{core.name} runs with a permit of the executor only. Use execute_raw(...).")
        if core is not self._core or ctx is not self._ctx:
            raise PermitRefused(f"This permit is for another call ({self._core.name}), not for {core.name}.")
        if not self._open:
            raise PermitRefused(f"{core.name} has run with this permit, or its call is over; a change is made once.")
        if self._seal is not None or core.effect != "reads":
            self._check(core)
        ctx.approved = self._preview
        ctx.targets = self._targets
        return self.arguments

    def show(self, mint: object, preview: Preview) -> None:
        """Bind what would happen to a permit that a rule gave; only the executor does that."""
        if mint is not _MINT or self._preview is not None:
            raise PermitRefused("Only the executor says what a permit is for.")
        self._preview = preview
        self._payload = make_seal(preview.payload)

    def require_person(self, name: str) -> None:
        """Refuse unless a person allowed exactly these arguments: a rule is not enough."""
        if self._granted != "person":
            raise PermitRefused(f"{name} needs a person's approval, and nobody was asked.")
        self._require_same(name)

    def require_leave(self, name: str) -> None:
        """Refuse unless a rule or a person allowed exactly these arguments."""
        if self._granted == "effect":
            raise PermitRefused(f"{name} needs an approval, and nobody was asked.")
        self._require_same(name)

    def expire(self) -> None:
        """End the permit with its call: whoever still holds it can do nothing with it."""
        self._open = False

    def _check(self, core: "Tool") -> None:
        if core.effect == "reads":
            self._require_same(core.name)
        else:
            self.require_leave(core.name)
        # Reads by a rule's leave may be tried again; what a person said yes to happens once.
        self._open = core.effect == "reads" and self._granted != "person"

    def _require_same(self, name: str) -> None:
        same_payload = self._preview is None or make_seal(self._preview.payload) == self._payload
        if make_seal(self.arguments) != self._seal or not same_payload:
            raise PermitRefused(f"The arguments of {name} changed after they were approved.")


def make_seal(arguments: object) -> str:
    """Return the hash of checked arguments, with all that their JSON would leave out."""
    return content_hash(dump_sealed(arguments))
