"""A receiver of webhooks over TLS on loopback, with a certificate of its own."""

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(kw_only=True)
class Receiver:
    """What was received: headers with small letters, and the body. `answers` are the next statuses, then 204."""

    url: str
    host: str
    context: ssl.SSLContext
    answers: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiving(folder: Path) -> Iterator[Receiver]:
    """Run a receiver while the block runs."""
    certificate = _write_certificate(folder)
    received: list[tuple[dict[str, str], bytes]] = []
    answers: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(answers.pop(0) if answers else 204)
            self.send_header("location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    server.socket = serving.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    host = f"127.0.0.1:{server.server_address[1]}"
    try:
        yield Receiver(
            url=f"https://{host}/jobs?x=1",
            host=host,
            context=ssl.create_default_context(cafile=str(certificate)),
            answers=answers,
            got=received,
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _TakesAll(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        pass


@cache
def plain_receiver() -> ThreadingHTTPServer:
    """Return a receiver without TLS that takes everything, for as long as the process lives."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _TakesAll)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _write_certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "receiver.pem"
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    return path
