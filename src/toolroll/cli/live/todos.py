"""The todos of a run as a short list."""

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from toolroll.safe.text import one_line

MAX_SHOWN: Final = 12
"""Half of a small screen: of a longer list what is done is counted, and what is far away."""

_MAX_CHARACTERS: Final = 200
# Letters rather than signs: some terminals draw a ballot box two columns wide, and some fonts have none.
_MARKS: Final[Mapping[object, tuple[str, str]]] = {
    "completed": ("[x] ", "dim"),
    "in_progress": ("[>] ", "bold"),
    "pending": ("[ ] ", ""),
}


def todo_lines(value: object) -> list[Text]:
    """The list that a run keeps under `todos`, with marks; nothing for what is no such list."""
    todos = value.get("todos") if isinstance(value, Mapping) else None
    if not isinstance(todos, list):
        return []
    known = [todo for todo in todos if isinstance(todo, Mapping)]
    done = sum(todo.get("status") == "completed" for todo in known)
    hidden = min(max(done - 1, 0), max(len(known) - MAX_SHOWN, 0))
    skipped = [todo for todo in known if todo.get("status") == "completed"][:hidden]
    shown = [todo for todo in known if not any(todo is one for one in skipped)]
    lines = [Text(f"todos {done}/{len(known)}", style="dim"), *map(_line, shown[:MAX_SHOWN])]
    more = len(shown) - MAX_SHOWN
    return [*lines, Text(f"  and {more} more", style="dim")] if more > 0 else lines


def _line(todo: Mapping[str, object]) -> Text:
    mark, style = _MARKS.get(todo.get("status"), _MARKS["pending"])
    return Text(f"  {mark}{one_line(str(todo.get('content', '')), _MAX_CHARACTERS)}", style=style)
