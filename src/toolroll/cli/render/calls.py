"""A call in words for people: `Read src/sessions.py:100-299`, `Search "TODO" in src (12 matches)` (S11).

The words come from the arguments and from the facts of the result. A tool that is not known here is shown by its name
and its arguments as they are.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic_core import from_json

from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.safe.secrets.redact import redact_line

MAX_NAME_CHARACTERS: Final = 60
MAX_ABOUT_CHARACTERS: Final = 100
SHORT_ID_CHARACTERS: Final = 8
"""Of a change: `toolroll undo` takes the beginning of an id."""

SLOW_MS: Final = 1_000.0
"""A call that took less is not worth its time on the screen."""

_COMMAND: Final = "run_"
"""Begins the name of a tool that runs a command of the settings."""

Values: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWords:
    """A call: what is done, with what, and what came of it. `is_known` is false where `about` is raw arguments."""

    verb: str
    about: str
    outcome: str = ""
    is_known: bool = True
    is_bad: bool = False
    """Whether the outcome is bad news although the call itself worked: a check that failed."""


def describe_call(call: ToolCall, result: ToolResult | None = None) -> CallWords:
    """Return a call in words; with `result`, also what came of it."""
    arguments, facts = _object(call.arguments), {} if result is None or result.facts is None else result.facts
    words = _WORDS.get(call.name) or _command_words(call.name, facts)
    if words is None or arguments is None:
        name = redact_line(call.name, MAX_NAME_CHARACTERS)
        return CallWords(verb=name, about=redact_line(call.arguments, MAX_NAME_CHARACTERS), is_known=False)
    verb, about, outcome = words(arguments, facts)
    return CallWords(
        verb=redact_line(verb, MAX_NAME_CHARACTERS),
        about=redact_line(about, MAX_ABOUT_CHARACTERS),
        outcome=redact_line(outcome, MAX_ABOUT_CHARACTERS),
        is_bad=facts.get("passed") is False,
    )


def format_duration(milliseconds: float) -> str:
    """Return a time as people read it."""
    return f"{milliseconds:,.0f} ms" if milliseconds < SLOW_MS else f"{milliseconds / SLOW_MS:,.1f} s"


def _object(arguments: str) -> Values | None:
    try:
        value = from_json(arguments or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _read(arguments: Values, facts: Values) -> tuple[str, str, str]:
    first, last, lines = (facts.get(name) for name in ("first", "last", "lines"))
    if first is None:
        first, limit = arguments.get("offset") or 1, arguments.get("limit")
        last = int(str(first)) + int(str(limit)) - 1 if isinstance(limit, int) and isinstance(first, int) else None
        return "Read", _path(arguments) + (f":{first}-{last}" if last else ""), ""
    if (first, last) == (1, lines) or last == 0:
        return "Read", _path(arguments), f"({_count(lines, 'line')})"
    return "Read", f"{_path(arguments)}:{first}-{last}", f"(of {lines:,} lines)"


def _list(arguments: Values, facts: Values) -> tuple[str, str, str]:
    below = " and all below" if arguments.get("recursive") is True else ""
    return "List", f"{_path(arguments)}{below}", _counted(facts, "entries", "entry", "entries")


def _search(arguments: Values, facts: Values) -> tuple[str, str, str]:
    files = arguments.get("filePattern")
    about = f"{_quoted(arguments, 'pattern')}{_place(arguments)}{f', {files}' if files else ''}"
    return "Search", about, _counted(facts, "matches", "match", "matches")


def _find(arguments: Values, facts: Values) -> tuple[str, str, str]:
    return "Find", f"{_quoted(arguments, 'pattern')}{_place(arguments)}", _counted(facts, "files", "file")


def _symbol(what: str, name: str, one: str, many: str) -> "Words":
    def words(arguments: Values, facts: Values) -> tuple[str, str, str]:
        return "Find", f"{what} {arguments.get(name, '')}", _counted(facts, "found", one, many)

    return words


def _outline(arguments: Values, facts: Values) -> tuple[str, str, str]:
    return "Outline", _path(arguments), _counted(facts, "symbols", "symbol")


def _change(verb: str) -> "Words":
    def words(arguments: Values, facts: Values) -> tuple[str, str, str]:
        dry = " (only shown)" if arguments.get("dry_run") is True else ""
        return verb, f"{_path(arguments)}{dry}", _changed(facts)

    return words


def _changes(arguments: Values, facts: Values) -> tuple[str, str, str]:
    changes = arguments.get("changes")
    named = [one.get("path") for one in changes if isinstance(one, dict)] if isinstance(changes, list) else []
    paths = list(dict.fromkeys(str(name) for name in named))
    about = paths[0] if len(paths) == 1 else f"{len(paths)} files: {', '.join(paths)}"
    return "Change", about, _changed(facts)


def _changed(facts: Values) -> str:
    if "change" not in facts:
        return ""
    edited = ", with your edits" if facts.get("is_edited") is True else ""
    return f"+{facts.get('added')} -{facts.get('removed')} (undo {str(facts['change'])[:SHORT_ID_CHARACTERS]}{edited})"


def _check(_arguments: Values, facts: Values) -> tuple[str, str, str]:
    if "passed" not in facts:
        return "Check", "", ""
    return "Check", "passed" if facts["passed"] is True else f"failed with exit code {facts.get('exit_code')}", ""


def _command_words(name: str, facts: Values) -> "Words | None":
    """Return the words for a command of the settings, which is known by what came of it."""
    if not name.startswith(_COMMAND) or "passed" not in facts:
        return None

    def words(arguments: Values, facts: Values) -> tuple[str, str, str]:
        return "Run", name.removeprefix(_COMMAND), f"({_check(arguments, facts)[1]})"

    return words


def _program(arguments: Values, facts: Values) -> tuple[str, str, str]:
    command = arguments.get("command")
    shown = shlex.join(map(str, command)) if isinstance(command, list) else ""
    return "Run", shown, f"({_check(arguments, facts)[1]})" if "passed" in facts else ""


def _todos(_arguments: Values, _facts: Values) -> tuple[str, str, str]:
    return "Plan", "", ""


def _of(verb: str, name: str, *, quoted: bool = False) -> "Words":
    def words(arguments: Values, _facts: Values) -> tuple[str, str, str]:
        return verb, _quoted(arguments, name) if quoted else str(arguments.get(name, "")), ""

    return words


def _path(arguments: Values) -> str:
    return str(arguments.get("path", ""))


def _place(arguments: Values) -> str:
    path = _path(arguments)
    return "" if path in ("", ".") else f" in {path}"


def _quoted(arguments: Values, name: str) -> str:
    return f'"{arguments.get(name, "")}"'


def _count(number: object, one: str, many: str = "") -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def _counted(facts: Values, name: str, one: str, many: str = "") -> str:
    number = facts.get(name)
    return f"({_count(number, one, many)})" if isinstance(number, int) else ""


Words: TypeAlias = Callable[[Values, Values], tuple[str, str, str]]
"""Makes verb, object and outcome of arguments and facts."""

_WORDS: Final[Mapping[str, Words]] = {
    "read_file": _read,
    "list_files": _list,
    "search_files": _search,
    "find_files": _find,
    "find_definition": _symbol("the definition of", "symbol", "definition", "definitions"),
    "find_importers": _symbol("importers of", "modulePath", "import", "imports"),
    "find_references": _symbol("uses of", "symbol", "place", "places"),
    "outline": _outline,
    "repo_map": lambda _arguments, _facts: ("Map", "the project", ""),
    "edit": _change("Edit"),
    "edit_file": _change("Rewrite"),
    "create_file": _change("Create"),
    "apply_changes": _changes,
    "run_check": _check,
    "run_program": _program,
    "write_todos": _todos,
    "read_todos": _todos,
    "done": lambda _arguments, _facts: ("Done", "", ""),
    "tool_output_cache": _of("Read output", "ref_id"),
    "tool_output_cache_grep": _of("Search output for", "pattern", quoted=True),
}
