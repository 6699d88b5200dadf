"""toolroll: typed tools for agents, with approvals bound to what a person saw.

The public names, loaded when they are first used: `import toolroll` itself reads and does nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from toolroll._version import __version__ as __version__

if TYPE_CHECKING:
    from toolroll.agent.agent import Agent as Agent
    from toolroll.agent.agent import generate_text as generate_text
    from toolroll.agent.history.replay import replay as replay
    from toolroll.agent.result import RunResult as RunResult
    from toolroll.agent.stop import cost_over as cost_over
    from toolroll.agent.stop import deadline as deadline
    from toolroll.agent.stop import step_count_is as step_count_is
    from toolroll.agent.stop import tokens_over as tokens_over
    from toolroll.agent.stop import tool_called as tool_called
    from toolroll.errors import ToolFailure as ToolFailure
    from toolroll.errors import ToolrollError as ToolrollError
    from toolroll.journal.journal import MemoryJournal as MemoryJournal
    from toolroll.journal.sqlite import SqliteJournal as SqliteJournal
    from toolroll.kernel.approval.policy import Policy as Policy
    from toolroll.kernel.approval.policy import Rule as Rule
    from toolroll.kernel.approval.request import ApprovalRequest as ApprovalRequest
    from toolroll.kernel.approval.request import Approve as Approve
    from toolroll.kernel.approval.request import Approver as Approver
    from toolroll.kernel.approval.request import Preview as Preview
    from toolroll.kernel.approval.request import Reject as Reject
    from toolroll.kernel.call.context import Run as Run
    from toolroll.kernel.call.context import ToolContext as ToolContext
    from toolroll.kernel.call.result import Done as Done
    from toolroll.kernel.call.result import ToolResult as ToolResult
    from toolroll.kernel.data.messages import DocumentPart as DocumentPart
    from toolroll.kernel.data.messages import ImagePart as ImagePart
    from toolroll.kernel.data.messages import TextPart as TextPart
    from toolroll.kernel.data.messages import ToolCall as ToolCall
    from toolroll.kernel.data.messages import ToolMessage as ToolMessage
    from toolroll.kernel.define.decorator import define_tool as define_tool
    from toolroll.kernel.define.decorator import tool as tool
    from toolroll.kernel.define.tool import Tool as Tool
    from toolroll.kernel.define.tool import Toolset as Toolset
    from toolroll.kernel.depends.dependency import DependencyKey as DependencyKey
    from toolroll.kernel.depends.dependency import Depends as Depends
    from toolroll.models.model import WebSearch as WebSearch
    from toolroll.models.recording import RecordingModel as RecordingModel
    from toolroll.models.recording import ReplayModel as ReplayModel
    from toolroll.models.scripted import ScriptedModel as ScriptedModel
    from toolroll.packs.research.agent import generate_research as generate_research

_HOMES = {
    "Agent": "agent.agent",
    "ApprovalRequest": "kernel.approval.request",
    "Approve": "kernel.approval.request",
    "Approver": "kernel.approval.request",
    "DependencyKey": "kernel.depends.dependency",
    "Depends": "kernel.depends.dependency",
    "DocumentPart": "kernel.data.messages",
    "Done": "kernel.call.result",
    "ImagePart": "kernel.data.messages",
    "MemoryJournal": "journal.journal",
    "Policy": "kernel.approval.policy",
    "Preview": "kernel.approval.request",
    "RecordingModel": "models.recording",
    "Reject": "kernel.approval.request",
    "ReplayModel": "models.recording",
    "Rule": "kernel.approval.policy",
    "Run": "kernel.call.context",
    "RunResult": "agent.result",
    "ScriptedModel": "models.scripted",
    "SqliteJournal": "journal.sqlite",
    "TextPart": "kernel.data.messages",
    "Tool": "kernel.define.tool",
    "ToolCall": "kernel.data.messages",
    "ToolContext": "kernel.call.context",
    "ToolFailure": "errors",
    "ToolMessage": "kernel.data.messages",
    "ToolResult": "kernel.call.result",
    "ToolrollError": "errors",
    "Toolset": "kernel.define.tool",
    "WebSearch": "models.model",
    "cost_over": "agent.stop",
    "deadline": "agent.stop",
    "define_tool": "kernel.define.decorator",
    "generate_research": "packs.research.agent",
    "generate_text": "agent.agent",
    "replay": "agent.history.replay",
    "step_count_is": "agent.stop",
    "tokens_over": "agent.stop",
    "tool": "kernel.define.decorator",
    "tool_called": "agent.stop",
}

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604 - names from one table, checked by a test


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolroll' has no attribute {name!r}")
    value: object = getattr(import_module(f"toolroll.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
