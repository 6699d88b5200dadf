"""An MCP server over HTTP that wants a login, and the authorization server beside it: in one small program each."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

TOOL = {"name": "whoami", "description": "Say who is logged in.", "inputSchema": {"type": "object", "properties": {}}}


@dataclass
class Login:
    """What both know: who was given which token, and every token that each was shown."""

    issuer: str = ""
    resource: str = ""
    expires_in: int = 3600
    refuses: bool = False
    tokens: list[str] = field(default_factory=list)
    shown_to_resource: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    challenges: dict[str, str] = field(default_factory=dict)

    def issue(self) -> dict[str, object]:
        self.tokens.append(f"token-number-{len(self.tokens)}-of-this-server")
        refresh = f"refresh-number-{len(self.tokens)}-of-this-server"
        return {
            "access_token": self.tokens[-1],
            "token_type": "Bearer",
            "expires_in": self.expires_in,
            "refresh_token": refresh,
        }


class _Handler(BaseHTTPRequestHandler):
    login: Login

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, status: int, body: object = None, **headers: str) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))


class _Resource(_Handler):
    def do_GET(self) -> None:
        if self.path.startswith("/.well-known/oauth-protected-resource"):
            self.answer(200, {"resource": self.login.resource, "authorization_servers": [self.login.issuer]})
        else:
            self.answer(405)

    def do_DELETE(self) -> None:
        self.answer(200)

    def do_POST(self) -> None:
        message = json.loads(self.body())
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token:
            self.login.shown_to_resource.append(token)
        if token not in self.login.tokens[-1:]:
            self.answer(401, {}, WWW_Authenticate="Bearer")
        elif "id" not in message:
            self.answer(202)
        else:
            self.answer(200, {"jsonrpc": "2.0", "id": message["id"], **self.reply(message)})

    def reply(self, message: dict[str, Any]) -> dict[str, Any]:
        match message["method"]:
            case "initialize":
                info = {"name": "private", "version": "1"}
                return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
            case "tools/list":
                return {"result": {"tools": [TOOL]}}
            case "tools/call":
                return {"result": {"content": [{"type": "text", "text": "ada"}]}}
            case _:
                return {"error": {"code": -32601, "message": "not here"}}


class _Authorization(_Handler):
    def do_GET(self) -> None:
        found, login = urlsplit(self.path), self.login
        if found.path == "/.well-known/oauth-authorization-server":
            self.answer(
                200,
                {
                    "issuer": login.issuer,
                    "authorization_endpoint": f"{login.issuer}/authorize",
                    "token_endpoint": f"{login.issuer}/token",
                    "registration_endpoint": f"{login.issuer}/register",
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none"],
                },
            )
        elif found.path == "/authorize":
            asked = {name: words[0] for name, words in parse_qs(found.query).items()}
            login.challenges["the-code"] = asked["code_challenge"]
            back = {"error": "access_denied"} if login.refuses else {"code": "the-code", "state": asked["state"]}
            self.answer(302, Location=f"{asked['redirect_uri']}?{urlencode(back)}")
        else:
            self.answer(404)

    def do_POST(self) -> None:
        if self.path == "/register":
            self.answer(201, {**json.loads(self.body()), "client_id": "toolroll-here"})
            return
        form = {name: words[0] for name, words in parse_qs(self.body().decode()).items()}
        if form.get("grant_type") == "refresh_token":
            self.login.refreshed.append(form["refresh_token"])
            self.answer(200, self.login.issue())
            return
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        if form["code"] in self.login.challenges and digest == self.login.challenges[form["code"]]:
            self.answer(200, self.login.issue())
        else:
            self.answer(400, {"error": "invalid_grant"})


@contextmanager
def serve_login(**options: Any) -> Iterator[Login]:
    """Run both, each on a port of its own."""
    login = Login(**options)
    servers = []
    for kind in (_Resource, _Authorization):
        handler = type("Handler", (kind,), {"login": login})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
    login.resource = f"http://127.0.0.1:{servers[0].server_port}/mcp"
    login.issuer = f"http://127.0.0.1:{servers[1].server_port}"
    try:
        yield login
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
