"""What `toolroll mcp install` does: it writes our server into the configuration of another program."""

import os
import shutil
import sys
from pathlib import Path

from toolroll.apps.client_config import CLIENTS, ClientName, ConfigChange, find_config, plan_change
from toolroll.cli.actions.mcp.serve import check_sdk
from toolroll.cli.render.prose import notify
from toolroll.cli.render.rows import preview_rows
from toolroll.cli.session import DONE, Session
from toolroll.cli.terminal.surface import ask_consent
from toolroll.home.folders import HOME_VARIABLE
from toolroll.kernel.approval.request import Preview
from toolroll.packs.catalog import read_catalog
from toolroll.safe.paths.names import quote_path

_NOBODY = "Nobody could be asked, so nothing was written. Look at it with --print, then add --yes."
_REFUSED = "Nothing was written."


def install_server(
    session: Session,
    client: ClientName,
    *,
    packs: tuple[str, ...],
    sources: tuple[str, ...],
    root: Path | None,
    read_only: bool,
    name: str,
    prints: bool,
    yes: bool,
) -> int:
    """Write the configuration after a yes, or print what belongs there; return the exit code."""
    check_sdk()
    folder = (root or Path.cwd()).resolve()
    read_catalog(packs, sources)  # a pack that does not exist, or a file that cannot be loaded, is said now
    command = [*find_program(), "mcp", "serve", *_options(folder, packs, sources, read_only=read_only)]
    home = os.environ.get(HOME_VARIABLE)
    env = {} if home is None else {HOME_VARIABLE: str(Path(home).resolve())}
    path = find_config(client, home=Path.home(), project=folder)
    if prints:
        empty = path.with_name(f"nothing-{os.getpid()}{path.suffix}")
        _print(session, path, plan_change(client, empty, name, command, env).after)
        return DONE
    change = plan_change(client, path, name, command, env)
    if change.before == change.after:
        return _tell(session, client, change, is_new=False)
    preview = Preview.of_change(change.before or "", change.after, path=quote_path(str(path)))
    question = f"Write this into {quote_path(str(path))}?"
    if not yes:
        refusal = ask_consent(session, question, rows=preview_rows(preview), nobody=_NOBODY, refused=_REFUSED)
        if refusal is not None:
            return refusal
    change.write()
    return _tell(session, client, change, is_new=True)


def find_program() -> list[str]:
    """Return how this program is started, with absolute paths: a client does not start with the PATH of a shell."""
    beside = Path(sys.executable).with_name("toolroll")
    found = str(beside) if beside.exists() else shutil.which("toolroll")
    return [sys.executable, "-m", "toolroll"] if found is None else [str(Path(found).absolute())]


def _options(root: Path, packs: tuple[str, ...], sources: tuple[str, ...], *, read_only: bool) -> list[str]:
    files = [str(Path(one).resolve()) if Path(one).exists() else one for one in sources]
    given = [("--root", str(root)), *(("--pack", one) for one in packs), *(("--from", one) for one in files)]
    return [word for pair in given for word in pair] + (["--read-only"] if read_only else [])


def _print(session: Session, path: Path, text: str) -> None:
    if session.json:
        session.write_json({"path": str(path), "text": text})
        return
    notify(f"This belongs into {path}:")
    session.write_data(text)


def _tell(session: Session, client: ClientName, change: ConfigChange, *, is_new: bool) -> int:
    if session.json:
        session.write_json({"path": str(change.path), "written": is_new})
        return DONE
    if not is_new:
        session.show(f"It is in {quote_path(str(change.path))} already.")
        return DONE
    session.show(f"Written to {quote_path(str(change.path))}. {CLIENTS[client].next_step}")
    return DONE
