"""The packs that exist. What they hold can be listed at once; their tools are loaded when they are wanted.

Loading all tools takes some sixty interpreter starts, most of it for pydantic, and a list of names must not cost that.
So the names, effects and first sentences are kept in `tools.json`, which `make tools` writes from the tools themselves;
a test compares the two.
"""

import difflib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import UsageError
from toolroll.lazy import load

if TYPE_CHECKING:
    from toolroll.kernel.approval.request import Effect
    from toolroll.kernel.define.tool import Tool

_LIST: Final = Path(__file__).with_name("tools.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSummary:
    """One tool in a list: its name, its effect, and the first sentence of its description."""

    name: str
    effect: "Effect"
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Tools that belong together: `tools` to list them, `load` to use them. `place` is where they are."""

    name: str
    summary: str
    place: str

    @property
    def tools(self) -> tuple[ToolSummary, ...]:
        """Return the tools of the pack, without loading them."""
        return _read_list()[self.name]

    def load(self) -> "tuple[Tool, ...]":
        """Import the tools of the pack."""
        tools: tuple[Tool, ...] | Callable[[], tuple[Tool, ...]] = load(self.place)
        return tools() if callable(tools) else tools


PACKS: Final = (
    Pack(
        name="standard",
        summary="Ending a run, and keeping a list of what is to be done.",
        place="toolroll.packs.standard:TOOLS",
    ),
    Pack(
        name="code",
        summary="Exploring and changing a project, with a person's approval.",
        place="toolroll.packs.code.tools:TOOLS",
    ),
    Pack(
        name="research",
        summary="Exploring ideas with the web and with earlier research.",
        place="toolroll.packs.research.read_research:TOOLS",
    ),
    Pack(
        name="writing",
        summary="Writing posts in a person's own voice.",
        place="toolroll.packs.writing.tools.toolset:installed_tools",
    ),
)
"""Every pack, in the order in which lists show them."""


def pack_named(name: str) -> Pack:
    """Return the pack of that name; `UsageError` with the nearest one where there is none."""
    known = {pack.name: pack for pack in PACKS}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name.casefold(), known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"There is no pack {name[:64]!r}.{hint} Packs: {', '.join(known)}.")


def packs_holding(tool: str) -> tuple[Pack, ...]:
    """Return the packs that hold a tool of exactly this name."""
    return tuple(pack for pack in PACKS if any(line.name == tool for line in pack.tools))


@cache
def _read_list() -> dict[str, tuple[ToolSummary, ...]]:
    listed = json.loads(_LIST.read_text(encoding="utf-8"))
    return {pack: tuple(ToolSummary(**one) for one in tools) for pack, tools in listed.items()}


def summarize(pack: Pack) -> tuple[ToolSummary, ...]:
    """Load the tools of a pack, and return what a list says of them."""
    return tuple(
        ToolSummary(name=tool.name, effect=tool.effect, summary=first_sentence(tool.description))
        for tool in pack.load()
    )


def first_sentence(description: str) -> str:
    """Return the first sentence of the description of a tool, on one line."""
    line = " ".join(description.split("\n\n", 1)[0].split())
    head, stop, _ = line.partition(". ")
    return head + stop.strip()


def write_list() -> None:
    """Write what the packs hold to the file that lists are read from."""
    listed = {pack.name: [asdict(one) for one in summarize(pack)] for pack in PACKS}
    _LIST.write_text(json.dumps(listed, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
