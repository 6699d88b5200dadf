"""Ids, names and arguments of calls, in the form that every provider accepts.

A conversation may go to another provider than the one that wrote it, and models invent names of tools. Both vendors
refuse the whole request for one id or name outside `[a-zA-Z0-9_-]{1,64}`; some servers make ids such as
`functions.add:0`, and some models call `multi_tool_use.parallel`. So what does not fit is rewritten, the same way in
the call and in its result.
"""

import re
from hashlib import sha256
from typing import Final

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json

_FITS: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DIGITS: Final = 24


def safe_id(call_id: str) -> str:
    """Return the id itself, or one made from it: equal ids stay equal, different ones stay different."""
    if _FITS.fullmatch(call_id):
        return call_id
    return "call_" + sha256(call_id.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def safe_name(name: str) -> str:
    """Return the name itself, or the nearest one that a provider accepts."""
    return name if _FITS.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unknown_tool"


def arguments_to_send(call: ToolCall) -> str:
    """Return the arguments as the model wrote them, or {} for broken ones.

    Broken arguments were never run, and some servers parse them again and refuse the whole request.
    """
    try:
        parsed = parse_object(call.arguments)
    except JsonRefused:
        return "{}"
    return call.arguments if parsed else "{}"


def arguments_received(written: object) -> str:
    """Return arguments as text: some servers send the object itself, or nothing at all."""
    if isinstance(written, str):
        return written or "{}"
    return "{}" if written is None else dump_json(written)


def is_complete_object(written: str) -> bool:
    """Whether the text is a complete JSON object already."""
    try:
        parse_object(written)
    except JsonRefused:
        return False
    return bool(written.strip())
