"""What became of a file since somebody read it: shown in a few lines, and kept beside a change that does not touch it.

A change that was made from an older content is not lost where the two do not meet (C19). Where they do, or where it is
not sure that lines are lines (UTF-16), nothing is put together.
"""

import os
from typing import Final

from toolroll.home.keys import known_secrets
from toolroll.kernel.diff import unified_diff
from toolroll.safe.names import RelativePath, shown
from toolroll.safe.secrets import redact
from toolroll.safe.text import one_line, visible
from toolroll.workspace.edits.carrier import Carrier, carry
from toolroll.workspace.merge import merge
from toolroll.workspace.text import decode

MAX_SHOWN_LINES: Final = 60
"""Of a difference: what is more is a reason to read the file again."""
MAX_LINE_CHARACTERS: Final = 300

_WIDE: Final = ("utf-16", "utf-32")


def what_changed(path: RelativePath, before: bytes, now: bytes) -> str:
    """The difference as a short diff, without secrets; what is left out is counted."""
    name = str(path)
    old, new = decode(before, path=name).text, decode(now, path=name).text
    lines = [line.rstrip("\n") for line in unified_diff(old, new, path=shown(name))]
    rest = len(lines) - MAX_SHOWN_LINES
    # A key may be longer than what is shown of its line: what is cut first would no longer look like one.
    safe = redact("\n".join(lines[:MAX_SHOWN_LINES]), known=known_secrets(os.environ)).split("\n")
    told = [_shortened(visible(line)) for line in safe] if lines else ["No line: only how it is encoded."]
    return "\n".join([*told, *([f"[{rest:,} more lines of the difference]"] if rest > 0 else [])])


def _shortened(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else one_line(line, MAX_LINE_CHARACTERS)


def together(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Both changes of the base; None where they touch, or where the encoding is not the same everywhere."""
    carriers = [carry(data) for data in (base, ours, theirs)]
    if len({(one.encoding, one.mark, one.is_known) for one in carriers}) > 1 or _is_wide(carriers[0]):
        return None
    return merge(base, ours, theirs).data


def _is_wide(carrier: Carrier) -> bool:
    return carrier.encoding.startswith(_WIDE)
