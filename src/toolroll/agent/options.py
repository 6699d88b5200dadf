"""What an agent can be given, and the checked setup it becomes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from toolroll.agent.setup import Price, Setup
from toolroll.agent.stop import Condition, conditions
from toolroll.errors import UsageError
from toolroll.journal.journal import Journal
from toolroll.kernel.approval import Approver
from toolroll.kernel.depends import Identity, Maker
from toolroll.kernel.policy import Policy
from toolroll.kernel.schema import draft07
from toolroll.kernel.tool import Tool
from toolroll.kernel.toolset import Toolset
from toolroll.models.model import Model, WebSearch
from toolroll.models.retry import RetryRule


class AgentOptions(TypedDict, total=False):
    """The keyword arguments of `Agent`."""

    model: Required[Model]
    tools: Iterable[Tool | WebSearch]
    system: str
    stop_when: Condition | Iterable[Condition]
    approver: Approver | None
    policy: Policy
    deps: Mapping[str, object]
    overrides: Mapping[Identity, Maker]
    journal: Journal
    retry: RetryRule
    max_output_tokens: int
    output: type
    require_done: bool
    close_with_answer: bool
    collect_tool_stats: bool
    price: Price
    clock: Callable[[], datetime]
    make_id: Callable[[], str]


def setup_of(options: AgentOptions) -> Setup:
    """The setup behind the options; what cannot work is refused here, not at run time."""
    rest: dict[str, Any] = dict(options)
    given = list(rest.pop("tools", ()))
    searches = [one for one in given if isinstance(one, WebSearch)]
    if len(searches) > 1:
        raise UsageError("An agent takes one WebSearch, not several.")
    tools = Toolset([one for one in given if isinstance(one, Tool)])
    if len(tools) + len(searches) != len(given):
        raise UsageError("An agent's tools are made with @tool or define_tool. Decorate plain functions first.")
    output = rest.pop("output", None)
    if output is not None:
        adapter: TypeAdapter[Any] = TypeAdapter(output)
        rest |= {"output": adapter, "output_schema": draft07(adapter)}
    return Setup(
        tools=tools,
        web_search=searches[0] if searches else None,
        stop_when=conditions(rest.pop("stop_when", None)),
        **rest,
    )
