"""A model on this machine: a GGUF file, and llama.cpp's own server, which the extra `local` brings along.

No key, no network: the server listens on loopback, in this process, from the first question on.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final

from toolroll.errors import ProviderFailed, UsageError
from toolroll.models.catalog import ModelLimits
from toolroll.models.chat.request import ChatOptions
from toolroll.models.clock import running_loop
from toolroll.models.reply import Reply
from toolroll.models.small import SmallModel
from toolroll.models.transport import HttpTransport
from toolroll.safe.paths.os_errors import os_errors

_MAGIC: Final = b"GGUF"
_LIBRARY: Final = "xllamacpp"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """How a local model is run."""

    window_tokens: int = 8_192
    """Kept in memory as a whole: about 1 GB for a model of 1.5 billion parameters, with its weights."""
    max_output_tokens: int = 2_048
    threads: int | None = None
    """One less than there are cores, if not set: on a busy machine as many threads as cores were six times slower."""


def local_model(path: str, *, options: LocalOptions | None = None, chat: ChatOptions | None = None) -> SmallModel:
    """Return the model in that file without loading it yet; raise at once if the file or the extra is missing."""
    options = options or LocalOptions()
    file = Path(path).expanduser()
    _check(file)
    limits = ModelLimits(window_tokens=options.window_tokens, max_output_tokens=options.max_output_tokens)
    return SmallModel(file.name, transport=LocalTransport(file, options), limits=limits, options=chat)


def _check(file: Path) -> None:
    if find_spec(_LIBRARY) is None:
        raise UsageError("Models on this machine need the extra: pip install 'toolroll[local]'. Or use ollama:NAME.")
    if not file.is_file():
        raise UsageError(f"There is no model '{file}'. Name a file: local:/path/to/model.gguf.")
    with os_errors(str(file)), file.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise UsageError(f"'{file}' is no GGUF file, which is what llama.cpp runs.")


def threads_of(options: LocalOptions) -> int:
    """Return how many threads the model may use."""
    return options.threads or max(1, (os.cpu_count() or 1) - 1)


class LocalTransport:
    """Starts the server with the first request, and keeps it: loading a model takes longer than asking it."""

    is_local: Final = True

    def __init__(self, file: Path, options: LocalOptions) -> None:
        self._file = file
        self._options = options
        self._lock = Lock()
        self._server: Any = None
        self._http: HttpTransport | None = None

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """Send the request to the server, which is started if it is not there."""
        http = self._http
        if http is None:
            http = await running_loop().run_in_executor(None, self._start)
        async with http.post(path, headers=headers, body=body) as reply:
            yield reply

    async def aclose(self) -> None:
        """Close the connections; the model stays loaded as long as somebody holds it."""
        if self._http is not None:
            await self._http.aclose()

    def _start(self) -> HttpTransport:
        with self._lock:
            if self._http is None:
                self._server = _serve(self._file, self._options)
                self._http = HttpTransport(f"{self._server.listening_address}/v1")
            return self._http


def _serve(file: Path, options: LocalOptions) -> Any:
    library: Any = import_module(_LIBRARY)
    settings = library.CommonParams()
    settings.model.path = str(file)
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.n_ctx, settings.n_parallel = options.window_tokens, 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads_of(options)
    settings.verbosity = -1
    try:
        return library.Server(settings)
    except (RuntimeError, ValueError) as error:
        raise ProviderFailed(f"llama.cpp cannot run '{file}': {error}.") from error
