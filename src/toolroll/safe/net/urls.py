"""Guard every address that a model or a document asks us to connect to (XW8).

`check_url` judges the text and opens no socket. `resolve` looks the name up once and judges every answer; whoever
connects (`transport`) dials one of those addresses and nothing else, so an answer that changes later changes nothing.
"""

import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from typing import Literal
from urllib.parse import urlsplit

import idna

from toolroll.errors import UrlRefused, UsageError
from toolroll.safe.limits import MAX_ADDRESSES_PER_NAME, MAX_HOST_CHARACTERS, MAX_URL_CHARACTERS, RESOLVE_TIMEOUT_S
from toolroll.safe.net.addresses import IPAddress, address_refusal, parse_ipv4
from toolroll.safe.text import one_line

Rule = Literal["length", "characters", "scheme", "user_info", "host", "port", "local_name", "address", "unresolved"]
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^#]*)(?:#.*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(?:\[(?P<literal>[^\[\]]*)\]|(?P<name>[^\[\]:]*))(?::(?P<port>[0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65535
# The ports that browsers block: a mail or chat server takes a request for commands (Fetch standard, "bad port").
_BLOCKED_PORTS = frozenset((
    *(1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109),
    *(110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530),
    *(531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190),
    *(5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
))  # fmt: skip
# Names of this machine or network: RFC 6761, 6762, 8375, ICANN's list of name collisions, cloud metadata, and
# Kubernetes, whose `name.namespace.svc` is completed by the cluster's search list.
_LOCAL_SUFFIXES = (
    ".localhost", ".local", ".localdomain", ".internal", ".intranet", ".private", ".corp", ".home", ".lan", ".arpa",
    ".test", ".invalid", ".onion", ".svc",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedUrl:
    """A URL whose text breaks no rule, taken apart; `address` is set where the host is a literal."""

    scheme: str
    host: str
    port: int
    address: IPAddress | None
    allowed: bool
    # Queries carry secrets: they stay out of what is logged.
    target: str = field(repr=False)

    @property
    def url(self) -> str:
        """Return the URL in its one canonical spelling, without fragment."""
        port = "" if self.port == _DEFAULT_PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{_add_brackets(self.host)}{port}{self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a connection may go: the addresses that were judged, in the resolver's order."""

    host: str
    port: int
    addresses: tuple[IPAddress, ...]


def check_url(
    url: str, *, schemes: tuple[str, ...] = ("https",), allow_hosts: frozenset[str] = frozenset()
) -> CheckedUrl:
    """Judge the text of a URL; what comes back may be resolved, what is refused says which rule it broke.

    `allow_hosts` are hosts (`127.0.0.1`, `localhost:8080`, `[::1]:8080`) that a person has named: their address is not
    judged. All else about the URL still is.
    """
    if len(url) > MAX_URL_CHARACTERS:
        raise _make_refusal(url, "length", f"is longer than {MAX_URL_CHARACTERS} characters")
    # Parsers disagree on these, and each disagreement was once a way past a guard.
    if not url.isprintable() or any(char.isspace() or char == "\\" for char in url):
        raise _make_refusal(url, "characters", "contains blanks, control characters or backslashes")
    parts = _PARTS.fullmatch(url)
    if parts is None or parts[1].lower() not in schemes:
        raise _make_refusal(url, "scheme", f"does not start with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if "@" in parts[2]:
        raise _make_refusal(url, "user_info", "contains a user name or password")
    scheme, target = parts[1].lower(), parts[3] if parts[3].startswith("/") else "/" + parts[3]
    host, port, address = _check_authority(url, scheme, parts[2])
    allowed = bool(allow_hosts & {host, f"{_add_brackets(host)}:{port}"})
    if not allowed:
        _check_public(url, host, port, address)
    return CheckedUrl(scheme=scheme, host=host, port=port, address=address, allowed=allowed, target=target)


async def system_resolver(host: str, port: int) -> tuple[str, ...]:
    """Ask the operating system for the addresses of a name."""
    import asyncio  # noqa: PLC0415 - five interpreter starts; a run that connects to no foreign host never needs it

    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


async def resolve(checked: CheckedUrl, *, resolver: Resolver = system_resolver) -> Destination:
    """Look a checked host up, once, and refuse it if any of its addresses is not public."""
    if checked.address is not None:
        addresses: tuple[IPAddress, ...] = (checked.address,)
    else:
        addresses = await _look_up(checked, resolver)
    for address in addresses:
        refusal = address_refusal(address)
        if refusal is not None and not checked.allowed:
            raise _make_refusal(checked.url, "address", f"leads to {address}: {refusal}")
    return Destination(host=checked.host, port=checked.port, addresses=addresses[:MAX_ADDRESSES_PER_NAME])


async def _look_up(checked: CheckedUrl, resolver: Resolver) -> tuple[IPAddress, ...]:
    import asyncio  # noqa: PLC0415 - as above

    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT_S):
            answers = await resolver(checked.host, checked.port)
        addresses = tuple(ip_address(answer) for answer in answers)
    except (OSError, ValueError) as error:
        raise _make_refusal(checked.url, "unresolved", "has a host name that cannot be looked up") from error
    if not addresses:
        raise _make_refusal(checked.url, "unresolved", "has a host name without an address")
    return addresses


def _check_authority(url: str, scheme: str, authority: str) -> tuple[str, int, IPAddress | None]:
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise _make_refusal(url, "host", "has no host that can be read without doubt")
    port = int(match["port"] or _DEFAULT_PORTS.get(scheme, 0))
    if not 0 < port <= _MAX_PORT:
        raise _make_refusal(url, "port", "has a port outside of 1 to 65535")
    try:
        address, host = _read_host(match["literal"], match["name"])
    except ValueError as error:
        raise _make_refusal(url, "host", "has a host that is neither a name nor an address") from error
    return host, port, address


def _read_host(literal: str | None, name: str) -> tuple[IPAddress | None, str]:
    if literal is None:
        host = _canonical_name(name)
        ipv4 = parse_ipv4(host)
        return ipv4, host if ipv4 is None else str(ipv4)
    ipv6 = IPv6Address(literal)
    if ipv6.scope_id is not None:
        raise ValueError(literal)
    return ipv6, str(ipv6)


def _canonical_name(name: str) -> str:
    if not name.isascii() or "xn--" in name.lower():
        # UTS 46 maps full-width digits and dots to plain ones first, so `１２７。１` is judged as what it becomes.
        name = idna.encode(name, uts46=True).decode("ascii")
    name = name.lower().removesuffix(".")
    if len(name) > MAX_HOST_CHARACTERS or not all(map(_LABEL.fullmatch, name.split("."))):
        raise ValueError(name)
    return name


def _check_public(url: str, host: str, port: int, address: IPAddress | None) -> None:
    if port in _BLOCKED_PORTS:
        raise _make_refusal(url, "port", f"names port {port}, which is no web server's")
    if address is not None and (refusal := address_refusal(address)) is not None:
        raise _make_refusal(url, "address", f"leads to {address}: {refusal}")
    # A name without a dot is completed by the network's own search list.
    if address is None and ("." not in host or host.endswith(_LOCAL_SUFFIXES)):
        raise _make_refusal(url, "local_name", "has a name of this machine or of a private network")


def _add_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _make_refusal(url: str, rule: Rule, what: str) -> UrlRefused:
    shown = _shorten(url)
    return UrlRefused(f"{shown} {what}. Use the address of a public web page.", url=shown, rule=rule)


def _shorten(url: str) -> str:
    """Return the scheme and host alone: paths, queries and user-info carry secrets."""
    scheme, sign, rest = url[:MAX_URL_CHARACTERS].partition("://")
    host = "…" if "@" in rest else re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    return one_line(f"{scheme}{sign}{host}" if sign else re.split(r"[:/?#\\]", scheme)[0], 100)


def check_service_url(url: str, *, service: str, example: str) -> str:
    """Return the address of a service that is sent a key; `UsageError` if it is none, or would expose the key.

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
    """Return whether the address is on this machine, where no proxy may come between."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
