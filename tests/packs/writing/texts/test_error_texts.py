"""Every error is described in the language of the writer (W34)."""

import inspect
from typing import get_args

import pytest
from tests.kernel.arguments.test_parse import MUST_FAIL
from tests.packs.writing.texts.test_messages import KEPT, LATIN

from toolroll import errors
from toolroll.agent.result import StopReason
from toolroll.cli.chat.input import AHEAD, NOTE, PASTED
from toolroll.cli.chat.parse import describe_too_long
from toolroll.cli.chat.prompt import LEAVE_HINT
from toolroll.cli.terminal.terminal import EARLY
from toolroll.cli.terminal.terminal import PASTED as PASTED_ANSWER
from toolroll.errors import (
    AuthenticationFailed,
    ChangeRefused,
    FileMissing,
    JsonRefused,
    ModelError,
    PathRefused,
    ProfileFixed,
    ProfileInvalid,
    ProfileMissing,
    ProfileNewer,
    RequestRefused,
    ToolFailure,
    ToolrollError,
    UsageError,
)
from toolroll.kernel.arguments.parse import parse_json
from toolroll.messages import FILE_MISSING, Text
from toolroll.packs.writing.profiles.faults import EMPTY, make_fault
from toolroll.packs.writing.profiles.names import check_profile_name
from toolroll.packs.writing.texts.error_texts import (
    MODEL_KEYS,
    STOP_KEYS,
    describe_error,
    describe_stop,
    list_faults,
)
from toolroll.packs.writing.texts.messages import translate

KINDS = [one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, ToolrollError)]
MODEL_ERRORS = [kind for kind in KINDS if issubclass(kind, ModelError)]
FAULT = make_fault("examples", EMPTY)
OF_PROFILES = (
    ProfileMissing("m", profile="x", available=("a", "b")),
    ProfileMissing("m", profile="x"),
    ProfileInvalid("m", profile="x", faults=(FAULT,)),
    ProfileInvalid("m", profile="x", faults=(FAULT,), file="f"),
    ProfileFixed("m", profile="x"),
    ProfileNewer("m", profile="x"),
    ChangeRefused("m", profile="x", fields=("examples",), faults=(FAULT,)),
)


def is_ukrainian(text: str) -> bool:
    kept = KEPT.sub("", text).replace("Reference", "").replace("examples", "").replace("URL", "")
    return bool(text.strip()) and not LATIN.search(kept)


@pytest.mark.parametrize("error", OF_PROFILES, ids=lambda error: type(error).__name__)
def test_W34_what_profiles_are_refused_for_is_told_in_both_languages(error: ToolrollError) -> None:
    assert is_ukrainian(describe_error(error, "uk"))
    assert not is_ukrainian(describe_error(error, "en"))


def test_W34_every_error_about_profiles_is_among_them() -> None:
    leaves = {kind for kind in KINDS if issubclass(kind, errors.ProfileProblem) and not kind.__subclasses__()}
    assert leaves <= {type(one) for one in OF_PROFILES}


@pytest.mark.parametrize("kind", MODEL_ERRORS, ids=lambda kind: kind.__name__)
def test_W34_a_model_that_cannot_be_asked_is_told_with_the_words_of_its_provider(kind: type[ModelError]) -> None:
    told = describe_error(kind("Their words."), "uk")
    assert told.endswith("Their words.")
    assert is_ukrainian(told.removesuffix("Their words."))
    assert describe_error(kind("Their words."), "en") == "Their words."


def test_W34_every_error_of_a_model_and_every_end_of_a_run_has_words() -> None:
    assert {kind.code for kind in MODEL_ERRORS} == set(MODEL_KEYS)
    assert set(get_args(StopReason)) == set(STOP_KEYS)


@pytest.mark.parametrize("reason", get_args(StopReason))
def test_W34_why_a_run_gave_nothing_is_told(reason: StopReason) -> None:
    failed = ToolFailure("the details", code=reason)
    assert is_ukrainian(describe_stop(failed, "uk"))
    assert describe_stop(failed, "en") == "the details"
    assert describe_stop(ToolFailure("as it is", code="other"), "uk") == "as it is"


def test_W11_W34_the_one_hard_rule_is_told_with_what_is_wrong_with_the_profile() -> None:
    refused = RequestRefused("Nothing is drafted without the style profile. m")
    refused.__cause__ = ProfileMissing("m", profile="x")
    assert describe_error(refused, "uk").startswith("Без профілю стилю чернетки не буде. Профіль не знайдений: «x».")
    assert describe_error(refused, "en").startswith(
        "Nothing is drafted without the style profile. Profile 'x' not found."
    )


def test_W34_a_message_with_a_key_is_translated_and_any_other_stays_as_it_is() -> None:
    missing = FileMissing(FILE_MISSING(path="a"), path="a")
    assert describe_error(missing, "uk") == "«a» не знайдено. Перевірте назву й теку."
    assert describe_error(missing, "en") == "There is no 'a'."
    assert describe_error(UsageError("уже українською"), "uk") == "уже українською"
    assert describe_error(AuthenticationFailed("No."), "en") == "No."


def test_W2_W34_each_fault_is_on_a_line_of_its_own() -> None:
    assert list_faults((FAULT, FAULT), "en") == f"- {FAULT}\n- {FAULT}"


def test_W3_W34_a_name_that_can_be_none_is_told() -> None:
    with pytest.raises(PathRefused) as refused:
        check_profile_name("../x")
    assert describe_error(refused.value, "uk").startswith("«../x» не може бути ім'ям профілю.")


@pytest.mark.parametrize("group", MUST_FAIL)
def test_W34_XJ5_every_error_in_json_is_described_in_ukrainian(group: str) -> None:
    for text in MUST_FAIL[group]:
        with pytest.raises(JsonRefused) as refused:
            parse_json(text)
        assert is_ukrainian(describe_error(refused.value, "uk"))


@pytest.mark.parametrize(
    "note", [LEAVE_HINT, describe_too_long("x" * 20_001), PASTED(count=3), AHEAD(text="y"), EARLY, PASTED_ANSWER]
)
def test_W34_notes_beside_what_is_typed_are_in_ukrainian(note: Text) -> None:
    told = translate(NOTE(note=note), "uk")
    assert told.startswith("Примітка: ")
    assert is_ukrainian(told)
    assert all(str(value) in told for value in note.values.values())
