"""What is wrong with a profile: each broken rule with the path of its field, as a message that can be translated."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from pydantic_core import ErrorDetails

from toolroll.messages import Template, Text
from toolroll.safe.paths.names import quote_path

FAULT: Final = Template("fault", "{path}: {problem}")
THE_PROFILE: Final = Template("the_profile", "the profile")()

MISSING: Final = Template("fault_missing", "is missing")()
UNKNOWN_FIELD: Final = Template("fault_unknown_field", "is not a field of a profile: remove it, or correct its name")()
NOT_TEXT: Final = Template("fault_not_text", "must be text")()
BLANK: Final = Template("fault_blank", "must not be blank")()
NOT_INTEGER: Final = Template("fault_not_integer", "must be a whole number")()
NOT_POSITIVE: Final = Template("fault_not_positive", "must be a number over 0")()
NEGATIVE: Final = Template("fault_negative", "must be a number of 0 or more")()
TOO_LARGE: Final = Template("fault_too_large", "must be a number up to {most}")
NOT_LIST: Final = Template("fault_not_list", "must be a list")()
EMPTY: Final = Template("fault_empty", "must have at least one entry")()
NOT_GROUP: Final = Template("fault_not_group", "must be a group of named fields")()
NOT_MOMENT: Final = Template("fault_not_moment", "must be a moment in UTC, such as 2026-02-09T10:00:00Z")()
NOT_NAME: Final = Template(
    "fault_not_name", "must be lower-case Latin letters and digits, with single dashes between them"
)()
NOT_CHOICE: Final = Template("fault_not_choice", "must be one of: {choices}")
UNKNOWN_PLATFORM: Final = Template("fault_unknown_platform", "is not a known platform; there are: {choices}")
FIXED_FIELD: Final = Template("fault_fixed_field", "cannot be changed")()
NOT_CHANGEABLE: Final = Template(
    "fault_not_changeable", "is not a field of a profile that can be changed; a list is changed as a whole"
)()
CHANGED_TWICE: Final = Template("fault_changed_twice", "is changed as a whole and in part: name it once")()
NO_CHANGE: Final = Template("fault_no_change", "has this value already: nothing would change")()
NO_CHANGES: Final = Template("fault_no_changes", 'must name at least one field, as in {{"voice.tone": "..."}}')()
TOO_MANY_CHANGES: Final = Template("fault_too_many_changes", "has more than {most} entries: make several updates of it")
OTHER_NAME: Final = Template(
    "fault_other_name", "says '{inside}', but the file is called '{outside}': make both the same"
)
BAD_FORMAT: Final = Template("fault_bad_format", "must be a whole number: leave it out")()
TOO_BIG: Final = Template(
    "fault_too_big", "the profile would be larger than {limit} bytes: keep fewer or shorter examples"
)

_PROBLEMS: Final[Mapping[str, Text]] = {
    "missing": MISSING,
    "extra_forbidden": UNKNOWN_FIELD,
    "string_type": NOT_TEXT,
    "string_pattern_mismatch": BLANK,
    "int_type": NOT_INTEGER,
    "greater_than": NOT_POSITIVE,
    "greater_than_equal": NEGATIVE,
    "list_type": NOT_LIST,
    "too_short": EMPTY,
    "dict_type": NOT_GROUP,
    "model_type": NOT_GROUP,
    "moment": NOT_MOMENT,
    "slug": NOT_NAME,
}
"""The problem for each kind of error that pydantic finds; the last two kinds are our own."""

_KEY: Final = "[key]"  # pydantic's last step to a key of a dictionary, as against its value
_CHOICE: Final = re.compile(r"'([^']*)'")


def make_fault(path: str, problem: str) -> Text:
    """Return a fault of the field at `path`; an empty path is that of the whole profile."""
    return FAULT(path=path or THE_PROFILE, problem=problem)


def fault_paths(faults: Iterable[Text]) -> tuple[str, ...]:
    """Return the paths of faults, each once."""
    return tuple(dict.fromkeys(str(one.values["path"]) for one in faults))


def to_fault(detail: ErrorDetails) -> Text:
    """Return an error of pydantic in the words of somebody who writes posts."""
    place, problem = detail["loc"], _problem(detail)
    if place and place[-1] == _KEY:
        place = place[:-1]
    # People count from 1: `examples.2.text` is the text of the second example.
    path = ".".join(str(step + 1) if isinstance(step, int) else quote_path(step) for step in place)
    return make_fault(path, problem)


def list_faults(faults: Iterable[str]) -> str:
    """Return the faults as a list with a line for each."""
    return "\n".join(f"- {one}" for one in faults)


def _problem(detail: ErrorDetails) -> str:
    if detail["type"] == "literal_error":
        choices = ", ".join(_CHOICE.findall(detail["ctx"]["expected"]))
        is_platform = detail["loc"][-1:] == (_KEY,)
        return UNKNOWN_PLATFORM(choices=choices) if is_platform else NOT_CHOICE(choices=choices)
    return _PROBLEMS.get(detail["type"], detail["msg"])
