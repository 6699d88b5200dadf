"""The settings, one typed object: from flags, environment, the project's trusted file, the user's, defaults (S41).

`settings.toml` in the user's configuration folder:

    model = "sonnet"

    [code]
    deny = ["secrets/**", "*.pem"]
    check = ["npm", "test"]
    max_steps = 20

    [code.limits]
    read_lines = 4000

The first of these that sets a value has its way; rules that deny add up. What a project may say is in `home.project`.
"""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from toolroll.errors import FileMissing, OutsideRoot, UsageError
from toolroll.home.folders import find_folders
from toolroll.home.project_settings import read_project_layer
from toolroll.home.settings_layers import MAX_SETTINGS_BYTES, Layer, parse_settings, read_variables, settings_error
from toolroll.home.settings_schema import CodeSettings, LimitSettings, Origin, Settings, nest_values
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root

__all__ = ["CodeSettings", "LimitSettings", "Origin", "Settings", "read_settings", "settings_path"]

SETTINGS_NAME: Final = RelativePath(parts=("settings.toml",))
ADDS_UP: Final = "code.deny"
"""The setting of which no layer takes anything away: a rule that denies is not undone from elsewhere."""

SERVERS: Final = "mcp_servers"
NAMED_TABLES: Final = (SERVERS, "code.commands")
"""Tables by name, of which the user's own count before those of a project."""

_OTHERS_CAN_WRITE: Final = 0o022
_LINK: Final = (
    "The settings in '{path}' cannot be used: it is a link that leads elsewhere, where others may be able to write."
    " Put the file itself in its place: copy it, or let your dotfile manager copy rather than link it."
)


def settings_path(environment: Mapping[str, str]) -> Path:
    """Return the path of the user's settings file, whether it exists or not."""
    return find_folders(environment).config / SETTINGS_NAME.name


def read_settings(
    environment: Mapping[str, str], *, root: Path | None = None, flags: Mapping[str, object] | None = None
) -> Settings:
    """Read the settings in effect, in the project `root` if there is one; `flags` that are None are not set.

    UsageError says what is wrong with a file or a variable; then nothing of it is used.
    """
    project, notes = (None, ()) if root is None else read_project_layer(root, environment)
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    layers = [
        read_user_layer(environment),
        project,
        read_variables(environment),
        Layer(values=given, origins=dict.fromkeys(given, Origin(kind="flag"))),
    ]
    return _merge([layer for layer in layers if layer is not None], notes)


def read_user_layer(environment: Mapping[str, str]) -> Layer | None:
    """Return what the user's own file sets; None without one."""
    path = settings_path(environment)
    data = read_user_file(path)
    return None if data is None else Layer.of_file(parse_settings(data, path), Origin(kind="user", place=str(path)))


def read_user_file(path: Path) -> bytes | None:
    """Return the bytes of the user's file; None without one."""
    if not path.parent.exists():
        return None
    with closing(Root(private_folder(path.parent))) as root:
        try:
            mode = root.stat(SETTINGS_NAME).mode
        except FileMissing:
            return None
        except OutsideRoot:
            raise UsageError(_LINK.format(path=quote_path(str(path)))) from None
        if mode & _OTHERS_CAN_WRITE:
            raise settings_error(path, "other users can write to it. Look through it, then make it yours (chmod 600).")
        return root.read_bytes(SETTINGS_NAME, limit_bytes=MAX_SETTINGS_BYTES)


def _merge(layers: list[Layer], notes: tuple[str, ...]) -> Settings:
    """From the weakest layer to the strongest."""
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for layer in layers:
        for name, value in layer.values.items():
            if name == ADDS_UP:
                before = values.get(name, ())
                added = [rule for rule in dict.fromkeys(value) if rule not in before]
                places = {f"{name}[{at}]": layer.origins[name] for at in range(len(before), len(before) + len(added))}
                values[name] = (*before, *added)
                origins |= places
            elif name in NAMED_TABLES:
                before = values.get(name, {})
                origins |= {f"{name}.{one}": layer.origins[name] for one in value if one not in before}
                values[name] = {**value, **before}
            else:
                values[name] = value
            origins[name] = layer.origins[name]
    return Settings.model_validate({**nest_values(values), "origins": origins, "notes": notes})
