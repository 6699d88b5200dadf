"""The slip of paper that lets one call through to one tool.

Only the executor writes permits, after policy and person have spoken. The tool at the core redeems it: for itself, for
these arguments, and, where it changes anything, once. Whatever is wrapped around a tool can pass a permit on or keep
it, but cannot run the tool with another one's, with other arguments, or a second time.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from toolroll.errors import PermitRefused
from toolroll.kernel.approval import Preview, content_hash
from toolroll.kernel.serialize import canonical_json

if TYPE_CHECKING:
    from toolroll.kernel.tool import Tool

Grant: TypeAlias = Literal["effect", "policy", "person"]
"""By whose leave: because the tool only reads, because a rule allows it, or because a person said yes."""


class Permit:
    """Leave for one call: its arguments, the preview a person approved, and by whose leave."""

    __slots__ = ("_core", "_seal", "_used", "arguments", "granted", "preview")

    def __init__(self, core: "Tool", arguments: object, granted: Grant, preview: Preview | None = None) -> None:
        self.arguments = arguments
        self.granted = granted
        self.preview = preview
        self._core = core
        self._used = False
        self._seal = None if granted == "effect" else seal_of(arguments)

    def redeem(self, core: "Tool") -> object:
        """The arguments to run with; refused for another tool, changed arguments, or a second run of a change."""
        if core is not self._core:
            raise PermitRefused(f"This permit is for {self._core.name}, not for {core.name}.")
        if core.effect != "reads":
            self.require_leave(core.name)
            if self._used:
                raise PermitRefused(f"{core.name} has run with this permit already; a change is made once.")
        self._used = True
        return self.arguments

    def require_leave(self, name: str) -> None:
        """Refuse unless a rule or a person allowed exactly these arguments."""
        if self._seal is None:
            raise PermitRefused(f"{name} needs an approval, and nobody was asked.")
        if seal_of(self.arguments) != self._seal:
            raise PermitRefused(f"The arguments of {name} changed after they were approved.")


def seal_of(arguments: object) -> str:
    """The hash of arguments as they were approved."""
    return content_hash(canonical_json(arguments))
