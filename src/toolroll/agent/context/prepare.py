"""Before every call of the model: what it is sent has to fit."""

from collections.abc import Mapping, Sequence

from toolroll.agent.context.trim import choose_outputs
from toolroll.agent.events import ContextTrimmed
from toolroll.agent.state import RunState
from toolroll.journal.records import Compacted, Trimmed


async def make_room(state: RunState) -> None:
    """Let outputs, and then the conversation itself, give way where there is too much of them."""
    window = state.window
    crowded = window.look(state.history.legal())
    if state.changes is not None:
        _repeat(state, state.changes)
    elif crowded:
        before = window.tokens
        if state.outputs is not None:
            await trim(state, choose_outputs(window, state.outputs))
        if window.is_full:
            from toolroll.agent.context.compact import compact  # noqa: PLC0415 - most runs never need it

            await compact(state)
        if window.tokens < before:
            state.budget.sends(window.tokens)
    window.sends()


def _repeat(state: RunState, changes: Mapping[int, Sequence[Trimmed | Compacted]]) -> None:
    """Do what was done then, as far as the conversation is the same."""
    conversation = state.history.legal()
    for record in changes.get(state.window.turns, ()):
        if isinstance(record, Trimmed):
            state.window.trim(record)
        elif record.through <= len(conversation):
            state.window.compact(record, conversation)


async def trim(state: RunState, record: Trimmed | None) -> None:
    """Let the outputs give way that were chosen, if any were."""
    if record is None:
        return
    before = state.window.tokens
    await state.record(record)
    state.window.trim(record)
    state.emit(ContextTrimmed(outputs=len(record.outputs), tokens_before=before, tokens_after=state.window.tokens))
