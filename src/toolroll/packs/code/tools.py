"""List all tools of this pack, in the order in which a model gets them."""

from typing import Final

from toolroll.kernel.define.tool import Tool
from toolroll.packs.code.edit_tools import apply_changes, create_file, edit, edit_file
from toolroll.packs.code.failures import CodeTool
from toolroll.packs.code.read_tools import find_files, list_files, read_file, search_files
from toolroll.packs.code.symbol_tools import find_definition, find_importers, find_references, outline, repo_map

_READING: Final = (
    read_file,
    list_files,
    search_files,
    find_files,
    find_definition,
    find_importers,
    outline,
    find_references,
    repo_map,
)
READING: Final[tuple[Tool, ...]] = tuple(map(CodeTool, _READING))
"""The ones that change nothing."""

CHANGING: Final[tuple[Tool, ...]] = (edit_file, create_file, edit, apply_changes)
"""The ones that a person must approve."""

TOOLS: Final[tuple[Tool, ...]] = (*READING, *CHANGING)
