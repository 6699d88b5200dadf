"""Definitions out of bytes: what each language has, and that no bytes do harm."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workspace.symbols.samples import SAMPLES

from toolroll.workspace.symbols.describe import as_utf8
from toolroll.workspace.symbols.extract import MAX_NAME_CHARACTERS, extract, find_occurrences
from toolroll.workspace.symbols.languages.python import blank_long_comments
from toolroll.workspace.symbols.languages.registry import LANGUAGES
from toolroll.workspace.symbols.symbol import Symbol


def told(symbol: Symbol) -> str:
    return f"{'' if symbol.exported else '-'}{symbol.kind} {symbol.name_path} {symbol.line}"


def one(language: str, text: str, name: str) -> Symbol:
    return next(symbol for symbol in extract(language, text.encode()).symbols if symbol.name == name)


@pytest.mark.parametrize("language", SAMPLES)
def test_C20_a_language_gives_kinds_paths_lines_and_what_is_exported(language: str) -> None:
    text, expected = SAMPLES[language]
    assert expected.splitlines() == [told(symbol) for symbol in extract(language, text.encode()).symbols]


def test_C20_every_language_has_a_sample() -> None:
    assert set(SAMPLES) == set(LANGUAGES)


@pytest.mark.parametrize(
    ("language", "name", "doc"),
    [
        ("python", "User", "A person."),
        ("python", "load", "Load it."),
        ("python", "late", None),
        ("javascript", "add", "Adds."),
        ("javascript", "Cart", None),
        ("go", "Store", "Store keeps things."),
        ("go", "Get", "Get finds one."),
        ("rust", "Point", "A point."),
        ("java", "Users", "A service."),
        ("c", "add", "Adds two."),
        ("cpp", "Shape", "A shape."),
        ("csharp", "Cart", "A cart."),
        ("ruby", "Cart", "A cart."),
        ("php", "Cart", "A cart."),
        ("kotlin", "User", "A user."),
        ("bash", "hello", "Says hello."),
        ("lua", "load", "Loads it."),
    ],
)
def test_C20_the_first_line_of_what_is_written_about_it(language: str, name: str, doc: str | None) -> None:
    assert doc == one(language, SAMPLES[language][0], name).doc


@pytest.mark.parametrize(
    ("language", "name", "signature"),
    [
        ("python", "load", "async def load(self, *, deep: bool = False) -> None"),
        ("python", "LIMIT", "LIMIT: int = 3"),
        ("javascript", "Cart", "export default class Cart"),
        ("javascript", "twice", "const twice = (n) => n * 2"),
        ("typescript", "Base", "export abstract class Base<T>"),
        ("go", "Get", "func (s *Store[T]) Get(id ID)"),
        ("rust", "new", "pub fn new() -> Self"),
        ("kotlin", "User", "data class User(val name: String, age: Int) : Base()"),
        ("c", "MAX", "#define MAX 10"),
    ],
)
def test_C20_the_signature_is_the_definition_without_its_body(language: str, name: str, signature: str) -> None:
    assert signature == one(language, SAMPLES[language][0], name).signature


def test_C14_C20_every_name_that_an_assignment_of_python_binds_is_found() -> None:
    text = """x, (y, *z) = 1, (2, 3)
a, *b = [1]
[c, d] = 1, 2
(e := 3)
f = g, [h, *i], j = 1
q.r, s[t], k = 1
for _ in (l := []):
    m, n = _
    while n:
        o = [p := 1 for _ in n]
    else:
        q, = 1
try:
    pass
finally:
    [r] = 1
match a:
    case 1:
        s, t = 1
class C:
    u, *v = 1, 2
def no():
    (nor := 1)
    this, (or_, *that) = 1
    for _ in []:
        more, least = 1
lambda: (inner := 1)
"""
    found = [symbol.name_path for symbol in extract("python", text.encode()).symbols]
    assert found == [*"xyzabcdefghijklmnopqrst", "C", "C.u", "C.v", "no"]


def test_C20_a_span_begins_at_the_decorators_and_ends_with_the_body() -> None:
    user = one("python", SAMPLES["python"][0], "User")
    assert (user.start_line, user.line, user.column, user.end_line) == (7, 8, 7, 18)
    assert (one("c", "#define X 1\nint y;\n", "X").line, one("c", "#define X 1\nint y;\n", "X").end_line) == (1, 1)


def test_C20_columns_count_characters() -> None:
    assert one("javascript", "/*é*/ x = 1; class ж {}", "ж").column - 12 == 8
    assert one("javascript", "é; var z = 1;".replace("é; var", "/**/var"), "z").column - 6 == 3


def test_C20_long_names_are_left_out() -> None:
    data = b"def " + b"x" * (MAX_NAME_CHARACTERS + 1) + b"(): pass\ndef y(): pass\n"
    assert [symbol.name for symbol in extract("python", data).symbols] == ["y"]


def test_C20_imports_come_along_and_errors_are_told() -> None:
    found = extract("python", b"from a import b\ndef f(:\n")
    assert [statement.module for statement in found.imports] == ["a"]
    assert found.has_error
    assert not extract("python", b"x = 1\n").has_error


def test_C20_syntax_that_the_grammar_does_not_know_costs_nothing_else() -> None:
    text = "interface I { fun q() }\nenum class E { A, B }\nobject O { fun z() {} }\nval top = 1\n"
    assert [one.name for one in extract("kotlin", text.encode()).symbols] == ["I", "q", "E", "A", "B", "O", "z", "top"]
    variance = extract("typescript", b"export interface Cache<in out Key, out R> { get(k: Key): R }\n").symbols
    assert [one.name for one in variance] == ["Cache", "get"]
    assert list(extract("typescript", b"interface <in out Key>").symbols) == []
    keyword = (
        b"type A<type> =\n  | (type extends 1 ? 2 : 3)\n  | (type extends 4 ? 5 : 6)\ntype B = 1\nfunction c() {}\n"
    )
    assert [one.name for one in extract("typescript", keyword).symbols] == ["A", "B", "c"]
    assert extract("typescript", keyword).symbols[0].signature == "type A<type>"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig", "shift-jis"])
def test_C20_other_encodings_give_the_same_names(encoding: str) -> None:
    text = "# caf\xe9\ndef f():\n    pass\n" if encoding == "latin-1" else "# ア\ndef f():\n    pass\n"
    assert [(symbol.name, symbol.line) for symbol in extract("python", text.encode(encoding)).symbols] == [("f", 2)]


def test_C20_rows_and_columns_above_256_do_not_crash_the_binding() -> None:
    """Points of py-tree-sitter 0.26.0 are freed too often: nothing here may ask for one."""
    data = b"".join(b"%sdef f%d(): pass\n" % (b"if 1: x = '" + b"y" * 300 + b"'\n", n) for n in range(1_000))
    for _ in range(3):
        assert len([symbol for symbol in extract("python", data).symbols if symbol.kind == "function"]) == 1_000


SNIPPETS = [line for text, _ in SAMPLES.values() for line in text.splitlines()]
MIXED = st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=8)), max_size=12).map("\n".join).map(str.encode)
ANY = st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")), MIXED)


@settings(max_examples=200)
@given(language=st.sampled_from(sorted(LANGUAGES)), data=ANY)
def test_C20_no_bytes_make_it_fail_and_spans_lie_in_the_file(language: str, data: bytes) -> None:
    lines = as_utf8(data).count(b"\n") + 1
    for symbol in extract(language, data).symbols:
        assert 1 <= symbol.start_line <= symbol.line <= symbol.end_line <= lines
        assert symbol.column >= 1
        assert symbol.name
        assert "\n" not in symbol.signature


@given(data=st.binary(max_size=100))
def test_C20_whatever_comes_in_is_utf_8_with_the_same_lines(data: bytes) -> None:
    as_utf8(data).decode()
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert data.count(b"\n") == as_utf8(data).count(b"\n")


def test_C21_a_long_run_of_comments_takes_linear_time() -> None:
    text = "x = 1\n" + "# pad needle\n" * 20_000 + "def f():\n    pass\n"
    before = time.process_time()
    found = extract("python", text.encode())
    assert time.process_time() - before < 2
    assert [(symbol.name, symbol.line) for symbol in found.symbols] == [("x", 1), ("f", 20_002)]
    assert not found.has_error


def test_C21_a_string_that_looks_like_comments_keeps_its_end() -> None:
    text = 'x = """\n' + "# pad\n" * 200 + '# end"""\ny = 2\n' + "# more\n" * 200 + "# no end of line"
    assert [(symbol.name, symbol.line) for symbol in extract("python", text.encode()).symbols] == [("x", 1), ("y", 203)]


_LINES = ("# a\n", "  #\n", '# """\n', "x = 1\n", "\n", "#\r\n", "'''\n", "# \u00e9")


@given(st.lists(st.sampled_from(_LINES), max_size=9))
def test_C21_bytes_without_comments_are_as_long(pieces: list[str]) -> None:
    data = "".join(piece * 60 for piece in pieces).encode()
    quiet = blank_long_comments(data)
    assert len(data) == len(quiet)
    assert data.count(b"\n") == quiet.count(b"\n")
    assert all(after in {before, ord(" ")} for before, after in zip(data, quiet, strict=True))


CANARY = "sk-ant-api03-canary-canary-canary-canary-canary-000"


@pytest.mark.parametrize(
    ("language", "text", "signature"),
    [
        ("python", "KEY='correct horse'\n", "KEY='…'"),
        ("python", f'KEY: str = "{CANARY}"\n', 'KEY: str = "…"'),
        ("python", 'KEY = """begin\n' + "x" * 500 + '\n"""\n', 'KEY = """begin'),
        ("python", "KEY = '" + "x" * 500 + "'\n", "KEY = '…"),
        ("python", 'KEY = "1.2.3"\n', 'KEY = "1.2.3"'),
        ("c", '#define KEY "correct horse"\n', '#define KEY "…"'),
        ("python", 'class A:\n    KEY = "correct\\"horse"\n', 'KEY = "…"'),
        ("javascript", f"export const KEY = `{CANARY}`;\n", "export const KEY = `…`"),
        ("python", f"def KEY(a='{CANARY}'): pass\n", "def KEY(a='[redacted:anthropic]')"),
        ("python", 'def KEY(mode="horizontal"): pass\n', 'def KEY(mode="horizontal")'),
        ("typescript", 'export type KEY = "horizontal" | "vertical"\n', 'export type KEY = "horizontal" | "vertical"'),
        ("bash", f"export API_KEY={CANARY}\n", ""),
    ],
)
def test_D6_values_that_may_be_keys_are_not_kept(language: str, text: str, signature: str) -> None:
    found = extract(language, text.encode()).symbols
    assert CANARY not in repr(found)
    assert signature in [symbol.signature for symbol in found if symbol.name == "KEY"] or not signature


def test_D6_comments_lose_their_keys() -> None:
    assert CANARY not in repr(extract("go", f"// Uses {CANARY}.\nfunc F() {{}}\n".encode()))
    assert CANARY not in repr(extract("python", f'def f():\n    """Uses {CANARY}."""\n'.encode()))


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
    assert places == [(line, column) for line, column, _ in find_occurrences(language, text.encode(), "run")]


def test_C23_a_file_without_the_word_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.workspace.symbols.extract.parse", None)
    assert find_occurrences("python", b"runner = 1\nrunning\n", "run") == []


def test_C23_names_with_odd_letters_are_whole_words() -> None:
    found = find_occurrences("python", "жук = 1\nжуки = 2\n  \nжук\n".encode(), "жук")
    assert found == [(1, 1, "жук = 1"), (4, 1, "жук")]


@settings(max_examples=100)
@given(language=st.sampled_from(sorted(LANGUAGES)), data=st.binary(max_size=60), name=st.text(min_size=1, max_size=5))
def test_C23_no_bytes_and_no_name_make_it_fail(language: str, data: bytes, name: str) -> None:
    find_occurrences(language, data + name.encode("utf-8", "replace") + data, name.encode("utf-8", "replace").decode())
