"""Settings as a person sees them: what counts now, where that is from, and no secret among it."""

from collections.abc import Mapping

from toolroll.apps.spec import CODE_STEPS
from toolroll.home.keys import KeyBook
from toolroll.home.settings import Settings
from toolroll.home.settings_schema import Setting
from toolroll.models.catalog import parse_model
from toolroll.models.scripted_file import PREFIX
from toolroll.packs.keys import all_keys
from toolroll.postgres.address import SETTING as DATABASE
from toolroll.postgres.address import hide_password, parse_address
from toolroll.workspace.limits import DEFAULT_LIMITS


def shown_value(one: Setting, settings: Settings) -> object:
    """Return the value that counts."""
    value: object = settings
    for step in one.name.split("."):
        value = getattr(value, step)
    return usual_value(one) if value is None else hide_secret(one.name, value)


def usual_value(one: Setting) -> object:
    """Return what counts where nobody has set it."""
    if one.name == "code.max_steps":
        return CODE_STEPS
    table, _, name = one.name.rpartition(".")
    return getattr(DEFAULT_LIMITS, name) if table == "code.limits" else one.default


def hide_secret(name: str, value: object) -> object:
    """Return the value to be shown: the address of a database without its password."""
    return hide_password(value) if name == DATABASE and isinstance(value, str) else value


def check_setting(name: str, value: object) -> None:
    """Refuse what only the models can know: a name that --model would refuse is not kept."""
    if name == "model" and not str(value).startswith(PREFIX):
        parse_model(str(value))
    if name == DATABASE:
        parse_address(str(value), source=name)


def find_keys(environment: Mapping[str, str]) -> list[tuple[str, str, str | None]]:
    """Return every key that is used: its name, what it is for, and where it was found; never the key itself."""
    book = KeyBook.from_environment(environment)
    kept = dict.fromkeys(book.file.read(), "file") | dict.fromkeys(book.names(), "keyring")
    return [(name, use, _key_place(name, kept, environment)) for name, use in all_keys().items()]


def _key_place(name: str, kept: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    if environment.get(name, "").strip():
        return "environment"
    return kept.get(name)
