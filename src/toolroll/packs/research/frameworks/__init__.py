"""Frameworks: what an exploration looks at, and what its document holds (R21).

Two come along, as Markdown beside this file; a person may bring their own, a Markdown file too.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from toolroll.errors import FileTooLarge, UsageError
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.text import visible
from toolroll.workspace.text import decode

Mode: TypeAlias = Literal["business", "exploration"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

MAX_FRAMEWORK_BYTES: Final = 32_768
"""Some eight thousand tokens, in every request of the run."""

_HERE: Final = Path(__file__).parent
_SUFFIXES: Final = (".md", ".markdown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """What is asked of a document, in Markdown; `name` is what the log calls it."""

    name: str
    text: str


def load_framework(mode: str) -> Framework:
    """Load the framework of a mode: `business`, `exploration`, or the path of the user's own Markdown file."""
    if mode in MODES:
        return Framework(name=mode, text=(_HERE / f"{mode}.md").read_text(encoding="utf-8").strip())
    if not mode.casefold().endswith(_SUFFIXES):
        known = ", ".join(MODES)
        raise UsageError(
            f"There is no mode {quote_path(mode)!r}. Modes: {known}, or the path of a Markdown file (*.md)."
        )
    return read_framework(Path(mode))


def read_framework(path: Path) -> Framework:
    """Read the user's own framework; UsageError where the file is empty."""
    name = quote_path(str(path))
    with os_errors(str(path)), path.open("rb") as file:
        data = file.read(MAX_FRAMEWORK_BYTES + 1)
    if len(data) > MAX_FRAMEWORK_BYTES:
        raise FileTooLarge(
            f"The framework '{name}' has more than {MAX_FRAMEWORK_BYTES:,} bytes. Shorten it.",
            path=name,
            limit_bytes=MAX_FRAMEWORK_BYTES,
        )
    text = visible(decode(data, path=name).text).strip()
    if not text:
        raise UsageError(f"The framework '{name}' is empty. Write down what the document should hold.")
    return Framework(name=path.stem, text=text)
