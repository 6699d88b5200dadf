"""What a strict mode of tool calling accepts, as data: the rules of each provider are in `models/strict.py`.

A strict schema never has `oneOf` (`anyOf` says enough, the executor checks the rest) or `allOf`: they are rewritten.
It refers to its own definitions by `$ref` without siblings, and its root is a plain closed object. What differs between
providers is below.
"""

from dataclasses import dataclass
from typing import Final, Literal

# Ours, against hostile schemas (a server's tools are its own text). Five interpreter frames go to a level, of 1,000.
MAX_LEVELS: Final = 50
# Twice the largest limit of a provider; definitions count at each use, so that doubling references end here too.
MAX_PARTS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictRules:
    """A strict mode: what a schema may say, how large it may be, what one request may hold."""

    name: str
    # Restrictions that may stay in the schema, with any value unless it is named below; all others are dropped and
    # told in the description, as `default` is in any case: a strict parameter is never left to it.
    keywords: frozenset[str] = frozenset()
    string_formats: frozenset[str] = frozenset()
    min_items: frozenset[int] = frozenset()
    # How a parameter that may be left out is said: required and nullable, or absent from `required`.
    optional: Literal["nullable", "absent"] = "nullable"
    # Whether the planner may say it the other way where that makes more tools fit.
    takes_absent: bool = False
    takes_recursion: bool = False
    # Alternatives of one union that are objects must differ in their first property, or in its fixed values.
    distinct_first_keys: bool = False
    definitions_key: Literal["$defs", "definitions"] = "$defs"
    max_depth: int | None = None
    max_properties: int | None = None
    max_enum_values: int | None = None
    max_name_characters: int | None = None
    large_enum_values: int | None = None
    max_large_enum_characters: int | None = None
    # Budgets of a whole request, over all its strict tools.
    max_strict_tools: int | None = None
    max_optional_parameters: int | None = None
    max_union_parameters: int | None = None
    # No vendor publishes how large a compiled grammar may be; whoever has met the ceiling can set it here.
    max_cost: int | None = None

    def keeps(self, keyword: str, value: object) -> bool:
        """Return whether the restriction may stay in the schema with that value."""
        if keyword not in self.keywords:
            return False
        if keyword == "format":
            return isinstance(value, str) and value in self.string_formats
        if keyword == "minItems" and self.min_items:
            return isinstance(value, int) and value in self.min_items
        return True
