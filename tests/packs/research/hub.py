"""GitHub on loopback: what its Contents API answers for files, folders, links, submodules and large files.

with Hub() as hub:
    hub.put("ideas/a.md", b"text")
    hub.faults.append(Fault(status=503))     # for the next request, in its place
    ...
    assert hub.requests[0].path == "/repos/octo/research/contents/ideas/a.md"
"""

import base64
import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

REPOSITORY = "octo/research"
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
INLINE_BYTES = 1_048_576
Json: TypeAlias = Any


@dataclass(frozen=True, kw_only=True)
class Node:
    """What is at a path: a file with its bytes, a link with its target, a submodule with its address."""

    kind: Literal["file", "symlink", "submodule"] = "file"
    data: bytes = b""

    @property
    def sha(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An answer that is given in place of the true one; `lost` does what was asked, and then gives it."""

    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b'{"message": "Server Error"}'
    lost: bool = False
    cut: bool = False


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    body: Json


class Hub:
    """The server, between `with` and its end; `branches` has the files of each branch."""

    def __init__(self, *, token: str | None = None, wrapped: bool = True) -> None:
        self.token = token
        self.wrapped = wrapped
        self.branches: dict[str, dict[str, Node]] = {"main": {}}
        self.faults: deque[Fault] = deque()
        self.requests: list[Asked] = []
        self.commits: list[str] = []
        self.change: Callable[[Json], Json] = lambda answer: answer
        hub = self

        class Handler(_Handler):
            owner = hub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def put(self, path: str, data: bytes = b"", *, kind: Literal["file", "symlink", "submodule"] = "file") -> None:
        self.branches["main"][path] = Node(kind=kind, data=data)

    def __enter__(self) -> "Hub":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, asked: Asked) -> tuple[int, Json]:
        """The status and the body of the true answer."""
        if self.token is not None and asked.headers.get("authorization") != f"Bearer {self.token}":
            return 401, {"message": "Bad credentials"}
        base = f"/repos/{REPOSITORY}/"
        if not asked.path.startswith(base):
            return 404, {"message": "Not Found"}
        kind, _, rest = asked.path.removeprefix(base).partition("/")
        if asked.method == "PUT":
            return self._put(unquote(rest), asked.body)
        if kind == "contents":
            return self._contents(unquote(rest), asked.query.get("ref", ["main"])[0])
        what, _, sha = rest.partition("/")
        return self._blob(sha) if what == "blobs" else self._tree(sha, recursive="recursive" in asked.query)

    def _contents(self, path: str, ref: str) -> tuple[int, Json]:
        files = self.branches.get(ref)
        if files is None:
            return 404, {"message": f"No commit found for the ref {ref}"}
        if not files:
            return 404, {"message": "This repository is empty."}
        if path in files:
            return self._item(path, files)
        inside = {one.removeprefix(path).lstrip("/").partition("/")[0] for one in files if _is_below(one, path)}
        if not inside:
            return 404, {"message": "Not Found"}
        return 200, [self._entry(f"{path}/{name}".lstrip("/"), files) for name in sorted(inside)]

    def _item(self, path: str, files: Mapping[str, Node]) -> tuple[int, Json]:
        node = files[path]
        if node.kind == "symlink":
            target = node.data.decode()
            if target not in files:
                return 200, self._entry(path, files) | {"target": target}
            path, node = target, files[target]
        content = {} if node.kind == "submodule" else self._content(node.data)
        return 200, self._entry(path, files) | content

    def _content(self, data: bytes) -> Json:
        if len(data) > INLINE_BYTES:
            return {"content": "", "encoding": "none"}
        text = base64.b64encode(data).decode()
        if self.wrapped:
            text = "".join(f"{text[start : start + 60]}\n" for start in range(0, len(text), 60))
        return {"content": text, "encoding": "base64"}

    def _entry(self, path: str, files: Mapping[str, Node]) -> Json:
        node = files.get(path)
        entry = {"name": path.rpartition("/")[2], "path": path}
        if node is None:
            return entry | {"type": "dir", "size": 0, "sha": _tree_sha(path)}
        return entry | {"type": node.kind, "size": len(node.data), "sha": node.sha}

    def _blob(self, sha: str) -> tuple[int, Json]:
        found = [node.data for node in self.branches["main"].values() if node.sha == sha]
        return (200, found[0]) if found else (404, {"message": "Not Found"})

    def _tree(self, sha: str, *, recursive: bool) -> tuple[int, Json]:
        files = {one.removeprefix("ideas/"): node for one, node in self.branches["main"].items() if "ideas/" in one}
        assert sha == _tree_sha("ideas")
        folders = {one.rpartition("/")[0] for one in files if "/" in one}
        kinds = {"file": "blob", "symlink": "blob", "submodule": "commit"}
        modes = {"file": "100644", "symlink": "120000", "submodule": "160000"}
        nodes = [{"path": one, "type": kinds[node.kind], "mode": modes[node.kind]} for one, node in files.items()]
        nodes += [{"path": one, "type": "tree"} for one in folders]
        return 200, {"tree": [one for one in nodes if recursive or "/" not in one["path"]], "truncated": False}

    def _put(self, path: str, body: Json) -> tuple[int, Json]:
        files = self.branches.get(body.get("branch", "main"))
        if files is None:
            return 404, {"message": f"Branch {body['branch']} not found"}
        known = files.get(path)
        if known is not None and "sha" not in body:
            return 422, {"message": 'Invalid request.\n\n"sha" wasn\'t supplied.'}
        if known is not None and body["sha"] != known.sha:
            return 409, {"message": f"{path} does not match {body['sha']}"}
        files[path] = Node(data=base64.b64decode(body["content"], validate=True))
        self.commits.append(body["message"])
        return 200 if known else 201, {"content": self._entry(path, files)}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Hub

    def do_GET(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urlsplit(self.path)
        body = json.loads(raw) if raw else None
        asked = Asked(
            method=self.command,
            path=url.path,
            query=parse_qs(url.query),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        self.owner.requests.append(asked)
        fault = self.owner.faults.popleft() if self.owner.faults else None
        if fault is not None:
            if fault.lost:
                self.owner.answer(asked)
            return self._send(fault.status, fault.body, fault.headers, cut=fault.cut)
        status, answer = self.owner.answer(asked)
        answer = self.owner.change(answer)
        return self._tell(asked, status, answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def _tell(self, asked: Asked, status: int, body: bytes) -> None:
        etag = f'W/"{hashlib.sha1(body).hexdigest()}"'
        if asked.headers.get("if-none-match") == etag:
            return self._send(304, b"", {"ETag": etag})
        return self._send(status, body, {"ETag": etag} if status == 200 and asked.method == "GET" else {})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], *, cut: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body) + cut))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = cut


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _tree_sha(path: str) -> str:
    return hashlib.sha1(b"tree " + path.encode()).hexdigest()
