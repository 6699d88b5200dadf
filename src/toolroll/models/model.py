"""The model as the loop sees it: a request goes in, deltas may come out, one response ends it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from toolroll.kernel.data.messages import AssistantMessage, Message, Origin
from toolroll.kernel.data.usage import Usage
from toolroll.kernel.define.tool import ToolDefinition

DEFAULT_MAX_OUTPUT_TOKENS: Final = 16_384

Wire: TypeAlias = Literal["anthropic", "openai", "chat"]
"""The wire formats: Anthropic Messages, OpenAI Responses, Chat Completions and what is compatible with it."""

StopKind: TypeAlias = Literal[
    "end", "tool_calls", "max_tokens", "stop_sequence", "refusal", "pause", "context_full", "unknown"
]
"""Why a model stopped. `pause` means: send the same again, the provider is not done. Unknown words end the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearch:
    """The provider's own web search, offered like any other tool. `max_uses` is per request, as providers count."""

    max_uses: int = 5
    """The most searches in one request."""
    allowed_domains: tuple[str, ...] = ()
    """Only these domains."""
    blocked_domains: tuple[str, ...] = ()
    """None of these domains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of a model, in neutral words. `messages` is only ever appended to between the requests of one run."""

    messages: Sequence[Message]
    system: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    web_search: WebSearch | None = None
    tool_choice: Literal["auto", "none"] = "auto"
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    output_schema: Mapping[str, object] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    memo: dict[str, object] = field(default_factory=dict, compare=False, repr=False)
    """What a model wants to keep from one request of a run to the next, such as encoded messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse:
    """A finished turn: what was written, why it stopped, what it cost."""

    message: AssistantMessage
    stop: StopKind
    usage: Usage
    stop_detail: str = ""
    response_id: str = ""
    dropped: tuple[str, ...] = ()
    """The places of decorations (citations, sources) that could not be read and were left out."""


@dataclass(slots=True, kw_only=True)  # frozen would triple what one costs, and there are thousands
class TextDelta:
    """A piece of text, as it is written."""

    text: str


@dataclass(slots=True, kw_only=True)  # frozen would triple what one costs, and there are thousands
class ReasoningDelta:
    """A piece of thought, as it is written."""

    text: str


@dataclass(slots=True, kw_only=True)  # frozen would triple what one costs, and there are thousands
class CallDelta:
    """A piece of a call's arguments, as they arrive; `name` comes with the first."""

    call_id: str
    name: str
    arguments: str


Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta


class Model(Protocol):
    """Something that answers requests. Deltas come before the one response that ends the stream."""

    @property
    def origin(self) -> Origin:
        """Return which model answers, over which wire."""
        ...

    def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield deltas while the turn is written (with `stream`), then the whole response."""
        ...
