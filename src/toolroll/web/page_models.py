"""What the page and the server say to each other: chats, questions, changes. Part of the one OpenAPI document."""

from typing import ClassVar, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

MAX_MESSAGE_CHARACTERS: Final = 200_000
MAX_EDITED_CHARACTERS: Final = 800_000
MAX_FILES: Final = 8
MAX_FILE_CHARACTERS: Final = 1_000_000

CallState: TypeAlias = Literal["running", "waiting", "done", "failed", "rejected"]
ChatState: TypeAlias = Literal["running", "elsewhere", "waiting", "idle", "stopped"]
"""`elsewhere`: another process is at work on it. `stopped`: it ended before there was an answer."""


class _Body(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class LaunchToken(_Body):
    """The token from the link that the terminal shows."""

    token: str = Field(min_length=1, max_length=200)


class FileModel(_Body):
    """A file that comes with a message: an image, a PDF or a text, in base64."""

    name: str = Field(min_length=1, max_length=200)
    media_type: str = Field(pattern=r"^[a-z]+/[a-z0-9.+-]{1,80}$")
    data: str = Field(max_length=MAX_FILE_CHARACTERS)


class ChatRequest(_Body):
    """The first message of a chat with the coding agent."""

    text: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARACTERS, pattern=r"\S")
    folder: str | None = Field(default=None, min_length=1, max_length=4_096)
    model: str | None = Field(default=None, min_length=1, max_length=200)
    read_only: bool = False
    files: tuple[FileModel, ...] = Field(default=(), max_length=MAX_FILES)


class ChatStarted(_Body):
    """The id of a new chat."""

    id: str


class MessageRequest(_Body):
    """The next message of a chat."""

    text: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARACTERS, pattern=r"\S")
    files: tuple[FileModel, ...] = Field(default=(), max_length=MAX_FILES)


class ModelRequest(_Body):
    """Another model for a chat."""

    model: str = Field(min_length=1, max_length=200)


class CallAnswer(_Body):
    """A person's answer about one call, bound by `digest` to what they saw.

    `hunks` takes some changes of each file; `edited` is the person's own text. `always` allows the tool on such paths
    from now on.
    """

    call_id: str = Field(min_length=1, max_length=200)
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    decision: Literal["approve", "reject"]
    reason: str | None = Field(default=None, max_length=2_000)
    hunks: tuple[tuple[bool, ...], ...] | None = Field(default=None, max_length=1_000)
    edited: str | None = Field(default=None, max_length=MAX_EDITED_CHARACTERS)
    always: str | None = Field(default=None, min_length=1, max_length=1_000)


class Answers(_Body):
    """Answers about calls of one turn, given together."""

    answers: tuple[CallAnswer, ...] = Field(min_length=1, max_length=100)


class EditRequest(_Body):
    """A person's own text for a call, to be previewed."""

    call_id: str = Field(min_length=1, max_length=200)
    edited: str = Field(max_length=MAX_EDITED_CHARACTERS)


class UndoRequest(_Body):
    """A change to take back, or to make again."""

    change: str = Field(min_length=1, max_length=64)
    redo: bool = False
    merge: bool = False


class LineModel(_Body):
    """A line of a diff."""

    sign: Literal[" ", "-", "+"]
    text: str


class HunkModel(_Body):
    """Changes that stand together; the starts count lines from 1."""

    heading: str
    old_start: int
    new_start: int
    lines: tuple[LineModel, ...]


class FileDiff(_Body):
    """The changes of one file."""

    name: str
    hunks: tuple[HunkModel, ...]


class DiffModel(_Body):
    """What a text of the person's own would change."""

    files: tuple[FileDiff, ...]


class Question(_Body):
    """What a person is asked about a call, exactly as the answer is bound to it."""

    call_id: str
    tool: str
    effect: str
    why: str
    paths: tuple[str, ...]
    digest: str
    preview: str
    files: tuple[FileDiff, ...] | None
    """The preview as a diff; None if it is text."""
    editable: str | None
    original: str | None
    """The text that `editable` would replace; None where it is not one file."""
    can_choose: bool
    notes: tuple[str, ...]
    always: str | None
    """The paths that an "always" would allow; None where it cannot be remembered."""


class Item(_Body):
    """One thing in a conversation, in order: `index` is its place in the record."""

    kind: Literal["user", "text", "call", "end"]
    index: int
    text: str = ""
    step: int = 0
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    state: CallState | None = None
    reason: str = ""
    duration_ms: float | None = None
    code: str = ""
    """Why a call failed; empty where it did not."""
    is_cut: bool = False
    """Whether there is more of a call than is here."""
    tokens: int = 0
    """Of a text, what its step used; of a call, what its result weighs, about."""
    cost: float | None = None
    files: tuple[str, ...] = ()
    """What came with a message: the names of files, or their kinds."""


class ChatModel(_Body):
    """A conversation with everything on record about it, and what is being written."""

    id: str
    title: str
    app: str
    folder: str
    model: str
    state: ChatState
    steps: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    context_tokens: int
    """How much the model was sent and wrote at its last turn, of `window_tokens` that it can read."""
    window_tokens: int
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    writing: str
    error: str
    notes: tuple[str, ...]
    todos: tuple[dict[str, str], ...]
    can_continue: bool


class ChangeModel(_Body):
    """A change in a project that a run has made."""

    id: str
    at: float
    state: str
    description: str
    files: tuple[str, ...]


class ChangeList(_Body):
    """The changes of a run, the newest first."""

    changes: tuple[ChangeModel, ...]


class UndoAnswer(_Body):
    """What an undo came to: a sentence for each file."""

    done: tuple[str, ...]
    left: tuple[str, ...]
