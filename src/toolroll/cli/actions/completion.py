"""Completion in a shell: the script that `toolroll completion` prints, and the ids, names and files that Tab offers.

A shell asks at every Tab: this module loads only what reading a file needs, writes nothing, and never fails.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

import click
from click.shell_completion import CompletionItem, get_completion_class

from toolroll.cli.session import DONE, Session
from toolroll.errors import ToolrollError
from toolroll.home.folders import find_folders
from toolroll.packs.registry import PACKS
from toolroll.safe.sqlite import open_read_only
from toolroll.safe.text import one_line

Shell: TypeAlias = Literal["bash", "zsh", "fish"]

Program: TypeAlias = Literal["toolroll", "ghostpen"]

INSTALL: Final[dict[Shell, str]] = {
    "bash": "{0} completion bash > ~/.local/share/bash-completion/completions/{0}",
    "zsh": "{0} completion zsh > ~/.zfunc/_{0}   (with ~/.zfunc in fpath, before compinit in ~/.zshrc)",
    "fish": "{0} completion fish > ~/.config/fish/completions/{0}.fish",
}
"""How each script is installed, with the name of the program left open."""

MAX_RUNS: Final = 50
"""Offered at most, the latest: a longer list is not read."""

ID_CHARACTERS: Final = 12
"""Of an id, as `toolroll runs list` shows it."""

MAX_PROMPT_CHARACTERS: Final = 50

_PROJECT_FILES: Final = (".toolroll/settings.toml", ".toolroll/tools/*.py")

_RUNS: Final = """
select run_id from runs where parent is null and substr(run_id, 1, length(?1)) = ?1
order by began desc, rowid desc limit ?2
"""

_SAID: Final = """
select body from records where run_id = ?1 and kind = 'said' and number < coalesce(
    (select min(number) from records where run_id = ?1 and kind = 'answered'), 9223372036854775807
) order by number desc
"""


def print_toolroll_script(session: Session, shell: Shell) -> int:
    """Print the script for toolroll; return the exit code."""
    return _print_script(session, shell, "toolroll")


def print_ghostpen_script(session: Session, shell: Shell) -> int:
    """Print the script for ghostpen; return the exit code."""
    return _print_script(session, shell, "ghostpen")


def _print_script(session: Session, shell: Shell, program: Program) -> int:
    script = make_script(shell, program)
    if session.json:
        session.write_json({"shell": shell, "script": script, "install": INSTALL[shell].format(program)})
    else:
        session.write_data(script)
    return DONE


def make_script(shell: Shell, program: Program) -> str:
    """Return the script, with a comment on top that says how to install it."""
    kind = get_completion_class(shell)
    assert kind is not None
    # The variable is the one that click looks for in a program of that name.
    made = kind(click.Command(program), {}, program, f"_{program.upper()}_COMPLETE")
    # Not `made.source()`: that one starts bash to ask for its version, and this may be for another machine.
    script = (made.source_template % made.source_vars()).strip()
    comment = f"# Completion of {program} for {shell}. To install it:\n#   {INSTALL[shell].format(program)}"
    if shell != "zsh":
        return f"{comment}\n{script}\n"
    first, _, rest = script.partition("\n")  # compinit looks at the first line for what it is about
    return f"{first}\n{comment}\n{rest}\n"


def complete_tools(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of tools that begin so."""
    return [line.name for pack in PACKS for line in pack.tools if line.name.startswith(incomplete)]


def complete_runs(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the latest runs whose ids begin so, each with the beginning of its prompt."""
    with suppress(sqlite3.Error, OSError, ValueError, ToolrollError):
        path = find_folders(os.environ).run_log
        # Read-only: a Tab must not make, repair or upgrade anything.
        with closing(open_read_only(path, busy_s=0.1)) as db:
            return list(_runs(db, incomplete))
    return []


def complete_profiles(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the profiles in the data folder whose names begin so."""
    with suppress(OSError, ToolrollError):
        found = (_data_folder(context.params.get("data")) / "profiles").glob("*.json")
        return sorted(path.stem for path in found if path.stem.startswith(incomplete))
    return []


def complete_posts(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the posts in the data folder whose files begin so."""
    with suppress(OSError, ToolrollError):
        found = (_data_folder(context.params.get("data")) / "output" / "generated").glob("*.md")
        return sorted((path.stem for path in found if path.stem.startswith(incomplete)), reverse=True)
    return []


def complete_files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave it to the shell, which knows best how to complete files."""
    return [CompletionItem(incomplete, type="file")]


def complete_project_files(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the project's own settings and tools, which somebody may trust."""
    root = context.params.get("root") or Path()
    found = [path.relative_to(root).as_posix() for pattern in _PROJECT_FILES for path in sorted(root.glob(pattern))]
    return [path for path in found if path.startswith(incomplete)]


def _runs(db: sqlite3.Connection, incomplete: str) -> Iterator[CompletionItem]:
    for (run_id,) in db.execute(_RUNS, (incomplete, MAX_RUNS)).fetchall():
        value = run_id if len(incomplete) > ID_CHARACTERS else run_id[:ID_CHARACTERS]
        yield CompletionItem(value, help=_prompt(db, run_id))


def _prompt(db: sqlite3.Connection, run_id: str) -> str:
    """Return the beginning of the last prompt before the model first answered."""
    for (body,) in db.execute(_SAID, (run_id,)):
        message = json.loads(body)["message"]
        if message["role"] == "user":
            return _beginning(db, "".join(part.get("text", "") for part in message["content"]))
    return ""


def _beginning(db: sqlite3.Connection, text: str) -> str:
    if text.startswith("\0"):  # a long one is kept by its hash
        row = db.execute("select substr(body, 1, 1000) from contents where hash = ?", (text[1:],)).fetchone()
        text = row[0].decode("utf-8", "replace") if row else ""
    return one_line(" ".join(text[:1_000].split()), MAX_PROMPT_CHARACTERS, is_spelled=True)  # as `runs list` has it


def _data_folder(given: Path | None) -> Path:
    """Return the folder as `packs.writing` finds it; to load that takes longer than anybody waits for a Tab."""
    if given is not None:
        return given
    local = Path("data")
    return local if local.is_dir() else find_folders(os.environ).data / "ghostpen"
