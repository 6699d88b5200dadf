"""Read a function's docstring for a model: the summary, and a line per parameter."""

import inspect
import re
from dataclasses import dataclass
from typing import Final

_HEADER: Final = re.compile(r"^(?:Args|Arguments|Parameters|Returns?|Yields?|Raises|Examples?|Notes?):\s*$")
_ARGS_HEADER: Final = re.compile(r"^(?:Args|Arguments|Parameters):\s*$")
# `limit (Callable[[int], str], optional): text`; the type in parentheses may hold some itself
_ENTRY: Final = re.compile(r"^\*{0,2}(?P<name>\w+)(?:\s*\(.*?\))?\s*:(?:\s+(?P<text>.*))?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """The summary paragraph and the text of each parameter in the `Args:` section."""

    summary: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Docstring:
    """Return the parts of a Google-style docstring; what is not there is empty."""
    lines = inspect.cleandoc(text or "").splitlines()
    return Docstring(summary=_summary(lines), parameters=_parameters(_args_section(lines)))


def _summary(lines: list[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        if not line.strip() or _HEADER.match(line):
            break
        paragraph.append(line.strip())
    return " ".join(paragraph)


def _args_section(lines: list[str]) -> list[str]:
    start = next((number for number, line in enumerate(lines) if _ARGS_HEADER.match(line)), None)
    if start is None:
        return []
    section: list[str] = []
    for line in lines[start + 1 :]:
        if line.strip() and not line[0].isspace():
            break
        section.append(line)
    return inspect.cleandoc("\n" + "\n".join(section)).splitlines()


def _parameters(section: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    current: str | None = None
    for line in section:
        entry = _ENTRY.match(line)
        if entry:
            current = entry["name"]
            found[current] = entry["text"] or ""
        elif current and line.strip():
            found[current] = f"{found[current]} {line.strip()}".strip()
    return found
