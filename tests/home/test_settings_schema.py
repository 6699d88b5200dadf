"""Settings by name: kinds, variables, and what somebody who mistypes one is told."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import UsageError
from toolroll.home.settings import read_settings
from toolroll.home.settings_schema import all_settings, find_setting, nearest_setting


def test_S41_every_setting_says_what_it_does() -> None:
    assert [one.name for one in all_settings() if not one.summary.endswith(".")] == []
    assert len({one.variable for one in all_settings()}) == len(all_settings())
    kinds = {one.name: one.kind for one in all_settings()}
    assert (kinds["model"], kinds["code.deny"], kinds["code.max_steps"]) == ("text", "list", "whole number")
    assert kinds["code.limits.search_seconds"] == "number"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("modle", "model"),
        ("max_steps", "code.max_steps"),
        ("code.max-steps", "code.max_steps"),
        ("Code.Limits.Matches", "code.limits.matches"),
        ("zzz", None),
    ],
)
def test_S41_a_name_that_is_nearly_right_is_offered(name: str, meant: str | None) -> None:
    assert nearest_setting(name) == meant
    with pytest.raises(UsageError, match=f"Did you mean {meant}" if meant else "See 'toolroll config list'"):
        find_setting(name)


@pytest.mark.parametrize(
    ("variable", "text", "told"),
    [
        ("TOOLROLL_CODE_MAX_STEPS", "many", "TOOLROLL_CODE_MAX_STEPS must be a whole"),
        ("TOOLROLL_CODE_MAX_STEPS", "0", "TOOLROLL_CODE_MAX_STEPS must be greater than 0"),
        ("TOOLROLL_CODE_MAX_STEPS", "1_0", "must be a whole number"),
        ("TOOLROLL_CODE_MAX_STEPS", "٣", "must be a whole number"),
        ("TOOLROLL_CODE_CHECK_SECONDS", "nan", "must be a finite number"),
        ("TOOLROLL_CODE_CHECK", "'open", "No closing quotation. Quote its words"),
        ("TOOLROLL_CODE_DENY", "../x", "A rule's path"),
    ],
)
def test_S41_a_variable_that_makes_no_sense_is_named(variable: str, text: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_settings({"TOOLROLL_HOME": "/nowhere/at/all", variable: text})
    assert told in raised.value.message
    assert variable in raised.value.message


def test_S41_a_variable_that_is_empty_is_not_set() -> None:
    assert read_settings({"TOOLROLL_HOME": "/nowhere/at/all", "TOOLROLL_MODEL": " "}).model is None


def test_S41_one_value_is_one_value() -> None:
    with pytest.raises(UsageError, match="model must be one value; got 2"):
        find_setting("model").parse(["a", "b"])
    assert find_setting("code.check").parse(["a", "b"]) == ("a", "b")
    assert find_setting("code.check_seconds").parse(["1.5"]) == 1.5


@given(st.sampled_from([one.variable for one in all_settings()]), st.text(max_size=20))
def test_S41_any_text_is_a_value_or_an_error(variable: str, text: str) -> None:
    with suppress(UsageError):
        settings = read_settings({"TOOLROLL_HOME": "/nowhere/at/all", variable: text})
        assert settings.origins.keys() == ({*settings.origins} if text.strip() else set())
