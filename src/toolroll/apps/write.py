"""The writing agent, built again from the record of a run that was cut short."""

from pathlib import Path

from toolroll.agent.agent import Agent
from toolroll.apps.models import connect_model
from toolroll.apps.project import Project
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.home.keys import with_keys
from toolroll.journal.journal import Journal
from toolroll.models.model import Model
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.session.agent import WritingContext, writing_agent
from toolroll.packs.writing.session.gate import Gate
from toolroll.packs.writing.texts.messages import known_language


def build_write_agent(
    spec: AgentSpec, *, project: Project, surface: Surface, journal: Journal, model: Model | None = None
) -> Agent[None]:
    """Return the agent of a turn that was cut short: it can finish its draft, and has nobody to ask about saving one.

    Drafts are saved by the writing session, after the person's word; `toolroll call save_to_file` does it beside that.
    """
    del project  # the writing agent works in its data folder
    data = Path(spec.root)
    style = load_style(ProfileStore(data), *spec.profiles)
    context = WritingContext(
        data=data,
        lang=known_language(spec.lang),
        environment=with_keys(surface.environment),
        journal=journal,
        record=spec.record,
    )
    return writing_agent(model or connect_model(spec.model, surface.environment), style, Gate(base=style.base), context)
