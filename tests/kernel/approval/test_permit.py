"""Permits (XA1, XA3): one call, one tool, these arguments, once, and only from the executor."""

import copy
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from toolroll.errors import PermitRefused
from toolroll.kernel.approval.permit import _MINT, Grant, Permit, make_seal
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.decorator import define_tool, tool
from toolroll.kernel.define.tool import Tool


@tool(effect="writes")
async def write(text: str) -> str:
    """Write."""
    return text


@tool
async def read(text: str) -> str:
    """Read."""
    return text


CTX = ToolContext()


def permit(
    core: Tool,
    arguments: object,
    granted: Grant = "person",
    *,
    ctx: ToolContext = CTX,
    preview: Preview | None = None,
    sealed: bool = True,
) -> Permit:
    return Permit(_MINT, core, arguments, ctx, granted, make_seal(arguments) if sealed else None, preview)


@pytest.mark.parametrize("granted", ["person", "policy"])
def test_XA1_a_permit_is_good_for_its_arguments(granted: Grant) -> None:
    made = permit(write, {"text": "a"}, granted)
    assert (made.granted, made.changes, made.preview) == (granted, True, None)
    assert Permit.redeem(made, write, CTX) == {"text": "a"}


@pytest.mark.parametrize("granted", ["person", "policy"])
def test_XA3_a_change_is_made_once(granted: Grant) -> None:
    made = permit(write, {"text": "a"}, granted)
    Permit.redeem(made, write, CTX)
    with pytest.raises(PermitRefused, match="write has run with this permit"):
        Permit.redeem(made, write, CTX)


def test_XA3_what_a_person_allowed_happens_once_even_if_it_only_reads() -> None:
    made = permit(read, {"text": "a"}, "person")
    Permit.redeem(made, read, CTX)
    with pytest.raises(PermitRefused):
        Permit.redeem(made, read, CTX)


@pytest.mark.parametrize(("granted", "sealed"), [("policy", True), ("effect", True), ("effect", False)])
def test_a_read_may_be_tried_again_while_its_call_lasts(granted: Grant, sealed: bool) -> None:
    made = permit(read, {"text": "a"}, granted, sealed=sealed)
    assert not made.changes
    for _ in range(3):
        assert Permit.redeem(made, read, CTX) == {"text": "a"}
    made.expire()
    with pytest.raises(PermitRefused, match="its call is over"):
        Permit.redeem(made, read, CTX)


def test_XA3_after_its_call_a_permit_is_void() -> None:
    made = permit(write, {"text": "a"})
    made.expire()
    with pytest.raises(PermitRefused, match="its call is over"):
        Permit.redeem(made, write, CTX)


def test_XA1_another_tool_or_call_is_refused() -> None:
    @tool(name="write", effect="writes")
    async def twin(text: str) -> str:
        """Write."""
        return text

    made = permit(write, {"text": "a"})
    for other in (read, twin):
        with pytest.raises(PermitRefused, match=r"This permit is for another call \(write\)"):
            Permit.redeem(made, other, CTX)
    with pytest.raises(PermitRefused, match="for another call"):
        Permit.redeem(made, write, ToolContext(run=CTX.run, call_id=CTX.call_id))
    assert Permit.redeem(made, write, CTX) == {"text": "a"}


class Inner(BaseModel):
    name: str = "n"
    hidden: Annotated[str, Field(exclude=True, repr=False)] = "h"
    key: SecretStr = SecretStr("k")


def inside(arguments: Any) -> Inner:
    inner = arguments["items"][0]
    assert isinstance(inner, Inner)
    return inner


def test_XA1_changed_arguments_are_refused_however_deep_or_hidden() -> None:
    changes: list[Callable[[Any], object]] = [
        lambda made: setattr(made, "arguments", {"text": "b", "items": [Inner()]}),
        lambda made: setattr(made, "arguments", None),
        lambda made: made.arguments.update(text="b"),
        lambda made: made.arguments.update(more=1),
        lambda made: made.arguments.pop("text"),
        lambda made: made.arguments["items"].append(Inner()),
        lambda made: setattr(inside(made.arguments), "name", "other"),
        lambda made: setattr(inside(made.arguments), "hidden", "other"),
        lambda made: setattr(inside(made.arguments), "key", SecretStr("other")),
    ]
    for change in changes:
        for core, granted in ((write, "person"), (write, "policy"), (read, "person"), (read, "effect")):
            made = permit(core, {"text": "a", "items": [Inner()]}, granted)  # type: ignore[arg-type]
            change(made)
            with pytest.raises(PermitRefused, match=f"The arguments of {core.name} changed after they were approved"):
                Permit.redeem(made, core, CTX)


def test_XA1_arguments_put_back_as_they_were_are_the_same() -> None:
    made = permit(write, {"text": "a", "items": [1, 2]})
    made.arguments = {"items": [1, 2], "text": "a"}
    assert Permit.redeem(made, write, CTX) == {"text": "a", "items": [1, 2]}


def test_XA1_what_the_preview_hands_over_is_bound_too() -> None:
    shown = Preview(kind="text", text="t", payload={"content": ["one"]})
    made = permit(write, {"text": "a"}, preview=shown)
    assert isinstance(shown.payload, dict)
    shown.payload["content"].append("two")
    with pytest.raises(PermitRefused, match="changed after they were approved"):
        Permit.redeem(made, write, CTX)


def test_XA1_the_tool_gets_the_preview_that_was_approved() -> None:
    ctx, shown = ToolContext(), Preview(kind="text", text="t", payload="content")
    made = permit(write, {"text": "a"}, ctx=ctx, preview=shown)
    ctx.preview = Preview(kind="text", text="t", payload="something else")
    Permit.redeem(made, write, ctx)
    assert ctx.preview is shown
    with pytest.raises(AttributeError):
        made.preview = None  # type: ignore[misc]


def test_K40_a_tool_that_changes_something_needs_more_than_its_own_word() -> None:
    made = permit(write, {"text": "a"}, "effect")
    for one in (made, permit(write, {"text": "a"}, "effect", sealed=False)):
        with pytest.raises(PermitRefused, match="write needs an approval, and nobody was asked"):
            Permit.redeem(one, write, CTX)
    with pytest.raises(AttributeError):
        made.granted = "person"  # type: ignore[misc]


def test_K40_leave_can_be_required_of_a_read_as_well() -> None:
    permit(read, {"text": "a"}, "person").require_leave("read")
    permit(read, {"text": "a"}, "policy").require_leave("read")
    with pytest.raises(PermitRefused, match="read needs an approval"):
        permit(read, {"text": "a"}, "effect").require_leave("read")
    made = permit(read, {"text": "a"})
    made.arguments = {"text": "b"}
    with pytest.raises(PermitRefused, match="changed"):
        made.require_leave("read")


def test_XA2_nobody_else_writes_permits() -> None:
    for mint in (None, object(), True, "mint"):
        with pytest.raises(PermitRefused, match="Only the executor writes permits"):
            Permit(mint, write, {"text": "a"}, CTX, "person", make_seal({"text": "a"}))


class Generous(Permit):
    """Redeems for anybody."""

    __slots__ = ()

    def redeem(self, core: Tool, ctx: ToolContext) -> object:
        return {"text": "evil"}


class LookAlike:
    """Has all that a permit has."""

    arguments = MappingProxyType({"text": "evil"})
    granted, preview, changes = "person", None, True

    def redeem(self, core: Tool, ctx: ToolContext) -> object:
        return self.arguments

    def require_leave(self, name: str) -> None:
        return

    def expire(self) -> None:
        return


class Entry(BaseModel):
    text: str


written = define_tool(
    name="enter", description="d", input=Entry, effect="writes", execute=lambda entry, ctx: pytest.fail("it ran")
)


@pytest.mark.parametrize("core", [write, written], ids=["function", "input"])
async def test_XA2_an_object_that_looks_like_a_permit_is_none(core: Tool) -> None:
    generous = Generous(_MINT, core, {"text": "evil"}, CTX, "person", make_seal({"text": "evil"}))
    fake: Permit = LookAlike()  # type: ignore[assignment]  # that is the attack
    for false in (generous, fake):
        with pytest.raises(PermitRefused, match="with a permit of the executor only"):
            await core.invoke(false, CTX)


def test_XA3_a_permit_cannot_be_copied() -> None:
    made = permit(write, {"text": "a"})
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PermitRefused, match="cannot be copied"):
            duplicate(made)


def test_seals_tell_apart_what_is_different() -> None:
    values: list[object] = [
        *({}, [], "", 0, None, {"a": 1}, {"a": "1"}, {"a": [1]}, {"a": {"b": 1}}, [1, 2], [2, 1], ["1,2"], "[1,2]"),
        *(Inner(), Inner(name="x"), Inner(hidden="x"), Inner(key=SecretStr("x")), True, 1.5, {"a": None}),
    ]
    assert len({make_seal(value) for value in values}) == len(values)
    assert make_seal({"a": 1, "b": {1, 2}}) == make_seal({"b": {2, 1}, "a": 1})


def test_XA1_only_the_executor_says_what_a_permit_is_for() -> None:
    shown = Preview(kind="text", text="t")
    with pytest.raises(PermitRefused, match="Only the executor"):
        permit(write, {"text": "a"}).show(object(), shown)
    with pytest.raises(PermitRefused, match="Only the executor"):
        permit(write, {"text": "a"}, preview=shown).show(_MINT, shown)
