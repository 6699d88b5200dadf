"""Keep the connection to a server: made when it is first needed, in a thread, and made again after a failure.

A thread, because a connection outlives event loops: `run_sync` has one for each run, a chat has one for hours, and a
server that was started with all its state must serve both. Whoever calls waits in their own loop.
"""

import asyncio
import atexit
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from typing import Final, TypeAlias, TypeVar

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, ElicitRequestParams, ElicitResult
from pydantic import ValidationError

from toolroll.errors import McpServerFailed, ToolFailure, ToolrollError, ToolTimeout
from toolroll.mcp_client.session import Session, SessionInfo, open_session
from toolroll.mcp_client.spec import ServerSpec
from toolroll.safe.secrets.redact import redact_shown
from toolroll.safe.text import one_line

T = TypeVar("T")

DELAYS_S: Final = (0.0, 0.5, 2.0, 8.0)
"""Before each attempt to connect again; after the last, the server is given up until something works again."""
CLOSE_S: Final = 15.0
"""How long to wait for the end of a server: it gets a second to end by itself, and ten to be killed."""
_MAX_REASON_CHARACTERS: Final = 500

Ask: TypeAlias = Callable[[ElicitRequestParams], Awaitable[ElicitResult]]
"""Asks the person something in the name of a server; runs in the loop of the call that is waiting."""
MakeAuth: TypeAlias = Callable[[], httpx2.Auth]


class Connection:
    """The connection to one server. It can be used from any event loop and any thread."""

    def __init__(self, spec: ServerSpec, environment: Mapping[str, str], *, make_auth: MakeAuth | None = None) -> None:
        self._spec = spec
        self._environment = environment
        self._make_auth = make_auth
        self._lock = threading.Lock()
        self._link: _Link | None = None
        self._failures = 0
        self._asks: list[tuple[asyncio.AbstractEventLoop, Ask]] = []

    async def request(
        self, work: Callable[[Session], Awaitable[T]], *, seconds: float | None = None, ask: Ask | None = None
    ) -> T:
        """Do work with the open session, connecting first if needed; ToolFailure says what went wrong.

        It may take as long as a connection may, or `seconds`.
        """
        link = await self._open_link()
        waiting = (asyncio.get_running_loop(), ask) if ask is not None else None
        if waiting is not None:
            self._asks.append(waiting)
        try:
            return await link.run(work, seconds or self._spec.connect_seconds)
        finally:
            if waiting is not None:
                self._asks.remove(waiting)

    def note_success(self) -> None:
        """Note that a call was answered: the next failure is the first one again."""
        self._failures = 0

    async def info(self) -> SessionInfo:
        """Return what the server says of itself."""

        async def read(session: Session) -> SessionInfo:
            return session.info

        return await self.request(read)

    def close(self) -> None:
        """End the connection, and the server if it was started here; the next request makes a new one."""
        with self._lock:
            link, self._link = self._link, None
        if link is not None:
            link.close()

    @property
    def is_open(self) -> bool:
        """Return whether the server is connected at this moment."""
        return self._link is not None and not self._link.is_over

    @property
    def number(self) -> int:
        """Return a number that changes with each new connection; 0 before the first."""
        return 0 if self._link is None else id(self._link)

    async def _open_link(self) -> "_Link":
        if self._link is None or self._link.is_over:
            await self._wait_before_retry()
        with self._lock:
            if self._link is None or self._link.is_over:
                self._link = _Link(self._spec, self._environment, self._elicit, self._make_auth)
            link = self._link
        try:
            # Shielded: another call may wait for the same connection.
            waiting = asyncio.wrap_future(link.ready)
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may wait any more
            await asyncio.shield(waiting)
        except Exception as error:  # noqa: BLE001 - the SDK and a foreign server run there
            self._failures += 1
            raise describe_failure(self._spec, error) from None
        return link

    async def _wait_before_retry(self) -> None:
        link = self._link
        if link is None:
            return
        if link.ready.done() and link.ready.exception() is None and not link.is_counted:
            link.is_counted = True
            self._failures += 1  # it was connected, and ended by itself
        if self._failures >= len(DELAYS_S):
            raise McpServerFailed(
                f"The MCP server {self._spec.name} ended, or could not be reached, {self._failures} times in a row. It "
                f"is not tried again. The last time: {link.reason}. See: toolroll mcp test {self._spec.name}"
            )
        await asyncio.sleep(max(0.0, link.ended_at + DELAYS_S[self._failures] - time.monotonic()))

    async def _elicit(self, params: ElicitRequestParams) -> ElicitResult:
        """Ask the person behind a call that is waiting; without one, decline."""
        if not self._asks:
            return ElicitResult(action="decline")
        loop, ask = self._asks[-1]

        async def ask_there() -> ElicitResult:
            return await ask(params)

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask_there(), loop))


class _Link:
    """One attempt: a thread with an event loop, which connects, serves, and cleans up."""

    def __init__(
        self, spec: ServerSpec, environment: Mapping[str, str], elicit: Ask, make_auth: MakeAuth | None
    ) -> None:
        self._spec, self._environment, self._elicit, self._make_auth = spec, environment, elicit, make_auth
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self.ready: Future[Session] = Future()
        self.is_over = False
        self.is_counted = False
        self.ended_at = 0.0
        self.reason = ""
        self._thread = threading.Thread(target=self._main, name=f"mcp-{spec.name}", daemon=True)
        # A program that ends without closing its servers leaves none of them behind.
        atexit.register(self.close)
        self._thread.start()

    async def run(self, work: Callable[[Session], Awaitable[T]], seconds: float) -> T:
        """Do work in the thread; when this is cancelled, the work is too."""
        session = self.ready.result()

        async def within_time() -> T:
            async with asyncio.timeout(seconds):
                return await work(session)

        there = within_time()
        try:
            future = asyncio.run_coroutine_threadsafe(there, self._loop)
        except RuntimeError:  # the loop has closed meanwhile
            there.close()
            raise self._ended() from None
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise self._ended() from None  # the thread was ended under the call
        except Exception as error:  # noqa: BLE001 - the SDK and a foreign server run there
            raise self._translate(error, session, seconds) from None

    def _translate(self, error: Exception, session: Session, seconds: float) -> ToolrollError:
        name = self._spec.name
        match error:
            case TimeoutError():
                return ToolTimeout(f"{name} did not answer within {seconds:g} seconds. The call was cancelled.")
            case MCPError() if error.code == CONNECTION_CLOSED and session.end.event.is_set():
                return self._ended()
            case MCPError() if error.code == REQUEST_TIMEOUT:
                return ToolTimeout(f"{name} did not answer in time. The call was cancelled.")
            case MCPError():
                told = one_line(error.error.message, _MAX_REASON_CHARACTERS)
                return ToolFailure(f"The MCP server {name} refused: {told}", code="mcp_error")
            case _:
                return describe_failure(self._spec, error)

    def close(self) -> None:
        """End the connection and wait until the server has ended."""
        atexit.unregister(self.close)
        self._is_closed = True
        with suppress(RuntimeError):  # the loop has closed already
            self._loop.call_soon_threadsafe(self._cancel)
        if threading.current_thread() is not self._thread:
            self._thread.join(CLOSE_S)

    def _ended(self) -> McpServerFailed:
        why = f": {self.reason}" if self.reason else ""
        return McpServerFailed(
            f"The connection to the MCP server {self._spec.name} ended during the call{why}. Whether it did what "
            "it was asked is not known."
        )

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - whoever waits for the connection is told
            self.reason = self.reason or _describe(error)
            if not self.ready.done():
                self.ready.set_exception(error if isinstance(error, Exception) else McpServerFailed(self.reason))
        finally:
            if not self.is_over:
                self._note_end(self.reason)
            atexit.unregister(self.close)

    async def _serve(self) -> None:
        self._task = asyncio.current_task()
        if self._is_closed:
            raise asyncio.CancelledError
        auth = None if self._make_auth is None else self._make_auth()
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self._spec.connect_seconds):
                    opening = open_session(self._spec, self._environment, elicit=self._elicit, auth=auth)
                    session = await stack.enter_async_context(opening)
            except TimeoutError:
                seconds = f"{self._spec.connect_seconds:g}"
                raise McpServerFailed(f"it did not answer within {seconds} seconds") from None
            self.ready.set_result(session)
            session.end.on_end(self._note_end)
            await session.end.event.wait()

    def _note_end(self, reason: str) -> None:
        self.reason, self.is_over, self.ended_at = reason, True, time.monotonic()


def describe_failure(spec: ServerSpec, error: BaseException) -> ToolrollError:
    """Return the error that says that the server cannot be used, and why."""
    if isinstance(error, ToolrollError) and not isinstance(error, McpServerFailed):
        return error
    place = redact_shown(one_line(spec.place, 200))
    return McpServerFailed(f"The MCP server {spec.name} cannot be used: {_describe(error)}. It is: {place}")


def _describe(error: BaseException) -> str:
    """Describe an error in one line; of a group, the first that says something."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        place = ".".join(map(str, error.errors()[0]["loc"]))
        return one_line(f"what it sent is not of the protocol ({error.title}: {place})", _MAX_REASON_CHARACTERS)
    words = str(error) or type(error).__name__
    return redact_shown(one_line(words.rstrip("."), _MAX_REASON_CHARACTERS))
