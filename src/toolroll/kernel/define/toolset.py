"""A set of tools with unique names: the only place where a name is looked up."""

import difflib
from collections.abc import Iterable, Iterator

from toolroll.errors import DefinitionError
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.define.tool import Tool, ToolDefinition
from toolroll.safe.limits import MAX_TOOL_NAME_CHARACTERS


class Toolset:
    """Tools by name, in the order they were given. Two of one name are refused when the set is made."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise DefinitionError(
                    f"Two tools are named {tool.name!r}. Rename one: renamed(tool, 'other') or prefixed([tool], 'x_').",
                    tool=tool.name,
                )
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of exactly this name."""
        return self._tools.get(name)

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return what a model is told about all of them."""
        return tuple(tool.definition for tool in self)

    def unknown(self, name: str) -> ToolResult:
        """Return the answer to a call of a tool that does not exist: the known names, and the nearest one."""
        known = ", ".join(self._tools) or "none"
        name = name[:MAX_TOOL_NAME_CHARACTERS]
        spelled = {tool.casefold(): tool for tool in self._tools}
        near = difflib.get_close_matches(name.casefold(), spelled, n=1)
        hint = f" Did you mean {spelled[near[0]]}?" if near else ""
        return ToolResult.failure(f"Unknown tool {name!r}.{hint} Known tools: {known}.", code="unknown_tool")
