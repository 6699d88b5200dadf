"""What a call would change, looked at apart from running it."""

from toolroll.agent.state import Change
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import ApprovalRequest, Effect, Preview, content_hash
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.execute import Asking, admit, show
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Tool


def effect_of(tool: Tool) -> Effect:
    """What running the tool does: a wrapper can only make it stricter."""
    return tool.core.effect if tool.effect == "reads" else tool.effect


async def preview_now(
    tool: Tool, call: ToolCall, run: Run, *, edited: str | None = None
) -> ApprovalRequest | ToolResult:
    """What a person would be shown of the call at this moment, or why there is nothing to show."""
    ctx = run.context(call.id)
    admitted = admit(tool, call.arguments, ctx)
    if isinstance(admitted, ToolResult):
        return admitted
    if isinstance(admitted, Permit):
        admitted.expire()
        admitted = Asking(tool=tool, core=tool.core, arguments=admitted.arguments, effect=effect_of(tool), seal="")
    return await show(admitted, ctx, edited)


def change_of(preview: Preview, edited: str | None = None) -> Change:
    """The hashes of what is changed, before and after: whether a call has run can be seen by them."""
    if edited is None and preview.target is not None:
        return preview.base, preview.target
    text = preview.editable if edited is None else edited
    return preview.base, None if text is None else content_hash(text)


def shown_of(request: ApprovalRequest) -> str:
    """What a person is shown, as text that can be kept: the notes and hints, then what would happen."""
    return "\n".join([*request.preview.remarks, request.preview.text])
