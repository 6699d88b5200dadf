"""Whether a model gets the short texts and fewer tools: by the size of its window, or as a person has set it."""

from typing import Final

from toolroll.errors import UsageError
from toolroll.home.settings import Settings
from toolroll.models.catalog import SMALL_WINDOW_TOKENS, ModelLimits
from toolroll.models.model import Model
from toolroll.models.settings import ModelSettings, check_settings

FIRST_CALL: Final = ModelSettings(tool_choice="required")
"""A small model looks before it answers: asked where something is, it would rather make up a file."""


def takes_first_call(model: Model) -> bool:
    """Return whether a model can be made to begin with a call."""
    try:
        check_settings(model, FIRST_CALL, model.origin.model)
    except UsageError:
        return False
    return True


def needs_diet(model: Model, settings: Settings) -> bool:
    """Return whether a model gets fewer words: what is not known of it counts as large."""
    if settings.prompts != "auto":
        return settings.prompts == "short"
    limits = getattr(model, "limits", None)
    return isinstance(limits, ModelLimits) and limits.window_tokens <= SMALL_WINDOW_TOKENS
