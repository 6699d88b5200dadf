"""`tool_output_cache` and `tool_output_cache_grep`: how a model reads what its context no longer holds."""

from toolroll.kernel.tool import Tool
from toolroll.outputs.names import EXEMPT as EXEMPT
from toolroll.outputs.store import OutputStore


def output_tools(store: OutputStore) -> tuple[Tool, Tool]:
    """The two tools over the outputs that this run may read."""
    raise NotImplementedError
