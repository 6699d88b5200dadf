"""Images and documents by URL, from a server on loopback that the user allows, and from nowhere else."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from toolroll import Agent, DocumentPart, ImagePart, ScriptedModel, TextPart
from toolroll.agent.attachment import fetch_part
from toolroll.errors import ServiceFailed, UrlRefused
from toolroll.kernel.data.messages import UserMessage
from toolroll.safe.net.http import HttpLimits

PNG = b"\x89PNG\r\n\x1a\nrest"
HERE = {"127.0.0.1"}


class Files(BaseHTTPRequestHandler):
    files: ClassVar[dict[str, tuple[int, str, bytes]]] = {
        "/a.png": (200, "image/png", PNG),
        "/a.pdf": (200, "application/pdf; charset=binary", b"%PDF-1.7"),
        "/a.txt": (200, "Text/Plain", b"tea"),
        "/a.html": (200, "text/html", b"<p>"),
        "/fake.png": (200, "image/png", b"<script>"),
        "/large.txt": (200, "text/plain", b"x" * 2000),
        "/untyped": (200, "", b"x"),
        "/moved": (302, "/a.png", b""),
        "/away": (302, "http://127.0.0.2/a.png", b""),
    }

    def do_GET(self) -> None:
        status, kind, body = self.files.get(self.path, (404, "text/plain", b"no"))
        self.send_response(status)
        if status == 302:
            self.send_header("location", kind)
        elif kind:
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


async def test_A49_an_image_or_a_document_is_fetched_and_sent(site: str) -> None:
    image = await fetch_part(f"{site}/a.png", allow_hosts=HERE)
    assert image == ImagePart(data=PNG, media_type="image/png")
    assert await fetch_part(f"{site}/moved", allow_hosts=HERE) == image
    document = await fetch_part(f"{site}/a.pdf", title="Tea", allow_hosts=HERE)
    assert document == DocumentPart(data=b"%PDF-1.7", media_type="application/pdf", title="Tea")
    text = await fetch_part(f"{site}/a.txt", allow_hosts=HERE)
    model = ScriptedModel(["Two files."])
    result = await Agent(model=model).run([TextPart(text="What is this?"), image, text])
    assert isinstance(result.messages[0], UserMessage)
    assert image in result.messages[0].content
    assert text in result.messages[0].content


async def test_A49_private_addresses_are_refused_without_consent(site: str) -> None:
    for url in (f"{site}/a.png", "https://127.0.0.1/a.png", "https://10.0.0.1/a.png", "file:///etc/passwd"):
        with pytest.raises(UrlRefused):
            await fetch_part(url)
    with pytest.raises(UrlRefused):  # consent to one host is no consent to plain HTTP elsewhere
        await fetch_part("http://example.com/a.png", allow_hosts=HERE)


@pytest.mark.parametrize("name", ["a.html", "fake.png", "untyped", "nothing", "large.txt", "away"])
async def test_A49_what_is_no_file_for_a_model_is_refused(site: str, name: str) -> None:
    with pytest.raises((ServiceFailed, UrlRefused)):
        await fetch_part(f"{site}/{name}", allow_hosts=HERE, limits=HttpLimits(total_s=30, body_bytes=1000))
