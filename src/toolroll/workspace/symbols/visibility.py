"""Whether other files may use a definition, as its language has it."""

import re
from typing import Final

_PRIVATE: Final = re.compile(rb"\b(?:private|fileprivate)\b")
_PUBLIC: Final = re.compile(rb"\b(?:public|protected|internal)\b")
_STATIC: Final = re.compile(rb"\bstatic\b")
_PUB: Final = re.compile(rb"\bpub\b")
_EXPORT: Final = re.compile(rb"\bexport\b")
_LOCAL: Final = re.compile(rb"\blocal\b")

_SAID: Final = {
    "csharp": _PUBLIC,
    "javascript": _EXPORT,
    "jsx": _EXPORT,
    "rust": _PUB,
    "tsx": _EXPORT,
    "typescript": _EXPORT,
}
"""Languages where it is said that a definition is for others."""
_HIDDEN: Final = {
    "c": _STATIC,
    "cpp": re.compile(_STATIC.pattern + b"|" + _PRIVATE.pattern),
    "java": _PRIVATE,
    "kotlin": _PRIVATE,
    "lua": _LOCAL,
    "php": _PRIVATE,
    "scala": _PRIVATE,
    "swift": _PRIVATE,
}
"""Languages where it is said that it is not."""
_ECMASCRIPT: Final = frozenset({"javascript", "jsx", "tsx", "typescript"})
_ALWAYS_OPEN: Final = frozenset({"enum", "interface", "trait"})
"""What belongs to these is as open as they are."""


def is_exported(language: str, name: str, before: bytes, parent_kind: str | None) -> bool:
    """Whether a definition is for others, by its name and the words `before` it; whoever holds it decides as well."""
    if language == "python":
        return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))
    if language == "go":
        return name[:1].isupper()
    if parent_kind in _ALWAYS_OPEN:
        return True
    if language in _ECMASCRIPT and parent_kind is not None:
        return not name.startswith("#") and not _PRIVATE.search(before)
    if language == "csharp" and parent_kind in {None, "module"}:  # types are for the whole program
        return _PRIVATE.search(before) is None
    if language == "cpp" and parent_kind is not None:
        return True
    if (said := _SAID.get(language)) is not None:
        return said.search(before) is not None
    hidden = _HIDDEN.get(language)
    return hidden is None or hidden.search(before) is None
