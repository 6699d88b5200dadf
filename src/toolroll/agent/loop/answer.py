"""Whether a turn without calls is an answer, and what the model is told where it is not."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pydantic import ValidationError

from toolroll.agent.loop.ask_model import Turn
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import Ending
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

_FENCE: Final = "```"


async def judge_answer(state: RunState, turn: Turn) -> Ending | None:
    """Return the end of the run, or None after the model was told what is missing."""
    fault = _fault(state, turn)
    if fault is None:
        return Ending(reason="answer", detail=turn.response.stop_detail if turn.response.stop == "unknown" else "")
    if await ask_to_repair(state, fault):
        return None
    if fault == "output":
        return Ending(reason="invalid_output", detail=state.output_fault or "")
    return _ENDINGS[fault]


async def judge_done(state: RunState, text: str) -> Ending | None:
    """Return the end that a tool asked for; with `output=`, only if its words are what was agreed on."""
    if read_output(state, text):
        return Ending(reason="done", text=text)
    if await ask_to_repair(state, "output"):
        return None
    return Ending(reason="invalid_output", detail=state.output_fault or "", text=text)


def read_output(state: RunState, text: str) -> bool:
    """Read the output from the text; return whether it is of the agreed type, always true where none was agreed on."""
    if state.setup.output is None:
        return True
    try:
        state.output = state.setup.output.validate_json(_strip_fence(text))
    except ValidationError as error:
        state.output_fault = _faults(error)
        return False
    state.has_output, state.output_fault = True, None
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
        words = f"Your answer must be JSON by this schema, and nothing else: {schema}\nIt is not:\n{state.output_fault}"
    await state.instruct(words, about=fault)
    return True


def _fault(state: RunState, turn: Turn) -> Fault | None:
    if turn.response.stop == "tool_calls":
        return "no_call"
    if state.setup.require_done:
        return "no_done"
    if not turn.text.strip():
        return "empty"
    return None if read_output(state, turn.text) else "output"


def _strip_fence(text: str) -> str:
    """What stands in the first block of code, if there is one. No pattern: many blank lines would take it hours."""
    _, fence, rest = text.partition(_FENCE)
    first_line, _, block = rest.partition("\n")
    inside, end, _ = block.partition(_FENCE)
    return inside if fence and end and first_line.strip() in ("", "json") else text


def _faults(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"- {'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in found]
    shown = lines[:MAX_VALIDATION_ERRORS_SHOWN]
    if len(lines) > len(shown):
        shown.append(f"- ...and {len(lines) - len(shown)} more")
    return "\n".join(shown)
