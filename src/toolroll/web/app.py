"""The web application: the routes behind the guards, and a worker beside them if one is wanted."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from toolroll.apps.job_driver import JobDriver
from toolroll.apps.job_upkeep import JobUpkeep
from toolroll.apps.webhooks import WebhookSender
from toolroll.engine.engine import DEFAULT_QUEUE
from toolroll.home.settings import read_settings
from toolroll.web.api import Api, Service
from toolroll.web.guard import LOCAL_NAMES, BodyGuard, HostGuard
from toolroll.web.page_parts import PageParts
from toolroll.web.problems import Problem, problem_response
from toolroll.web.server import SHUTDOWN_SECONDS


class Mounted(Protocol):
    """An application for one path of another one, such as MCP. It begins by itself, and is closed at the end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        ...

    async def aclose(self) -> None:
        """End what it has begun."""
        ...


def make_app(
    service: Service,
    *,
    names: Collection[str] = LOCAL_NAMES,
    slots: int = 0,
    mounted: Mapping[str, Mounted] | None = None,
) -> Starlette:
    """Return the application; with `slots`, jobs are driven in the same process, so many at a time.

    If the service has sessions, the page is part of it. Applications that are `mounted`, by their path, stand behind
    the same guards, and look after their tokens themselves.
    """
    parts = mounted or {}
    page = None if service.sessions is None else PageParts(service)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        stop = asyncio.Event()
        driver = JobDriver(service.store.journal, service.environment, rates=service.store.rates)
        upkeep = JobUpkeep(service.store, WebhookSender(service.store.journal, service.environment))
        tasks = [asyncio.ensure_future(upkeep.run(stop))]
        if slots:
            overall = read_settings(service.environment).jobs.concurrency
            await service.store.engine.limit_queue(DEFAULT_QUEUE, overall)
            tasks.append(
                asyncio.ensure_future(
                    service.store.engine.work(driver, slots=slots, queues=service.store.own_queues, stop=stop)
                )
            )
        yield
        stop.set()
        if page is not None:
            await page.close()
        for part in parts.values():
            await part.aclose()
        await asyncio.wait(tasks, timeout=SHUTDOWN_SECONDS)
        for task in tasks:
            task.cancel()  # what is still driven goes on in another worker

    return Starlette(
        routes=[*Api(service).routes(), *_routes(parts), *([] if page is None else page.routes())],
        middleware=_guards(names),
        exception_handlers={HTTPException: _answer_http_error, Exception: _answer_error},
        lifespan=lifespan,
    )


def make_guarded(parts: Mapping[str, Mounted], *, names: Collection[str] = LOCAL_NAMES) -> Starlette:
    """Return an application with nothing but these, by their path, behind the guards."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        for part in parts.values():
            await part.aclose()

    return Starlette(
        routes=_routes(parts),
        middleware=_guards(names),
        exception_handlers={HTTPException: _answer_http_error, Exception: _answer_error},
        lifespan=lifespan,
    )


def _routes(parts: Mapping[str, Mounted]) -> list[Route]:
    return [Route(path, part) for path, part in parts.items()]


def _guards(names: Collection[str]) -> list[Middleware]:
    return [Middleware(HostGuard, names=names), Middleware(BodyGuard)]


async def _answer_http_error(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "refused")
    return problem_response(Problem(status, code, "There is nothing here, or not by this method."))


async def _answer_error(_request: Request, _error: Exception) -> Response:
    return problem_response(Problem(500, "unexpected", "Something unexpected went wrong. The log says what."))
