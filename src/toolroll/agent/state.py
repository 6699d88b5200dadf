"""The state of a run between two steps. Everything in it can be rebuilt from the journal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from toolroll.agent.events import Event
from toolroll.agent.guard import LoopGuard
from toolroll.agent.repair import History
from toolroll.agent.result import Step
from toolroll.agent.setup import Setup
from toolroll.agent.stop import cost_over, deadline, first_met, tokens_over
from toolroll.agent.turn import Asking
from toolroll.journal.records import Record
from toolroll.kernel.context import Run
from toolroll.kernel.tool import ToolDefinition
from toolroll.kernel.usage import Usage
from toolroll.models.model import ModelRequest

CHECK_EVERY_CHARACTERS: Final = 400
"""How often limits are looked at while a turn is being written: about every hundred tokens."""
CHARACTERS_PER_TOKEN: Final = 4
"""Only for limits inside a stream, before the provider has said what it counted."""


@dataclass(slots=True, kw_only=True)
class RunState:
    """One run on its way."""

    setup: Setup
    run: Run
    history: History
    emit: Callable[[Event], None]
    stream: bool
    tools: tuple[ToolDefinition, ...]
    steps: list[Step] = field(default_factory=list)
    guard: LoopGuard = field(default_factory=LoopGuard)
    repairs: int = 0
    output: object = None
    stop_requested: bool = False
    memo: dict[str, object] = field(default_factory=dict)

    async def record(self, record: Record) -> None:
        """Write a fact down; it is kept when this returns."""
        await self.setup.journal.append(self.run.run_id, record)

    def request(self, *, tools: bool) -> ModelRequest:
        """What the model is asked next."""
        return ModelRequest(
            messages=self.history.legal(),
            system=self.setup.system,
            tools=self.tools,
            web_search=self.setup.web_search,
            tool_choice="auto" if tools else "none",
            max_output_tokens=self.setup.max_output_tokens,
            output_schema=self.setup.output_schema,
            memo=self.memo,
        )

    def asking(self, started: float) -> Asking:
        """How the model is asked, with an eye on the limits while it writes."""
        looked = 0

        def must_stop(characters: int) -> bool:
            nonlocal looked
            if characters - looked < CHECK_EVERY_CHARACTERS:
                return self.stop_requested
            looked = characters
            return self.stop_requested or self._limit_reached(started, characters) is not None

        return Asking(
            model=self.setup.model, stream=self.stream, rule=self.setup.retry, emit=self.emit, must_stop=must_stop
        )

    def cost_of(self, usage: Usage) -> float | None:
        """What a call cost in US dollars, where that is known."""
        if self.setup.price is None or not usage.measured:
            return None
        return self.setup.price(self.setup.model.origin, usage)

    def _limit_reached(self, started: float, characters: int) -> str | None:
        usage = Usage(output_tokens=characters // CHARACTERS_PER_TOKEN)
        writing = Step(
            number=len(self.steps) + 1,
            text="",
            usage=usage,
            cost=self.cost_of(usage) or 0.0,
            duration_s=perf_counter() - started,
        )
        measurable = [one for one in self.setup.stop_when if isinstance(one, (tokens_over, cost_over, deadline))]
        return first_met(measurable, [*self.steps, writing])
