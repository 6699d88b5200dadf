"""Test-driven changes: where a model has changed files and would end its work, the chosen check runs first (S13).

The check is a call like any other: a person is asked about it unless they said "always", it is on record, and the model
reads what it printed and goes on.
"""

from dataclasses import replace
from typing import Final

from toolroll.agent.context_function import RunContext
from toolroll.agent.hooks import Hook
from toolroll.kernel.data.messages import CallBlock, ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.packs.code.tools import CHANGING

CALL_ID: Final = "after_edit_"
"""Begins the id of a call that no model has made."""
WHY: Final = "The check after changes (code.after_edit)."

_CHANGING: Final = frozenset(tool.name for tool in CHANGING)


class CheckAfterEdit(Hook):
    """Adds a call of the check to the turn with which a model would end, if it has changed files since the last one."""

    def __init__(self, tool: str) -> None:
        self._tool = tool

    def after_model(self, ctx: RunContext, request: ModelRequest, response: ModelResponse, /) -> ModelResponse | None:
        """Return the turn with the call; None where nothing has to be checked, or no tool may be called any more."""
        is_offered = any(tool.name == self._tool for tool in request.tools)
        if response.stop != "end" or response.message.calls or not is_offered or not self._is_due(ctx):
            return None
        call = ToolCall(id=f"{CALL_ID}{ctx.run.make_id()}", name=self._tool, arguments=dump_json({"description": WHY}))
        blocks = (*response.message.blocks, CallBlock(call=call))
        return replace(response, message=replace(response.message, blocks=blocks), stop="tool_calls")

    def _is_due(self, ctx: RunContext) -> bool:
        """Return whether files were changed in this run after the check was last called, whatever came of that."""
        is_due = False
        for step in ctx.steps:
            for log in step.calls:
                if log.name == self._tool:
                    is_due = False
                elif log.name in _CHANGING and log.ok:
                    is_due = True
        return is_due
