"""The project's own instructions, AGENTS.md: what an agent is told of them, and what the person is (C43)."""

from dataclasses import dataclass
from typing import Final

from toolroll.errors import FileProblem, FileTooLarge, PathRefused
from toolroll.packs.code.prompt import MAX_INSTRUCTIONS_CHARACTERS
from toolroll.safe.names import RelativePath
from toolroll.workspace.text import decode
from toolroll.workspace.workspace import Workspace

INSTRUCTIONS: Final = RelativePath(parts=("AGENTS.md",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """The text, None where there is none that can be used; and one line for the person where not all of it is."""

    text: str | None = None
    note: str | None = None


def read_instructions(workspace: Workspace) -> Instructions:
    """The project's AGENTS.md; one that cannot be read is never an error, and never kept quiet about."""
    try:
        # A read that finds nothing looks all over the project for what may have been meant: 0.2 s at 15,000 files.
        if not any(entry.name == INSTRUCTIONS.name for entry in workspace.entries()[0]):
            return Instructions()
        text = decode(workspace.read(INSTRUCTIONS).data, path=str(INSTRUCTIONS)).text
    except FileTooLarge as error:
        return _unused(f"it has more than {error.limit_bytes:,} bytes (file_bytes in the settings). Shorten it.")
    except (FileProblem, PathRefused) as error:
        return _unused(error.message)
    return Instructions(text=text, note=_cut(len(text.strip())))


def _unused(why: str) -> Instructions:
    return Instructions(note=f"{INSTRUCTIONS} is not used: {why}")


def _cut(characters: int) -> str | None:
    if characters <= MAX_INSTRUCTIONS_CHARACTERS:
        return None
    some = f"the first {MAX_INSTRUCTIONS_CHARACTERS:,} of its {characters:,} characters"
    return f"Of {INSTRUCTIONS} only {some} are used. Shorten it, and put what matters first."
