"""What secrets look like: keys with a maker's prefix, private keys, headers, user-info in URLs, assignments.

A guess that leans towards leaving ordinary code alone: a hash, a UUID, a name that only mentions a secret
(`token=token`, `password: str`) stays. What is known for certain is in `secrets`.

No pattern looks twice at what it once ran over (quantifiers are possessive, and what follows a match is judged
afterwards, not by the pattern), so time is linear also for text made of near misses. Patterns are compiled when first
needed: most text has no use for most of them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

_WORDS = (
    r"api[_-]?keys?|access[_-]?keys?|secret[_-]?keys?|private[_-]?keys?|signing[_-]?keys?|secrets?|token|passwords?"
    r"|passwd|pwd|passphrase|credentials?"
)
_HINTS = ("key", "secret", "token", "pass", "pwd", "credential")
_NAME = rf"(?:^|_)(?:{_WORDS}|authorization|cookie)$"
# Tokens that page through results are no secrets, and the next call needs them.
_PAGING = ("page_token", "next_token", "continuation_token", "sync_token")
_VARIABLE = rf"(?i)(?:{_WORDS}|(?:^|_)(?:key|pass|auth))$"
_WORKING_FOLDERS = frozenset({"PWD", "OLDPWD"})

_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"(?:[^-]++|-(?!----(?:END|BEGIN) ))*+-----END [A-Z0-9 ]{0,60}-----"
    # Cut off before its end: as far as lines of base64 go, so that text that only mentions the header is left.
    r"|(?:(?:\s|\\[nr])*+[\w+/=]{16,}+)++)"
)
# Patterns of places see the text in lower case: ten times faster than ignoring case, at equal positions.
_COOKIE = r"(?m)^(?:set-)?cookie:[ \t]{0,4}(?P<value>[^\s=;\[]++=.++)"
_HEADER = (
    r"authorization\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?"
    r"(?P<scheme>(?:bearer|basic|token|digest)\s{1,4})?(?P<value>[^\s\"'\\,;\[\](){}<>]{8,}+)"
)
_BEARER = r"\bbearer\s{1,4}(?P<value>[\w.~+/=-]{16,}+)"
_USER_INFO = r"://(?P<value>[^\s/?#\"'<>@:\\]{0,256}+:[^\s/?#\"'<>\\]{1,1024}|[^\s/?#\"'<>@:\\]{16,1024}+)(?=@)"
_ASSIGNMENT = (
    rf"(?P<name>{_WORDS})\\{{0,3}}[\"']?\s{{0,4}}(?P<sign>(?::=|=>|[:=])\s{{0,4}})"
    r"(?P<quote>\\{0,3}[\"'`])?+(?P<value>(?(quote)[^\s\"'`\\]{6,}+|[^\s\"'`\\,;&|(){}\[\]<>]{6,}+))"
)
# What stands where a secret would: holes (`${TOKEN}`, `<your-key>`, `%(password)s`, `***`), types and methods
# (`uint64`, `sha256`), the words of schemas and messages, links and files.
_ORDINARY = (
    r"(?i)\$\{?\w+\}?|%\(?\w+\)?[s%]?|\{.*|<.*|[\W_x]+|\[redacted:.*|(?:your|my|the)[\W_].*|https?://.*"
    r"|(?:u?int|float|base|sha|hs|rs|es|aes|md|utf|str|hmac)[-_]?\d{1,3}\w*|[~.]{0,2}/[\w./-]*\.\w{1,5}"
    r"|string|integer|number|boolean|object|required|optional|undefined|disabled|enabled|default|unknown|missing"
    r"|invalid|expired|example"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A kind of key that its maker marked with a prefix.

    `mixed` ones must also look random, because the prefix begins ordinary words; `before` may not precede a prefix.
    """

    kind: str
    prefixes: tuple[str, ...]
    body: str
    mixed: bool = False
    before: str = "[A-Za-z0-9]"


KEYS = (
    Key(kind="anthropic", prefixes=("sk-ant-",), body=r"[\w-]{10,}+"),
    Key(kind="openai", prefixes=("sk-",), body=r"[\w-]{20,}+", mixed=True),
    Key(kind="github", prefixes=("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), body=r"[A-Za-z0-9]{20,}+"),
    Key(kind="github", prefixes=("github_pat_",), body=r"\w{22,}+"),
    Key(kind="gitlab", prefixes=("glpat-",), body=r"[\w-]{20,}+"),
    Key(kind="notion", prefixes=("ntn_",), body=r"[A-Za-z0-9]{20,}+"),
    Key(kind="notion", prefixes=("secret_",), body=r"[A-Za-z0-9]{32,}+"),
    Key(kind="tavily", prefixes=("tvly-",), body=r"[\w-]{16,}+"),
    Key(kind="brave", prefixes=("BSA",), body=r"[\w-]{24,29}+(?![\w-])", mixed=True),
    Key(kind="aws", prefixes=("AKIA", "ASIA"), body=r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Key(kind="google", prefixes=("AIza",), body=r"[\w-]{35,}+"),
    Key(kind="google", prefixes=("ya29.",), body=r"[\w-]{20,}+"),
    Key(kind="slack", prefixes=("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"), body=r"[\w-]{10,}+"),
    Key(kind="stripe", prefixes=("sk_live_", "rk_live_", "sk_test_", "rk_test_"), body=r"[A-Za-z0-9]{16,}+"),
    Key(kind="hugging-face", prefixes=("hf_",), body=r"[A-Za-z0-9]{30,}+"),
    Key(kind="npm", prefixes=("npm_",), body=r"[A-Za-z0-9]{36,}+"),
    Key(kind="pypi", prefixes=("pypi-",), body=r"[\w-]{50,}+"),
    # `{"` in base64. With the usual boundary, `-eyJ-eyJ-eyJ` would be read again from every dash.
    Key(kind="jwt", prefixes=("eyJ",), body=r"[\w-]{8,}+(?:\.[\w-]*+){2,4}", before=r"[\w-]"),
)


def without_private_keys(text: str) -> str:
    """Replace PEM private keys, whole or cut off."""
    return _compiled(_PEM).sub("[redacted:private-key]", text) if "-----BEGIN " in text else text


def without_keys(text: str) -> str:
    """Replace keys that carry a maker's prefix."""
    for key in KEYS:
        if any(prefix in text for prefix in key.prefixes):
            text = _without_key(text, key)
    return text


def without_named(text: str) -> str:
    """Replace what a name or a place gives away: headers, cookies, user-info in URLs, assignments."""
    for place in _places():
        lowered = _lower(text)
        if any(hint in lowered for hint in place.hints):
            text = "".join(_without_place(text, lowered, place))
    return text


def names_a_secret(name: str) -> bool:
    """Whether a field of this name holds a secret: `api_key`, `accessToken`, `set-cookie`; not `max_tokens`."""
    name = _snake(name)
    return _compiled(_NAME).search(name) is not None and not name.endswith(_PAGING)


def variable_names_a_secret(name: str) -> bool:
    """Whether an environment variable of this name holds a secret; the working folders `PWD` do not."""
    return _compiled(_VARIABLE).search(name) is not None and name not in _WORKING_FOLDERS


def url_passwords(text: str) -> list[str]:
    """List the passwords in the URLs of a text."""
    return [match["value"].partition(":")[2] for match in _compiled(_USER_INFO).finditer(text)]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").replace(".", "_").lower()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _key_pattern(key: Key) -> re.Pattern[str]:
    # The boundary comes after the prefix: a pattern that begins with a literal is found by a plain string search.
    starts = "|".join(f"{re.escape(name)}(?<!{key.before}{re.escape(name)})" for name in key.prefixes)
    return re.compile(f"(?:{starts}){key.body}", re.ASCII)


def _without_key(text: str, key: Key) -> str:
    def replaced(match: re.Match[str]) -> str:
        return match[0] if key.mixed and not _is_mixed(match[0]) else f"[redacted:{key.kind}]"

    return _key_pattern(key).sub(replaced, text)


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.islower, text)) and any(map(str.isupper, text))


def _is_secret(value: str, *, certain: bool) -> bool:
    if _compiled(_ORDINARY).fullmatch(value) or names_a_secret(value):
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
        _Place(kind="authorization", hints=("authorization",), pattern=_HEADER, judge=_is_header),
        _Place(kind="authorization", hints=("bearer",), pattern=_BEARER, judge=_is_bearer),
        _Place(kind="user-info", hints=("://",), pattern=_USER_INFO, judge=_is_user_info),
        _Place(kind="assignment", hints=_HINTS, pattern=_ASSIGNMENT, judge=_is_assignment),
    )


def _lower(text: str) -> str:
    # The one letter that is two letters in lower case; without it every position stays the same.
    return text.replace("\u0130", "I").lower()


def _without_place(text: str, lowered: str, place: _Place) -> Iterator[str]:
    done = 0
    for match in _compiled(place.pattern).finditer(lowered):
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
    counts = value.isdigit() and "pass" not in match["name"]
    called = following in {"(", "[", "{"}
    return not called and not counts and _is_secret(value, certain=certain or passphrase)


def _part(match: re.Match[str], text: str, group: str) -> str:
    return text[match.start(group) : match.end(group)]


def _whole_name(match: re.Match[str], text: str) -> tuple[str, str]:
    """The character before the name, and the name, of which the pattern has only the end."""
    head = text[max(match.start() - 40, 0) : match.start()]
    before = head.rstrip("-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return before[-1:], head[len(before) :] + _part(match, text, "name")
