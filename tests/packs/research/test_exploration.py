"""Explorations from an idea to a document: what is there already, two phases, the log, in a folder and on GitHub."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from tests.packs.research.conftest import Shelf
from tests.packs.search.services import Services
from tests.support.model_script import Search, Text, Turn, Use
from tests.support.model_server import ModelServer

from toolroll import ScriptedModel
from toolroll.errors import ContentRefused, FileMissing, RequestRefused, UsageError
from toolroll.journal.records import RunBegan
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import AssistantMessage, TextBlock, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.models.scripted import Call, Line
from toolroll.packs.research.exploration import ExplorationResult, ExploreRequest, Job, explore, make_plan
from toolroll.packs.research.frameworks import Framework, load_framework
from toolroll.packs.research.local import LocalSource
from toolroll.packs.research.source import ResearchSource

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
PATH = "2025-03-01-solar-roofs/research.md"
LOG = "2025-03-01-solar-roofs/exploration-log.json"
OLD = "2025-01-02-solar-roofs/research.md"
FRAMEWORK = Framework(name="own", text="Write.")
PAGE = ("https://example.com/sun", "Sun")


@pytest.fixture
def source(tmp_path: Path) -> LocalSource:
    return LocalSource(tmp_path / "ideas", state=tmp_path / "state")


def put(source: LocalSource, path: str, text: str) -> None:
    (source.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (source.folder / path).write_text(text)


def wish(**changed: Any) -> ExploreRequest:
    given: dict[str, Any] = {"idea": "Solar roofs", "framework": FRAMEWORK} | changed
    return ExploreRequest(**given)


def ticking() -> Callable[[], datetime]:
    times = iter(NOW + timedelta(seconds=n) for n in range(100))
    return lambda: next(times)


async def explored(source: ResearchSource, script: Any, **options: Any) -> ExplorationResult:
    given: dict[str, Any] = {"environment": {}, "clock": ticking(), "make_id": lambda: "job-1"} | options
    chosen = wish(**given.pop("wish", {}))
    return await explore(chosen, source, model=ScriptedModel(script), **given)


async def log_of(source: ResearchSource, path: str = LOG) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((await source.read(path)).content)
    return found


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"is_update": True, "continue_from": "x"}, "exclude each other"),
        ({"idea": " \n"}, "no idea"),
        ({"idea": "x" * 2_001}, "2,000"),
        ({"context": "x" * 50_001}, "50,000"),
    ],
)
def test_R23_a_wish_that_makes_no_sense_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        wish(**given)


async def test_R22_a_document_and_its_log_are_written_wherever_research_is_kept(shelf: Shelf) -> None:
    done = await explored(shelf.source, ["# Roofs"], wish={"context": "For schools."})
    assert (done.outcome, done.path, done.content, done.is_whole) == ("written", PATH, "# Roofs\n", True)
    assert (await shelf.source.read(PATH)).content == "# Roofs\n"
    assert done.where == shelf.source.where(PATH)
    [entry] = await log_of(shelf.source)
    assert done.entry is not None
    assert entry == json.loads(json.dumps(done.entry.fields))
    assert entry == {
        "job_id": "job-1",
        "idea": "Solar roofs",
        "mode": "own",
        "model": "scripted",
        "context": "For schools.",
        "is_update": False,
        "continue_from": None,
        "started_at": "2025-03-01T12:00:00+00:00",
        "completed_at": "2025-03-01T12:00:01+00:00",
        "duration_ms": 1_000,
        "steps": 1,
        "requests": 1,
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_usd": None,
        "stop_reason": "answer",
        "output_path": PATH,
        "runs": entry["runs"],
        "sources": [],
        "failed_searches": [],
    }


async def test_R23_the_same_idea_again_gives_the_document_there_is(source: LocalSource) -> None:
    put(source, OLD, "# Old\n")
    done = await explored(source, [], wish={"idea": "SOLAR roofs!"})
    assert (done.outcome, done.path, done.content, done.entry) == ("exists", OLD, "# Old\n", None)
    assert not (source.folder / PATH).exists()


async def test_R23_an_update_is_appended_and_logged(source: LocalSource) -> None:
    put(source, OLD, "# Old\n\nFact.[^1]\n\n[^1]: [A](<https://a.example/>), found 2025-01-02\n")
    seen: list[str] = []

    def script(request: ModelRequest) -> Line:
        seen.append(str(request.messages))
        return "News."

    done = await explored(source, script, wish={"is_update": True})
    assert (done.outcome, done.path) == ("updated", OLD)
    assert done.content.endswith("found 2025-01-02\n\n## Update - 2025-03-01\n\nNews.\n")
    assert f"There is research on this idea already: `{OLD}`" in seen[0]
    assert "Earlier research, by the paths" not in seen[0], "it is not listed a second time"
    [entry] = await log_of(source, "2025-01-02-solar-roofs/exploration-log.json")
    assert (entry["is_update"], entry["output_path"]) == (True, OLD)


async def test_R23_what_is_not_there_cannot_be_updated_or_continued(source: LocalSource) -> None:
    with pytest.raises(FileMissing, match="There is no research on 'Solar roofs' to update"):
        await explored(source, [], wish={"is_update": True})
    with pytest.raises(FileMissing, match="There is no research 'moon'"):
        await explored(source, [], wish={"continue_from": "moon"})
    assert not source.folder.exists()


async def test_R23_research_is_built_on_also_on_the_same_idea(source: LocalSource) -> None:
    put(source, "2025-01-01-tea/research.md", "# Tea\n")
    first = await make_plan(wish(continue_from="tea"), source, now=NOW)
    assert (first.path, first.continue_from, first.is_done) == (PATH, "2025-01-01-tea/research.md", False)
    assert "Build on the earlier research `2025-01-01-tea/research.md`" in first.asked
    put(source, OLD, "# Old\n")
    again = await make_plan(wish(continue_from=OLD), source, now=NOW)
    assert (again.path, again.is_done) == (PATH, False)
    put(source, PATH, "# Today\n")
    third = await make_plan(wish(continue_from=OLD), source, now=NOW)
    assert (third.path, third.is_done) == (PATH, True)
    done = await explored(source, ["# More"], wish={"idea": "Cups", "continue_from": "tea"})
    assert done.entry is not None
    assert done.entry.continue_from == "2025-01-01-tea/research.md"


async def test_XP20_names_that_a_rule_denies_are_not_in_the_prompt(source: LocalSource) -> None:
    for path in ("2025-01-01-secret/research.md", "2025-01-01-tea/secret.md", "2025-01-01-tea/research.md"):
        put(source, path, "# x\n")
    planned = await make_plan(wish(), source, now=NOW, denied=("**/*secret*", "**/*secret*/**"))
    assert ("secret" in planned.asked, "2025-01-01-tea/research.md" in planned.asked) == (False, True)
    open_to_all = await make_plan(wish(), source, now=NOW)
    assert open_to_all.asked.count("secret") == 2


async def test_R23_what_somebody_wrote_meanwhile_stays(source: LocalSource) -> None:
    def script(_request: ModelRequest) -> Line:
        put(source, PATH, "# Theirs\n")
        return "# Ours\n\nText."

    done = await explored(source, script)
    assert done.content == "# Theirs\n\n## Update - 2025-03-01\n\nText.\n"
    put(source, "2025-03-01-tea/research.md", " \n")
    empty = await explored(source, ["# Tea"], wish={"idea": "Tea", "is_update": True})
    assert empty.content == "# Tea\n"


async def test_R23_A4_a_model_that_writes_nothing_leaves_nothing(source: LocalSource) -> None:
    refusal = ModelResponse(message=AssistantMessage(blocks=(TextBlock(text="No."),)), stop="refusal", usage=Usage())
    with pytest.raises(ContentRefused):
        await explored(source, [refusal])
    assert not source.folder.exists()


async def test_R20_a_document_that_was_cut_off_says_so(source: LocalSource) -> None:
    half = ModelResponse(
        message=AssistantMessage(blocks=(TextBlock(text="# Half"),)),
        stop="max_tokens",
        usage=Usage(),
        stop_detail="long",
    )
    done = await explored(source, [half])
    assert not done.is_whole
    assert "\n\n> Incomplete: " in done.content


async def test_R24_two_phases_gather_with_tools_then_write_without(source: LocalSource, services: Services) -> None:
    seen: list[ModelRequest] = []
    lines: list[Line] = [Call("web_search", {"query": "sun"}), "- Rates rose [^1]", "# Roofs\n\nRates rose.[^1] x[^9]"]

    def script(request: ModelRequest) -> Line:
        seen.append(request)
        return lines[len(seen) - 1]

    done = await explored(
        source, script, wish={"is_two_phase": True}, environment=services.settings, collect_tool_stats=True
    )
    assert [tool.name for tool in seen[0].tools] == ["web_search", "read_research"]
    assert seen[2].tools == ()
    assert "Do not write the document yet" in seen[0].system
    assert "You have no tools now" in seen[2].system
    [asked] = seen[2].messages
    assert isinstance(asked, UserMessage)
    assert "<notes>\n- Rates rose [^1]\n</notes>" in str(asked.content[0].text)  # type: ignore[union-attr]
    assert "[^1]: [Burnout in 2025]" in str(asked)
    assert "Rates rose.[^1] x\n\n## Sources" in done.content
    [entry] = await log_of(source)
    assert entry["notes"] == "- Rates rose [^1]"
    assert (entry["steps"], len(entry["runs"]), entry["input_tokens"]) == (3, 2, 30)
    assert [one["name"] for one in entry["tool_calls"]] == ["web_search"]
    assert [one["url"] for one in entry["sources"]] == [url for _, url, _ in services.found]


async def test_R24_notes_are_not_lost_when_writing_fails(source: LocalSource) -> None:
    with pytest.raises(RequestRefused):
        await explored(source, ["- a note", RequestRefused("gone")], wish={"is_two_phase": True})
    [entry] = await log_of(source)
    assert (entry["notes"], entry["error"], entry["output_path"]) == ("- a note", "gone", None)
    assert not (source.folder / PATH).exists()
    assert await source.list_ideas() == ()
    done = await explored(source, ["# Now"], make_id=lambda: "job-2")
    assert done.outcome == "written"
    assert len(await log_of(source)) == 2


async def test_R11_every_failure_of_a_backend_is_named_in_the_log(source: LocalSource, services: Services) -> None:
    services.faults |= {"tavily": "401", "brave": "429", "searxng": "malformed", "duckduckgo": "503"}
    done = await explored(source, [Call("web_search", {"query": "sun"}), "# Without"], environment=services.settings)
    assert done.content == "# Without\n"
    [entry] = await log_of(source)
    assert [one["backend"] for one in entry["failed_searches"]] == ["tavily", "brave", "searxng", "duckduckgo"]


@pytest.mark.parametrize("mode", ["business", "exploration"])
async def test_R12_R21_R25_over_real_http_with_searches_a_pause_reads_and_a_limit(
    source: LocalSource, mode: str
) -> None:
    for name in ("tea", "cups"):
        put(source, f"2025-01-01-{name}/research.md", f"# {name}\n")
    reads = [Use("read_research", {"path": f"2025-01-01-{name}/research.md"}) for name in ("tea", "cups")]
    turns = [
        Turn([Text("I search."), Search("sun", (PAGE, ("https://example.com/moon", "Moon")))], stop="pause"),
        Turn(reads),
        *[Turn(Use("read_research", {"path": f"{n}.md"})) for n in range(3)],
        Turn([Text("# Roofs\n\n"), Text("It shines.", citations=(PAGE,))]),
    ]
    async with ModelServer(turns) as server:
        done = await explore(
            wish(framework=load_framework(mode)), source, model=server.model("anthropic"), clock=lambda: NOW
        )
    system = json.dumps(server.requests[0].body["system"])
    assert ("STRONG YES" in system, "Unexpected connections" in system) == (mode == "business", mode == "exploration")
    assert "Search before you read" not in system
    assert "- `2025-01-01-tea/research.md`" in json.dumps(server.requests[0].body["messages"])
    assert len(server.requests[2].body["messages"][-1]["content"]) == 2
    assert done.content == (
        "# Roofs\n\nIt shines.[^1]\n\n## Sources\n\n"
        f"1. [Sun](<https://example.com/sun>), found {day(done)}\n"
        f"2. [Moon](<https://example.com/moon>), found {day(done)}\n\n"
        f"[^1]: [Sun](<https://example.com/sun>), found {day(done)}\n"
    )
    assert done.entry is not None
    assert (done.entry.stop_reason, done.entry.steps, done.entry.mode) == ("condition", 5, mode)


def day(done: ExplorationResult) -> object:
    """When the run found its pages: by its own clock."""
    assert done.entry is not None
    return str(done.entry.sources[0]["found_at"])[:10]


async def test_R6_R22_a_thousand_ideas_and_an_exploration_cost_little(source: LocalSource) -> None:
    for number in range(1_000):
        put(source, f"2024-01-01-idea-{number}/research.md", "# x\n")
    sizes: list[int] = []

    def script(request: ModelRequest) -> Line:
        sizes.append(len(str(request.messages)))
        return "# Roofs"

    begun = process_time()
    await explored(source, script)
    assert process_time() - begun < 5.0
    assert sizes[0] < 10_000


@pytest.fixture
async def services() -> Any:
    async with Services() as running:
        yield running


async def test_D2_R24_a_job_that_was_cut_off_goes_on_and_pays_nothing_twice(
    source: LocalSource, tmp_path: Path
) -> None:
    journal = SqliteJournal(tmp_path / "runs.db")
    job = Job.new(clock=ticking())
    given: dict[str, Any] = {"wish": {"is_two_phase": True}, "journal": journal, "job": job, "clock": ticking()}
    with pytest.raises(RequestRefused):
        await explored(source, ["- a note", RequestRefused("gone")], **given)
    kept = [record.settings for _, record in await journal.read(job.runs[0]) if isinstance(record, RunBegan)]
    assert Job.from_settings(kept[0]) == job
    done = await explored(source, ["# Roofs\n\nFrom the notes."], **given)  # the notes are not asked for again
    assert done.content == "# Roofs\n\nFrom the notes.\n"
    [entry] = await log_of(source)
    assert (entry["notes"], entry["runs"]) == ("- a note", list(job.runs))
    again = await explored(source, [], **given)  # cut off after the last word was written: nothing is left to do
    assert (again.content, len(await log_of(source))) == (done.content, 1)
    journal.close()


async def test_D2_R12_sources_of_a_run_that_was_over_are_known_again(
    source: LocalSource, services: Services, tmp_path: Path
) -> None:
    journal = SqliteJournal(tmp_path / "runs.db")
    put(source, OLD, "# Roofs\n\nOld.[^1]\n\n[^1]: [Old](<https://example.com/old>), found 2025-01-01\n")
    given: dict[str, Any] = {"wish": {"is_update": True}, "journal": journal, "job": Job.new(clock=ticking())}
    script: list[Line] = [Call("web_search", {"query": "sun"}), "Rates rose. ![x](https://evil.example/?q=1)"]
    first = await explored(source, script, environment=services.settings, **given)
    again = await explored(source, [], environment=services.settings, **given)
    assert again.content == first.content
    assert again.content.count("## Update") == 1
    assert again.entry is not None
    assert [one["url"] for one in again.entry.sources] == [url for _, url, _ in services.found]
    journal.close()


@pytest.mark.parametrize("kept", [{}, {"job": 1}, {"job": {"id": "a", "started": "2025-01-01", "runs": ["b"]}}])
def test_D2_a_run_that_names_no_exploration_cannot_be_gone_on_with(kept: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="which exploration"):
        Job.from_settings(kept)
