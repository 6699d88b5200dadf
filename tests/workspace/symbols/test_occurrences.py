"""Where a name is a name: not in strings and comments."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolroll.workspace.symbols.languages import LANGUAGES
from toolroll.workspace.symbols.occurrences import occurrences


@pytest.mark.parametrize(
    ("language", "text", "places"),
    [
        ("python", "run = 1\n# run\ns = 'run'\nrunner()\nx.run()\ndef run(): pass\n", [(1, 1), (5, 3), (6, 5)]),
        ("javascript", "run(`run`); // run\nconst o = { run };\n/run/.test(s)\n", [(1, 1), (2, 13)]),
        ("tsx", "const a = <b>run</b>;\n<run.x run={run}/>;\n", [(2, 2), (2, 8), (2, 13)]),
        ("bash", "run() { :; }\nrun a\necho run\n", [(1, 1), (2, 1)]),
        ("php", "<?php run($run, 'run');\n", [(1, 7), (1, 12)]),
        ("ruby", "run; 'run'; # run\n", [(1, 1)]),
    ],
)
def test_C23_only_names_count(language: str, text: str, places: list[tuple[int, int]]) -> None:
    assert places == [(line, column) for line, column, _ in occurrences(language, text.encode(), "run")]


def test_C23_a_file_without_the_word_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.workspace.symbols.occurrences.parse", None)
    assert occurrences("python", b"runner = 1\nrunning\n", "run") == []


def test_C23_names_with_odd_letters_are_whole_words() -> None:
    found = occurrences("python", "жук = 1\nжуки = 2\n  \nжук\n".encode(), "жук")
    assert found == [(1, 1, "жук = 1"), (4, 1, "жук")]


@settings(max_examples=100)
@given(language=st.sampled_from(sorted(LANGUAGES)), data=st.binary(max_size=60), name=st.text(min_size=1, max_size=5))
def test_C23_no_bytes_and_no_name_make_it_fail(language: str, data: bytes, name: str) -> None:
    occurrences(language, data + name.encode("utf-8", "replace") + data, name.encode("utf-8", "replace").decode())
