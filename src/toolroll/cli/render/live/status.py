"""The line at the bottom: which step, what it has used, and of what model."""

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from toolroll.agent.cost import total_cost
from toolroll.agent.result import Step
from toolroll.errors import UsageError
from toolroll.kernel.data.usage import Usage
from toolroll.models.catalog import known_limits, parse_model
from toolroll.safe.text import one_line

_MAX_MODEL_CHARACTERS: Final = 40


class Status:
    """What is known of a run so far."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.number = 0
        self._usage = Usage()
        self._costs: list[float | None] = []
        self._context_tokens: int | None = None

    def count(self, step: Step) -> None:
        """A step is over."""
        self._usage += step.usage
        self._costs.append(step.cost)
        is_one_call = step.usage.requests == 1 and step.usage.measured and not step.sub_runs
        self._context_tokens = step.usage.total if is_one_call else None

    def line(self) -> Text:
        """As much of it as is known, the most telling first: the end is cut where the screen is narrow."""
        known = [f"step {max(self.number, 1)}"]
        if self._costs:
            known.append(f"{self._usage.input_total:,} in, {self._usage.output_tokens:,} out")
            cost = total_cost(self._costs)
            known += [] if cost is None else [f"${cost:.4f}"]
            share = self._share()
            known += [] if share is None else [f"context {share:.0%}"]
        known += [one_line(self.model, _MAX_MODEL_CHARACTERS)] if self.model else []
        return Text(" · ".join(known), style="dim")

    def _share(self) -> float | None:
        """How full the window of the model is; None where one of the two is not known."""
        try:
            limits = known_limits(parse_model(self.model).model)
        except UsageError:
            limits = known_limits(self.model)
        if limits is None or self._context_tokens is None:
            return None
        return self._context_tokens / limits.window_tokens


MAX_SHOWN: Final = 12
"""Half of a small screen: of a longer list what is done is counted, and what is far away."""

_MAX_CHARACTERS: Final = 200
# Letters rather than signs: some terminals draw a ballot box two columns wide, and some fonts have none.
_MARKS: Final[Mapping[object, tuple[str, str]]] = {
    "completed": ("[x] ", "dim"),
    "in_progress": ("[>] ", "bold"),
    "pending": ("[ ] ", ""),
}


def format_todos(value: object) -> list[Text]:
    """The list that a run keeps under `todos`, with marks; nothing for what is no such list."""
    todos = value.get("todos") if isinstance(value, Mapping) else None
    if not isinstance(todos, list):
        return []
    known = [todo for todo in todos if isinstance(todo, Mapping)]
    done = sum(todo.get("status") == "completed" for todo in known)
    hidden = min(max(done - 1, 0), max(len(known) - MAX_SHOWN, 0))
    skipped = [todo for todo in known if todo.get("status") == "completed"][:hidden]
    shown = [todo for todo in known if not any(todo is one for one in skipped)]
    lines = [Text(f"todos {done}/{len(known)}", style="dim"), *map(_format_todo, shown[:MAX_SHOWN])]
    more = len(shown) - MAX_SHOWN
    return [*lines, Text(f"  and {more} more", style="dim")] if more > 0 else lines


def _format_todo(todo: Mapping[str, object]) -> Text:
    mark, style = _MARKS.get(todo.get("status"), _MARKS["pending"])
    return Text(f"  {mark}{one_line(str(todo.get('content', '')), _MAX_CHARACTERS)}", style=style)
