"""What is in a window, as data."""

from pathlib import Path

from tests.agent.context.counted import Counted

from toolroll import Agent, step_count_is, tool
from toolroll.agent.context.report import ContextReport, context_report, recorded_context
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.live import LiveRun
from toolroll.journal.records import MessageAdded, Record
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import AssistantMessage, ReasoningBlock, TextBlock, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.models.scripted import Call, ScriptedModel

SYSTEM = "You read files. " * 20
RULES = ContextRules(window_tokens=10_000, outputs_tokens=3_000)


@tool
async def read(n: int) -> str:
    """Read a file."""
    return f"{n}: " + "word " * 1_000


def rows_of(report: ContextReport) -> dict[tuple[str, str], tuple[int, int]]:
    return {(row.kind, row.tool): (row.count, row.tokens) for row in report.rows}


def script(number: int, _request: ModelRequest) -> str | Call:
    return Call("read", {"n": number}) if number <= 5 else "All read."


async def recorded(folder: Path, **rules: float) -> tuple[list[Record], Counted]:
    counted = Counted(script)
    journal = SqliteJournal(folder / "runs.db")
    agent = Agent(
        model=counted.model,
        tools=[read],
        system=SYSTEM,
        journal=journal,
        make_id=lambda: "run",
        stop_when=step_count_is(9),
        context=ContextRules(window_tokens=10_000, **rules),  # type: ignore[arg-type]
    )
    await agent.run("Read all of them.")
    records = [record for _, record in await journal.read("run")]
    journal.close()
    return records, counted


async def test_A21_a_run_on_record_by_kind_and_by_tool(tmp_path: Path) -> None:
    records, counted = await recorded(tmp_path, outputs_tokens=3_000)
    report = recorded_context("run", records, RULES)
    rows = rows_of(report)
    assert rows["system", ""] == (1, 80)
    assert rows["user", ""] == (1, 4)
    assert rows["calls", "read"][0] == 5
    assert rows["results", "read"][0] + rows["trimmed", "read"][0] == 5
    assert rows["trimmed", "read"][0] >= 3
    assert rows["answers", ""] == (1, 2)
    assert rows["other", ""][1] > 300, "the tools, which are not on record"
    assert (report.is_measured, report.compactions) == (True, 0)
    assert abs(report.tokens - counted.sizes[-1]) < 30
    assert report.tokens == sum(row.tokens for row in report.rows)
    assert abs(report.percent - sum(row.percent for row in report.rows)) < 1e-6


async def test_A21_a_compacted_run_shows_its_summary(tmp_path: Path) -> None:
    records, _ = await recorded(tmp_path, outputs_tokens=0, compact_at=0.4)
    report = recorded_context("run", records, RULES)
    assert report.compactions >= 1
    assert rows_of(report)["summary", ""][0] == 1


async def test_A21_a_run_that_is_going_knows_its_tools_too(tmp_path: Path) -> None:
    thought = AssistantMessage(blocks=(ReasoningBlock(text="Let me think."), TextBlock(text="A long answer.")))
    response = ModelResponse(message=thought, stop="end", usage=Usage(measured=False))
    agent = Agent(model=ScriptedModel([response]), tools=[read], system=SYSTEM, outputs=tmp_path, context=RULES)
    run: LiveRun[None] = agent.stream("Go.")
    await run.wait()
    assert run._state is not None
    window = run._state.window  # what a surface that drives the run has at hand
    window.look(run._state.conversation.legal())
    report = context_report(window, system=SYSTEM)
    rows = rows_of(report)
    assert (rows["reasoning", ""], rows["answers", ""], report.is_measured) == ((1, 3), (1, 3), False)
    assert rows["tools", ""][1] > 200
    assert ("other", "") not in rows


def test_A21_a_record_without_a_beginning_is_reported_as_it_is() -> None:
    report = recorded_context("run", [MessageAdded(message=UserMessage.of("word " * 40))])
    assert rows_of(report) == {("user", ""): (1, 50)}
    assert recorded_context("run", []).rows == ()
