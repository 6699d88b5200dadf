"""The names that models know: the two tools, and the calls that lead from one answer to the next."""

import json
from dataclasses import dataclass
from typing import Final

PAGE_TOOL: Final = "tool_output_cache"
GREP_TOOL: Final = "tool_output_cache_grep"

EXEMPT: Final = frozenset({PAGE_TOOL, GREP_TOOL})
"""Tools whose own output is bounded and is neither kept nor cut: reading back would never end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPage:
    """The call that reads on; as text, exactly what a model has to write."""

    ref_id: str
    offset: int
    limit: int | None = None
    column: int = 0

    def __str__(self) -> str:
        arguments: dict[str, object] = {"ref_id": self.ref_id, "offset": self.offset}
        if self.limit is not None:
            arguments["limit"] = self.limit
        if self.column:
            arguments["column"] = self.column
        return f"{PAGE_TOOL} {json.dumps(arguments)}"
