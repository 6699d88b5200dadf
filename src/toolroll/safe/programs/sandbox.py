"""Run a program in a sandbox of bubblewrap: without network, without the home folder, with one folder of the user's.

Bubblewrap gives a program namespaces of its own. It sees the system's programs and libraries, read-only; an empty /tmp;
and the folder that it works in, of which single paths can be hidden or kept from being written.
"""

import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shutil import which
from typing import Final

from toolroll.safe.programs.run import minimal_environment

PROGRAM: Final = "bwrap"
PROBE_S: Final = 5.0
"""For a program that does nothing, in a sandbox: it takes some 10 ms."""
HOME: Final = "/tmp"  # noqa: S108 - the empty one of the sandbox

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
# What programs need of /etc to start, to know their user and time, and to check certificates: no keys of services.
_SETTINGS: Final = (
    "alternatives", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf",
    "passwd", "pki/tls/certs", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
_ALONE: Final = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFolder:
    """The folder that a program works in: what of it is hidden, and what cannot be written (absolute paths)."""

    root: Path
    writable: bool = False
    hidden_files: Sequence[str] = ()
    hidden_folders: Sequence[str] = ()
    read_only: Sequence[str] = ()


def find_sandbox(environment: Mapping[str, str]) -> str | None:
    """Return the path of a bubblewrap that works here; None where there is none, or the system does not let it."""
    found = which(PROGRAM, path=minimal_environment(environment)["PATH"])
    return found if found is not None and _works(found) else None


@lru_cache(maxsize=8)
def _works(program: str) -> bool:
    # There are systems with the program and without leave to use it: namespaces of users can be switched off.
    command = [program, *_ALONE, *_system_binds(), "--", "true"]
    try:
        return subprocess.run(command, capture_output=True, timeout=PROBE_S, check=False).returncode == 0  # noqa: S603 - a path of ours
    except (OSError, subprocess.TimeoutExpired):
        return False


def sandbox_command(program: str, command: Sequence[str], folder: SandboxFolder, *, cwd: Path) -> list[str]:
    """Return the command that runs `command` in a sandbox of `program`, in `cwd`, which is in the folder."""
    root = str(folder.root)
    return [
        program,
        *_ALONE,
        *_system_binds(),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", HOME),
        *("--bind" if folder.writable else "--ro-bind", root, root),
        *_each(folder.read_only, lambda path: ("--ro-bind", path, path)),
        *_each(folder.hidden_folders, lambda path: ("--tmpfs", path, "--remount-ro", path)),
        # A device that may not be used as one: to open it is refused.
        *_each(folder.hidden_files, lambda path: ("--ro-bind", "/dev/null", path)),
        *("--chdir", str(cwd), "--"),
        *command,
    ]


def sandbox_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a program in a sandbox."""
    return {**minimal_environment(environment), "HOME": HOME, "TMPDIR": HOME}


def _system_binds() -> list[str]:
    paths = [*_SYSTEM, *(f"/etc/{name}" for name in _SETTINGS)]
    return _each(paths, lambda path: ("--ro-bind-try", path, path))


def _each(paths: Iterable[str], make: Callable[[str], tuple[str, ...]]) -> list[str]:
    return [word for path in paths for word in make(path)]
