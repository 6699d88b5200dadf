"""A server on this machine says how much its model reads; one that does not is left alone (A51)."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from toolroll.models.connect import ConnectSettings, connect
from toolroll.models.server_limits import ask_window


@contextmanager
def server(answers: Mapping[str, object]) -> Iterator[str]:
    """Serve these answers by path; anything else is not found."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            found = answers.get(self.path)
            said = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base
            """Say nothing."""

    made = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_port}/v1"
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


LLAMA = {"/props": {"default_generation_settings": {"n_ctx": 8192}, "chat_template": "x"}}
VLLM = {"/v1/models": {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 32768}]}}
OLLAMA = {"/v1/models": {"data": [{"id": "m"}]}, "/api/show": {"model_info": {"qwen2.context_length": 32768}}}
TOLD = {"/api/show": {"model_info": {"qwen2.context_length": 32768}, "parameters": "stop x\nnum_ctx   4096"}}
STUDIO = {"/api/v0/models/m": {"id": "m", "loaded_context_length": 6000}}
STRANGE = {"/props": {"default_generation_settings": {"n_ctx": -1}}, "/v1/models": b"{", "/api/show": [1]}


@pytest.mark.parametrize(
    ("answers", "window"),
    [(LLAMA, 8192), (VLLM, 32768), (OLLAMA, 32768), (TOLD, 4096), (STUDIO, 6000), (STRANGE, None), ({}, None)],
    ids=["llama.cpp", "vllm", "ollama", "ollama told", "lm studio", "strange", "nothing"],
)
def test_A51_a_server_here_is_asked_for_the_window_of_its_model(
    answers: Mapping[str, object], window: int | None
) -> None:
    with server(answers) as url:
        assert ask_window(url, "m") == window
        made = connect(f"openai-compatible:m@{url}", environment={}, settings=ConnectSettings(asks_server=True))
    assert (made.limits and made.limits.window_tokens) == window


def test_A51_nobody_else_is_asked_and_a_set_window_counts() -> None:
    assert ask_window("http://models.example/v1", "m") is None
    assert ask_window("https://127.0.0.1/v1", "m") is None
    assert ask_window("http://127.0.0.1:9/v1", "m") is None
    with server(LLAMA) as url:
        wishes = ConnectSettings(asks_server=True, window_tokens=2048)
        made = connect(f"openai-compatible:m@{url}", environment={}, settings=wishes)
    assert made.limits is not None
    assert made.limits.window_tokens == 2048
