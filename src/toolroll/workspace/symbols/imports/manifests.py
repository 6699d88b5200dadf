"""Read manifests: JSON as people write it in settings (comments, trailing commas, a byte order mark), TOML and INI."""

import json
import re
import tomllib
from configparser import ConfigParser
from configparser import Error as ConfigError
from typing import Final, cast

# What is cut off in the middle reaches to the end of the text: looking for its other end again from each beginning
# would take hours for a megabyte of `/*`.
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\Z)|//[^\n\r]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\Z))|,(?=[ \t\r\n]*[}\]])', re.DOTALL)

Table = dict[str, object]
"""A JSON object whose values nobody has checked."""


def read_table(data: bytes | None) -> Table:
    """Return the object a settings file holds; empty where it holds none, whatever is wrong with it."""
    if data is None:
        return {}
    text = data.decode("utf-8-sig", "replace")
    bare = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    try:
        return as_table(json.loads(_TRAILING.sub(lambda match: match[1] or "", bare)))
    except (ValueError, RecursionError):
        return {}


def as_table(value: object) -> Table:
    """Return the value if it is an object, else an empty one."""
    return cast("Table", value) if isinstance(value, dict) else {}


def as_texts(value: object) -> list[str]:
    """Return the texts of a list; a text alone is a list of one."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def as_text(value: object) -> str | None:
    """Return the value if it is a text with something in it."""
    return value if isinstance(value, str) and value else None


def read_toml(data: bytes | None) -> Table:
    """Return the tables of a manifest; empty where it cannot be read, whatever is wrong with it."""
    if data is None:
        return {}
    try:
        return tomllib.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}


def read_ini(data: bytes | None) -> dict[str, dict[str, str]]:
    """Return the sections of a manifest; empty where it cannot be read."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string("" if data is None else data.decode("utf-8-sig", "replace"))
    except ConfigError:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def within(tables: Table, *names: str) -> Table:
    """Return the table at a path of names, else an empty one."""
    for name in names:
        tables = as_table(tables.get(name))
    return tables
