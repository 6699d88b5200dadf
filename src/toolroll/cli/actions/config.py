"""What `toolroll config` does: it shows settings with their origin, changes them, and stores keys."""

import getpass
import os
import sys
from pathlib import Path

import click

from toolroll.apps.settings_view import check_setting, find_keys, hide_secret, shown_value, usual_value
from toolroll.cli.render.prose import fit, notify
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.cli.terminal.surface import show_setting_notes, terminal_surface
from toolroll.errors import UsageError
from toolroll.home.keys import KeyBook
from toolroll.home.project_settings import PROJECT_SETTINGS
from toolroll.home.settings import Origin, Settings, read_settings, settings_path
from toolroll.home.settings_file import set_setting, unset_setting
from toolroll.home.settings_schema import Setting, all_settings, find_setting, format_value
from toolroll.models.catalog import ALIASES, PROVIDERS
from toolroll.models.scripted_file import PREFIX
from toolroll.packs.keys import all_keys, check_key_name


def list_settings(session: Session, *, root: Path | None, show_origin: bool) -> int:
    """Show every setting; return the exit code."""
    settings = _settings(root)
    if session.json:
        session.write_json({"settings": [_fields(one, settings) for one in all_settings()], "notes": settings.notes})
        return DONE
    session.show("\n".join(_format_setting(one, settings, show_origin=show_origin) for one in all_settings()))
    show_setting_notes(settings, terminal_surface())
    return DONE


def show_setting(session: Session, name: str, *, root: Path | None, show_origin: bool) -> int:
    """Show one setting; return the exit code."""
    one, settings = find_setting(name), _settings(root)
    value = shown_value(one, settings)
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


def change_setting(session: Session, name: str, values: tuple[str, ...]) -> int:
    """Set a setting in the user's own file; return the exit code."""
    value = hide_secret(name, set_setting(os.environ, name, values, check=check_setting))
    if session.json:
        session.write_json({"name": name, "value": value, "path": str(settings_path(os.environ))})
    else:
        session.show(f"{name} = {_toml(value)}")
    variable = find_setting(name).variable
    if os.environ.get(variable, "").strip():
        notify(f"Note: {variable} is set in the environment, and comes first.")
    return DONE


def remove_setting(session: Session, name: str) -> int:
    """Remove a setting from the user's own file; return the exit code."""
    if not unset_setting(os.environ, name):
        session.fail("not_set", _not_there(name))
        return FAILED
    if session.json:
        session.write_json({"name": name, "value": None})
    else:
        session.show(f"{name} is no longer set.")
    return DONE


def show_path(session: Session, *, root: Path | None) -> int:
    """Show where the settings are; return the exit code."""
    mine = settings_path(os.environ)
    if session.json:
        project = (root or Path.cwd()).resolve() / PROJECT_SETTINGS
        session.write_json({"user": str(mine), "project": str(project)})
    else:
        session.write(str(mine))
    return DONE


def store_key(session: Session, name: str) -> int:
    """Store a key in the keyring; return the exit code."""
    check_key_name(name)
    KeyBook.from_environment(os.environ).put(name, _secret(name))
    if session.json:
        session.write_json({"name": name, "place": "keyring"})
    else:
        session.show(f"{name} is in the keyring.")
    return DONE


def delete_key(session: Session, name: str) -> int:
    """Delete a key from the keyring; return the exit code."""
    check_key_name(name)
    if not KeyBook.from_environment(os.environ).delete(name):
        session.fail("not_set", f"{name} is not in the keyring.")
        return FAILED
    if session.json:
        session.write_json({"name": name, "place": None})
    else:
        session.show(f"{name} is no longer in the keyring.")
    return DONE


def list_keys(session: Session) -> int:
    """List the keys that are used, and where each was found; return the exit code."""
    rows = find_keys(os.environ)
    if session.json:
        session.write_json({"keys": [{"name": name, "for": use, "place": place} for name, use, place in rows]})
    else:
        session.show("\n".join(f"{place or 'missing':<12} {name:<26} {use}" for name, use, place in rows))
    return DONE


def _not_there(name: str) -> str:
    try:
        return f"'{find_setting(name).name}' is not in your settings."
    except UsageError as error:  # there is no such setting, and what may have been meant
        return error.message


def _secret(name: str) -> str:
    if sys.stdin is None:
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()

    return getpass.getpass(fit(f"{name} (it is not shown):", sys.stderr) + " ").strip()


def _settings(root: Path | None) -> Settings:
    return read_settings(os.environ, root=root or Path.cwd())


def _fields(one: Setting, settings: Settings) -> dict[str, object]:
    origin = settings.origin(one.name)
    return {
        "name": one.name,
        "value": shown_value(one, settings),
        "default": usual_value(one),
        "type": one.kind,
        "summary": one.summary,
        "variable": one.variable,
        "origin": {"kind": origin.kind, "place": origin.place},
    }


def _format_setting(one: Setting, settings: Settings, *, show_origin: bool) -> str:
    usual = usual_value(one)
    kind = one.kind if usual in (None, ()) else f"{one.kind}, {usual} if not set"
    value = shown_value(one, settings)
    lines = [f"{one.name} = {'(not set)' if value is None else _toml(value)}", f"    {one.summary} ({kind})"]
    if show_origin:
        lines += [f"    from {place}" for place in dict.fromkeys(_places(one, settings))]
    return "\n".join(lines)


def _places(one: Setting, settings: Settings) -> list[str]:
    """Where the value is from; of a list one for each of its words."""
    value = shown_value(one, settings)
    if not isinstance(value, tuple) or not value:
        return [_place(settings.origin(one.name))]
    names = [f"{one.name}[{at}]" for at in range(len(value))]
    return [_place(settings.origin(name if name in settings.origins else one.name)) for name in names]


def _place(origin: Origin) -> str:
    return f"{origin.kind}: {origin.place}" if origin.place else origin.kind


def _toml(value: object) -> str:
    return format_value(value)


def complete_settings(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of settings that begin so, for the shell."""
    return [one.name for one in all_settings() if one.name.startswith(incomplete)]


def complete_models(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the short names of models, and the providers, that begin so; what follows a provider only it knows."""
    names = [*ALIASES, *(f"{provider}:" for provider in PROVIDERS), PREFIX]
    return [name for name in names if name.startswith(incomplete)]


def complete_keys(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of keys that begin so, for the shell."""
    return [name for name in all_keys() if name.startswith(incomplete)]
