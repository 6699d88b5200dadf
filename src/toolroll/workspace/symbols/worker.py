"""The program of one worker process: it reads the bytes of a file and writes rows, until there are no more.

It opens no file and no socket. A grammar that runs wild costs the file it was given: past its processor time the
process is ended by a signal that nothing in it handles, as the parser holds the interpreter's lock.
"""

import json
import resource
import signal
import sys
from typing import IO, Final

from toolroll.workspace.symbols.extract import extract, find_occurrences
from toolroll.workspace.symbols.symbol import REPLY, REQUEST, to_rows

FILE_CPU_S: Final = 5.0  # a file of 1 MiB takes 0.3 s
MEMORY_BYTES: Final = 2 << 30  # trees take about 60 times their source


def main() -> None:
    """Serve what comes in, within limits that end this process if need be."""
    limit_self()
    serve(sys.stdin.buffer, sys.stdout.buffer)


def limit_self() -> None:
    """Take no more memory than any source file is worth, and leave no core files behind."""
    for what, most in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer every request in its turn; ends when there are no more."""
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        words, size = REQUEST.unpack(head)
        task, data = json.loads(requests.read(words)), requests.read(size)
        signal.setitimer(signal.ITIMER_PROF, FILE_CPU_S)
        body = json.dumps(_answer(task, data), separators=(",", ":")).encode()
        signal.setitimer(signal.ITIMER_PROF, 0)
        replies.write(REPLY.pack(len(body)) + body)
        replies.flush()


def _answer(task: dict[str, str], data: bytes) -> object:
    if task["operation"] == "extract":
        return to_rows(extract(task["language"], data))
    return find_occurrences(task["language"], data, task["name"])
