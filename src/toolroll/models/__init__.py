"""The models that an agent asks: one folder per wire format, and beside them those that need no provider."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolroll.models.fallback import FallbackModel as FallbackModel
    from toolroll.models.obedient import ObedientModel as ObedientModel
    from toolroll.models.recording import Recording as Recording
    from toolroll.models.recording import RecordingModel as RecordingModel
    from toolroll.models.recording import ReplayModel as ReplayModel
    from toolroll.models.scripted import Call as Call
    from toolroll.models.scripted import ScriptedModel as ScriptedModel
    from toolroll.models.settings import ModelSettings as ModelSettings

_HOMES = {
    "Call": "scripted",
    "FallbackModel": "fallback",
    "ModelSettings": "settings",
    "ObedientModel": "obedient",
    "Recording": "recording",
    "RecordingModel": "recording",
    "ReplayModel": "recording",
    "ScriptedModel": "scripted",
}

__all__ = [
    "Call",
    "FallbackModel",
    "ModelSettings",
    "ObedientModel",
    "Recording",
    "RecordingModel",
    "ReplayModel",
    "ScriptedModel",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: the wires, which are in this package too, need none of them."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolroll.models' has no attribute {name!r}")
    value: object = getattr(import_module(f"toolroll.models.{home}"), name)
    globals()[name] = value
    return value
