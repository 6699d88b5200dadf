"""Ids and names of calls, as every provider takes them.

A conversation may go to another provider than the one that wrote it, and models invent names of tools. Both vendors
refuse the whole request for one id or name outside `[a-zA-Z0-9_-]{1,64}`; some servers make ids such as
`functions.add:0`, and some models call `multi_tool_use.parallel`. So what does not fit is rewritten, the same way in
the call and in its result.
"""

import re
from hashlib import sha256
from typing import Final

_FITS: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DIGITS: Final = 24


def safe_id(call_id: str) -> str:
    """The id itself, or one made from it: equal ids stay equal, different ones different."""
    if _FITS.fullmatch(call_id):
        return call_id
    return "call_" + sha256(call_id.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def safe_name(name: str) -> str:
    """The name itself, or the nearest that a provider takes."""
    return name if _FITS.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unknown_tool"
