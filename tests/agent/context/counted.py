"""A scripted model that counts what it is sent, as a provider does, and writes a summary when it is asked for one."""

from collections.abc import Callable, Sequence
from typing import Final

from toolroll.agent.context.summary import INSTRUCTION
from toolroll.agent.loop.budget import tokens_of
from toolroll.errors import ModelError
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    TextBlock,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import ModelRequest, ModelResponse, StopKind
from toolroll.models.scripted import Call, ScriptedModel

SUMMARY: Final = "## Decisions\n- Use metric units.\n\n## Summary\nSome records were read."


class Counted:
    """`turns(number, request)` says what comes next; `summaries` are used up, the last one again and again."""

    def __init__(
        self,
        turns: Callable[[int, ModelRequest], str | Call],
        *,
        summaries: Sequence[str | ModelResponse | ModelError] = (SUMMARY,),
        characters_per_token: float = 4.0,
    ) -> None:
        self._turns = turns
        self._summaries = list(summaries)
        self._scale = 4.0 / characters_per_token
        self.sizes: list[int] = []
        self.asked_for_summary: list[ModelRequest] = []
        self.number = 0
        self.model = ScriptedModel(self._next)

    def _next(self, request: ModelRequest) -> ModelResponse | ModelError:
        size = self.size_of(request)
        self.sizes.append(size)
        if text_of(request.messages[-1]) == INSTRUCTION:
            self.asked_for_summary.append(request)
            said = self._summaries.pop(0) if len(self._summaries) > 1 else self._summaries[0]
            return said if isinstance(said, (ModelResponse, ModelError)) else response(said, size)
        self.number += 1
        turn = self._turns(self.number, request)
        return response(turn, size, call_id=f"call_{self.number}")

    def size_of(self, request: ModelRequest) -> int:
        """What a provider would count: the messages, the system text, the tools."""
        head = len(request.system) + sum(len(tool.description + dump_json(tool.parameters)) for tool in request.tools)
        return round(self._scale * (sum(map(tokens_of, request.messages)) + head / 4))


def response(turn: str | Call, size: int, *, call_id: str = "", stop: StopKind | None = None) -> ModelResponse:
    """A turn with what it cost."""
    block: TextBlock | CallBlock
    if isinstance(turn, str):
        block = TextBlock(text=turn)
    else:
        block = CallBlock(
            call=ToolCall(id=turn.id or call_id, name=turn.name, arguments=dump_json(turn.arguments or {}))
        )
    usual: StopKind = "end" if isinstance(turn, str) else "tool_calls"
    usage = Usage(input_tokens=size, output_tokens=10, requests=1)
    return ModelResponse(message=AssistantMessage(blocks=(block,)), stop=stop or usual, usage=usage)


def text_of(message: Message) -> str:
    """What the user, or somebody in their place, said."""
    parts = message.content if isinstance(message, UserMessage) else ()
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def results_in(messages: Sequence[Message]) -> list[ToolMessage]:
    """All tool results, in order."""
    return [one for message in messages if isinstance(message, ToolResults) for one in message.results]
