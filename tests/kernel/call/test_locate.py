"""Where the paths of a call lead: asked once, before anything is judged, and bound to what runs (XA20, XA21)."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from toolroll.errors import DefinitionError, ToolFailure
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Target
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.execute import admit
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.decorator import define_tool, tool
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.kernel.define.wrappers import WrapperTool, renamed
from toolroll.testing import RecordingApprover, call_tool, make_run


@dataclass
class Input:
    path: str


LINKS = {"link": "file", "far": "else/where"}


class Place:
    """A tool, and what it was asked and did."""

    def __init__(self, effect: str = "writes") -> None:
        self.located: list[Sequence[str]] = []
        self.used: list[tuple[Target, ...]] = []
        self.links = dict(LINKS)

        async def locate(paths: Sequence[str], _ctx: ToolContext) -> list[str]:
            self.located.append(paths)
            return [self.links.get(path, path) for path in paths]

        @tool(effect=effect, paths=["path"], locate=locate)  # type: ignore[call-overload,untyped-decorator]  # the effect is a plain text here
        async def use(path: str, ctx: ToolContext) -> str:
            """Use a path."""
            self.used.append(ctx.targets)
            return path

        self.tool: Tool = use


def run_with(*rules: Rule, approver: RecordingApprover | None = None) -> Run:
    return make_run(policy=Policy(rules), approver=approver)


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ((Rule(action="allow", path="link"),), "needs_approval"),
        ((Rule(action="allow", path="file"),), "needs_approval"),
        ((Rule(action="allow", path="link"), Rule(action="allow", path="file")), "needs_approval"),
        ((Rule(action="allow", path="*"),), None),
        ((Rule(action="allow"), Rule(action="deny", path="file")), "denied"),
        ((Rule(action="allow"), Rule(action="deny", path="link")), "denied"),
        ((Rule(action="allow"), Rule(action="deny", path="FILE")), "denied"),
        ((Rule(action="ask", path="file"),), "needs_approval"),
    ],
)
async def test_XA20_rules_judge_a_path_as_written_and_without_links(rules: tuple[Rule, ...], code: str | None) -> None:
    place = Place()
    for one in (place.tool, renamed(place.tool, "other")):
        assert (await call_tool(one, run_with(*rules), path="link")).code == code
    assert place.used == ([(Target(name="link", resolved="file"),)] * 2 if code is None else [])


async def test_XA20_a_call_is_located_once_and_only_where_something_is_judged() -> None:
    reads = Place("reads")
    await call_tool(reads.tool, make_run(), path="link")
    assert (reads.located, reads.used) == ([], [()])
    await call_tool(reads.tool, run_with(), path="link")
    assert (reads.located, reads.used[1:]) == ([("link",)], [(Target(name="link", resolved="file"),)])


async def test_XA20_the_calls_of_a_step_are_located_too() -> None:
    place, approver = Place(), RecordingApprover()
    calls = [ToolCall(id=path, name="use", arguments=f'{{"path": "{path}"}}') for path in ("link", "far", "plain")]
    results = await execute_step(
        Toolset([place.tool]), calls, run_with(Rule(action="deny", path="else/**"), approver=approver)
    )
    assert [result.code for result in results] == [None, "denied", None]
    assert [request.links for request in approver.requests] == [(Target(name="link", resolved="file"),), ()]


async def test_XA21_a_path_that_leads_elsewhere_after_the_question_is_a_stale_approval() -> None:
    place = Place()

    def swap(_request: ApprovalRequest) -> Decision:
        place.links["link"] = "other"
        return Approve()

    result = await call_tool(place.tool, make_run(approver=RecordingApprover(swap)), path="link")
    assert (result.code, place.used) == ("stale_approval", [])


async def test_XA21_a_failure_to_locate_is_the_answer_and_nothing_runs() -> None:
    used: list[str] = []

    def fail(paths: Sequence[str], _ctx: ToolContext) -> Sequence[object]:
        match paths[0]:
            case "failing":
                raise ToolFailure("no such disk", code="disk")
            case "broken":
                raise ValueError("oh")
            case "short":
                return []
            case _:
                return [1]

    @tool(paths=["path"], locate=fail)
    async def use(path: str) -> None:
        """Use a path."""
        used.append(path)

    codes = [(await call_tool(use, run_with(), path=path)).code for path in ("failing", "broken", "short", "odd")]
    assert codes[0] == "disk"
    assert all(codes)
    assert used == []


async def test_XA21_a_failure_to_locate_after_the_question_is_the_answer() -> None:
    place = Place()

    def lose(_request: ApprovalRequest) -> Decision:
        place.links["link"] = 1  # type: ignore[assignment]  # what a broken tool might say
        return Approve()

    result = await call_tool(place.tool, make_run(approver=RecordingApprover(lose)), path="link")
    assert (result.is_error, place.used) == (True, [])


async def test_XA21_a_wrapper_cannot_say_that_a_link_is_none() -> None:
    class Liar(WrapperTool):
        @property
        def locates(self) -> bool:
            return False

        async def locate(self, paths: tuple[str, ...], ctx: ToolContext) -> tuple[str, ...]:
            ctx.targets = ()
            return paths

    place = Place()
    assert (await call_tool(Liar(place.tool), run_with(Rule(action="deny", path="file")), path="link")).code == "denied"
    assert await Liar(place.tool).locate(("link",), ToolContext()) == ("link",)


async def test_XA20_wrappers_pass_it_on_and_other_tools_cannot_tell() -> None:
    @tool(effect="writes", paths=["path"])
    async def plain(path: str) -> str:
        """Use a path."""
        return path

    place, ctx = Place(), ToolContext()
    other = renamed(place.tool, "other")
    assert (other.locates, await other.locate(("link",), ctx)) == (True, ("file",))
    assert (plain.locates, await plain.locate(("link",), ctx)) == (False, ("link",))
    assert await Tool.locate(plain, ("link",), ctx) == ("link",)
    assert not Tool.locates.fget(plain)  # type: ignore[attr-defined]  # what a tool of one's own inherits
    permit = admit(plain, '{"path": "a"}', run_with(Rule(action="allow")).context())
    assert permit.targets == ()  # type: ignore[union-attr]  # a rule allows it


def test_XA20_locate_must_fit() -> None:
    with pytest.raises(DefinitionError, match="locate must be a function that takes"):
        define_tool(
            name="x",
            description="x",
            input=Input,
            execute=lambda _given, _ctx: None,
            paths=["path"],
            locate=lambda: None,
        )
    with pytest.raises(DefinitionError, match="locate= is about the parameters"):

        @tool(locate=lambda paths, _ctx: paths)
        async def use(path: str) -> str:
            """Use a path."""
            return path

    with pytest.raises(DefinitionError, match="locate= is about"):
        define_tool(
            name="x", description="x", input=Input, execute=lambda _given, _ctx: None, locate=lambda paths, _ctx: paths
        )
