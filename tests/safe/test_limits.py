"""Limits are named constants with their unit in the name."""

import pytest
from pydantic_core import from_json

from toolroll.safe import limits

UNITS = {"BYTES", "BASE", "CHARACTERS", "COLUMNS", "DEPTH", "HOPS", "NAME", "S", "SHOWN", "STEP"}

LIMITS = {name: value for name, value in vars(limits).items() if name.isupper()}


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_limit_is_positive_and_names_its_unit(name: str) -> None:
    assert isinstance(LIMITS[name], int | float)
    assert LIMITS[name] > 0
    assert name.rsplit("_", 1)[1] in UNITS


def test_the_figures_others_rely_on() -> None:
    """K4, XL6, C30"""
    assert limits.MAX_TOOL_NAME_CHARACTERS == 64
    assert limits.MAX_ARGUMENTS_BYTES == 524_288
    assert limits.MAX_ARGUMENTS_DEPTH == 200
    assert limits.APPROVAL_TIMEOUT_S == 300


def test_known_secrets_may_be_shorter_than_guessed_ones() -> None:
    assert limits.MIN_KNOWN_SECRET_CHARACTERS < limits.MIN_SECRET_CHARACTERS


def test_the_parser_keeps_the_limit_of_depth() -> None:
    """XL6: a value inside that many levels is read, inside one more it is not; an empty array holds none."""
    depth = limits.MAX_ARGUMENTS_DEPTH
    from_json("[" * depth + "1" + "]" * depth)
    from_json("[" * (depth + 1) + "]" * (depth + 1))
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        with pytest.raises(ValueError, match="recursion limit"):
            from_json(opening * (depth + 1) + "1" + closing * (depth + 1))
