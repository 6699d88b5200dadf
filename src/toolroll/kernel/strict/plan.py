"""Plan which tools of a request are sent strict: as many as the budgets hold, and why not the others.

The costliest tools give way first, so that the fewest do. A tool that requires strictness never gives way; when the
required ones alone do not fit, that is an error in how they are defined. Everything else is sent with its plain schema:
the executor validates every call in any case, strictness only spares the model a second try.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from toolroll.errors import DefinitionError
from toolroll.kernel.strict.convert import NotStrict, StrictSchema, convert_to_strict
from toolroll.kernel.strict.rules import StrictRules

StrictWish: TypeAlias = Literal["require", "prefer", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolShape:
    """What the planner needs to know of a tool: its name, its plain schema, and whether it wants to be strict."""

    name: str
    schema: Mapping[str, object]
    strict: StrictWish = "prefer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlan:
    """How one tool is sent: strict or not, the schema to send, and why."""

    name: str
    strict: bool
    schema: Mapping[str, object]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictPlan:
    """How all tools of one request are sent, in the order they were given."""

    provider: str
    tools: tuple[ToolPlan, ...]
    totals: tuple[str, ...]

    def explain(self) -> str:
        """Return one line for the request and one for each tool."""
        strict = sum(tool.strict for tool in self.tools)
        head = ", ".join((f"{self.provider}: {strict} of {len(self.tools)} tools strict", *self.totals))
        lines = [f"{tool.name}: {'' if tool.strict else 'not '}strict: {tool.reason}" for tool in self.tools]
        return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Budget:
    what: str
    limit: int | None
    share: Callable[[StrictSchema], int]

    def total(self, forms: Mapping[int, StrictSchema]) -> int:
        return sum(self.share(form) for form in forms.values())

    def is_over(self, forms: Mapping[int, StrictSchema]) -> bool:
        return self.limit is not None and self.total(forms) > self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    index: int
    name: str
    must: bool
    # In order of preference: optional parameters nullable, and absent where the provider takes that.
    forms: tuple[StrictSchema, ...]


_Forms: TypeAlias = dict[int, StrictSchema]
_SEATS: Final = "strict tools"
_HINT: Final = "Give fewer parameters a default or alternatives, or set strict='prefer' on one of them."


def plan_strict(tools: Sequence[ToolShape], rules: StrictRules, *, mode: StrictWish = "prefer") -> StrictPlan:
    """Decide for each tool whether it is sent strict; the same tools give the same plan.

    Raises DefinitionError only for tools that require strictness and cannot have it. `mode` is the wish for the whole
    request: "require" makes every tool required that is not "off" itself, "off" sends all of them plain.
    """
    reasons: dict[int, str] = {}
    candidates: list[_Candidate] = []
    for index, tool in enumerate(tools):
        outcome = _candidate(index, tool, rules, mode)
        if isinstance(outcome, str):
            reasons[index] = outcome
        else:
            candidates.append(outcome)
    forms = _fit(candidates, reasons, rules)
    budgets = _budgets(rules)[1:]
    return StrictPlan(
        provider=rules.name,
        tools=tuple(_make_plan(tool, forms.get(index), reasons.get(index, "")) for index, tool in enumerate(tools)),
        totals=tuple(f"{b.total(forms)} of {b.limit} {b.what}" for b in budgets if b.limit is not None),
    )


def _candidate(index: int, tool: ToolShape, rules: StrictRules, mode: StrictWish) -> _Candidate | str:
    must = tool.strict == "require" or (mode == "require" and tool.strict != "off")
    if mode == "off" and must:
        raise DefinitionError(
            f"Tool {tool.name!r} requires strict arguments, and strict is off for this request. "
            "Set strict='prefer' on the tool, or turn strict on.",
            tool=tool.name,
        )
    if mode == "off" or tool.strict == "off":
        return "strict is off for " + ("this request" if mode == "off" else "this tool")
    ways = [rules, replace(rules, optional="absent")] if rules.takes_absent else [rules]
    made = [convert_to_strict(tool.schema, way) for way in ways]
    forms = tuple(form for form in made if isinstance(form, StrictSchema))
    if forms:
        return _Candidate(index=index, name=tool.name, must=must, forms=forms)
    why = "; ".join(reason for form in made[:1] if isinstance(form, NotStrict) for reason in form.reasons)
    if must:
        raise DefinitionError(
            f"Tool {tool.name!r} requires strict arguments, but its schema has no strict form for {rules.name}: {why}. "
            "Change that, or set strict='prefer'.",
            tool=tool.name,
        )
    return why


def _fit(candidates: list[_Candidate], reasons: dict[int, str], rules: StrictRules) -> _Forms:
    """Return the forms that are sent; add a line to `reasons` for each candidate that gave way."""
    staying = list(candidates)
    while True:
        forms = _choose_forms(staying, rules)
        over = next((budget for budget in _budgets(rules) if budget.is_over(forms)), None)
        if over is None:
            return forms
        leaving = _costliest(staying, over, rules)
        if leaving is None:
            raise _required_too_large(staying, forms, over, rules)
        reasons[leaving.index] = _why(over, leaving, len(staying), rules)
        staying.remove(leaving)


def _budgets(rules: StrictRules) -> tuple[_Budget, ...]:
    return (
        _Budget(what=_SEATS, limit=rules.max_strict_tools, share=lambda _: 1),
        _Budget(
            what="union-typed parameters",
            limit=rules.max_union_parameters,
            share=lambda form: form.union_parameters,
        ),
        _Budget(
            what="optional parameters",
            limit=rules.max_optional_parameters,
            share=lambda form: form.optional_parameters,
        ),
        _Budget(what="parts", limit=rules.max_cost, share=lambda form: form.cost),
    )


def _choose_forms(staying: list[_Candidate], rules: StrictRules) -> _Forms:
    """Return the first form of each, or the absent one for as few parameters as bring the unions into budget."""
    _, unions, optional, _ = _budgets(rules)
    forms = {one.index: one.forms[0] for one in staying}
    if not unions.is_over(forms):
        return forms
    excess = unions.total(forms) - (unions.limit or 0)
    ways = _ways_to_save([one for one in staying if len(one.forms) > 1], optional.limit)
    enough = [used for used, (saved, _) in sorted(ways.items()) if saved >= excess]
    used = enough[0] if enough else max(ways, key=lambda used: (ways[used][0], -used))
    return {one.index: one.forms[one.index in ways[used][1]] for one in staying}


def _ways_to_save(movable: list[_Candidate], limit: int | None) -> dict[int, tuple[int, frozenset[int]]]:
    """Return, for each number of absent parameters, the most unions it saves and which tools then change form.

    A knapsack, solved exactly: taking the largest first would call required tools too large that do fit.
    """
    ways: dict[int, tuple[int, frozenset[int]]] = {0: (0, frozenset())}
    for one in movable:
        nullable, absent = one.forms
        saving = nullable.union_parameters - absent.union_parameters
        for used, (saved, moved) in list(ways.items()):
            total = used + absent.optional_parameters
            if (limit is None or total <= limit) and saved + saving > ways.get(total, (0, ()))[0]:
                ways[total] = (saved + saving, moved | {one.index})
    return ways


def _costliest(staying: list[_Candidate], over: _Budget, rules: StrictRules) -> _Candidate | None:
    """Return the tool without which the others come nearest to fitting; of equals, the one that takes most."""
    share = {one.index: max(map(over.share, one.forms)) for one in staying}
    free = [one for one in staying if not one.must and share[one.index]]

    def rank(one: _Candidate) -> tuple[int, int, int, int]:
        # A seat is a seat whoever leaves it; what parameters free depends on the forms the others then take.
        left = 0 if over.what == _SEATS else _excess([other for other in staying if other is not one], rules)
        return (-left, share[one.index], one.forms[0].cost, one.index)

    return max(free, key=rank, default=None)


def _excess(staying: list[_Candidate], rules: StrictRules) -> int:
    forms = _choose_forms(staying, rules)
    return sum(budget.total(forms) - (budget.limit or 0) for budget in _budgets(rules) if budget.is_over(forms))


def _why(over: _Budget, leaving: _Candidate, among: int, rules: StrictRules) -> str:
    rank = f"this was the costliest of {among}"
    _, unions, optional, _ = _budgets(rules)
    if over.what == _SEATS:
        return f"the request allows {over.limit} {_SEATS} and {rank}"
    budgets = (optional, unions) if over.what in {optional.what, unions.what} else (over,)
    form = leaving.forms[-1]
    taken = [one for one in budgets if one.limit is not None and one.share(form)]
    shares = " and ".join(f"{one.share(form)} {one.what}" for one in taken)
    return f"{shares}, the request allows {' and '.join(str(one.limit) for one in taken)} and {rank}"


def _required_too_large(staying: list[_Candidate], forms: _Forms, over: _Budget, rules: StrictRules) -> DefinitionError:
    required = [one for one in staying if one.must]
    first = max(required, key=lambda one: (over.share(forms[one.index]), forms[one.index].cost))
    names = ", ".join(one.name for one in required)
    total = over.total({one.index: forms[one.index] for one in required})
    return DefinitionError(
        f"The tools that require strict arguments make {total} {over.what}, {rules.name} allows {over.limit} "
        f"a request: {names}. {_HINT}",
        tool=first.name,
    )


def _make_plan(tool: ToolShape, form: StrictSchema | None, reason: str) -> ToolPlan:
    if form is None:
        return ToolPlan(name=tool.name, strict=False, schema=tool.schema, reason=reason)
    left_out = form.optional_parameters
    reason = f"{left_out} parameters may be left out" if left_out else "every parameter is required"
    return ToolPlan(name=tool.name, strict=True, schema=form.schema, reason=reason)
