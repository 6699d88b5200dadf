"""`toolroll trust`: which of a project's own files count here. Bound to the content: what changes is not trusted."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolroll.cli.commands.changes import root_option
from toolroll.cli.completers import complete_project_files
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, Session, output_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.home.trust import TrustBook


@click.group()
def trust() -> None:
    """Say which of a project's own tools (.toolroll/tools/*.py) and settings (.toolroll/settings.toml) may be used.

    The code of tools runs as you. Only exactly the content that you have looked at is trusted.

    \b
    Examples:
      toolroll trust list
      toolroll trust add .toolroll/tools/deploy.py
    """


@trust.command("list", short_help="List the project's own files, and which are trusted.")
@root_option
@output_options
@click.pass_obj
def list_files(session: Session, *, root: Path | None) -> int:
    """List the tool files and settings of a project, and whether somebody has trusted them as they are.

    \b
    Example:
      toolroll trust list --root ~/project
    """
    from toolroll.cli.project_tools import PROJECT_TOOLS, project_files  # noqa: PLC0415 - pydantic: not for --help

    book, place = _book(root)
    found = [(path, book.trusts(place, path, content)) for path, content in project_files(root or Path.cwd())]
    if session.json:
        session.write_json({"files": [{"path": path, "trusted": trusted} for path, trusted in found]})
    elif found:
        session.show("\n".join(f"{'trusted' if trusted else 'not trusted':<12} {path}" for path, trusted in found))
    else:
        notify(f"There are no tool files in {PROJECT_TOOLS}/, and no settings.")
    return DONE


@trust.command(short_help="Trust a file as it is now.")
@click.argument("path", shell_complete=complete_project_files)
@root_option
@click.option("--yes", is_flag=True, help="Trust it without being shown it: you have looked at it.")
@output_options
@click.pass_obj
def add(session: Session, path: str, *, root: Path | None, yes: bool) -> int:
    """Trust the content that the file PATH has now; it is shown, and you are asked.

    Settings may name a model, a check, limits, and paths to deny; what sets anything else is refused.

    \b
    Examples:
      toolroll trust add .toolroll/tools/deploy.py
      toolroll trust add .toolroll/settings.toml
    """
    from toolroll.cli.project_tools import PROJECT_TOOLS, project_files  # noqa: PLC0415 - as above
    from toolroll.home.project_settings import PROJECT_SETTINGS  # noqa: PLC0415 - as above

    book, place = _book(root)
    content = dict(project_files(root or Path.cwd())).get(path)
    if content is None:
        told = f"A project's own tools are Python files in {PROJECT_TOOLS}/, its settings {PROJECT_SETTINGS}."
        raise UsageError(f"There is no '{path}' here. {told}")
    question = _question(path, content)
    if not yes and (refusal := _not_agreed(session, path, content, question)) is not None:
        return refusal
    book.add(place, path, content)
    _tell(session, path, trusted=True)
    return DONE


@trust.command(short_help="Trust a file no longer.")
@click.argument("path", shell_complete=complete_project_files)
@root_option
@output_options
@click.pass_obj
def remove(session: Session, path: str, *, root: Path | None) -> int:
    """Trust the file PATH no longer, whatever it holds.

    \b
    Example:
      toolroll trust remove .toolroll/tools/deploy.py
    """
    book, place = _book(root)
    if not book.remove(place, path):
        session.fail("not_trusted", f"'{path}' is not trusted here.")
        return FAILED
    _tell(session, path, trusted=False)
    return DONE


def _tell(session: Session, path: str, *, trusted: bool) -> None:
    if session.json:
        session.write_json({"path": path, "trusted": trusted})
    else:
        session.show(f"{path} is {'trusted as it is now' if trusted else 'no longer trusted'}.")


def _book(root: Path | None) -> "tuple[TrustBook, str]":
    from toolroll.home.rules import workspace_key  # noqa: PLC0415 - as above
    from toolroll.home.trust import TrustBook  # noqa: PLC0415 - as above

    return TrustBook.from_environment(os.environ), workspace_key(root or Path.cwd())


def _question(path: str, content: bytes) -> str:
    """What is asked; settings that a project may not have are refused before that."""
    from toolroll.home.project_settings import PROJECT_SETTINGS, describe_settings, parse_project_settings  # noqa: PLC0415 - as above

    if path != PROJECT_SETTINGS:
        return "Its code would run as you. Trust it?"
    return f"{describe_settings(parse_project_settings(content))}\nTrust it?"


def _not_agreed(session: Session, path: str, content: bytes, question: str) -> int | None:
    """None once somebody has seen it all and said yes; else the exit code."""
    from toolroll.cli.render.rows import Row, preview_rows  # noqa: PLC0415 - as above
    from toolroll.cli.terminal.approve import confirm, show_all  # noqa: PLC0415 - rich: only when somebody is asked
    from toolroll.cli.terminal.terminal import open_terminal  # noqa: PLC0415 - as above
    from toolroll.kernel.approval.request import Preview  # noqa: PLC0415 - as above

    terminal = open_terminal(os.environ)
    if terminal is None:
        session.fail("needs_approval", "Nobody could be asked, so nothing is trusted. Look at it, then add --yes.")
        return NEEDS_APPROVAL
    text = content.decode("utf-8", "backslashreplace")
    rows = [Row(text=path, look="title"), *preview_rows(Preview.of_text(text))]
    if show_all(terminal, rows) and confirm(terminal, question):
        return None
    session.fail("rejected", "It is not trusted.")
    return FAILED
