"""Know every language: by its name, and by the files it is in. A new language is one module and one line here."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from posixpath import basename
from typing import Final

from toolroll.workspace.symbols.languages import (
    bash,
    c,
    cpp,
    csharp,
    go,
    java,
    javascript,
    kotlin,
    lua,
    php,
    python,
    ruby,
    rust,
    scala,
    swift,
    typescript,
)
from toolroll.workspace.symbols.languages.language import Language, is_installed

_MODULES: Final = (
    python,
    javascript,
    typescript,
    go,
    rust,
    java,
    c,
    cpp,
    csharp,
    ruby,
    php,
    kotlin,
    swift,
    scala,
    bash,
    lua,
)
LANGUAGES: Final[dict[str, Language]] = {}
"""Every language by its name, in the order in which lists show them."""

_BY_EXTENSION: Final[dict[str, Language]] = {}
_SHARING: Final[dict[str, list[Language]]] = {}
_MANIFESTS: Final[set[str]] = set()
_MANIFEST_PATTERNS: Final[set[str]] = set()


def add_language(language: Language) -> None:
    """Make a language known; one of the same name or with the same extensions gives way."""
    LANGUAGES[language.name] = language
    _BY_EXTENSION.update(dict.fromkeys(language.extensions, language))
    for extension in language.shared_extensions:
        _SHARING.setdefault(extension, []).append(language)
    for manifest in language.manifests:
        (_MANIFEST_PATTERNS if "*" in manifest else _MANIFESTS).add(manifest)


for _module in _MODULES:
    for _language in _module.LANGUAGES:
        add_language(_language)


def language_of(path: str, data: bytes | None = None) -> Language | None:
    """Return the language of a file by its extension; its content tells a C++ header from one of C."""
    name = path[path.rfind("/") + 1 :].lower()
    if "." not in name:
        return None
    extension = name[name.rfind(".") :]
    for language in _SHARING.get(extension, ()) if data is not None else ():
        if language.recognizes is not None and data is not None and language.recognizes(data):
            return language
    return _BY_EXTENSION.get(extension)


def not_installed() -> Iterator[Language]:
    """Yield the languages that are known, but cannot be read here."""
    return (language for language in LANGUAGES.values() if not is_installed(language))


def is_manifest(path: str) -> bool:
    """Return whether a change of this file may change where imports of others lead."""
    name = basename(path)
    return name in _MANIFESTS or any(fnmatchcase(name, pattern) for pattern in _MANIFEST_PATTERNS)


def importable_extensions() -> tuple[str, ...]:
    """Return the extensions of all files that an import may name without them."""
    return tuple(dict.fromkeys(end for one in LANGUAGES.values() for end in (*one.extensions, *one.importable)))


def package_files() -> tuple[str, ...]:
    """Return the names of all files that stand for their folder."""
    return tuple(dict.fromkeys(name for one in LANGUAGES.values() for name in one.package_files))
