"""All tools of this pack, in the order in which a model is told of them."""

from typing import Final

from toolroll.kernel.tool import Tool
from toolroll.packs.code.changing import apply_changes, create_file, edit, edit_file
from toolroll.packs.code.exploring import find_files, list_files, read_file, search_files

READING: Final[tuple[Tool, ...]] = (read_file, list_files, search_files, find_files)
"""The ones that change nothing."""

CHANGING: Final[tuple[Tool, ...]] = (edit_file, create_file, edit, apply_changes)
"""The ones that a person must approve."""

TOOLS: Final[tuple[Tool, ...]] = (*READING, *CHANGING)
