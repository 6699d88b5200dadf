"""Runs of every kind, each from a script: what resuming and replaying are tried on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel
from tests.agent.stage import Call, add, fail
from tests.agent.tape import Tape

from toolroll import Agent, DocumentPart, ImagePart, RunResult, TextPart, tool
from toolroll.agent.stop import step_count_is, tool_called
from toolroll.kernel.data.messages import AssistantMessage, TextBlock
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import ModelRequest, ModelResponse, StopKind
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import Line, ScriptedModel
from toolroll.packs.standard import done, read_todos, write_todos

RUN = "run"
ONCE = RetryRule(retries=0)


class City(BaseModel):
    """An agreed form of answers."""

    name: str


@tool
async def show(what: str) -> list[TextPart | ImagePart | DocumentPart]:
    """Show something."""
    return [TextPart(text=what), ImagePart(data=b"\x89PNG", media_type="image/png")]


def said(text: str, stop: StopKind = "end") -> ModelResponse:
    blocks = (TextBlock(text=text),) if text else ()
    usage = Usage(input_tokens=3, requests=1)
    return ModelResponse(message=AssistantMessage(blocks=blocks), stop=stop, usage=usage, stop_detail=stop)


@dataclass
class Scenario:
    """A script, and what else the agent is made of."""

    script: Sequence[Line]
    options: dict[str, Any] = field(default_factory=dict)
    stop: str = "answer"


def helper() -> Any:
    """A sub-agent of two steps."""
    turns: list[Line] = [Call("add", {"a": 1, "b": 1}, id="inner_1"), "The helper says 2."]

    def play(request: ModelRequest) -> Line:
        return turns[sum(message.role == "assistant" for message in request.messages)]

    return Agent(model=ScriptedModel(play), tools=[add]).as_tool(name="helper", description="Help.")


adding = {"a": 1, "b": 2}
SCENARIOS: Mapping[str, Scenario] = {
    "an answer": Scenario(["Hello."]),
    "parallel calls": Scenario([["Both.", Call("add", adding), Call("fail")], Call("add", {"a": 3, "b": 4}), "7"]),
    "a result of parts": Scenario([Call("show", {"what": "it"}), "Seen."], {"tools": [show]}),
    "the tool `done`": Scenario([Call("done", {"message": "Finished."})], {"tools": [done]}, "done"),
    "todos": Scenario(
        [Call("write_todos", {"todos": [{"content": "One"}]}), Call("read_todos"), "Planned."],
        {"tools": [write_todos, read_todos]},
    ),
    "broken calls": Scenario([[Call("add", "{"), Call("nothing"), Call("add", {"a": "x"})], "Sorry."]),
    "ids that stand twice": Scenario(
        [[Call("add", adding, id="a"), Call("add", {"a": 5, "b": 5}, id="a")], Call("add", adding, id="a"), "Done."]
    ),
    "an empty turn": Scenario([said(""), "Here."]),
    "a call announced": Scenario([said("I call.", "tool_calls"), "Here."]),
    "two empty turns": Scenario([said(""), said("")], {}, "cut_off"),
    "a turn cut off": Scenario([said("So far", "max_tokens")], {}, "cut_off"),
    "a refusal": Scenario([said("I will not.", "refusal")], {}, "refusal"),
    "a limit": Scenario([Call("add", adding), "All I have."], {"stop_when": step_count_is(2)}, "condition"),
    "a limit, and calls after it": Scenario(
        [Call("add", adding), ["Wait.", Call("add", adding)]], {"stop_when": step_count_is(2)}, "condition"
    ),
    "a limit without a last word": Scenario(
        [Call("add", adding)], {"stop_when": step_count_is(1), "close_with_answer": False}, "condition"
    ),
    "the same call again and again": Scenario([Call("add", adding)] * 6 + ["Enough."], {}, "repeated_calls"),
    "the same failure three times": Scenario([Call("fail")] * 3 + ["It fails."], {}, "repeated_failure"),
    "an answer to be repaired": Scenario(["Kyiv", '{"name": 1}', '{"name": "Kyiv"}'], {"output": City}),
    "an answer that stays wrong": Scenario(["Kyiv"] * 3, {"output": City}, "invalid_output"),
    "a last answer to be repaired": Scenario(
        [Call("add", adding), "Kyiv", '{"name": "Kyiv"}'],
        {"output": City, "stop_when": tool_called("add")},
        "condition",
    ),
    "a sub-agent": Scenario(
        [[Call("helper", {"task": "Add."}), Call("add", adding)], "Good."], {"tools": [helper(), add]}
    ),
    "two sub-agents side by side": Scenario(
        [[Call("helper", {"task": "Add."}), Call("helper", {"task": "Add again."})], "Good."], {"tools": [helper()]}
    ),
}


def named(script: Sequence[Line]) -> list[Line]:
    """The script with an id for every call: a model that is asked later would count from one again."""
    numbers = iter(range(1, 100))

    def one(part: str | Call) -> str | Call:
        return part if isinstance(part, str) else replace(part, id=part.id or f"call_{next(numbers)}")

    return [
        one(line) if isinstance(line, (str, Call)) else [one(part) for part in line] if isinstance(line, list) else line
        for line in script
    ]


def make(script: Sequence[Line], tape: Tape, **options: Any) -> Agent[Any]:
    left = named(script)[tape.paid(RUN) :]
    given = {"tools": [add, fail], "stop_when": step_count_is(30), "retry": ONCE, **options}
    return Agent(model=ScriptedModel(left), journal=tape, make_id=lambda: RUN, **given)


def told(result: RunResult[Any]) -> dict[str, Any]:
    """All of a result that must not depend on who brought it about."""
    steps = [(step.number, step.text, step.usage, step.cost, step.closing) for step in result.steps]
    return {
        "text": result.text,
        "messages": result.messages,
        "stop": (result.stop_reason, result.stop_detail, result.closing),
        "output": (result.output, result.output_fault),
        "steps": steps,
        "calls": [[(call.name, call.ok, call.bytes) for call in step.calls] for step in result.steps],
        "parts": [[(sub.name, sub.run_id, sub.usage) for sub in step.sub_runs] for step in result.steps],
    }
