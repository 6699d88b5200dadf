"""What the model server is told to say: turns in neutral words, and what goes wrong on their way."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    """Text, streamed in words; with sources, each cited once."""

    text: str
    citations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning, signed or encrypted by the server for the model that is asked."""

    text: str
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """A call. Arguments that are a string go out as they are, so that broken ones can be scripted."""

    name: str
    arguments: object = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """A web search of the provider's own, with what it found: addresses and titles, an error code, or nothing yet."""

    query: str
    found: tuple[tuple[str, str], ...] | str | None = ()


@dataclass(frozen=True, slots=True)
class Raw:
    """A block in the words of the wire, of a type that nobody knows."""

    block: Json


Block: TypeAlias = Text | Thinking | Use | Search | Raw

Stop: TypeAlias = Literal["auto", "max_tokens", "refusal", "pause", "context_full", "stop_sequence"] | str
"""Why the turn ends: `auto` is the wire's word for calls or for none; any unknown word goes out as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong. Each of these alone, or the manners together."""

    status: int | None = None
    kind: str = "api_error"
    code: str | None = None
    message: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent instead of the wire's form of an error, or, without a status, instead of the answer."""
    error_after_events: int | None = None
    """An error event inside a good stream, after that many."""
    cut_after_events: int | None = None
    cut_after_bytes: int | None = None
    clean_cut: bool = False
    """A cut after which the connection ends in good order: the HTTP is whole, the stream is not."""
    stall: bool = False
    """No answer until the client goes away."""
    chunk_bytes: int | None = None
    newline: Literal["\n", "\r\n", "\r"] = "\n"
    noise: bool = False
    """A byte order mark, comments, pings and unknown fields, all of which mean nothing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the model: `Turn("hello")`, `Turn([Text("let me see"), Use("add", {"a": 1})])`."""

    says: "str | Block | Sequence[str | Block]" = ()
    stop: Stop = "auto"
    fault: Fault | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    """Neutral counts that differ from the usual ones: input, output, cache_read, cache_write, cache_write_1h."""
    no_usage: bool = False
    options: frozenset[str] = frozenset()
    """Bad habits of a wire, by name."""

    @property
    def blocks(self) -> list[Block]:
        listed = [self.says] if isinstance(self.says, (str, Text, Thinking, Use, Search, Raw)) else self.says
        return [Text(one) if isinstance(one, str) else one for one in listed]

    @property
    def calls(self) -> list[Use]:
        return [block for block in self.blocks if isinstance(block, Use)]

    def count(self, name: str, usual: int) -> int:
        return self.usage.get(name, usual)


def fail(status: int, kind: str = "api_error", message: str = "scripted failure", **more: Any) -> Turn:
    """A turn that is an HTTP error."""
    return Turn(fault=Fault(status=status, kind=kind, message=message, **more))


class Issued:
    """What the server has given out, to know it again: providers check that it comes back unchanged."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.secrets: dict[str, object] = {}
        self.needs: dict[str, str] = {}
        """By the id of an item, the id of the reasoning it was written with."""

    def id(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers):06d}"

    def secret(self, prefix: str, stands_for: object) -> str:
        """An opaque text that stands for something."""
        made = self.id(f"{prefix}+/=")
        self.secrets[made] = stands_for
        return made


def words(text: str) -> list[str]:
    """A text in the pieces of a stream, which join to it again."""
    pieces = text.split(" ")
    return [piece + " " for piece in pieces[:-1]] + [pieces[-1]]


def thirds(text: str) -> list[str]:
    """A text in three pieces, wherever they fall."""
    step = max(1, len(text) // 3)
    return [text[:step], text[step : 2 * step], text[2 * step :]]
