"""The stream for Vercel's AI SDK: its chunks, and what its own client makes of them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from toolroll import Agent, MemoryJournal, ScriptedModel, ToolFailure, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.ui_stream import ui_stream
from toolroll.errors import RequestRefused
from toolroll.kernel.data.messages import AssistantMessage, ReasoningBlock, TextBlock
from toolroll.kernel.data.usage import Usage
from toolroll.models import Call
from toolroll.models.model import ModelResponse

SDK = Path(__file__).parents[2] / "build" / "npm" / "node_modules" / "ai" / "dist" / "index.js"
needs_sdk = pytest.mark.skipif(shutil.which("node") is None or not SDK.exists(), reason="needs node: make counterparts")

CLIENT = """
import { readUIMessageStream, parseJsonEventStream, uiMessageChunkSchema } from %s;
import { readFileSync } from "node:fs";
const bytes = new Blob([readFileSync(0)]).stream();
const chunks = parseJsonEventStream({ stream: bytes, schema: uiMessageChunkSchema }).pipeThrough(
  new TransformStream({ transform(one, out) { if (!one.success) throw one.error; out.enqueue(one.value); } }));
let last;
for await (const message of readUIMessageStream({ stream: chunks, terminateOnError: true })) last = message;
console.log(JSON.stringify(last));
"""


@tool
def look(at: str) -> str:
    """Look at something."""
    if at == "nothing":
        raise ToolFailure("There is nothing.")
    return f"{at} is there"


@tool(effect="writes")
def write(text: str) -> str:
    """Write something."""
    return "written"


async def stream(agent: Agent[None], *, streamed: bool = True) -> str:
    return "".join([line async for line in ui_stream(agent.start("Look.", stream=streamed), message_id="m1")])


def chunks(text: str) -> list[dict[str, object]]:
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def agent() -> Agent[None]:
    calls = [
        Call("look", {"at": "tea"}, id="c1"),
        Call("look", {"at": "nothing"}, id="c2"),
        Call("write", {"text": "x"}, id="c3"),
    ]
    return Agent(
        model=ScriptedModel([["I look.", *calls]]),
        tools=[look, write],
        approver=AskLater(),
        journal=MemoryJournal(),
    )


@pytest.mark.parametrize("streamed", [True, False])
async def test_A50_a_run_becomes_chunks_that_open_and_close(streamed: bool) -> None:
    told = chunks(await stream(agent(), streamed=streamed))
    kinds = [one["type"] for one in told]
    assert kinds[0] == "start"
    assert kinds[-1] == "finish"
    assert kinds.count("text-start") == kinds.count("text-end") == 1
    assert kinds.count("tool-input-available") == 3
    assert {"type": "tool-approval-request", "toolCallId": "c3", "approvalId": "c3"} in told
    [output] = [one for one in told if one["type"] == "tool-output-available"]
    assert output["output"] == "tea is there"
    [error] = [one for one in told if one["type"] == "tool-output-error"]
    assert error["errorText"] == "There is nothing."


async def test_A50_thoughts_refusals_and_errors_are_told() -> None:
    thought = ReasoningBlock(text="Hm.")
    turn = ModelResponse(message=AssistantMessage(blocks=(thought, TextBlock(text="Yes."))), stop="end", usage=Usage())
    kinds = [one["type"] for one in chunks(await stream(Agent(model=ScriptedModel([turn]))))]
    assert "text-delta" in kinds
    rejected = Agent(model=ScriptedModel([Call("write", {"text": "x"}), "No."]), tools=[write])
    assert "tool-output-error" in [one["type"] for one in chunks(await stream(rejected))]
    broken = Agent(model=ScriptedModel([Call("look", "{"), RequestRefused("Too many users.")]), tools=[look])
    assert "Too many users." in str(chunks(await stream(broken))[-1])


@needs_sdk
async def test_A50_the_official_client_reads_the_stream(tmp_path: Path) -> None:
    program = tmp_path / "client.mjs"
    program.write_text(CLIENT % json.dumps(str(SDK)))
    text = await stream(agent())
    done = subprocess.run(["node", str(program)], input=text.encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    message = json.loads(done.stdout)
    assert message["id"] == "m1"
    states = {part.get("toolCallId"): part.get("state") for part in message["parts"] if part["type"] == "dynamic-tool"}
    assert states == {"c1": "output-available", "c2": "output-error", "c3": "approval-requested"}
    assert "I look." in [part.get("text") for part in message["parts"]]
