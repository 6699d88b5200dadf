"""What somebody is told who starts an agent before there is a model: what to set, what works without, what to try."""

from typing import Final

MODEL_VARIABLE: Final = "TOOLROLL_MODEL"

NO_MODEL: Final = (
    f"No model is named. Add --model NAME or set {MODEL_VARIABLE}, or once for all: toolroll config set model sonnet\n"
    "'sonnet' needs ANTHROPIC_API_KEY, 'openai:NAME' OPENAI_API_KEY, 'ollama:NAME' a local Ollama and no key.\n"
    "Without any, 'toolroll demo' shows it at work, and 'toolroll call' reaches every tool but a project's own."
)
"""Told where a command needs a model, and has none."""
