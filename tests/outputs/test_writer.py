"""Known secrets are in no stored output, wherever a piece ended; everything else is there to the byte."""

import base64
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.data.messages import ImagePart, TextPart
from toolroll.outputs.reader import StoredOutput
from toolroll.outputs.store import OutputStore
from toolroll.outputs.writer import MARK, SecretMask, mask_secrets

KEY = "sk-canary/1f9c+value"


def in_pieces(data: bytes, cuts: list[int], secrets: tuple[str, ...]) -> bytes:
    masking = SecretMask(secrets)
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    out = [masking.feed(data[start:end]) for start, end in pairwise(places)]
    return b"".join([*out, masking.end()])


@given(
    st.lists(st.sampled_from([b"abcd", b"abcdefgh", b"ab", b"efgh", b"x", b"\n", b"abc", b"[redacted:"]), max_size=30),
    st.lists(st.integers(0, 200), max_size=10),
)
def test_D6_K50_wherever_pieces_end_the_same_is_stored(words: list[bytes], cuts: list[int]) -> None:
    data, secrets = b"".join(words), ("abcd", "abcdefgh")
    whole = mask_secrets(data, secrets)
    assert in_pieces(data, cuts, secrets) == whole
    assert b"abcd" not in whole
    assert whole == data.replace(b"abcdefgh", MARK).replace(b"abcd", MARK)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_K50_without_a_known_secret_nothing_changes(data: bytes, cuts: list[int]) -> None:
    assert in_pieces(data, cuts, ()) == data
    assert mask_secrets(data, ()) == data
    if KEY.encode() not in data:
        assert in_pieces(data, cuts, (KEY,)) == data


def stored(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def text_of(kept: StoredOutput) -> str:
    return kept.data_path.read_text()


def test_D6_no_way_of_keeping_stores_a_known_secret(tmp_path: Path) -> None:
    secret = base64.b64encode(f"me:{KEY}".encode())
    with OutputStore(tmp_path, run_id="run", secrets=[KEY]) as store:
        part = store.child("run.part")
        assert store.keep("1", "short", f"the key is {KEY}.") is not None
        assert store.keep("2", "long", f"{'x' * 65_530}{KEY}{'y' * 70_000}") is not None
        assert store.keep("3", "bytes", b"\xff" * 5_000 + KEY.encode() + secret) is not None
        image = ImagePart(data=b"\x89PNG" + KEY.encode(), media_type="image/png")
        assert store.keep("4", "parts", (TextPart(text=KEY), image, TextPart(text=f"{KEY} twice {KEY}"))) is not None
        assert part.keep("5", "part", KEY) is not None
        with store.writer("6", "pieces") as out:
            out.write(KEY[:5].encode())
            out.write(KEY[5:])
        assert out.ref is not None
        assert text_of(store.open(out.ref.id)) == MARK.decode()
        assert store.open(out.ref.id).meta.kind == "bytes"
        found = stored(tmp_path)
    assert KEY.encode() not in found
    assert secret[4:-4] not in found
    assert found.count(MARK) == 10


def test_D6_what_a_part_says_stays_with_its_part(tmp_path: Path) -> None:
    with OutputStore(tmp_path, run_id="run", secrets=[KEY]) as store:
        ref = store.keep("1", "tool", (TextPart(text=f"a {KEY}"), TextPart(text="b")))
        assert ref is not None
        kept = store.open(ref.id)
        first, second = kept.meta.pieces
        data = kept.data_path.read_bytes()
    assert data[first.start : first.end] == b"a " + MARK
    assert data[second.start : second.end] == b"b"
