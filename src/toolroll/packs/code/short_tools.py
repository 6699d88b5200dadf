"""The coding tools for small models: ten of them, without parameters that such models make up values for.

They are the same tools behind shorter definitions: a call is checked, approved and run as it is from any other model.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.define.tool import Tool
from toolroll.packs.code.edit_tools import create_file, edit, edit_file
from toolroll.packs.code.failures import CodeTool
from toolroll.packs.code.read_tools import find_files, list_files, read_file, search_files
from toolroll.packs.code.symbol_tools import find_definition, find_importers, outline


class ShortTool(CodeTool):
    """A tool with another description, and without some of its parameters in what a model reads."""

    def __init__(self, inner: Tool, description: str, leave_out: Collection[str] = ()) -> None:
        super().__init__(inner)
        self._description = description
        self._parameters = _without(inner.parameters, leave_out)

    @property
    def description(self) -> str:
        """Return the short description."""
        return self._description

    @property
    def parameters(self) -> JsonSchema:
        """Return the schema without the parameters that are left out."""
        return self._parameters


def _without(schema: JsonSchema, names: Collection[str]) -> JsonSchema:
    properties, required = schema.get("properties"), schema.get("required", ())
    assert isinstance(properties, Mapping)
    assert isinstance(required, Sequence)
    return {
        **schema,
        "properties": {name: one for name, one in properties.items() if name not in names},
        "required": [name for name in required if name not in names],
    }


SHORT_READING: Final[tuple[Tool, ...]] = (
    ShortTool(read_file, "Read a file. Each line has its number before it.", ("column",)),
    ShortTool(list_files, "List what a folder holds; '.' is the project.", ("offset",)),
    ShortTool(search_files, "Search words in all files; gives files and lines.", ("filePattern",)),
    ShortTool(find_files, "Find files by a part of their name."),
    ShortTool(find_definition, "Find the file and line where a function, class or constant is defined.", ("type",)),
    ShortTool(find_importers, "Find the files that import a module."),
    ShortTool(outline, "List what a file defines."),
)
SHORT_CHANGING: Final[tuple[Tool, ...]] = (
    ShortTool(
        edit,
        "Replace one passage of a file: old_string is copied from the file, new_string takes its place.",
        ("expected_replacements", "expected_hash", "dry_run", "description"),
    ),
    ShortTool(create_file, "Create a new file.", ("description",)),
    ShortTool(edit_file, "Replace a whole file that was read; content is all of the new file.", ("description",)),
)
SHORT_TOOLS: Final[tuple[Tool, ...]] = (*SHORT_READING, *SHORT_CHANGING)
