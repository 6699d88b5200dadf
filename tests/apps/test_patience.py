"""How long a provider that is overloaded is asked again."""

from toolroll.apps.code import MAX_OVERLOAD_S, PatientRule
from toolroll.errors import ModelTimeout, Overloaded


def test_S16_overload_is_waited_for_up_to_five_minutes_and_other_failures_as_usual() -> None:
    rule = PatientRule(jitter=lambda: 0.5)
    waited, attempt = 0.0, 1
    while (wait := rule.wait_s(attempt, Overloaded("busy"), waited)) is not None:
        waited, attempt = waited + wait, attempt + 1
    assert MAX_OVERLOAD_S - 60 < waited <= MAX_OVERLOAD_S
    assert attempt > 8
    assert rule.wait_s(3, ModelTimeout("late")) is not None
    assert rule.wait_s(4, ModelTimeout("late")) is None
