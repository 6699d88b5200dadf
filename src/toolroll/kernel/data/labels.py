"""Labels of what results bring into a run: private data, and text that strangers wrote.

Either is harmless alone. A run that holds both can be talked into sending the one where the other wants it: then no
rule lets a call out any more.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from toolroll.kernel.define.tool import Tool

Label: TypeAlias = Literal["private", "untrusted"]
"""`private`: what is not for everybody, such as the user's files. `untrusted`: what anybody may have written."""

Labels: TypeAlias = frozenset[Label]

LABELS: Final[tuple[Label, ...]] = get_args(Label)
NO_LABELS: Final[Labels] = frozenset()
LABELS_KEY: Final = "brought"
"""The name under which a run keeps its labels."""

EXPOSED: Final = (
    "This run has read private data and text that strangers wrote, and the call sends something out: that text may "
    "want the data."
)


def read_labels(words: object) -> Labels:
    """Return the labels among some words; other words are left out."""
    given = (words,) if isinstance(words, str) else tuple(words) if isinstance(words, Collection) else ()
    return frozenset(label for label in LABELS if label in given)


def collect_labels(tool: "Tool") -> Labels:
    """Return the labels of a tool's results: a wrapper can add to them, but take none away."""
    return tool.labels | tool.core.labels


def is_exposed(brought: Labels, own: Labels) -> bool:
    """Return whether a call that acts outside could carry private data to where a stranger wants it.

    What a call itself reads goes out with it, so its own private data counts; text that it brings back comes too late
    to have steered it.
    """
    return "untrusted" in brought and ("private" in brought or "private" in own)
