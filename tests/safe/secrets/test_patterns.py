"""XD5: a key is found whatever stands before it, and ordinary text stays."""

import itertools
import json
import os
import quopri
import random
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.safe.secrets.test_redact import HEX, ORDINARY, RANDOM, SECRETS, pem

from toolroll.safe.secrets.redact import redact

# Each ends where a key begins; nearly all of them with a letter or a digit.
ESCAPES = [
    r"\n", r"\t", r"\r", r"\\n", r"\\\\n", r"\"", r"\u000a", r"\u000A", r"\U0000000a", r"\x0a", r"\x1b", r"\0", r"\12",
    r"\012", r"\a ", r"\00000a", "%0A", "%20", "%250A", "%u000A", "%3D", "=3D", "=0A", "=20", "=\n", "&#10", "&#10;",
    "&nbsp;", "&quot;", "\x1b[31m", "\x1b[m", "\x1b[0m", "\x1b[1;38;2;255;255;255m", "\x1b[2K", "\x1b[?25h", "\x1bM",
    "\x1b(B", r"\x1b[31m", r"\u001b[0;1m", r"\033[32m", r"\e[1m", "␛[31m", "<ESC>[31m", "^M", "^[[31m",
]  # fmt: skip
PLAIN = ["", " ", "\n", "\t", "(", "[", "<", ">", '"', "'", "`", ":", "=", ",", ";", "|", "/", "+", "@", "é", "\u200b"]
# Prefixes that occur nowhere else: what touches them may even be a word.
DISTINCT = ("ghp_", "github_pat_", "glpat-", "sk-ant-api", "sk-or-v1-", "xoxb-", "gsk_", "tvly-", "GOCSPX-", "dop_v1_")
ROUNDS = int(os.environ.get("TOOLROLL_REDACTION_ROUNDS", "300"))


@pytest.mark.parametrize("before", ESCAPES + PLAIN)
def test_XD5_a_key_of_every_kind_is_found_behind_every_boundary(before: str) -> None:
    for secret, kind in SECRETS:
        for head in ("", "text ", '{"a": "b' if before else ""):
            redacted = redact(f"{head}{before}{secret} end")
            # Of the escape, a letter may go too that could belong to the key.
            assert redacted.startswith(f"{head}{before[:-2]}")
            assert redacted.endswith(f"[redacted:{kind}] end")
            assert secret not in redacted


def test_XD5_a_prefix_that_occurs_nowhere_else_is_found_behind_letters() -> None:
    found = [secret for secret, _kind in SECRETS if secret.startswith(DISTINCT)]
    assert len(found) >= len(DISTINCT)
    for secret, before in itertools.product(found, ("x", "KEY", "0", "total", "_", "-", "é")):
        assert secret[8:] not in redact(f"{before}{secret}")


def test_XD5_the_private_part_of_a_token_goes_also_where_its_head_touches_a_word() -> None:
    head, payload, signature = "eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", RANDOM
    assert redact(f"x{head}.{payload}.{signature}") == f"x{head}[redacted:jwt]"


def _as_json(text: str) -> str:
    return json.dumps({"text": text})


def _as_json_in_json(text: str) -> str:
    return _as_json(_as_json(text))


def _in_url(text: str) -> str:
    return f"see https://example.com/?q={urllib.parse.quote(text)}"


def _in_mail(text: str) -> str:
    return quopri.encodestring(text.encode(), quotetabs=True).decode().replace("=\n", "")


@given(
    st.sampled_from([pair for pair in SECRETS if pair[1] != "private-key"]),
    st.text(max_size=20),
    st.sampled_from([" ", "\n", "\t", '"', "=", "\x1b[1m", "\r\n", "\u2028", "\x07"]),
    st.sampled_from([_as_json, _as_json_in_json, _in_url, _in_mail, repr]),
)
def test_XD5_a_key_is_found_in_text_that_was_encoded(
    secret: tuple[str, str], before: str, boundary: str, encode: object
) -> None:
    assert callable(encode)
    key = secret[0]
    encoded = encode(f"{before}{boundary}{key}\n")
    if key in encoded:  # some keys have characters that are encoded too
        assert key not in redact(encoded)


@pytest.mark.parametrize(
    "line",
    [
        r'{"log": "x\nCookie: session=%s; theme=dark\nHost: x"}', "curl -H 'Cookie: session=%s' x", "%%0ACookie: id=%s",
        r"x\nBearer %s0123456789", "Bearer%%20%s0123456789", "\x1b[31mBearer %s0123456789", r"x\nDB_PASSWORD=%s",
        "\x1b[31mDB_PASSWORD=%s", "%%0ADB_PASSWORD=%s", r"\u000aDB_PASSWORD=%s", "a%%26password%%3D%s1",
        r"x\t--password %s1", r"machine h\n  login ada\n  password %s", r"x\nlogin ada password %s1",
    ],
)  # fmt: skip
def test_XD5_a_name_or_place_is_known_behind_an_escape(line: str) -> None:
    assert "correcthorse" not in redact(line % "correcthorse")


def test_XD5_the_private_lines_of_putty_go_in_escaped_text_too() -> None:
    key = "PuTTY-User-Key-File-3: x\nPrivate-Lines: 4\n" + "\n".join([RANDOM] * 4) + "\nPrivate-MAC: 0"
    assert RANDOM not in redact(json.dumps("x " + key))
    assert RANDOM not in redact(json.dumps("x " + pem(end=False)))


@pytest.mark.parametrize("before", [r"C:\dev\ta", "ta", "di", "0x", "[re", r"\\server\de", "%di", "=ri", "x[0", "&#x"])
def test_XD5_words_that_end_like_a_prefix_stay(before: str) -> None:
    for text in (
        f"sk-{HEX[:40]}" if before not in (r"\\server\de", "0x") else "sk-list-item-with-a-long-name",
        "sk_test",
    ):
        assert redact(f"{before}{text}") == f"{before}{text}"


@pytest.mark.parametrize("before", ESCAPES)
def test_XD5_ordinary_text_stays_behind_every_boundary(before: str) -> None:
    for text in ORDINARY:
        if not text.startswith(("Cookie:", "Private-Lines")):
            assert redact(before + text) == before + text


def test_XD5_hashes_and_random_identifiers_stay() -> None:
    chance = random.Random(6)
    for _ in range(ROUNDS):
        digest = chance.randbytes(32).hex()
        names = (f"task-{digest}", f"disk-{digest[:32]}", f"TASK{digest[:32]}", f"cache-key-{digest[:32]}", digest)
        words = (
            f"network_test_{chance.randint(1, 10**9)}",
            f"uint8_{digest[:20]}",
            "configd_a_name_of_some_length_" * 2,
        )
        for text in (*names, *words, f"vhf_{digest[:40]}", f"hooks/myxapp-{digest}"):
            assert redact(text) == text
