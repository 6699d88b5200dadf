"""Define what a tool is to agents, surfaces and wrappers, and look tools up by name."""

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, Generic, ParamSpec, TypeVar

from toolroll.errors import DefinitionError
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.request import Effect, Preview, content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import CallOutcome, ToolResult
from toolroll.kernel.data.labels import NO_LABELS, Label, Labels, collect_labels
from toolroll.kernel.data.serialize import canonical_json, to_plain_unfiltered
from toolroll.kernel.define.schema import JsonSchema
from toolroll.kernel.depends.dependency import Injection
from toolroll.safe.limits import MAX_TOOL_NAME_CHARACTERS

P = ParamSpec("P")
R = TypeVar("R")
# One variable for the whole type, and no bound: type checkers then find what several tools in a list have in common.
F = TypeVar("F", covariant=True)  # noqa: PLC0105 - reads as what it is: the type of a function


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """What a model is told about a tool: its name, what it does, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: JsonSchema
    labels: tuple[Label, ...] = ()
    """What its results bring into a run; told to no model."""

    @property
    def fingerprint(self) -> str:
        """Return a hash that changes whenever a model would be told something else, or the labels change."""
        parts: list[object] = [self.name, self.description, self.parameters]
        # A run with private text is guarded whether or not that is untrusted, too: questions of 0.1.0, which named only
        # the first label, still fit.
        labels = ["private"] if "private" in self.labels else list(self.labels)
        return content_hash(canonical_json([*parts, labels] if labels else parts))


class Tool(ABC):
    """A tool. `execute_raw` is the only way to run one; everything else describes it or is called by the executor."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name a model calls it by."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Return what it does, for a model."""

    @property
    @abstractmethod
    def parameters(self) -> JsonSchema:
        """Return the JSON Schema (draft-07) of its arguments."""

    @property
    @abstractmethod
    def effect(self) -> Effect:
        """Return what running it does to the world: `reads`, `writes` or `external`."""

    @property
    @abstractmethod
    def core(self) -> "Tool":
        """Return the tool at the bottom of whatever is wrapped around it."""

    @property
    def asks(self) -> bool:
        """Return whether a person is asked even though the effect alone would not need it."""
        return False

    @property
    def inner_tools(self) -> "tuple[Tool, ...]":
        """Return the tools of the agent that it runs, if it runs one."""
        return ()

    @property
    def has_condition(self) -> bool:
        """Return whether it depends on the call if a person is asked: then `needs_approval` says it."""
        return False

    def needs_approval(self, arguments: object, ctx: ToolContext) -> bool | None:  # noqa: ARG002 - for conditions
        """Return whether a person must be asked about this call; None leaves it to the effect and to rules.

        False says that the call needs no approval although the tool writes or acts outside.
        """
        return True if self.asks else None

    @property
    def can_be_stopped(self) -> bool:
        """Return whether a cancelled call really ends; one that goes on in a thread does not."""
        return True

    @property
    def loop_guard(self) -> bool:
        """Return whether calling it again and again with the same result counts as a loop; not so if it polls."""
        return True

    @property
    def labels(self) -> Labels:
        """Return what its results bring into a run: `private` data, `untrusted` text, both, or nothing."""
        return NO_LABELS

    @property
    def needs(self) -> tuple[Injection, ...]:
        """Return what it declares to be given besides its arguments."""
        return ()

    @cached_property
    def definition(self) -> ToolDefinition:
        """Return what a model is told: the same bytes for as long as the tool lives, as prompt caches depend on it."""
        return self.describe()

    def describe(self) -> ToolDefinition:
        """Return the definition as it would be now; an approval is bound to this one."""
        labels = tuple(sorted(collect_labels(self)))
        return ToolDefinition(name=self.name, description=self.description, parameters=self.parameters, labels=labels)

    @abstractmethod
    def validate(self, raw: str) -> object:
        """Return the checked arguments behind the JSON text; raise `JsonRefused` or `ArgumentsRefused`."""

    @abstractmethod
    def paths(self, arguments: object) -> tuple[str, ...]:
        """Return the paths these arguments name, for rules to match."""

    @property
    def locates(self) -> bool:
        """Return whether the tool can tell where a path leads."""
        return False

    async def locate(self, paths: tuple[str, ...], ctx: ToolContext) -> tuple[str, ...]:  # noqa: ARG002 - for those that can tell
        """Return where each of these paths leads, without links. Nothing else may be done here."""
        return paths

    def fields(self, arguments: object) -> Mapping[str, object]:
        """Return the checked arguments by name, for previews, rules and conditions."""
        plain: Any = to_plain_unfiltered(arguments)
        return dict(plain)

    @abstractmethod
    def why(self, arguments: object) -> str:
        """Return the tool's own words for what this call is for."""

    @abstractmethod
    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
        """Return what would happen; with `edited`, what would happen with the person's text instead."""

    def failure_content(self, message: str) -> object:
        """Return what a model reads when a call is rejected, refused or fails with this message: here, the message."""
        return message

    async def find_outcome(self, ctx: ToolContext) -> CallOutcome | None:  # noqa: ARG002 - for tools that know
        """Return what became of this call of a run that was cut off; None where the tool has no record of it."""
        return None

    @abstractmethod
    def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
        """Run with the permit's arguments. For the executor and for wrappers only."""

    def execute_raw(self, raw_args_json: str, ctx: ToolContext | None = None) -> "Coroutine[Any, Any, ToolResult]":
        """Parse, check, ask where needed, run, and return the result. Never raises, cancellation aside."""
        return _executor()(self, raw_args_json, ctx or ToolContext())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the plain function behind the tool: no validation, no approval; for tests and reuse."""
        return self.core(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.name} ({self.effect})>"


class TypedTool(Tool, Generic[F]):
    """A tool made of a function of type `F`: to type checkers, calling the tool is calling that function."""

    def __call__(self: "TypedTool[Callable[P, R]]", /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the plain function behind the tool: no validation, no approval; for tests and reuse."""
        value: R = self.core(*args, **kwargs)
        return value


@cache  # kept: an import statement in each call takes a microsecond, a twentieth of the whole
def _executor() -> "Callable[[Tool, str, ToolContext], Coroutine[Any, Any, ToolResult]]":
    from toolroll.kernel.call.execute import execute  # noqa: PLC0415 - to make a tool, nothing of how one runs is needed

    return execute


_NAME: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_TOOL_NAME_CHARACTERS}}}")


def check_name(name: str) -> None:
    """Refuse a name that a provider would refuse later."""
    if not _NAME.fullmatch(name):
        raise DefinitionError(
            f"A tool cannot be named {name!r}: providers take 1 to {MAX_TOOL_NAME_CHARACTERS} of a-z, A-Z, 0-9, "
            "'_' and '-'. Pass name=... to give it another one.",
            tool=name,
        )


class Toolset:
    """Tools by name, in the order they were given. Two of one name are refused when the set is made."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise DefinitionError(
                    f"Two tools are named {tool.name!r}. Rename one: renamed(tool, 'other') or prefixed([tool], 'x_').",
                    tool=tool.name,
                )
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of exactly this name."""
        return self._tools.get(name)

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return what a model is told about all of them."""
        return tuple(tool.definition for tool in self)

    def describe_unknown(self, name: str) -> str:
        """Return that there is no tool of this name, with the known names and the nearest one."""
        known = ", ".join(self._tools) or "none"
        name = name[:MAX_TOOL_NAME_CHARACTERS]
        spelled = {tool.casefold(): tool for tool in self._tools}
        near = difflib.get_close_matches(name.casefold(), spelled, n=1)
        hint = f" Did you mean {spelled[near[0]]}?" if near else ""
        return f"Unknown tool {name!r}.{hint} Known tools: {known}."

    def unknown(self, name: str) -> ToolResult:
        """Return the answer to a call of a tool that does not exist, in the form that failures have in this set."""
        message = self.describe_unknown(name)
        contents = (tool.failure_content(message) for tool in self)
        shaped = next((content for content in contents if not isinstance(content, str)), message)
        return ToolResult.failure(shaped, code="unknown_tool")
