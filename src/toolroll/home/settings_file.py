"""Changing the user's settings: checked before anything is written, whole or not at all, for its owner alone."""

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from toolroll.errors import UsageError
from toolroll.home.keys import KEYS
from toolroll.home.settings import SETTINGS_NAME, read_user_file, settings_path
from toolroll.home.settings_layers import check_value, parse_settings, settings_error
from toolroll.home.settings_schema import Setting, find_setting
from toolroll.home.toml_lines import remove_toml_value, set_toml_value
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.root import Root
from toolroll.safe.secrets.named_secrets import variable_names_a_secret
from toolroll.safe.secrets.redact import redact

_LOCK: Final = "settings.lock"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def set_setting(
    environment: Mapping[str, str],
    name: str,
    words: tuple[str, ...],
    *,
    check: Callable[[str, object], None] = lambda _name, _value: None,
) -> object:
    """Write a setting into the user's file; its value. UsageError where it is none, or looks like a key.

    `check` raises where who asks knows more of what makes sense.
    """
    if name.upper() in KEYS or variable_names_a_secret(name.upper()):
        raise UsageError(_secret_advice(name.upper() if name.upper() in KEYS else "NAME"))
    one = find_setting(name)
    value = _parse_value(one, words)
    check(name, value)
    _edit(settings_path(environment), lambda text: set_toml_value(text, name, value), is_checked=True)
    return value


def unset_setting(environment: Mapping[str, str], name: str) -> bool:
    """Take a setting out of the user's file, also one that nobody knows; whether it was there."""
    # Not checked: what is taken out may be what makes the file wrong.
    return _edit(settings_path(environment), lambda text: remove_toml_value(text, name), is_checked=False)


def _parse_value(one: Setting, words: tuple[str, ...]) -> object:
    if any(redact(word) != word for word in words):
        raise UsageError(_secret_advice("NAME"))
    # Of a list they are the words of a command, in which a line end may be meant.
    if one.kind == "text" and (odd := next((word for word in words if _CONTROL.search(word)), None)):
        raise UsageError(f"{one.name} cannot be used: there is a control character in '{quote_path(odd)}'.")
    return check_value(one, one.read(words), called=one.name)


def _secret_advice(name: str) -> str:
    return (
        "That is a secret, and settings are no place for one: keys belong in the environment or the keyring. "
        f"Use 'toolroll config key set {name}'."
    )


def _edit(path: Path, change: Callable[[str], str], *, is_checked: bool) -> bool:
    folder = private_folder(path.parent)
    with FileLock(folder / _LOCK), closing(Root(folder)) as root:
        before = _read_text(path)
        after = change(before)
        if is_checked:
            parse_settings(after.encode(), path)
        if after != before:
            root.write_file(SETTINGS_NAME, after.encode(), mode=0o600)
        return after != before


def _read_text(path: Path) -> str:
    import tomllib  # noqa: PLC0415 - only where something is changed

    try:
        text = (read_user_file(path) or b"").decode()
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise settings_error(path, str(error)) from None
    return text
