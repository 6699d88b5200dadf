"""Labels of what enters a run: private text, and text that anybody may have written.

Everything but the person's own words in this run is labelled, and labels only grow. A call that sends something out of
a run with private text needs a person, whatever a rule allows.
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

ALL_LABELS: Final[Labels] = frozenset(LABELS)
"""Of files, past posts, profiles, stored outputs, and all that nobody knows the origin of."""
UNTRUSTED: Final[Labels] = frozenset({"untrusted"})
"""Of web pages, search results and other services."""

EXPOSED: Final = "This run has read private text, and the call would send something out."


def read_labels(words: object) -> Labels:
    """Return the labels among some words; other words are left out."""
    given = (words,) if isinstance(words, str) else tuple(words) if isinstance(words, Collection) else ()
    return frozenset(label for label in LABELS if label in given)


def collect_labels(tool: "Tool") -> Labels:
    """Return the labels of a tool's results: a wrapper can add to them, but take none away."""
    return tool.labels | tool.core.labels


def is_outward(tool: "Tool") -> bool:
    """Return whether the tool sends something out: a wrapper can say so too, but not deny it."""
    return "external" in (tool.core.effect, tool.effect)


def is_exposed(held: Labels, own: Labels) -> bool:
    """Return whether a call that sends something out could carry private text: what the run holds, or reads with it."""
    return "private" in held or "private" in own
