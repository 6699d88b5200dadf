"""Choose the model of an example: its script, or the one that `--model` names."""

import sys

from toolroll import ScriptedModel
from toolroll.models.model import Model


def choose_model(script: ScriptedModel) -> Model | str:
    """Return the model that is named on the command line, or else the script."""
    return sys.argv[sys.argv.index("--model") + 1] if "--model" in sys.argv else script
