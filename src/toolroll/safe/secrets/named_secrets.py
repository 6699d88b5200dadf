"""Recognize secrets by their place: headers, user-info in URLs, assignments, options of commands, webhooks.

A guess that leans towards leaving ordinary code alone: a hash, a UUID, a name that only mentions a secret
(`token=token`, `password: str`) stays. Keys that show by themselves are in `makers`; what is known for certain is in
`secrets`.

No pattern looks twice at what it once ran over (quantifiers are possessive, and what follows a match is judged
afterwards, not by the pattern), so time is linear also for text made of near misses. Patterns are compiled when first
needed: most text has no use for most of them.
"""

import re
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from toolroll.safe.secrets.patterns import compile_any, start_of

_WORDS = (
    r"api[_-]?keys?|access[_-]?keys?|account[_-]?keys?|secret[_-]?keys?|private[_-]?keys?|signing[_-]?keys?|secrets?|token"
    r"|passwords?|passwd|pwd|passphrase|credentials?"
)
_HINTS = ("key", "secret", "token", "pass", "pwd", "credential")
_NAME = rf"(?:^|_)(?:{_WORDS}|authorization|cookie)$"
# Tokens that page through results are no secrets, and the next call needs them.
_PAGING = ("page_token", "next_token", "continuation_token", "sync_token")
_VARIABLE = rf"(?i)(?:{_WORDS}|(?:^|_)(?:key|pass|auth))$"
_WORKING_FOLDERS = frozenset({"PWD", "OLDPWD"})

# Patterns of places see the text in lower case: ten times faster than ignoring case, at equal positions.
_COOKIE = r"(?m)^(?:set-)?cookie:[ \t]{0,4}(?P<value>[^\s=;\[]++=.++)"
_HEADER = (
    r"authorization\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?"
    r"(?P<scheme>(?:bearer|basic|token|digest)\s{1,4})?(?P<value>[^\s\"'\\,;\[\](){}<>]{8,}+)"
)
# In quotes, or behind a line end that is escaped: to the next quote or escape.
_QUOTED_COOKIE = (
    r"(?:(?<=[\"'])|(?<=\\[nr])|(?<=[%=]0[ad]))(?:set-)?cookie:[ \t]{0,4}"
    r"(?P<value>[^\s=;\[\"'\\%]++=[^\n\"'\\]++)"
)
_BEARER = start_of("bearer", before=r"\w") + r"(?:\s{1,4}|%20)(?P<value>[\w.~+/=-]{16,}+)"
_USER_INFO = r"://(?P<value>[^\s/?#\"'<>@:\\]{0,256}+:[^\s/?#\"'<>\\]{1,1024}|[^\s/?#\"'<>@:\\]{16,1024}+)(?=@)"
_ASSIGNMENT = (
    rf"(?P<name>{_WORDS})\\{{0,3}}[\"']?\s{{0,4}}(?P<sign>(?::=|=>|%3[ad]|[:=\uff1a\uff1d])\s{{0,4}})"
    r"(?P<quote>\\{0,3}[\"'`])?+(?P<value>(?(quote)[^\s\"'`\\]{6,}+|[^\s\"'`\\,;&|(){}\[\]<>]{6,}+))"
)
# `--db-password X`; the pattern has the end of the name, and whether it is an option is judged afterwards.
_OPTION = (
    rf"(?P<name>{_WORDS})[ \t]{{1,4}}"
    r"(?P<quote>[\"'])?+(?P<value>(?(quote)[^\s\"'\\]{6,}+|[^\s\"'`\\,;&|(){}\[\]<>-][^\s\"'`\\,;&|(){}\[\]<>]{5,}+))"
)
_LOGIN = r"(?:\s-u|--(?:proxy-)?user)[ \t=]{0,4}[\"']?[^\s\"':=]{1,256}+:(?P<value>[^\s\"'\\]{4,}+)"
_CURL_LOOKBACK = 400
_BLANKS = r"(?:\s|\\[nrt]){1,4}"
_NETRC = (
    rf"(?P<machine>(?:machine{_BLANKS}[^\s\\]{{1,256}}+|default){_BLANKS})?"
    rf"{start_of('login', before=chr(92) + 'w')}{_BLANKS}[^\s\\]{{1,256}}+{_BLANKS}password{_BLANKS}"
    r"(?P<value>[^\s\"'\\]{4,}+)"
)
_DOCKER = r"\"auth\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\"(?P<value>[\w+/=]{8,}+)"
_SIGNATURE = r"[?&;](?:sig|signature|x-amz-signature|x-goog-signature)=(?P<value>[\w%+/=.~-]{20,}+)"
_WEBHOOK = (
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/"
    r"|webhook\.office\.com/webhookb2/)(?P<value>[\w/@-]{20,}+)"
)
# Letters and digits before a name that are no part of it.
_ESCAPE = r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[A-Za-z])|[%=][0-9A-Fa-f]{2}|[\[;][0-9;]*+[A-Za-z]"
# What stands where a secret would: holes (`${TOKEN}`, `<your-key>`, `%(password)s`, `***`), types and methods
# (`uint64`, `sha256`), the words of schemas and messages, links and files.
_ORDINARY = (
    r"(?i)\$\{?\w+\}?|%\(?\w+\)?[s%]?|\{.*|<.*|[\W_x]+|\[redacted:.*|(?:your|my|the)[\W_].*|https?://.*"
    r"|(?:u?int|float|base|sha|hs|rs|es|aes|md|utf|str|hmac)[-_]?\d{1,3}\w*|[~.]{0,2}/[\w./-]*\.\w{1,5}"
    r"|string|integer|number|boolean|object|required|optional|undefined|disabled|enabled|default|unknown|missing"
    r"|invalid|expired|example|(?:id|env|src|type)=.*"
)


def redact_named(text: str) -> str:
    """Replace what a name or a place gives away: headers, cookies, user-info in URLs, assignments."""
    lowered = _lower(text)
    if not _hints().search(lowered):
        return text
    for place in _places():
        if any(hint in lowered for hint in place.hints):
            text = "".join(_without_place(text, lowered, place))
            lowered = _lower(text)
    return text


def names_a_secret(name: str) -> bool:
    """Return whether a field of this name holds a secret: `api_key`, `accessToken`, `set-cookie`; not `max_tokens`."""
    name = _snake(name)
    return _compile(_NAME).search(name) is not None and not name.endswith(_PAGING)


def variable_names_a_secret(name: str) -> bool:
    """Return whether an environment variable of this name holds a secret; the working folders `PWD` do not."""
    return _compile(_VARIABLE).search(name) is not None and name not in _WORKING_FOLDERS


def url_passwords(text: str) -> list[str]:
    """List the passwords in the URLs of a text."""
    return [match["value"].partition(":")[2] for match in _compile(_USER_INFO).finditer(text)]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").replace(".", "_").lower()


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_secret(value: str, *, certain: bool) -> bool:
    if _compile(_ORDINARY).fullmatch(value) or names_a_secret(value):
        return False
    return certain or any(map(str.isdigit, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    kind: str
    hints: tuple[str, ...]
    pattern: str
    judge: Callable[[re.Match[str], str], bool]


@cache
def _places() -> tuple[_Place, ...]:
    return (
        _Place(kind="cookie", hints=("cookie:",), pattern=_COOKIE, judge=lambda _match, _text: True),
        _Place(kind="cookie", hints=("cookie:",), pattern=_QUOTED_COOKIE, judge=lambda _match, _text: True),
        _Place(kind="authorization", hints=("authorization",), pattern=_HEADER, judge=_is_header),
        _Place(kind="authorization", hints=("bearer",), pattern=_BEARER, judge=_is_bearer),
        _Place(kind="user-info", hints=("://",), pattern=_USER_INFO, judge=_is_user_info),
        _Place(kind="assignment", hints=_HINTS, pattern=_ASSIGNMENT, judge=_is_assignment),
        _Place(kind="option", hints=("--",), pattern=_OPTION, judge=_is_option),
        _Place(kind="user-info", hints=("curl", "wget"), pattern=_LOGIN, judge=_is_login),
        _Place(kind="netrc", hints=("login",), pattern=_NETRC, judge=_is_netrc),
        _Place(kind="docker", hints=('"auth',), pattern=_DOCKER, judge=_is_docker),
        _Place(kind="signature", hints=("sig",), pattern=_SIGNATURE, judge=_is_signature),
        _Place(kind="webhook", hints=("hook",), pattern=_WEBHOOK, judge=lambda _match, _text: True),
    )


@cache
def _hints() -> re.Pattern[str]:
    return compile_any(hint for place in _places() for hint in place.hints)


def _lower(text: str) -> str:
    # The one letter that is two letters in lower case; without it every position stays the same.
    return text.replace("\u0130", "I").lower()


def _without_place(text: str, lowered: str, place: _Place) -> Iterator[str]:
    done = 0
    for match in _compile(place.pattern).finditer(lowered):
        start, end = match.span("value")
        if place.judge(match, text):
            yield from (text[done:start], f"[redacted:{place.kind}]")
            done = end
    yield text[done:]


def _is_header(match: re.Match[str], text: str) -> bool:
    return _is_secret(_part(match, text, "value"), certain=match["scheme"] is not None)


def _is_bearer(match: re.Match[str], text: str) -> bool:
    return _is_secret(_part(match, text, "value"), certain=False)


def _is_user_info(match: re.Match[str], text: str) -> bool:
    user, colon, password = _part(match, text, "value").partition(":")
    return _is_secret(password or user, certain=bool(colon))


def _is_assignment(match: re.Match[str], text: str) -> bool:
    before, name = _whole_name(match, text)
    value, following = _part(match, text, "value"), text[match.end() : match.end() + 1]
    if _snake(name).endswith(_PAGING):
        return False
    if match["quote"]:
        # No quote right after it: the beginning of a sentence, not a value.
        return following in {'"', "'", "`", "\\"} and _is_secret(value, certain=True)
    # In a query or an environment file everything is a value; elsewhere a word alone is the name of a variable.
    certain = before in {"?", "&"} or (name.isupper() and "=" in match["sign"])
    passphrase = match["sign"] == "=" and "-" in value
    counts = value.isdigit() and ("pass" not in match["name"] or match["name"].endswith("s"))
    called = following in {"(", "[", "{"}
    return not called and not counts and _is_secret(value, certain=certain or passphrase)


def _is_option(match: re.Match[str], text: str) -> bool:
    _before, name = _whole_name(match, text)
    closed = match["quote"] is not None and text[match.end() : match.end() + 1] == match["quote"]
    value = _part(match, text, "value")
    # Without quotes, `--password PASSWORD` and `--token is required` are help, not commands.
    return name.startswith("--") and not value.isdigit() and _is_secret(value, certain=closed)


def _is_login(match: re.Match[str], text: str) -> bool:
    # `docker run --user name:group` is no login.
    line = text[max(match.start() - _CURL_LOOKBACK, 0) : match.start()].rpartition("\n")[2]
    return ("curl" in line or "wget" in line) and _is_secret(_part(match, text, "value"), certain=True)


def _is_netrc(match: re.Match[str], text: str) -> bool:
    return _is_secret(_part(match, text, "value"), certain=match["machine"] is not None)


def _is_docker(match: re.Match[str], text: str) -> bool:
    try:
        return b":" in a2b_base64(_part(match, text, "value").encode())
    except Error:
        return False


def _is_signature(match: re.Match[str], text: str) -> bool:
    return _is_secret(_part(match, text, "value"), certain=False)


def _part(match: re.Match[str], text: str, group: str) -> str:
    return text[match.start(group) : match.end(group)]


def _whole_name(match: re.Match[str], text: str) -> tuple[str, str]:
    """Return the character before the name, and the name, of which the pattern has only the end."""
    head = text[max(match.start() - 40, 0) : match.start()]
    before = head.rstrip("-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    escape = _compile(_ESCAPE).match(head, max(len(before) - 1, 0))
    return before[-1:], head[escape.end() if escape else len(before) :] + _part(match, text, "name")
