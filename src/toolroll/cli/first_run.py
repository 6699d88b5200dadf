"""The model that an agent is started with; and where there is none, what to set, what works without, what to try."""

from typing import TYPE_CHECKING, Final

from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.home.settings import Settings

MODEL_VARIABLE: Final = "TOOLROLL_MODEL"

NO_MODEL: Final = (
    f"No model is named. Add --model NAME or set {MODEL_VARIABLE}, or once for all: toolroll config set model sonnet\n"
    "'sonnet' needs ANTHROPIC_API_KEY, 'openai:NAME' OPENAI_API_KEY, 'ollama:NAME' a local Ollama and no key.\n"
    "Without any, 'toolroll demo' shows it at work, and 'toolroll call' reaches every tool but a project's own."
)
"""Told where a command needs a model, and has none."""


def chosen_model(given: str | None, *, more: str = "") -> str:
    """The model that is named here, in the environment, or in the settings; UsageError says what to set, and `more`."""
    import os  # noqa: PLC0415 - these bring pydantic: four interpreter starts
    from pathlib import Path  # noqa: PLC0415 - as above

    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    return model_in(read_settings(os.environ, root=Path.cwd(), flags={"model": given or None}), more=more)


def model_in(settings: "Settings", *, more: str = "") -> str:
    """The model that settings name; UsageError says what to set, and `more`."""
    if not settings.model:
        raise UsageError(f"{NO_MODEL}{more}")
    return settings.model
