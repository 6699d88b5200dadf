"""The address of a database: what it may look like, and how it is shown without its password."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit

from toolroll.errors import UsageError
from toolroll.home.folders import find_folders
from toolroll.lazy import load
from toolroll.safe.secrets.redact import remember_secret

VARIABLE: Final = "TOOLROLL_DATABASE_URL"
SETTING: Final = "database_url"
_SETTINGS_NAME: Final = "settings.toml"
_SCHEMES: Final = ("postgresql", "postgres")
_HOW: Final = "Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE."
_HIDDEN: Final = "***"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a database is. `url` has the password; what is printed or logged is `shown`."""

    url: str
    shown: str
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    def hide(self, text: str) -> str:
        """Return a text of the server or of its library without the password."""
        for secret in (self.url, *self.secrets):
            text = text.replace(secret, _HIDDEN)
        return text


def parse_address(url: str, *, source: str = VARIABLE) -> Address:
    """Return the address that somebody has set; `UsageError` says what is wrong, and shows no part of it."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port  # raises where it is no number
    except ValueError:
        raise UsageError(f"{source} is no URL. {_HOW}") from None
    if parts.scheme not in _SCHEMES:
        raise UsageError(f"{source} must begin with postgresql://. {_HOW}")
    if not parts.path.strip("/"):
        raise UsageError(f"{source} names no database. {_HOW}")
    if find_spec("psycopg") is None:
        raise UsageError("PostgreSQL needs more packages. Install them: pip install 'toolroll[postgres]'")
    return Address(url=url.strip(), shown=_show(parts), secrets=_find_passwords(parts))


def hide_password(url: str) -> str:
    """Return an address that somebody has set, right or wrong, without its password."""
    try:
        return _show(urlsplit(url.strip()))
    except ValueError:
        return _HIDDEN


def read_address(environment: Mapping[str, str]) -> Address | None:
    """Return the address in the environment, else in the user's settings; None means that everything is in files."""
    url = environment.get(VARIABLE, "").strip()
    if url:
        return parse_address(url)
    # Settings take four interpreter starts to load: only where the file may have one.
    if VARIABLE in environment or not _is_mentioned(find_folders(environment).config / _SETTINGS_NAME):
        return None
    set_url = load("toolroll.home.settings:read_settings")(environment).database_url
    if not set_url:
        return None
    found = parse_address(set_url, source=SETTING)
    for secret in found.secrets:  # those of the environment are known already
        remember_secret(secret)
    return found


def _is_mentioned(path: Path) -> bool:
    try:
        return SETTING.encode() in path.read_bytes()
    except OSError:
        return False


def _show(parts: SplitResult) -> str:
    place = parts.netloc.rpartition("@")[2] or "localhost"
    user = f"{parts.username}@" if parts.username else ""
    return f"postgresql://{user}{place}{parts.path}"


def _find_passwords(parts: SplitResult) -> tuple[str, ...]:
    """Return the password as it is written and as it is meant; libpq takes it as a parameter, too."""
    found = [parts.password] if parts.password else []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if "password" in name and value:
            found += [value, quote(value, safe=""), quote_plus(value)]
    forms = {form for one in found for form in (one, unquote(one))}
    return tuple(sorted(forms, key=len, reverse=True))
