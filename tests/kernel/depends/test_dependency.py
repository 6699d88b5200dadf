"""How providers are read, and which graphs of them are refused before anything runs."""

import functools
import gc
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Optional

import pytest

from toolroll import DependencyKey, Depends, ToolContext, tool
from toolroll.errors import DefinitionError, DependencyCycle, DependencyError
from toolroll.kernel.depends.dependency import (
    CONTEXT,
    check_graph,
    find_injection,
    get_identity,
    get_maker,
    get_name,
    get_scope,
    read_provider,
)


class Db:
    pass


def get_db() -> Db:
    return Db()


DB = Annotated[Db, Depends(get_db)]


# --- Which parameters are injected -------------------------------------------------------------------------


class MyContext(ToolContext):
    pass


@pytest.mark.parametrize(
    "annotation",
    [
        ToolContext,
        MyContext,
        ToolContext | None,
        Optional[ToolContext],  # noqa: UP045 - the old spelling is another type
        Annotated[ToolContext, "note"],
        Annotated[ToolContext | None, "note"],
        Annotated[ToolContext, "note"] | None,
    ],
)
def test_K6_every_spelling_of_the_context_is_injected(annotation: object) -> None:
    assert find_injection(annotation) == CONTEXT


@pytest.mark.parametrize("annotation", [DB, DB | None, Annotated[DB, "note"], Annotated[DB | None, "note"]])
def test_K6_every_spelling_of_depends_is_injected(annotation: object) -> None:
    assert find_injection(annotation) == Depends(get_db)


@pytest.mark.parametrize("annotation", [None, int, "ToolContext", list[ToolContext], dict[str, DB], int | None])
def test_K6_other_annotations_are_not(annotation: object) -> None:
    assert find_injection(annotation) is None


# --- Reading ----------------------------------------------------------------------------------------------


def test_K20_each_kind_of_provider_is_recognised() -> None:
    async def later() -> int:
        return 1

    def steps() -> Iterator[int]:
        yield 1

    async def later_steps() -> AsyncIterator[int]:
        yield 1

    class Later:
        async def __call__(self) -> int:
            return 1

    kinds = [read_provider(make).kind for make in (get_db, later, steps, later_steps, Db, Later(), dict)]
    assert kinds == ["sync", "async", "sync_generator", "async_generator", "sync", "async", "sync"]
    assert read_provider(functools.partial(later)).kind == "async"
    assert read_provider(staticmethod(later)).kind == "async"


def test_K20_what_a_provider_needs_is_read_from_its_annotations() -> None:
    def repository(db: DB, ctx: ToolContext, size: int = 3, *rest: int, **more: int) -> None: ...

    assert read_provider(repository).needs == (("db", Depends(get_db)), ("ctx", CONTEXT))
    assert read_provider(repository).name.endswith("<locals>.repository")


def test_K20_classes_are_providers() -> None:
    class Service:
        def __init__(self, db: DB) -> None: ...

    @dataclass
    class Data:
        db: DB
        size: int = 3

    class Named(NamedTuple):
        db: DB

    for make in (Service, Data, Named):
        assert read_provider(make).needs == (("db", Depends(get_db)),)


def test_K20_methods_and_objects_are_providers() -> None:
    class Factory:
        def make(self, db: DB) -> int:
            return 1

        @classmethod
        def build(cls, db: DB) -> int:
            return 2

        def __call__(self, db: DB) -> int:
            return 3

    factory = Factory()
    for make in (factory.make, factory.make, factory.build, Factory.build, factory):
        assert read_provider(make).needs == (("db", Depends(get_db)),)


def test_K20_what_a_partial_has_bound_is_not_asked_for() -> None:
    def repository(table: str, db: DB) -> None: ...

    assert read_provider(functools.partial(repository, "users")).needs == (("db", Depends(get_db)),)
    assert read_provider(functools.partial(repository, "users", db=Db())).needs == ()


def test_K20_a_decorated_provider_is_read_through_its_wrapper() -> None:
    def loud(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @loud
    def repository(db: DB) -> None: ...

    assert read_provider(repository).needs == (("db", Depends(get_db)),)


def _bare(db) -> None: ...  # type: ignore[no-untyped-def]


def _positional(db: DB, /) -> None: ...


def _positional_default(db: Annotated[Db | None, Depends(get_db)] = None, /) -> None: ...


def _variadic(*db: DB) -> None: ...


def _plain(db: Db) -> None: ...


@pytest.mark.parametrize("make", [_bare, _positional, _positional_default, _variadic, _plain])
def test_K20_a_parameter_that_nobody_can_provide_is_refused_by_name(make: Callable[..., None]) -> None:
    with pytest.raises(DependencyError, match=rf"Provider {make.__name__}: nobody can provide its parameter 'db'"):
        read_provider(make)


def test_K20_an_annotation_that_cannot_be_read_is_refused_by_name() -> None:
    def repository(db: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(DefinitionError, match=r"Provider .*repository: the annotation of parameter 'db'.*Missing"):
        read_provider(repository)


def test_K20_what_a_provider_returns_may_be_known_to_type_checkers_only() -> None:
    def repository(db: DB) -> "Missing": ...  # type: ignore[name-defined]  # noqa: F821

    assert read_provider(repository).needs == (("db", Depends(get_db)),)


def test_K20_a_provider_that_is_gone_is_forgotten() -> None:
    def make() -> None: ...

    read_provider(make)
    gone = weakref.ref(make)
    del make
    gc.collect()
    assert gone() is None


# --- Marks ------------------------------------------------------------------------------------------------


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self) -> None: ...


def test_K20_depends_takes_the_function_and_not_its_result() -> None:
    with pytest.raises(DependencyError, match=r"Depends takes the function.*\(get_db\), not \(get_db\(\)\)"):
        Depends(get_db())  # type: ignore[arg-type]
    with pytest.raises(DependencyError, match="DependencyKey takes the function"):
        DependencyKey("db", get_db())  # type: ignore[arg-type]
    with pytest.raises(DependencyError, match=r"has no hash\. Use a function"):
        Depends(Unhashable())


def test_K23_a_scope_is_call_or_run() -> None:
    with pytest.raises(DependencyError, match="'call' or 'run', not 'session'"):
        Depends(get_db, scope="session")  # type: ignore[arg-type]
    with pytest.raises(DependencyError, match="'call' or 'run'"):
        DependencyKey("db", get_db, scope="session")  # type: ignore[arg-type]


def test_K21_a_key_needs_an_id() -> None:
    with pytest.raises(DependencyError, match="needs an id"):
        DependencyKey("", get_db)


def test_K21_a_key_is_known_by_its_id_and_a_function_by_itself() -> None:
    key: DependencyKey[Db] = DependencyKey("db", get_db)
    assert (get_identity(Depends(key)), get_maker(Depends(key))) == ("db", get_db)
    assert (get_identity(Depends(get_db)), get_maker(Depends(get_db))) == (get_db, get_db)
    assert (get_name("db"), get_name(get_db)) == ("db", "get_db")
    partial = functools.partial(get_db)
    assert get_name(partial) == repr(partial)


def test_K23_the_wider_scope_of_key_and_mark_counts() -> None:
    in_run: DependencyKey[Db] = DependencyKey("db", get_db, "run")
    in_call: DependencyKey[Db] = DependencyKey("db", get_db)
    assert [get_scope(Depends(in_run)), get_scope(Depends(in_call)), get_scope(Depends(in_call, "run"))] == [
        "run",
        "call",
        "run",
    ]


# --- Graphs -----------------------------------------------------------------------------------------------


def chicken(egg: "Annotated[int, Depends(egg)]") -> int:
    return egg


def egg(chicken: Annotated[int, Depends(chicken)]) -> int:
    return chicken


def narcissus(self_: "Annotated[int, Depends(narcissus)]") -> int:
    return self_


def leads_to_cycle(first: Annotated[int, Depends(chicken)]) -> int:
    return first


def test_K23_a_cycle_is_refused_and_named_when_the_tool_is_made() -> None:
    def count(x: Annotated[int, Depends(leads_to_cycle)]) -> int:
        return x

    with pytest.raises(DependencyCycle) as caught:
        tool("Count.")(count)
    assert caught.value.cycle == ("chicken", "egg", "chicken")
    assert caught.value.message == "Dependencies form a cycle: chicken -> egg -> chicken. Break it at one of them."
    assert caught.value.__notes__ == ["tool count, parameter 'x'"]


def test_K23_a_provider_that_needs_itself_is_a_cycle() -> None:
    with pytest.raises(DependencyCycle) as caught:
        check_graph(Depends(narcissus))
    assert caught.value.cycle == ("narcissus", "narcissus")


def test_K23_a_value_for_the_run_cannot_need_one_of_the_call() -> None:
    def pool(db: DB) -> int:
        return 1

    def pool_of_run(db: Annotated[Db, Depends(get_db, "run")]) -> int:
        return 1

    with pytest.raises(DependencyError, match=r'pool lives for the whole run but needs get_db.*scope="run"'):
        check_graph(Depends(pool, "run"))
    check_graph(Depends(pool))
    check_graph(Depends(pool_of_run, "run"))


def test_K23_many_ways_to_one_value_are_no_cycle_and_cost_nothing() -> None:
    def level(needed: Callable[..., int]) -> Callable[..., int]:
        def both(a: int, b: int) -> int:
            return a + b

        both.__annotations__ = {"a": Annotated[int, Depends(needed)], "b": Annotated[int, Depends(needed)]}
        return both

    make: Callable[..., int] = int
    for _ in range(60):  # 2 ** 60 ways
        make = level(make)
    check_graph(Depends(make))


# --- Never a model's ---------------------------------------------------------------------------------------


def test_K6_an_injected_value_inside_another_type_is_refused() -> None:
    """Taken as a plain mark, it would let a model send what was meant to be injected."""
    from pydantic import BaseModel, PydanticUserError

    def several(dbs: list[Annotated[str, Depends(get_db)]]) -> int:
        return 1

    with pytest.raises(DefinitionError, match=r"parameter 'dbs'.*only a parameter itself can be injected") as caught:
        tool("Take.")(several)
    assert caught.value.parameter == "dbs"
    with pytest.raises(PydanticUserError, match="only a parameter itself"):
        type("Model", (BaseModel,), {"__annotations__": {"db": Annotated[str, DependencyKey("db", get_db)]}})
