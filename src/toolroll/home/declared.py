"""What settings there are: name, kind, default, what each does. Read off the types, so that no list can be wrong."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from toolroll.errors import UsageError
from toolroll.home.shape import SettingsFile
from toolroll.safe.paths.names import quote_path

PREFIX: Final = "TOOLROLL_"

Kind: TypeAlias = Literal["text", "whole number", "number", "list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One setting."""

    name: str
    kind: Kind
    default: object
    summary: str

    @property
    def variable(self) -> str:
        """The variable that sets it: `code.max_steps` is TOOLROLL_CODE_MAX_STEPS."""
        return PREFIX + self.name.replace(".", "_").upper()

    def read(self, words: Sequence[str]) -> Any:
        """The value that somebody has written; UsageError where it is none of the kind."""
        if self.kind == "list":
            return tuple(words)
        if len(words) != 1:
            raise UsageError(f"{self.name} takes one value, and {len(words)} were given.")
        return words[0] if self.kind == "text" else self._number(words[0])

    def read_variable(self, text: str) -> Any:
        """The value in a variable; a list is written as words are in a shell."""
        try:
            return self.read(shlex.split(text) if self.kind == "list" else [text])
        except ValueError as error:
            raise UsageError(f"{self.variable} cannot be used: {error}. Quote its words as in a shell.") from None
        except UsageError as error:
            raise UsageError(f"{self.variable} cannot be used: {error.message}") from None

    def _number(self, text: str) -> int | float:
        try:
            # int() and float() take digits of any script, and underscores: what nobody meant as a number.
            if text.isascii() and "_" not in text:
                return int(text) if self.kind == "whole number" else float(text)
        except ValueError:
            pass
        raise UsageError(f"{self.name} takes a {self.kind}, and '{quote_path(text)}' is none.")


@cache
def declared() -> tuple[Declared, ...]:
    """All settings, in their order."""
    return tuple(_within(SettingsFile, ""))


def find(name: str) -> Declared:
    """The setting of that name; UsageError names the nearest one."""
    found = next((one for one in declared() if one.name == name), None)
    if found is not None:
        return found
    near = nearest(name)
    hint = f"Did you mean {near}?" if near else "See 'toolroll config list'."
    raise UsageError(f"There is no setting '{quote_path(name)}'. {hint}")


def nearest(name: str) -> str | None:
    """The setting that was meant, perhaps."""
    names = [one.name for one in declared()]
    ends = {one.rpartition(".")[2]: one for one in names}
    word = name.casefold().replace("-", "_")
    found = get_close_matches(word, [*names, *ends], n=1, cutoff=0.7)
    return ends.get(found[0], found[0]) if found else None


def _within(table: type[BaseModel], before: str) -> Iterator[Declared]:
    for name, field in table.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _within(field.annotation, f"{before}{name}.")
        else:
            default = field.get_default()
            yield Declared(name=before + name, kind=_kind(field), default=default, summary=field.description or "")


def _kind(field: FieldInfo) -> Kind:
    words = str(field.annotation)
    if "tuple" in words:
        return "list"
    if "float" in words:
        return "number"
    return "whole number" if "int" in words else "text"
