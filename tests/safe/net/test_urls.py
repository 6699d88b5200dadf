"""XW8: nothing outside of the public internet is reached, however it is spelled."""

import asyncio
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolroll.errors import UrlRefused, UsageError
from toolroll.safe.limits import MAX_ADDRESSES_PER_NAME, MAX_URL_CHARACTERS
from toolroll.safe.net.addresses import address_refusal, parse_ipv4
from toolroll.safe.net.urls import (
    Destination,
    Resolver,
    check_service_url,
    check_url,
    is_loopback,
    resolve,
    system_resolver,
)


def refusal(url: str, **options: object) -> str:
    with pytest.raises(UrlRefused) as caught:
        check_url(url, **options)  # type: ignore[arg-type]  # the options of one call each
    return caught.value.rule


def answering(*answers: str) -> Resolver:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return answers

    return resolver


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM:443/A?b=C#frag", "https://example.com/A?b=C"),
        ("https://example.com.:8443/", "https://example.com:8443/"),
        ("https://example.com:/x", "https://example.com/x"),
        ("https://example.com?q", "https://example.com/?q"),
        ("https://example.com/a@b:c", "https://example.com/a@b:c"),
        ("https://münchen.example.com/ü", "https://xn--mnchen-3ya.example.com/ü"),
        ("https://приклад.укр/", "https://xn--80aikifvh.xn--j1amh/"),
        ("https://XN--MNCHEN-3YA.de/", "https://xn--mnchen-3ya.de/"),
        ("https://ｅｘａｍｐｌｅ。com/", "https://example.com/"),
        ("https://a_b.example.com/", "https://a_b.example.com/"),
        ("https://127.0.0.1.example.com/", "https://127.0.0.1.example.com/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://0x08080808/", "https://8.8.8.8/"),
        ("https://134744072/", "https://8.8.8.8/"),
        ("https://010.8.2056/", "https://8.8.8.8/"),
        ("https://[2606:4700:4700:0::1111]/", "https://[2606:4700:4700::1111]/"),
        ("https://[::ffff:8.8.8.8]/", "https://[::ffff:808:808]/"),
    ],
)
def test_XW8_public_urls_pass_in_one_spelling(url: str, canonical: str) -> None:
    checked = check_url(url)
    assert canonical == checked.url
    assert checked == check_url(checked.url)
    assert not checked.allowed


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("", "scheme"),
        ("example.com", "scheme"),
        ("//example.com", "scheme"),
        ("https:example.com", "scheme"),
        ("https:/example.com", "scheme"),
        ("http://example.com", "scheme"),
        ("ftp://example.com", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("gopher://example.com", "scheme"),
        ("https://" + "a" * MAX_URL_CHARACTERS, "length"),
        ("https://example.com/\n", "characters"),
        (" https://example.com", "characters"),
        ("https://exa\tmple.com", "characters"),
        ("https://example.com/a b", "characters"),
        ("https://example.com/\u00a0", "characters"),
        ("https://exam\u200bple.com", "characters"),
        ("https://example.com\\@127.0.0.1/", "characters"),
        ("https:\\\\example.com", "characters"),
        ("https://example.com/\x7f\x00", "characters"),
        ("https://example.com/\u202e", "characters"),
        ("https://user@example.com/", "user_info"),
        ("https://user:pass@example.com/", "user_info"),
        ("https://example.com@127.0.0.1/", "user_info"),
        ("https://@example.com/", "user_info"),
        ("https:///path", "host"),
        ("https://", "host"),
        ("https://?x", "host"),
        ("https://:443/", "host"),
        ("https://./", "host"),
        ("https://localhost../", "host"),
        ("https://a..com/", "host"),
        ("https://-a.com/", "host"),
        ("https://a-.com/", "host"),
        ("https://" + "a" * 64 + ".com/", "host"),
        ("https://" + "a.b" * 90 + ".com/", "host"),
        ("https://exa%6dple.com/", "host"),
        ("https://127.0.0.1%2f.example.com/", "host"),
        ("https://exa$mple.com/", "host"),
        ("https://☃.example.com/", "host"),
        ("https://xn--zzzz.com/", "host"),
        ("https://1.2.3.4.5/", "host"),
        ("https://256.1.1.1/", "host"),
        ("https://1.2.3.256/", "host"),
        ("https://4294967296/", "host"),
        ("https://08.8.8.8/", "host"),
        ("https://0x/", "host"),
        ("https://example.1/", "host"),
        ("https://example.0x1/", "host"),
        ("https://[::1", "host"),
        ("https://::1/", "host"),
        ("https://[]/", "host"),
        ("https://[v1.fe80]/", "host"),
        ("https://[127.0.0.1]/", "host"),
        ("https://[fe80::1%25eth0]/", "host"),
        ("https://[2606:4700::1111%eth0]/", "host"),
        ("https://[2606:4700::1111]x/", "host"),
        ("https://example.com:80:80/", "host"),
        ("https://example.com:x/", "host"),
        ("https://example.com:-1/", "host"),
        ("https://example.com:１/", "host"),
        ("https://example.com:123456/", "host"),
        ("https://example.com:0/", "port"),
        ("https://example.com:65536/", "port"),
        ("https://example.com:25/", "port"),
        ("https://example.com:6667/", "port"),
        ("https://localhost/", "local_name"),
        ("https://LOCALHOST./", "local_name"),
        ("https://ｌｏｃａｌｈｏｓｔ/", "local_name"),
        ("https://ⓛocalhost/", "local_name"),
        ("https://lo\ufe0fcalhost/", "local_name"),
        ("https://app.localhost/", "local_name"),
        ("https://metadata.google.internal/", "local_name"),
        ("https://metadata/", "local_name"),
        ("https://printer.local/", "local_name"),
        ("https://kubernetes.default.svc/", "local_name"),
        ("https://kubernetes.default.svc.cluster.local/", "local_name"),
        ("https://cluster.local./", "local_name"),
        ("https://router.home.arpa/", "local_name"),
        ("https://host.docker.internal/", "local_name"),
        ("https://intranet/", "local_name"),
    ],
)
def test_XW8_broken_or_ambiguous_urls_are_refused(url: str, rule: str) -> None:
    assert rule == refusal(url)


LOOPBACK = [
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0X7F.1", "0x7f.0.0.0x1",
    "017700000001", "0177.0.0.1", "00000177.1", "127.0.0.1.", "１２７.０.０.１", "１２７。１", "①②⑦.1", "０x7f.1",
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[2606:4700::5efe:127.0.0.1]", "[2606:4700::200:5efe:127.0.0.1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2001:0:7f00:1:0:0:f7f7:f7f7]", "[fe80::5efe:127.0.0.1]",
]  # fmt: skip


@pytest.mark.parametrize("host", LOOPBACK)
def test_XW8_loopback_is_refused_in_every_spelling(host: str) -> None:
    with pytest.raises(UrlRefused, match=r"loopback|link-local") as caught:
        check_url(f"https://{host}/")
    assert caught.value.rule == "address"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("0.0.0.0", "unspecified"),
        ("0.1.2.3", "unspecified"),
        ("10.1.2.3", "private"),
        ("100.64.0.1", "CGNAT"),
        ("100.100.100.200", "CGNAT"),
        ("100.127.255.255", "CGNAT"),
        ("168.63.129.16", "cloud metadata"),
        ("169.254.169.254", "cloud metadata"),
        ("169.254.170.2", "link-local"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.0.0.192", "protocols"),
        ("192.0.2.1", "documentation"),
        ("192.88.99.1", "6to4"),
        ("192.168.1.1", "private"),
        ("198.18.0.1", "benchmarking"),
        ("198.19.255.255", "benchmarking"),
        ("198.51.100.1", "documentation"),
        ("203.0.113.1", "documentation"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.255", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::2", "unspecified"),
        ("::8.8.8.8", "reserved"),
        ("fd00:ec2::254", "cloud metadata"),
        ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "zone id"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("100::1", "reserved"),
        ("5f00::1", "reserved"),
        ("64:ff9b::10.0.0.1", "private"),
        ("64:ff9b:1::8.8.8.8", "reserved"),
        ("::ffff:169.254.169.254", "cloud metadata"),
        ("::ffff:0:8.8.8.8", "reserved"),
        ("2001::1", "Teredo|loopback|unspecified"),
        ("2001:0:808:808::f7f7:f7f7", "Teredo"),
        ("2001:2::1", "protocols"),
        ("2001:10::1", "protocols"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("2002:a00:1::", "private"),
        ("2002:808:808::", "6to4"),
        ("2606:4700::5efe:10.0.0.1", "private"),
        ("4000::1", "reserved"),
    ],
)
def test_XW8_addresses_that_are_not_public_are_refused(address: str, reason: str) -> None:
    refused = address_refusal(ip_address(address))
    assert refused is not None
    assert any(word in refused for word in reason.split("|"))


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
     "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001::200e",
     "2001:4860:4860::8888", "2400:cb00::1", "::ffff:1.1.1.1", "64:ff9b::8.8.8.8", "2606:4700::5efe:8.8.8.8"],
)  # fmt: skip
def test_XW8_public_addresses_pass(address: str) -> None:
    assert address_refusal(ip_address(address)) is None


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_XW8_no_tunnel_leads_where_the_address_itself_may_not(value: int) -> None:
    inner = IPv4Address(value)
    refused = address_refusal(inner)
    for prefix in ("::ffff:0:0", "64:ff9b::", "2606:4700::5efe:0:0", "2606:4700::200:5efe:0:0"):
        assert (refused is None) == (address_refusal(IPv6Address(int(IPv6Address(prefix)) + value)) is None)
    for tunnel in ((0x2002 << 112) + (value << 80), (0x20010000 << 96) + (value ^ 0xFFFFFFFF), value):
        assert address_refusal(IPv6Address(tunnel)) is not None


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_XW8_never_more_generous_than_the_standard_library(address: IPv4Address | IPv6Address) -> None:
    meaning_ipv4 = address in IPv6Network("::ffff:0:0/96") or address in IPv6Network("64:ff9b::/96")
    if address_refusal(address) is None and not meaning_ipv4:
        assert address.is_global
        assert not address.is_multicast


def spellings(value: int) -> list[str]:
    a, b, c, d = value.to_bytes(4, "big")
    return [
        f"{a}.{b}.{c}.{d}",
        f"{a}.{b}.{(c << 8) + d}",
        f"{a}.{value & 0xFFFFFF}",
        str(value),
        hex(value),
        f"0{value:o}",
        f"0x{a:x}.0{b:o}.{c}.0X{d:02X}",
    ]


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_XW8_every_spelling_of_an_ipv4_address_is_the_same(value: int) -> None:
    assert {IPv4Address(value)} == {parse_ipv4(spelling) for spelling in spellings(value)}


@given(st.text(alphabet="0123456789abcdefx.XF", max_size=20))
def test_XW8_numbers_agree_with_the_system(text: str) -> None:
    """What `inet_aton` takes for an address is never taken for a name or for another address."""
    import socket

    try:
        expected = IPv4Address(socket.inet_aton(text))
    except OSError:
        return
    try:
        assert parse_ipv4(text) == expected
    except ValueError:
        assert text.lower().endswith("x")  # glibc reads a bare `0x` as zero; refusing it is safe


URL_PARTS = st.lists(
    st.sampled_from(["https", ":", "//", "/", "\\", "@", "[", "]", "?", "#", "%", ".", "。", "127", "0x7f", "::1", "1",
                     "example", "com", "localhost", "xn--", "ü", "ß", "\u200d", "\ud800", "１", "🄁", "-", "_", " "])
    | st.text(max_size=3),
    max_size=12,
)  # fmt: skip


@given(URL_PARTS.map("".join))
@example("https://xn--a.com")
@example("https://" + "ü" * 300 + ".com")
def test_XW8_any_text_is_checked_or_refused(text: str) -> None:
    for url in (text, "https://" + text, "https://" + text + ".com/"):
        try:
            checked = check_url(url)
        except UrlRefused:
            continue
        assert checked.host.isascii()
        assert checked == check_url(checked.url)


def test_XW8_refusals_show_no_secrets() -> None:
    for url in (
        "https://127.0.0.1/hooks/s3cr3t?token=s3cr3t#s3cr3t",
        "https://user:s3cr3t@example.com/",
        "https://user:pa/s3cr3t@example.com/",
        "javascript:s3cr3t",
        "x?s3cr3t",
        "ftp://x?s3cr3t",
    ):
        with pytest.raises(UrlRefused) as caught:
            check_url(url)
        assert "s3cr3t" not in caught.value.message + caught.value.url
    assert "s3cr3t" not in repr(check_url("https://example.com/?token=s3cr3t"))
    with pytest.raises(UrlRefused, match=r"^https://127\.0\.0\.1 leads to 127\.0\.0\.1: loopback\. Use"):
        check_url("https://127.0.0.1/x")
    with pytest.raises(UrlRefused, match="‹U\\+001B›"):
        check_url("https://\x1b[2J/")


def test_XW8_a_person_can_allow_a_host() -> None:
    allow = frozenset({"localhost", "127.0.0.1:8080", "[::1]:8080", "db.internal:22"})
    for url in ("https://localhost:9/", "https://127.1:8080/", "https://[::1]:8080/", "https://db.internal:22/"):
        assert check_url(url, allow_hosts=allow).allowed
    assert refusal("https://127.0.0.1:8081/", allow_hosts=allow) == "address"
    assert refusal("https://[::1]/", allow_hosts=allow) == "address"
    assert refusal("https://app.localhost/", allow_hosts=allow) == "local_name"
    assert refusal("https://me@localhost/", allow_hosts=allow) == "user_info"
    assert check_url("http://localhost/", schemes=("http", "https"), allow_hosts=allow).url == "http://localhost/"
    assert refusal("ws://localhost/", schemes=("ws",), allow_hosts=allow) == "port"


async def test_XW8_one_bad_address_refuses_the_name() -> None:
    checked = check_url("https://example.com/?token=s3cr3t")
    for answers in (["10.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["2606:4700::1", "fe80::1%eth0"], ["::ffff:10.0.0.1"]):
        with pytest.raises(UrlRefused) as caught:
            await resolve(checked, resolver=answering(*answers))
        assert caught.value.rule == "address"
        assert "s3cr3t" not in caught.value.message
    found = await resolve(checked, resolver=answering("1.1.1.1", "2606:4700::1"))
    assert found == Destination(
        host="example.com", port=443, addresses=(IPv4Address("1.1.1.1"), IPv6Address("2606:4700::1"))
    )


async def test_XW8_a_name_is_looked_up_once() -> None:
    asked = []

    async def resolver(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["1.1.1.1"]

    await resolve(check_url("https://EXAMPLE.com.:8443/"), resolver=resolver)
    assert asked == [("example.com", 8443)]
    await resolve(check_url("https://1.1.1.1/"), resolver=resolver)
    assert len(asked) == 1


async def test_XW8_what_cannot_be_looked_up_is_refused() -> None:
    async def failing(host: str, port: int) -> list[str]:
        raise OSError("no such host")

    async def hanging(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    for resolver in (failing, answering(), answering("not an address")):
        with pytest.raises(UrlRefused) as caught:
            await resolve(check_url("https://example.com/"), resolver=resolver)
        assert caught.value.rule == "unresolved"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolroll.safe.net.urls.RESOLVE_TIMEOUT_S", 0.01)
        with pytest.raises(UrlRefused, match="cannot be looked up"):
            await resolve(check_url("https://example.com/"), resolver=hanging)


async def test_XW8_a_flood_of_addresses_is_cut() -> None:
    flood = answering(*(f"1.1.{n // 256}.{n % 256}" for n in range(1000)))
    found = await resolve(check_url("https://example.com/"), resolver=flood)
    assert len(found.addresses) == MAX_ADDRESSES_PER_NAME


async def test_XW8_the_system_resolver_is_judged_too() -> None:
    assert "127.0.0.1" in await system_resolver("localhost", 80)
    allowed = check_url("https://localhost/", allow_hosts=frozenset({"localhost"}))
    assert IPv4Address("127.0.0.1") in (await resolve(allowed)).addresses


def address(url: str) -> str:
    return check_service_url(url, service="a tea API", example="https://tea.example.com/v1")


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://tea.example.com/api/v3/", "https://tea.example.com/api/v3"),
        ("https://10.0.0.7:8443", "https://10.0.0.7:8443"),
        ("http://127.0.0.1:4010/", "http://127.0.0.1:4010"),
        ("http://[::1]:4010", "http://[::1]:4010"),
        ("http://localhost:80/x", "http://localhost/x"),
    ],
)
def test_S41_an_address_of_the_user_may_be_private(given: str, used: str) -> None:
    assert address(given) == used


@pytest.mark.parametrize(
    "given",
    [
        "http://tea.example.com",
        "http://10.0.0.7",
        "https://me:secret@tea.example.com",
        "https://tea.example.com/?a=b",
        "file:///etc/passwd",
        "sk-a-key-by-mistake",
        "http://[",
        "",
    ],
)
def test_S41_XW8_what_is_no_address_or_not_encrypted_is_refused_without_being_quoted(given: str) -> None:
    with pytest.raises(UsageError, match=r"is no address of a tea API\. Write it like https://tea") as refused:
        address(given)
    assert "secret" not in refused.value.message
    assert "mistake" not in refused.value.message


def test_S41_what_is_on_this_machine_is_known() -> None:
    found = [is_loopback(url) for url in ("http://localhost:1", "http://127.9.9.9", "http://a.example", "nothing")]
    assert found == [True, True, False, False]
