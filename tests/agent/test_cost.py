"""Bills: unknown is not nothing, and nothing is looked up before it is asked for."""

import pytest

from toolroll.agent.cost import Bill, total_cost
from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage

ORIGIN = Origin(wire="anthropic", model="m")


def cent_a_token(_origin: Origin, usage: Usage) -> float:
    return usage.total / 100


def test_a_bill_sums_its_calls_when_asked_and_only_once() -> None:
    asked: list[int] = []

    def price(_origin: Origin, usage: Usage) -> float:
        asked.append(usage.total)
        return 1.5

    bill = Bill([(price, ORIGIN, Usage(input_tokens=1))]) + Bill([(price, ORIGIN, Usage(input_tokens=2))])
    assert asked == []
    assert (bill.usd, bill.usd) == (3.0, 3.0)
    assert asked == [1, 2]


@pytest.mark.parametrize(("costs", "total"), [([], 0.0), ([1.0, 2.0], 3.0), ([1.0, None], None), ([None], None)])
def test_A5_a_sum_with_something_unknown_in_it_is_unknown(costs: list[float | None], total: float | None) -> None:
    assert total_cost(costs) == total


def test_A5_what_was_not_measured_has_no_price() -> None:
    unmeasured = Bill([(cent_a_token, ORIGIN, Usage(input_tokens=5, measured=False))])
    assert unmeasured.usd is None
    assert Bill([(cent_a_token, ORIGIN, Usage(input_tokens=5))]).usd == 0.05


def test_bills_that_are_known_already_add_up_with_others() -> None:
    open_bill = Bill([(cent_a_token, ORIGIN, Usage(input_tokens=5))])
    assert (Bill.from_usd(1.0) + open_bill).usd == 1.05
    assert (open_bill + Bill.from_usd(None)).usd is None
    assert Bill().usd == 0.0
