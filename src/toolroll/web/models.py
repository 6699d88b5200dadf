"""What goes over the wire of the HTTP API: requests and answers, and the OpenAPI document made from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from toolroll._version import __version__
from toolroll.engine.engine import JobState
from toolroll.home.tokens import Scope
from toolroll.packs.research.prompts import MAX_CONTEXT_CHARACTERS, MAX_IDEA_CHARACTERS

MAX_PAGE: Final = 200
_PATH_PARAMETERS: Final = {
    "job_id": {"type": "string", "pattern": "^job-[0-9a-f]{32}$"},
    "chat_id": {"type": "string", "pattern": "^[0-9a-zA-Z._-]{1,200}$"},
    "post_id": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    "profile": {"type": "string", "pattern": "^[a-z0-9-]{1,64}$"},
}


class _Body(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class ExplorationRequest(_Body):
    """An idea to explore."""

    idea: str = Field(min_length=1, max_length=MAX_IDEA_CHARACTERS, pattern=r"\S")
    mode: Literal["business", "exploration"] = "exploration"
    context: str = Field(default="", max_length=MAX_CONTEXT_CHARACTERS)
    model: str | None = Field(default=None, min_length=1, max_length=200)
    update: bool = False
    continue_from: str | None = Field(default=None, min_length=1, max_length=200)
    two_phase: bool = False
    priority: int = Field(default=0, ge=-100, le=100)
    webhook: str | None = Field(default=None, min_length=1, max_length=2_000)


class Answer(_Body):
    """A person's answer to a question of a job."""

    call_id: str = Field(min_length=1, max_length=200)
    decision: Literal["approve", "reject"]
    reason: str | None = Field(default=None, max_length=2_000)


class StepModel(_Body):
    """One step of a job."""

    name: str
    state: Literal["pending", "running", "waiting", "done", "failed"]
    started_at: str | None
    ended_at: str | None
    attempts: int
    error: str | None


class QuestionModel(_Body):
    """What a job asks a person, with what the person is to look at."""

    call_id: str
    tool: str
    preview: str
    why: str


class DeliveryModel(_Body):
    """One try to tell the address of a job."""

    id: str
    event: str
    at: str
    status: int | None
    error: str | None


class JobModel(_Body):
    """A job with its steps."""

    id: str
    app: Literal["explore", "code"]
    title: str
    model: str
    state: JobState
    queue: str
    priority: int
    attempts: int
    last_error: str | None
    created: str
    updated: str
    not_before: str | None
    steps: tuple[StepModel, ...]
    questions: tuple[QuestionModel, ...]
    runs: tuple[str, ...]
    result: str | None
    waits_for_limit: str | None
    schedule: str | None
    webhook: str | None
    deliveries: tuple[DeliveryModel, ...]


class JobPage(_Body):
    """Jobs, the newest first; `next` is the `after` of the next page."""

    jobs: tuple[JobModel, ...]
    next: str | None


class ProblemModel(BaseModel):
    """What was wrong with a request."""

    type: str
    title: str
    status: int
    code: str
    detail: str


class Health(_Body):
    """Whether the service works."""

    status: Literal["ok"]


Access: TypeAlias = Scope | Literal["page"]
"""What an operation needs: a scope of a token, or the session of the page, which may do all that tokens may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path, as the OpenAPI document describes it."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    summary: str
    scope: Access | None
    status: int = 200
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    media_type: str = "application/json"
    query: Mapping[str, Mapping[str, Any]] | None = None
    header: Mapping[str, Mapping[str, Any]] | None = None
    problems: Sequence[int] = ()


def make_openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of these operations."""
    models = {model for one in operations for model in (one.body, one.answer) if model is not None} | {ProblemModel}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _describe(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "toolroll",
            "version": __version__,
            "description": "Jobs of toolroll: queue, follow, answer.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "page": {"type": "apiKey", "in": "cookie", "name": "toolroll", "description": "The page's session."},
            },
        },
    }


def _describe(one: Operation) -> dict[str, Any]:
    shown: dict[str, Any] = {"operationId": one.name, "summary": one.summary, "responses": _responses(one)}
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name, schema in _PATH_PARAMETERS.items()
        if f"{{{name}}}" in one.path
    ]
    parameters += [{"name": name, "in": "query", "schema": dict(schema)} for name, schema in (one.query or {}).items()]
    parameters += [
        {"name": name, "in": "header", "schema": dict(schema)} for name, schema in (one.header or {}).items()
    ]
    if parameters:
        shown["parameters"] = parameters
    if one.body is not None:
        shown["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(one.body)}}}
    if one.scope == "page":
        shown["security"] = [{"page": []}]
        shown["description"] = "For the page: needs its session."
    elif one.scope is not None:
        shown["security"] = [{"token": []}, {"page": []}]
        shown["description"] = f"Needs a token with the scope `{one.scope}`, or the session of the page."
    return shown


def _responses(one: Operation) -> dict[str, Any]:
    schema = {"type": "string"} if one.answer is None else _ref(one.answer)
    problem = {"application/problem+json": {"schema": _ref(ProblemModel)}}
    found: dict[str, Any] = {str(one.status): {"description": "Done.", "content": {one.media_type: {"schema": schema}}}}
    always = (400, 408, 413, 421, 503) + (() if one.scope is None else (401, 403))
    for status in sorted({*always, *one.problems}):
        found[str(status)] = {"description": "See the problem.", "content": problem}
    return found


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
