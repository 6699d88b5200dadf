"""Strict JSON (XJ4, XJ5): a corpus of our own by class, and the standard library as a second opinion."""

import json
import math
import time
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_json, parse_object

MUST_FAIL: dict[str, list[str | bytes]] = {
    "structure": [
        *("", " ", "\n", "[", "]", "{", "}", "[1", "[1,", "[,1]", "[1,,2]", "[,]", "[1,]", "[1 2]", "[1;2]", "[1:2]"),
        *("[[]", "[]]", "[}", "{]", "{}}", "{{}", '[{"a":1]'),
        *('{"a":[1}', "[1,2", '["a"', '["a",', "[null", "(1)", "<1>"),
        *('{"a"}', '{"a":}', "{:1}", '{"a":1,}', '{,"a":1}', '{"a" 1}', '{"a":1 "b":2}', '{"a":1,,"b":2}', '{"a"'),
        *("{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{[]:1}"),
        *("{true:1}", '{"a":1:2}', '{"a",1}', '{"a":1;"b":2}', '{"a":'),
        *('{"a"=1}', '{"a"=>1}', '{"a"::1}', ":", ",", ",1", '"a":1'),
        *("1:2", '{"a":1,2}', '[1,"a":2]', '{"a"\\:1}', "{9:9}"),
    ],
    "words": [
        *("nul", "nulll", "tru", "truee", "truth", "fals", "falsee"),
        *("True", "TRUE", "False", "NULL", "Null", "None", "nil"),
        *("undefined", "void", "nan", "NaN", "-NaN", "+NaN", "inf"),
        *("Inf", "Infinity", "-Infinity", "+Infinity", "[NaN]"),
        *("[-Infinity]", '{"a":NaN}', "t", "n", "f", "yes", "on", "a", "nulltrue", "true1", "null null", "truе"),
    ],
    "numbers": [
        *("01", "-01", "00", "-00", "-", "+1", "+0", "1.", "-1."),
        *(".5", "-.5", ".", "1.e1", "1e", "1e+", "1e-", "1E", "0e"),
        *("0e+", "1e1.5", "1.2.3", "1..2", "0x1F", "0X1", "0b1"),
        *("0o7", "1_000", "1,000", "1 000", "--1", "-+1", "+-1"),
        *("1-", "1+2", "1a", "1f", "1L", "1n", "1e5e5", "- 1"),
        *("1 e5", "1. 5", "-a", "e5", "-e5", "1ee5", "1e++5", "$1"),
        *("１", "١", "½", "∞", "²", "1e400", "-1e400", "1e99999"),
        *("[1e309]", "-1.8e308", "9" * 5000, "-" + "9" * 5000),
    ],
    "strings": [
        *('"', '"a', 'a"', "'a'", "''", "`a`", "“a”", "«a»"),
        *('"a"b"', '"a" "b"', "abc", '""a', '"""', '["a', '["a"b]'),
        *('"\n"', '"\t"', '"\r"', '"\x00"', '"\x08"', '"\x1f"'),
        *('"a\nb"', '["\x00"]', '{"\n":1}', '"a\x0cb"', '"\x1b[31m"'),
    ],
    "escapes": [
        *(r'"\x41"', r'"\a"', r'"\0"', r'"\012"', r'"\v"', r'"\e"'),
        *(r'"\'"', r'"\`"', r'"\$"', r'"\ "', '"\\\n"', '"\\\t"'),
        *(r'"\u"', r'"\u1"', r'"\u12"', r'"\u123"', r'"\u12G4"', r'"\u 123"', r'"\u+123"', r'"\u-123"', r'"\u{41}"'),
        *(r'"\U0041"', r'"\U00000041"', '"\\', '"\\"', '"\\u00'),
        *(r'"\uD800"', r'"\uDC00"', r'"\uDFFF"', r'"\uD800\uD800"'),
        *(r'"\uDC00\uD800"', r'"\uD83D\u0041"', r'"\uD83Dx"'),
        *(r'"\uD83D\n"', r'"\uD83D"', '"\\é"', r'"\uDE00x"', r"\n"),
        *(r'{"\uD800":1}', r'["\uDEAD"]', '"\\u００４１"', r'"\N"', r'"\T"', r'"\B"'),
    ],
    "whitespace": [
        *("\x0b1", "\x0c1", "1\x0c", "\u00a01", "1\u00a0", "1\u2028"),
        *("\u20031", "[\x0c]", "\u200b1", "\u20601", "1\x00"),
        *("\x001", "\x1c1", "\x851", "1\x1f", "\x7f1", "[1\u00a0,2]", "\u30001", "\\n1", "\u180e1", "\x08[]"),
    ],
    "byte order marks": [
        *("\ufeff", "\ufeff1", "\ufeff{}", "{}\ufeff", "\ufffe1"),
        *(b"\xef\xbb\xbf", b"\xef\xbb\xbf{}", b"\xef\xbb{}", b"\xef{}"),
    ],
    "encodings": [
        *("\ud800", '"\ud800"', '"\udfff"', '{"\udc00":1}', "[\udcff]"),
        *(b"\xff", b'"\xff"', b'["\xe9"]', b"\xe9", b'"\xc0\xaf"'),
        *(b'"\xe0\x80\xaf"', b'"\xed\xa0\x80"', b'"\xed\xbf\xbf"'),
        *(b'"\xf4\x90\x80\x80"', b'"\xf8\x88\x80\x80\x80"', b'"\x81"'),
        *(b'"\xe2\x82"', b'"\xc3', b'"\\u\xe5"', b"1\xe5", b"[1e\xe5]"),
        *('{"a":1}'.encode(name) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "cp500")),
        *('"é"'.encode(name) for name in ("latin-1", "utf-16", "cp437")),
    ],
    "extensions": [
        *("// c\n1", "1 // c", "/* c */1", "1/* c */", "# c\n1"),
        *("1 # c", "[1, /*x*/ 2]", "1;", "<!-- -->1", "<html>", "{{}}"),
        *("[...]", "[1..2]", "{...a}", '{"a":1}\n---\n', "a=1"),
        *("key: 1", "```json\n{}\n```", "json {}", "callback({})"),
        *("/a/", "!1", "@1", "%1", "&1", "*1", "~1", "^1", "|1", "\\1", "?1", '{"a":undefined}', "[function(){}]"),
    ],
    "trailing": [
        *("1 1", "[] []", "{}{}", "[]x", "{}]", "1,", "null,", "[1],"),
        *('"a",', '"a"x', "true false", "{}\x00", "[]\x00", "1]"),
        *("2}", "{}#", "[1]]", '{"a":1}}', '{"a":1}"', "null\x0b", "[] 1", '"" ""', "{}\n{}", "1\n2", "[1]\n[2]"),
    ],
    "depth": [
        *("[" * 100_000, "[" * 100_000 + "]" * 100_000, "[" * 202 + "]" * 202, '{"a":' * 300 + "1" + "}" * 300),
        *('[{"a":' * 50_000, '[{"":' * 150 + "1" + "}]" * 150, "{" * 1000, "]" * 100_000, '"' + "[" * 1000),
    ],
}  # fmt: skip

MUST_PASS: dict[str, list[str]] = {
    "words": ["null", "true", "false", "[null]", "[true,false,null]", '{"null":null}'],
    "numbers": [
        *("0", "-0", "1", "-1", "10", "123456789", "0.5", "-0.5"),
        *("0.0", "-0.0", "1.0", "1.50", "0.1", "3.141592653589793"),
        *("1e5", "1E5", "1e+5", "1e-5", "1E-05", "0e0", "0E+1"),
        *("-0e-1", "1.5e300", "1e-400", "1.7976931348623157e308"),
        *("5e-324", "9007199254740993", "18446744073709551616"),
        *("-9223372036854775809", "9" * 400, "9" * 4300, "0." + "3" * 999),
    ],
    "strings": [
        *('""', '"a"', '" "', '"\x7f"', '"/"', '"é"', '"€"', '"😀"'),
        *('"Привіт"', '"\u2028\u2029"', '"\ufeff"', '"\u200b"'),
        *('"\uffff"', '"\U0010ffff"', '"\ufdd0"', '"a\u0301"'),
        *('"\x80"', '"\'"', '"[1,]"', '"//"', '"Infinity"', '"NaN"'),
    ],
    "escapes": [
        *(r'"\""', r'"\\"', r'"\/"', r'"\b\f\n\r\t"', r'"\u0041"'),
        *(r'"\u00e9"', r'"\u00E9"', r'"\u0000"', r'"\u001f"'),
        *(r'"\uD83D\uDE00"', r'"\ud83d\ude00"', r'"\uDBFF\uDFFF"'),
        *(r'"\uFFFF"', r'"\\u0041"', r'"\u0022"', r'"\u005C"'),
        *(r'"\\\""', r'"a\nb"', r'{"\u0061":1}', r'"\u2028"', r'"\uFEFF"', r'"\\n"', r'"\u0041\u0042"'),
    ],
    "whitespace": [
        *(" 1", "1 ", "\t1\n", "\r\n1\r\n", "[ ]", "{ }", "[ 1 , 2 ]"),
        *('{ "a" : 1 }', '\n{\n\t"a"\r:\n1\n}\n', " " * 1000 + "1"),
    ],
    "structure": [
        *("[]", "{}", "[[]]", "[{}]", '{"a":[]}', '{"a":{}}', "[1,2,3]"),
        *('{"a":1,"b":2}', '{"":0}', '{" ":0}', '{"a":{"a":1}}'),
        *('[1,"a",null,true,[],{}]', '{"a":{"b":{"c":[1,{"d":2}]}}}'),
        *('[{"a":1},{"a":2}]', '{"b":1,"a":2}', '{"A":1,"a":2}'),
        *('{"é":1,"e\u0301":2}', "[" * 200 + "]" * 200),
        *('{"a":' * 199 + "1" + "}" * 199, "[" + "0," * 9999 + "0]", '{"1":1,"01":2}'),
    ],
}  # fmt: skip


def cases(table: dict[str, list[str]] | dict[str, list[str | bytes]]) -> list[object]:
    """One case for each text, called by its class and number."""
    return [
        pytest.param(text, id=f"{kind}-{number}") for kind, texts in table.items() for number, text in enumerate(texts)
    ]


def test_XJ4_the_corpus_is_large_and_no_text_stands_twice() -> None:
    failing, passing = list(chain.from_iterable(MUST_FAIL.values())), list(chain.from_iterable(MUST_PASS.values()))
    assert (len(failing), len(passing)) == (len(set(failing)), len(set(passing)))
    assert len(failing) >= 350
    assert len(passing) >= 110


@pytest.mark.parametrize("text", cases(MUST_FAIL))
def test_XJ4_what_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(JsonRefused, match="JSON") as refusal:
        parse_json(text)
    assert len(refusal.value.message) < 200


@pytest.mark.parametrize("text", cases(MUST_PASS))
def test_XJ4_what_is_json_is_read_as_the_standard_library_reads_it(text: str) -> None:
    expected = json.loads(text)
    assert same(expected, parse_json(text))
    assert same(expected, parse_json(text.encode()))


def same(one: object, other: object) -> bool:
    """Equal in type as well, and -0.0 is not 0.0: `==` alone takes 1 for True."""
    return repr(one) == repr(other)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


@given(value=JSON_VALUES, ascii_only=st.booleans(), indent=st.sampled_from([None, 0, 2, "\t"]))
def test_XJ4_every_value_survives_the_round_trip(value: object, ascii_only: bool, indent: int | str | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert same(value, parse_json(text))
    assert same(value, parse_json(text.encode()))


class Refused(ValueError):
    """The second opinion says no."""


def second_opinion(text: str) -> object:
    """The standard library, told to be as strict: RFC 8259, no constants, no double keys, no infinite numbers."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) != len(pairs):
            raise Refused("twice")
        return dict(pairs)

    def finite(digits: str) -> float:
        if math.isinf(float(digits)):
            raise Refused("infinite")
        return float(digits)

    def constant(name: str) -> object:
        raise Refused(name)

    value: object = json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=constant)
    json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair cannot be encoded
    return value


def compare(text: str) -> None:
    """Both read the same value, or both refuse."""
    try:
        expected = second_opinion(text)
    except (ValueError, RecursionError):
        with pytest.raises(JsonRefused):
            parse_json(text)
    else:
        assert same(expected, parse_json(text))


PIECES = st.sampled_from(
    [
        *'{}[],:"0123456789.eE+- \n\t\\',
        "null",
        "true",
        "false",
        '"a"',
        '"b":',
        '"a":1',
        "\\u00",
        "\\ud83d",
        "é",
        "\ufeff",
    ]
)


@given(text=st.lists(PIECES, max_size=12).map("".join))
@example('{"a":1,"a":1}')
@example('{"a":1,"\\u0061":1}')
@example('["\\u0022",{"a":"","a":1}]')
@example('{"a":"x","a":"\\"\\""}')
@example('["Infinity",1e999]')
@example('{"a":{"b":1,"b":2}}')
def test_XJ4_XJ5_parser_and_second_opinion_agree_on_every_text(text: str) -> None:
    compare(text)


@given(value=JSON_VALUES, data=st.data())
def test_XJ4_a_damaged_text_is_refused_or_read_as_what_it_says(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    place = data.draw(st.integers(0, len(text)))
    damaged = text[:place] + data.draw(st.sampled_from(['"', "\\", ",", "0", "}", "]", " ", ""])) + text[place + 1 :]
    compare(damaged)


@given(st.binary(max_size=30))
def test_XJ4_no_bytes_crash_the_parser(data: bytes) -> None:
    try:
        expected = second_opinion(data.decode())
    except ValueError:
        with pytest.raises(JsonRefused):
            parse_json(data)
    else:
        assert same(expected, parse_json(data))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":1,"a":2}', "the key 'a' stands twice in one object"),
        ('{"a":1,"b":{"c":1,"c":1}}', "the key 'c' stands twice"),
        ('{"\\u0061":1,"a":2}', "the key 'a' stands twice"),
        ('{"a\\/b":1,"a/b":2}', "the key 'a/b' stands twice"),
        ('{"":1,"":2}', "the key '' stands twice"),
        ('[{"x":"\\u0022\\u0022","x":1}]', "the key 'x' stands twice"),
        ('{"k":"' + "x" * 50 + '","k":[]}', "the key 'k' stands twice"),
        ('{"' + "k" * 500 + '":1,"' + "k" * 500 + '":2}', "the key '" + "k" * 40 + "…' stands twice"),
        ("9" * 5000, "number out of range at line 1 column"),
        ("-" + "9" * 5000, "number out of range"),
        ("1e999", "the number 1e999 is too large"),
        ("[-1e" + "9" * 100 + "]", "the number -1e" + "9" * 37 + "… is too large"),
        ('["Infinity", 1E+400]', "the number 1E\\+400 is too large"),
        ("[1,\nNaN]", "expected value at line 2 column 1"),
        ("-Infinity", "invalid number at line 1 column 2"),
        ("[" * 100_000 + "]" * 100_000, "recursion limit exceeded at line 1 column 202"),
        ('{"a":' * 100_000, "recursion limit exceeded"),
        ('{"a" 1}', "expected `:` at line 1 column 6"),
        ('"\ud800"', "the text holds half of a surrogate pair"),
        (b'["\xff"]', r"byte 2 is not UTF-8 \(invalid start byte\)"),
    ],
)
def test_XJ5_XL6_a_refusal_says_what_is_wrong_and_where(text: str | bytes, reason: str) -> None:
    with pytest.raises(JsonRefused, match=f"Invalid JSON: {reason}"):
        parse_json(text)


def test_XJ5_equal_values_do_not_make_a_double_key_harmless() -> None:
    with pytest.raises(JsonRefused):
        parse_object('{"path":"a","path":"a"}')


@pytest.mark.parametrize(
    "text", ["[" * 500_000, '{"a":' * 100_000, "9" * 500_000, "1e" + "9" * 400_000, '["' + "\\u0022" * 80_000]
)
def test_XJ5_what_is_hostile_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(JsonRefused):
        parse_json(text)
    assert time.process_time() - began < 5


def test_XL6_the_limit_counts_bytes_not_characters() -> None:
    assert parse_json('"' + "a" * 8 + '"', limit_bytes=10) == "a" * 8
    assert parse_json('"' + "é" * 4 + '"', limit_bytes=10) == "é" * 4
    for text in ('"' + "a" * 9 + '"', '"' + "é" * 5 + '"', '"' + "😀" * 3 + '"', '"' + "\ud800" * 9 + '"'):
        with pytest.raises(JsonRefused, match=r"larger than 10 bytes\. Send less at once"):
            parse_json(text, limit_bytes=10)
    with pytest.raises(JsonRefused, match="larger than 524,288 bytes"):
        parse_json('"' + "a" * 524_288 + '"')
    with pytest.raises(JsonRefused, match="larger than 10 bytes"):
        parse_json('"ééééé"'.encode(), limit_bytes=10)
    assert parse_json('"éééé"'.encode(), limit_bytes=10) == "éééé"


@pytest.mark.parametrize("text", ["", " ", "\n\t\r "])
def test_no_text_counts_as_no_arguments(text: str) -> None:
    assert parse_object(text) == {}


@pytest.mark.parametrize("text", ["\x0c", "\u00a0", "\u2003", "\ufeff", "\x00", "\x1f"])
def test_XJ4_blanks_that_json_does_not_know_are_no_arguments_either_way(text: str) -> None:
    with pytest.raises(JsonRefused):
        parse_object(text)


def test_arguments_are_an_object() -> None:
    assert parse_object(' {"a": [1]} ') == {"a": [1]}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[]", "an array"),
        ('"{}"', "a string"),
        ("true", "a boolean"),
        ("1", "a number"),
        ("1.5", "a number"),
        ("null", "null"),
    ],
)
def test_XL6_arguments_of_another_kind_are_refused_by_name(text: str, kind: str) -> None:
    with pytest.raises(JsonRefused, match=f"must be a JSON object such as {{}}, not {kind}"):
        parse_object(text)
