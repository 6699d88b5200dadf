"""`toolroll config`: see and change settings, know where each value is from, and put keys where they belong (S41)."""

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolroll.cli.commands.changes import root_option
from toolroll.cli.render.prose import fit, notify
from toolroll.cli.session import DONE, FAILED, Session, output_options
from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.home.settings import Origin, Settings
    from toolroll.home.settings_schema import Setting

_NEGATIVE: Final = re.compile(r"-[0-9][0-9.e]*")
USUAL_STEPS: Final = 10
"""What `code.max_steps` is if nobody sets it; repeated here because the agent is not loaded to list settings."""


def _setting_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from toolroll.home.settings_schema import all_settings  # noqa: PLC0415 - pydantic: not for --help

    return [one.name for one in all_settings() if one.name.startswith(incomplete)]


def _key_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from toolroll.packs.keys import all_keys  # noqa: PLC0415 - as above

    return [name for name in all_keys() if name.startswith(incomplete)]


@click.group()
def config() -> None:
    """See and change the settings, and where each is from.

    What counts first: an option of the command, a variable (code.max_steps is TOOLROLL_CODE_MAX_STEPS), the project's
    .toolroll/settings.toml once you have trusted it, your own settings.toml, the default. Rules in code.deny add up.

    \b
    Examples:
      toolroll config list --show-origin
      toolroll config set model sonnet
    """


@config.command("list", short_help="List every setting: value, default, what it does.")
@root_option
@click.option("--show-origin", is_flag=True, help="Say where each value is from.")
@output_options
@click.pass_obj
def list_settings(session: Session, *, root: Path | None, show_origin: bool) -> int:
    """List every setting with its value, its kind, its default and what it does.

    \b
    Examples:
      toolroll config list
      toolroll config list --show-origin --json
    """
    from toolroll.home.settings_schema import all_settings  # noqa: PLC0415 - as above

    settings = _settings(root)
    if session.json:
        session.write_json({"settings": [_fields(one, settings) for one in all_settings()], "notes": settings.notes})
        return DONE
    session.show("\n".join(_told(one, settings, show_origin=show_origin) for one in all_settings()))
    _tell_notes(settings)
    return DONE


@config.command(short_help="Show the value of one setting.")
@click.argument("name", shell_complete=_setting_names)
@root_option
@click.option("--show-origin", is_flag=True, help="Say where the value is from.")
@output_options
@click.pass_obj
def get(session: Session, name: str, *, root: Path | None, show_origin: bool) -> int:
    """Show the value that setting NAME has here; exit code 1 where it has none.

    \b
    Examples:
      toolroll config get model
      toolroll config get code.deny --show-origin
    """
    from toolroll.home.settings_schema import find_setting  # noqa: PLC0415 - as above

    one, settings = find_setting(name), _settings(root)
    value = _value(one, settings)
    if session.json:
        session.write_json(_fields(one, settings))
    elif value is None:
        session.fail("not_set", f"{name} is not set, and has no default.")
        return FAILED
    else:
        words = [str(word) for word in value] if isinstance(value, tuple) else [str(value)]
        places = [f"  ({place})" for place in _places(one, settings)] if show_origin else [""] * len(words)
        session.out.write("".join(f"{word}{place}\n" for word, place in zip(words, places, strict=False)))
    return FAILED if value is None else DONE


class _WithNumbers(click.Command):
    """A command to which -5 is a number: no option of ours is a digit."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, as click reads them."""
        ctx.ignore_unknown_options = any(_NEGATIVE.fullmatch(word) for word in args)
        return super().parse_args(ctx, args)


def _check(name: str, value: object) -> None:
    """What only the models can know: a name that --model would refuse is not kept."""
    from toolroll.models.catalog import parse_model  # noqa: PLC0415 - as above
    from toolroll.models.scripted_file import PREFIX  # noqa: PLC0415 - as above

    if name == "model" and not str(value).startswith(PREFIX):
        parse_model(str(value))


@config.command("set", cls=_WithNumbers, short_help="Set a setting in your own file.")
@click.argument("name", shell_complete=_setting_names)
@click.argument("values", nargs=-1, required=True)
@output_options
@click.pass_obj
def set_value(session: Session, name: str, values: tuple[str, ...]) -> int:
    """Set NAME to VALUES in your own settings.toml, and change nothing else there.

    A list takes several values; write -- before values that begin with a dash. Keys are no settings: see 'toolroll
    config key'.

    \b
    Examples:
      toolroll config set model sonnet
      toolroll config set code.deny 'secrets/**' '*.pem'
      toolroll config set code.check -- pytest -q
    """
    from toolroll.home.settings import settings_path  # noqa: PLC0415 - as above
    from toolroll.home.settings_file import set_setting  # noqa: PLC0415 - as above
    from toolroll.home.settings_schema import find_setting  # noqa: PLC0415 - as above

    value = set_setting(os.environ, name, values, check=_check)
    if session.json:
        session.write_json({"name": name, "value": value, "path": str(settings_path(os.environ))})
    else:
        session.show(f"{name} = {_toml(value)}")
    variable = find_setting(name).variable
    if os.environ.get(variable, "").strip():
        notify(f"Note: {variable} is set in the environment, and comes first.")
    return DONE


@config.command(short_help="Take a setting out of your own file.")
@click.argument("name", shell_complete=_setting_names)
@output_options
@click.pass_obj
def unset(session: Session, name: str) -> int:
    """Take NAME out of your own settings.toml; exit code 1 where it is not in there.

    \b
    Example:
      toolroll config unset model
    """
    from toolroll.home.settings_file import unset_setting  # noqa: PLC0415 - as above

    if not unset_setting(os.environ, name):
        session.fail("not_set", _not_there(name))
        return FAILED
    if session.json:
        session.write_json({"name": name, "value": None})
    else:
        session.show(f"{name} is no longer set.")
    return DONE


def _not_there(name: str) -> str:
    from toolroll.home.settings_schema import find_setting  # noqa: PLC0415 - as above

    try:
        return f"'{find_setting(name).name}' is not in your settings."
    except UsageError as error:  # there is no such setting, and what may have been meant
        return error.message


@config.command(short_help="Show where your settings are.")
@root_option
@output_options
@click.pass_obj
def path(session: Session, *, root: Path | None) -> int:
    """Show the path of your own settings.toml, also where there is none yet, or one that cannot be used.

    \b
    Example:
      $EDITOR "$(toolroll config path)"
    """
    from toolroll.home.project_settings import PROJECT_SETTINGS  # noqa: PLC0415 - as above
    from toolroll.home.settings import settings_path  # noqa: PLC0415 - as above

    mine = settings_path(os.environ)
    if session.json:
        project = (root or Path.cwd()).resolve() / PROJECT_SETTINGS
        session.write_json({"user": str(mine), "project": str(project)})
    else:
        session.write(str(mine))
    return DONE


@config.group(short_help="Keep keys in the system's keyring.")
def key() -> None:
    """Keep keys in the system's keyring (pip install 'toolroll[keyring]').

    A key in the environment comes first. Keys are never written to a file of ours, and never taken from a project.

    \b
    Examples:
      toolroll config key set ANTHROPIC_API_KEY
      toolroll config key list
    """


@key.command("set", short_help="Put a key into the keyring.")
@click.argument("name", shell_complete=_key_names)
@output_options
@click.pass_obj
def set_key(session: Session, name: str) -> int:
    """Put the key NAME (such as ANTHROPIC_API_KEY) into the keyring.

    It is asked for without being shown, or read from stdin. It cannot be given as an argument: every user of the
    machine can see those.

    \b
    Examples:
      toolroll config key set ANTHROPIC_API_KEY
      pass show anthropic | toolroll config key set ANTHROPIC_API_KEY
    """
    from toolroll.home.keys import KeyBook  # noqa: PLC0415 - as above
    from toolroll.packs.keys import check_key_name  # noqa: PLC0415 - as above

    check_key_name(name)
    KeyBook.from_environment(os.environ).put(name, _secret(name))
    if session.json:
        session.write_json({"name": name, "place": "keyring"})
    else:
        session.show(f"{name} is in the keyring.")
    return DONE


@key.command(short_help="Take a key out of the keyring.")
@click.argument("name", shell_complete=_key_names)
@output_options
@click.pass_obj
def delete(session: Session, name: str) -> int:
    """Take the key NAME out of the keyring; exit code 1 where there is none.

    \b
    Example:
      toolroll config key delete ANTHROPIC_API_KEY
    """
    from toolroll.home.keys import KeyBook  # noqa: PLC0415 - as above
    from toolroll.packs.keys import check_key_name  # noqa: PLC0415 - as above

    check_key_name(name)
    if not KeyBook.from_environment(os.environ).delete(name):
        session.fail("not_set", f"{name} is not in the keyring.")
        return FAILED
    if session.json:
        session.write_json({"name": name, "place": None})
    else:
        session.show(f"{name} is no longer in the keyring.")
    return DONE


@key.command("list", short_help="List the keys there can be, and where each is.")
@output_options
@click.pass_obj
def list_keys(session: Session) -> int:
    """List the keys that toolroll uses, what each is for, and where it was found; never the keys themselves.

    \b
    Example:
      toolroll config key list --json
    """
    from toolroll.home.keys import KeyBook  # noqa: PLC0415 - as above
    from toolroll.packs.keys import all_keys  # noqa: PLC0415 - as above

    kept = KeyBook.from_environment(os.environ).names()
    rows = [(name, use, _key_place(name, kept)) for name, use in all_keys().items()]
    if session.json:
        session.write_json({"keys": [{"name": name, "for": use, "place": place} for name, use, place in rows]})
    else:
        session.show("\n".join(f"{place or 'missing':<12} {name:<26} {use}" for name, use, place in rows))
    return DONE


def _key_place(name: str, kept: tuple[str, ...]) -> str | None:
    if os.environ.get(name, "").strip():
        return "environment"
    return "keyring" if name in kept else None


def _secret(name: str) -> str:
    if sys.stdin is None:
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    import getpass  # noqa: PLC0415 - only where somebody is asked

    return getpass.getpass(fit(f"{name} (it is not shown):", sys.stderr) + " ").strip()


def _settings(root: Path | None) -> "Settings":
    from toolroll.home.settings import read_settings  # noqa: PLC0415 - as above

    return read_settings(os.environ, root=root or Path.cwd())


def _tell_notes(settings: "Settings") -> None:
    from toolroll.cli.project_tools import show_notes  # noqa: PLC0415 - as above

    show_notes(settings)


def _value(one: "Setting", settings: "Settings") -> object:
    value: object = settings
    for step in one.name.split("."):
        value = getattr(value, step)
    return _usual(one) if value is None else value


def _usual(one: "Setting") -> object:
    """What counts where nobody has set it."""
    from toolroll.workspace.limits import DEFAULT_LIMITS  # noqa: PLC0415 - as above

    if one.name == "code.max_steps":
        return USUAL_STEPS
    table, _, name = one.name.rpartition(".")
    return getattr(DEFAULT_LIMITS, name) if table == "code.limits" else one.default


def _fields(one: "Setting", settings: "Settings") -> dict[str, object]:
    origin = settings.origin(one.name)
    return {
        "name": one.name,
        "value": _value(one, settings),
        "default": _usual(one),
        "type": one.kind,
        "summary": one.summary,
        "variable": one.variable,
        "origin": {"kind": origin.kind, "place": origin.place},
    }


def _told(one: "Setting", settings: "Settings", *, show_origin: bool) -> str:
    usual = _usual(one)
    kind = one.kind if usual in (None, ()) else f"{one.kind}, {usual} if not set"
    value = _value(one, settings)
    lines = [f"{one.name} = {'(not set)' if value is None else _toml(value)}", f"    {one.summary} ({kind})"]
    if show_origin:
        lines += [f"    from {place}" for place in dict.fromkeys(_places(one, settings))]
    return "\n".join(lines)


def _places(one: "Setting", settings: "Settings") -> list[str]:
    """Where the value is from; of a list one for each of its words."""
    value = _value(one, settings)
    if not isinstance(value, tuple) or not value:
        return [_place(settings.origin(one.name))]
    names = [f"{one.name}[{at}]" for at in range(len(value))]
    return [_place(settings.origin(name if name in settings.origins else one.name)) for name in names]


def _place(origin: "Origin") -> str:
    return f"{origin.kind}: {origin.place}" if origin.place else origin.kind


def _toml(value: object) -> str:
    from toolroll.home.settings_schema import format_value  # noqa: PLC0415 - as above

    return format_value(value)
