"""The user's settings file: one value changes, and comments, order, blank lines and line ends stay.

tomlkit edits the text. tomllib, which also reads the settings, then checks that the new text means exactly what the old
one did with that one change; otherwise nothing is written. The file is written whole, for its owner alone.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from toolroll.errors import UsageError
from toolroll.home.keys import KEYS
from toolroll.home.settings import SERVERS, SETTINGS_NAME, read_user_file, settings_path
from toolroll.home.settings_layers import check_value, parse_settings, settings_error
from toolroll.home.settings_schema import Setting, find_setting
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.root import Root
from toolroll.safe.secrets.named_secrets import variable_names_a_secret
from toolroll.safe.secrets.redact import redact

_LOCK: Final = "settings.lock"
_BY_HAND: Final = "That cannot be changed here without touching the rest. Change it in the file itself."
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONE_LINE_FEED: Final = re.compile(r"(?<!\r)\n")


def set_setting(
    environment: Mapping[str, str],
    name: str,
    words: tuple[str, ...],
    *,
    check: Callable[[str, object], None] = lambda _name, _value: None,
) -> object:
    """Write a setting into the user's file and return its value.

    UsageError says why it cannot be set, also where it looks like a key. `check` may raise for further reasons.
    """
    if name.upper() in KEYS or variable_names_a_secret(name.upper()):
        raise UsageError(_secret_advice(name.upper() if name.upper() in KEYS else "NAME"))
    value = _parse_value(find_setting(name), words)
    check(name, value)
    _edit(settings_path(environment), lambda text: set_value(text, name, value), is_checked=True)
    return value


def unset_setting(environment: Mapping[str, str], name: str) -> bool:
    """Remove a setting from the user's file, also an unknown one; return whether it was there."""
    # Not checked: what is removed may be what makes the file wrong.
    return _edit(settings_path(environment), lambda text: remove_value(text, name), is_checked=False)


def add_server(environment: Mapping[str, str], name: str, table: Mapping[str, object]) -> None:
    """Write an MCP server into the user's file; UsageError says that there is one of that name, or what is wrong."""

    def add(text: str) -> str:
        if name in tomllib.loads(text).get(SERVERS, {}):
            raise UsageError(f"There is an MCP server '{name}' already. Remove it first: toolroll mcp remove {name}")
        return set_value(text, f"{SERVERS}.{name}", dict(table))

    _edit(settings_path(environment), add, is_checked=True)


def remove_server(environment: Mapping[str, str], name: str) -> bool:
    """Remove an MCP server from the user's file; return whether it was there."""
    return "." not in name and unset_setting(environment, f"{SERVERS}.{name}")


def set_value(text: str, name: str, value: object) -> str:
    """Return the TOML text with that value for `name` (`code.max_steps`)."""
    new = list(value) if isinstance(value, tuple) else value

    def change(table: MutableMapping[str, Any]) -> None:
        *parents, key = name.split(".")
        for parent in parents:
            table = table.setdefault(parent, {})
        table[key] = new

    # A table that is written with dots (`code.deny = []`) cannot be opened a second time.
    return _edit_text(text, change, lambda document: document.append(tomlkit.key(name.split(".")), tomlkit.item(new)))


def remove_value(text: str, name: str) -> str:
    """Return the TOML text without a value for `name`; the text itself where it has none."""

    def change(table: MutableMapping[str, Any]) -> None:
        *parents, key = name.split(".")
        inner: object = table
        for parent in parents:
            inner = inner.get(parent) if isinstance(inner, MutableMapping) else None
        if isinstance(inner, MutableMapping):
            inner.pop(key, None)

    return _edit_text(text, change)


def _edit_text(
    text: str, change: Callable[[MutableMapping[str, Any]], None], *others: Callable[[tomlkit.TOMLDocument], object]
) -> str:
    """Make the same change to the document and to its plain meaning, and compare the two."""
    meaning = tomllib.loads(text)
    try:
        change(meaning)
    except (AttributeError, TypeError):  # a value where a table is needed
        raise UsageError(_BY_HAND) from None
    for way in (change, *others):
        document = tomlkit.parse(text)
        try:
            way(document)
            after = tomlkit.dumps(document)
            if "\r\n" in text:
                after = _LONE_LINE_FEED.sub("\r\n", after)
            if _without_empty_tables(tomllib.loads(after)) == _without_empty_tables(meaning):
                return after
        except (TOMLKitError, AttributeError, TypeError, ValueError):  # tomlkit cannot write it in this way
            continue
    raise UsageError(_BY_HAND)


def _without_empty_tables(table: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out tables that are empty: a key with dots leaves none behind."""
    inner = {key: _without_empty_tables(one) if isinstance(one, dict) else one for key, one in table.items()}
    return {key: one for key, one in inner.items() if one != {}}


def _parse_value(one: Setting, words: tuple[str, ...]) -> object:
    if any(redact(word) != word for word in words):
        raise UsageError(_secret_advice("NAME"))
    # Of a list they are the words of a command, in which a line end may be meant.
    if one.kind == "text" and (odd := next((word for word in words if _CONTROL.search(word)), None)):
        raise UsageError(f"{one.name} must not hold control characters; got '{quote_path(odd)}'.")
    return check_value(one, one.parse(words), called=one.name)


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
    try:
        text = (read_user_file(path) or b"").decode()
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise settings_error(path, f"{error}.") from None
    return text
