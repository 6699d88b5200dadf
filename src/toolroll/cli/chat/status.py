"""The line below the prompt of a chat (S11): the model, how full its window is, the cost so far, the folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolroll.agent.cost import total_cost
from toolroll.cli.actions.runs.listing import format_cost, format_folder
from toolroll.cli.render.live.lines import window_share
from toolroll.models.scripted_file import PREFIX
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult
    from toolroll.cli.chat.conversation import ChatInfo

MAX_MODEL_CHARACTERS: Final = 40


class ChatFigures:
    """What a chat has taken so far."""

    def __init__(self, cost: float | None = None) -> None:
        self._costs: list[float | None] = [] if cost is None else [cost]
        self._tokens: int | None = None
        self.total_tokens: int = 0

    @property
    def cost(self) -> float | None:
        """Return what the chat has cost; None where that is not known, or nothing was asked yet."""
        return total_cost(self._costs) if self._costs else None

    def add(self, result: "RunResult[Any]") -> None:
        """Add a run; one that goes on is added once more, with all of it."""
        self._costs.append(result.cost)
        self.total_tokens += result.usage.total
        last = result.steps[-1] if result.steps else None
        if last is not None and last.usage.requests == 1 and last.usage.measured and not last.sub_runs:
            self._tokens = last.usage.total

    def forget_window(self) -> None:
        """Forget how full the window was: another conversation begins."""
        self._tokens = None

    def format(self, info: "ChatInfo", columns: int) -> str:
        """Return the line, cut to the width of the screen; the end of it matters least."""
        return one_line(" · ".join(self._parts(info)), max(columns - 1, 1))

    def _parts(self, info: "ChatInfo") -> Iterator[str]:
        if info.is_planning:
            yield "plan mode (/go)"
        yield one_line(_short_name(info.model), MAX_MODEL_CHARACTERS)
        share = None if self._tokens is None else window_share(info.model, self._tokens)
        if share is not None:
            yield f"context {share:.0%}"
        if self.cost is not None:
            yield format_cost(self.cost)
        if info.workspace is not None:
            yield format_folder(str(info.workspace.root))


def _short_name(model: str) -> str:
    """The name of a model; of a script, without the folder that it is in."""
    return f"{PREFIX}{Path(model.removeprefix(PREFIX)).name}" if model.startswith(PREFIX) else model
