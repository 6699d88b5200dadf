"""Recognize keys that show what they are: by their maker's prefix, or by the frame of a private key.

Prefixes are those that the makers document. Where a prefix also begins ordinary words, the rest must look random. As in
`shapes`, no pattern looks twice at what it once ran over: what is open-ended is possessive and nothing can fail after
it, so time is linear also for text made of near misses.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from toolroll.safe.secrets.patterns import after_escape, compile_any, start_of

# No group is repeated possessively: the first releases of Python 3.11 lose what such a group has matched. None needs to
# be: each piece can be read in one way only, and what can be read in several is the last.
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"[^-]*(?:-(?!----(?:END|BEGIN) )[^-]*)*-----END [A-Z0-9 ]{0,60}-----"
    # Cut off before its end: as far as lines of base64 go, so that text that only mentions the header is left.
    r"|(?:(?:\s|\\[nr])*[\w+/=]{16,})+)"
)
_PUTTY = r"(?<=Private-Lines: )[0-9]{1,4}(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})+"
_HEX32 = r"[0-9a-f]{32}(?![A-Za-z0-9])"
_WORD20, _WORD40 = r"[\w-]{20,}+", r"[\w-]{40,}+"
_ALNUM20, _ALNUM32 = r"[A-Za-z0-9]{20,}+", r"[A-Za-z0-9]{32,}+"
# As long as the shortest random part of a key that is all in lower case; identifiers of that length without a dash or
# an underscore, but with digits, are rare.
_RANDOM_PIECE = r"[A-Za-z0-9]{24,}+"
_MIN_DIGITS = 3
_ALNUM = "[A-Za-z0-9]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A kind of key that its maker marked with a prefix.

    `random` ones must also look random, because the prefix begins ordinary words. A prefix that occurs nowhere else is
    found behind anything; one that also ends ordinary words (`task-`) may not follow `before`, except at the end of an
    escape. `after`, where given, must precede it: what it stands for is public (the number of a bot) and stays.
    """

    kind: str
    prefixes: tuple[str, ...]
    body: str
    random: bool = False
    before: str = ""
    after: str = ""


_MODELS = (
    Key(kind="anthropic", prefixes=("sk-ant-api", "sk-ant-admin", "sk-ant-oat", "sk-ant-sid"), body=_WORD20),
    Key(kind="anthropic", prefixes=("sk-ant-",), body=r"[\w-]{10,}+", before=_ALNUM),
    Key(kind="openrouter", prefixes=("sk-or-v1-",), body=_ALNUM32),
    Key(kind="openai", prefixes=("sk-proj-", "sk-svcacct-", "sk-admin-"), body=_WORD20, random=True),
    Key(kind="groq", prefixes=("gsk_",), body=_ALNUM32),
    Key(kind="xai", prefixes=("xai-",), body=_ALNUM32, before=_ALNUM),
    Key(kind="replicate", prefixes=("r8_",), body=r"[A-Za-z0-9]{30,}+", before=_ALNUM),
    Key(kind="perplexity", prefixes=("pplx-",), body=_ALNUM32),
    Key(kind="cerebras", prefixes=("csk-",), body=_ALNUM32),
    Key(kind="nvidia", prefixes=("nvapi-",), body=_WORD40),
    Key(kind="together", prefixes=("tgp_v1_",), body=_WORD40),
    Key(kind="pinecone", prefixes=("pcsk_",), body=r"\w{40,}+"),
    Key(kind="langsmith", prefixes=("lsv2_pt_", "lsv2_sk_"), body=r"\w{32,}+"),
    Key(kind="hugging-face", prefixes=("hf_",), body=r"[A-Za-z0-9]{30,}+", before=_ALNUM),
    Key(kind="tavily", prefixes=("tvly-",), body=r"[\w-]{16,}+"),
    Key(kind="brave", prefixes=("BSA",), body=r"[\w-]{24,29}+(?![\w-])", random=True, before=_ALNUM),
)
_CODE = (
    Key(kind="github", prefixes=("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), body=_ALNUM20),
    Key(kind="github", prefixes=("github_pat_",), body=r"\w{22,}+"),
    Key(
        kind="gitlab",
        prefixes=("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glsoat-", "glagent-", "glft-", "glimt-"),
        body=_WORD20,
    ),
    Key(kind="npm", prefixes=("npm_",), body=r"[A-Za-z0-9]{36,}+"),
    Key(kind="pypi", prefixes=("pypi-AgE",), body=r"[\w-]{50,}+"),
    Key(kind="pypi", prefixes=("pypi-",), body=r"[\w-]{50,}+", before=_ALNUM),
    Key(kind="rubygems", prefixes=("rubygems_",), body=_ALNUM32),
    Key(kind="docker", prefixes=("dckr_pat_", "dckr_oat_"), body=_WORD20),
    Key(kind="atlassian", prefixes=("ATATT3", "ATCTT3"), body=r"[\w=-]{50,}+"),
    Key(kind="linear", prefixes=("lin_api_", "lin_oauth_"), body=_ALNUM32),
    Key(kind="figma", prefixes=("figd_",), body=r"[\w-]{30,}+", before=_ALNUM),
    Key(kind="postman", prefixes=("PMAK-",), body=r"[0-9a-f-]{40,}+"),
    Key(kind="sentry", prefixes=("sntrys_", "sntryu_"), body=r"[\w+/=-]{40,}+"),
    Key(kind="notion", prefixes=("ntn_",), body=_ALNUM20, before=_ALNUM),
    Key(kind="notion", prefixes=("secret_",), body=_ALNUM32, before=_ALNUM),
)
_CLOUDS = (
    Key(kind="aws", prefixes=("AKIA", "ASIA"), body=r"[A-Z0-9]{16}(?![A-Za-z0-9])", before=_ALNUM),
    Key(kind="aws", prefixes=("ABSK",), body=r"[A-Za-z0-9+/=]{100,}+", before=_ALNUM),
    Key(kind="google", prefixes=("AIza",), body=r"[\w-]{35,}+", before=_ALNUM),
    Key(kind="google", prefixes=("ya29.", "GOCSPX-"), body=_WORD20),
    Key(kind="digitalocean", prefixes=("dop_v1_", "doo_v1_", "dor_v1_"), body=r"[0-9a-f]{40,}+"),
    Key(kind="databricks", prefixes=("dapi",), body=r"[0-9a-f]{32}(?![A-Za-z0-9])(?:-[0-9]{1,2})?", before=_ALNUM),
    Key(kind="heroku", prefixes=("HRKU-",), body=r"[\w-]{30,}+"),
    Key(kind="fly", prefixes=("fm1a_", "fm1r_", "fm2_"), body=r"[\w+/=,-]{60,}+", before=_ALNUM),
    Key(kind="supabase", prefixes=("sbp_",), body=_ALNUM32, before=_ALNUM),
    Key(kind="planetscale", prefixes=("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), body=r"[\w.=-]{32,}+"),
    Key(kind="vault", prefixes=("hvs.", "hvb.", "hvr."), body=r"[\w-]{24,}+", before=_ALNUM),
    Key(kind="terraform", prefixes=(".atlasv1.",), body=_WORD40, after="[A-Za-z0-9]{14}"),
    Key(
        kind="doppler",
        prefixes=("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim."),
        body=r"[\w.-]{40,}+",
        before=_ALNUM,
    ),
    Key(kind="onepassword", prefixes=("ops_eyJ",), body=r"[\w-]{100,}+"),
    Key(kind="age", prefixes=("AGE-SECRET-KEY-1",), body=r"[A-Z0-9]{40,}+"),
    Key(kind="tailscale", prefixes=("tskey-auth-", "tskey-api-", "tskey-client-"), body=_WORD20),
    Key(kind="grafana", prefixes=("glsa_",), body=r"[A-Za-z0-9]{32}_[0-9a-f]{8}"),
)
_SERVICES = (
    Key(
        kind="slack",
        prefixes=("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxp-", "xoxr-", "xoxs-"),
        body=r"[\w-]{10,}+",
    ),
    Key(kind="slack", prefixes=("xapp-",), body=r"[\w-]{10,}+", before=_ALNUM),
    Key(
        kind="stripe",
        prefixes=("sk_live_", "rk_live_", "sk_test_", "rk_test_"),
        body=r"[A-Za-z0-9]{16,}+",
        before=_ALNUM,
    ),
    Key(kind="stripe", prefixes=("whsec_",), body=r"[A-Za-z0-9+/=]{24,}+"),
    Key(kind="twilio", prefixes=("SK",), body=_HEX32, before=_ALNUM),
    Key(kind="sendgrid", prefixes=("SG.",), body=r"[\w-]{16,}+\.[\w-]{16,}+", before=_ALNUM),
    # `cache-key-` with an MD5 hash after it is no key.
    Key(kind="mailgun", prefixes=("key-",), body=_HEX32, before=r"[\w-]"),
    Key(kind="telegram", prefixes=(":AA",), body=r"[\w-]{33}(?![\w-])", after="[0-9]{8}"),
    Key(kind="shopify", prefixes=("shpat_", "shpca_", "shppa_", "shpss_"), body=_ALNUM32),
    Key(kind="square", prefixes=("sq0atp-", "sq0csp-"), body=_WORD20),
    Key(kind="facebook", prefixes=("EAACEdEose0cBA",), body=_ALNUM20),
    Key(kind="dropbox", prefixes=("sl.B", "sl.u."), body=r"[\w-]{100,}+", before=_ALNUM),
    Key(kind="mapbox", prefixes=("sk.eyJ",), body=r"[\w-]{20,}+\.[\w-]{20,}+"),
    # `{"` in base64. With the usual boundary, `-eyJ-eyJ-eyJ` would be read again from every dash.
    Key(kind="jwt", prefixes=("eyJ",), body=r"[\w-]{8,}+(?:\.[\w-]*+){2,4}", before=r"[\w-]"),
    # Its second part, where the first one touches something else.
    Key(kind="jwt", prefixes=(".eyJ",), body=r"[\w-]{8,}+\.[\w-]{16,}+"),
)
# After all others: `csk-` ends with it.
_GENERAL = Key(kind="openai", prefixes=("sk-",), body=_WORD20, random=True, before=_ALNUM)
KEYS = (*_MODELS, *_CODE, *_CLOUDS, *_SERVICES, _GENERAL)
# Discord gives no prefix: a number in base64 (which begins with M, N or O), a time, a signature. All of bounded length.
_DISCORD = r"[\w-]{23,25}\.[\w-]{6}\.[\w-]{27,40}+(?![\w.-])"


def redact_private_keys(text: str) -> str:
    """Replace private keys in PEM, whole or cut off, and those of PuTTY."""
    if "-----BEGIN " in text:
        text = _compile(_PEM).sub("[redacted:private-key]", text)
    return _compile(_PUTTY).sub("[redacted:private-key]", text) if "Private-Lines: " in text else text


def redact_keys(text: str) -> str:
    """Replace keys that carry a maker's prefix, or are built as only one maker's are."""
    if _prefixes().search(text):
        for key in KEYS:
            if any(prefix in text for prefix in key.prefixes):
                text = _key_pattern(key).sub(_mark(key), text)
    return _discord_pattern().sub(_discord, text) if text.count(".") > 1 else text


@cache
def _prefixes() -> re.Pattern[str]:
    return compile_any(prefix for key in KEYS for prefix in key.prefixes)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@cache
def _key_pattern(key: Key) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(_start(key, re.escape(name)) for name in key.prefixes)}){key.body}", re.ASCII)


def _start(key: Key, name: str) -> str:
    if key.after:
        return f"{name}(?<={key.after}{name})"
    return start_of(name, before=key.before) if key.before else name


@cache
def _discord_pattern() -> re.Pattern[str]:
    # An escape is looked for only where the rest fits so far: one letter alone is in every second word.
    return re.compile(rf"[MNO](?:(?<![\w.-].)|(?=[\w-]{{23,25}}\.){after_escape('.')}){_DISCORD}", re.ASCII)


def _mark(key: Key) -> Callable[[re.Match[str]], str]:
    def replace_match(match: re.Match[str]) -> str:
        return match[0] if key.random and not _is_random(match[0]) else f"[redacted:{key.kind}]"

    return replace_match


def _discord(match: re.Match[str]) -> str:
    number, _time, signature = match[0].split(".")
    return "[redacted:discord]" if _is_mixed(number) and _is_mixed(signature) else match[0]


def _is_random(text: str) -> bool:
    return _is_mixed(text) or any(map(_has_digits, _compile(_RANDOM_PIECE).findall(text)))


def _has_digits(piece: str) -> bool:
    return sum(map(str.isdigit, piece)) >= _MIN_DIGITS


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.islower, text)) and any(map(str.isupper, text))
