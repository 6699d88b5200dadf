"""Keys in a file `.env` beside one's work: the names that are known, and nothing else.

A project that somebody else wrote may bring such a file. So no address is taken from it, which could lead a key or a
text of the person's elsewhere, and a variable of the environment always comes first.
"""

import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from toolroll.safe.secrets.redact import remember_secret

NAME: Final = ".env"
MAX_ENV_BYTES: Final = 65_536
_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*(.*?)\s*")
_QUOTED: Final = re.compile(r"""(["'])(.*)\1(?:\s*#.*)?""")
_COMMENT: Final = re.compile(r"\s+#.*")


def read_env_file(folder: Path, names: Collection[str]) -> Mapping[str, str]:
    """Return the variables of these names in the `.env` of a folder; none where there is no such file of the user's."""
    try:
        fd = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return {}
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            return {}
        text = file.read(MAX_ENV_BYTES).decode("utf-8-sig", "replace")
    return {name: value for name, value in _parse_lines(text) if name in names and value}


def add_env_files(folders: Collection[Path], names: Collection[str], environment: "os._Environ[str]") -> list[str]:
    """Set what the `.env` files of these folders have and the environment has not; return the names that were set."""
    added: list[str] = []
    for folder in folders:
        for name, value in read_env_file(folder, names).items():
            if not environment.get(name, "").strip():
                environment[name] = value
                remember_secret(value)
                added.append(name)
    return added


def _parse_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        quoted = _QUOTED.fullmatch(found[2])
        value = quoted[2] if quoted else _COMMENT.sub("", found[2])
        if value.isascii() and value.isprintable():
            yield found[1], value
