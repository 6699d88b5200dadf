"""The commands that settings name for the coding agent: `[code.commands.NAME]` in a settings file.

Each is a fixed vector of words. With `arguments`, a model may add words behind it, each of which fits that pattern as a
whole; what begins with a dash is never one of them, so that no pattern that is too wide lets options in.
"""

import re
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError, field_validator
from pydantic_core import SchemaError

CHECK_SECONDS: Final = 300.0
"""For a check command: test suites take minutes."""
MAX_COMMANDS: Final = 50
MAX_COMMAND_SECONDS: Final = 86_400
MAX_PATTERN_CHARACTERS: Final = 500
MAX_WORD_CHARACTERS: Final = 4_096

RESERVED: Final = ("check", "program")
"""Names that tools have already: `run_check` is for `code.check`, and `run_program` for any program."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")

Word = Annotated[str, Field(min_length=1, max_length=MAX_WORD_CHARACTERS)]


class CommandSettings(BaseModel):
    """One command of the coding agent; a person is asked before it runs."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)

    command: Annotated[tuple[Word, ...], Field(min_length=1)] = Field(description="The program and its arguments.")
    arguments: Annotated[str, Field(min_length=1, max_length=MAX_PATTERN_CHARACTERS)] | None = Field(
        default=None, description="A pattern for each argument that a model may add; without it none may be added."
    )
    seconds: Annotated[FiniteFloat, Field(gt=0, le=MAX_COMMAND_SECONDS)] = Field(
        default=CHECK_SECONDS, description="How long it may take."
    )

    @field_validator("command", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("arguments")
    @classmethod
    def _is_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                # Alone first: 'a)|(b' is a pattern only between the brackets that are put around it.
                for text in (pattern, whole_pattern(pattern)):
                    TypeAdapter(Annotated[str, Field(pattern=text)]).validate_python("")
            except ValidationError:
                pass  # the empty text does not fit, and the pattern is one
            except SchemaError:
                raise ValueError(f"'{pattern}' is not a regular expression.") from None
        return pattern


def whole_pattern(pattern: str) -> str:
    """Return the pattern that a whole word has to fit."""
    return f"^(?:{pattern})$"


def check_command_names(commands: dict[str, CommandSettings]) -> dict[str, CommandSettings]:
    """Return the commands; ValueError names one whose name cannot be that of a tool."""
    for name in commands:
        if not _NAME.fullmatch(name) or name in RESERVED:
            raise ValueError(
                f"'{name[:60]}' cannot be the name of a command. Use small letters, digits and '_', "
                f"and not {' or '.join(RESERVED)}."
            )
    return commands
