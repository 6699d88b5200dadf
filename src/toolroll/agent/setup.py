"""What an agent is made of, checked once when it is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from toolroll.agent.context.rules import ContextRules
from toolroll.agent.cost import Price
from toolroll.agent.stop import DEFAULT, Condition
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import Approver
from toolroll.kernel.call.context import Run
from toolroll.kernel.data.messages import AssistantMessage
from toolroll.kernel.define.tool import ToolDefinition
from toolroll.kernel.define.toolset import Toolset
from toolroll.kernel.depends.dependency import Identity, Maker
from toolroll.models.model import DEFAULT_MAX_OUTPUT_TOKENS, Model, WebSearch
from toolroll.models.prices import price_of
from toolroll.models.retry import RetryRule

TurnHook: TypeAlias = Callable[[Run, AssistantMessage], None]
"""Looks at each turn of the model as it comes; what it keeps with the run is recorded together with the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything a run needs to know of its agent. What is None was not set: a sub-agent then takes its caller's."""

    model: Model
    tools: Toolset
    definitions: tuple[ToolDefinition, ...]
    system: str = ""
    stop_when: tuple[Condition, ...] = DEFAULT
    web_search: WebSearch | None = None
    approver: Approver | None = None
    policy: Policy | None = None
    deps: Mapping[str, object] | None = None
    overrides: Mapping[Identity, Maker] | None = None
    journal: Journal | None = None
    outputs: Path | Literal["off"] | None = None
    """The folder for whole tool outputs; None means beside the journal, where that is in a folder."""
    context: ContextRules = ContextRules()  # noqa: RUF009 - frozen
    retry: RetryRule = RetryRule()  # noqa: RUF009 - frozen
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    output: TypeAdapter[Any] | None = None
    output_schema: Mapping[str, object] | None = None
    require_done: bool = False
    close_with_answer: bool = True
    collect_tool_stats: bool = False
    on_turn: TurnHook | None = None
    settings: Mapping[str, object] | None = None
    """Kept with each run, for whoever has to make the same agent again."""
    price: Price = price_of
    clock: Callable[[], datetime] | None = None
    make_id: Callable[[], str] | None = None
