"""A folder of nasty files: every tool that touches files is tried with all of them."""

import os
import socket
import unicodedata
from pathlib import Path
from typing import Final

MB: Final = 1_000_000
NEEDLE: Final = "needle"
DEPTH: Final = 60

TEXTS: Final[dict[str, bytes]] = {
    "lf.txt": b"one\nneedle\nthree\n",
    "crlf.txt": b"one\r\nneedle\r\nthree\r\n",
    "mixed.txt": b"one\nneedle\r\nthree\rfour\n",
    "bare-cr.txt": b"one\rneedle\rthree\r",
    "no-final-newline.txt": b"one\nneedle",
    "only-newlines.txt": b"\n\n\n",
    "empty.txt": b"",
    "trailing-blanks.md": b"one  \nneedle\t \n",
    "bom.txt": b"\xef\xbb\xbfone\nneedle \xc3\xa9\n",
    "latin1.txt": b"caf\xe9\nneedle \xfc\n",
    "declared.py": b"# -*- coding: iso-8859-15 -*-\nprice = '\xa4 needle'\n",
    "shift-jis.py": b"# coding: shift_jis\nname = '" + "表needle".encode("shift_jis") + b"'\n",
    "undeclared-sjis.txt": "日本語 needle\n".encode("shift_jis"),
    "utf16le.txt": b"\xff\xfe" + "one\nneedle é\n".encode("utf-16-le"),
    "utf16be.txt": b"\xfe\xff" + "one\r\nneedle é\r\n".encode("utf-16-be"),
    "utf32le.txt": b"\xff\xfe\x00\x00" + "one\nneedle\n".encode("utf-32-le"),
    "separators.txt": "a\vb\fc\x85d\u2028e\u2029f\nneedle\n".encode(),
    "dollar.js": b"s.replace(/needle/g, '$& $1 \\1 $$')\n",
    "trojan.py": "access = 'user\u202e \u2066# needle\u2069 \u2066'\n".encode(),
    "one-long-line.js": b"x" * 3 * MB + b"needle" + b"y" * 3 * MB + b"\n",
    "read-only.txt": b"needle\n",
    "hard.txt": b"needle\n",
    unicodedata.normalize("NFC", "twin-é.txt"): b"needle composed\n",
    unicodedata.normalize("NFD", "twin-é.txt"): b"needle decomposed\n",
    "with space.txt": b"needle\n",
    "-e": b"needle\n",
    "--files": b"needle\n",
    "glob[1]{a}.txt": b"needle\n",
    "quote'and\"quote.txt": b"needle\n",
    "dollar$(touch x).txt": b"needle\n",
    "/".join(["deep"] * DEPTH) + "/bottom.txt": b"needle\n",
}
"""Regular files of text, by path; one line of most of them has the needle in it."""

BINARY: Final[dict[str, bytes]] = {
    "nul.bin": b"needle\n\0needle\n",
    "late-nul.bin": b"needle\n" * 20_000 + b"\0",
    "compressed.gz": bytes(range(1, 32)) * 8 + b"\xff\xfe\xfd needle",
}
ODD_NAMES: Final = (b"new\nline.txt", b"not-utf8-\xff.txt", b" outer space ", b"back\\slash.txt", b"\x1b[31mred.txt")
LINKS: Final = {
    "link-inside": "lf.txt",
    "link-to-folder": "deep",
    "link-outside": "../outside.txt",
    "link-absolute": "/etc/hostname",
    "link-dangling": "nothing",
    "link-loop": "link-loop",
    "link-chain": "link-inside",
    "link-up": "..",
}
MISSING_OR_OUTSIDE: Final = ("link-outside", "link-absolute", "link-dangling", "link-loop", "link-up")


def write_nasty(folder: Path) -> Path:
    """Fill the folder with all of it; beside the folder, `outside.txt` is what nobody may reach."""
    for name, data in (TEXTS | BINARY).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for odd in ODD_NAMES:
        Path(os.fsdecode(os.path.join(os.fsencode(folder), odd))).write_bytes(b"needle\n")
    (folder.parent / "outside.txt").write_bytes(b"needle: a secret from outside\n")
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    (folder / "hard-twin.txt").hardlink_to(folder / "hard.txt")
    (folder / "read-only.txt").chmod(0o444)
    os.mkfifo(folder / "pipe")
    _bind_socket(folder / "socket")
    return folder


def _bind_socket(path: Path) -> None:
    # The name of a socket may have 108 bytes, and temporary folders are longer: it is bound by a short one.
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(f"/proc/self/fd/{handle}/{path.name}")
    finally:
        os.close(handle)
