"""Read a function's signature as a tool's: which parameters a model fills, which are injected, which defaults hold.

Nobody checks a default in a call, and the function would get it as it is: `check_defaults` refuses one of a wrong type.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Final, NotRequired, TypeAlias, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined

from toolroll.errors import DefinitionError
from toolroll.kernel.callables import Place, read_annotations, read_parameters
from toolroll.kernel.define.schema import JsonSchema, to_json_default
from toolroll.kernel.depends.dependency import CONTEXT, DependencyKey, Depends, Injection, find_injection

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails


Filler: TypeAlias = Callable[[Mapping[str, object]], object]
"""Makes the value of a parameter that was left out; a `default_factory` may look at the others."""

_CONTEXT_NAMES: Final = frozenset({"ctx", "tool_context"})
_WANTED: Final = {
    inspect.Parameter.VAR_POSITIONAL: "*{0}: a model sends named values. Take a list instead: {0}: list[...].",
    inspect.Parameter.VAR_KEYWORD: "**{0}: a model must know the names. Take a map instead: {0}: dict[str, ...].",
    inspect.Parameter.POSITIONAL_ONLY: "{0} is positional-only, and a model sends names. Remove the '/'.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The fields a model fills (as a TypedDict's), the injected parameters, and the defaults by parameter.

    `keys` are the names that a model knows the parameters by. `defaults` are those that are written down, `shown` the
    same as JSON. `filled` are those that stand in a `Field(...)`, so that the function itself does not have them.
    """

    fields: dict[str, Any]
    keys: dict[str, str]
    injected: tuple[tuple[str, Injection], ...]
    defaults: dict[str, object]
    shown: dict[str, object]
    filled: dict[str, Filler]

    def put_defaults(self, schema: JsonSchema) -> None:
        """Write the defaults into the schema, where a model can see them."""
        properties = schema["properties"]
        assert isinstance(properties, dict)
        for name, value in self.shown.items():
            shape = properties[self.keys[name]]
            # draft-07 ignores whatever stands beside a $ref
            properties[self.keys[name]] = ({"allOf": [shape]} if "$ref" in shape else shape) | {"default": value}


def read_signature(function: Callable[..., Any], *, tool: str, place: Place, texts: Mapping[str, str]) -> Signature:
    """Return the signature of a tool's function; refuse everything that cannot work, with the parameter's name."""
    try:
        parameters = read_parameters(function)
    except ValueError:
        raise DefinitionError(
            f"{tool}: {function!r} does not tell its parameters. Write a function around it.", tool=tool
        ) from None
    reader = _Reader(tool, texts)
    for parameter in parameters.values():
        reader.check(parameter)
    hints = read_annotations(function, parameters, owner=tool, place=place)
    for parameter in parameters.values():
        reader.read(parameter, hints.get(parameter.name))
    return reader.signature()


class _Reader:
    def __init__(self, tool: str, texts: Mapping[str, str]) -> None:
        self._tool = tool
        self._texts = texts
        self._fields: dict[str, Any] = {}
        self._keys: dict[str, str] = {}
        self._injected: list[tuple[str, Injection]] = []
        self._defaults: dict[str, object] = {}
        self._shown: dict[str, object] = {}
        self._filled: dict[str, Filler] = {}

    def signature(self) -> Signature:
        return Signature(
            fields=self._fields,
            keys=self._keys,
            injected=tuple(self._injected),
            defaults=self._defaults,
            shown=self._shown,
            filled=self._filled,
        )

    def check(self, parameter: inspect.Parameter) -> None:
        """Refuse what no annotation can make right."""
        name = parameter.name
        if parameter.kind in _WANTED:
            raise self._error(name, _WANTED[parameter.kind].format(name))
        if name in ("self", "cls") and parameter.annotation is parameter.empty:
            raise self._error(
                name,
                f"'{name}' shows that this is a method, and nobody gives it its object. Make a tool of the bound "
                "method: tool(object.method).",
            )

    def read(self, parameter: inspect.Parameter, annotation: object) -> None:
        name = parameter.name
        injection = self._injection(parameter, annotation)
        if injection is not None:
            self._injected.append((name, injection))
        elif annotation is None:
            raise self._error(name, f"parameter '{name}' has no type. Write {name}: str, or whatever it takes.")
        else:
            self._read_field(parameter, annotation)

    def _injection(self, parameter: inspect.Parameter, annotation: object) -> Injection | None:
        name = parameter.name
        if isinstance(parameter.default, _MARKS) or _is_mark_alone(annotation):
            inner = "the type" if annotation is None or _is_mark_alone(annotation) else _type_name(annotation)
            wanted = f"{name}: Annotated[{inner}, Depends(...)]"
            raise self._error(name, f"parameter '{name}' is injected, and its annotation must say so. Write {wanted}.")
        found = find_injection(annotation)
        if found is None and name in _CONTEXT_NAMES:
            if annotation is None:
                return CONTEXT
            raise self._error(
                name,
                f"parameter '{name}' has the name of the context. Annotate it as ToolContext, or rename it.",
            )
        return found

    def _read_field(self, parameter: inspect.Parameter, annotation: object) -> None:
        from pydantic.fields import Field  # noqa: PLC0415 - a quarter of pydantic, needed for the first tool, not for the import

        name = parameter.name
        written = _Written.read(annotation, parameter.default)
        self._keys[name] = self._key(name, written.alias)
        text = written.description or self._texts.get(name)
        marks = [*written.marks, Field(description=text)] if text else written.marks
        field: Any = Annotated[written.base, *marks] if marks else written.base
        self._fields[name] = field if written.is_required else NotRequired[field]
        if written.default is not PydanticUndefined:
            self._defaults[name] = written.default
            self._shown[name] = self._json_default(name, written.default)
        if written.filler is not None:
            self._filled[name] = written.filler

    def _key(self, name: str, alias: object) -> str:
        key = alias or name
        if not isinstance(key, str):
            raise self._error(name, f"parameter '{name}' has several aliases, and a model is told one. Write alias=...")
        taken = next((other for other, known in self._keys.items() if known == key), None)
        if taken is not None:
            raise self._error(name, f"parameters '{taken}' and '{name}' are both called {key!r}. Rename one of them.")
        return key

    def _json_default(self, name: str, value: object) -> object:
        try:
            return to_json_default(value)
        except ValueError:
            raise self._error(
                name,
                f"parameter '{name}' has the default {value!r}, which JSON cannot carry. Use None and fill it in.",
            ) from None

    def _error(self, parameter: str, text: str) -> DefinitionError:
        return DefinitionError(f"{self._tool}: {text}", tool=self._tool, parameter=parameter)


_MARKS: Final = (Depends, DependencyKey)


def _is_mark_alone(annotation: object) -> bool:
    """Return whether it is `Depends(f)`, `Annotated[Db, Depends]` or `Annotated[Db, KEY]`, which inject nothing."""
    marks = (annotation, *getattr(annotation, "__metadata__", ()))
    return isinstance(annotation, Depends) or any(mark is Depends or isinstance(mark, DependencyKey) for mark in marks)


def _type_name(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A parameter as its author wrote it: `x: int = 3`, `x: Annotated[int, Field(ge=1)]`, `x: int = Field(3)`."""

    base: Any
    marks: list[object]
    description: str | None
    alias: object
    default: object
    filler: Filler | None
    is_required: bool

    @classmethod
    def read(cls, annotation: object, default: object) -> "_Written":
        from pydantic.fields import FieldInfo  # noqa: PLC0415 - as above

        marks: list[object] = list(getattr(annotation, "__metadata__", ()))
        base = get_args(annotation)[0] if marks else annotation
        if isinstance(default, FieldInfo):
            marks.append(default)
        fields = [mark for mark in reversed(marks) if isinstance(mark, FieldInfo)]  # the last one counts most
        has_own = default is not inspect.Parameter.empty and not isinstance(default, FieldInfo)
        holder = None if has_own else next((field for field in fields if not field.is_required()), None)
        return cls(
            base=base,
            marks=[bare for mark in marks for bare in _bare(mark)],
            description=next((field.description for field in fields if field.description), None),
            alias=next((alias for field in fields if (alias := field.validation_alias or field.alias)), None),
            # A factory may give something else each time (a date, an id), and a schema must not.
            default=default if has_own else (holder.default if holder else PydanticUndefined),
            filler=_filler(holder) if holder else None,
            is_required=holder is None and not has_own,
        )


def _filler(field: "FieldInfo") -> Filler:
    return lambda given: field.get_default(call_default_factory=True, validated_data=dict(given))


# What a Field says besides its constraints that a schema or a validator has use for.
_OPTIONS: Final = ("alias", "validation_alias", "discriminator", "deprecated", "examples", "json_schema_extra")


def _bare(mark: object) -> list[object]:
    """Return the mark without a default: pydantic would put that into the arguments, as if a model had sent it."""
    from pydantic.fields import Field, FieldInfo  # noqa: PLC0415 - as above

    if not isinstance(mark, FieldInfo):
        return [mark]
    options = {name: value for name in _OPTIONS if (value := getattr(mark, name)) is not None}
    return [*mark.metadata, Field(**options)] if options else [*mark.metadata]


# What a strict validator says of a value of another type. All else is about which values of the type are taken, and a
# default may well be one that no model can send: `limit: PositiveInt = 0` for none, a file that is not there yet.
_TYPE_ERRORS: Final = frozenset({"enum", "is_instance_of", "is_subclass_of", "literal_error", "none_required"})


def check_defaults(tool: str, signature: Signature, adapter: TypeAdapter[Any]) -> None:
    """Refuse a default of another type than its parameter's; one that could be converted is refused, too."""
    given = {signature.keys[name]: value for name, value in signature.defaults.items()}
    for key, faults in groupby(_faults(adapter, given), key=lambda fault: fault["loc"][0]):
        found = list(faults)
        if key in given and all(map(_is_about_type, found)):
            name = next(name for name, known in signature.keys.items() if known == key)
            raise _error(tool, name, signature.defaults[name], found)


def _faults(adapter: TypeAdapter[Any], given: dict[str, object]) -> "list[ErrorDetails]":
    try:
        adapter.validator.validate_python(given, strict=True)
    except ValidationError as error:
        return error.errors(include_url=False, include_context=False, include_input=False)
    except Exception:  # noqa: BLE001 - a validator of the user's that breaks says nothing about the type
        return []
    return []


def _is_about_type(fault: "ErrorDetails") -> bool:
    kind = fault["type"]
    return kind in _TYPE_ERRORS or (kind.endswith("_type") and kind != "json_type")  # a Json default is not the text


def _error(tool: str, name: str, value: object, faults: "list[ErrorDetails]") -> DefinitionError:
    wanted = "; ".join(dict.fromkeys(fault["msg"] for fault in faults))
    hint = f"Write {name}: ... | None = None." if value is None else "A default is handed over as it is written."
    return DefinitionError(
        f"{tool}: the default of parameter '{name}' is not of its type: {value!r} ({wanted}). {hint}",
        tool=tool,
        parameter=name,
    )
