"""Ask a model server on this machine how much its model reads: llama.cpp, vLLM, LM Studio and Ollama say so.

Only servers on loopback are asked, once, before the first request, and for a moment: one that does not answer, or in
other words, leaves everything as it is. Nothing of a prompt is sent.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from typing import Any, Final
from urllib.parse import quote, urlsplit

from toolroll.safe.net.urls import is_loopback

ASK_S: Final = 1.0
MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""The template of a model, and all its metadata, are in the answers too."""
LEAST_WINDOW_TOKENS: Final = 512
MOST_WINDOW_TOKENS: Final = 100_000_000
_OK: Final = 200


def ask_window(url: str, model: str) -> int | None:
    """Return how many tokens the model at this address reads; None where nobody says so, or it is another machine."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or not is_loopback(url):
        return None
    above = parts.path.rstrip("/").removesuffix("/v1")
    for read in _read_answers(parts.hostname, parts.port or 80, above, model):
        if read is not None and LEAST_WINDOW_TOKENS <= read <= MOST_WINDOW_TOKENS:
            return read
    return None


def _read_answers(host: str, port: int, above: str, model: str) -> Iterator[int | None]:
    """Ask the one question after the other; nothing more is asked of a server that cannot be reached."""
    name = quote(model, safe="")
    questions: Sequence[tuple[str, str, Mapping[str, str] | None]] = (
        ("GET", "/props", None),
        ("GET", "/v1/models", None),
        ("POST", "/api/show", {"model": model}),
        ("GET", f"/api/v0/models/{name}", None),
    )
    for method, path, body in questions:
        try:
            answer = _ask(host, port, method, above + path, body)
        except (OSError, HTTPException):
            return
        yield _find_window(answer, model)


def _ask(host: str, port: int, method: str, path: str, body: Mapping[str, str] | None) -> Mapping[str, Any]:
    connection = HTTPConnection(host, port, timeout=ASK_S)
    try:
        sent = None if body is None else json.dumps(body).encode()
        connection.request(method, path, sent, {"content-type": "application/json"})
        answer = connection.getresponse()
        said = answer.read(MAX_ANSWER_BYTES) if answer.status == _OK else b"{}"
    finally:
        connection.close()
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _find_window(answer: Mapping[str, Any], model: str) -> int | None:
    """Return the window that an answer names, whichever server gave it."""
    match answer:
        case {"default_generation_settings": {"n_ctx": int(window)}}:  # llama.cpp
            return window
        case {"data": [*models]}:  # vLLM
            return next((_model_length(one) for one in models if _is_named(one, model)), None)
        case {"loaded_context_length": int(window)} | {"max_context_length": int(window)}:  # LM Studio
            return window
        case {"model_info": dict(info)}:  # Ollama, which reads less than the model could unless it is told otherwise
            return _own_length(answer.get("parameters")) or next(
                (value for key, value in info.items() if str(key).endswith(".context_length") and _is_count(value)),
                None,
            )
    return None


def _is_named(one: object, model: str) -> bool:
    return isinstance(one, Mapping) and one.get("id") == model


def _model_length(one: Mapping[str, Any]) -> int | None:
    length = one.get("max_model_len")
    return length if _is_count(length) else None


def _own_length(parameters: object) -> int | None:
    """Return `num_ctx` of the parameters of a model in Ollama, which are lines of a name and a value."""
    lines = (line.split() for line in parameters.splitlines()) if isinstance(parameters, str) else ()
    found = [line[1] for line in lines if len(line) == 2 and line[0] == "num_ctx"]  # noqa: PLR2004 - name and value
    return int(found[0]) if found and found[0].isascii() and found[0].isdigit() else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
