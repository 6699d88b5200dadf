"""The tools that every agent can use: `done` (K60), `write_todos` and `read_todos` (K61).

`done` is the clear way to end a run; an answer without a tool call ends it as well.

The run keeps the list of todos as plain JSON data under `todos`, so that whatever records the run can record it too.
Every surface shows it as it changes. A todo keeps its id as long as its id or its content comes back, and a number that
was used is not used again.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field, StringConstraints

from toolroll.errors import ToolFailure
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.result import Done
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool

MAX_TODOS: Final = 100
"""A plan that one reader can follow, with room to spare; the list is sent back on every write."""

MAX_TODO_CHARACTERS: Final = 500
"""A todo is one line; what needs more is several todos."""

STATE: Final = "todos"

Status: TypeAlias = Literal["pending", "in_progress", "completed"]
Content: TypeAlias = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TODO_CHARACTERS)
]


@tool
async def done(
    message: Annotated[
        str, Field(description="What the user reads last: the answer, or what was done and what is not.")
    ],
) -> Done:
    """End the run with a final message for the user. Call it once, when everything is finished."""
    return Done(message)


class Todo(BaseModel):
    """One thing to do, as the run stores it."""

    id: str
    content: Content
    status: Status = "pending"


class TodoList(BaseModel):
    """All todos of a run in order; `made` counts the ids ever given."""

    todos: list[Todo] = Field(default_factory=list)
    made: int = 0

    @classmethod
    def of_run(cls, run: Run) -> "TodoList":
        """Return the todo list of the run; an empty one at first."""
        return cls.model_validate(run.state.get(STATE) or {})


class TodoLine(BaseModel):
    """One todo as a model writes it."""

    content: Annotated[Content, Field(description="What is to be done, in one line.")]
    status: Annotated[Status, Field(description="At most one todo may be in_progress.")] = "pending"
    id: Annotated[
        str | None, Field(description="The id of a todo that exists, to reword it. Leave it out for a new one.")
    ] = None


@tool
async def write_todos(
    todos: Annotated[
        list[TodoLine],
        Field(max_length=MAX_TODOS, description="The whole list in order; what is not in it is dropped."),
    ],
    ctx: ToolContext,
) -> list[Todo]:
    """Write down the whole list of todos for this run. It replaces the list before; ids stay with their todos."""
    _refuse_two_in_progress(todos)
    before = TodoList.of_run(ctx.run)
    after = _number_todos(todos, before)
    # An async function: state changes are reported where the event loop runs, not from a thread.
    ctx.run.set_state(STATE, after.model_dump(mode="json"))
    return after.todos


@tool
async def read_todos(ctx: ToolContext) -> list[Todo]:
    """Read the list of todos with their ids and statuses."""
    return TodoList.of_run(ctx.run).todos


TOOLS: Final[tuple[Tool, ...]] = (done, write_todos, read_todos)


def _refuse_two_in_progress(todos: Sequence[TodoLine]) -> None:
    active = [todo.content for todo in todos if todo.status == "in_progress"]
    if len(active) > 1:
        raise ToolFailure(
            f"Only one todo may be in_progress, and these {len(active)} are: {'; '.join(active)}. "
            "Set the others to pending or completed, and write the list again.",
            code="two_in_progress",
        )


def _number_todos(todos: Sequence[TodoLine], before: TodoList) -> TodoList:
    ids = _ids_by_name(todos, before)
    free = [todo for todo in before.todos if todo.id not in ids]
    made = before.made
    for index, todo in enumerate(todos):
        if ids[index] is not None:
            continue
        same = next((old for old in free if old.content == todo.content), None)
        if same is None:
            made += 1
            ids[index] = f"t{made}"
        else:
            free.remove(same)
            ids[index] = same.id
    numbered = [
        Todo(id=str(one), content=todo.content, status=todo.status) for one, todo in zip(ids, todos, strict=True)
    ]
    return TodoList(todos=numbered, made=made)


def _ids_by_name(todos: Sequence[TodoLine], before: TodoList) -> list[str | None]:
    """Return the ids that the model named; each must exist and be used once."""
    known = [todo.id for todo in before.todos]
    named = [todo.id for todo in todos]
    for index, one in enumerate(named):
        if one is not None and one not in known:
            known_ids = f"Known ids: {', '.join(known)}" if known else "There are no todos yet"
            text = f"There is no todo with id {one[:64]!r}. {known_ids}. Leave the id out for a new one."
            raise ToolFailure(text, code="unknown_todo")
        if one is not None and one in named[:index]:
            text = f"The id {one!r} stands twice. Give it to one todo, and leave it out for the other."
            raise ToolFailure(text, code="unknown_todo")
    return list(named)
