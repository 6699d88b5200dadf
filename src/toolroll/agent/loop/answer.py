"""Whether a turn without calls is an answer, and what the model is told where it is not."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pydantic import ValidationError

from toolroll.agent.loop.ask_model import Turn
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import Ending
from toolroll.errors import ToolFailure
from toolroll.kernel.data.serialize import dump_json
from toolroll.safe.limits import MAX_VALIDATION_ERRORS_SHOWN

Fault: TypeAlias = Literal["no_call", "no_done", "empty", "output"]

_TOLD: Final[Mapping[Fault, int]] = {"no_call": 1, "no_done": 2, "empty": 1, "output": 2}
"""How often a model is told of each fault before the run ends with it."""

_WORDS: Final[Mapping[Fault, str]] = {
    "no_call": "Your last turn announced a tool call but held none. Make the call, or give your answer.",
    "no_done": "Finish by calling `done` with your final message.",
    "empty": "Your last turn was empty. Please give your answer.",
}

_ENDINGS: Final[Mapping[Fault, Ending]] = {
    "no_call": Ending(reason="cut_off", detail="the model announced tool calls and made none"),
    "no_done": Ending(reason="answer", detail="the model did not call `done`"),
    "empty": Ending(reason="cut_off", detail="the model ended its turns without a word"),
}


async def judge_answer(state: RunState, turn: Turn) -> Ending | None:
    """Return the end of the run, or None after the model was told what is missing."""
    fault = await _fault(state, turn)
    if fault is None:
        return Ending(reason="answer", detail=turn.response.stop_detail if turn.response.stop == "unknown" else "")
    if await ask_to_repair(state, fault):
        return None
    if fault == "output":
        return Ending(reason="invalid_output", detail=state.output_fault or "")
    return _ENDINGS[fault]


async def judge_done(state: RunState, text: str) -> Ending | None:
    """Return the end that a tool asked for; with `output=`, only if its words are what was agreed on."""
    if await check_output(state, text):
        return Ending(reason="done", text=text)
    if await ask_to_repair(state, "output"):
        return None
    return Ending(reason="invalid_output", detail=state.output_fault or "", text=text)


async def check_output(state: RunState, text: str) -> bool:
    """Read and check the output; return whether it is what was agreed on, always true where nothing was."""
    form = state.setup.output
    if form is None:
        return True
    try:
        output = form.parse(text)
        for check in state.setup.output_validators:
            changed = await check.call(state.context(), output=output)
            output = output if changed is None else changed
    except ValidationError as error:
        state.output_fault = _faults(error)
        return False
    except ToolFailure as error:  # a validator's word for another try
        state.output_fault = f"- answer: {error.message}"
        return False
    state.output, state.has_output, state.output_fault = output, True, None
    return True


async def ask_to_repair(state: RunState, fault: Fault) -> bool:
    """Tell the model of a fault, unless it has been told often enough."""
    told = state.nudges.get(fault, 0)
    if told >= _TOLD[fault]:
        return False
    state.nudges[fault] = told + 1
    words = _WORDS.get(fault)
    if words is None:
        schema = dump_json(state.setup.output_schema)
        words = f"Your answer must be JSON by this schema, and nothing else: {schema}\nRefused:\n{state.output_fault}"
    await state.instruct(words, about=fault)
    return True


async def _fault(state: RunState, turn: Turn) -> Fault | None:
    if turn.response.stop == "tool_calls":
        return "no_call"
    if state.setup.require_done:
        return "no_done"
    if not turn.text.strip():
        return "empty"
    return None if await check_output(state, turn.text) else "output"


def _faults(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"- {'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in found]
    shown = lines[:MAX_VALIDATION_ERRORS_SHOWN]
    if len(lines) > len(shown):
        shown.append(f"- ...and {len(lines) - len(shown)} more")
    return "\n".join(shown)
