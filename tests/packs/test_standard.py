"""The standard tools, called the way a model calls them."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import KernelEvent, StateChanged
from toolroll.kernel.call.result import ToolResult
from toolroll.packs.standard import MAX_TODO_CHARACTERS, MAX_TODOS, TodoList, done, read_todos, write_todos


async def write(run: Run, *todos: dict[str, object]) -> ToolResult:
    return await write_todos.execute_raw(json.dumps({"todos": todos}), run.context())


async def ids(run: Run, *todos: dict[str, object]) -> list[str]:
    result = await write(run, *todos)
    assert not result.is_error, result.text
    return [todo.id for todo in TodoList.of_run(run).todos]


async def test_K60_done_ends_the_run_with_its_message() -> None:
    result = await done.execute_raw('{"message": "Усе зроблено."}')
    assert (result.is_final, result.is_error, result.text) == (True, False, "Усе зроблено.")


async def test_K60_done_needs_its_message() -> None:
    result = await done.execute_raw("{}")
    assert (result.is_final, result.is_error) == (False, True)
    assert "message: missing, and required" in result.text


async def test_K61_todos_are_kept_with_the_run_and_read_back() -> None:
    run, other = Run(), Run()
    await write(run, {"content": " milk "}, {"content": "bread", "status": "in_progress"})
    result = await read_todos.execute_raw("{}", run.context())
    assert json.loads(result.text) == [
        {"id": "t1", "content": "milk", "status": "pending"},
        {"id": "t2", "content": "bread", "status": "in_progress"},
    ]
    assert json.loads((await read_todos.execute_raw("{}", other.context())).text) == []


async def test_K61_a_change_is_reported_as_plain_data() -> None:
    events: list[KernelEvent] = []
    run = Run(on_event=events.append)
    await write(run, {"content": "milk"})
    value = {"todos": [{"id": "t1", "content": "milk", "status": "pending"}], "made": 1}
    assert events == [StateChanged(name="todos", value=value)]
    assert json.loads(json.dumps(value)) == value


async def test_K61_ids_stay_with_their_todos() -> None:
    run = Run()
    assert await ids(run, {"content": "a"}, {"content": "b"}, {"content": "c"}) == ["t1", "t2", "t3"]
    assert await ids(run, {"content": "c"}, {"content": "a", "status": "completed"}) == ["t3", "t1"], "by content"
    assert await ids(run, {"content": "reworded", "id": "t1"}, {"content": "c"}) == ["t1", "t3"], "by id"
    assert await ids(run, {"content": "d"}) == ["t4"], "a dropped id is not given again"
    assert await ids(run, {"content": "c"}) == ["t5"]


async def test_K61_equal_todos_have_different_ids() -> None:
    run = Run()
    assert await ids(run, {"content": "a"}, {"content": "a"}) == ["t1", "t2"]
    assert await ids(run, {"content": "a"}, {"content": "a"}, {"content": "a"}) == ["t1", "t2", "t3"]
    assert await ids(run, {"content": "a"}, {"content": "x", "id": "t1"}) == ["t2", "t1"], "a named id is taken"


@pytest.mark.parametrize(
    ("todos", "told"),
    [
        ([{"content": "a", "status": "in_progress"}] * 2, "Only one todo may be in_progress, and these 2 are: a; a."),
        ([{"content": "a", "id": "t9"}], "There is no todo with id 't9'. Known ids: t1. Leave the id out"),
        ([{"content": "a", "id": "t1"}, {"content": "b", "id": "t1"}], "The id 't1' stands twice."),
        ([{"content": "  "}], "todos[0].content: String should have at least 1 character"),
        ([{"content": "a", "status": "done"}], "todos[0].status: Input should be 'pending', 'in_progress' or 'comp"),
        ([{"content": "a" * (MAX_TODO_CHARACTERS + 1)}], "at most 500 characters"),
        ([{"content": str(n)} for n in range(MAX_TODOS + 1)], "at most 100 items"),
    ],
)
async def test_K61_what_does_not_fit_changes_nothing_and_says_what_would(
    todos: Sequence[dict[str, object]], told: str
) -> None:
    run = Run()
    await write(run, {"content": "kept"})
    before = run.state["todos"]
    result = await write(run, *todos)
    assert result.is_error
    assert told in result.text
    assert run.state["todos"] == before


async def test_K61_an_id_before_there_are_todos() -> None:
    assert "There are no todos yet" in (await write(Run(), {"content": "a", "id": "t1"})).text


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=5), max_size=5))
async def test_K61_ids_are_unique_and_never_change_hands(lists: list[list[tuple[str, bool]]]) -> None:
    run = Run()
    owner: dict[str, str] = {}
    for one in lists:
        known = {todo.id for todo in TodoList.of_run(run).todos}
        todos: list[dict[str, object]] = [
            {"content": content, "status": "completed" if finished else "pending"} for content, finished in one
        ]
        given_ids = await ids(run, *todos)
        assert len(set(given_ids)) == len(given_ids)
        for todo_id, (content, _) in zip(given_ids, one, strict=True):
            assert owner.setdefault(todo_id, content) == content
            assert todo_id in known or int(todo_id[1:]) > max((int(old[1:]) for old in known), default=0)
