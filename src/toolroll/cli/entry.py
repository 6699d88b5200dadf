"""Where the installed commands begin: Ctrl-C while the rest is still being loaded ends them as it does later.

Nothing is imported here but what the interpreter has loaded already: each module more is a moment in which Ctrl-C
would show a traceback.
"""

import sys
from typing import NoReturn

INTERRUPTED = 130
_WORDS = "Interrupted."


def toolroll() -> NoReturn:
    """Run `toolroll` and end the process with its exit code."""
    try:
        from toolroll.cli.main import main  # noqa: PLC0415 - what may be interrupted

        main()
    except KeyboardInterrupt:
        _leave()


def ghostpen() -> NoReturn:
    """Run `ghostpen` and end the process with its exit code."""
    try:
        from toolroll.cli.ghostpen.main import main  # noqa: PLC0415 - as above

        main()
    except KeyboardInterrupt:
        _leave()


def _leave() -> NoReturn:
    if "--json" in sys.argv:
        sys.stdout.write(f'{{"error":{{"code":"interrupted","message":"{_WORDS}"}}}}\n')
    else:
        sys.stderr.write(f"\nError: {_WORDS}\n")
    sys.exit(INTERRUPTED)
