"""Which language a file is in, and that every query fits its grammar."""

import pytest

from toolroll.workspace.symbols.languages import LANGUAGES, grammar, is_installed, language_of, not_installed, query

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
    assert grammar(language) is grammar(language)
    assert query(language).pattern_count > 1


def test_C20_a_wheel_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(not_installed()) == []
    is_installed.cache_clear()
    monkeypatch.setattr("toolroll.workspace.symbols.languages.find_spec", lambda name: None if "lua" in name else name)
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
