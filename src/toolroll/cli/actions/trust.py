"""What `toolroll trust` does: it binds trust to the content of a file; a file that changes is not trusted any more."""

import os
from pathlib import Path
from typing import Final

from toolroll.apps.project_tools import PROJECT_TOOLS, project_files
from toolroll.cli.render.prose import notify
from toolroll.cli.render.rows import Row, preview_rows
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.cli.terminal.surface import ask_consent, terminal_surface
from toolroll.errors import UsageError
from toolroll.home.mcp_servers import MCP_JSON, parse_mcp_json
from toolroll.home.project_settings import (
    PROJECT_SETTINGS,
    describe_servers,
    describe_settings,
    parse_project_settings,
)
from toolroll.home.rules import workspace_key
from toolroll.home.trust import TrustBook
from toolroll.kernel.approval.request import Preview
from toolroll.packs.writing.tools.dependencies import LOCAL_DATA, distrust_data, is_trusted, trust_data

_NOBODY: Final = "Nobody could be asked, so nothing is trusted. Look at it, then add --yes."
_REFUSED: Final = "It is not trusted."


def list_files(session: Session, *, root: Path | None) -> int:
    """List a project's own files, and which are trusted; return the exit code."""
    book, place = _book(root)
    found = [
        (path, book.trusts(place, path, content))
        for path, content in project_files(root or Path.cwd(), terminal_surface())
    ]
    if is_trusted(root or Path.cwd()):
        found.append((f"{LOCAL_DATA}/", True))
    if session.json:
        session.write_json({"files": [{"path": path, "trusted": trusted} for path, trusted in found]})
    elif found:
        session.show("\n".join(f"{'trusted' if trusted else 'not trusted':<12} {path}" for path, trusted in found))
    else:
        notify(f"There are no tool files in {PROJECT_TOOLS}/, and no settings.")
    return DONE


def trust_file(session: Session, path: str, *, root: Path | None, yes: bool) -> int:
    """Show a file, and trust it after a yes; return the exit code."""
    if _is_data(path):
        return _trust_data(session, root or Path.cwd(), yes=yes)
    book, place = _book(root)
    content = dict(project_files(root or Path.cwd(), terminal_surface())).get(path)
    if content is None:
        told = (
            f"A project's own tools are Python files in {PROJECT_TOOLS}/, its settings {PROJECT_SETTINGS}, "
            f"its MCP servers {MCP_JSON}."
        )
        raise UsageError(f"There is no '{path}' here. {told}")
    question = _question(path, content)
    if not yes and (refusal := _ask(session, path, content, question)) is not None:
        return refusal
    book.add(place, path, content)
    _tell(session, path, trusted=True)
    return DONE


def distrust_file(session: Session, path: str, *, root: Path | None) -> int:
    """Trust a file no longer; return the exit code."""
    book, place = _book(root)
    if not (distrust_data(root or Path.cwd()) if _is_data(path) else book.remove(place, path)):
        session.fail("not_trusted", f"'{path}' is not trusted here.")
        return FAILED
    _tell(session, path, trusted=False)
    return DONE


def _is_data(path: str) -> bool:
    return Path(path) == LOCAL_DATA


def _trust_data(session: Session, root: Path, *, yes: bool) -> int:
    """Trust the folder in which Ghostpen finds profiles and posts, whatever it holds; return the exit code."""
    if not (root / LOCAL_DATA).is_dir():
        raise UsageError(f"There is no folder '{LOCAL_DATA}' here.")
    question = f"Profiles in '{LOCAL_DATA}' say how posts are written. Trust the folder?"
    if not yes and (refusal := ask_consent(session, question, rows=(), nobody=_NOBODY, refused=_REFUSED)) is not None:
        return refusal
    trust_data(root)
    if session.json:
        session.write_json({"path": str(LOCAL_DATA), "trusted": True})
    else:
        session.show(f"The folder {LOCAL_DATA} is trusted.")
    return DONE


def _tell(session: Session, path: str, *, trusted: bool) -> None:
    if session.json:
        session.write_json({"path": path, "trusted": trusted})
    else:
        session.show(f"{path} is {'trusted as it is now' if trusted else 'no longer trusted'}.")


def _book(root: Path | None) -> tuple[TrustBook, str]:
    return TrustBook.from_environment(os.environ), workspace_key(root or Path.cwd())


def _question(path: str, content: bytes) -> str:
    """What is asked; settings that a project may not have are refused before that."""
    if path == PROJECT_SETTINGS:
        return f"{describe_settings(parse_project_settings(content))}\nTrust it?"
    if path == MCP_JSON:
        told = describe_servers(parse_mcp_json(content)) or ["It names no MCP server."]
        return "\n".join([*told, "Trust it?"])
    return "Its code would run as you. Trust it?"


def _ask(session: Session, path: str, content: bytes, question: str) -> int | None:
    text = content.decode("utf-8", "backslashreplace")
    return ask_consent(
        session,
        question,
        rows=[Row(text=path, look="title"), *preview_rows(Preview.of_text(text))],
        nobody=_NOBODY,
        refused=_REFUSED,
    )
