"""A model that obeys whatever it reads: what an injected instruction would do if the model fell for it."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final

from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.messages import (
    AssistantMessage,
    Message,
    Origin,
    TextPart,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.models.model import Delta, ModelRequest, ModelResponse
from toolroll.models.scripted import Call, Line, ScriptedModel
from toolroll.models.settings import ModelSettings

_ORDER: Final = re.compile(r"CALL\s+(\S+)\s+(?=\{)")
_DECODER: Final = json.JSONDecoder()


class ObedientModel:
    """Finds `CALL name {json}` in what it was told last, by people and tools alike, and makes these calls.

    For tests of injection: whatever it asks for, nothing may happen that a person or a rule has not allowed.
    """

    def __init__(self, *, otherwise: str = "Nothing to obey.", origin: Origin | None = None) -> None:
        self._otherwise = otherwise
        self._model = ScriptedModel(self._obey, origin=origin or Origin(wire="chat", model="obedient"))

    @property
    def origin(self) -> Origin:
        """Return the name of this model."""
        return self._model.origin

    def check_settings(self, settings: ModelSettings, /) -> None:
        """Take any, as a script does."""

    @property
    def requests(self) -> list[tuple[Message, ...]]:
        """Return the messages of each request."""
        return self._model.requests

    def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield the calls that the conversation demands, or its own words where there are none."""
        return self._model.respond(request, stream=stream)

    def _obey(self, request: ModelRequest) -> Line:
        calls = [call for text in _read_new_texts(request.messages) for call in find_orders(text)]
        return calls or self._otherwise


def find_orders(text: str) -> Iterator[Call]:
    """Find the calls that a text demands, also those hidden in the strings of JSON."""
    for words in _readings(text):
        for order in _ORDER.finditer(words):
            try:
                arguments, _ = _DECODER.raw_decode(words, order.end())
            except ValueError:
                continue
            yield Call(order[1], arguments)


def _readings(text: str) -> Iterator[str]:
    try:
        waiting = [parse_json(text)]
    except JsonRefused:
        yield text
        return
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _read_new_texts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield all texts since the model's own last turn."""
    since: list[UserMessage | ToolResults] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            since = []
        else:
            since.append(message)
    for message in since:
        if isinstance(message, ToolResults):
            for result in message.results:
                yield from _texts(result)
        else:
            yield from (part.text for part in message.content if isinstance(part, TextPart))


def _texts(result: ToolMessage) -> Iterator[str]:
    if isinstance(result.content, str):
        yield result.content
    else:
        yield from (part.text for part in result.content if isinstance(part, TextPart))
