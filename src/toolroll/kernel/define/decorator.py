"""Make tools: `@tool` on a function, or `define_tool` with data and a function. Both check everything at once."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Final, TypeVar, get_args, get_origin, overload

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic_core import SchemaError
from typing_extensions import TypedDict, is_typeddict

from toolroll.errors import DefinitionError, ToolrollError, UsageError
from toolroll.kernel.approval.request import Effect
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.callables import Place, capture_place, find_written_function, read_annotations, unwrap_callable
from toolroll.kernel.data.labels import Label, Labels, read_labels
from toolroll.kernel.define.deferred import DeferredTool
from toolroll.kernel.define.docstring import Docstring, read_docstring
from toolroll.kernel.define.function import FunctionTool, InputTool, Locator, OutcomeFinder, PreviewMaker
from toolroll.kernel.define.raw_schema import UncheckedKeyword, adapt_schema, normalize_schema
from toolroll.kernel.define.schema import JsonSchema, OpenObject, to_draft07
from toolroll.kernel.define.signature import Signature, check_defaults, read_signature
from toolroll.kernel.define.tool import P, R, Tool, TypedTool, check_name
from toolroll.kernel.define.wrappers import ApprovalCondition, with_approval, with_timeout
from toolroll.kernel.depends.dependency import Depends, check_graph

Input = TypeVar("Input")

# RuntimeError (PydanticUserError is one) and TypeError for a constraint that does not fit, SchemaError for one that
# makes no sense, KeyError for a default that looks like a reference.
UNUSABLE: Final = (RuntimeError, TypeError, SchemaError, KeyError, PydanticUndefinedAnnotation)
"""What pydantic raises for a type that it cannot use."""
_MIXED: Final = (
    "{name}: execute must be a function that takes (input, ctx); a tool that is answered from outside has "
    "deferred=True and result= in its place."
)


@overload
def tool(function: Callable[P, R], /) -> TypedTool[Callable[P, R]]: ...


@overload
def tool(
    text: str | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "reads",
    brings: Label | Collection[Label] = (),
    timeout: float | None = None,
    loop_guard: bool = True,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
    locate: Locator | None = None,
    needs_approval: ApprovalCondition | None = None,
    deferred: bool = False,
) -> Callable[[Callable[P, R]], TypedTool[Callable[P, R]]]: ...


def tool(
    subject: Callable[P, R] | str | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "reads",
    brings: Label | Collection[Label] = (),
    timeout: float | None = None,
    loop_guard: bool = True,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
    locate: Locator | None = None,
    needs_approval: ApprovalCondition | None = None,
    deferred: bool = False,
) -> TypedTool[Callable[P, R]] | Callable[[Callable[P, R]], TypedTool[Callable[P, R]]]:
    """Make a tool from a function: `@tool`, `@tool("what it does")` or `@tool(name=..., effect="writes", ...)`.

    A model reads `description`, or else the docstring.

    `effect` says what running it does to the world; everything but `reads` needs leave. `brings` says what its results
    are: `private`, `untrusted` (text of strangers), or both; a run that has read both sends nothing out any more.
    `timeout` is in seconds. `paths` names the parameters that hold paths (for rules; `changes.path` is the `path` of
    each of `changes`), `why` the one that says what the call is for, `preview` the function that shows what would
    happen. `locate(paths, ctx)` returns where those paths lead, without links: rules then judge both, and the tool
    finds them in `ctx.targets`. `needs_approval(arguments, ctx)` says for which calls a person is asked as well.
    `deferred=True` is for a call that a person or another system answers: the function never runs, the run waits, and
    `agent.resume(run_id, results={call_id: value})` delivers the result, of the type that the function returns.
    `loop_guard=False` lets a model call it again and again, as a tool that polls is called. The function stays callable
    as it was.
    """
    place = capture_place(2)
    text = subject if isinstance(subject, str) else None
    if text is not None and description is not None:
        raise DefinitionError(
            f"A tool has one description: {text!r} and description={description!r} were given.", tool=name or ""
        )

    def make(function: Callable[P, R]) -> TypedTool[Callable[P, R]]:
        made = _from_function(
            function,
            name,
            text if description is None else description,
            place,
            effect=effect,
            brings=brings,
            loop_guard=loop_guard,
            paths=paths,
            why=why,
            preview=preview,
            locate=locate,
            deferred=deferred,
        )
        timed = made if timeout is None else with_timeout(made, timeout)
        return timed if needs_approval is None else with_approval(timed, needs_approval)

    return make if subject is None or isinstance(subject, str) else make(subject)


@overload
def define_tool(
    *,
    name: str,
    description: str,
    input: type[Input],
    execute: Callable[[Input, ToolContext], Any] | None = None,
    effect: Effect = "reads",
    brings: Label | Collection[Label] = (),
    timeout: float | None = None,
    loop_guard: bool = True,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
    locate: Locator | None = None,
    outcome: OutcomeFinder | None = None,
    needs_approval: ApprovalCondition | None = None,
    deferred: bool = False,
    result: object = None,
) -> Tool: ...


@overload
def define_tool(
    *,
    name: str,
    description: str,
    input: Mapping[str, object],
    execute: Callable[[dict[str, Any], ToolContext], Any] | None = None,
    effect: Effect = "reads",
    brings: Label | Collection[Label] = (),
    timeout: float | None = None,
    loop_guard: bool = True,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
    locate: Locator | None = None,
    outcome: OutcomeFinder | None = None,
    needs_approval: ApprovalCondition | None = None,
    deferred: bool = False,
    result: object = None,
) -> Tool: ...


def define_tool(
    *,
    name: str,
    description: str,
    input: type[Input] | Mapping[str, object],  # noqa: A002 - the name that users of such tools know
    execute: Callable[[Input, ToolContext], Any] | Callable[[dict[str, Any], ToolContext], Any] | None = None,
    effect: Effect = "reads",
    brings: Label | Collection[Label] = (),
    timeout: float | None = None,
    loop_guard: bool = True,
    paths: Sequence[str] = (),
    why: str | None = None,
    preview: PreviewMaker | None = None,
    locate: Locator | None = None,
    outcome: OutcomeFinder | None = None,
    needs_approval: ApprovalCondition | None = None,
    deferred: bool = False,
    result: object = None,
) -> Tool:
    """Make a tool from data and a function: `execute(input, ctx)` gets one checked value of the `input` type.

    `input` can also be a JSON Schema of an object; `execute` then gets the checked arguments as a dict. With
    `deferred=True` and no `execute`, calls are answered from outside, by values of the type `result`.
    `outcome` is an async function that says, by the records of the tool itself, what became of a call that was cut off.
    """
    check_name(name)
    if not isinstance(input, Mapping) and not _is_input_type(input):
        raise DefinitionError(
            f"{name}: input must be a pydantic model with fields, a TypedDict, a dataclass or a JSON Schema, "
            f"not {input!r}.",
            tool=name,
        )
    if deferred != (execute is None) or (result is not None and not deferred):
        raise DefinitionError(_MIXED.format(name=name), tool=name)
    if execute is not None:
        _check_takes(name, "execute", execute, "input, ctx")
        _check_is_no_generator(name, execute)
    if isinstance(input, Mapping):
        adapter, parameters = _adapt_raw(name, input)
    else:
        adapter, parameters = _adapt(name, input, None, capture_place(2))
    options = _core_options(name, description, adapter, parameters, effect, brings, preview, locate)
    known: Any = parameters.get("properties", {}) if isinstance(input, Mapping) else _field_names(input)
    named = _named_parameters(name, known, paths, why, locate)
    options |= {**named, "outcome": outcome, "loop_guard": loop_guard}
    if execute is not None:
        made: Tool = InputTool(execute, **options)
    else:
        made = DeferredTool(_run_nowhere, result=_adapt_result(name, result, capture_place(2)), **options)
    made = made if timeout is None else with_timeout(made, timeout)
    return made if needs_approval is None else with_approval(made, needs_approval)


def _run_nowhere(**arguments: object) -> object:
    raise UsageError(f"This tool is answered from outside, so it cannot be called with {arguments!r}.")


def _is_input_type(shape: object) -> bool:
    from pydantic import RootModel  # noqa: PLC0415 - making it loads plugins, a quarter more than all of pydantic

    shape = get_origin(shape) or shape  # of a generic one
    if not isinstance(shape, type) or issubclass(shape, RootModel):  # which has no fields to name
        return False
    return is_typeddict(shape) or is_dataclass(shape) or issubclass(shape, BaseModel)


def _field_names(shape: Any) -> Collection[str]:
    """Return the fields of an input type as its author calls them, whatever a model is told."""
    shape = get_origin(shape) or shape
    if is_dataclass(shape):
        return [field.name for field in fields(shape)]
    return list(shape.__annotations__ if is_typeddict(shape) else shape.model_fields)


def _from_function(
    function: Callable[P, R],
    name: str | None,
    description: str | None,
    place: Place,
    *,
    effect: Effect,
    brings: Label | Collection[Label],
    loop_guard: bool,
    paths: Sequence[str],
    why: str | None,
    preview: PreviewMaker | None,
    locate: Locator | None,
    deferred: bool,
) -> FunctionTool[Callable[P, R]]:
    name = name or str(getattr(function, "__name__", ""))
    _check_is_function(name, function)
    check_name(name)
    _check_is_no_generator(name, function)
    docs = _read_docs(function)
    signature = read_signature(function, tool=name, place=place, texts=docs.parameters)
    _check_dependencies(name, signature, place)
    shape = TypedDict(name, signature.fields)  # type: ignore[misc]  # the fields are known only here
    adapter, parameters = _adapt(name, shape, signature, place)
    if signature.defaults:
        check_defaults(name, signature, adapter)
    signature.put_defaults(parameters)
    options = _core_options(name, description or docs.summary, adapter, parameters, effect, brings, preview, locate)
    options |= _named_parameters(name, signature.fields, paths, why, locate)
    options |= {"shown": signature.shown, "filled": signature.filled, "loop_guard": loop_guard}
    if not deferred:
        return FunctionTool(function, injected=signature.injected, **options)
    if signature.injected:
        raise DefinitionError(f"{name} never runs here, so nothing can be injected into it.", tool=name)
    returned = read_annotations(function, ["return"], owner=name, place=place).get("return")
    return DeferredTool(function, result=_adapt_result(name, returned, place), **options)


def _adapt_result(name: str, shape: Any, place: Place) -> TypeAdapter[Any] | None:
    """Return the check of what is delivered from outside; None where anything may be."""
    if shape is None:
        return None
    try:
        return _adapter(shape, place)
    except UNUSABLE as error:
        raise DefinitionError(f"{name}: its result cannot be checked ({pydantic_reason(error)}).", tool=name) from None


def _read_docs(function: Callable[..., Any]) -> Docstring:
    docs = read_docstring(find_written_function(function).__doc__)
    if docs.summary or isinstance(function, partial):  # whose own docstring explains partial
        return docs
    return Docstring(summary=read_docstring(function.__doc__).summary, parameters=docs.parameters)


def _check_is_function(name: str, subject: object) -> None:
    if isinstance(subject, Tool):
        raise DefinitionError(f"{subject.name} is a tool already. Use it as it is, or renamed(tool, ...).", tool=name)
    if isinstance(subject, type) or not callable(subject):
        raise DefinitionError(
            f"A tool is made of a function, not of {subject!r}. Of a class or class method, take the bound method: "
            "tool(object.method).",
            tool=name,
        )


def _check_is_no_generator(name: str, function: Callable[..., Any]) -> None:
    plain = unwrap_callable(function)
    if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
        raise DefinitionError(
            f"{name}: a tool answers once, and this function yields. Return a list instead, and report what happens on "
            "the way with ctx.progress(...).",
            tool=name,
        )


def _check_takes(name: str, option: str, function: Callable[..., Any], wanted: str) -> None:
    try:
        inspect.signature(function).bind(*wanted.split(", "))
    except (TypeError, ValueError):
        raise DefinitionError(f"{name}: {option} must be a function that takes ({wanted}).", tool=name) from None


def _core_options(
    name: str,
    description: str,
    adapter: TypeAdapter[Any],
    parameters: JsonSchema,
    effect: Effect,
    brings: Label | Collection[Label],
    preview: PreviewMaker | None,
    locate: Locator | None,
) -> dict[str, Any]:
    if not description.strip():
        raise DefinitionError(
            f"{name}: a model needs to know what this tool does. Write a docstring, or pass a description.",
            tool=name,
        )
    if effect not in get_args(Effect):
        raise DefinitionError(f"{name}: effect is 'reads', 'writes' or 'external', not {effect!r}.", tool=name)
    if preview is not None:
        _check_takes(name, "preview", preview, "arguments, ctx, edited")
    if locate is not None:
        _check_takes(name, "locate", locate, "paths, ctx")
    return {
        "name": name,
        "description": description.strip(),
        "adapter": adapter,
        "parameters": parameters,
        "effect": effect,
        "brings": _check_labels(name, brings),
        "preview": preview,
        "locate": locate,
    }


def _check_labels(name: str, brings: Label | Collection[Label]) -> Labels:
    """Return the labels, checked: a typo must not leave private data unmarked."""
    found = read_labels(brings)
    if len(found) != (1 if isinstance(brings, str) else len(set(brings))):
        raise DefinitionError(f"{name}: brings is 'private', 'untrusted' or both, not {brings!r}.", tool=name)
    return found


def _named_parameters(
    name: str, known: Collection[str], paths: Sequence[str], why: str | None, locate: Locator | None
) -> dict[str, Any]:
    """Return what `paths=` and `why=` name, checked: a typo must not leave a path unguarded."""
    if isinstance(paths, str):
        raise DefinitionError(f"{name}: paths= takes a list of parameters: paths=[{paths!r}].", tool=name)
    if locate is not None and not paths:
        raise DefinitionError(
            f"{name}: locate= is about the parameters that paths= names, and there are none.", tool=name
        )
    for parameter in (*paths, *([why] if why else ())):
        if parameter.partition(".")[0] not in known:
            raise DefinitionError(
                f"{name}: there is no parameter {parameter!r} for paths= or why= to name; "
                f"there is: {', '.join(known) or 'none'}.",
                tool=name,
                parameter=parameter,
            )
    return {"path_arguments": tuple(paths), "why_argument": why}


def _check_dependencies(name: str, signature: Signature, place: Place) -> None:
    for parameter, injection in signature.injected:
        if isinstance(injection, Depends):
            try:
                check_graph(injection, place)
            except ToolrollError as error:
                error.add_note(f"tool {name}, parameter '{parameter}'")
                raise


def _adapt(name: str, shape: Any, signature: Signature | None, place: Place) -> tuple[TypeAdapter[Any], JsonSchema]:
    """Return the validator of the arguments and their schema; what cannot be either is blamed on its parameter."""
    try:
        adapter = _adapter(shape, place)
        return adapter, to_draft07(adapter)
    except OpenObject as error:
        raise DefinitionError(
            f'{name}: {error.where or "the input"} takes fields it does not name (extra="allow"). A model must know '
            "what it can send: declare the fields, or use dict[str, ...] for a free-form map.",
            tool=name,
            parameter=_find_culprit(signature, place),
        ) from None
    except UNUSABLE as error:
        parameter = _find_culprit(signature, place)
        subject = f"parameter '{parameter}'" if parameter else "the input"
        raise DefinitionError(
            f"{name}: {subject} has a type that cannot be used ({pydantic_reason(error)}). Take a plain type (str, "
            "int, list, model) and convert inside, or inject the value with Depends.",
            tool=name,
            parameter=parameter,
        ) from None


def _adapt_raw(name: str, schema: Mapping[str, object]) -> tuple[TypeAdapter[Any], JsonSchema]:
    """Return the validator of the arguments that a raw JSON Schema describes, and the schema as a model is told it."""
    try:
        parameters = normalize_schema(schema)
        return adapt_schema(parameters), parameters
    except UncheckedKeyword as error:
        raise DefinitionError(
            f"{name}: the schema of {error.where or 'the input'} has {error.keyword}, which cannot be checked here. "
            "Describe it with type, properties, items, enum, anyOf and limits, or check it in the function.",
            tool=name,
        ) from None
    except OpenObject as error:
        raise DefinitionError(
            f"{name}: {error.where or 'the input'} names properties and takes others too (additionalProperties). "
            "A model must know what it can send: name them all, or none.",
            tool=name,
        ) from None
    except (*UNUSABLE, AttributeError, ValueError) as error:
        raise DefinitionError(f"{name}: this is no JSON Schema of an object: {error}.", tool=name) from None


def pydantic_reason(error: Exception) -> str:
    """Return what pydantic says, without its advice: that is for models, not for tools."""
    if getattr(error, "code", None) == "schema-for-unknown-type":
        return "pydantic has no schema for it"
    text: str = getattr(error, "message", None) or str(error)
    return " ".join(text.split())


def _adapter(shape: Any, place: Place) -> TypeAdapter[Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(shape)
    if not adapter.pydantic_complete:  # a type in it names one that only the place of definition knows
        adapter.rebuild(raise_errors=True, _types_namespace=place.names)
    return adapter


def _find_culprit(signature: Signature | None, place: Place) -> str | None:
    for parameter, annotation in signature.fields.items() if signature else ():
        try:
            one = TypedDict("One", {parameter: annotation})  # type: ignore[misc]  # as above
            to_draft07(_adapter(one, place))
        except (OpenObject, *UNUSABLE):
            return parameter
    return None
