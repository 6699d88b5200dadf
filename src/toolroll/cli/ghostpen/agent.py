"""The model that a post is written with."""

import os
from pathlib import Path
from typing import Final

from toolroll.apps import models
from toolroll.home.settings import read_settings
from toolroll.messages import Template

WITHOUT_MODEL: Final = Template(
    "ghostpen_without_model", "Without a model, 'ghostpen --demo' shows how a post is written."
)()


def choose_model(given: str | None) -> str:
    """Return the name of the model: given here, in the environment, or in the settings."""
    settings = read_settings(os.environ, root=Path.cwd(), flags={"model": given or None})
    return models.choose_model(settings, alternative=WITHOUT_MODEL)
