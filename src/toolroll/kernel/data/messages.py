"""The messages of a conversation as plain data, in terms that no provider owns: turns, calls, results, parts.

Every block of a model's turn keeps the provider's own JSON beside its neutral form (`raw`). To the model that wrote it,
the block goes back unchanged: signatures, encrypted content and block types we have never heard of survive. Another
model gets only the neutral form, and what has none is left out and named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A piece of text."""

    text: str
    """The text."""
    type: Literal["text"] = "text"
    """Always `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image, whole, with its media type (`image/png`, `image/jpeg`, ...)."""

    data: bytes
    """The bytes of the image."""
    media_type: str
    """Its media type, such as `image/png`."""
    type: Literal["image"] = "image"
    """Always `image`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """A document, whole, with its media type (`application/pdf`, `text/plain`, ...)."""

    data: bytes
    """The bytes of the document."""
    media_type: str
    """Its media type, such as `application/pdf`."""
    title: str | None = None
    """A title that the model sees."""
    type: Literal["document"] = "document"
    """Always `document`."""


Part: TypeAlias = TextPart | ImagePart | DocumentPart


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's request to run a tool: `arguments` is the JSON text exactly as it came."""

    id: str
    """The id that the model gave the call."""
    name: str
    """The name of the tool."""
    arguments: str
    """The arguments as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRef:
    """Where the whole of a tool's output is kept."""

    id: str
    byte_size: int
    line_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The answer to one `ToolCall`, as a model reads it."""

    call_id: str
    """The call that it answers."""
    name: str
    """The name of the tool."""
    content: str | tuple[Part, ...]
    """What the model reads."""
    is_error: bool = False
    """Whether the call failed."""
    output_ref: OutputRef | None = None
    """Where the whole output is stored."""


RawBlock: TypeAlias = Mapping[str, object]
"""A provider's block exactly as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Which model wrote a message, and over which wire format: a name that only the models interpret."""

    wire: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a statement comes from."""

    url: str
    title: str = ""
    cited_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Text a model wrote, with the sources it cites."""

    text: str
    citations: tuple[Citation, ...] = ()
    raw: RawBlock | None = None
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningBlock:
    """What a model thought aloud; signed for that model, worthless to any other."""

    text: str
    raw: RawBlock | None = None
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBlock:
    """A call of one of our tools."""

    call: ToolCall
    raw: RawBlock | None = None
    type: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBlock:
    """Something the provider did on its own side, such as a web search: a call, or what it found.

    `summary` is what another model may be told of it, `queries` what was searched for.
    """

    kind: Literal["call", "result"]
    tool: str
    summary: str
    sources: tuple[Citation, ...] = ()
    queries: tuple[str, ...] = ()
    raw: RawBlock | None = None
    type: Literal["server"] = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownBlock:
    """A block of a kind we do not know: kept, and sent back to its own provider untouched."""

    raw: RawBlock
    type: Literal["unknown"] = "unknown"


AssistantBlock: TypeAlias = TextBlock | ReasoningBlock | CallBlock | ServerBlock | UnknownBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """What a person (or the program in their name) says. What is `pinned` stays when the conversation is compacted.

    One with `is_summary` takes the place of an earlier conversation: a model wrote it.
    """

    content: tuple[Part, ...]
    pinned: bool = False
    is_summary: bool = False
    role: Literal["user"] = "user"

    @classmethod
    def of(cls, content: "str | Sequence[Part]", *, pinned: bool = False, is_summary: bool = False) -> "UserMessage":
        """Make a message from plain text or from parts."""
        parts = (TextPart(text=content),) if isinstance(content, str) else tuple(content)
        return cls(content=parts, pinned=pinned, is_summary=is_summary)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """One turn of a model."""

    blocks: tuple[AssistantBlock, ...]
    origin: Origin | None = None
    role: Literal["assistant"] = "assistant"

    @property
    def text(self) -> str:
        """Return all that the model wrote, without what it thought or did."""
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of our tools, in order."""
        return tuple(block.call for block in self.blocks if isinstance(block, CallBlock))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResults:
    """The answers to all calls of one turn, together: providers want them in one message, and first."""

    results: tuple[ToolMessage, ...]
    role: Literal["tool"] = "tool"


Prompt: TypeAlias = str | Sequence[Part] | UserMessage
"""What a run can be asked: a text, parts, or a message, which can be pinned."""

Message: TypeAlias = UserMessage | AssistantMessage | ToolResults
