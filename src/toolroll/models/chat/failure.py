"""The errors of compatible servers in the words of our taxonomy."""

from collections.abc import Mapping

from toolroll.errors import ModelError
from toolroll.models.failures import ErrorBody
from toolroll.models.openai import failure as openai

PROVIDER = "The model server"


def failure(status: int | None, headers: Mapping[str, str], error: ErrorBody) -> ModelError:
    """The error behind an answer that was none."""
    return openai.failure(status, headers, error, provider=PROVIDER)
