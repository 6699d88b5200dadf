"""The commands about profiles, in this process or at a terminal, with a data folder and scripted models."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from tests.cli.project import Told
from tests.cli.pseudo import Pseudo, environment
from tests.packs.writing.profile_samples import draft

import toolroll.cli.main as program
from toolroll.cli.profile import commands
from toolroll.cli.session import Session

NAMES = ("init", "profile", "analyze", "stats", "feedback")
POSTS = ("Вигорання — це не втома.\n\nЦе коли робота не має кінця.", "Другий пост про людей.", "Третій: про команду.")


def root() -> click.Group:
    """A program that has only these commands."""
    found = {name: getattr(commands, name) for name in NAMES}
    return click.Group(commands=found, context_settings={"help_option_names": ["-h", "--help"]})


def main() -> None:
    """For a process of its own."""
    program.root = root()
    program.main()


def answer(**changes: object) -> str:
    """What a model says about how somebody writes."""
    said = draft()
    examples = [{"post": 2, "platform": "linkedin", "why_good": "голос"}]
    kept = {name: said[name] for name in ("language", "voice", "platforms")}
    return json.dumps({**kept, "examples": examples, **changes}, ensure_ascii=False)


def voice(**changes: object) -> dict[str, Any]:
    """A voice that differs."""
    return {**draft()["voice"], **changes}


class Pen:
    """A desk: `data` has the profiles, `home` all else that is the user's."""

    def __init__(self, folder: Path, capture: Any = None) -> None:
        self.folder = folder
        self.data, self.home = folder / "data", folder / "home"
        self._capture = capture

    def script(self, *turns: object) -> str:
        """The name of a model that says this."""
        file = self.folder / "script.json"
        file.write_text(json.dumps(turns))
        return f"scripted:{file}"

    def posts(self, *texts: str) -> list[str]:
        """Options that name a file for each post."""
        return [word for number, text in enumerate(texts, 1) for word in ("--from", self.file(text, f"{number}.md"))]

    def file(self, text: str, name: str) -> str:
        """A file with this text."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def run(self, *arguments: str) -> Told:
        """A command in this process; nobody can be asked."""
        given = [*arguments, "--data", str(self.data)]
        code = program.run(given, Session(json="--json" in given))
        told = self._capture.readouterr()
        return Told(code, told.out, told.err)

    def help(self, *command: str) -> str:
        """What `--help` says."""
        assert program.run([*command, "--help"], Session()) == 0
        return str(self._capture.readouterr().out)

    def json(self, *arguments: str) -> Any:
        """What a command answers with --json."""
        told = self.run(*arguments, "--json")
        assert told.code == 0, told
        return json.loads(told.out)

    def terminal(self, *arguments: str, columns: int = 80, env: Mapping[str, str] | None = None) -> Pseudo:
        """A command at a terminal; the data folder is `./data`."""
        self.data.mkdir(exist_ok=True)
        command = [sys.executable, "-c", "from tests.cli.profile.pen import main; main()", *arguments]
        known = environment(self.home, PYTHONPATH=str(Path(__file__).parents[3]), **(env or {}))
        return Pseudo(command, env=known, cwd=self.folder, columns=columns, rows=50)
