"""An HTTP transport whose answers have a limit: the SDK bounds one event of a stream, but not a whole JSON answer."""

from collections.abc import AsyncIterator

import httpx2


class LimitedTransport(httpx2.AsyncBaseTransport):
    """Forwards requests, and ends an answer that is over the limit. A stream of events may be longer in all."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, *, limit_bytes: int) -> None:
        self._inner = inner
        self._limit_bytes = limit_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        # Not compressed: a small body could unpack to a large one, past the limit.
        request.headers["Accept-Encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.ReadError("the server compressed its answer, though it was asked not to")
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return response
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _LimitedStream(stream, self._limit_bytes)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, limit_bytes: int) -> None:
        self._inner = inner
        self._left = limit_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("the answer is larger than the limit")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
