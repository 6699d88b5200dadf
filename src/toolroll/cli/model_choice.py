"""The model that an agent is started with; and where there is none, what to set, what works without, what to try."""

from typing import TYPE_CHECKING, Final

from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.home.settings import Settings

MODEL_VARIABLE: Final = "TOOLROLL_MODEL"

NO_MODEL: Final = (
    f"No model is named. Add --model NAME or set {MODEL_VARIABLE}, or once for all: toolroll config set model sonnet\n"
    "'sonnet' needs ANTHROPIC_API_KEY, 'openai:NAME' OPENAI_API_KEY, 'ollama:NAME' a local Ollama and no key."
)
"""Told where a command needs a model, and has none."""

WITHOUT_MODEL: Final = (
    "Without any, 'toolroll demo' shows it at work, and 'toolroll call' reaches every tool but a project's own."
)
"""Told after it, by programs that have no better advice."""


def resolve_model_name(given: str | None, *, without: str = WITHOUT_MODEL) -> str:
    """The model that is named here, in the environment, or in the settings.

    UsageError says what to set, and what can be done without one.
    """
    import os  # noqa: PLC0415 - these bring pydantic: four interpreter starts
    from pathlib import Path  # noqa: PLC0415 - as above

    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    return model_from_settings(
        read_settings(os.environ, root=Path.cwd(), flags={"model": given or None}), without=without
    )


def model_from_settings(settings: "Settings", *, without: str = WITHOUT_MODEL) -> str:
    """The model that settings name; UsageError as for `chosen_model`."""
    if not settings.model:
        raise UsageError(f"{NO_MODEL}\n{without}")
    return settings.model
