"""Routes from a table of operations: who may, what comes in, and what an error becomes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolroll.errors import ToolrollError
from toolroll.home.tokens import Token, TokenBook
from toolroll.web.models import Access, Health, Operation
from toolroll.web.problems import Problem, problem_of, problem_response
from toolroll.web.sessions import Sessions

Model = TypeVar("Model", bound=BaseModel)
Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doorkeeper:
    """Knows who is let in: by a token, or by the session of the page if there is a page."""

    tokens: TokenBook
    sessions: Sessions | None = None

    def check(self, request: Request, access: Access) -> Token:
        """Return who sent a request; Problem if they may not do this."""
        person = None if self.sessions is None else self.sessions.find(request)
        if person is not None:
            return person
        if access == "page":
            raise Problem(401, "unauthorized", "This is for the page only. Open the link that 'toolroll serve' shows.")
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        token = self.tokens.find(secret.strip()) if kind.casefold() == "bearer" else None
        if token is None:
            raise Problem(401, "unauthorized", "Send a token: 'Authorization: Bearer TOKEN'. See 'toolroll tokens'.")
        if access not in token.scopes:
            raise Problem(403, "forbidden", f"The token '{token.name}' does not have the scope '{access}'.")
        return token


def make_routes(handlers: object, operations: Sequence[Operation], doorkeeper: Doorkeeper) -> list[Route]:
    """Return a route for each operation; the method of that name handles it."""
    return [
        Route(one.path, _guard(getattr(handlers, one.name), one, doorkeeper), methods=[one.method], name=one.name)
        for one in operations
    ]


def _guard(handle: Callable[..., Awaitable[Response]], operation: Operation, doorkeeper: Doorkeeper) -> Handler:
    @wraps(handle)
    async def guarded(request: Request) -> Response:
        try:
            if operation.scope is None:
                return await handle(request)
            return await handle(request, doorkeeper.check(request, operation.scope))
        except Problem as problem:
            return problem_response(problem)
        except ToolrollError as error:
            return problem_response(problem_of(error))

    return guarded


async def read_body(request: Request, model: type[Model]) -> Model:
    """Return the body of a request; Problem if it is not JSON, or not of this form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind != "application/json":
        raise Problem(415, "not_json", "Send the body as application/json.")
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Problem(400, "invalid_body", f"{f'{where}: ' if where else ''}{first['msg']}.") from None


def answer_with(model: BaseModel) -> Response:
    """Return a response with this body."""
    return Response(model.model_dump_json(), media_type="application/json")


def chat_path_id(request: Request) -> str:
    """Return the id of the chat that the path names."""
    chat_id: str = request.path_params["chat_id"]
    return chat_id


def chat_operation(
    name: str, summary: str, *, path: str = "", body: type[BaseModel] | None = None, **more: Any
) -> Operation:
    """Return an operation on one chat that only the page may use; a change if nothing else is said."""
    return Operation(
        method=more.pop("method", "POST"),
        path=f"/api/chats/{{chat_id}}{path}",
        name=name,
        summary=summary,
        scope="page",
        body=body,
        answer=more.pop("answer", Health),
        problems=(404, 409, *((415,) if body is not None else ())),
        **more,
    )
