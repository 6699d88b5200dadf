"""Addresses of services that a user names, as that of GitHub Enterprise: they may be private, and must be encrypted."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from toolroll.errors import UrlRefused, UsageError
from toolroll.safe.text import one_line
from toolroll.safe.urls import check_url


def service_address(url: str, *, service: str, example: str) -> str:
    """The address of a service that is sent a key; UsageError for what is none, or would send the key in the open.

    Only for what the user has set: an address from a model or a document goes through `check_url`.
    """
    try:
        host = urlsplit(url).hostname or ""
        schemes = ("http", "https") if is_loopback(url) else ("https",)
        checked = check_url(url, schemes=schemes, allow_hosts=frozenset({host}))
        if "?" not in checked.target:
            return checked.url.rstrip("/")
    except (UrlRefused, ValueError):
        pass
    # Nothing of it but its scheme: a key may have been put where the address belongs.
    scheme, mark, _ = url.partition("://")
    given = f"{one_line(scheme, 20)}://…" if mark else "What was given"
    raise UsageError(
        f"{given} is no address of {service}. Write it like {example}: with https, without user name and query."
    )


def is_loopback(url: str) -> bool:
    """Whether the address is on this machine, where no proxy may come between."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
