"""D6: secrets are replaced before anything is stored; ordinary text is not."""

import base64
import json
import time
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.safe.limits import MAX_ARGUMENTS_DEPTH
from toolroll.safe.secrets.key_prefixes import KEYS
from toolroll.safe.secrets.named_secrets import names_a_secret
from toolroll.safe.secrets.redact import (
    held_secrets,
    redact,
    redact_line,
    redact_shown,
    redact_value,
    remember_secret,
    secret_values,
)

# Put together at run time: a scanner of this repository should find nothing.
RANDOM = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
HEX = "3f786850e387550fdab836ed7e6dc881de23001b9f86d081884c7d659a2feaa0"
PEM_BODY = "\n".join([RANDOM + RANDOM[:24]] * 4)


def pem(kind: str = "RSA ", end: bool = True) -> str:
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{PEM_BODY}" + f"\n-----END {kind}PRIVATE KEY-----" * end


SECRETS = [
    ("sk-ant-" + "api03-" + RANDOM, "anthropic"),
    ("sk-" + RANDOM, "openai"),
    ("sk-" + "proj-" + RANDOM + "-_x", "openai"),
    *(("gh" + letter + "_" + RANDOM[:36], "github") for letter in "pousr"),
    ("github" + "_pat_" + RANDOM[:22] + "_" + RANDOM, "github"),
    ("glpat" + "-" + RANDOM[:20], "gitlab"),
    ("ntn" + "_" + RANDOM, "notion"),
    ("secret" + "_" + RANDOM, "notion"),
    ("tvly" + "-dev-" + RANDOM[:20], "tavily"),
    ("BSA" + RANDOM[:27], "brave"),
    ("AKIA" + "IOSFODNN7EXAMPLE", "aws"),
    ("ASIA" + "IOSFODNN7EXAMPLE", "aws"),
    ("AIza" + RANDOM[:35], "google"),
    ("ya29" + "." + RANDOM, "google"),
    ("xoxb" + "-123456789012-" + RANDOM[:20], "slack"),
    ("xapp" + "-1-" + RANDOM[:20], "slack"),
    ("sk" + "_live_" + RANDOM[:24], "stripe"),
    ("hf" + "_" + RANDOM[:34], "hugging-face"),
    ("npm" + "_" + RANDOM[:36], "npm"),
    ("pypi" + "-AgEIcHlwaS5vcmc" + RANDOM, "pypi"),
    ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + RANDOM, "jwt"),
    ("sk-" + HEX[:32], "openai"),
    ("sk-or-" + "v1-" + HEX, "openrouter"),
    ("gsk" + "_" + RANDOM, "groq"),
    ("xai" + "-" + RANDOM * 2, "xai"),
    ("r8" + "_" + RANDOM[:37], "replicate"),
    ("pplx" + "-" + RANDOM, "perplexity"),
    ("csk" + "-" + HEX[:48], "cerebras"),
    ("nvapi" + "-" + RANDOM * 2, "nvidia"),
    ("tgp" + "_v1_" + RANDOM + "-_x", "together"),
    ("pcsk" + "_" + RANDOM * 2, "pinecone"),
    ("lsv2" + "_pt_" + HEX[:32] + "_" + HEX[:10], "langsmith"),
    *((name + "-" + RANDOM[:20], "gitlab") for name in ("gldt", "glrt", "glptt", "glcbt", "gloas", "glsoat", "glft")),
    ("rubygems" + "_" + HEX[:48], "rubygems"),
    ("dckr" + "_pat_" + RANDOM[:27], "docker"),
    ("ATATT3" + "xFfGF0" + RANDOM * 3, "atlassian"),
    ("lin" + "_api_" + RANDOM, "linear"),
    ("figd" + "_" + RANDOM, "figma"),
    ("PMAK" + "-" + HEX[:24] + "-" + HEX[:34], "postman"),
    ("sntrys" + "_" + RANDOM * 2, "sentry"),
    ("ABSK" + RANDOM * 3, "aws"),
    ("GOCSPX" + "-" + RANDOM[:28], "google"),
    ("dop" + "_v1_" + HEX, "digitalocean"),
    ("dapi" + HEX[:32], "databricks"),
    ("dapi" + HEX[:32] + "-2", "databricks"),
    ("HRKU" + "-" + RANDOM[:36], "heroku"),
    ("fm2" + "_" + RANDOM * 3, "fly"),
    ("sbp" + "_" + HEX[:40], "supabase"),
    ("pscale" + "_tkn_" + RANDOM, "planetscale"),
    ("hvs" + "." + RANDOM[:24], "vault"),
    ("dp" + ".pt." + RANDOM + "abc", "doppler"),
    ("ops" + "_eyJ" + RANDOM * 6, "onepassword"),
    ("AGE-SECRET" + "-KEY-1" + (RANDOM * 2)[:58].upper(), "age"),
    ("tskey" + "-auth-" + RANDOM[:12] + "-" + RANDOM, "tailscale"),
    ("glsa" + "_" + RANDOM[:32] + "_" + HEX[:8], "grafana"),
    ("rk" + "_live_" + RANDOM[:24], "stripe"),
    ("whsec" + "_" + RANDOM[:32], "stripe"),
    ("SK" + HEX[:32], "twilio"),
    ("SG" + "." + RANDOM[:22] + "." + RANDOM + "abc", "sendgrid"),
    ("key" + "-" + HEX[:32], "mailgun"),
    ("shpat" + "_" + HEX[:32], "shopify"),
    ("sq0atp" + "-" + RANDOM[:22], "square"),
    ("EAACEdEose0" + "cBA" + RANDOM * 2, "facebook"),
    ("sl" + ".B" + RANDOM * 4, "dropbox"),
    ("sk" + ".eyJ1Ijoi" + RANDOM + "." + RANDOM[:22], "mapbox"),
    ("MT" + RANDOM[:22] + "." + RANDOM[:6] + "." + RANDOM[:27], "discord"),
    (pem(), "private-key"),
    (pem(""), "private-key"),
    (pem("OPENSSH "), "private-key"),
    (pem(end=False), "private-key"),
    (pem().replace("\n", "\\n"), "private-key"),
    (pem(end=False).replace("\n", "\\n"), "private-key"),
]

NAMED = [
    ("Authorization: Bearer {}", "authorization"),
    ("Authorization: Basic {}", "authorization"),
    ("authorization: {}", "authorization"),
    ("curl -H 'Authorization: token {}' x", "authorization"),
    ('{{"Authorization": "Bearer {}"}}', "authorization"),
    ('"{{\\"authorization\\": \\"Bearer {}\\"}}"', "authorization"),
    ("used Bearer {} here", "authorization"),
    ("Cookie: session={}; theme=dark", "cookie"),
    ("set-cookie: id={}; HttpOnly", "cookie"),
    ("https://user:{}@example.com/x", "user-info"),
    ("postgres://app:{}@db:5432/main", "user-info"),
    ("https://{}@github.com/x/y", "user-info"),
    ("password={}", "assignment"),
    ("password = '{}'", "assignment"),
    ('"password": "{}"', "assignment"),
    ('"{{\\"api_key\\": \\"{}\\"}}"', "assignment"),
    ("DB_PASSWORD={}", "assignment"),
    ("export AWS_SECRET_ACCESS_KEY={}", "assignment"),
    ("aws_secret_access_key = {}", "assignment"),
    ("x-api-key: {}", "assignment"),
    ("https://example.com/?q=1&access_token={}&x=y", "assignment"),
    ("client_secret: {}", "assignment"),
    ("--token={} --verbose", "assignment"),
    ("mytoken := `{}`", "assignment"),
    ('{{"accessToken":"{}"}}', "assignment"),
    ("{{:passphrase => '{}'}}", "assignment"),
    ("AccountName=x;AccountKey={};EndpointSuffix=core.windows.net", "assignment"),
    ("Endpoint=sb://x/;SharedAccessKey={}", "assignment"),
    ("password\uff1d{}", "assignment"),
    ("mysql --password {} -h db", "option"),
    ("deploy --api-token '{}' now", "option"),
    ('deploy --db-password "{}"', "option"),
    ("curl -u admin:{} https://example.com", "user-info"),
    ("curl -sS https://example.com --user 'admin:{}'", "user-info"),
    ("wget --user=admin:{}", "user-info"),
    ("machine example.com login ada password {}", "netrc"),
    ("machine example.com\n  login ada\n  password {}\n", "netrc"),
    ("default login ada password {}", "netrc"),
    ("https://x.blob.core.windows.net/c?sv=2020&sig={}0123456789%3D", "signature"),
    ("https://s3.example.com/a?X-Amz-Signature={}0123456789&x=y", "signature"),
    ("https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{}", "webhook"),
    ("https://discord.com/api/webhooks/1234567890/{}", "webhook"),
]

ORDINARY = [
    "The password is never stored; the token expires. Secret: always be kind. API key: see the manual.",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "id=123e4567-e89b-12d3-a456-426614174000",
    "def login(password: str, token: str | None = None) -> Secret:",
    "client = Client(api_key=settings.api_key, token=token, password=self.password)",
    "password = get_password()  # token = next(tokens)",
    "token = tokens[0]; secret = secrets.token_hex(16)",
    "token: uint64, secret: Base64Str, password=sha256(data)",
    "max_tokens=128000 token_count: 4096 tokenizer=cl100k_base token=1234567",
    "API_KEY=${API_KEY} TOKEN=$GITHUB_TOKEN password=%(password)s secret=<your-secret> token='{token}'",
    "password: '********' api_key=xxxxxxxxxxxx token=your-token-here",
    '{"password": {"type": "string"}, "token": "string", "secret": "required"}',
    '"next_page_token": "CAUQAA12345", pageToken=abc12345',
    "private_key: /etc/ssl/private/server.pem credentials: https://docs.example.com/auth2",
    'password: "please enter your password"',
    "sk-fading-circle-container-with-a-long-name task-list-item-with-checkbox-and-more",
    "sk-learn, ghp_short, AKIAshort, AIza, xoxb-, eyJ, tvly-x, ntn_x, hf_x, npm_install",
    "BSAfoobarbazfoobarbazfoobarbaz",
    'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError(text)',
    "git@github.com:owner/repo.git ssh://git@github.com/owner/repo https://example.com/@user:x",
    "https://user:password@example.com https://${USER}:${PASS}@example.com",
    "Authorization: required. Bearer authentication uses Authorization headers; bearer of news",
    "Cookie: a small biscuit",
    "passwords: 12345678 users affected",
    "usage: login --password PASSWORD --token TOKEN [--secret SECRET] --password required --token 12345678",
    "--password-stdin --token-file /run/token1 --password --token2 --max-tokens 4096 --secret id=key1,src=key1.txt",
    "the password hunter22 is an example; 'token abc12345' too; --password 'is longer than 8 letters'",
    "docker run --user name:group -u 1000:1000 image  # not curl",
    "curl -u $USER:$PASS https://example.com; curl -u ada https://example.com",
    "curl https://example.com\ndocker run --user name:group1",
    "Enter login and password fields; the login form password required",
    '{"auth": "required", "auth": "bm90aGluZw==", "auth": "abcdefghi", "author": "dXNlcjpwYXNz"}',
    "?sig=short &signature=see-the-manual-for-this-one",
    "hooks.slack.com/services/ and https://discord.com/api/webhooks/1234567890",
    "gsk_render_node_get_node_type xai-sdk r8_uint pplx-api SG.method.call hvs.example dapi key-value lin_api_key",
    "cache-key-3f786850e387550fdab836ed7e6dc881 SKU12345678 task-3f786850e387550fdab836ed7e6dc881de23001b",
    "at 12:30:AAA ratio 16:9 1234567890:AAshort x.atlasv1.y",
    "Module_with_a_long_name24.method.another_name_of_some_length",
    "https://example.com/Make_this_a_long_path12.min.js sk-3f786850e3-87550fdab8-36ed7e6dc8-81de23",
    "sk-abcdefghijklmnopqrstuvwxyzabcdef",
    "Private-Lines: 8 of them",
    "x = a[1:] if b else c  # http://localhost:8080/path?x=1",
    "Пароль: не скажу. Токен зберігається окремо.",
    "",
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS, ids=[f"{kind}-{i}" for i, (_, kind) in enumerate(SECRETS)])
def test_D6_keys_are_known_by_their_shape(secret: str, kind: str) -> None:
    for before, after in [("", ""), ("key: ", " ."), ("(", ")"), ('"', '"'), ("é", "—"), ("x\n", "\ny")]:
        assert f"{before}[redacted:{kind}]{after}" == redact(before + secret + after)


@pytest.mark.parametrize(("line", "kind"), NAMED)
def test_D6_a_name_or_place_gives_a_secret_away(line: str, kind: str) -> None:
    text = line.format("hunter2-Xq7vPz9kLm")
    assert "hunter2" not in redact(text)
    assert f"[redacted:{kind}]" in redact(text)


@pytest.mark.parametrize("text", ORDINARY)
def test_D6_ordinary_text_and_code_stay(text: str) -> None:
    assert text == redact(text)


def test_D6_what_surrounds_a_secret_stays() -> None:
    assert redact("GET /?token=abc123def&x=1 ok") == "GET /?token=[redacted:assignment]&x=1 ok"
    assert redact('{"password": "hunter22", "a": 1}') == '{"password": "[redacted:assignment]", "a": 1}'
    assert redact("https://u:p4ssw0rd@h/x") == "https://[redacted:user-info]@h/x"
    assert redact("authorization: Basic dXNlcjpwYXNz\nnext") == "authorization: Basic [redacted:authorization]\nnext"
    assert redact("PASSWORD=correcthorse password=correct-horse") == (
        "PASSWORD=[redacted:assignment] password=[redacted:assignment]"
    )
    assert redact("password=12345678") == "password=[redacted:assignment]"


def test_D6_what_is_public_about_a_key_stays() -> None:
    assert redact("bot123456789:AA" + RANDOM[:33] + "/send") == "bot123456789[redacted:telegram]/send"
    assert redact(RANDOM[:14] + ".atlasv1." + RANDOM * 2) == RANDOM[:14] + "[redacted:terraform]"
    webhook = "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/"
    assert redact(webhook + RANDOM[:24]) == "https://hooks.slack.com/services/[redacted:webhook]"


def test_D6_the_key_files_of_putty_lose_their_private_part() -> None:
    before = "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: "
    after = "\nPrivate-MAC: 0"
    assert redact(f"{before}4\n{PEM_BODY}{after}") == f"{before}[redacted:private-key]{after}"


def test_D6_the_logins_of_docker_are_known_by_what_they_encode() -> None:
    login = base64.b64encode(b"ada:correct-horse").decode()
    for form in ('{"auths": {"h": {"auth": "%s"}}}', r'"{\"auth\":\"%s\"}"', '"auth" : "%s"'):
        assert redact(form % login) == form % "[redacted:docker]"


KNOWN = 'pa/ss "wörd"+&?'


@pytest.mark.parametrize(
    "form",
    [
        KNOWN,
        urllib.parse.quote(KNOWN),
        urllib.parse.quote(KNOWN, safe=""),
        urllib.parse.quote_plus(KNOWN),
        json.dumps(KNOWN),
        json.dumps(KNOWN, ensure_ascii=False),
        json.dumps(KNOWN).replace("/", "\\/"),
    ],
)
def test_D6_known_values_are_found_as_they_travel(form: str) -> None:
    redacted = redact(f"<{form}>", known=[KNOWN])
    assert redacted.strip('<>"') == "[redacted:known]"


@given(st.binary(max_size=8), st.text(min_size=8, max_size=30), st.binary(max_size=8))
def test_D6_known_values_are_found_inside_base64(before: bytes, secret: str, after: bytes) -> None:
    secret = "S3" + secret.strip() + "cr3t"
    whole = before + secret.encode() + after
    for encoded in (base64.b64encode(whole).decode(), base64.urlsafe_b64encode(whole).decode()):
        left = redact(encoded, known=[secret])
        assert "[redacted:known]" in left
        # What is left around the mark is at most the encoding of what is not ours, and a shared sextet on each side.
        assert len(left) - len("[redacted:known]") <= (len(before) + len(after)) * 4 / 3 + 8


def test_D6_known_values_longest_first_and_never_too_short() -> None:
    assert redact("abcdefgh abcd", known=["abcd", "abcdefgh"]) == "[redacted:known] [redacted:known]"
    assert redact("cat concat", known=["cat", "", "   "]) == "cat concat"
    assert redact("xhunter2x", known=[" hunter2\n"]) == "x[redacted:known]x"
    assert redact("a\ud800bcd", known=["a\ud800bcd"]) == "[redacted:known]"
    assert redact("redacted known", known=["redacted", "known"]) == "[redacted:known] [redacted:known]"


PARTS = [secret for secret, _ in SECRETS] + [line.format("hunter2-Xq7vPz9kLm") for line, _ in NAMED] + ORDINARY
PIECES = st.one_of(
    st.sampled_from(PARTS),
    st.sampled_from([prefix for key in KEYS for prefix in key.prefixes]),
    st.sampled_from(
        ["[redacted:known]", "[redacted:", "]", "password=", "://", "@", ":", '"', "Bearer ", RANDOM, "\n"]
    ),
    st.text(max_size=12),
)


@given(st.lists(PIECES, max_size=8).map("".join), st.lists(st.sampled_from([RANDOM[:8], "hunter2", "known", "]pass"])))
def test_D6_redacting_again_changes_nothing(text: str, known: list[str]) -> None:
    once = redact(text, known=known)
    assert once == redact(once, known=known)


@given(st.sampled_from(SECRETS), st.text(), st.text())
def test_D6_no_surroundings_save_a_key(secret: tuple[str, str], before: str, after: str) -> None:
    assert secret[0] not in redact(f"{before} {secret[0]} {after}")


def test_D6_values_are_searched_to_the_bottom() -> None:
    key = "sk-" + RANDOM
    value = {
        "messages": [{"text": f"use {key}", "n": 1, "f": 1.5, "yes": True, "nothing": None}],
        key: "x",
        "pair": (key, "plain"),
        "when": {1: b"raw"},
    }
    assert redact_value(value, known=["plain"]) == {
        "messages": [{"text": "use [redacted:openai]", "n": 1, "f": 1.5, "yes": True, "nothing": None}],
        "[redacted:openai]": "x",
        "pair": ["[redacted:openai]", "[redacted:known]"],
        "when": {"1": "b'raw'"},
    }


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "X-Api-Key", "token", "access_token", "refreshToken", "password", "Authorization", "secret",
     "client_secret", "aws_secret_access_key", "private_key", "credentials", "Set-Cookie", "db.password"],
)  # fmt: skip
def test_D6_what_stands_under_a_secret_name_goes_whole(name: str) -> None:
    for secret in ("x", 1234, ["a", "b"], {"user": "me", "value": "x"}):
        assert redact_value({name: secret}) == {name: "[redacted:field]"}
    harmless: list[object] = [None, "", [], {}, True, {"type": "string", "description": "how to log in"}]
    for value in harmless:
        assert redact_value({name: value}) == {name: value}


@pytest.mark.parametrize(
    "name",
    ["max_tokens", "input_tokens", "token_count", "tokenizer", "next_page_token", "nextPageToken", "key", "keyboard",
     "secretary", "password_length", "author", "passenger", "monkey"],
)  # fmt: skip
def test_D6_other_names_keep_their_values(name: str) -> None:
    assert not names_a_secret(name)
    assert redact_value({name: "value"}) == {name: "value"}


def test_D6_nesting_is_bounded() -> None:
    deep: object = "x"
    for _ in range(MAX_ARGUMENTS_DEPTH + 5):
        deep = [deep]
    shown = json.dumps(redact_value(deep))
    assert shown == "[" * MAX_ARGUMENTS_DEPTH + '"[redacted:too-deep]"' + "]" * MAX_ARGUMENTS_DEPTH


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | PIECES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PIECES, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_D6_redacting_a_value_again_changes_nothing(value: object) -> None:
    once = redact_value(value)
    assert once == redact_value(once)
    json.dumps(once)


def test_D6_secret_variables_are_found_by_name() -> None:
    environment = {
        "ANTHROPIC_API_KEY": "key-value-1",
        "GITHUB_TOKEN": " token-value-2\n",
        "PGPASSWORD": "pg-value-3",
        "MYSQL_PWD": "mysql-value-4",
        "AWS_SECRET_ACCESS_KEY": "/aws-value-5",
        "DATABASE_URL": "postgres://app:url-value-6@db/main",
        "SIGNING_KEY": "sign-value-7",
        "SHORT_TOKEN": "dev",
        "PWD": "/home/someone/project",
        "OLDPWD": "/home/someone/other",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/someone/google.json",
        "SSH_AUTH_SOCK": "/tmp/ssh-agent/socket",
        "PATH": "/usr/local/bin:/usr/bin",
        "PROXY": "http://user:pw@proxy",
        "KEYBOARD_LAYOUT": "ua-unicode",
    }
    expected = ["/aws-value-5", "key-value-1", "mysql-value-4", "pg-value-3", "sign-value-7", "token-value-2"]
    assert secret_values(environment) == (*expected, "url-value-6")
    assert secret_values({}) == ()


NEAR_MISSES = [
    "sk-",
    "sk-sk_",
    "-eyJaaaaaaaa",
    "eyJaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n-",
    "-----END -",
    "password=",
    "password='",
    'password="x ',
    "token:",
    "token\\\\\\",
    "authorization:",
    "authorization: bearer ",
    "Bearer ",
    "://",
    "://a:",
    "a:b@",
    "cookie:",
    "cookie: a\n",
    "AKIA",
    "github_pat_",
    "[redacted:",
    "_",
    "-",
    "\\n",
    "a1B-",
    "/.",
    "SG.aaaaaaaaaaaaaaaa",
    "sk.eyJaaaaaaaaaaaaaaaaaaaa",
    "dp.pt.",
    "MTa1B2c3D4e5F6g7H8i9J0k1.",
    "M.",
    "--password ",
    "--password-",
    "curl -u ",
    "curl -u a:",
    "machine ",
    "machine a login b ",
    "login ",
    '"auth":"',
    "&sig=",
    "hooks.slack.com/services/",
    "\nPrivate-Lines: 1\n",
    "12345678:AA",
    ".atlasv1.",
    "glpat-glsa_",
]


@pytest.mark.unmeasured
@pytest.mark.parametrize("unit", NEAR_MISSES)
def test_D6_a_megabyte_of_near_misses_takes_linear_time(unit: str) -> None:
    """The bound is far above the measured 0.8 s (three times that under coverage); quadratic ones take minutes."""
    for start, end in [("", ""), ("password=", "("), ("-----BEGIN PRIVATE KEY-----", "@"), ("eyJ", "\n")]:
        text = start + unit * (1_000_000 // len(unit)) + end
        began = time.process_time()
        redact(text, known=["a secret of ours", "password=password=("])
        assert time.process_time() - began < 10


def test_D6_keys_that_touch_are_all_found() -> None:
    first = "dop_v1_3f786850e387550fdab836ed7e6dc881de23001b9f86d081884c7d659a2feaa0"
    second = "sk-ant-api03-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
    assert redact(first + second) == "[redacted:digitalocean][redacted:anthropic]"


UNSHAPED = "correct horse battery"


def test_XD6_what_is_shown_has_no_secret_that_the_process_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"it said {UNSHAPED}!"
    assert redact_shown(text) == text
    monkeypatch.setenv("SOME_SERVICE_TOKEN", UNSHAPED)
    assert redact_shown(text) == "it said [redacted:known]!"
    assert redact_shown("it said mine", known=["mine"]) == "it said [redacted:known]"
    assert redact_line(f"a\n{UNSHAPED} b", 40) == "a‹U+000A›[redacted:known] b"
    for room in range(30, 60):  # a line that ends inside of it does not show its beginning
        assert "correct" not in redact_line("x" * 25 + text, room)
    monkeypatch.delenv("SOME_SERVICE_TOKEN")
    assert redact_shown(text) == text


def test_XD6_a_key_that_was_read_elsewhere_is_known_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.safe.secrets.redact._read_secrets", {})
    remember_secret(UNSHAPED)
    remember_secret("short")
    assert held_secrets()[-1] == UNSHAPED
    assert redact_shown(f"{UNSHAPED} short") == "[redacted:known] short"
