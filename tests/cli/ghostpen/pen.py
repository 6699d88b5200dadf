"""The commands about profiles, in this process or at a terminal, with a data folder and scripted models."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.packs.writing.profiles.samples import draft
from tests.support.author import trust_data
from tests.support.programs import environment
from tests.support.programs import ghostpen as ghostpen_command
from tests.support.project import Told
from tests.support.terminal import Pseudo

import toolroll.cli.main as program
from toolroll.cli.ghostpen.main import ghostpen
from toolroll.cli.session import Session

NAMES = ("init", "profile", "analyze", "stats", "feedback")
POSTS = ("Вигорання — це не втома.\n\nЦе коли робота не має кінця.", "Другий пост про людей.", "Третій: про команду.")


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
        return self.run_here(*arguments, "--data", str(self.data))

    def run_here(self, *arguments: str) -> Told:
        """The same for a command that is not told where the data is."""
        code = program.run([*arguments], Session(json="--json" in arguments), ghostpen, "ghostpen")
        told = self._capture.readouterr()
        return Told(code, told.out, told.err)

    def help(self, *command: str) -> str:
        """What `--help` says."""
        assert program.run([*command, "--help"], Session(), ghostpen, "ghostpen") == 0
        return str(self._capture.readouterr().out)

    def json(self, *arguments: str) -> Any:
        """What a command answers with --json."""
        told = self.run(*arguments, "--json")
        assert told.code == 0, told
        return json.loads(told.out)

    def terminal(self, *arguments: str, columns: int = 80, env: Mapping[str, str] | None = None) -> Pseudo:
        """A command at a terminal; the data folder is `./data`."""
        self.data.mkdir(exist_ok=True)
        trust_data(self.home, self.folder)
        command = ghostpen_command(*arguments)
        known = environment(self.home, **(env or {}))
        return Pseudo(command, env=known, cwd=self.folder, columns=columns, rows=50)
