"""The address of a database, its errors, and a server that is not there, too old, or restarts."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.postgres import Cluster

from toolroll.errors import DatabaseFailed, UsageError
from toolroll.postgres import database as database_module
from toolroll.postgres import tables
from toolroll.postgres.address import parse_address, read_address
from toolroll.postgres.database import Connection, Database

PASSWORD = "canary-pass%2Fword"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(Database(parse_address(database_url))) as found:
        yield found


def ask(db: Connection) -> object:
    row = db.execute("select 1 + 1").fetchone()
    return None if row is None else row[0]


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://u:{PASSWORD}@host/name",
        f"postgresql://u:{PASSWORD}@host",
        f"postgresql://u:{PASSWORD}@host:port/name",
        f"postgresql://u:{PASSWORD}@[::1/name",
        PASSWORD,
    ],
)
def test_XD33_a_wrong_address_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(url)
    assert "canary" not in caught.value.message
    assert "TOOLROLL_DATABASE_URL" in caught.value.message


def test_XD33_an_address_is_shown_without_its_password() -> None:
    address = parse_address(
        f"postgresql://ann:{PASSWORD}@db.example:5433/roll?sslpassword=canary%20two&sslmode=require"
    )
    assert address.shown == "postgresql://ann@db.example:5433/roll"
    assert "canary" not in repr(address)
    said = f"no {PASSWORD} or canary-pass/word or canary%20two or canary+two or canary two in {address.url}"
    assert "canary" not in address.hide(said)


@given(st.text(alphabet=st.characters(codec="ascii", exclude_characters="/?#[]@: \t\r\n%"), min_size=1))
def test_XD33_no_password_is_shown(password: str) -> None:
    address = parse_address(f"postgresql://ann:{password}x1y2@db.example/roll")
    assert f"{password}x1y2" not in address.shown + repr(address) + address.hide(f"it was {password}x1y2")


def test_D10_no_address_means_files() -> None:
    assert read_address({}) is None
    assert read_address({"TOOLROLL_DATABASE_URL": " "}) is None


@pytest.mark.parametrize("user", ["postgres", "nobody_here"])
def test_XD33_a_server_that_refuses_is_told_at_once_and_not_waited_for(database_url: str, user: str) -> None:
    name = "/missing" if user == "postgres" else "/postgres"
    url = database_url.replace("postgres@", f"{user}:canary@").rpartition("/")[0] + name
    with (
        closing(Database(parse_address(url))) as database,
        pytest.raises(DatabaseFailed, match="cannot be reached") as caught,
    ):
        database.run(ask)
    assert not caught.value.is_passing
    assert "canary" not in caught.value.message


def test_XD33_a_server_that_is_not_there_is_told_at_once_and_may_come() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"postgresql://ann:canary@127.0.0.1:{taken.getsockname()[1]}/roll"
        with closing(Database(parse_address(url))) as database, pytest.raises(DatabaseFailed) as caught:
            database.run(ask)
    assert caught.value.is_passing
    assert "canary" not in caught.value.message


def test_XD33_an_old_server_is_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "MIN_SERVER", 99)
    with pytest.raises(DatabaseFailed, match="needs 99 or newer"):
        database.run(ask)


def test_XD35_tables_of_a_newer_version_are_refused(database: Database, database_url: str) -> None:
    assert database.run(ask) == 2
    with psycopg.connect(database_url, autocommit=True) as db:
        db.execute("update toolroll.about set version = %s", (tables.VERSION + 1,))
    with closing(Database(parse_address(database_url))) as later, pytest.raises(DatabaseFailed, match="newer version"):
        later.run(ask)


async def test_XD32_a_server_that_restarts_is_waited_for(cluster: Cluster) -> None:
    with closing(Database(parse_address(cluster.address))) as database:
        assert await database.call(ask) == 2
        cluster.stop()
        waiting = asyncio.create_task(database.call(ask))
        await asyncio.to_thread(cluster.start)
        assert await waiting == 2
        await asyncio.to_thread(cluster.restart, "INT")
        assert await database.call(ask) == 2


async def test_XD32_a_server_that_does_not_come_back_is_told(cluster: Cluster) -> None:
    with closing(Database(parse_address(cluster.address), patience_s=0.1)) as database:
        assert await database.call(ask) == 2
        cluster.stop()
        with pytest.raises(DatabaseFailed, match="Is the server running") as caught:
            await database.call(ask)
        assert caught.value.is_passing


def test_a_mistake_in_a_statement_is_no_reason_to_wait(database: Database) -> None:
    with pytest.raises(DatabaseFailed, match="refused") as caught:
        database.run(lambda db: db.execute("select nonsense"))
    assert not caught.value.is_passing


def test_D10_tables_of_the_first_version_are_upgraded_with_what_is_in_them(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as db:
        db.execute(tables._TABLES)
        db.execute("alter table toolroll.processes drop column seen")
        db.execute("drop table toolroll.calls, toolroll.pauses")
        db.execute("insert into toolroll.about values (1)")
        db.execute("insert into toolroll.processes values ('old', now())")
    with closing(Database(parse_address(database_url))) as database:
        found = database.run(lambda db: db.execute("select name, seen from processes").fetchall())
        assert found == [("old", None)]
        assert database.run(lambda db: db.execute("select count(*) from calls").fetchone()) == (0,)


def test_XD32_a_record_is_kept_although_the_server_is_set_up_to_promise_less(database: Database) -> None:
    """With synchronous_commit off, a server that crashes loses the latest commits: the chaos test found that."""
    assert database.run(lambda db: db.execute("show synchronous_commit").fetchone()) == ("on",)
