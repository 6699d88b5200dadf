"""Collect tools with where they came from: from packs by name, from files and modules that a person names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolroll.errors import ToolFailure
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.packs.load import load_tools, source_place
from toolroll.packs.registry import PACKS, Pack, pack_named, packs_holding


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A tool, and the pack, file or module that it is from: as it was named (`origin`), and exactly (`place`)."""

    tool: Tool
    origin: str
    place: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tools of unique names, in order."""

    entries: tuple[CatalogEntry, ...]

    @property
    def tools(self) -> Toolset:
        """Return the tools as a set; two of one name are refused."""
        return Toolset(entry.tool for entry in self.entries)

    def get(self, name: str) -> CatalogEntry | None:
        """Return the entry of exactly this name."""
        return next((entry for entry in self.entries if entry.tool.name == name), None)

    def find(self, name: str) -> CatalogEntry:
        """Return the entry of that name; `ToolFailure` with the known names and the nearest one."""
        tools, found = self.tools, self.get(name)
        if found is None:
            raise ToolFailure(tools.unknown(name).text, code="unknown_tool")
        return found


def read_catalog(packs: Sequence[str] = (), sources: Sequence[str] = (), *, wanted: str | None = None) -> Catalog:
    """Return the tools of these packs, files and modules; of every pack when none is named.

    With `wanted`, and nothing named, only the pack that holds it is loaded, if one does.
    """
    chosen = [pack_named(name) for name in packs]
    if not packs and not sources:
        chosen = list(packs_holding(wanted) if wanted else ()) or list(PACKS)
    return Catalog((*_of_packs(chosen), *_of_sources(sources)))


def _of_packs(packs: Sequence[Pack]) -> Iterator[CatalogEntry]:
    for pack in packs:
        yield from (CatalogEntry(tool=tool, origin=pack.name, place=f"pack {pack.name}") for tool in pack.load())


def _of_sources(sources: Sequence[str]) -> Iterator[CatalogEntry]:
    for source in sources:
        tools = load_tools(source)
        yield from (CatalogEntry(tool=tool, origin=source, place=source_place(source)) for tool in tools)
