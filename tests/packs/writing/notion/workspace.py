"""Notion on loopback: pages, blocks and databases as the API of 2026-03-11 answers for them, with its limits.

with Workspace() as workspace:
    workspace.page(PAGE, "Title", [block, ...])
    workspace.faults.append(Fault(status=503))     # for the next request, in its place
    ...
    assert workspace.requests[0].path == f"/v1/pages/{PAGE}"
"""

import json
import threading
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

TOKEN = "ntn_canary0123456789canary0123456789canary0123"
PAGE = "0123abcd-0123-4567-89ab-0123456789ab"
DATABASE = "dddddddd-0000-4000-8000-000000000001"
SOURCE = "cccccccc-0000-4000-8000-000000000001"
EDITED = "2026-02-07T10:00:00.000Z"
COLUMNS = {
    "Title": "title",
    "Platform": "select",
    "Topic": "rich_text",
    "Status": "select",
    "Created": "date",
    "Profile": "rich_text",
}
Json: TypeAlias = Any


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An answer in place of the true one: `done` does first what was asked; `hang` waits until the server ends."""

    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b'{"object": "error", "code": "internal_server_error", "message": "Oops"}'
    done: bool = False
    hang: bool = False
    cut: bool = False


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    body: Json


class Refused(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class Workspace:
    """The server, between `with` and its end."""

    def __init__(self, *, page_size: int = 100) -> None:
        self.page_size = page_size
        self.pages: dict[str, Json] = {}
        self.children: dict[str, list[Json]] = {}
        self.sources: list[Json] = [{"id": SOURCE, "name": "Content Calendar"}]
        self.restricted: set[str] = set()
        self.faults: deque[Fault | None] = deque()
        self.requests: list[Asked] = []
        self.ended = threading.Event()
        self.on_hang: Callable[[], object] = lambda: None
        self._ids = 0
        workspace = self

        class Handler(_Handler):
            owner = workspace

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Workspace":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def page(self, page_id: str, title: str, blocks: list[Json]) -> None:
        rich = [{"type": "text", "plain_text": title, "text": {"content": title}}]
        properties = {"Tags": {"type": "multi_select"}, "Name": {"type": "title", "title": rich}}
        self.pages[page_id] = {"id": page_id, "properties": properties, "last_edited_time": EDITED, "in_trash": False}
        self.add(page_id, blocks)

    def add(self, parent: str, blocks: list[Json]) -> None:
        """Keep blocks as Notion does: each with an id, its children apart."""
        kept = self.children.setdefault(parent, [])
        for block in blocks:
            kind = block["type"]
            body = dict(block[kind])
            inner = body.pop("children", [])
            self._ids += 1
            block_id = str(uuid.UUID(int=self._ids))
            for one in body.get("rich_text", []):
                one.setdefault("plain_text", one.get("text", {}).get("content", ""))
            kept.append({"object": "block", "id": block_id, "type": kind, "has_children": bool(inner), kind: body})
            self.add(block_id, inner)

    def tree(self, parent: str) -> list[Json]:
        """The blocks of a page with their children, as they were sent."""
        whole = []
        for block in self.children.get(parent, []):
            kind, inner = block["type"], self.tree(block["id"])
            rich = [{k: v for k, v in one.items() if k != "plain_text"} for one in block[kind].get("rich_text", [])]
            body = block[kind] | ({"rich_text": rich} if "rich_text" in block[kind] else {})
            whole.append({"type": kind, kind: body | ({"children": inner} if inner else {})})
        return whole

    def answer(self, asked: Asked) -> Json:
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            raise Refused(401, "unauthorized", f"API token {asked.headers.get('authorization')} is invalid.")
        if asked.headers.get("notion-version") != "2026-03-11":
            raise Refused(400, "missing_version", "Notion-Version header should be '2026-03-11'.")
        kind, _, rest = asked.path.removeprefix("/v1/").partition("/")
        name = rest.partition("/")[0]
        if name in self.restricted:
            raise Refused(403, "restricted_resource", "Insufficient permissions for this endpoint.")
        match asked.method, kind:
            case "GET", "pages" if name in self.pages:
                return self.pages[name]
            case "GET", "blocks" if name in self.children:
                return self._listed(name, asked.query)
            case "GET", "databases" if name == DATABASE:
                return {"object": "database", "id": DATABASE, "data_sources": self.sources}
            case "POST", "pages":
                return self._made(asked.body)
            case "PATCH", "blocks" if name in self.children:
                check_blocks(asked.body["children"])
                self.add(name, asked.body["children"])
                return {"object": "list", "results": []}
            case "PATCH", "pages" if name in self.pages:
                self.pages[name] |= asked.body
                return self.pages[name]
        raise Refused(404, "object_not_found", f"Could not find {kind} with ID: {name}.")

    def _listed(self, parent: str, query: dict[str, list[str]]) -> Json:
        start = int(query.get("start_cursor", ["0"])[0])
        end = start + min(self.page_size, int(query["page_size"][0]))
        found = self.children[parent]
        more = end < len(found)
        return {"results": found[start:end], "has_more": more, "next_cursor": str(end) if more else None}

    def _made(self, body: Json) -> Json:
        if body["parent"] != {"type": "data_source_id", "data_source_id": SOURCE}:
            raise Refused(404, "object_not_found", "Could not find data source.")
        wrong = {name: value for name, value in body["properties"].items() if list(value) != [COLUMNS.get(name)]}
        if wrong:
            raise Refused(400, "validation_error", f"{sorted(wrong)} is not a property that exists.")
        for value in body["properties"].values():
            check_rich(next(iter(value.values())) if "select" not in value and "date" not in value else [])
        check_blocks(body["children"])
        page_id = f"aaaaaaaa-0000-4000-8000-{len(self.pages):012}"
        self.pages[page_id] = body | {"id": page_id, "url": f"https://www.notion.so/{page_id}", "in_trash": False}
        self.children[page_id] = []
        self.add(page_id, body["children"])
        return self.pages[page_id]


def check_blocks(blocks: list[Json], level: int = 1) -> None:
    """Refuse what Notion refuses."""
    if len(blocks) > 100:
        raise Refused(400, "validation_error", f"children.length should be <= 100, instead was {len(blocks)}.")
    for block in blocks:
        body = block[block["type"]]
        check_rich(body.get("rich_text", []))
        if "children" in body:
            if level == 3:
                raise Refused(400, "validation_error", "children should be not present.")
            check_blocks(body["children"], level + 1)


def check_rich(rich: list[Json]) -> None:
    if len(rich) > 100:
        raise Refused(400, "validation_error", "rich_text.length should be <= 100.")
    for one in rich:
        length = len(one["text"]["content"].encode("utf-16-le")) // 2
        if length > 2_000:
            raise Refused(400, "validation_error", f"text.content.length should be <= 2000, instead was {length}.")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Workspace

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urlsplit(self.path)
        asked = Asked(
            method=self.command,
            path=url.path,
            query=parse_qs(url.query),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=json.loads(raw) if raw else None,
        )
        self.owner.requests.append(asked)
        fault = self.owner.faults.popleft() if self.owner.faults else None
        if fault is None:
            status, body = self._true(asked, len(raw))
            return self._send(status, body, {})
        if fault.done:
            self._true(asked, len(raw))
        if fault.hang:
            self.owner.on_hang()
            self.owner.ended.wait()
            self.close_connection = True
            return None
        return self._send(fault.status, fault.body, fault.headers, cut=fault.cut)

    def _true(self, asked: Asked, size: int) -> tuple[int, bytes]:
        try:
            if size > 500_000:
                raise Refused(413, "validation_error", "Payload too large.")
            return 200, json.dumps(self.owner.answer(asked)).encode()
        except Refused as no:
            told = {"object": "error", "status": no.status, "code": no.code, "message": no.message}
            return no.status, json.dumps(told).encode()

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], *, cut: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + cut))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = cut
