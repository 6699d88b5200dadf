"""Whether a turn without calls is an answer, and what to tell the model where it is not."""

import re
from typing import Final

from pydantic import ValidationError

from toolroll.agent.closing import MAX_NUDGES, NUDGE_CALL, NUDGE_DONE, NUDGE_EMPTY
from toolroll.agent.state import RunState
from toolroll.models.model import ModelResponse

_FENCED: Final = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL)


def judge_answer(state: RunState, response: ModelResponse) -> str | None:
    """None for an answer that can be taken; else what the model is told. It is told twice at most."""
    text = response.message.text
    nudge = _fault(state, response, text)
    if nudge is None or state.repairs >= MAX_NUDGES:
        return None
    state.repairs += 1
    return nudge


def _fault(state: RunState, response: ModelResponse, text: str) -> str | None:
    if response.stop == "tool_calls":
        return NUDGE_CALL
    if state.setup.require_done:
        return NUDGE_DONE
    if not text.strip():
        return NUDGE_EMPTY
    return None if state.setup.output is None else _read_output(state, text)


def _read_output(state: RunState, text: str) -> str | None:
    assert state.setup.output is not None
    fenced = _FENCED.search(text)
    try:
        state.output = state.setup.output.validate_json(fenced[1] if fenced else text)
    except ValidationError as error:
        faults = "\n".join(
            f"- {'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in error.errors(include_url=False)
        )
        return f"Your answer must be JSON of the agreed form, and nothing else. It is not:\n{faults}"
    return None
