"""D6: secrets never reach a stored record, and what is left of it is still what it was."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.journal.samples import records

from toolroll.journal import redaction
from toolroll.journal.codec import decode, encode
from toolroll.journal.records import CallEnded, CallIntended, MessageAdded, ModelTurn, Record, RunBegan, StateSet
from toolroll.journal.redaction import MAX_DEPTH, lost_a_secret, without_secrets
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    DocumentPart,
    ImagePart,
    ReasoningBlock,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from toolroll.kernel.data.usage import Usage

KNOWN = 'canary "one"\\two'
SHAPED = "sk-ant-" + "a1B2" * 8
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIE" * 20 + "\n-----END PRIVATE KEY-----"


def stored(record: Record) -> str:
    encoded = encode(record, secrets=[KNOWN])
    return "\n".join(data.decode() for data in (encoded.body, *encoded.contents.values()))


def again(record: Record) -> Record:
    encoded = encode(record, secrets=[KNOWN])
    return decode(encoded.body, encoded.contents.__getitem__)


def call_with(arguments: str) -> CallIntended:
    return CallIntended(call=ToolCall(id="c", name="n", arguments=arguments), effect="writes")


def answer_with(call: ToolCall, raw: dict[str, Any]) -> ModelTurn:
    message = AssistantMessage(blocks=(CallBlock(call=call, raw=raw),))
    return ModelTurn(message=message, stop="tool_calls", stop_detail="", usage=Usage(), cost=None, duration_s=0.0)


@pytest.mark.parametrize("secret", [KNOWN, SHAPED, PEM])
@pytest.mark.parametrize("around", ["{}", "a\n{}", "long " * 1_000 + "{}", '{{"key": "{}"', "x = {}\n"])
def test_D6_a_secret_in_a_text_is_not_stored(secret: str, around: str) -> None:
    text = around.format(secret)
    for record in (
        MessageAdded(message=UserMessage.of(text)),
        StateSet(name="n", value={"deep": [text]}),
        CallEnded(result=ToolMessage(call_id="c", name="n", content=text), code=None, duration_ms=0.0),
    ):
        found = stored(record)
        assert secret[4:] not in found
        assert json.dumps(secret)[4:-1] not in found
        assert "[redacted:" in found


@pytest.mark.parametrize("secret", [KNOWN, SHAPED, PEM])
@pytest.mark.parametrize("before", ["", "\n", "a\n", "\t", "é"])
def test_D6_arguments_stay_json_when_a_secret_is_taken_out(secret: str, before: str) -> None:
    arguments = json.dumps({"content": before + secret, "path": "a.txt", "end": "-----END X-----"})
    record = again(call_with(arguments))
    assert isinstance(record, CallIntended)
    parsed = parse_object(record.call.arguments)
    assert (parsed["path"], parsed["end"]) == ("a.txt", "-----END X-----")
    assert str(parsed["content"]).startswith(before + "[redacted:")
    assert lost_a_secret(record.call.arguments)


def test_D6_what_stands_under_the_name_of_a_secret_goes_whatever_it_looks_like() -> None:
    arguments = '{"password": "abc", "user": "me", "nested": {"apiKey": ["x", "y"]}, "token": null}'
    record = again(answer_with(ToolCall(id="c", name="n", arguments=arguments), {"input": json.loads(arguments)}))
    assert isinstance(record, ModelTurn)
    [block] = record.message.blocks
    assert isinstance(block, CallBlock)
    assert block.raw is not None
    expected = {
        "password": "[redacted:field]",
        "user": "me",
        "nested": {"apiKey": "[redacted:field]"},
        "token": None,
    }
    assert expected == json.loads(block.call.arguments) == block.raw["input"]


def test_D6_escapes_do_not_hide_a_secret() -> None:
    hidden = "".join(f"\\u{ord(letter):04x}" for letter in SHAPED)
    assert hidden not in stored(call_with(f'{{"content": "{hidden}"}}'))


def test_D6_json_within_json_is_looked_into() -> None:
    inner = json.dumps({"content": f"line\n{SHAPED}"})
    assert SHAPED not in stored(call_with(json.dumps({"body": inner})))


def test_D6_secrets_in_keys_go_too() -> None:
    assert SHAPED not in stored(StateSet(name="n", value={SHAPED: 1}))


def test_D6_names_of_tools_are_no_names_of_secrets() -> None:
    began = RunBegan(model="m", system=f"use {SHAPED}", tools={"get_token": "a" * 64})
    record = again(began)
    assert isinstance(record, RunBegan)
    assert record.tools == {"get_token": "a" * 64}
    assert record.system == "use [redacted:anthropic]"


def test_D6_pictures_survive_and_lose_known_values_only() -> None:
    data = b"\xff\xfe" + SHAPED.encode() + KNOWN.encode() + b"\x00\xfb"
    record = again(MessageAdded(message=UserMessage(content=(ImagePart(data=data, media_type="image/png"),))))
    expected = b"\xff\xfe" + SHAPED.encode() + b"*" * len(KNOWN) + b"\x00\xfb"
    assert MessageAdded(message=UserMessage(content=(ImagePart(data=expected, media_type="image/png"),))) == record


def test_D6_documents_of_text_are_read_like_text() -> None:
    data = f"a {SHAPED} b".encode() + b"\xff"
    record = again(MessageAdded(message=UserMessage(content=(DocumentPart(data=data, media_type="text/plain"),))))
    expected = b"a [redacted:anthropic] b\xff"
    assert MessageAdded(message=UserMessage(content=(DocumentPart(data=expected, media_type="text/plain"),))) == record


def test_D6_known_values_that_are_too_short_shred_no_picture() -> None:
    part = ImagePart(data=b"abcabc", media_type="image/png")
    value = {"type": "image", "data": base64.urlsafe_b64encode(part.data).decode(), "media_type": "image/png"}
    assert value == without_secrets(value, ["abc"])


@pytest.mark.parametrize("alphabet", [base64.b64encode, base64.urlsafe_b64encode])
def test_D6_bytes_in_a_providers_own_block_are_found_in_either_alphabet(alphabet: Any) -> None:
    raw = {"type": "base64", "data": alphabet(b"\xff\xef\xfb\xff" + KNOWN.encode()).decode()}
    found = without_secrets({"raw": raw}, [KNOWN])["raw"]["data"]
    assert b"\xff\xef\xfb\xff" + b"*" * len(KNOWN) == base64.urlsafe_b64decode(found)


def test_D6_data_that_is_no_base64_is_read_like_text() -> None:
    value = {"type": "image", "data": f"é {SHAPED}"}
    assert without_secrets(value) == {"type": "image", "data": "é [redacted:anthropic]"}


def test_D6_what_a_provider_signed_stays_to_the_byte() -> None:
    signature = "AKIA" + "Q" * 16
    record = answer_with(ToolCall(id="c", name="n", arguments="{}"), {})
    thought = ReasoningBlock(text="", raw={"type": "thinking", "signature": signature, "api_key": "hidden1"})
    message = AssistantMessage(blocks=(thought,))
    found = again(ModelTurn(**{**_fields(record), "message": message}))
    assert isinstance(found, ModelTurn)
    [block] = found.message.blocks
    assert isinstance(block, ReasoningBlock)
    assert {"type": "thinking", "signature": signature, "api_key": "[redacted:field]"} == block.raw


def _fields(record: ModelTurn) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def test_D6_what_is_nested_too_deep_is_not_stored() -> None:
    value: object = SHAPED
    for _ in range(MAX_DEPTH + 5):
        value = [value]
    found = stored(StateSet(name="n", value=value))
    assert SHAPED not in found
    assert "[redacted:too-deep]" in found


@given(records)
def test_D6_taking_out_secrets_twice_changes_nothing_more(record: Record) -> None:
    once = again(record)
    assert once == again(once)


@given(st.lists(st.text(max_size=30), max_size=5), st.sampled_from([KNOWN, SHAPED]), st.integers(0, 5))
def test_D6_a_secret_beside_any_texts_is_found(texts: list[str], secret: str, place: int) -> None:
    texts.insert(place, f"\n{secret}\n")
    assert not any(secret in text for text in without_secrets({"value": texts}, [KNOWN])["value"])


def test_D6_a_value_without_secrets_is_the_same_object() -> None:
    value = {"path": "a.txt", "n": [1, {"b": '{"x": "y"}'}]}
    assert value is without_secrets(value, [KNOWN])


def test_D6_a_word_that_is_harmless_for_one_journal_is_a_secret_for_another() -> None:
    value = {"word": "swordfish"}
    for _ in range(2):
        assert without_secrets(value, []) == value
        assert without_secrets(value, ["swordfish"]) == {"word": "[redacted:known]"}


def test_D6_words_are_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_MAX_WORDS", 3)
    known = ["a secret for this test alone"]
    for number in range(10):
        without_secrets({f"name {number}": f"word {number}"}, known)
    seen = redaction._find_seen(tuple(known))
    assert len(seen.keys) <= 4
    assert len(seen.words) <= 6
    assert {"name 9", "word 9"} <= seen.keys | seen.words  # what is new is remembered, however much there was before


FILE = base64.b64encode(f"before {KNOWN} after".encode()).decode()


@pytest.mark.parametrize("field", [{"data": FILE, "type": "image"}, {"password": "hunter22"}])
def test_D6_a_field_is_looked_at_anew_in_each_record(field: dict[str, Any]) -> None:
    """Under the name `data` may stand a word in one record, and a file in the next."""
    name = next(iter(field))
    for _ in range(2):
        without_secrets({name: ""}, [KNOWN])
        assert without_secrets(field, [KNOWN])[name] != field[name]


def test_D6_what_is_sealed_stays_under_its_name_only() -> None:
    for _ in range(2):
        assert without_secrets({"signature": SHAPED}) == {"signature": SHAPED}
        assert without_secrets({"signature": [SHAPED], "sign": SHAPED}) == {
            "signature": ["[redacted:anthropic]"],
            "sign": "[redacted:anthropic]",
        }
