"""Settings in JSON with comments and commas, and in TOML and INI."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.workspace.symbols.imports.manifests import (
    as_table,
    as_text,
    as_texts,
    read_ini,
    read_table,
    read_toml,
    within,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('\ufeff{"a": 1, // why\n "b": [1, 2, ], /* x */ }', {"a": 1, "b": [1, 2]}),
        ('{"a": "// no, /* comment */ ,}"}', {"a": "// no, /* comment */ ,}"}),
        ('{"a": "\\",]",}', {"a": '",]'}),
        ('{"a": 1, // last\r\n}', {"a": 1}),
        ('{"a": 1,/* one */ // two\n}', {"a": 1}),
        ("[1]", {}),
        ('{"a": ', {}),
        ('{"a": "', {}),
        ('{"a": 1} /* open', {"a": 1}),
        ("", {}),
        ("[" * 100_000, {}),
    ],
)
def test_C15_settings_in_tolerant_json(text: str, expected: object) -> None:
    assert read_table(text.encode()) == expected


def test_C15_no_file_is_an_empty_table() -> None:
    assert read_table(None) == read_toml(None) == read_ini(None) == {}


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_C15_plain_json_reads_as_json(value: dict[str, object]) -> None:
    assert read_table(json.dumps(value).encode()) == value
    assert read_table(json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")) == value


@given(st.binary(max_size=100))
def test_C15_any_bytes_are_a_table(data: bytes) -> None:
    assert isinstance(read_table(data), dict)
    assert isinstance(read_toml(data), dict)
    assert isinstance(read_ini(data), dict)


@pytest.mark.parametrize("piece", ["/*", '"', '\\"', '"\\"', ",", "//", "/*/", ', "'])
def test_C15_hostile_settings_take_no_time(piece: str) -> None:
    started = time.process_time()
    assert read_table((piece * (300_000 // len(piece))).encode()) == {}
    assert time.process_time() - started < 3


def test_C15_values_of_the_wrong_type_are_left_out() -> None:
    assert (as_table([1]), as_table({"a": 1})) == ({}, {"a": 1})
    assert (as_texts("a"), as_texts(["a", 1]), as_texts(None)) == (["a"], ["a"], [])
    assert (as_text("a"), as_text(""), as_text(1)) == ("a", None, None)
    assert within({"a": {"b": {"c": 1}}, "x": 1}, "a", "b") == {"c": 1}
    assert within({"x": 1}, "x", "y") == {}
