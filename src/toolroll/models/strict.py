"""The rules of each provider's strict tool calling.

No provider is ever sent `oneOf` (refused or undocumented everywhere) or `allOf` (OpenAI refuses it, Anthropic takes it,
but not beside `$ref`). Both take a local `$ref` without siblings, and both want a plain closed object at the root.

Where a number says "documented", it stands in the vendor's pages on structured outputs; "reported" means that users
met it as an HTTP 400. A wrong guess on the generous side costs the whole request, one on the careful side costs
strictness of one tool, whose arguments the executor validates in any case. So doubtful things are left out.
"""

from typing import Final

from toolroll.kernel.strict.rules import StrictRules

OPENAI: Final = StrictRules(
    name="openai",
    # Documented since 2025: pattern, format, number bounds, minItems, maxItems. Refused for fine-tuned models and on
    # other hosts of the same models, lengths nowhere documented: none are sent.
    keywords=frozenset(),
    # Documented: "all fields must be required", so there is no other way to say it.
    optional="nullable",
    takes_absent=False,
    # Documented: recursive schemas are supported, by `$ref` into definitions.
    takes_recursion=True,
    # Reported (openai/openai-python #2193), not documented; a discriminator that comes first is accepted.
    distinct_first_keys=True,
    definitions_key="$defs",
    # Documented sizes of one schema: 10 levels, 5,000 properties, 1,000 enum values; 120,000 characters in property
    # names, definition names, enum and const values; 15,000 in one string enum of more than 250 values. How levels
    # are counted is not documented: here objects and arrays both count, through references.
    max_depth=10,
    max_properties=5_000,
    max_enum_values=1_000,
    max_name_characters=120_000,
    large_enum_values=250,
    max_large_enum_characters=15_000,
)

ANTHROPIC: Final = StrictRules(
    name="anthropic",
    # Documented: formats of this list, and minItems of 0 and 1 only. `pattern` and `default` are taken as well, but
    # each pattern is compiled into the one grammar whose size is limited, and the vendor's own helper moves them out.
    keywords=frozenset({"format", "minItems"}),
    string_formats=frozenset(
        {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}
    ),
    min_items=frozenset({0, 1}),
    # A nullable parameter is a union: it costs 1 of 16 a request. One that may be absent costs 1 of 24 (documented:
    # a parameter that is not in `required`; a parameter with `anyOf` or a list of types). Nullable is the rule, for
    # one schema then serves all providers; the planner moves whole tools to "absent" when the 16 run out.
    optional="nullable",
    takes_absent=True,
    # Documented: no recursive schemas.
    takes_recursion=False,
    max_strict_tools=20,
    max_optional_parameters=24,
    max_union_parameters=16,
)
