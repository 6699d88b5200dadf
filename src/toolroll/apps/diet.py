"""Whether a model gets the short texts and fewer tools: by the size of its window, or as a person has set it."""

from typing import Final

from toolroll.home.settings import Settings
from toolroll.models.catalog import ModelLimits
from toolroll.models.model import Model

SMALL_WINDOW_TOKENS: Final = 32_768
"""Models that read no more are mostly small ones; and in such a window, texts for others leave little room."""


def needs_diet(model: Model, settings: Settings) -> bool:
    """Return whether a model gets fewer words: what is not known of it counts as large."""
    if settings.prompts != "auto":
        return settings.prompts == "short"
    limits = getattr(model, "limits", None)
    return isinstance(limits, ModelLimits) and limits.window_tokens <= SMALL_WINDOW_TOKENS
