"""Decide which addresses belong to the public internet, and which IPv4 address a spelling or a tunnel means.

The tables are the IANA special-purpose registries (RFC 6890 and updates). They are spelled out because `is_global` of
the standard library changed its mind between patch releases of Python (CVE-2024-4032), and because what matters here is
stricter: only addresses that a stranger's server can have.
"""

import re
from collections.abc import Iterator
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IPAddress = IPv4Address | IPv6Address

_REFUSED_V4 = (
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by a provider (CGNAT)"),
    ("127.0.0.0/8", "loopback"),
    # Answers inside every Azure machine, although the range is public.
    ("168.63.129.16/32", "cloud metadata"),
    ("169.254.169.254/32", "cloud metadata"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("255.255.255.255/32", "broadcast"),
    ("240.0.0.0/4", "reserved"),
)
_REFUSED_V6 = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("fd00:ec2::254/128", "cloud metadata"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
    ("2001::/32", "Teredo tunnel"),
    ("2001:db8::/32", "documentation"),
    ("2001::/23", "reserved for protocols"),
    ("2002::/16", "6to4 tunnel"),
    ("3fff::/20", "documentation"),
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_GLOBAL_V6 = IPv6Network("2000::/3")
_ISATAP_MARKS = frozenset({0x00005EFE, 0x02005EFE})
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)$")
_MAX_PARTS = 4


def address_refusal(ip: IPAddress) -> str | None:
    """Return why nothing may connect to an address, or None for a globally routable unicast address.

    The one judge for literals and for resolved names. An IPv4 address inside an IPv6 one is judged as well: mapped,
    compatible, 6to4, NAT64, ISATAP or Teredo, the packet ends up there.
    """
    if isinstance(ip, IPv4Address):
        return _find_reason(ip, _networks_v4())
    if ip.scope_id is not None:
        return "zone id"
    for inner in _find_embedded(ip):
        if (refusal := address_refusal(inner)) is not None:
            return f"{refusal} ({inner} inside)"
    # These two mean the inner address itself: the system connects by IPv4, or a gateway of the network does.
    if ip in _MAPPED or ip in _NAT64:
        return None
    return _find_reason(ip, _networks_v6()) or (None if ip in _GLOBAL_V6 else "reserved")


def parse_ipv4(host: str) -> IPv4Address | None:
    """Read any spelling that `inet_aton` takes (`127.1`, `0x7f000001`, `017700000001`); None for a name.

    A host whose last part is a number is never a name (WHATWG URL, "ends in a number"): if it is no address either,
    ValueError is raised.
    """
    if not _ENDS_IN_NUMBER.search(host):
        return None
    parts = host.split(".")
    if len(parts) > _MAX_PARTS or not all(map(_NUMBER.fullmatch, parts)):
        raise ValueError(host)
    *octets, last = map(_number, parts)
    if any(octet > 255 for octet in octets) or last >= 256 ** (_MAX_PARTS - len(octets)):  # noqa: PLR2004 -- an octet
        raise ValueError(host)
    return IPv4Address(sum(octet << (24 - 8 * place) for place, octet in enumerate(octets)) + last)


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part, 16)
    return int(part, 8 if part.startswith("0") else 10)


def _find_embedded(ip: IPv6Address) -> Iterator[IPv4Address]:
    above, low = divmod(int(ip), 1 << 32)
    # `::` and `::1` are addresses of their own, not compatible ones.
    compatible = above == 0 and low > 1
    isatap = above & 0xFFFFFFFF in _ISATAP_MARKS
    if compatible or isatap or any(ip in network for network in (_MAPPED, _NAT64, _NAT64_LOCAL)):
        yield IPv4Address(low)
    elif ip.sixtofour is not None:
        yield ip.sixtofour
    elif ip.teredo is not None:
        yield from ip.teredo


@cache
def _networks_v4() -> tuple[tuple[IPv4Network, str], ...]:
    return tuple((IPv4Network(network), reason) for network, reason in _REFUSED_V4)


@cache
def _networks_v6() -> tuple[tuple[IPv6Network, str], ...]:
    return tuple((IPv6Network(network), reason) for network, reason in _REFUSED_V6)


def _find_reason(ip: IPAddress, networks: tuple[tuple[IPv4Network | IPv6Network, str], ...]) -> str | None:
    return next((reason for network, reason in networks if ip in network), None)
