"""Settings in the environment: TOOLROLL_ and the name in capitals, with `_` for each dot. An empty one is not set."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from toolroll.errors import UsageError
from toolroll.home.declared import Declared, declared
from toolroll.home.layers import Layer
from toolroll.home.shape import Origin, SettingsFile, nested, set_values


def variable_layer(environment: Mapping[str, str]) -> Layer:
    """What the variables say; UsageError names one that makes no sense."""
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for one in declared():
        text = environment.get(one.variable, "")
        if text.strip():
            values[one.name] = checked(one, one.read_variable(text), called=one.variable)
            origins[one.name] = Origin(kind="environment", place=one.variable)
    return Layer(values=values, origins=origins)


def checked(one: Declared, value: object, *, called: str) -> object:
    """The value as the setting keeps it; UsageError says what is wrong with it."""
    try:
        return set_values(SettingsFile.model_validate(nested({one.name: value})))[one.name]
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False)[0]
        raise UsageError(f"{called} cannot be used: {detail['msg'].rstrip('.')}.") from None
