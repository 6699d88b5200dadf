"""Check that the description of a tool is the same bytes each time: here, and in another process."""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool
from toolroll.testing.report import Finding, Outcome

if TYPE_CHECKING:
    from subprocess import CompletedProcess

CHILD_TIMEOUT_S: Final = 60.0

_CHILD: Final = "import sys; from toolroll.testing.stability import describe_in_child; describe_in_child(sys.argv[1:])"
_WHY: Final = "Prompt caches depend on it: sort what comes from a set, and take nothing from the clock or from chance."


def description_bytes(tool: Tool) -> bytes:
    """Return what a model is told about the tool, as it is sent."""
    return dump_json([tool.name, tool.description, tool.parameters]).encode()


def check_bytes(tool: Tool) -> Outcome:
    """Check that two descriptions are the same bytes; if the tool can be imported, also under another hash seed."""
    first, second = description_bytes(tool), description_bytes(tool)
    if first != second:
        return _problem("described twice, it reads differently", first, second)
    homes = import_paths(tool)
    if not homes:
        return Outcome(held="bytes: the same twice; another process was not asked, for no module has this tool by name")
    child = _child(homes)
    if child.returncode != 0:
        reason = child.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return Outcome(held=f"bytes: the same twice; another process could not say ({' '.join(reason)})")
    if child.stdout != first:
        return _problem("another process, with other hashes, describes it differently", first, child.stdout)
    return Outcome(held="bytes: the same twice, and in another process")


def import_paths(tool: Tool) -> list[str]:
    """Return where the tool can be imported from, as `module:name`, the defining module first."""
    own = getattr(tool.core, "__module__", None)
    found = [
        f"{module}:{name}"
        for module, loaded in list(sys.modules.items())
        for name, value in list(getattr(loaded, "__dict__", {}).items())
        if value is tool and module != "__main__"
    ]
    return sorted(found, key=lambda home: home.partition(":")[0] != own)


def describe_in_child(homes: list[str]) -> None:
    """Write the description of the tool that the first importable home holds."""
    for home in homes:
        module, _, name = home.partition(":")
        try:
            tool = getattr(import_module(module), name)
        except ImportError:
            continue
        sys.stdout.buffer.write(description_bytes(tool))
        return
    sys.exit(f"none of these can be imported by name: {', '.join(homes)}")


def _child(homes: list[str]) -> "CompletedProcess[bytes]":
    import subprocess  # noqa: PLC0415 - only needed here, and dear

    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    paths = os.pathsep.join(path or "." for path in sys.path)
    return subprocess.run(  # noqa: S603 - our own interpreter, and modules that are loaded here already
        [sys.executable, "-c", _CHILD, *homes],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        capture_output=True,
        timeout=CHILD_TIMEOUT_S,
        check=False,
    )


def _problem(text: str, first: bytes, other: bytes) -> Outcome:
    at = next(
        (place for place, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other))
    )
    shown = [text[max(0, at - 20) : at + 40].decode(errors="replace") for text in (first, other)]
    problem = Finding(check="bytes", text=f"{text}, from ...{shown[0]}... to ...{shown[1]}.... {_WHY}")
    return Outcome(held="", problems=(problem,))
