"""Which language a file is in, what a language says of its files, and that every query fits its grammar."""

import pytest

from toolroll.workspace.symbols.extract import extract
from toolroll.workspace.symbols.imports.edges import Resolver
from toolroll.workspace.symbols.languages import registry
from toolroll.workspace.symbols.languages.families.scripts import ScriptResolver
from toolroll.workspace.symbols.languages.language import Language, is_installed
from toolroll.workspace.symbols.languages.registry import (
    LANGUAGES,
    add_language,
    is_manifest,
    language_of,
    not_installed,
    package_files,
)
from toolroll.workspace.symbols.parser import compile_query, fix_syntax, load_grammar

PROMISED = [
    "python",
    "javascript",
    "jsx",
    "typescript",
    "tsx",
    "go",
    "rust",
    "java",
    "c",
    "cpp",
    "csharp",
    "ruby",
    "php",
    "kotlin",
    "swift",
    "scala",
    "bash",
    "lua",
]


def test_C20_every_promised_language_is_known() -> None:
    assert list(LANGUAGES) == PROMISED


@pytest.mark.parametrize("name", PROMISED)
def test_C20_every_query_fits_its_grammar(name: str) -> None:
    language = LANGUAGES[name]
    assert is_installed(language)
    assert load_grammar(language) is load_grammar(language)
    assert compile_query(language, language.definitions).pattern_count > 1
    assert compile_query(language, language.imports).pattern_count >= 1
    assert language.read_import is not None


def test_C20_a_wheel_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(not_installed()) == []
    is_installed.cache_clear()
    monkeypatch.setattr(
        "toolroll.workspace.symbols.languages.language.find_spec", lambda name: None if "lua" in name else name
    )
    assert [language.title for language in not_installed()] == ["Lua"]
    is_installed.cache_clear()


@pytest.mark.parametrize(
    ("path", "data", "name"),
    [
        ("a/b.py", None, "python"),
        ("A.PY", None, "python"),
        ("a.b/Makefile", None, None),
        ("x.unknown", None, None),
        ("x.jsx", b"", "jsx"),
        ("x.h", None, "c"),
        ("x.h", b"int f(void);\n", "c"),
        ("x.h", b"\nnamespace a {}\n", "cpp"),
        ("x.c", b"a::b", "c"),
    ],
)
def test_C20_the_language_is_told_by_extension_and_headers_by_content(
    path: str, data: bytes | None, name: str | None
) -> None:
    language = language_of(path, data)
    assert name == (language.name if language else None)


class ToyResolver(ScriptResolver):
    endings = (".toy",)


def make_toy() -> Language:
    """A language in one place: it has the grammar of Python, and little else of it."""
    return Language(
        name="toy",
        title="Toy",
        extensions=(".toy",),
        grammar="tree_sitter_python",
        definitions="(function_definition name: (identifier) @name) @function",
        imports="(import_statement) @statement",
        read_import=lambda node, source: iter([source.statement(node, source.field(node, "name"))]),
        resolver=ToyResolver,
        package_files=("main.toy",),
        manifests=("toy.json", "toy-*.json"),
        comment=b"#",
        is_exported=lambda name, before, parent_kind: name != "hidden",
    )


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Language:
    language = make_toy()
    monkeypatch.setitem(registry.LANGUAGES, "toy", language)  # both are taken out again afterwards
    monkeypatch.setitem(registry._BY_EXTENSION, ".toy", language)
    for name in ("_MANIFESTS", "_MANIFEST_PATTERNS"):
        monkeypatch.setattr(registry, name, set(getattr(registry, name)))
    add_language(language)
    return language


def test_C20_a_language_is_added_in_one_place(toy: Language) -> None:
    assert language_of("src/a.TOY") is toy
    found = extract("toy", b"import b\n\n# Runs.\ndef run(): pass\n\ndef hidden(): pass\n")
    assert [(one.name, one.kind, one.doc, one.exported) for one in found.symbols] == [
        ("run", "function", "Runs.", True),
        ("hidden", "function", None, False),
    ]
    [target] = Resolver(["src/a.toy", "lib/b.toy"], lambda path: None).resolve("src/a.toy", found.imports[0])
    assert (target.path, target.certainty) == ("lib/b.toy", "resolved")
    assert "main.toy" in package_files()
    assert is_manifest("x/toy.json")
    assert is_manifest("toy-x.json")


def test_C15_manifests_are_those_of_all_languages() -> None:
    assert is_manifest("a/tsconfig.app.json")
    assert is_manifest("pyproject.toml")
    assert not is_manifest("a/x.json")
    assert not is_manifest("toy.json")


@pytest.mark.parametrize(
    ("language", "name", "before", "parent", "exported"),
    [
        ("python", "_x", b"", None, False),
        ("python", "__init__", b"", "class", True),
        ("go", "x", b"", None, False),
        ("csharp", "X", b"class ", None, True),
        ("csharp", "X", b"private class ", None, False),
        ("csharp", "x", b"int ", "class", False),
        ("csharp", "x", b"public int ", "class", True),
        ("rust", "x", b"", "trait", True),
        ("typescript", "x", b"private ", "class", False),
        ("typescript", "#x", b"", "class", False),
        ("typescript", "x", b"", None, False),
        ("cpp", "x", b"static ", "class", True),
        ("cpp", "x", b"static ", None, False),
        ("swift", "x", b"fileprivate ", None, False),
        ("ruby", "x", b"", None, True),
    ],
)
def test_C20_what_is_exported_is_as_the_language_has_it(
    language: str, name: str, before: bytes, parent: str | None, exported: bool
) -> None:
    assert exported is LANGUAGES[language].is_exported(name, before, parent)


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("typescript", b"interface A<in out K, out V> {}", b"interface A<       K,     V> {}"),
        ("typescript", b"type A<type> = (type extends 1 ? 2 : 3)", b"type A<type> = (TTTT extends 1 ? 2 : 3)"),
        ("typescript", b"type A<type extends B> = type", None),
        ("typescript", b"{ a: 1\n  <T>(): T }", b"{ a: 1\n ;<T>(): T }"),
        ("tsx", b"type A = `\\`x`", b"type A = `  x`"),
        ("kotlin", b"interface I { fun f() }", b"interface I { fun f();}"),
        ("typescript", b"for (const x in Y) {}", None),
        ("python", b"x", None),
    ],
)
def test_C20_what_a_grammar_does_not_know_is_replaced_at_the_same_length(
    language: str, before: bytes, after: bytes | None
) -> None:
    assert after == fix_syntax(LANGUAGES[language], before)
    assert after is None or len(before) == len(after)
