"""Which tools of a request are strict: within the budgets, the costliest give way first, and each says why."""

import json
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernel.strict.strict_support import Kinds, optional_count, plain_schemas, union_count

from toolroll.errors import DefinitionError
from toolroll.kernel.strict.plan import StrictPlan, ToolShape, plan_strict
from toolroll.kernel.strict.rules import StrictRules
from toolroll.models.strict import ANTHROPIC, OPENAI

Wish = Literal["require", "prefer", "off"]
WISHES: tuple[Wish, ...] = ("require", "prefer", "off")


def shape(name: str, *, optional: int = 0, unions: int = 0, plain: int = 0, strict: Wish = "prefer") -> ToolShape:
    properties: dict[str, Any] = {f"o{n}": {"type": "string"} for n in range(optional)}
    properties |= {f"u{n}": {"type": ["string", "null"]} for n in range(unions)}
    properties |= {f"p{n}": {"type": "string"} for n in range(plain)}
    required = [name for name in properties if not name.startswith("o")]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ToolShape(name=name, schema=schema, strict=strict)


FREE = ToolShape(name="free", schema={"type": "object", "properties": {"changes": {"type": "object"}}})


def strict_names(plan: StrictPlan) -> list[str]:
    return [tool.name for tool in plan.tools if tool.strict]


def test_K11_tools_that_fit_are_all_strict_in_the_given_order() -> None:
    tools = [shape("b", optional=2), shape("a", plain=1), shape("c", unions=1)]
    plan = plan_strict(tools, ANTHROPIC)
    assert strict_names(plan) == ["b", "a", "c"]
    assert plan.explain().splitlines() == [
        "anthropic: 3 of 3 tools strict, 3 of 16 union-typed parameters, 0 of 24 optional parameters",
        "b: strict: every parameter is required",
        "a: strict: every parameter is required",
        "c: strict: every parameter is required",
    ]


def test_K11_a_tool_without_strict_form_is_sent_plain_and_alone() -> None:
    plan = plan_strict([FREE, shape("a", plain=1)], OPENAI)
    assert strict_names(plan) == ["a"]
    assert plan.tools[0].schema is FREE.schema
    assert plan.explain().splitlines() == [
        "openai: 1 of 2 tools strict",
        "free: not strict: parameters.changes: a free-form map has no strict form",
        "a: strict: every parameter is required",
    ]


def test_K11_more_than_sixteen_unions_move_tools_to_absent_before_any_gives_way() -> None:
    tools = [shape("small", optional=2), shape("large", optional=14), shape("unions", unions=4)]
    plan = plan_strict(tools, ANTHROPIC)
    assert strict_names(plan) == ["small", "large", "unions"]
    assert plan.tools[0].schema["required"] == ["o0", "o1"]
    assert plan.tools[1].schema["required"] == []
    assert "6 of 16 union-typed parameters, 14 of 24 optional parameters" in plan.explain()
    assert plan.tools[1].reason == "14 parameters may be left out"


def test_K11_both_budgets_together_hold_forty_optional_parameters() -> None:
    tools = [shape(f"t{n}", optional=8) for n in range(5)]
    assert len(strict_names(plan_strict(tools, ANTHROPIC))) == 5
    plan = plan_strict([*tools, shape("more", optional=1)], ANTHROPIC)
    assert len(strict_names(plan)) == 5
    nine = plan_strict([shape("more", optional=9), *tools], ANTHROPIC)
    assert strict_names(nine) == ["t0", "t1", "t2", "t3", "t4"]
    assert nine.tools[0].reason == "9 optional parameters, the request allows 24 and this was the costliest of 6"
    # Taking the largest first would fill 13 of the 24 and leave 24 for the 16.
    exact = [shape(f"t{n}", optional=n, strict="require") for n in (13, 12, 12)]
    assert len(strict_names(plan_strict(exact, ANTHROPIC))) == 3


def test_K11_the_costliest_tools_give_way_first() -> None:
    tools = [shape("one", unions=1), shape("nine", unions=9), shape("eight", unions=8), shape("two", unions=2)]
    plan = plan_strict(tools, ANTHROPIC)
    assert strict_names(plan) == ["one", "eight", "two"]
    assert plan.tools[1].reason == ("9 union-typed parameters, the request allows 16 and this was the costliest of 4")
    assert plan.tools[1].schema is tools[1].schema


def test_K11_more_than_twenty_tools_cost_the_largest_ones() -> None:
    tools = [shape(f"t{n:02}", plain=n) for n in range(31)]
    plan = plan_strict(tools, ANTHROPIC)
    assert [f"t{n:02}" for n in range(20)] == strict_names(plan)
    assert plan.tools[30].reason == "the request allows 20 strict tools and this was the costliest of 31"
    assert plan.tools[20].reason == "the request allows 20 strict tools and this was the costliest of 21"
    assert len(strict_names(plan_strict(tools, OPENAI))) == 31


def test_K11_of_equal_tools_the_last_gives_way() -> None:
    plan = plan_strict([shape("a", unions=9), shape("b", unions=9)], ANTHROPIC)
    assert strict_names(plan) == ["a"]


def test_K11_a_ceiling_that_was_met_can_be_set() -> None:
    plan = plan_strict([shape("a", plain=3), shape("b", plain=8)], replace(OPENAI, max_cost=12))
    assert strict_names(plan) == ["a"]
    assert plan.tools[1].reason == "9 parts, the request allows 12 and this was the costliest of 2"


def test_K11_a_tool_leaves_with_all_it_costs_in_its_reason() -> None:
    tools = [shape("a", optional=9, unions=9), shape("b", unions=8), shape("c", optional=20)]
    plan = plan_strict(tools, ANTHROPIC)
    assert strict_names(plan) == ["b", "c"]
    assert plan.tools[0].reason == (
        "9 optional parameters and 9 union-typed parameters, the request allows 24 and 16 "
        "and this was the costliest of 3"
    )


def test_K11_rules_without_a_limit_on_optional_parameters_move_all_that_is_needed() -> None:
    rules = replace(ANTHROPIC, max_optional_parameters=None)
    plan = plan_strict([shape(f"t{n}", optional=30) for n in range(3)], rules)
    assert strict_names(plan) == ["t0", "t1", "t2"]
    assert "0 of 16 union-typed parameters" in plan.explain()
    only_absent = replace(ANTHROPIC, optional="absent", takes_absent=False)
    left = plan_strict([shape("a", optional=20), shape("b", optional=5)], only_absent)
    assert strict_names(left) == ["b"]
    assert left.tools[0].reason == "20 optional parameters, the request allows 24 and this was the costliest of 2"


def test_K11_a_tool_that_requires_strictness_stays_whatever_it_costs() -> None:
    tools = [shape("small", unions=1), shape("must", unions=16, strict="require")]
    plan = plan_strict(tools, ANTHROPIC)
    assert strict_names(plan) == ["must"]
    assert plan.tools[0].reason == "1 union-typed parameters, the request allows 16 and this was the costliest of 2"


@pytest.mark.parametrize(
    ("tools", "mode", "named", "says"),
    [
        ([shape("a", unions=9, strict="require"), shape("b", unions=8)], "require", "a", "make 17 union-typed"),
        ([shape("a", unions=17, strict="require"), shape("b", plain=1)], "prefer", "a", "anthropic allows 16"),
        ([shape(f"t{n}") for n in range(21)], "require", "t0", "make 21 strict tools, anthropic allows 20 a request"),
        ([shape("a", optional=20), shape("b", optional=21)], "require", "a", "make 20 union-typed parameters"),
        ([FREE], "require", "free", "parameters.changes: a free-form map has no strict form"),
        ([shape("a", strict="require")], "off", "a", "strict is off for this request"),
    ],
)
def test_K11_required_tools_that_cannot_be_strict_are_an_error_that_says_what_to_change(
    tools: list[ToolShape], mode: Wish, named: str, says: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        plan_strict(tools, ANTHROPIC, mode=mode)
    assert named == caught.value.tool
    assert says in caught.value.message
    assert "strict='prefer'" in caught.value.message


def test_K11_off_is_off() -> None:
    tools = [shape("a", plain=1), shape("b", plain=1, strict="off")]
    assert strict_names(plan_strict(tools, OPENAI, mode="off")) == []
    for mode in ("prefer", "require"):
        plan = plan_strict(tools, OPENAI, mode=mode)
        assert strict_names(plan) == ["a"]
        assert plan.tools[1].reason == "strict is off for this tool"


def test_K11_no_tools_are_a_plan_too() -> None:
    assert plan_strict([], OPENAI).explain() == "openai: 0 of 0 tools strict"


SCHEMAS = plain_schemas(recursion=True, kinds=Kinds(formless=True))
TOOLS = st.lists(st.builds(ToolShape, name=st.just("t"), schema=SCHEMAS, strict=st.sampled_from(WISHES)), max_size=6)
TIGHT = replace(ANTHROPIC, max_strict_tools=6, max_optional_parameters=5, max_union_parameters=4, max_cost=60)


def plan_or_named(tools: list[ToolShape], rules: StrictRules, mode: Wish) -> StrictPlan | str:
    try:
        return plan_strict(tools, rules, mode=mode)
    except DefinitionError as refused:
        return refused.tool


@settings(max_examples=50)
@given(TOOLS, st.sampled_from([OPENAI, ANTHROPIC, TIGHT]), st.sampled_from(WISHES))
def test_K11_a_plan_always_fits_or_names_a_required_tool(
    drawn: list[ToolShape], rules: StrictRules, mode: Wish
) -> None:
    tools = [replace(tool, name=f"t{n}") for n, tool in enumerate(drawn)]
    wanted = [tool.name for tool in tools if tool.strict == "require"]
    wanted += [tool.name for tool in tools if tool.strict == "prefer" and mode == "require"]
    plan = plan_or_named(tools, rules, mode)
    if isinstance(plan, str):
        assert plan in wanted
        return
    assert [tool.name for tool in tools] == [tool.name for tool in plan.tools]
    strict: list[Any] = [tool.schema for tool in plan.tools if tool.strict]
    assert len(strict) <= (rules.max_strict_tools or len(strict))
    if rules is not OPENAI:
        assert rules.max_optional_parameters is not None
        assert rules.max_union_parameters is not None
        assert sum(map(optional_count, strict)) <= rules.max_optional_parameters
        assert sum(map(union_count, strict)) <= rules.max_union_parameters
    for tool, planned in zip(tools, plan.tools, strict=True):
        assert planned.strict or (planned.schema is tool.schema and tool.name not in wanted)
        assert not planned.strict or (tool.strict != "off" and mode != "off")
        assert f"{tool.name}: {'' if planned.strict else 'not '}strict: {planned.reason}" in plan.explain()


@settings(max_examples=50)
@given(TOOLS, st.sampled_from([OPENAI, ANTHROPIC, TIGHT]))
def test_K12_the_same_tools_give_the_same_plan(drawn: list[ToolShape], rules: StrictRules) -> None:
    tools = [replace(tool, name=f"t{n}", strict="prefer") for n, tool in enumerate(drawn)]
    again = [replace(tool, schema=json.loads(json.dumps(tool.schema))) for tool in tools]
    first, second = plan_strict(tools, rules), plan_strict(again, rules)
    assert first.explain() == second.explain()
    assert json.dumps([tool.schema for tool in first.tools]) == json.dumps([tool.schema for tool in second.tools])
