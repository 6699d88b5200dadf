"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it has begun is put away, then the signal ends the process.

Left to the system, they would end the process between any two steps: the terminal stays as the line editor has set it,
a check or an editor goes on, and the proposed text stays in a temporary folder.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
PUT_AWAY_S: Final = 10.0
"""How long a command may take to put its things away; a check that ignores SIGTERM takes a second."""

_received: list[int] = []  # of this process, as signals are


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt for a signal that asks the process to end; afterwards it ends the process.

    Such a signal that is ignored already (`nohup`) stays ignored.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _begin)
    try:
        yield
    finally:
        if _received:
            _die()


def is_ending() -> bool:
    """Return whether a signal has asked the process to end: nobody may take its exception for a Ctrl-C."""
    return bool(_received)


def _begin(number: int, _frame: object) -> None:
    # A shell that ends tells its jobs, and so does its terminal: one is enough, and must not cut short the rest.
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    _received.append(number)
    signal.signal(signal.SIGALRM, lambda *_: _die())
    signal.setitimer(signal.ITIMER_REAL, PUT_AWAY_S)
    raise KeyboardInterrupt


def _die() -> NoReturn:
    """End by the signal itself, so that whoever has started the process sees what ended it."""
    signal.signal(_received[0], signal.SIG_DFL)
    os.kill(os.getpid(), _received[0])
    os._exit(128 + _received[0])  # not reached, unless the signal is blocked
