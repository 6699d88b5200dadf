"""What a front end sends over AG-UI: only the last message and the answers are used, never its history."""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Given(BaseModel):
    # The protocol has more fields than are used here, and gets new ones.
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore", frozen=True)


class AgUiPart(_Given):
    """A part of a message; only texts are used."""

    type: str
    text: str = ""


class AgUiMessage(_Given):
    """A message of the client's history."""

    role: str
    content: str | tuple[AgUiPart, ...] | dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """Return the text of the message."""
        if isinstance(self.content, tuple):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content if isinstance(self.content, str) else ""


class AgUiPayload(_Given):
    """A person's answer to an interrupt: yes or no, their own text instead of the proposed one, or why not."""

    approved: bool = False
    edited: str | None = Field(default=None, max_length=800_000)
    reason: str | None = Field(default=None, max_length=2_000)


class AgUiResume(_Given):
    """The answer to one interrupt; its id names the call and what was shown."""

    interrupt_id: str = Field(alias="interruptId", min_length=1, max_length=400)
    status: Literal["resolved", "cancelled"]
    payload: AgUiPayload | None = None


class AgUiRun(_Given):
    """One run of AG-UI: the next message of a thread, or answers to what it asks."""

    thread_id: str = Field(alias="threadId", min_length=1, max_length=200)
    run_id: str = Field(alias="runId", min_length=1, max_length=200)
    messages: tuple[AgUiMessage, ...] = Field(default=(), max_length=10_000)
    resume: tuple[AgUiResume, ...] | None = Field(default=None, max_length=100)
