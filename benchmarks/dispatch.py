"""What one call of a tool costs: JSON arguments in, a checked call, the result as text out; no model, no network.

    python benchmarks/dispatch.py [--rounds 15] [--only NAME ...] [--save]

Everything is a ratio to the floor: pydantic alone validates the arguments, the function is awaited, pydantic writes the
result. Each contestant runs in an environment of its own, and measures the floor in its own process right before and
after itself, in turns of about a millisecond: a busy machine slows both. CPU time is what counts; wall time stands
beside it. The first run makes the environments with uv, in the user's cache folder.
"""

import argparse
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks import kit

MOST_TIMES_THE_FLOOR = 2.0
FLOOR_CALLS_A_SLICE = 50
CALIBRATING_CALLS = 10
SLICES_A_ROUND = 40

PYDANTIC = "pydantic==2.14.3"
ENVIRONMENTS: dict[str, list[str]] = {
    "pydantic": [PYDANTIC],
    "pydantic-ai": ["pydantic-ai-slim==2.66.0", PYDANTIC],
    "openai-agents": ["openai-agents==0.24.0", PYDANTIC],
    "langchain": ["langchain==1.4.7", PYDANTIC],
    "mcp": ["mcp==2.3.0", PYDANTIC],
}

Dispatch = Callable[[str], Awaitable[str]]
"""One call: its arguments as JSON, and what a model would read of its result."""


ORDER: dict[str, object] = {
    "id": "A-1",
    "note": None,
    "customer": {"name": "Ada", "email": "ada@example.org", "address": {"street": "Main 1", "city": "Bonn"}},
    "items": [{"sku": f"sku-{n}", "quantity": n + 1, "price": 9.5, "tags": ["new", "sale"]} for n in range(3)],
}
NESTED = json.dumps({"order": ORDER, "dry_run": True})
LEFT_OUT = json.dumps({"order": ORDER, "dry_run": True, "priority": None})
FLAT = json.dumps({"title": "Buy milk", "tags": ["home", "soon"], "limit": 10, "exact": False})


def order_types() -> tuple[type[Any], type[Any], Callable[..., Awaitable[Any]]]:
    """The nested arguments as one type, the result's type, and the function between them."""
    from pydantic import BaseModel

    class Address(BaseModel):
        street: str
        city: str

    class Customer(BaseModel):
        name: str
        email: str
        address: Address

    class Item(BaseModel):
        sku: str
        quantity: int
        price: float
        tags: list[str]

    class Order(BaseModel):
        id: str
        customer: Customer
        items: list[Item]
        note: str | None = None

    class Arguments(BaseModel):
        order: Order
        dry_run: bool = False

    class Receipt(BaseModel):
        order_id: str
        total: float
        lines: int
        dry_run: bool

    async def place(order: Order, dry_run: bool = False) -> Receipt:
        """Place an order."""
        total = sum(item.quantity * item.price for item in order.items)
        return Receipt(order_id=order.id, total=total, lines=len(order.items), dry_run=dry_run)

    return Arguments, Receipt, place


def floor_of(arguments: type[Any], result: type[Any], function: Callable[..., Awaitable[Any]]) -> Dispatch:
    """Validate, call, dump: what nobody who uses pydantic can go below."""
    from pydantic import TypeAdapter

    validate = TypeAdapter(arguments).validator.validate_json
    dump = TypeAdapter(result).serializer.to_json

    async def call(raw: str) -> str:
        return dump(await function(**validate(raw).__dict__)).decode()

    return call


def order_floor() -> Dispatch:
    return floor_of(*order_types())


def flat_types() -> tuple[type[Any], type[Any], Callable[..., Awaitable[Any]]]:
    """The same three for arguments without depth."""
    from pydantic import BaseModel

    class Arguments(BaseModel):
        title: str
        tags: list[str]
        limit: int = 5
        exact: bool = True

    async def find(title: str, tags: list[str], limit: int = 5, exact: bool = True) -> str:
        """Find a note."""
        return f"{title} {len(tags)} {limit} {exact}"

    return Arguments, str, find


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """How to make a dispatcher, where it runs, with which arguments, and above which floor."""

    environment: str
    make: Callable[[], Awaitable[Dispatch]]
    arguments: str = NESTED
    expected: tuple[str, ...] = ("A-1", "57.0")
    floor: Callable[[], Dispatch] = order_floor
    floor_arguments: str = NESTED


async def ours(function: Callable[..., Any], *, run: Any = None, **options: Any) -> Dispatch:
    """Our executor, all of it: a context, parsing, validation, policy, permit, the function, the result as text."""
    from toolroll import Run, tool

    made, run = tool(**options)(function), run or Run()

    async def call(raw: str) -> str:
        return (await made.execute_raw(raw, run.context("call_1"))).text

    return call


async def ours_nested() -> Dispatch:
    return await ours(order_types()[2])


async def ours_flat() -> Dispatch:
    return await ours(flat_types()[2])


async def ours_left_out() -> Dispatch:
    *_, place = order_types()
    order = place.__annotations__["order"]

    async def place_soon(order: Any, dry_run: bool = False, priority: int = 0) -> Any:
        """Place an order."""
        return await place(order, dry_run or priority > 0)

    place_soon.__annotations__["order"] = order
    return await ours(place_soon)


async def ours_depends() -> Dispatch:
    from typing import Annotated

    from toolroll import Depends

    *_, place = order_types()

    async def stock() -> dict[str, int]:
        return {}

    async def place_from(order: Any, stock: Annotated[dict[str, int], Depends(stock)], dry_run: bool = False) -> Any:
        """Place an order."""
        return await place(order, dry_run and not stock)

    place_from.__annotations__["order"] = place.__annotations__["order"]
    return await ours(place_from)


async def ours_sync() -> Dispatch:
    *_, place = order_types()

    def place_now(order: Any, dry_run: bool = False) -> Any:
        """Place an order."""
        try:
            place(order, dry_run).__await__().send(None)
        except StopIteration as done:
            return done.value

    place_now.__annotations__ |= place.__annotations__
    return await ours(place_now)


async def ours_ledger() -> Dispatch:
    from toolroll import Run

    class Ledger:
        async def intent(self, call: object, /) -> None: ...

        async def outcome(self, call: object, result: object, /) -> None: ...

    return await ours(order_types()[2], run=Run(ledger=Ledger()))


async def ours_allowed() -> Dispatch:
    from toolroll import Policy, Rule, Run

    run = Run(policy=Policy((Rule(action="allow", tool="place"),)))
    return await ours(order_types()[2], run=run, effect="writes")


async def pydantic_ai() -> Dispatch:
    ai: Any = import_module("pydantic_ai")
    messages: Any = import_module("pydantic_ai.messages")
    manager: Any = import_module("pydantic_ai.tool_manager").ToolManager
    model: Any = import_module("pydantic_ai.models.test").TestModel()
    context = ai.RunContext(deps=None, model=model, usage=ai.RunUsage(), run_step=1)
    step = await manager(ai.FunctionToolset([order_types()[2]])).for_run_step(context)

    async def call(raw: str) -> str:
        value = await step.handle_call(messages.ToolCallPart("place", raw, "call_1"))
        text: str = messages.ToolReturnPart("place", value, "call_1").model_response_str()
        return text

    return call


async def openai_agents() -> Dispatch:
    agents: Any = import_module("agents")
    context: Any = import_module("agents.tool_context").ToolContext
    item: Any = import_module("openai.types.responses").ResponseFunctionToolCall
    made = agents.function_tool(order_types()[2])

    async def call(raw: str) -> str:
        here = context(None, tool_name="place", tool_call_id="call_1", tool_arguments=raw)
        value = await made.on_invoke_tool(here, raw)
        asked = item(name="place", arguments=raw, call_id="call_1", type="function_call")
        text: str = agents.ItemHelpers.tool_call_output_item(asked, value)["output"]
        return text

    return call


async def langchain() -> Dispatch:
    """It takes arguments that somebody else has parsed, and writes a model with `str`."""
    made: Any = import_module("langchain_core.tools").StructuredTool.from_function(coroutine=order_types()[2])

    async def call(raw: str) -> str:
        asked = {"type": "tool_call", "name": "place", "id": "call_1", "args": json.loads(raw)}
        text: str = (await made.ainvoke(asked)).content
        return text

    return call


async def mcp() -> Dispatch:
    """The server's own dispatch, without a connection; it takes parsed arguments too."""
    server: Any = import_module("mcp.server.mcpserver").MCPServer("bench")
    server.add_tool(order_types()[2])

    async def call(raw: str) -> str:
        text: str = (await server.call_tool("place", json.loads(raw))).content[0].text
        return text

    return call


async def the_floor() -> Dispatch:
    return order_floor()


CONTESTANTS: dict[str, Contestant] = {
    "the floor, against itself": Contestant(environment="pydantic", make=the_floor),
    "toolroll": Contestant(environment="pydantic", make=ours_nested),
    "pydantic-ai": Contestant(environment="pydantic-ai", make=pydantic_ai),
    "openai-agents": Contestant(environment="openai-agents", make=openai_agents),
    "langchain": Contestant(environment="langchain", make=langchain),
    "mcp": Contestant(environment="mcp", make=mcp),
    "toolroll, flat arguments": Contestant(
        environment="pydantic",
        make=ours_flat,
        arguments=FLAT,
        expected=("Buy milk 2 10 False",),
        floor=lambda: floor_of(*flat_types()),
        floor_arguments=FLAT,
    ),
    "toolroll, null for what is left out": Contestant(environment="pydantic", make=ours_left_out, arguments=LEFT_OUT),
    "toolroll, one `Depends`": Contestant(environment="pydantic", make=ours_depends),
    "toolroll, sync function (a thread)": Contestant(environment="pydantic", make=ours_sync),
    "toolroll, with a ledger": Contestant(environment="pydantic", make=ours_ledger),
    "toolroll, a write that a rule allows": Contestant(environment="pydantic", make=ours_allowed),
}
OURS = "toolroll"


async def timed(call: Dispatch, raw: str, count: int) -> tuple[float, float]:
    """Wall and CPU time of that many calls, in microseconds a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        await call(raw)
    return (time.perf_counter() - wall) / count * 1e6, (time.process_time() - cpu) / count * 1e6


def run_worker(name: str) -> None:
    chosen = CONTESTANTS[name]
    made: list[Dispatch] = []

    async def handle(request: dict[str, int]) -> kit.Numbers:
        if not made:
            made.extend([chosen.floor(), await chosen.make()])
            text = await made[1](chosen.arguments)
            if not all(part in text for part in chosen.expected):
                raise SystemExit(f"{name} gave {text!r}, without {chosen.expected}")
        floor, call = made
        return await measure(chosen, floor, call, request["slices"])

    kit.serve(handle)


async def measure(chosen: Contestant, floor: Dispatch, call: Dispatch, slices: int) -> kit.Numbers:
    """One round: floor and contestant in turns of about the same length; of each the median turn."""
    count = await calls_a_slice(chosen, floor, call)
    floors, calls = [await timed(floor, chosen.floor_arguments, FLOOR_CALLS_A_SLICE)], []
    for _ in range(slices):
        calls.append(await timed(call, chosen.arguments, count))
        floors.append(await timed(floor, chosen.floor_arguments, FLOOR_CALLS_A_SLICE))
    wall, cpu = (median(one[part] for one in calls) for part in (0, 1))
    floor_wall, floor_cpu = (median(one[part] for one in floors) for part in (0, 1))
    return {"wall": wall / floor_wall, "cpu": cpu / floor_cpu, "microseconds": cpu, "floor_microseconds": floor_cpu}


async def calls_a_slice(chosen: Contestant, floor: Dispatch, call: Dispatch) -> int:
    """How many calls take as long as the floor's slice: a longer one would be interrupted more, and look worse."""
    _, one = await timed(call, chosen.arguments, CALIBRATING_CALLS)
    _, other = await timed(floor, chosen.floor_arguments, CALIBRATING_CALLS)
    return max(1, round(FLOOR_CALLS_A_SLICE * other / one))


def report(found: dict[str, list[kit.Numbers]]) -> str:
    rows = [
        [
            name,
            kit.spread([one["cpu"] for one in numbers]),
            kit.spread([one["wall"] for one in numbers]),
            f"{median(one['microseconds'] for one in numbers):.1f}",
        ]
        for name, numbers in found.items()
    ]
    pins = dict.fromkeys(pin for name in found for pin in ENVIRONMENTS[CONTESTANTS[name].environment])
    floor = median(one["floor_microseconds"] for numbers in found.values() for one in numbers)
    return f"{kit.where()}; {', '.join(pins)}. The floor took {floor:.1f} µs a call.\n\n" + kit.table(
        ["", "CPU × floor", "wall × floor", "CPU µs a call"], rows
    )


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="how often each contestant is measured (at least 2)")
    options.add_argument("--only", nargs="*", default=list(CONTESTANTS), help="which contestants")
    options.add_argument("--save", action="store_true", help="write the table to RESULTS.md")
    options.add_argument("--strict", action="store_true", help="fail when we are over budget")
    options.add_argument("--worker", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker:
        run_worker(chosen.worker)
        return 0
    places = {name: CONTESTANTS[name].environment for name in chosen.only}
    with ExitStack() as stack:
        workers = kit.open_workers(stack, __file__, {name: (env, ENVIRONMENTS[env]) for name, env in places.items()})
        kit.rounds(workers, 1, slices=2)  # imports, first calls
        found = kit.rounds(workers, max(chosen.rounds, 2), slices=SLICES_A_ROUND)
    text = report(found)
    print(text)
    if chosen.save:
        kit.save("dispatch", text)
    return int(over_budget(found) and chosen.strict)


def over_budget(found: dict[str, list[kit.Numbers]]) -> bool:
    """Print how the promised ratio stands; whether it is exceeded."""
    if OURS not in found:
        return False
    ratio = median(one["cpu"] for one in found[OURS])
    over = ratio > MOST_TIMES_THE_FLOOR
    print(f"- {OURS}: {ratio:.2f} times the floor, at most {MOST_TIMES_THE_FLOOR:g}: {'over' if over else 'kept'}")
    return over


if __name__ == "__main__":
    sys.exit(main())
