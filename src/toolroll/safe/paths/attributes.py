"""Extended attributes of a file that is replaced: access control lists, tags of the user, labels.

The new file gets them before it has the name. What was given to the old content alone is not handed on: capabilities,
as with set-user-id, and signatures of the content. Systems without extended attributes have none to lose.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

_OF_CONTENT: Final = frozenset({"security.capability", "security.evm", "security.ima"})
_ACCESS_LIST: Final = "system.posix_acl_access"
_NAMES: Final = {"security.capability": "its capabilities", _ACCESS_LIST: "its access control list"}
_BITS: Final = {stat.S_ISUID: "set-user-id", stat.S_ISGID: "set-group-id", stat.S_ISVTX: "the sticky bit"}
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_attributes(dir_fd: int, name: str) -> dict[str, bytes]:
    """Return the extended attributes of a file by their names; none where they cannot be read."""
    with suppress(OSError):
        fd = os.open(name, _READ, dir_fd=dir_fd)
        try:
            return _read(fd)
        finally:
            os.close(fd)
    return {}


def give_attributes(fd: int, attributes: Mapping[str, bytes]) -> None:
    """Give a new file these attributes, as far as we may; an access control list of its folder is none of them."""
    if _ACCESS_LIST not in attributes:
        with suppress(OSError, AttributeError):
            os.removexattr(fd, _ACCESS_LIST)
    for name, value in attributes.items():
        if name not in _OF_CONTENT:
            with suppress(OSError):  # who asks is told what is missing
                os.setxattr(fd, name, value)


def lost_attributes(
    dir_fd: int, name: str, before: Mapping[str, bytes], *, old: os.stat_result | None, mode: int | None
) -> Iterator[str]:
    """Return what a file had before it was replaced, and has no more, in words."""
    old_mode = 0 if old is None else old.st_mode
    yield from (word for bit, word in _BITS.items() if old_mode & bit and not (mode or 0) & bit)
    after = read_attributes(dir_fd, name) if before else {}
    yield from (_NAMES.get(one, one) for one, value in before.items() if after.get(one) != value)


def _read(fd: int) -> dict[str, bytes]:
    with suppress(OSError, AttributeError):
        return {name: os.getxattr(fd, name) for name in os.listxattr(fd)}
    return {}
