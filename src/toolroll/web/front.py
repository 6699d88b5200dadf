"""The front of the server: it sends the page at once, while agents, models and tools are still being loaded.

Loading them takes many times as long as everything else that a start does, and a browser needs none of them to show
something. So only this module and those that it imports are loaded before the socket is open.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, suppress
from threading import Thread
from typing import TYPE_CHECKING, Final

from toolroll.web.guard import HostGuard
from toolroll.web.page import PageFiles, is_page_path
from toolroll.web.problems import Problem, problem_response
from toolroll.web.server import Server

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send

LOAD_AFTER_S: Final = 0.5
"""So long after the start everything is loaded, also if no browser comes: jobs wait for it."""


class Front:
    """An application that sends the page's files itself, and hands everything else to one that it opens meanwhile.

    `open_app` is called in a thread, once: when the first file was sent, something else is asked for, or after
    LOAD_AFTER_S. If it fails, `failure` has the error, and `on_failure` is called.
    """

    def __init__(self, open_app: Callable[[], AbstractContextManager["Starlette"]]) -> None:
        self.failure: BaseException | None = None
        self.on_failure: Callable[[], None] = lambda: None
        self._open_app = open_app
        self._files = PageFiles()
        self._app: Starlette | None = None
        self._is_wanted, self._is_settled, self._is_over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, or begin and end with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if is_page_path(scope["path"]):
            await self._files(scope, receive, send)
            self._is_wanted.set()
            return
        self._is_wanted.set()
        await self._is_settled.wait()
        if self._app is None:
            refusal = Problem(503, "not_started", "The server could not start. The terminal says why.")
            await problem_response(refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _live(self, receive: "Receive", send: "Send") -> None:
        await receive()
        work = asyncio.ensure_future(self._run())
        work.add_done_callback(self._finish)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self._is_settled.is_set():
            self._is_over.set()
            await asyncio.wait([work])
        else:
            work.cancel()  # on a busy machine, loading would keep it from ending for seconds
        await send({"type": "lifespan.shutdown.complete"})

    async def _run(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOAD_AFTER_S):
                await self._is_wanted.wait()
        with ExitStack() as stack:
            app = await _run_in_thread(lambda: stack.enter_context(self._open_app()))
            async with app.router.lifespan_context(app):
                self._app = app
                self._is_settled.set()
                await self._is_over.wait()

    def _finish(self, work: "asyncio.Future[None]") -> None:
        if work.cancelled():
            return
        self.failure = work.exception()
        self._is_settled.set()
        if self.failure is not None:
            self.on_failure()


async def _run_in_thread(work: Callable[[], "Starlette"]) -> "Starlette":
    """Return what `work` returns, in a thread that a process may end without."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Starlette] = loop.create_future()

    def settle(app: "Starlette | None", error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        elif app is not None:
            done.set_result(app)

    def run() -> None:
        app, error = None, None
        try:
            app = work()
        except BaseException as raised:  # noqa: BLE001 - raised again where it is awaited
            error = raised
        with suppress(RuntimeError):  # the loop is closed: the server has ended meanwhile
            loop.call_soon_threadsafe(settle, app, error)

    Thread(target=run, daemon=True).start()
    return await done


def run_front(
    open_app: Callable[[], AbstractContextManager["Starlette"]],
    *,
    names: Collection[str],
    host: str,
    port: int,
    on_start: Callable[[int], None],
) -> None:
    """Serve the page, and then the application, until SIGTERM or Ctrl-C; raise what kept it from being opened."""
    front = Front(open_app)
    server = Server(HostGuard(front, names=names), host=host, port=port, on_start=on_start)

    def stop() -> None:
        server.should_exit = True

    front.on_failure = stop
    server.listen_and_run()
    if front.failure is not None:
        raise front.failure
