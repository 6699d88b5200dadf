"""The model as the loop sees it: a request goes in, deltas may come out, one response ends it."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeAlias

from toolroll.kernel.data.messages import AssistantMessage, Message, Origin
from toolroll.kernel.data.usage import Usage
from toolroll.kernel.define.tool import ToolDefinition
from toolroll.models.settings import ModelSettings

DEFAULT_MAX_OUTPUT_TOKENS: Final = 16_384

FIRST_BYTE_S: Final = 120.0
LOCAL_FIRST_BYTE_S: Final = 600.0
"""From a server on this machine: without a graphics card, a long prompt alone is read for minutes."""

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
class Timeouts:
    """How many seconds a model may take before it is given up."""

    connect_s: float = 10.0
    """For the connection. It holds for models that are named; one that is handed over keeps that of its transport."""
    start_s: float = 120.0
    """For a server on this machine that refuses connections, or still loads its model."""
    first_byte_s: float | None = None
    """For the first byte of a streamed answer: 120 if not set, 600 from a server on this machine."""
    gap_s: float = 120.0
    """Between two bytes of an answer."""
    content_s: float = 600.0
    """Without content, although other bytes come, such as pings; and for an answer that is not streamed."""
    turn_s: float = 1_800.0
    """For one whole answer."""

    @property
    def first_byte(self) -> float:
        """Return the limit for the first byte."""
        return FIRST_BYTE_S if self.first_byte_s is None else self.first_byte_s

    def filled_from(self, model: "Timeouts") -> "Timeouts":
        """Return these limits, with that of the model for the first byte where it is not set."""
        return self if self.first_byte_s is not None else replace(self, first_byte_s=model.first_byte_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWait:
    """A model is being waited for. Both times count from the last content, or else from the request."""

    waited_s: float
    limit_s: float
    """When it is given up, if nothing comes until then."""
    is_starting: bool = False
    """Whether it is its server that is not ready yet."""


OnWait: TypeAlias = Callable[[ModelWait], None]
"""Is called while a model is waited for: after 5 seconds, and then each time that the wait is twice as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of a model, in neutral words. `messages` is only ever appended to between the requests of one run."""

    messages: Sequence[Message]
    system: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    web_search: WebSearch | None = None
    tool_choice: str = "auto"
    """`auto`, `none`, `required`, or the name of a tool that must be called."""
    settings: ModelSettings | None = None
    """What else is asked of the model; its choice of tools and its output limit are in the fields beside it."""
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    output_schema: Mapping[str, object] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    timeouts: Timeouts | None = field(default=None, compare=False)
    """Time limits that differ from the model's own."""
    on_wait: OnWait | None = field(default=None, compare=False, repr=False)
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
    has_text_calls: bool = False
    """Whether calls were asked for as the server makes them, and were found in the text."""


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


@dataclass(slots=True, kw_only=True)  # frozen would triple what one costs, and there are thousands
class HeldDelta:
    """A piece that cannot be shown yet: it may turn out to be a call. Whatever it is comes once more when it is."""

    text: str


Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta | HeldDelta


class Model(Protocol):
    """Something that answers requests. Deltas come before the one response that ends the stream."""

    @property
    def origin(self) -> Origin:
        """Return which model answers, over which wire."""
        ...

    def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """Yield deltas while the turn is written (with `stream`), then the whole response."""
        ...
