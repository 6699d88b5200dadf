"""How the tests ask a model, and what they ask."""

from collections.abc import Iterable

from toolroll.kernel.data.messages import AssistantMessage, Message, Part, ToolMessage, ToolResults, UserMessage
from toolroll.kernel.define.tool import ToolDefinition
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse, TextDelta

ADD = ToolDefinition(
    name="add",
    description="Adds two numbers.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 0}},
        "required": ["a"],
        "additionalProperties": False,
    },
)


def user(text: str = "hello") -> UserMessage:
    return UserMessage.of(text)


def results(turn: AssistantMessage, content: str | tuple[Part, ...] = "3", *, is_error: bool = False) -> ToolResults:
    """An answer to every call of a turn."""
    return ToolResults(
        results=tuple(
            ToolMessage(call_id=call.id, name=call.name, content=content, is_error=is_error) for call in turn.calls
        )
    )


async def ask(model: Model, *messages: Message, stream: bool = False, **options: object) -> ModelResponse:
    """The response alone."""
    response, _ = await ask_all(model, *messages, stream=stream, **options)
    return response


async def ask_all(
    model: Model, *messages: Message, stream: bool = True, **options: object
) -> tuple[ModelResponse, list[Delta]]:
    """The response, and the deltas before it."""
    request = ModelRequest(messages=messages or (user(),), **options)  # type: ignore[arg-type]  # as the test says
    pieces = [piece async for piece in model.respond(request, stream=stream)]
    *deltas, response = pieces
    assert isinstance(response, ModelResponse)
    return response, [delta for delta in deltas if not isinstance(delta, ModelResponse)]


def text_of(deltas: Iterable[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
