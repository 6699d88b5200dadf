"""Every command at a narrow terminal: no word is cut in two that would fit on a line."""

import fcntl
import os
import re
import struct
import termios
import threading

import pytest
from tests.cli.cut import cut_words
from tests.cli.ends import ENDS, End
from tests.support.programs import Program
from tests.support.scene import LEAVES, Scene, Words, program_words

ROWS = 24
AS_IT_IS = {
    ("call",),
    ("completion",),
    ("config", "get"),
    ("config", "path"),
    ("explore", "show"),
    ("outputs", "grep"),
    ("outputs", "show"),
    ("runs", "export"),
    ("tools", "schema"),
    ("write", "completion"),
    ("write", "profile", "export"),
    ("write", "profile", "show"),
    ("write", "write"),
}
"""What these answer with is not of our own writing, or it is for copying: a terminal folds it as it likes."""
_COLOUR = re.compile(r"\x1b\[(?:[0-9;]*m|\?[0-9]+[hl])")
_MOVE = re.compile(r"\r\n|\r|\x1b\[[0-9;]*[A-Za-z]")


class _Glass:
    """A terminal that one command is at; all that it writes is kept."""

    def __init__(self, columns: int) -> None:
        self._master, self._slave = os.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.name = os.ttyname(self._slave)
        self._raw = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 65_536):
                self._raw += data
        except OSError:  # EIO: nobody has the other side open any more
            os.close(self._master)

    def lines(self) -> list[str]:
        """All lines that were written, once the command is over."""
        os.close(self._slave)
        self._reader.join(timeout=30)
        return _MOVE.sub("\n", _COLOUR.sub("", self._raw.decode())).split("\n")


def shown(scene: Scene, typed: Words, columns: int, stdin: str = "") -> tuple[int, list[str]]:
    """How a command ends, and what it shows at a terminal without a keyboard."""
    glass = _Glass(columns)
    program: Program = "ghostpen" if typed[0] == "ghostpen" else "toolroll"
    given = typed[1:] if program == "ghostpen" else typed
    at = {"out": glass.name, "err": glass.name}
    scene.starter.start(*given, env=scene.env(), cwd=scene.root, program=program, stdin=stdin, **at)
    return scene.starter.wait().code, glass.lines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a line that fits", []),
        ("some words, and one at the edge", ["edge"]),
        ("some words, and one up to edge", []),
        ("words, and then one up to the edge", []),
        ("words and a path /very/long/to/its/own/end", []),
        ("words in the first line, and another in the second one", ["another"]),
    ],
)
def test_S6_words_that_a_terminal_cuts_are_found(line: str, expected: list[str]) -> None:
    assert cut_words(line, 30) == expected


def looked_at(words: Words) -> set[End]:
    """The first way in which it works, and the first of each kind of error."""
    ends = ENDS[words]
    errors = {end.error: end for end in reversed(ends) if end.code and end.error}
    return {*errors.values(), *[end for end in ends if end.code == 0][:1]}


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_S6_no_word_is_cut_at_40_columns(words: Words, scene: Scene) -> None:
    chosen = looked_at(words)
    for end in ENDS[words]:
        scene.has(*end.has.split())
        if end.first:
            scene.call(*scene.words(end.first), stdin=end.stdin)
        if end in chosen:
            code, lines = shown(scene, (*program_words(words), *scene.words(end.line)), 40, end.stdin)
            assert code == end.code, (end, lines)
            is_ours = end.code != 0 or words not in AS_IT_IS
            assert not is_ours or [cut for line in lines for cut in cut_words(line, 40)] == [], "\n".join(lines)
