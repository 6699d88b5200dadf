"""The line at the bottom: which step, what it has used, and of what model."""

from typing import Final

from rich.text import Text

from toolroll.agent.cost import total_cost
from toolroll.agent.result import Step
from toolroll.errors import UsageError
from toolroll.kernel.usage import Usage
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
