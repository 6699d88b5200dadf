"""Spans by the GenAI conventions, with the real SDK: what nests in what, what they say, what they never say (S42)."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.agent.stage import Notes, add, agent_of
from tests.safe.secrets.test_patterns import ESCAPES
from tests.safe.secrets.test_redact import SECRETS

from toolroll import Agent, tool
from toolroll.agent.telemetry.attributes import VARIABLE, error_type
from toolroll.agent.telemetry.tracer import current_tracer
from toolroll.errors import Overloaded, RequestRefused
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    ImagePart,
    Message,
    Origin,
    ReasoningBlock,
    ServerBlock,
    TextBlock,
    TextPart,
    ToolCall,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import Delta, ModelRequest, ModelResponse, TextDelta
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import Call, Line, ScriptedModel

CANARY = "sk-ant-api03-canary-canary-canary-canary-canary-000"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """All spans that have ended, as an application with the SDK would see them."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)  # the library lets nobody set it twice
    yield exporter
    provider.shutdown()


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


def parents(spans: InMemorySpanExporter) -> list[tuple[str, str | None]]:
    """Each span with the name of the one it is in, in the order in which they ended."""
    known = {span.context.span_id: span.name for span in spans.get_finished_spans() if span.context}
    return [(span.name, known.get(span.parent.span_id) if span.parent else None) for span in spans.get_finished_spans()]


def of(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def answer(text: str, **more: Any) -> ModelResponse:
    message = AssistantMessage(blocks=(TextBlock(text=text),))
    return ModelResponse(message=message, stop="end", usage=Usage(input_tokens=7, output_tokens=3, requests=1), **more)


async def test_S42_a_run_is_a_span_with_its_requests_and_calls(spans: InMemorySpanExporter) -> None:
    result = await agent_of(Call("add", {"a": 1, "b": 2}, id="c1"), answer("Three.", response_id="r9")).run("go")
    assert parents(spans) == [
        ("chat scripted", "invoke_agent"),
        ("execute_tool add", "invoke_agent"),
        ("chat scripted", "invoke_agent"),
        ("invoke_agent", None),
    ]
    first, call, last, run = spans.get_finished_spans()
    assert of(first)["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert of(call) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "add",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
    }
    assert of(last) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai_compatible",
        "gen_ai.request.model": "scripted",
        "gen_ai.request.max_tokens": 16_384,
        "gen_ai.request.stream": False,
        "gen_ai.output.type": "text",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.id": "r9",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
    }
    assert (last.kind, call.kind, run.kind) == (SpanKind.CLIENT, SpanKind.INTERNAL, SpanKind.INTERNAL)
    told = of(run)
    assert (told["gen_ai.operation.name"], told["gen_ai.conversation.id"]) == ("invoke_agent", result.run_id)
    assert (told["toolroll.run.stop_reason"], told["toolroll.run.steps"]) == ("answer", 2)
    assert {span.status.status_code for span in (first, call, last, run)} == {StatusCode.UNSET}


async def test_S42_tokens_are_told_as_far_as_they_are_known(spans: InMemorySpanExporter) -> None:
    usage = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=30, cache_write_5m_tokens=400)
    cached = ModelResponse(message=AssistantMessage(blocks=(TextBlock(text="Hi."),)), stop="refusal", usage=usage)
    await agent_of(cached).run("go")
    told = of(named(spans)["chat scripted"])
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (431, 2)
    assert told["gen_ai.usage.cache_read.input_tokens"] == 30
    assert told["gen_ai.usage.cache_creation.input_tokens"] == 400
    assert told["gen_ai.response.finish_reasons"] == ("content_filter",)
    spans.clear()
    unknown = ModelResponse(message=cached.message, stop="end", usage=Usage(measured=False))
    await agent_of(unknown).run("go")
    assert "gen_ai.usage.input_tokens" not in of(named(spans)["chat scripted"])


async def test_S42_calls_side_by_side_have_spans_of_their_own(spans: InMemorySpanExporter) -> None:
    both = asyncio.Barrier(2)
    seen: dict[str, int] = {}

    @tool
    async def meet(name: str) -> str:
        """Wait for the other one."""
        await both.wait()
        seen[name] = trace.get_current_span().get_span_context().span_id
        return name

    calls = [Call("meet", {"name": "a"}, id="a"), Call("meet", {"name": "b"}, id="b")]
    await agent_of(calls, "Done.", tools=[meet]).run("go")
    found = {of(span)["gen_ai.tool.call.id"]: span for span in spans.get_finished_spans() if "meet" in span.name}
    assert {name: span.context.span_id for name, span in found.items() if span.context} == seen
    assert {parent for name, parent in parents(spans) if "meet" in name} == {"invoke_agent"}
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_S42_what_fails_says_so_by_kind_alone(spans: InMemorySpanExporter) -> None:
    calls = [Call("fail", {"why": CANARY}), Call("nothing", {}), Call("add", {"a": "x"})]
    await agent_of(calls, "Done.").run("go")
    kinds = {span.name: of(span).get("error.type") for span in spans.get_finished_spans() if "tool" in span.name}
    assert kinds == {
        "execute_tool fail": "tool_error",
        "execute_tool nothing": "unknown_tool",
        "execute_tool add": "invalid_arguments",
    }
    failed = named(spans)["execute_tool fail"]
    assert (failed.status.status_code, failed.status.description, failed.events) == (StatusCode.ERROR, None, ())
    assert CANARY not in str([span.to_json() for span in spans.get_finished_spans()])


async def test_S42_every_attempt_is_a_span(spans: InMemorySpanExporter) -> None:
    rule = RetryRule(first_wait_s=0.0)
    await agent_of(Overloaded("busy"), "Hi.", retry=rule).run("go")
    first, second, _run = spans.get_finished_spans()
    assert (of(first)["error.type"], first.status.status_code) == ("overloaded", StatusCode.ERROR)
    assert "error.type" not in of(second)


async def test_S42_a_run_that_fails_is_a_span_that_failed(spans: InMemorySpanExporter) -> None:
    with pytest.raises(RequestRefused):
        await agent_of(RequestRefused("no")).run("go")
    told = of(named(spans)["invoke_agent"])
    assert (told["error.type"], told["toolroll.run.stop_reason"]) == ("invalid_request", "failed")
    assert error_type(KeyError()) == "KeyError"


async def test_S42_a_run_that_is_cancelled_leaves_no_span_open(spans: InMemorySpanExporter) -> None:
    begun = asyncio.Event()

    @tool
    async def hang() -> str:
        """Never end."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    task = asyncio.ensure_future(agent_of(Call("hang", {}), tools=[hang]).run("go"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert of(named(spans)["execute_tool hang"])["error.type"] == "cancelled"
    assert of(named(spans)["invoke_agent"])["toolroll.run.stop_reason"] == "interrupted"


async def test_S42_a_sub_agent_is_in_the_call_that_asked_it(spans: InMemorySpanExporter) -> None:
    inner = Agent(model=ScriptedModel([Call("add", {"a": 1, "b": 1}), "Two."]), tools=[add])
    ask = inner.as_tool(name="ask", description="Ask another.")
    await agent_of(Call("ask", {"task": "x"}), "Done.", tools=[ask]).run("go")
    assert parents(spans) == [
        ("chat scripted", "invoke_agent"),
        ("chat scripted", "invoke_agent"),
        ("execute_tool add", "invoke_agent"),
        ("chat scripted", "invoke_agent"),
        ("invoke_agent", "execute_tool ask"),
        ("execute_tool ask", "invoke_agent"),
        ("chat scripted", "invoke_agent"),
        ("invoke_agent", None),
    ]
    assert len({span.context.trace_id for span in spans.get_finished_spans() if span.context}) == 1


async def test_S42_a_streamed_run_is_inside_what_the_application_does(spans: InMemorySpanExporter) -> None:
    tracer = trace.get_tracer("application")
    seen: list[str] = []
    with tracer.start_as_current_span("mine"):
        async for event in agent_of(Call("add", {"a": 1, "b": 2}), "Three.").stream("go"):
            seen.append(event.event)
            assert getattr(trace.get_current_span(), "name", "") == "mine"
    assert ("text_delta" in seen, ("invoke_agent", "mine") in parents(spans)) == (True, True)
    assert of(named(spans)["chat scripted"])["gen_ai.request.stream"] is True


async def test_S42_a_turn_that_is_broken_off_has_ended(spans: InMemorySpanExporter) -> None:
    class Talker:
        origin = Origin(wire="anthropic", model="talker")

        async def respond(self, _request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
            while True:
                yield TextDelta(text="word ")
                await asyncio.sleep(0)

    run = Agent(model=Talker()).stream("go")
    async for event in run:
        if event.event == "text_delta":
            run.stop()
    assert of(named(spans)["chat talker"])["toolroll.broken_off"] is True
    assert of(named(spans)["chat talker"])["gen_ai.provider.name"] == "anthropic"
    assert of(named(spans)["invoke_agent"])["toolroll.run.stop_reason"] == "interrupted"


async def test_S42_a_resumed_run_tells_of_what_it_does_itself(spans: InMemorySpanExporter, tmp_path: Path) -> None:
    notes = Notes()
    journal = SqliteJournal(tmp_path / "runs.db")
    script: list[Line] = [
        [Call("add", {"a": 1, "b": 2}, id="known"), Call("write", {"text": "x"}, id="asked")],
        "Done.",
    ]
    model = ScriptedModel(script)
    from toolroll.agent.approvals import AskLater

    first = Agent(model=model, tools=[add, notes.write], approver=AskLater(), journal=journal)
    waiting = await first.run("go")
    assert waiting.stop_reason == "approval_pending"
    assert "execute_tool write" not in named(spans)
    spans.clear()
    second = Agent(model=model, tools=[add, notes.write], approver=notes, journal=journal)
    await second.resume(waiting.run_id)
    journal.close()
    assert [name for name, _ in parents(spans)] == ["execute_tool write", "chat scripted", "invoke_agent"]
    assert of(named(spans)["invoke_agent"])["toolroll.run.id"] == waiting.run_id


async def test_S42_a_run_that_had_ended_before_is_no_span_again(spans: InMemorySpanExporter, tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "runs.db")
    agent = agent_of("Done.", journal=journal)
    ended = await agent.run("go")
    spans.clear()
    again = await agent.resume(ended.run_id)
    journal.close()
    assert (again.text, [name for name, _ in parents(spans)]) == ("Done.", [])


async def test_S42_D6_what_was_said_is_told_only_when_asked_for(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    script: list[Line] = [Call("add", {"a": 1, "b": 2}, id="c"), "Three."]
    await agent_of(*script, system="Be brief.").run(f"my key is {CANARY}")
    content = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions")
    assert not any(name in of(span) for span in spans.get_finished_spans() for name in content)
    spans.clear()
    monkeypatch.setenv(VARIABLE, "true")
    await agent_of(*script, system="Be brief.").run(f"my key is {CANARY}")
    last = of(spans.get_finished_spans()[2])
    assert json.loads(last["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be brief."}]
    asked, called, answered = json.loads(last["gen_ai.input.messages"])
    assert asked["role"] == "user"
    assert called["parts"] == [{"type": "tool_call", "id": "c", "name": "add", "arguments": '{"a":1,"b":2}'}]
    assert answered["parts"] == [{"type": "tool_call_response", "id": "c", "response": "3"}]
    [said] = json.loads(last["gen_ai.output.messages"])
    assert said == {"role": "assistant", "parts": [{"type": "text", "content": "Three."}]}
    call = of(named(spans)["execute_tool add"])
    assert (call["gen_ai.tool.call.arguments"], call["gen_ai.tool.call.result"]) == ('{"a":1,"b":2}', "3")
    assert CANARY not in str([span.to_json() for span in spans.get_finished_spans()])


async def test_XD5_no_span_has_a_key_that_an_escape_touches(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "true")
    keys = [key for key, kind in SECRETS if kind != "private-key"]
    text = "".join(f"{escape}{key}{sign}" for escape in ESCAPES for key in keys for sign in ("\n", " "))
    await agent_of(Call("note", {"text": text}), text).run(text)
    told = json.dumps([of(span) for span in spans.get_finished_spans()], default=str)
    assert told.count("[redacted:") > len(keys) * len(ESCAPES)
    assert [key for key in keys if key in told] == []


async def test_XD6_no_span_log_line_error_or_record_has_a_value_of_the_environment(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    value = "correct horse battery"
    monkeypatch.setenv("SOME_SERVICE_TOKEN", value)

    @tool
    async def fail(text: str) -> str:
        """Fail."""
        raise ValueError(text)

    journal = SqliteJournal(tmp_path / "runs.db")
    calls = [Call("fail", {"text": value}, id=f"id {value}"), Call(f"no {value}", {"a": value}, id="c2")]
    with caplog.at_level("DEBUG"):
        result = await Agent(model=ScriptedModel([calls, "Done."]), tools=[fail], journal=journal).run("go")
    recording = str((await journal.read(result.run_id)).records)
    journal.close()
    told = str([span.to_json() for span in spans.get_finished_spans()])
    failed = str(next(message for message in result.messages if isinstance(message, ToolResults)).results[0].content)
    for text in (told, caplog.text, recording, failed):
        assert (value in text, "[redacted:known]" in text) == (False, True)


async def test_S42_parts_that_are_no_text_are_told_by_their_size(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "span_only")
    picture = ImagePart(data=b"12345", media_type="image/png")
    before: list[Message] = [
        UserMessage.of("Look."),
        AssistantMessage(
            blocks=(
                ReasoningBlock(text="Hm."),
                ServerBlock(kind="call", tool="web_search", summary="x"),
                CallBlock(call=ToolCall(id="p", name="paint", arguments="{}")),
            ),
            origin=Origin(wire="chat", model="scripted"),
        ),
    ]

    @tool
    async def paint() -> list[TextPart | ImagePart]:
        """Paint."""
        return [TextPart(text="Here."), picture]

    await agent_of(Call("paint", {}), "Nice.", tools=[paint]).run([picture], messages=before)
    told = of(spans.get_finished_spans()[2])["gen_ai.input.messages"]
    shown = {"type": "image", "mime_type": "image/png", "bytes": 5}
    parts = [part for message in json.loads(told) for part in message["parts"]]
    assert shown in parts
    assert {"type": "reasoning", "content": "Hm."} in parts
    assert "web_search" not in told


def test_S42_nothing_is_traced_and_nothing_imported_unless_it_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    assert current_tracer() is None
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", trace.NoOpTracerProvider())
    assert current_tracer() is None
    code = (
        "import sys\nfrom toolroll import Agent\nfrom toolroll.models.scripted import ScriptedModel\n"
        "Agent(model=ScriptedModel(['Hi.'])).run_sync('go')\n"
        "print(*[name for name in sys.modules if name.partition('.')[0] == 'opentelemetry'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_S42_the_names_are_those_of_the_conventions() -> None:
    """As the package of the conventions has them, so that a typing error here is found out."""
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    folder = Path(__file__).parents[2] / "src" / "toolroll" / "agent" / "telemetry"
    words = {word for path in folder.glob("*.py") for word in path.read_text().split('"') if word.startswith("gen_ai.")}
    assert words - known == set()
    assert len(words) > 15
