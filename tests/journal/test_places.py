"""One setting decides where the run log is: a file, or a database that many machines share (D10)."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tests.journal.samples import EVERY_KIND

from toolroll.apps.jobs import JobStore, open_jobs
from toolroll.apps.run_log import open_archive, open_journal
from toolroll.engine.engine import JobRow, Ticket
from toolroll.errors import UsageError
from toolroll.home.folders import find_folders
from toolroll.journal.conversations import find_conversations, read_conversations
from toolroll.journal.places import find_run_log
from toolroll.journal.statistics import read_statistics
from toolroll.journal.summaries import read_summaries
from toolroll.postgres.address import Address
from toolroll.safe.secrets.redact import redact_shown

URL = "postgresql://ann:canary-4711-word@db.example/roll"


def home(tmp_path: Path, settings: str = "", **variables: str) -> dict[str, str]:
    environment = {"TOOLROLL_HOME": str(tmp_path), **variables}
    if settings:
        folder = find_folders(environment).config
        folder.mkdir(parents=True, mode=0o700)
        (folder / "settings.toml").write_text(settings)
        (folder / "settings.toml").chmod(0o600)
    return environment


def test_D10_without_a_database_the_run_log_is_a_file(tmp_path: Path) -> None:
    assert find_run_log(home(tmp_path)) == tmp_path / "data" / "runs.db"


def test_D10_the_variable_and_the_setting_name_a_database_and_the_variable_comes_first(tmp_path: Path) -> None:
    environment = home(tmp_path, f'database_url = "{URL}"\n')
    found = find_run_log(environment)
    assert isinstance(found, Address)
    assert found.url == URL
    assert "canary" not in redact_shown("canary-4711-word")

    other = find_run_log({**environment, "TOOLROLL_DATABASE_URL": "postgresql://host/other"})
    assert isinstance(other, Address)
    assert other.shown == "postgresql://host/other"


def test_D10_a_wrong_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="database_url must begin with postgresql://"):
        find_run_log(home(tmp_path, 'database_url = "mysql://a/b"\n'))


async def list_jobs(store: JobStore) -> Sequence[JobRow]:
    return await store.list()


def test_D10_runs_outputs_and_jobs_of_one_machine_are_seen_on_another(tmp_path: Path, database_url: str) -> None:
    one, two = (home(tmp_path / name, TOOLROLL_DATABASE_URL=database_url) for name in ("one", "two"))

    async def record() -> None:
        with closing(open_journal(one)) as journal:
            await journal.append("run", *EVERY_KIND)
        with open_jobs(one) as store:
            await store.engine.submit(Ticket(run_id="job-1"))

    asyncio.run(record())
    place = find_run_log(two)
    assert [run.run_id for run in read_summaries(place, limit=5)[0]] == ["run"]
    assert [one.chat_id for one in read_conversations(place, limit=5)[0]] == ["run"]
    assert list(find_conversations(place, application="code")) == []
    assert list(read_statistics(place).tools) == ["write_file"]
    with open_jobs(two) as store:
        assert [row.run_id for row in asyncio.run(list_jobs(store))] == ["job-1"]
    with open_archive(two) as archive:
        assert archive is not None
        assert list(archive.names()) == []
    assert not (tmp_path / "one" / "data" / "runs.db").exists()
