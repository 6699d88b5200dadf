"""Manifests in TOML and in the INI form of setup.cfg."""

import tomllib
from configparser import ConfigParser
from configparser import Error as ConfigError

from toolroll.workspace.symbols.imports.resolve.jsonc import Table, as_table


def read_toml(data: bytes | None) -> Table:
    """The tables of a manifest; empty where it cannot be read, whatever is wrong with it."""
    if data is None:
        return {}
    try:
        return tomllib.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}


def read_ini(data: bytes | None) -> dict[str, dict[str, str]]:
    """The sections of a manifest; empty where it cannot be read."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string("" if data is None else data.decode("utf-8-sig", "replace"))
    except ConfigError:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def within(tables: Table, *names: str) -> Table:
    """The table at a path of names, else an empty one."""
    for name in names:
        tables = as_table(tables.get(name))
    return tables
