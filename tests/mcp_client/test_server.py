"""S31: tools of MCP servers are tools of an agent, in both eras of the protocol."""

import asyncio
import os
from pathlib import Path
from typing import cast

import pytest
from tests.mcp_client.scripted import ERAS, LEGACY, MODERN, call, calls, entries, scripted

from toolroll import (
    Agent,
    Approve,
    DocumentPart,
    ImagePart,
    Policy,
    Reject,
    Rule,
    ScriptedModel,
    TextPart,
    ToolrollError,
)
from toolroll.errors import UsageError
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import Progress
from toolroll.kernel.data.messages import Part, ToolResults
from toolroll.mcp_client import MCPServer, ServerSpec
from toolroll.models import Call
from toolroll.testing import RecordingApprover, make_run


@pytest.mark.parametrize("era", ERAS)
async def test_S31_tools_of_a_server_are_tools_of_an_agent(era: str) -> None:
    async with scripted(era=era) as server:
        model = ScriptedModel([Call("s__echo", {"text": "hello"}), "It said hello."])
        person = RecordingApprover()
        result = await Agent(model=model, tools=[server], approver=person).run("Say hello.")
        [answer] = [one for one in result.messages if isinstance(one, ToolResults)]
        assert answer.results[0].content == "hello"
        assert [request.tool for request in person.requests] == ["s__echo"]
        assert (await server.inspect())[1].protocol == era


def test_S31_one_server_serves_runs_of_several_event_loops(tmp_path: Path) -> None:
    state = tmp_path / "state"
    server = scripted(state=state)
    asyncio.run(server.open())
    agent = Agent(
        model=ScriptedModel([Call("s__echo", {"text": "1"}), "one", Call("s__echo", {"text": "2"}), "two"]),
        tools=[*server],
        approver=RecordingApprover(),
    )
    try:
        assert agent.run_sync("First.").text == "one"
        assert agent.run_sync("Second.").text == "two"
    finally:
        server.close()
    assert len([one for one in entries(state) if "pid" in one]) == 1


async def test_S31_a_server_that_is_not_open_has_no_tools_yet() -> None:
    server = scripted()
    with pytest.raises(UsageError, match="async with"):
        Agent(model=ScriptedModel([]), tools=[server])


@pytest.mark.parametrize("era", ERAS)
async def test_S31_every_kind_of_content_becomes_a_part(era: str) -> None:
    async with scripted(era=era) as server:
        result = await call(server, "everything")
        text, image, broken, audio, link, inside, document = cast("tuple[Part, ...]", result.content)
        assert text == TextPart(text="words")
        assert isinstance(image, ImagePart)
        assert image.media_type == "image/png"
        assert isinstance(broken, TextPart)
        assert "not base64" in broken.text
        assert isinstance(audio, TextPart)
        assert audio.text.endswith("UklGRg==")
        assert link == TextPart(text="[resource notes: notes://1, text/plain, 1,200 bytes]")
        assert inside == TextPart(text="[resource notes://2]\ninside")
        assert isinstance(document, DocumentPart)
        assert document.data == b"%PDF"
        assert (await call(server, "structured")).text == '{"n": 1}'


async def test_S31_failures_are_results_with_the_reason() -> None:
    async with scripted() as server:
        failed, refused = await call(server, "fail"), await call(server, "refuse")
        assert (failed.code, failed.text) == ("mcp_error", "the disk is full")
        assert (refused.code, refused.is_error) == ("mcp_error", True)
        assert refused.text.endswith("not today")


async def test_S31_arguments_are_checked_by_the_schema_of_the_server(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with scripted(state=state) as server:
        missing = await call(server, "echo")
        long = await call(server, "echo", text="x" * 200)
        assert missing.code == long.code == "invalid_arguments"
        assert calls(state) == []


@pytest.mark.parametrize("era", ERAS)
async def test_S31_progress_is_passed_on(era: str) -> None:
    async with scripted(era=era) as server:
        run = make_run(approver=RecordingApprover())
        assert (await call(server, "progress", run)).text == "done"
        told = [(one.message, one.fraction) for one in run.events if isinstance(one, Progress)]
        assert told[-1] == ("part 2", 1.0)


async def test_S31_a_cancelled_call_is_cancelled_at_the_server(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with scripted(state=state) as server:
        task = asyncio.create_task(call(server, "never"))
        while not calls(state):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not any("cancelled" in one for one in entries(state)):
            await asyncio.sleep(0.01)
        assert (await call(server, "echo", text="still here")).text == "still here"


async def test_S31_hints_of_the_server_allow_nothing(tmp_path: Path) -> None:
    """`echo` claims to only read: without a person it does not run all the same."""
    state = tmp_path / "state"
    async with scripted(state=state) as server:
        result = await call(server, "echo", Run(), text="x")
        rejected = await call(server, "echo", make_run(approver=RecordingApprover(Reject("no"))), text="x")
        assert (result.code, rejected.code) == ("needs_approval", "rejected")
        assert calls(state) == []


async def test_S31_a_person_can_say_otherwise_tool_by_tool() -> None:
    async with scripted(allow=["echo"], reads=["struct*"], private=False) as server:
        tools = {one.name: one for one in server}
        assert (tools["s__structured"].effect, tools["s__echo"].effect) == ("reads", "external")
        assert not (await call(server, "echo", Run(), text="x")).is_error
        assert not (await call(server, "structured", Run())).is_error
        denied = make_run(policy=Policy((Rule(action="deny", tool="s__*"),)))
        assert (await call(server, "echo", denied, text="x")).code == "denied"


async def test_S31_what_is_allowed_is_asked_about_once_private_text_was_read() -> None:
    async with scripted(allow=["echo"]) as server:
        run = make_run(approver=(person := RecordingApprover()))
        await call(server, "echo", run, text="its answers may be private")
        assert [request.is_exposed for request in person.requests] == [True]
    async with scripted(allow=["echo"], private=False) as server:
        alone = Run()
        assert not (await call(server, "echo", alone, text="first")).is_error
        assert not (await call(server, "echo", alone, text="second")).is_error
        assert alone.labels == {"untrusted"}


async def test_S31_tools_are_chosen_and_renamed() -> None:
    async with scripted(tools=["e*"], exclude=["everything"], rename={"echo": "say"}) as server:
        assert [tool.name for tool in server] == ["s__say", "s__environment"]
        assert (
            await server.tools[0].execute_raw('{"text": "x"}', make_run(approver=RecordingApprover()).context())
        ).text == "x"


async def test_S31_the_environment_has_only_what_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_URL", "http://x")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-canary")
    async with scripted(env=["SERVICE_URL"]) as server:
        names = (await call(server, "environment")).text.split()
    assert "SERVICE_URL" in names
    assert "ANTHROPIC_API_KEY" not in names
    assert set(names) <= {
        "SERVICE_URL",
        "TOOLROLL_PROGRAM",
        "HOME",
        "PATH",
        "LANG",
        "LC_CTYPE",
        "TMPDIR",
        "TZ",
        "USER",
        "LOGNAME",
    } | {name for name in os.environ if name.startswith("LC_")}


async def test_S31_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(ToolrollError, match="NO_SUCH_TOKEN"):
        async with scripted(env=["NO_SUCH_TOKEN"]):
            pass


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"name": "a b", "command": "x"}, "a b"),
        ({"name": "a__b", "command": "x"}, "a__b"),
        ({"name": "a"}, "command or a URL"),
        ({"name": "a", "command": "x", "url": "https://example.com"}, "command or a URL"),
        ({"name": "a", "url": "ftp://example.com"}, "ftp"),
        ({"name": "a", "url": "http://example.com/mcp"}, "https"),
        ({"name": "a", "command": "x", "headers": {"A": "b"}}, "headers"),
        ({"name": "a", "command": "x", "env": ["A=b"]}, "A=b"),
        ({"name": "a", "command": "x", "call_seconds": 0}, "time limit"),
        ({"name": "a", "command": "x", "args": "one two"}, "args"),
    ],
)
def test_S31_a_description_that_makes_no_sense_is_refused(options: dict[str, object], word: str) -> None:
    with pytest.raises(ToolrollError, match=word):
        MCPServer(**options)  # type: ignore[arg-type]  # wrong on purpose


def test_S31_headers_take_values_from_variables() -> None:
    spec = ServerSpec(name="a", url="https://example.com/mcp", headers={"Authorization": "Bearer ${A_TOKEN}"})
    assert spec.fill_headers({"A_TOKEN": "secret"}) == {"Authorization": "Bearer secret"}
    with pytest.raises(UsageError, match="A_TOKEN"):
        spec.fill_headers({})


async def test_XM27_a_server_asks_the_person_through_whoever_is_there() -> None:
    for era in ERAS:
        async with scripted(era=era) as server:
            person = RecordingApprover(lambda one: Approve('{"name": "Grace"}') if one.is_question else Approve())
            answer = (await call(server, "ask", make_run(approver=person))).text
            assert "Grace" in answer
            assert "accept" in answer
            assert [one.is_question for one in person.requests] == [False, True]
            no = RecordingApprover(lambda one: Reject() if one.is_question else Approve())
            assert "decline" in (await call(server, "ask", make_run(approver=no))).text
            wrong = RecordingApprover(lambda one: Approve("[") if one.is_question else Approve())
            assert "decline" in (await call(server, "ask", make_run(approver=wrong))).text


async def test_XM27_without_a_person_a_question_is_declined() -> None:
    async with scripted(allow=["ask"], private=False, era=MODERN) as server:
        assert "decline" in (await call(server, "ask", Run())).text


async def test_XM27_sampling_and_roots_are_refused() -> None:
    async with scripted(era=LEGACY) as server:
        for tool in ("sample", "roots"):
            assert "not supported" in (await call(server, tool)).text


async def test_S31_a_result_of_every_kind_is_stored_whole(tmp_path: Path) -> None:
    """Audio too: no model hears it, and nothing of it is lost."""
    async with scripted() as server:
        model = ScriptedModel([Call("s__everything", {}), "Done."])
        result = await Agent(model=model, tools=[server], approver=RecordingApprover(), outputs=tmp_path).run("Go.")
    [answer] = [one for one in result.messages if isinstance(one, ToolResults)]
    assert answer.results[0].output_ref is not None
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert all(piece in stored for piece in (b"words", b"\x89PNG", b"UklGRg==", b"notes://1", b"inside", b"%PDF"))
