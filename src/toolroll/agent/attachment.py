"""Images and documents by URL: fetched here, through the guard, and sent to the model whole.

The address may come from anybody, so private addresses are refused, whatever a name resolves to, and size and time are
limited. What comes back is what its media type and its first bytes both say it is.
"""

from collections.abc import Collection
from typing import Final

from toolroll.errors import ServiceFailed
from toolroll.kernel.data.messages import DocumentPart, ImagePart
from toolroll.safe.net.http import HttpClient, HttpLimits
from toolroll.safe.net.transport import guarded_transport
from toolroll.safe.net.urls import check_url

IMAGE_STARTS: Final = {
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/webp": (b"RIFF",),
}
"""The images that every provider takes, and how their bytes begin."""
DOCUMENT_STARTS: Final = {"application/pdf": (b"%PDF-",), "text/plain": (b"",)}
LIMITS: Final = HttpLimits(total_s=30.0, body_bytes=20_000_000)
"""What providers take of one file at most is about as large."""
_MAX_REDIRECTS: Final = 3
_OK: Final = 200


async def fetch_part(
    url: str, *, title: str | None = None, allow_hosts: Collection[str] = (), limits: HttpLimits = LIMITS
) -> ImagePart | DocumentPart:
    """Fetch an image (PNG, JPEG, GIF, WebP) or a document (PDF, plain text), for a prompt or a result.

    Raise `UrlRefused` for an address that is not public, and `ServiceFailed` for an answer that is of no use.
    `allow_hosts` names hosts that you trust although they are private, such as `127.0.0.1`; they may also be reached
    without TLS. Redirects are followed on the same host only. `title` is for documents.
    """
    allowed = frozenset(allow_hosts)
    checked = check_url(url, schemes=("https", "http"), allow_hosts=allowed)
    schemes = ("https", "http") if checked.host in allowed else ("https",)
    client = HttpClient(limits, transport=guarded_transport(schemes=schemes, allow_hosts=allowed))
    try:
        answer = await client.request("GET", url, service=checked.host, max_redirects=_MAX_REDIRECTS)
    finally:
        await client.aclose()
    if answer.status != _OK:
        message = f"{checked.host} answered with status {answer.status}, and not with a file. Check the address."
        raise ServiceFailed(message, status=answer.status)
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return _make_part(checked.host, media_type, answer.body, title)


def _make_part(host: str, media_type: str, data: bytes, title: str | None) -> ImagePart | DocumentPart:
    starts = IMAGE_STARTS.get(media_type) or DOCUMENT_STARTS.get(media_type)
    if starts is None:
        known = ", ".join((*IMAGE_STARTS, *DOCUMENT_STARTS))
        raise ServiceFailed(f"{host} sent {media_type or 'a file of no type'!r}, and a model is sent {known}.")
    if not data.startswith(starts):
        raise ServiceFailed(f"{host} sent a file that is no {media_type}, although it says so. Check the address.")
    if media_type in IMAGE_STARTS:
        return ImagePart(data=data, media_type=media_type)
    return DocumentPart(data=data, media_type=media_type, title=title)
