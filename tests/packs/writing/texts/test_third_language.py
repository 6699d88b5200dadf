"""A third language is a third file, and nothing else: a session in a language that only this test knows (W34)."""

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from tests.cli.ghostpen.author import Typed, post
from tests.packs.writing.session.test_session import Desk, Scripted

import toolroll.cli.ghostpen.context as command_context
from toolroll.cli.ghostpen.main import ghostpen
from toolroll.cli.main import run
from toolroll.cli.session import Session
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile
from toolroll.packs.writing.session.intents import parse_intent, parse_yes_no
from toolroll.packs.writing.session.prompt import system_prompt
from toolroll.packs.writing.texts import messages
from toolroll.packs.writing.tools.profile_tools import read_style_profile
from toolroll.testing import call_tool, make_run

WORDS = {"yes": "jes", "no": "ne", "save": "konservu", "leave": "foriru"}


def in_capitals(value: object) -> str:
    """A table of TOML with every text in capitals; placeholders stay as they are."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {in_capitals(one)}" for key, one in value.items()) + " }"
    text = re.sub(r"\{\w+\}|[^{]+", lambda one: one[0] if one[0].startswith("{") else one[0].upper(), str(value))
    return json.dumps(text, ensure_ascii=False)


def write_language(path: Path, english: Mapping[str, Any]) -> None:
    """A language file as somebody would write one: English in capitals, with a few words of its own."""
    lines = ['name = "Esperanto"', "[plural]", "one = '^1$'", "[understood]"]
    lines += [f"{name} = {json.dumps(WORDS.get(name, 'x'))}" for name in english["understood"]]
    lines += ["[patterns]", *(f"{name} = ['esperanto']" for name in english["patterns"])]
    for kind, names in english["names"].items():
        lines += [f"[names.{kind}]", *(f"{json.dumps(name)} = {in_capitals(one)}" for name, one in names.items())]
    lines.append("[texts]")
    for key, text in english["texts"].items():
        forms = dict(text) if isinstance(text, Mapping) else None
        count = "" if forms is None else f"count = {json.dumps(forms.pop('count'))}, "
        lines.append(f"{key} = " + (in_capitals(text) if forms is None else f"{{ {count}{in_capitals(forms)[2:]}"))
    lines += ["[messages]", 'profile_name_invalid = "{name} NE ESTAS NOMO, {most}"']
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of languages with one more in it."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for lang in messages.languages():
        copy(messages.FOLDER / f"{lang}.toml", folder)
    write_language(folder / "eo.toml", tomllib.loads((folder / "en.toml").read_text(encoding="utf-8")))
    monkeypatch.setattr(messages, "FOLDER", folder)
    return folder


def test_W34_a_third_language_is_found_and_understood(folder: Path) -> None:
    assert messages.languages() == ("en", "eo", "uk")
    assert messages.choose_language(None, {"LANG": "eo.UTF-8"}) == "eo"
    assert (parse_intent("konservu"), parse_intent("foriru"), parse_intent("save")) == ("save", "leave", "save")
    assert (parse_yes_no("jes"), parse_yes_no("ne"), parse_yes_no("так")) == (True, False, True)


async def test_W34_a_session_in_a_third_language(folder: Path, tmp_path: Path) -> None:
    person = Scripted("коротше", "konservu")
    desk = Desk(tmp_path / "data")
    outcome = await desk.write(person, "<post>Чай.</post>", "<post>Чай!</post>", lang="eo")
    assert (outcome.end, outcome.rounds) == ("saved", 2)
    assert person.asked == ['WHAT SHOULD BE DIFFERENT? ("SAVE" KEEPS THE DRAFT, "EXIT" LEAVES)'] * 2
    assert person.told == [f"SAVED: {outcome.file}"]
    assert person.requests == []
    assert "Speak to the author in Esperanto." in system_prompt(load_style(desk.store, "default"), lang="eo")


def test_W34_commands_in_a_third_language(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    ProfileStore(data).create(sample_profile("eo"), now=datetime(2026, 2, 9, tzinfo=UTC))
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["read", post("Here is the thing: tea.")]))
    terminal = Typed("foriru", "jes")
    monkeypatch.setattr(command_context, "open_terminal", lambda *_args, **_more: terminal)
    monkeypatch.setattr("toolroll.cli.ghostpen.write_post.open_input", lambda *_given, **_more: None)
    places = ["--data", str(data), "--lang", "eo"]
    assert run(["about tea", "--model", f"scripted:{script}", *places], Session(), ghostpen, "ghostpen") == 0
    assert terminal.asked[-1] == "LEAVE WITHOUT SAVING THE DRAFT? [Y/N] "
    assert run(["profile", "show", *places], Session(), ghostpen, "ghostpen") == 0
    told = capsys.readouterr()
    assert "NOTHING WAS SAVED." in told.err
    assert "LANGUAGE: ENGLISH" in told.out
    assert run(["profile", "show", "A/B", *places], Session(), ghostpen, "ghostpen") == 1
    assert capsys.readouterr().err == "ERROR: A/B NE ESTAS NOMO, 64\n"


async def test_W34_tools_answer_in_a_third_language(folder: Path, tmp_path: Path) -> None:
    async with make_run(deps={"data": tmp_path / "data", "lang": "eo"}) as made:
        result = await call_tool(read_style_profile, made, profile_name="nobody")
    assert json.loads(result.text)["message"] == "PROFILE 'nobody' NOT FOUND. RUN `GHOSTPEN INIT` TO CREATE YOUR OWN."
    assert (result.code, result.is_error) == ("profile_not_found", True)
