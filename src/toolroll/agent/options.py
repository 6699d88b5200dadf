"""What an agent can be given, and the checked setup it becomes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from os import environ
from pathlib import Path
from typing import Any, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from toolroll.agent.context.rules import ContextRules
from toolroll.agent.cost import Price
from toolroll.agent.mistakes import check_options
from toolroll.agent.setup import Setup, TurnHook
from toolroll.agent.stop import Condition, conditions, tool_called
from toolroll.errors import UsageError
from toolroll.home.keys import with_keys
from toolroll.journal.journal import Journal
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import Approver
from toolroll.kernel.define.decorator import UNUSABLE, reason_of
from toolroll.kernel.define.schema import OpenObject, draft07
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.toolset import Toolset
from toolroll.kernel.depends.dependency import Identity, Maker
from toolroll.models.model import Model, WebSearch
from toolroll.models.retry import RetryRule


class AgentOptions(TypedDict, total=False):
    """The keyword arguments of `Agent`, beside `output`."""

    model: Required[Model | str]
    tools: Iterable[Tool | WebSearch]
    system: str
    stop_when: Condition | Iterable[Condition]
    approver: Approver | None
    policy: Policy
    deps: Mapping[str, object]
    overrides: Mapping[Identity, Maker]
    journal: Journal | None
    outputs: "Path | str | None"
    context: ContextRules
    retry: RetryRule
    max_output_tokens: int
    require_done: bool
    close_with_answer: bool
    collect_tool_stats: bool
    on_turn: TurnHook
    settings: Mapping[str, object]
    price: Price
    clock: Callable[[], datetime]
    make_id: Callable[[], str]


def setup_of(options: AgentOptions, output: object = None) -> Setup:
    """The setup behind the options; what cannot work is refused here, not at run time."""
    rest: dict[str, Any] = dict(options)
    check_options(rest, (*AgentOptions.__annotations__, "output"))
    given = list(rest.pop("tools", ()))
    searches = [one for one in given if isinstance(one, WebSearch)]
    if len(searches) > 1:
        raise UsageError("An agent takes one WebSearch, not several.")
    tools = Toolset([one for one in given if isinstance(one, Tool)])
    if len(tools) + len(searches) != len(given):
        raise UsageError("An agent's tools are made with @tool or define_tool. Decorate plain functions first.")
    setup = Setup(
        model=_model(rest.pop("model")),
        tools=tools,
        definitions=tools.definitions,
        web_search=searches[0] if searches else None,
        stop_when=conditions(rest.pop("stop_when", None)),
        **_outputs(rest),
        **rest,
        **_output(output),
    )
    _check_names(setup)
    return setup


def _model(given: Model | str) -> Model:
    if not isinstance(given, str):
        return given
    from toolroll.models.connect import connect  # noqa: PLC0415 - all wires there are, for who names one of them

    return connect(given, environment=with_keys(environ))


def _outputs(rest: dict[str, Any]) -> dict[str, Any]:
    """None turns it off; not being said leaves it to where the journal is."""
    if "outputs" not in rest:
        return {}
    given = rest.pop("outputs")
    return {"outputs": "off" if given is None else Path(given)}


def _output(shape: object) -> dict[str, Any]:
    if shape is None:
        return {}
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(shape)  # type: ignore[arg-type]  # whatever pydantic takes
        return {"output": adapter, "output_schema": draft07(adapter)}
    except OpenObject as error:
        raise UsageError(
            f'output: {error.where or "it"} takes fields it does not name (extra="allow"). Declare them, or use '
            "dict[str, ...] for a free-form map."
        ) from None
    except UNUSABLE as error:
        raise UsageError(f"output is a type, such as a pydantic model, not {shape!r} ({reason_of(error)}).") from None


def _check_names(setup: Setup) -> None:
    """Refuse to wait for a tool that is not there."""
    if setup.require_done and setup.tools.get("done") is None:
        raise UsageError("require_done needs a tool named `done`. Add the one of toolroll.packs.standard.")
    for condition in setup.stop_when:
        if isinstance(condition, tool_called) and setup.tools.get(condition.name) is None:
            known = ", ".join(tool.name for tool in setup.tools) or "none"
            raise UsageError(f"tool_called waits for {condition.name!r}, and the agent's tools are: {known}.")
    for name in setup.context.pinned_tools:
        if setup.tools.get(name) is None:
            known = ", ".join(tool.name for tool in setup.tools) or "none"
            raise UsageError(f"pinned_tools names {name!r}, and the agent's tools are: {known}.")
