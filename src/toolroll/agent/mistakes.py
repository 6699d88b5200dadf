"""Mistakes in what an agent is given, told when it is made: in our own words, with what to write instead."""

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from os import PathLike
from typing import Final

from toolroll.agent.context.rules import ContextRules
from toolroll.errors import UsageError
from toolroll.kernel.approval.policy import Policy
from toolroll.kernel.approval.request import check_approver
from toolroll.kernel.define.tool import Tool
from toolroll.models.model import WebSearch
from toolroll.models.retry import RetryRule

_NONE: Final = type(None)
_WANTED: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "system": ((str,), "a text"),
    "policy": ((Policy, _NONE), "a Policy"),
    "context": ((ContextRules,), "ContextRules"),
    "retry": ((RetryRule,), "a RetryRule"),
    "deps": ((Mapping, _NONE), "a mapping of values by name"),
    "overrides": ((Mapping, _NONE), "a mapping of providers to those that stand in for them"),
    "settings": ((Mapping, _NONE), "a mapping"),
    "outputs": ((str, PathLike, _NONE), "a folder, or None for none"),
    "require_done": ((bool,), "True or False"),
    "close_with_answer": ((bool,), "True or False"),
    "collect_tool_stats": ((bool,), "True or False"),
    "on_turn": ((Callable, _NONE), "a function"),  # type: ignore[dict-item]  # a class to isinstance, not to mypy
    "price": ((Callable,), "a function"),  # type: ignore[dict-item]  # as above
    "clock": ((Callable, _NONE), "a function"),  # type: ignore[dict-item]  # as above
    "make_id": ((Callable, _NONE), "a function"),  # type: ignore[dict-item]  # as above
}
"""What an option must be, and the words for it; those that can be several things are looked at on their own."""


def check_options(options: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse an option that there is not, one that is missing, and a value that cannot be what it is for."""
    for name in options:
        if name not in known:
            raise UsageError(_no_such_option(name, known))
    if "model" not in options:
        raise UsageError('An agent needs a model: Agent(model="sonnet", ...), or any Model.')
    _check_model(options["model"])
    _check_tools(options.get("tools", ()))
    if options.get("approver") is not None:
        check_approver(options["approver"])
    _check_journal(options.get("journal"))
    for name, (kinds, words) in _WANTED.items():
        if name in options and not isinstance(options[name], kinds):
            raise UsageError(f"{name} is {words}, not {options[name]!r}.")
    _check_tokens(options.get("max_output_tokens", 1))


def _no_such_option(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}=?" if near else ""
    return f"An agent has no option {name!r}.{hint} It takes: {', '.join(known)}."


def _check_model(model: object) -> None:
    if not isinstance(model, str) and (isinstance(model, type) or not callable(getattr(model, "respond", None))):
        raise UsageError(
            f'model is the name of one, such as "sonnet", or an object that answers requests, not {model!r}.'
        )


def _check_tools(tools: object) -> None:
    if isinstance(tools, Tool | WebSearch):
        raise UsageError("tools takes a list of them: tools=[...], also for one.")
    if not isinstance(tools, Iterable) or isinstance(tools, str):
        raise UsageError(f"tools takes a list of tools, not {tools!r}.")


def _check_journal(journal: object) -> None:
    if journal is not None and (isinstance(journal, type) or not callable(getattr(journal, "append", None))):
        raise UsageError(f"journal is an object that keeps runs, such as SqliteJournal(folder), not {journal!r}.")


def _check_tokens(tokens: object) -> None:
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens <= 0:
        raise UsageError(f"max_output_tokens is a whole number above 0, not {tokens!r}.")
