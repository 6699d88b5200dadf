"""A call's arguments as text, for the wires that send them so."""

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_object
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json


def sent_back(call: ToolCall) -> str:
    """The arguments as the model wrote them; broken ones become {}: they were never run, and some servers parse them
    again and refuse the whole request."""
    try:
        parsed = parse_object(call.arguments)
    except JsonRefused:
        return "{}"
    return call.arguments if parsed else "{}"


def received(written: object) -> str:
    """The arguments as they came: a text, or, from some servers, the object itself, or nothing at all."""
    if isinstance(written, str):
        return written or "{}"
    return "{}" if written is None else dump_json(written)


def is_complete(written: str) -> bool:
    """Whether the text is a whole object already."""
    try:
        parse_object(written)
    except JsonRefused:
        return False
    return bool(written.strip())
