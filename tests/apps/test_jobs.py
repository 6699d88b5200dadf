"""Jobs from the request to the end: what is recorded, what is repeated, who may answer (R30, R31, D13)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from toolroll.apps.explore import ExploreOptions
from toolroll.apps.job_driver import JobDriver
from toolroll.apps.jobs import JobRequest, JobStatus, JobStore
from toolroll.apps.spec import AgentSpec
from toolroll.engine.engine import JobLeft, JobRefused
from toolroll.engine.local import LocalEngine
from toolroll.engine.postgres import PostgresEngine
from toolroll.errors import DecisionRefused, JournalRefused, NetworkFailed, RecordTooNew, UsageError
from toolroll.journal.postgres import open_journal as open_postgres_journal
from toolroll.journal.records import ModelTurn, RunBegan
from toolroll.journal.sqlite import SqliteJournal
from toolroll.packs.research.exploration import JOB, Job
from toolroll.postgres.address import parse_address

READ = {"calls": [{"name": "read_file", "arguments": {"path": "a.py"}, "id": "read_1"}]}
EDIT = {
    "calls": [{"name": "edit", "id": "edit_1", "arguments": {"path": "a.py", "old_string": "1", "new_string": "2"}}]
}


@pytest.fixture
async def local_store(tmp_path: Path) -> AsyncIterator[JobStore]:
    journal, engine = SqliteJournal(tmp_path / "runs.db"), LocalEngine(tmp_path / "jobs.db", poll_s=0.005)
    yield JobStore(journal=journal, engine=engine)
    journal.close()
    engine.close()


@pytest.fixture(params=["local", "postgres"])
async def store(request: pytest.FixtureRequest, local_store: JobStore, tmp_path: Path) -> AsyncIterator[JobStore]:
    if request.param == "local":
        yield local_store
        return
    address = parse_address(request.getfixturevalue("database_url"))
    with closing(open_postgres_journal(address, folder=tmp_path, secrets=())) as log:
        yield JobStore(journal=log, engine=PostgresEngine(log.database, log.presence, poll_s=0.005), host="here")


def script(tmp_path: Path, *turns: object) -> str:
    (tmp_path / "script.json").write_text(json.dumps(turns))
    return f"scripted:{tmp_path / 'script.json'}"


def exploration(tmp_path: Path, *turns: object, idea: str = "Tea") -> JobRequest:
    model = script(tmp_path, *turns)
    options = ExploreOptions(
        idea=idea, mode="exploration", model=model, folder=str(tmp_path), ideas=str(tmp_path / "ideas")
    )
    return JobRequest(explore=options)


def task(tmp_path: Path, *turns: object) -> JobRequest:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("x = 1\n")
    spec = AgentSpec(model=script(tmp_path, *turns), root=str(project), folder=str(tmp_path), kind="code")
    return JobRequest(code=spec, prompt="Set x to 2")


def driver(store: JobStore, tmp_path: Path) -> JobDriver:
    async def no_pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    return JobDriver(store.journal, {"TOOLROLL_HOME": str(tmp_path / "home")}, sleep=no_pause)


async def status_of(store: JobStore, job_id: str) -> JobStatus:
    return await store.read(await store.find(job_id))


def states(status: JobStatus) -> dict[str, str]:
    return {step.name: step.state for step in status.steps}


async def work(store: JobStore, tmp_path: Path, *, until: tuple[str, ...]) -> None:
    """Work until every job is in one of these states."""
    stop = asyncio.Event()
    working = asyncio.create_task(store.engine.work(driver(store, tmp_path), slots=2, stop=stop))
    async with asyncio.timeout(60):
        while any(row.state not in until for row in await store.list()):
            await asyncio.sleep(0.01)
    stop.set()
    await working


async def test_R30_an_exploration_goes_through_five_steps_to_its_document(store: JobStore, tmp_path: Path) -> None:
    job_id, is_new = await store.submit(exploration(tmp_path, "# Tea\n\nIt is hot."))
    assert is_new
    assert set(states(await status_of(store, job_id)).values()) == {"pending"}

    await work(store, tmp_path, until=("done",))

    status = await status_of(store, job_id)
    assert states(status) == dict.fromkeys(
        ("initialize", "check_existing", "generate_research", "write", "notify"), "done"
    )
    assert Path(status.result).read_text() == "# Tea\n\nIt is hot.\n"


async def test_D12_an_idea_that_is_queued_is_not_queued_twice(store: JobStore, tmp_path: Path) -> None:
    first, _ = await store.submit(exploration(tmp_path, "# Tea"))
    assert await store.submit(exploration(tmp_path, "# Tea", idea="tea!")) == (first, False)
    assert len(await store.list()) == 1


async def test_R30_what_was_paid_is_not_paid_again_when_writing_fails(store: JobStore, tmp_path: Path) -> None:
    job_id, _ = await store.submit(exploration(tmp_path, "# Tea"))
    (tmp_path / "ideas").write_text("no folder")
    drive = driver(store, tmp_path)
    with pytest.raises(JobRefused):
        await drive(job_id)
    status = await status_of(store, job_id)
    assert "failed" in states(status).values()
    (tmp_path / "ideas").unlink()

    assert await drive(job_id) == "done"
    assert await drive(job_id) == "done"  # once more by a worker that has not heard of it

    status = await status_of(store, job_id)
    turns = [record for _, record in await store.journal.read(status.job.runs[0]) if isinstance(record, ModelTurn)]
    assert len(turns) == 1
    [entry] = json.loads(Path(status.result).with_name("exploration-log.json").read_text())
    assert entry["job_id"] == job_id


async def test_R30_a_step_that_fails_for_a_moment_is_tried_again(
    store: JobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolroll.packs.research.local import LocalSource

    asked = 0
    original = LocalSource.list_ideas

    async def list_ideas(self: LocalSource) -> object:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise NetworkFailed("No route.")
        return await original(self)

    monkeypatch.setattr(LocalSource, "list_ideas", list_ideas)
    job_id, _ = await store.submit(exploration(tmp_path, "# Tea"))
    assert await driver(store, tmp_path)(job_id) == "done"
    [step] = [step for step in (await status_of(store, job_id)).steps if step.name == "check_existing"]
    assert (step.state, step.attempts) == ("done", 3)


async def test_R31_a_job_that_cannot_work_says_why_and_is_dead(store: JobStore, tmp_path: Path) -> None:
    request = exploration(tmp_path, "# Tea")
    (tmp_path / "script.json").unlink()
    job_id, _ = await store.submit(request)
    await work(store, tmp_path, until=("dead",))
    status = await status_of(store, job_id)
    assert "script.json" in status.row.error


async def test_D13_a_change_waits_for_an_answer_and_is_made_once(store: JobStore, tmp_path: Path) -> None:
    job_id, _ = await store.submit(task(tmp_path, READ, EDIT, "Done."))
    await work(store, tmp_path, until=("waiting",))
    status = await status_of(store, job_id)
    [question] = status.questions
    assert (question.tool, question.call_id, states(status)["run"]) == ("edit", "edit_1", "waiting")
    assert "+x = 2" in question.preview
    assert (tmp_path / "project" / "a.py").read_text() == "x = 1\n"

    await store.answer(status, "edit_1", is_yes=True)
    with pytest.raises(DecisionRefused):
        await store.answer(status, "edit_1", is_yes=False)
    await work(store, tmp_path, until=("done",))

    assert (tmp_path / "project" / "a.py").read_text() == "x = 2\n"
    assert (await status_of(store, job_id)).result == "Done."


async def test_XD16_a_change_with_a_secret_in_it_is_made_after_the_answer(store: JobStore, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    changed = {"path": "a.py", "old_string": "1", "new_string": f"'{token}'"}
    edit = {"calls": [{"name": "edit", "id": "edit_1", "arguments": changed}]}
    job_id, _ = await store.submit(task(tmp_path, READ, edit, "Done."))
    await work(store, tmp_path, until=("waiting",))
    status = await status_of(store, job_id)
    assert token not in status.questions[0].preview
    await store.answer(status, "edit_1", is_yes=True)
    await work(store, tmp_path, until=("done",))
    assert (tmp_path / "project" / "a.py").read_text() == f"x = '{token}'\n"
    kept = [path for path in (tmp_path / "sealed").rglob("*") if path.is_file()]
    assert kept == []


async def test_D13_an_answer_to_what_has_changed_since_is_asked_again(store: JobStore, tmp_path: Path) -> None:
    job_id, _ = await store.submit(task(tmp_path, READ, EDIT, "Done."))
    await work(store, tmp_path, until=("waiting",))
    (tmp_path / "project" / "a.py").write_text("# new\nx = 1\n")
    await store.answer(await status_of(store, job_id), "edit_1", is_yes=True)
    await work(store, tmp_path, until=("waiting", "done"))
    assert (tmp_path / "project" / "a.py").read_text() == "# new\nx = 1\n"


async def test_D13_a_rejection_reaches_the_model_with_its_reason(store: JobStore, tmp_path: Path) -> None:
    job_id, _ = await store.submit(task(tmp_path, READ, EDIT, "Then not."))
    await work(store, tmp_path, until=("waiting",))
    await store.answer(await status_of(store, job_id), "edit_1", is_yes=False, reason="Leave it")
    await work(store, tmp_path, until=("done",))
    status = await status_of(store, job_id)
    said = [record for _, record in await store.journal.read(status.job.runs[0]) if record.kind == "ended"]
    assert "Leave it" in repr(said[-1])


async def test_D13_the_first_of_many_answers_counts(store: JobStore, tmp_path: Path) -> None:
    job_id, _ = await store.submit(task(tmp_path, READ, EDIT, "Done."))
    await work(store, tmp_path, until=("waiting",))
    status = await status_of(store, job_id)
    answers = await asyncio.gather(
        *(store.answer(status, "edit_1", is_yes=number % 2 == 0) for number in range(8)), return_exceptions=True
    )
    assert sum(answer is None for answer in answers) == 1
    assert all(answer is None or isinstance(answer, DecisionRefused) for answer in answers)


async def test_R31_jobs_are_found_by_the_beginning_of_their_ids(store: JobStore, tmp_path: Path) -> None:
    job_id, _ = await store.submit(exploration(tmp_path, "# Tea"))
    assert (await store.find(job_id[4:10])).run_id == job_id
    await store.submit(exploration(tmp_path, "# Tea", idea="Coffee"))
    with pytest.raises(UsageError, match="2 jobs begin"):
        await store.find("job-")
    with pytest.raises(JournalRefused):
        await store.find("zzzz")
    with pytest.raises(RecordTooNew, match="Update toolroll"):
        JobRequest.from_record({"kind": "job", "app": "fly"})


async def test_D10_a_job_of_a_newer_version_is_left_for_a_newer_worker(store: JobStore, tmp_path: Path) -> None:
    settings = {**exploration(tmp_path, "# Tea").record, "app": "paint", "paint": {}}
    await store.journal.append("job-newer", RunBegan(model="m", system="", tools={}, settings=settings))
    await store.journal.release("job-newer")
    with pytest.raises(JobLeft, match="Update toolroll"):
        await driver(store, tmp_path)("job-newer")
    assert await store.journal.acquire("job-newer"), "nobody holds it"


async def test_D10_a_job_that_an_older_version_queued_is_done(store: JobStore, tmp_path: Path) -> None:
    request, job = exploration(tmp_path, "# Tea"), Job.new()
    kept = {name: value for name, value in request.record.items() if name not in ("webhook", "schedule", "owner")}
    settings = {**kept, JOB: replace(job, id="job-older").fields}
    await store.journal.append("job-older", RunBegan(model="m", system="", tools={}, settings=settings))
    await store.enqueue("job-older")
    await store.journal.release("job-older")
    await work(store, tmp_path, until=("done",))
    assert (await status_of(store, "job-older")).result
