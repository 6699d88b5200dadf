"""What comes back over a transport: a status, headers, and a body that is still to be read."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

from toolroll.errors import AnswerTooLarge
from toolroll.messages import MODEL_ANSWER_TOO_LARGE

MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""The longest answer a model can write is under 1 MiB; search results with their encrypted text make several. A stream
of 128,000 tokens, each in an event of its own, has some 30 MiB."""


@dataclass(slots=True, kw_only=True)
class Reply:
    """An HTTP answer whose body is still to be read."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]

    async def body(self) -> bytes:
        """Read the whole body, up to a size that no answer has."""
        body = bytearray()
        async for chunk in self.chunks:
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise AnswerTooLarge(MODEL_ANSWER_TOO_LARGE(limit=f"{MAX_BODY_BYTES:,}"))
        return bytes(body)
