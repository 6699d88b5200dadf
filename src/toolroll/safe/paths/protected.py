"""Protect names however they are spelled.

File systems disagree about when two names are one: macOS and Windows ignore case, HFS+ ignores some invisible
characters, NTFS has streams (`.git::$INDEX_ALLOCATION`), short names (`git~1`) and drops trailing dots and spaces. A
rule that compares bytes is got around on one of them (CVE-2014-9390, CVE-2019-1352, CVE-2019-1353), so names are folded
for the comparison, on every system. A folded name is never opened.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from toolroll.safe.paths.names import RelativePath

_FOLDING_ROUNDS: Final = 4  # one settles every code point alone; what it takes away can bring others together
_FOLDED_NAMES: Final = 8192  # kept: a listing asks for the same folder names again and again

_OWN: Final = {".git", ".hg", ".svn", ".toolroll"}
_SECRET_FOLDERS: Final = {".aws", ".azure", ".docker", ".gnupg", ".kube", ".ssh"}
_SECRET_FILES: Final = {
    ".dockercfg",
    ".env",
    ".env.*",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".vault-token",
    "_netrc",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "*.jks",
    "*.kdbx",
    "*.key",
    "*.keystore",
    "*.p12",
    "*.pem",
    "*.pfx",
}
_SAMPLES: Final = {"!.env.dist", "!.env.example", "!.env.sample", "!.env.template"}

PROTECTED_NAMES: Final = frozenset(_OWN | _SECRET_FOLDERS | _SECRET_FILES | _SAMPLES)
"""The usual set: history and settings that could run code, and files that hold keys. `*` stands for any characters;
a name with `!` in front is not protected although another entry matches it."""

# What an editor, a shell, a hook or another agent runs by itself on the machine of whoever opens the folder. Workflows
# in `.github` are not here: they run on a server, after a push that a person makes.
_RUN: Final = {
    ".bash_login", ".bash_profile", ".bashrc", ".claude", ".cursor", ".devcontainer", ".devcontainer.json", ".direnv",
    ".gitattributes", ".gitconfig", ".gitmodules", ".husky", ".idea", ".kshrc", ".mcp.json", ".mise.toml",
    ".pre-commit-config.yaml", ".profile", ".vscode", ".zlogin", ".zprofile", ".zshenv", ".zshrc", "*.code-workspace",
    "lefthook.yml", "mise.toml",
}  # fmt: skip

WRITE_PROTECTED_NAMES: Final = PROTECTED_NAMES | _RUN
"""The usual set for writing: also what may be read, but would run code on the person's machine."""

# The property Default_Ignorable_Code_Point of Unicode (DerivedCoreProperties.txt), which the standard library does not
# have: bidi controls, zero-width characters, tags, variation selectors, fillers.
_IGNORABLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_STREAM: Final = re.compile(":.*", re.DOTALL)
_SHORT_GIT: Final = re.compile("git~[0-9]+")
# What editors, patch and people add to the name of a copy: the content is that of the protected file.
_BACKUP: Final = re.compile(r"(?:\.(?:bak|backup|copy|old|orig|rej|save|saved|sw[a-p]|tmp)|\.~?[0-9]+~?|~)+")
_SWAP: Final = re.compile(r"\.(?P<name>.+)\.sw[a-p]")


@lru_cache(maxsize=_FOLDED_NAMES)
def fold_name(name: str) -> str:
    """Return the form in which all spellings of a name are equal on some file system: to compare, never to open."""
    for _ in range(_FOLDING_ROUNDS):
        name = _fold_once(name)
    return ".git" if _SHORT_GIT.fullmatch(name) else name


def is_protected(path: RelativePath, protected: Iterable[str] = PROTECTED_NAMES) -> bool:
    """Return whether a component of the path is, in some spelling, a protected name or a backup of one."""
    never, always = _patterns(frozenset(protected))
    folded = [name for part in path.parts for name in _originals(fold_name(part))]
    return any(never.fullmatch(name) and not always.fullmatch(name) for name in folded)


def _originals(name: str) -> Iterator[str]:
    """Yield the name, and those of which it may be a backup: `.env~`, `id_rsa.bak`, `#id_rsa#`, `.id_rsa.swp`."""
    yield name
    if name.startswith("#") and name.endswith("#"):
        yield name[1:-1]
    if swap := _SWAP.fullmatch(name):
        yield swap["name"]
    for match in _BACKUP.finditer(name):
        if match.end() == len(name):
            yield name[: match.start()]


def _fold_once(name: str) -> str:
    if not name.isascii():
        name = unicodedata.normalize("NFKC", _IGNORABLE.sub("", unicodedata.normalize("NFKC", name)).casefold())
    return _STREAM.sub("", name.casefold()).rstrip(". ")


@lru_cache(maxsize=64)
def _patterns(protected: frozenset[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    entries = [name for name in protected if not name.startswith("!")]
    short = [pattern for name in entries if (pattern := _short_form(name))]
    excepted = [_long_form(name[1:]) for name in protected if name.startswith("!")]
    return _any_of([*map(_long_form, entries), *short]), _any_of(excepted)


def _long_form(name: str) -> str:
    return ".*".join(re.escape(piece) for piece in fold_name(name).split("*"))


def _short_form(name: str) -> str | None:
    """Return what FAT and NTFS call it beside its name: up to six characters, a tilde and a number."""
    stem = fold_name(name).lstrip(".").partition(".")[0]
    return None if "*" in stem else re.escape(stem[:6]) + r"~[0-9]+(?:\..*)?"


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or "(?!)", re.DOTALL)
