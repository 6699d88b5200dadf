"""Somebody who writes posts: a data folder with the sample author, and `ghostpen` as its own process at a terminal."""

import json
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.model_script import Text, Turn, Use
from tests.support.model_server import KEY, ModelServer
from tests.support.programs import environment, ghostpen, run_program, run_toolroll
from tests.support.terminal import Pseudo

from toolroll.home.rules import workspace_key
from toolroll.home.trust import TrustBook
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile
from toolroll.packs.writing.texts.messages import Lang
from toolroll.packs.writing.tools.dependencies import LOCAL_DATA

YES: Mapping[Lang, str] = {"en": "y", "uk": "т"}
NO: Mapping[Lang, str] = {"en": "n", "uk": "н"}
READY = "\x1b[?2004h"
"""What the line editor begins with: keys that come before it are the terminal's own, and Ctrl-D is lost."""
WORDS: Mapping[Lang, str] = {"en": "What should be different?", "uk": "Що змінити?"}
ASKS: Mapping[Lang, str] = dict.fromkeys(WORDS, READY)
"""The person is asked what should be different, and can answer."""
SAVE_ASKS: Mapping[Lang, str] = {"en": "Save it? [y/n]", "uk": "Зберегти? [т/н]"}
LEAVES: Mapping[Lang, str] = {"en": "Leave without saving", "uk": "Вийти, не зберігши"}
UPDATE_ASKS: Mapping[Lang, str] = {"en": "Update the profile? [y/n]", "uk": "Оновити профіль? [т/н]"}


def post(text: str, topic: str = "tea") -> str:
    """What a model says where it drafts."""
    return f'<post topic="{topic}">\n{text}\n</post>'


def track(category: str, raw: str) -> Turn:
    """A turn that counts feedback."""
    return Turn(Use("track_feedback", {"category": category, "raw_feedback": raw}))


def said(*blocks: str | Use) -> Turn:
    """A turn of text and calls."""
    return Turn([Text(one) if isinstance(one, str) else one for one in blocks])


def trust_data(home: Path, folder: Path) -> None:
    """Trust the data folder of a folder, as somebody does who is asked."""
    TrustBook.from_environment({"TOOLROLL_HOME": str(home)}).add(workspace_key(folder), f"{LOCAL_DATA}/", b"")


class Author:
    """`data` has the profiles and posts, `home` all else that is theirs."""

    def __init__(self, folder: Path, lang: Lang) -> None:
        self.folder, self.data, self.home, self.lang = folder, folder / "data", folder / "home", lang
        self.store = ProfileStore(self.data)
        folder.mkdir(exist_ok=True)
        trust_data(self.home, folder)

    def has_profile(self, **changes: object) -> None:
        """The sample profile, or another like it."""
        self.store.create({**sample_profile(self.lang), **changes}, now=datetime(2026, 2, 9, 10, tzinfo=UTC))

    def at_terminal(self, server: ModelServer, *arguments: str, **env: str) -> Pseudo:
        """`ghostpen` at a terminal of this author's."""
        command = [*_PROGRAM, *arguments, "--lang", self.lang]
        return Pseudo(command, env=self._environment(server, env), cwd=self.folder, columns=110, rows=60)

    def alone(self, server: ModelServer, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """`ghostpen` where nobody can be asked."""
        command = [*_PROGRAM, *arguments, "--lang", self.lang]
        return run_program(command, env=self._environment(server, env), cwd=self.folder)

    def toolroll(self, *arguments: str) -> str:
        """What a command says about this author's runs."""
        done = run_toolroll(*arguments, env=environment(self.home, CI="1"), cwd=self.folder)
        done.check_returncode()
        return done.stdout

    def profile(self, name: str = "default") -> dict[str, Any]:
        """What is in the file of a profile."""
        found: dict[str, Any] = json.loads((self.data / "profiles" / f"{name}.json").read_text(encoding="utf-8"))
        return found

    def feedback(self) -> dict[str, int]:
        """How often each category is counted."""
        path = self.data / "feedback-tracker.json"
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {name: one["count"] for name, one in found.items()}

    def posts(self) -> dict[str, str]:
        """The posts on the disk by the name of their files."""
        return {
            path.name: path.read_text(encoding="utf-8") for path in (self.data / "output" / "generated").glob("*.md")
        }

    def _environment(self, server: ModelServer, more: Mapping[str, str]) -> dict[str, str]:
        keys = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, "TOOLROLL_MODEL": "sonnet"}
        kept = environment(self.home, **{**keys, **more})
        return {
            name: value for name, value in kept.items() if name in more or not name.startswith(("NOTION_", "TAVILY_"))
        }


_PROGRAM = ghostpen()


def names(server: ModelServer) -> list[list[str]]:
    """What the conversation has called by each request, in order, the program's own reads among them."""
    return [
        [
            block["name"]
            for message in request.body["messages"]
            if message["role"] == "assistant" and isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_use"
        ]
        for request in server.requests
    ]
