"""What an agent is made of, checked once when it is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from toolroll.agent.stop import DEFAULT, Condition
from toolroll.journal.journal import Journal, MemoryJournal
from toolroll.kernel.approval import Approver
from toolroll.kernel.context import random_id, utc_now
from toolroll.kernel.conversation import Origin
from toolroll.kernel.depends import Identity, Maker
from toolroll.kernel.policy import Policy
from toolroll.kernel.toolset import Toolset
from toolroll.kernel.usage import Usage
from toolroll.models.model import DEFAULT_MAX_OUTPUT_TOKENS, Model, WebSearch
from toolroll.models.retry import RetryRule

Price = Callable[[Origin, Usage], float | None]
"""US dollars for tokens of a model; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything a run needs to know of its agent."""

    model: Model
    tools: Toolset
    system: str = ""
    stop_when: tuple[Condition, ...] = DEFAULT
    web_search: WebSearch | None = None
    approver: Approver | None = None
    policy: Policy | None = None
    deps: Mapping[str, object] = field(default_factory=dict)
    overrides: Mapping[Identity, Maker] = field(default_factory=dict)
    journal: Journal = field(default_factory=MemoryJournal)
    retry: RetryRule = RetryRule()  # noqa: RUF009 - frozen
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    output: TypeAdapter[Any] | None = None
    output_schema: Mapping[str, object] | None = None
    require_done: bool = False
    close_with_answer: bool = True
    collect_tool_stats: bool = False
    price: Price | None = None
    clock: Callable[[], datetime] = utc_now
    make_id: Callable[[], str] = random_id
