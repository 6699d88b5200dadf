"""The model an agent is started with: which one the settings name, and how it is connected."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from toolroll.errors import FileMissing, NotAFile, UsageError
from toolroll.home.keys import with_keys
from toolroll.home.settings import Settings, read_settings
from toolroll.home.settings_schema import TimeoutSettings
from toolroll.messages import SCRIPT_IS_FOLDER, SCRIPT_MISSING, Template, Text
from toolroll.models.catalog import parse_model
from toolroll.models.connect import ConnectSettings, connect
from toolroll.models.model import Model, Timeouts
from toolroll.models.scripted_file import PREFIX, scripted_file
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import os_errors

NO_MODEL: Final = Template(
    "model_not_named",
    "No model is named. Add --model NAME or set TOOLROLL_MODEL, or once for all: toolroll config set model sonnet\n"
    "'sonnet' needs ANTHROPIC_API_KEY, 'openai:NAME' OPENAI_API_KEY, 'ollama:NAME' a local Ollama and no key.\n"
    "{alternative}",
)
WITHOUT_MODEL: Final = Template(
    "without_model",
    "Without a model, 'toolroll demo' shows an agent at work, and 'toolroll call' calls any tool but a project's own.",
)()
"""The alternative in programs that have no better one."""
MODEL_OR_SCRIPT: Final = Template("model_or_script", "{problem} A script is played by {prefix}FILE.")


def choose_model(settings: Settings, *, alternative: Text = WITHOUT_MODEL) -> str:
    """Return the name of the model in the settings; UsageError says what to set, and what works without one."""
    if not settings.model:
        raise UsageError(NO_MODEL(alternative=alternative))
    return settings.model


def connect_model(name: str, environment: Mapping[str, str], *, settings: Settings | None = None) -> Model:
    """Return the model of that name: a script that is played, or one that is asked with the user's keys.

    `settings` are those that were read already; without them, the user's are read.
    """
    if name.startswith(PREFIX):
        return _open_script(Path(name.removeprefix(PREFIX)))
    try:
        parse_model(name)
    except UsageError as error:
        raise UsageError(MODEL_OR_SCRIPT(problem=error.message, prefix=PREFIX)) from None
    read = settings or read_settings(environment)
    wishes = ConnectSettings(
        timeouts=_timeouts(read.timeouts),
        calls=read.calls,
        window_tokens=read.window_tokens,
        output_tokens=read.output_tokens,
        asks_server=True,
    )
    return connect(name, environment=with_keys(environment), settings=wishes)


def _timeouts(settings: TimeoutSettings) -> Timeouts:
    """Return the limits that a person has set; a project cannot set them."""
    given = {
        "connect_s": settings.connect_seconds,
        "start_s": settings.start_seconds,
        "first_byte_s": settings.first_byte_seconds,
        "gap_s": settings.gap_seconds,
        "content_s": settings.content_seconds,
        "turn_s": settings.turn_seconds,
    }
    return Timeouts(**{name: seconds for name, seconds in given.items() if seconds is not None})


def absolute_model_name(name: str) -> str:
    """Return the name of a model so that it holds in every folder: a script by its absolute path."""
    return f"{PREFIX}{Path(name.removeprefix(PREFIX)).absolute()}" if name.startswith(PREFIX) else name


def _open_script(path: Path) -> Model:
    file = _as_typed(path)
    name = quote_path(str(file))
    with os_errors(str(file)):
        if file.is_dir():  # `scripted:` alone is the working folder by now
            raise UsageError(SCRIPT_IS_FOLDER(path=name, prefix=PREFIX))
    try:
        return scripted_file(file)
    except (FileMissing, NotAFile):  # whose advice is for a model, which can list a folder
        raise FileMissing(SCRIPT_MISSING(path=name), path=str(path)) from None


def _as_typed(path: Path) -> Path:
    """Return a path as it is written in this folder; by now it is absolute."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
