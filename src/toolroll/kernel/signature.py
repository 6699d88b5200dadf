"""A function's signature, read as a tool's: which parameters a model fills, which are injected, which defaults hold."""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, get_args

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, PydanticUndefined, to_jsonable_python

from toolroll.errors import DefinitionError
from toolroll.kernel.depends import CONTEXT, Depends, Injection, injection_of
from toolroll.kernel.hints import annotations_of
from toolroll.kernel.schema import JsonSchema

_CONTEXT_NAMES: Final = frozenset({"ctx", "tool_context"})
_WANTED: Final = {
    inspect.Parameter.VAR_POSITIONAL: "*{0}: a model sends named values. Take a list instead: {0}: list[...].",
    inspect.Parameter.VAR_KEYWORD: "**{0}: a model must know the names. Take a map instead: {0}: dict[str, ...].",
    inspect.Parameter.POSITIONAL_ONLY: "{0} is positional-only, and a model sends names. Remove the '/'.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The fields a model fills (as a TypedDict's), the injected parameters, and the defaults."""

    fields: dict[str, Any]
    injected: tuple[tuple[str, Injection], ...]
    shown: dict[str, object]
    filled: dict[str, Callable[[], object]]

    def put_defaults(self, schema: JsonSchema) -> None:
        """Write the defaults into the schema, where a model can see them."""
        properties = schema["properties"]
        assert isinstance(properties, dict)
        for name, value in self.shown.items():
            properties[name]["default"] = value


def read_signature(
    function: Callable[..., Any], *, tool: str, names: Mapping[str, object], texts: Mapping[str, str]
) -> Signature:
    """The signature of a tool's function; everything that cannot work is refused with the parameter's name."""
    hints = annotations_of(function, names)
    reader = _Reader(tool, texts)
    for parameter in inspect.signature(function).parameters.values():
        reader.read(parameter, hints.get(parameter.name))
    return Signature(fields=reader.fields, injected=tuple(reader.injected), shown=reader.shown, filled=reader.filled)


class _Reader:
    def __init__(self, tool: str, texts: Mapping[str, str]) -> None:
        self._tool = tool
        self._texts = texts
        self.fields: dict[str, Any] = {}
        self.injected: list[tuple[str, Injection]] = []
        self.shown: dict[str, object] = {}
        self.filled: dict[str, Callable[[], object]] = {}

    def read(self, parameter: inspect.Parameter, annotation: object) -> None:
        name = parameter.name
        if parameter.kind in _WANTED:
            raise self._error(name, _WANTED[parameter.kind].format(name))
        injection = self._injection(parameter, annotation)
        if injection is not None:
            self.injected.append((name, injection))
        elif annotation is None:
            raise self._error(name, f"parameter '{name}' has no type. Write {name}: str, or whatever it takes.")
        else:
            self._read_field(parameter, annotation)

    def _injection(self, parameter: inspect.Parameter, annotation: object) -> Injection | None:
        name = parameter.name
        if isinstance(parameter.default, Depends):
            inner = "the type" if annotation is None else getattr(annotation, "__name__", str(annotation))
            wanted = f"{name}: Annotated[{inner}, Depends(...)]"
            raise self._error(name, f"parameter '{name}' is injected, and its annotation must say so. Write {wanted}.")
        found = injection_of(annotation)
        if found is None and name in _CONTEXT_NAMES:
            if annotation is None:
                return CONTEXT
            raise self._error(
                name,
                f"parameter '{name}' has the name of the context. Annotate it as ToolContext, or rename it.",
            )
        return found

    def _read_field(self, parameter: inspect.Parameter, annotation: object) -> None:
        name = parameter.name
        written = _Written.of(annotation, parameter.default)
        text = written.description or self._texts.get(name)
        marks = [*written.marks, Field(description=text)] if text else written.marks
        field: Any = Annotated[written.base, *marks] if marks else written.base
        if written.default is None:
            self.fields[name] = field
            return
        self.fields[name] = NotRequired[field]
        self.shown[written.alias or name] = self._json_default(name, written.default())
        if written.is_filled:
            self.filled[name] = written.default

    def _json_default(self, name: str, value: object) -> object:
        try:
            return to_jsonable_python(value)
        except (PydanticSerializationError, ValueError):
            raise self._error(
                name,
                f"parameter '{name}' has the default {value!r}, which JSON cannot carry. Use None and fill it in.",
            ) from None

    def _error(self, parameter: str, text: str) -> DefinitionError:
        return DefinitionError(f"{self._tool}: {text}", tool=self._tool, parameter=parameter)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A parameter as its author wrote it: `x: int = 3`, `x: Annotated[int, Field(ge=1)]`, `x: int = Field(3)`."""

    base: Any
    marks: list[object]
    description: str | None
    alias: str | None
    default: Callable[[], object] | None
    is_filled: bool  # the default stands in a Field(...), so the function itself does not have it

    @classmethod
    def of(cls, annotation: object, default: object) -> "_Written":
        marks: list[object] = list(getattr(annotation, "__metadata__", ()))
        base = get_args(annotation)[0] if marks else annotation
        if isinstance(default, FieldInfo):
            marks.append(default)
        fields = [mark for mark in marks if isinstance(mark, FieldInfo)]
        holder = next((field for field in fields if _has_default(field)), None)
        return cls(
            base=base,
            marks=[_without_default(mark) if isinstance(mark, FieldInfo) else mark for mark in marks],
            description=next((field.description for field in fields if field.description), None),
            alias=next((field.alias for field in fields if field.alias), None),
            default=_field_default(holder) if holder else _own_default(default),
            is_filled=holder is not None,
        )


def _has_default(field: FieldInfo) -> bool:
    return field.default not in (PydanticUndefined, ...) or field.default_factory is not None


def _field_default(field: FieldInfo) -> Callable[[], object]:
    return lambda: field.get_default(call_default_factory=True, validated_data={})


def _own_default(default: object) -> Callable[[], object] | None:
    if default is inspect.Parameter.empty or isinstance(default, FieldInfo):
        return None
    return lambda: default


def _without_default(field: FieldInfo) -> FieldInfo:
    bare = copy.copy(field)
    bare.default = PydanticUndefined
    bare.default_factory = None
    return bare
