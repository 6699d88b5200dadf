"""Approval requests: what a person is shown, what they answer, and the digest that binds the two together.

An approval is a binding, not a flag. The digest covers the run, the call, the tool as it was defined, the canonical
arguments, and the preview with the hash of what it was computed from. Whatever changes, changes the digest, and the
answer no longer fits.
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from toolroll.errors import UsageError
from toolroll.kernel.data.serialize import canonical_json

Effect: TypeAlias = Literal["reads", "writes", "external"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would happen, computed by the code that would do it.

    `base` is the hash of the content it was computed from, `target` of what would be there after (for who cannot tell
    it by `editable`: whether a call has run is seen by the two); `editable` the proposed text, where a person may
    change it (after an edit: exactly the person's text); `notes` what the text alone does not show, a sentence each;
    `hints` what is known of the surroundings: shown like notes, but no part of what is approved, as other files make
    them true or untrue; `payload` whatever the tool wants back when it runs. The payload is shown to nobody: that it is
    what `text` says is the tool's to keep, that nobody swaps it is the executor's.
    """

    kind: Literal["diff", "text"]
    """A unified diff, or plain text."""
    text: str
    """What a person sees."""
    added: int = 0
    """The number of added lines."""
    removed: int = 0
    """The number of removed lines."""
    base: str | None = None
    """The hash of the content that the change starts from."""
    target: str | None = None
    """The hash of the content after the change."""
    editable: str | None = None
    """The text that would be written, if a person may edit it."""
    notes: tuple[str, ...] = ()
    """Further lines for the person; the answer is bound to them."""
    hints: tuple[str, ...] = ()
    """Further lines that the answer is not bound to."""
    doubts: tuple[str, ...] = ()
    """What speaks against it, as far as a program can tell; a general yes is no answer to that."""
    texts: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """The proposed text of each of several files, by name, where a person may edit one; nothing is bound to them."""
    reports_edit: bool = field(default=False, compare=False)
    """Whether the tool itself tells the model what a person edited; if not, the agent does."""
    payload: object = field(default=None, compare=False, repr=False)
    """A value for the tool itself; nobody sees it."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return all that is shown beside the text: what speaks against it, the notes, then the hints."""
        return (*self.doubts, *self.notes, *self.hints)

    @classmethod
    def of_text(cls, text: str, *, base: str | None = None, editable: str | None = None) -> "Preview":
        """Make a preview that is text."""
        return cls(kind="text", text=text, base=base, editable=editable)

    @classmethod
    def of_change(cls, before: str, after: str, *, path: str, base: str | None = None) -> "Preview":
        """Make a preview that is a diff, whose new text may be edited. The base is the hash of `before` by default."""
        from toolroll.kernel.diff.unified import unified_diff  # noqa: PLC0415 - most programs that import toolroll never need it

        lines = unified_diff(before, after, path=path)
        added = sum(line.startswith("+") for line in lines[2:])
        removed = sum(line.startswith("-") for line in lines[2:])
        text = "".join(lines)
        base = base or content_hash(before)
        return cls(kind="diff", text=text, added=added, removed=removed, base=base, editable=after)


def content_hash(content: str | bytes) -> str:
    """Return the hash that `Preview.base` and staleness checks use."""
    import hashlib  # noqa: PLC0415 - most programs that import toolroll never need it

    return hashlib.sha256(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A path of a call: as it was written, and where it led without links when the call was judged."""

    name: str
    """The path as the model wrote it."""
    resolved: str
    """The path of the same file without links."""

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the path leads to another one than it says."""
        return self.name != self.resolved

    def __str__(self) -> str:
        return f"{self.name} leads to {self.resolved}" if self.is_elsewhere else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """One call that needs a person's answer. `digest` is what the answer is bound to."""

    run_id: str
    """The run that asks."""
    call_id: str
    """The call that needs an answer."""
    tool: str
    """The name of the tool."""
    effect: Effect
    """What the tool does: `writes` or `external`, or `reads` where it asks each time."""
    arguments: object
    """The checked arguments of the call."""
    why: str
    """The reason that the model gave; empty without one."""
    preview: Preview
    """What would happen."""
    paths: tuple[str, ...]
    """The paths that the call names."""
    fingerprint: str
    """The hash of the tool's definition."""
    is_exposed: bool = False
    """Whether the call could carry private text out; then no rule may answer."""
    is_repeat: bool = False
    """Whether the call may have taken effect already, before its run was cut off; then no general yes may answer."""
    targets: tuple[Target, ...] = ()
    """Where the paths lead, from a tool that can tell."""
    is_question: bool = False
    """Whether somebody else asks the person something in the middle of a call; then no general yes may answer."""

    @property
    def links(self) -> tuple[Target, ...]:
        """Return the targets that are not where their names say."""
        return tuple(target for target in self.targets if target.is_elsewhere)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the paths without links: what the call is really about."""
        return unique_paths(target.resolved for target in self.targets) if self.targets else self.paths

    @property
    def judged_paths(self) -> tuple[str, ...]:
        """Return all paths that rules have to look at: as written, and without links."""
        return unique_paths((*self.paths, *self.files))

    @property
    def digest(self) -> str:
        """Return the hash of everything that the person decides on and that would run: all they saw but the hints."""
        preview = self.preview
        bound = [
            self.run_id,
            self.call_id,
            self.tool,
            self.effect,
            self.fingerprint,
            self.arguments,
            self.why,
            list(self.paths),
            [preview.kind, preview.text, preview.added, preview.removed, preview.base, preview.editable],
            [preview.target, list(preview.notes)],
            # Only where there is something to say, so that older digests stay what they were.
            *(["exposed"] if self.is_exposed else []),
            *([["targets", *([one.name, one.resolved] for one in self.links)]] if self.links else []),
            *(["repeat"] if self.is_repeat else []),
            *(["question"] if self.is_question else []),
            *([["doubts", *preview.doubts]] if preview.doubts else []),
        ]
        return content_hash(canonical_json(bound))


def unique_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths in their order, each once."""
    return tuple(dict.fromkeys(paths))


@dataclass(frozen=True, slots=True)
class Approve:
    """Yes. With `edited`, yes to this text instead of the proposed one (an empty text is an edit too).

    With `arguments`, yes to the call with these instead; they are checked, judged and previewed as all others are.
    """

    edited: str | None = None
    """The text to use instead of the proposed one; None keeps the proposal."""
    arguments: Mapping[str, object] | None = None
    """All arguments to use instead of the proposed ones; None keeps them."""
    batch: str | None = field(default=None, compare=False, repr=False)
    """A name that calls share which were allowed together: what they change can be undone together."""


@dataclass(frozen=True, slots=True)
class Reject:
    """No, and why, where the person says so."""

    reason: str | None = None
    """What the model should do instead."""


Decision: TypeAlias = Approve | Reject

REJECTED = "User rejected changes"


def rejection_text(decision: Reject) -> str:
    """Return what the model reads after a rejection."""
    reason = (decision.reason or "").strip()
    return f"{REJECTED}: {reason}" if reason else REJECTED


def is_decision(decision: object) -> bool:
    """Return whether it is an `Approve` or a `Reject`, with text, arguments or nothing in it."""
    match decision:
        case Approve(edited=None, arguments=arguments):
            return arguments is None or isinstance(arguments, Mapping)
        case Approve(edited=text, arguments=None) | Reject(reason=text):
            return text is None or isinstance(text, str)
    return False


class Approver(Protocol):
    """Somebody who can be asked. All calls of one step that need an answer come together."""

    def decide(self, requests: Sequence[ApprovalRequest], /) -> Sequence[Decision] | Awaitable[Sequence[Decision]]:
        """Return one decision for each request, in their order."""
        ...


def check_approver(approver: object) -> None:
    """Refuse what cannot be asked; at the first question it would be too late to notice."""
    if isinstance(approver, type) or not callable(getattr(approver, "decide", None)):
        given = f"the class {approver.__name__}" if isinstance(approver, type) else repr(approver)
        raise UsageError(
            f"An approver is an object with decide(requests), not {given}. Pass None if nobody can be asked."
        )
