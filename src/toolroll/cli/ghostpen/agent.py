"""The writing agent again, from what a run has kept: for `runs resume` and `runs replay`."""

import os
from pathlib import Path
from typing import Final

from toolroll.agent.agent import Agent
from toolroll.cli.model_choice import resolve_model_name
from toolroll.cli.spec import AgentSpec, resolve_model
from toolroll.home.keys import with_keys
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.model import Model
from toolroll.models.scripted import ScriptedModel
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.agent import WritingContext, writing_agent
from toolroll.packs.writing.session.gate import Gate
from toolroll.packs.writing.texts.messages import languages

_WITHOUT: Final = "'ghostpen --demo' shows how a post is written, without any."


def build_writer(making: AgentSpec, journal: SqliteJournal, *, connect: bool) -> Agent[None]:
    """The agent of a turn that was cut short: it can finish its draft, and has nobody to ask about keeping one.

    Drafts are kept by the flow, after the person's word; `toolroll call save_to_file` does it beside that.
    """
    data = Path(making.root)
    style = load_style(ProfileStore(data), *making.profiles)
    place = WritingContext(
        data=data,
        lang=making.lang if making.lang in languages() else "en",
        environment=with_keys(os.environ),
        journal=journal,
        settings=making.settings,
    )
    model = connect_model(resolve_model(making.model)) if connect else ScriptedModel([])
    return writing_agent(model, style, Gate(base=style.base), place)


def choose_model(given: str | None) -> str:
    """The name of the model that is named here, in the environment, or in the settings; who has none can watch one."""
    return resolve_model_name(given, without=_WITHOUT)


def connect_model(model: Model | str) -> Model:
    """The model of that name, with the keys of the process."""
    if not isinstance(model, str):
        return model
    from toolroll.models.connect import connect  # noqa: PLC0415 - all wires there are, for who names one of them

    return connect(model, environment=with_keys(os.environ))
