"""Defaults that are not of their parameter's type: nobody checks them in a call, and the function would get them so."""

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from toolroll.errors import DefinitionError
from toolroll.kernel.signature import Signature

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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
