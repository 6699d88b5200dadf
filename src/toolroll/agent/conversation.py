"""A conversation as text: one JSON form with a version, to keep it anywhere and to go on from it later.

Every part and every block is in it, also those that only their provider understands, and images as base64. The run log
holds messages in the same form.
"""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Final

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import to_json
from typing_extensions import TypedDict

from toolroll.errors import ConversationRefused
from toolroll.journal.codec import mark_old_summary
from toolroll.kernel.data.messages import Message

VERSION: Final = 1
"""Raised with every change that an older program could misread."""


class _Stored(TypedDict):
    version: int
    messages: tuple[Annotated[Message, Field(discriminator="role")], ...]


class _Version(TypedDict):
    version: int


def dump_messages(messages: Iterable[Message]) -> str:
    """Return the messages as JSON text; `load_messages` gives them back as they were.

    The text holds what the messages hold: private text and results of tools, not redacted.
    """
    try:
        return to_json(_Stored(version=VERSION, messages=tuple(messages)), bytes_mode="base64").decode()
    except ValueError as error:  # half of a surrogate pair, which is no text
        raise ConversationRefused(f"These messages cannot be written as JSON: {error}.") from None


def load_messages(text: str | bytes) -> tuple[Message, ...]:
    """Return the messages behind the text of `dump_messages`, of this version or an older one."""
    try:
        version = _versions().validate_json(text)["version"]
        if not 1 <= version <= VERSION:
            raise ConversationRefused(
                f"This conversation has format {version}, and this program reads formats 1 to {VERSION}. "
                "Use a newer version of toolroll."
            )
        return tuple(map(mark_old_summary, _adapter().validate_json(text)["messages"]))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"])) or "text"
        raise ConversationRefused(
            f"This is no conversation that dump_messages wrote: {place}: {fault['msg']}."
        ) from None


@cache
def _versions() -> TypeAdapter[_Version]:
    return TypeAdapter(_Version)


@cache
def _adapter() -> TypeAdapter[_Stored]:
    # Built on first use: the tree of types takes as long as an interpreter's start.
    _Stored.__pydantic_config__ = ConfigDict(val_json_bytes="base64")  # type: ignore[attr-defined]  # read by pydantic
    return TypeAdapter(_Stored)
