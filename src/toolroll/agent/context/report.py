"""What is in a window: by kind of message and by tool, in tokens and in percent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolroll.agent.context.rules import ContextRules
from toolroll.agent.context.window import Window
from toolroll.agent.history.rebuild import RebuiltRun
from toolroll.agent.loop.budget import CHARACTERS_PER_TOKEN, tokens_of
from toolroll.agent.options import Setup
from toolroll.agent.run import new_run
from toolroll.journal.records import Record, RunBegan
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, Message, Origin, ReasoningBlock, ToolResults
from toolroll.kernel.define.tool import Toolset
from toolroll.models.scripted import ScriptedModel

Kind: TypeAlias = Literal[
    "system", "tools", "user", "summary", "answers", "reasoning", "calls", "results", "trimmed", "other"
]

_ORDER: Final[tuple[Kind, ...]] = (
    "system",
    "tools",
    "user",
    "summary",
    "answers",
    "reasoning",
    "calls",
    "results",
    "trimmed",
    "other",
)


_ONLY_WITH_TOKENS: Final[tuple[Kind, ...]] = ("system", "tools", "other")
"""What need not be there; a message is there, however small its share is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRow:
    """One kind of content; `tool` is whose it is, for calls and results."""

    kind: Kind
    tool: str
    count: int
    tokens: int
    percent: float
    """Of the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReport:
    """What the next request holds. The sizes of its parts are estimates, the sum is what the provider counted last, if
    it did, and what was added since.

    The row `other` is what it counted beyond them, such as tools that are not known here.
    """

    window_tokens: int
    tokens: int
    rows: tuple[ContextRow, ...]
    compactions: int
    is_measured: bool

    @property
    def percent(self) -> float:
        """Return how full the window is."""
        return 100 * self.tokens / self.window_tokens


def context_report(window: Window, *, system: str = "") -> ContextReport:
    """Return what a run's window holds now."""
    head = len(system) // CHARACTERS_PER_TOKEN
    found: dict[tuple[Kind, str], list[int]] = {("system", ""): [head], ("tools", ""): [window.head_tokens - head]}
    for message in window.messages:
        for kind, tool, tokens in _pieces(message, window):
            found.setdefault((kind, tool), []).append(tokens)
    estimated = sum(map(sum, found.values()))
    ratio = min(window.tokens / max(estimated, 1), 1.0)
    scaled = {key: (len(all_of), round(ratio * sum(all_of))) for key, all_of in found.items()}
    scaled["other", ""] = (1, max(window.tokens - estimated, 0))
    rows = sorted(scaled.items(), key=lambda item: (_ORDER.index(item[0][0]), -item[1][1], item[0][1]))
    return ContextReport(
        window_tokens=window.limits.window_tokens,
        tokens=sum(tokens for _, tokens in scaled.values()),
        rows=tuple(
            ContextRow(
                kind=kind,
                tool=tool,
                count=count,
                tokens=tokens,
                percent=100 * tokens / window.limits.window_tokens,
            )
            for (kind, tool), (count, tokens) in rows
            if tokens or kind not in _ONLY_WITH_TOKENS
        ),
        compactions=window.compactions,
        is_measured=window.is_measured,
    )


def recorded_context(run_id: str, records: Sequence[Record], rules: ContextRules | None = None) -> ContextReport:
    """Return the report of a recorded run, as it would be sent next. Neither its model nor its tools are needed."""
    began = next((record for record in records if isinstance(record, RunBegan)), None)
    model, system = ("", "") if began is None else (began.model, began.system)
    setup = Setup(
        model=ScriptedModel([], origin=Origin(wire="chat", model=model)),
        tools=Toolset([]),
        definitions=(),
        system=system,
        context=rules or ContextRules(),
        outputs="off",
    )
    state = new_run(setup, (), lambda _event: None, run_id=run_id)
    recalled = RebuiltRun(state, records)
    recalled.close_turn()
    state.window.look(state.conversation.snapshot())
    return context_report(state.window, system=system)


def _pieces(message: Message, window: Window) -> Iterator[tuple[Kind, str, int]]:
    match message:
        case AssistantMessage():
            yield from _of_turn(message)
        case ToolResults():
            for result in message.results:
                kind: Kind = "trimmed" if result.call_id in window.trimmed else "results"
                yield kind, result.name, tokens_of(result)
        case _:
            yield "summary" if window.is_summary(message) else "user", "", tokens_of(message)


def _of_turn(message: AssistantMessage) -> Iterator[tuple[Kind, str, int]]:
    for block in message.blocks:
        if isinstance(block, CallBlock):
            yield "calls", block.call.name, len(block.call.arguments) // CHARACTERS_PER_TOKEN
        else:
            kind: Kind = "reasoning" if isinstance(block, ReasoningBlock) else "answers"
            yield kind, "", len(getattr(block, "text", "")) // CHARACTERS_PER_TOKEN
