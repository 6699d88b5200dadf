"""Rules for what a path may look like. Nothing here asks the file system.

`parse_path` is the only way from text to a `RelativePath`. Its result is the trimmed text: what was checked is what is
opened, shown and logged. `check_new_name` is stricter, for names that are about to be made; names that exist already
may be odd and can still be opened.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from toolroll.errors import PathRefused
from toolroll.messages import PATH_REFUSED
from toolroll.safe.text import one_line, suspicious

MAX_PATH_CHARACTERS: Final = 4096  # PATH_MAX of Linux, counted in characters: what a caller may type
MAX_COMPONENT_BYTES: Final = 255  # NAME_MAX of ext4, XFS, btrfs, APFS
MAX_COMPONENTS: Final = 128  # a walk holds one descriptor for each, and 1,024 is the usual limit of a process
MAX_SHOWN_CHARACTERS: Final = 1_000  # of a path in an error: half of what the whole message may have

Rule = Literal[
    "absolute",
    "backslash",
    "component_too_long",
    "control",
    "dot",
    "dot_dot",
    "double_slash",
    "empty",
    "home",
    "invisible",
    "outer_space",
    "reserved_character",
    "reserved_name",
    "separator",
    "surrogate",
    "too_deep",
    "too_long",
    "trailing_dot",
    "trailing_quote",
    "trailing_slash",
]

_WHY: Final[dict[Rule, str]] = {
    "absolute": "is absolute. Name it from the root folder, as in 'src/main.py'.",
    "backslash": "has a backslash. Separate folders with '/'.",
    "component_too_long": f"has a name of more than {MAX_COMPONENT_BYTES} bytes. Use a shorter one.",
    "control": "has a control character. Leave it out.",
    "dot": "has a '.' component. Leave it out.",
    "dot_dot": "has a '..' component. Name it from the root folder, without going up.",
    "double_slash": "has an empty component. Write one '/' between two names.",
    "empty": "is empty. Name a file or folder, as in 'src/main.py'.",
    "home": "begins with '~', and home folders are not known here. Name it from the root folder.",
    "invisible": "has an invisible or reordering character, which a new name may not have. Leave it out.",
    "outer_space": "has a name that begins or ends with a space. Such a file cannot be named here: rename it.",
    "reserved_character": 'has one of < > : " | ? * in a new name, which other systems cannot hold. Leave it out.',
    "reserved_name": "has a new name that means a device on Windows. Use another one.",
    "separator": "has a '/' inside one name. Name one component at a time.",
    "surrogate": "is not valid Unicode. Such a file cannot be named here: rename it.",
    "too_deep": f"has more than {MAX_COMPONENTS} components. Use a shorter one.",
    "too_long": "is too long. Use a shorter one.",
    "trailing_dot": "has a name that ends with a dot. Such a file cannot be named here: rename it.",
    "trailing_quote": "has a name that ends with a quote. Write the path without quotes.",
    "trailing_slash": "ends with '/'. Leave it out, for folders too.",
}

# What nearly all names look like breaks no rule of `parse_path`; looking for that first is five times faster.
_ORDINARY: Final = re.compile(r"\.?[A-Za-z0-9_-](?:[A-Za-z0-9_. -]{0,250}[A-Za-z0-9_-])?")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_RESERVED_CHARACTER: Final = re.compile(r'[<>:"|?*\\]')
_RESERVED_NAME: Final = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:[ .].*)?", re.IGNORECASE
)
_DRIVE: Final = re.compile(r"[A-Za-z]:(?:/|$)")
_BLANKS: Final = " \t\r\n"  # what people and models leave around a path by accident
_QUOTES: Final = ("'", '"', "`")


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativePath:
    """A path that cannot leave the folder it is joined to. No parts at all is that folder itself."""

    parts: tuple[str, ...]

    def __post_init__(self) -> None:
        for part in self.parts:
            if rule := _structure_rule(part):
                raise _refusal("/".join(self.parts), rule)
        if len(self.parts) > MAX_COMPONENTS:
            raise _refusal("/".join(self.parts), "too_deep")

    def __str__(self) -> str:
        return "/".join(self.parts) or "."

    @property
    def name(self) -> str:
        """Return the last component; empty for the root."""
        return self.parts[-1] if self.parts else ""

    @property
    def parent(self) -> "RelativePath":
        """Return the folder it is in; the root's is the root."""
        return RelativePath(parts=self.parts[:-1])

    def child(self, name: str) -> "RelativePath":
        """Return the path of one name in this folder; raise `PathRefused` if `parse_path` could not express it."""
        path = RelativePath(parts=(*self.parts, name))
        if rule := _text_rule(str(path)) or _part_rule(name):
            raise _refusal(str(path), rule)
        return path


def parse_path(text: str, *, max_characters: int = MAX_PATH_CHARACTERS) -> RelativePath:
    """Return the path that a text names, or raise `PathRefused` with the rule that it breaks."""
    trimmed = text.strip(_BLANKS)
    if len(trimmed) > max_characters:
        raise _refusal(trimmed, "too_long")
    if rule := _text_rule(trimmed):
        raise _refusal(trimmed, rule)
    parts = tuple(trimmed.split("/"))
    for part in parts:
        if rule := _part_rule(part):
            raise _refusal(trimmed, rule)
    return RelativePath(parts=parts)


def check_new_name(path: RelativePath) -> None:
    """Refuse a path that may be opened where it exists but not made: it would deceive, or not travel."""
    for part in path.parts:
        check_new_part(part, path)


def check_new_part(part: str, path: RelativePath) -> None:
    """Refuse one component of a path as a new name: for folders that exist already, only the rest is new."""
    if rule := _new_part_rule(part):
        raise _refusal(str(path), rule)


def quote_path(text: str) -> str:
    """Return the text as one short line in which every character is visible: for messages and logs."""
    return one_line(text, MAX_SHOWN_CHARACTERS)


def _refusal(path: str, rule: Rule) -> PathRefused:
    name = quote_path(path)
    return PathRefused(PATH_REFUSED(path=name, rule=_WHY[rule]), path=name, rule=rule)


def _text_rule(text: str) -> Rule | None:
    """Return the rule that a whole path breaks."""
    tests: dict[Rule, object] = {
        "empty": not text,
        "surrogate": _SURROGATE.search(text),
        "control": _CONTROL.search(text),
        "backslash": "\\" in text,
        "absolute": text.startswith("/") or _DRIVE.match(text),
        "home": text.startswith("~"),
        "trailing_slash": text.endswith("/"),
    }
    return next((rule for rule, broken in tests.items() if broken), None)


def _structure_rule(part: str) -> Rule | None:
    """Return the rule without which a component could change the meaning of the path around it."""
    if _ORDINARY.fullmatch(part):
        return None
    tests: dict[Rule, object] = {
        "double_slash": not part,
        "dot": part == ".",
        "dot_dot": part == "..",
        "separator": "/" in part,
        "control": "\0" in part,
    }
    return next((rule for rule, broken in tests.items() if broken), None)


def _part_rule(part: str) -> Rule | None:
    """Return the rule that one component breaks; a name that trimming would change cannot be expressed."""
    if _ORDINARY.fullmatch(part):
        return None
    tests: dict[Rule, object] = {
        "outer_space": part != part.strip(),
        "trailing_dot": part.endswith("."),
        "trailing_quote": part.endswith(_QUOTES),
        "component_too_long": len(part.encode()) > MAX_COMPONENT_BYTES,
    }
    return _structure_rule(part) or next((rule for rule, broken in tests.items() if broken), None)


def _new_part_rule(part: str) -> Rule | None:
    """Return the rule that one component breaks as a new name: Trojan source, and what Windows cannot hold."""
    tests: dict[Rule, object] = {
        "surrogate": _SURROGATE.search(part),
        "control": _CONTROL.search(part),
        "invisible": suspicious(part, limit=1),
        "reserved_character": _RESERVED_CHARACTER.search(part),
        "reserved_name": _RESERVED_NAME.fullmatch(part),
    }
    return next((rule for rule, broken in tests.items() if broken), None)
