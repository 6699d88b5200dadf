"""Functions of a program that an agent calls with the context of a run: the system text, the tools of a step, checks.

They take the context, and dependencies as tools do: `def system(ctx: RunContext, user: Annotated[User, Depends(...)])`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from toolroll.agent.result import Step
from toolroll.errors import ToolrollError, UsageError
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.callables import read_annotations, read_parameters, unwrap_callable
from toolroll.kernel.data.labels import Labels
from toolroll.kernel.data.messages import Message
from toolroll.kernel.define.function import call, is_async, run_and_close
from toolroll.kernel.depends.dependency import CONTEXT, Depends, Injection, check_graph, find_injection
from toolroll.kernel.depends.resolve import provide

_FIXED: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Going(Protocol):
    """The run as far as a context shows it."""

    @property
    def steps(self) -> Sequence[Step]:
        """Return the steps that are over."""
        ...

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation as it stands."""
        ...


class RunContext(ToolContext):
    """What a function of the agent may use: what a tool has, and the run as it stands."""

    __slots__ = ("_going",)

    def __init__(self, *, run: Run, going: Going) -> None:
        super().__init__(run=run, call_id="")
        run.calls -= 1  # it is no call
        self._going = going

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the conversation as it stands."""
        return self._going.messages()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps that are over."""
        return tuple(self._going.steps)

    @property
    def labels(self) -> Labels:
        """Return what the run holds: `private` data, `untrusted` text, both, or nothing."""
        return self.run.labels


class ContextFunction:
    """A function, sync or async, read once: which parameters get the values, the context and dependencies."""

    __slots__ = ("_function", "_is_async", "_needs", "_values", "name")

    def __init__(self, function: object, *, option: str, values: Sequence[str]) -> None:
        if not callable(function) or isinstance(function, type):
            raise UsageError(f"{option} is a function of ({', '.join(values)}), not {function!r}.")
        self._function = function
        self._is_async = is_async(function)
        self.name: str = option
        try:
            given, self._needs = _read(function, option)
            for _, need in self._needs:
                if isinstance(need, Depends):
                    check_graph(need)
        except (ToolrollError, ValueError) as error:
            raise UsageError(f"{option}: {error}") from error
        if any(need == CONTEXT for _, need in self._needs):
            values = [name for name in values if name != "ctx"]
        if len(given) > len(values):
            raise UsageError(
                f"{option} is a function of ({', '.join(values)}); nobody can provide its parameter "
                f"'{given[len(values)]}'. Annotate it with Depends(...), or give it a default."
            )
        self._values = tuple(zip(given, values, strict=False))

    @property
    def needs(self) -> tuple[Injection, ...]:
        """Return what it is given besides the values."""
        return tuple(need for _, need in self._needs)

    async def call(self, ctx: ToolContext, **values: object) -> object:
        """Call it with the values and what it needs; a sync one runs in a thread, as it might block the loop."""
        return await run_and_close(lambda: self._call(ctx, {"ctx": ctx, **values}), ctx)

    async def _call(self, ctx: ToolContext, values: Mapping[str, object]) -> object:
        given = {parameter: values[name] for parameter, name in self._values}
        for name, need in self._needs:
            given[name] = await provide(need, ctx)
        return await call(lambda: self._function(**given), None if self._is_async else ctx)


def _read(function: Callable[..., Any], option: str) -> tuple[tuple[str, ...], tuple[tuple[str, Injection], ...]]:
    source = unwrap_callable(function)
    parameters = read_parameters(source)
    hints = read_annotations(source, parameters, owner=option)
    values: list[str] = []
    needs: list[tuple[str, Injection]] = []
    for parameter in parameters.values():
        injection = find_injection(hints.get(parameter.name))
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise UsageError(f"'{parameter.name}' is given by name: leave out the '/' after it.")
        if injection is not None:
            needs.append((parameter.name, injection))
        elif parameter.default is parameter.empty and parameter.kind not in _FIXED:
            values.append(parameter.name)
    return tuple(values), tuple(needs)
