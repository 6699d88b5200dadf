"""What the writer's desk of the page and the server say to each other. Part of the one OpenAPI document."""

from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.session.interface import End, QuestionKind
from toolroll.packs.writing.session.looks import Mark

MAX_REQUEST_CHARACTERS: Final = 20_000
MAX_WORDS_CHARACTERS: Final = 20_000
MAX_POSTS_CHARACTERS: Final = 200_000

NAME: Final[dict[str, Any]] = {"type": "string", "pattern": "^[a-z0-9-]{1,64}$"}
LANG_QUERY: Final[dict[str, dict[str, Any]]] = {"lang": {"type": "string", "maxLength": 10}}


class _Body(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class PostRequest(_Body):
    """A post to write: one profile, or the voice of the first with the techniques of the second."""

    request: str = Field(min_length=1, max_length=MAX_REQUEST_CHARACTERS, pattern=r"\S")
    platform: Platform | None = None
    profiles: tuple[str, ...] = Field(default=("default",), min_length=1, max_length=2)
    model: str | None = Field(default=None, min_length=1, max_length=200)
    notion: str | None = Field(default=None, min_length=1, max_length=2_000)


class PostStarted(_Body):
    """The id of a new post."""

    id: str


class WriterWords(_Body):
    """What the writer says about a draft, or to a question."""

    text: str = Field(min_length=1, max_length=MAX_WORDS_CHARACTERS, pattern=r"\S")


class FinishRequest(_Body):
    """How a post should end."""

    how: Literal["save", "notion", "leave"]


class PostAnswer(_Body):
    """The writer's answer about a call, bound by `digest` to what they saw; `edited` is their own text for a post."""

    call_id: str = Field(min_length=1, max_length=200)
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    decision: Literal["approve", "reject"]
    edited: str | None = Field(default=None, max_length=MAX_POSTS_CHARACTERS)


class PartModel(_Body):
    """A part of a draft, and what is wrong with it."""

    text: str
    mark: Mark
    note: str
    is_folded: bool


class LookModel(_Body):
    """A draft on one platform."""

    platform: Platform
    length: int
    limit: int
    parts: tuple[PartModel, ...]
    notes: tuple[str, ...]


class DraftModel(_Body):
    """One version of a post, as each platform would show it."""

    number: int
    text: str
    looks: tuple[LookModel, ...]


class SaidLine(_Body):
    """Something that was said or done; a draft by its number."""

    kind: Literal["you", "says", "note", "draft"]
    text: str


class PostQuestion(_Body):
    """What the writer is asked about a call, exactly as the answer is bound to it."""

    call_id: str
    digest: str
    tool: str
    question: str
    why: str
    preview: str
    editable: str | None


class PostLine(_Body):
    """A post in the list of the desk."""

    id: str
    request: str
    platform: Platform
    profile: str
    state: Literal["writing", "asking", "deciding", "paused", "ended"]
    end: End | None
    drafts: int
    created: float


class PostModel(PostLine):
    """A post with everything that was said and written."""

    lang: str
    model: str
    lines: tuple[SaidLine, ...]
    versions: tuple[DraftModel, ...]
    ask: QuestionKind | None
    """What the session asks the writer for; None while it is not their turn."""
    question: PostQuestion | None
    writing: str
    error: str
    file: str | None
    notion_url: str | None


class ProfileCard(_Body):
    """A profile in the list, with what is most telling about it."""

    name: str
    type: str
    type_name: str
    language: str
    version: int
    updated_at: str
    tone: str
    personality: str
    hooks: tuple[str, ...]
    avoid: tuple[str, ...]
    phrases: tuple[str, ...]
    platforms: tuple[Platform, ...]


class BrokenProfile(_Body):
    """A file that is not a profile, and why."""

    file: str
    problem: str


class DeskModel(_Body):
    """What the desk shows, with its texts in the language that was asked for."""

    lang: str
    languages: tuple[str, ...]
    texts: dict[str, str]
    categories: dict[str, str]
    """The twelve categories of feedback, as a person would say them."""
    platforms: dict[Platform, int]
    model: str | None
    has_notion: bool
    folder: str
    profiles: tuple[ProfileCard, ...]
    broken: tuple[BrokenProfile, ...]
    posts: tuple[PostLine, ...]


class PortraitLine(_Body):
    """One thing that a profile says."""

    label: str
    text: str
    source: str = ""
    """In a mix: the profile that it is from."""


class ProfileField(_Body):
    """A field that can be edited; a list has one entry a line."""

    path: str
    label: str
    group: str
    kind: Literal["text", "lines", "number", "language"]
    value: JsonValue


class HistoryLine(_Body):
    """One version of a profile."""

    version: int
    date: str
    text: str


class ProfileModel(_Body):
    """A profile: its portrait, what can be edited, and its history. `base` is what an edit is based on."""

    name: str
    type: str
    type_name: str
    version: int
    base: str
    portrait: tuple[PortraitLine, ...]
    fields: tuple[ProfileField, ...]
    examples: tuple[str, ...]
    history: tuple[HistoryLine, ...]


class ProfileEdit(_Body):
    """New values by the paths of their fields; `base` is the profile that the writer saw."""

    changes: dict[str, JsonValue] = Field(max_length=100)
    base: str = Field(pattern="^[0-9a-f]{64}$")


class ChangedField(_Body):
    """One field, as it is and as it would be."""

    path: str
    label: str
    old: JsonValue
    new: JsonValue


class EditPreview(_Body):
    """What an edit would change, and the rules that it breaks."""

    version: int
    changes: tuple[ChangedField, ...]
    problems: tuple[str, ...]


class ProfileRequest(_Body):
    """A new profile: the sample, or what an analysis has found."""

    name: str = Field(min_length=1, max_length=100)
    draft: dict[str, JsonValue] | None = None
    """The fields that an analysis returned; without them the sample is written."""


class AnalysisRequest(_Body):
    """Posts to describe, with lines of --- between them."""

    name: str = Field(min_length=1, max_length=100)
    posts: str = Field(min_length=1, max_length=MAX_POSTS_CHARACTERS, pattern=r"\S")
    model: str | None = Field(default=None, min_length=1, max_length=200)


class AnalysisModel(_Body):
    """How somebody writes, as a model found it; nothing is saved."""

    draft: dict[str, JsonValue]
    portrait: tuple[PortraitLine, ...]
    notes: tuple[str, ...]


class MixModel(_Body):
    """Two profiles as one, each line with where it is from."""

    base: str
    techniques: str
    portrait: tuple[PortraitLine, ...]


class PastPost(_Body):
    """A post that was saved."""

    file: str
    platform: str
    topic: str
    created: str
    profile: str
    text: str


class PastPage(_Body):
    """Saved posts: those with the words, or the newest."""

    posts: tuple[PastPost, ...]
    total: int
