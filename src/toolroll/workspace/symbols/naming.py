"""Names as they are written at a definition, made the names that people look for."""

import re
from typing import Final

_GENERIC: Final = re.compile(r"[<\[(\])].*", re.DOTALL)
_REFERENCE: Final = re.compile(r"^[*&\s]*(?:'\w+\s+)?(?:(?:mut|dyn)\s+)?")
_SEPARATOR: Final = re.compile(r"::|\\|:")
_MODULE_OBJECT: Final = re.compile(r"^(?:(?:module\.)?exports|this|self)\b\.?|\.?\bprototype$")
_BLANKS: Final = re.compile(r"\s+")
_QUALIFIED: Final = re.compile(r"^(.+)(?:::)((?:operator\b.*|~?\w+))$", re.DOTALL)


def split_name(text: str) -> tuple[str | None, str]:
    """What a qualified name belongs to, and the name itself: `a::Foo::run` is `run` of `a.Foo`."""
    if text.isidentifier():  # nearly always
        return None, text
    text = " ".join(text.split())
    if len(text) > 1 and text[0] in "\"'`" and text[-1] == text[0]:
        return None, text[1:-1]
    if found := _QUALIFIED.match(text):
        return owner(found[1]), found[2]
    if text.startswith("operator "):  # a conversion of C++ comes with its parameters: `operator bool() const`
        return None, text.partition("(")[0].strip()
    return None, text.removeprefix(":")


def owner(text: str) -> str | None:
    """The type or table that a receiver, a prototype or an `impl` names, as a dotted path; None for a module."""
    text = _GENERIC.sub("", _REFERENCE.sub("", _receiver(text)))
    return _MODULE_OBJECT.sub("", _SEPARATOR.sub(".", _BLANKS.sub("", text))).strip(".") or None


def _receiver(text: str) -> str:
    """Slices and references of Rust (`impl Trait for &[Foo]`) belong to what is inside."""
    stripped = text.lstrip("&* ")
    return stripped[1:] if stripped.startswith(("[", "(")) else text


def joined(*parts: str | None) -> str | None:
    """A dotted path of those parts that are there."""
    return ".".join(part for part in parts if part) or None
