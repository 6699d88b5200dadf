"""The languages whose definitions can be read: their files, their grammar and its wheel, our query."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language, and where its parser comes from."""

    name: str
    title: str
    """As people write it."""
    extensions: tuple[str, ...]
    grammar: str
    """The module of the grammar's wheel."""
    function: str = "language"
    """The function of that module that hands the grammar out."""
    query: str
    """Which file of `queries/` has the definitions."""
    comment: bytes = b"//"
    """How a line of comment begins."""

    @property
    def is_ecmascript(self) -> bool:
        """Whether it is JavaScript or one of its relatives."""
        return self.query in {"javascript", "typescript"}


_ROWS: Final = (
    ("python", "Python", ".py .pyi .pyw", "python", "language", "python", b"#"),
    ("javascript", "JavaScript", ".js .mjs .cjs", "javascript", "language", "javascript", b"//"),
    ("jsx", "JSX", ".jsx", "javascript", "language", "javascript", b"//"),
    ("typescript", "TypeScript", ".ts .mts .cts", "typescript", "language_typescript", "typescript", b"//"),
    ("tsx", "TSX", ".tsx", "typescript", "language_tsx", "typescript", b"//"),
    ("go", "Go", ".go", "go", "language", "go", b"//"),
    ("rust", "Rust", ".rs", "rust", "language", "rust", b"//"),
    ("java", "Java", ".java", "java", "language", "java", b"//"),
    ("c", "C", ".c .h", "c", "language", "c", b"//"),
    ("cpp", "C++", ".cpp .cc .cxx .c++ .hpp .hh .hxx .ipp .inl", "cpp", "language", "cpp", b"//"),
    ("csharp", "C#", ".cs", "c_sharp", "language", "csharp", b"//"),
    ("ruby", "Ruby", ".rb .rake .gemspec", "ruby", "language", "ruby", b"#"),
    ("php", "PHP", ".php .phtml", "php", "language_php", "php", b"//"),
    ("kotlin", "Kotlin", ".kt .kts", "kotlin", "language", "kotlin", b"//"),
    ("swift", "Swift", ".swift", "swift", "language", "swift", b"//"),
    ("scala", "Scala", ".scala .sc", "scala", "language", "scala", b"//"),
    ("bash", "Bash", ".sh .bash", "bash", "language", "bash", b"#"),
    ("lua", "Lua", ".lua", "lua", "language", "lua", b"--"),
)
LANGUAGES: Final = {
    name: Language(
        name=name,
        title=title,
        extensions=tuple(extensions.split()),
        grammar=f"tree_sitter_{grammar}",
        function=function,
        query=query,
        comment=comment,
    )
    for name, title, extensions, grammar, function, query, comment in _ROWS
}
"""Every language by its name."""

_BY_EXTENSION: Final = {end: language for language in LANGUAGES.values() for end in language.extensions}
_CPP_SIGNS: Final = (b"\nclass ", b"\nnamespace ", b"\ntemplate", b"::", b"\npublic:", b"\nprivate:", b"#include <c")


def language_of(path: str, data: bytes | None = None) -> Language | None:
    """The language of a file by its extension; its content tells a C++ header from one of C."""
    name = path[path.rfind("/") + 1 :].lower()
    language = _BY_EXTENSION.get(name[name.rfind(".") :]) if "." in name else None
    is_header = language is not None and language.name == "c" and name.endswith(".h")
    if is_header and data is not None and any(sign in data for sign in _CPP_SIGNS):
        return LANGUAGES["cpp"]
    return language


@cache
def is_installed(language: Language) -> bool:
    """Whether the wheel of its grammar is there; most come with the extra `languages`."""
    return find_spec(language.grammar) is not None


def not_installed() -> Iterator[Language]:
    """The languages that are known, but cannot be read here."""
    return (language for language in LANGUAGES.values() if not is_installed(language))


@cache
def grammar(language: Language) -> "Grammar":
    """The grammar, loaded once a process."""
    from tree_sitter import Language as Grammar  # noqa: PLC0415 - a compiled library, only where files are parsed

    return Grammar(getattr(import_module(language.grammar), language.function)())


@cache
def query(language: Language) -> "Query":
    """The query for its definitions, compiled once a process."""
    from tree_sitter import Query  # noqa: PLC0415 - as above

    text = files(__package__).joinpath("queries", f"{language.query}.scm").read_text(encoding="utf-8")
    return Query(grammar(language), text)
