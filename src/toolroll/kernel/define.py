"""Making tools: `@tool` on a function, or `define_tool` with data and a function. Both check everything at once."""

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any, Final, TypeVar, get_args, overload

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from typing_extensions import TypedDict, is_typeddict

from toolroll.errors import DefinitionError, DependencyError
from toolroll.kernel.approval import Effect
from toolroll.kernel.context import ToolContext
from toolroll.kernel.depends import Depends, check_graph
from toolroll.kernel.docstring import read_docstring
from toolroll.kernel.function import CoreTool, FunctionTool, InputTool, PreviewMaker
from toolroll.kernel.hints import names_at
from toolroll.kernel.names import check_name
from toolroll.kernel.schema import JsonSchema, OpenObject, draft07
from toolroll.kernel.signature import Signature, read_signature
from toolroll.kernel.tool import Tool
from toolroll.kernel.wrappers import with_timeout

Input = TypeVar("Input")

_UNUSABLE: Final = (PydanticSchemaGenerationError, PydanticUserError, PydanticInvalidForJsonSchema)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    description: str | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect = "reads",
    timeout: float | None = None,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    subject: Callable[..., Any] | str | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect = "reads",
    timeout: float | None = None,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """A tool from a function: `@tool`, `@tool("what it does")` or `@tool(name=..., effect="writes", ...)`.

    `effect` says what running it does to the world; everything but `reads` needs leave. `timeout` is in seconds.
    `paths` names the parameters that hold paths (for rules), `why` the one that says what the call is for, `preview`
    the function that shows what would happen. The function stays callable as it was.
    """
    names = names_at(2)

    def make(function: Callable[..., Any]) -> Tool:
        text = subject if isinstance(subject, str) else None
        made = _from_function(function, name, text, names, effect=effect, paths=paths, why=why, preview=preview)
        return made if timeout is None else with_timeout(made, timeout)

    return make(subject) if callable(subject) else make


def define_tool(
    *,
    name: str,
    description: str,
    input: type[Input],  # noqa: A002 - the seed's name for it
    execute: Callable[[Input, ToolContext], Any],
    effect: Effect = "reads",
    timeout: float | None = None,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
) -> Tool:
    """A tool from data and a function: `execute(input, ctx)` gets one checked value of the `input` type."""
    check_name(name)
    if not (is_typeddict(input) or is_dataclass(input) or issubclass(input, BaseModel)):
        raise DefinitionError(
            f"{name}: input must be a pydantic model, a TypedDict or a dataclass, not {input!r}.", tool=name
        )
    adapter, parameters = _adapt(name, input, None)
    options = _core_options(name, description, adapter, parameters, effect, paths, why, preview)
    made = InputTool(execute, **options)
    return made if timeout is None else with_timeout(made, timeout)


def _from_function(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    names: dict[str, object],
    *,
    effect: Effect,
    paths: Sequence[str],
    why: str | None,
    preview: PreviewMaker | None,
) -> CoreTool:
    name = name or str(getattr(function, "__name__", ""))
    check_name(name)
    docs = read_docstring(function.__doc__)
    signature = read_signature(function, tool=name, names=names, texts=docs.parameters)
    _check_dependencies(name, signature)
    shape = TypedDict(name, signature.fields)  # type: ignore[misc]  # the fields are known only here
    adapter, parameters = _adapt(name, shape, signature)
    signature.put_defaults(parameters)
    options = _core_options(name, description or docs.summary, adapter, parameters, effect, paths, why, preview)
    return FunctionTool(function, injected=signature.injected, defaults=signature.filled, **options)


def _core_options(
    name: str,
    description: str,
    adapter: TypeAdapter[Any],
    parameters: JsonSchema,
    effect: Effect,
    paths: Sequence[str],
    why: str | None,
    preview: PreviewMaker | None,
) -> dict[str, Any]:
    if not description.strip():
        raise DefinitionError(
            f"{name}: a model needs to know what this tool does. Write a docstring, or pass a description.",
            tool=name,
        )
    if effect not in get_args(Effect):
        raise DefinitionError(f"{name}: effect is 'reads', 'writes' or 'external', not {effect!r}.", tool=name)
    known = parameters["properties"]
    assert isinstance(known, dict)
    for parameter in (*paths, *([why] if why else ())):
        if parameter not in known:
            raise DefinitionError(
                f"{name}: there is no parameter {parameter!r} for paths= or why= to name.",
                tool=name,
                parameter=parameter,
            )
    return {
        "name": name,
        "description": description.strip(),
        "adapter": adapter,
        "parameters": parameters,
        "effect": effect,
        "path_arguments": tuple(paths),
        "why_argument": why,
        "preview": preview,
    }


def _check_dependencies(name: str, signature: Signature) -> None:
    for parameter, injection in signature.injected:
        if isinstance(injection, Depends):
            try:
                check_graph(injection)
            except DependencyError as error:
                error.add_note(f"tool {name}, parameter '{parameter}'")
                raise


def _adapt(name: str, shape: Any, signature: Signature | None) -> tuple[TypeAdapter[Any], JsonSchema]:
    """The validator of the arguments and their schema; what cannot be either is blamed on its parameter."""
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(shape)
        return adapter, draft07(adapter)
    except OpenObject as error:
        raise DefinitionError(
            f'{name}: {error.where or "the input"} takes fields it does not name (extra="allow"). A model must know '
            "what it can send: declare the fields, or use dict[str, ...] for a free-form map.",
            tool=name,
            parameter=error.where.split(".")[0] or None,
        ) from None
    except _UNUSABLE as error:
        parameter = _culprit(signature)
        place = f"parameter '{parameter}'" if parameter else "the input"
        reason = str(error).splitlines()[0]
        raise DefinitionError(
            f"{name}: {place} has a type that JSON cannot carry ({reason}). Take a plain type (str, int, list, model) "
            "and convert inside, or inject the value with Depends.",
            tool=name,
            parameter=parameter,
        ) from None


def _culprit(signature: Signature | None) -> str | None:
    for parameter, annotation in signature.fields.items() if signature else ():
        try:
            one: Any = TypedDict("One", {parameter: annotation})  # type: ignore[misc]  # as above
            TypeAdapter(one).json_schema()
        except _UNUSABLE:
            return parameter
    return None
