"""Feedback on style, counted by category: from the third time on, a change of the profile is proposed (W19).

One file for all of it, changed under a lock: processes that count at once lose nothing (XJ1). A file that cannot be
read is reported and left alone.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from toolroll.errors import FileMissing, JsonRefused
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.serialize import replace_surrogates
from toolroll.messages import Template
from toolroll.packs.writing.profiles.faults import to_fault
from toolroll.packs.writing.profiles.schema import timestamp
from toolroll.packs.writing.storage import is_folder, store_lock
from toolroll.packs.writing.texts.messages import Lang, name_value, say
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root

Category: TypeAlias = Literal[
    "too_formal",
    "too_casual",
    "too_long",
    "too_short",
    "hook_weak",
    "hook_strong",
    "tone_off",
    "structure_wrong",
    "vocabulary_wrong",
    "cta_missing",
    "cta_too_pushy",
    "other",
]

FEEDBACK_NOT_JSON: Final = Template(
    "feedback_not_json",
    "The feedback in '{path}' cannot be used. {problem} The file was not changed.",
    "Repair it, or move it away.",
)
FEEDBACK_INVALID: Final = Template(
    "feedback_invalid",
    "The feedback in '{path}' cannot be used: {problem}. The file was not changed.",
    "Repair it, or move it away.",
)

THRESHOLD: Final = 3
"""How often something must be said before a change of the profile is proposed."""
MAX_HISTORY: Final = 10
"""Texts that are kept for each category."""
MAX_RAW_CHARACTERS: Final = 2_000
"""Of one text: an opinion, not a draft."""
MAX_TRACKER_BYTES: Final = 4_194_304
"""Twice what all categories with the longest texts come to."""

_NAME: Final = RelativePath(parts=("feedback-tracker.json",))


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryMeaning:
    """What a category is about: a field of the profile, and what was said, in Ukrainian for the model."""

    field: str
    said: str


MEANINGS: Final[Mapping[Category, CategoryMeaning]] = {
    "too_formal": CategoryMeaning(field="voice.formality", said="текст занадто формальний"),
    "too_casual": CategoryMeaning(field="voice.formality", said="текст занадто неформальний"),
    "too_long": CategoryMeaning(field="platforms.*.max_length", said="текст занадто довгий"),
    "too_short": CategoryMeaning(field="platforms.*.structure", said="текст занадто короткий"),
    "hook_weak": CategoryMeaning(field="voice.hooks", said="hook слабкий"),
    "hook_strong": CategoryMeaning(field="voice.hooks", said="hook сильний"),
    "tone_off": CategoryMeaning(field="voice.tone", said="тон не той"),
    "structure_wrong": CategoryMeaning(field="platforms.*.structure", said="структура не та"),
    "vocabulary_wrong": CategoryMeaning(field="voice.avoid", said="слова не ті"),
    "cta_missing": CategoryMeaning(field="voice.closings", said="бракує заклику до дії"),
    "cta_too_pushy": CategoryMeaning(field="voice.closings", said="заклик до дії занадто нав'язливий"),
    "other": CategoryMeaning(field="voice", said="щось інше не так"),
}


class FeedbackText(BaseModel):
    """What a person said, and on which day."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    date: str
    raw: str


class FeedbackEntry(BaseModel):
    """One category; `count` is how often it was said since a change of the profile last answered it."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    count: Annotated[int, Field(ge=0)] = 0
    last_seen: str = ""
    history: list[FeedbackText] = Field(default_factory=list)


Entries: TypeAlias = dict[str, FeedbackEntry]

_ENTRIES: Final[TypeAdapter[Entries]] = TypeAdapter(Entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackCount:
    """How often a category has come up so far."""

    category: Category
    count: int

    @property
    def threshold_reached(self) -> bool:
        """Return whether a change of the profile is due."""
        return self.count >= THRESHOLD

    @property
    def suggestion(self) -> str | None:
        """Return what the model should propose, once a change is due."""
        if not self.threshold_reached:
            return None
        meaning = MEANINGS[self.category]
        times = say("count_times", "uk", count=self.count)
        return f"Користувач {times} сказав що {meaning.said}. Запропонуй оновити {meaning.field} у style profile."


def category_name(category: str, lang: Lang) -> str:
    """Return a category as a person would say it; an unknown one as it is."""
    return name_value("category", category, lang)


class FeedbackStore:
    """The feedback in a data folder, in `feedback-tracker.json`. Processes and threads may share it."""

    def __init__(self, data: Path) -> None:
        self._folder = data

    @property
    def path(self) -> Path:
        """Return the file, for messages; the first feedback creates it."""
        return self._folder / _NAME.name

    def entries(self) -> Entries:
        """Return everything that is kept, by category."""
        if not is_folder(self._folder):
            return {}
        with closing(Root(self._folder)) as root:
            return self._read(root)

    def track(self, category: Category, raw: str, *, now: datetime) -> FeedbackCount:
        """Count one more; when this returns, it is on the disk."""
        said = FeedbackText(date=now.astimezone(UTC).strftime("%Y-%m-%d"), raw=_shorten(raw))

        def one_more(entries: Entries) -> Entries:
            old = entries.get(category, FeedbackEntry())
            history = [*old.history, said][-MAX_HISTORY:]
            return entries | {category: FeedbackEntry(count=old.count + 1, last_seen=timestamp(now), history=history)}

        return FeedbackCount(category=category, count=self._change(one_more)[category].count)

    def resolve(self, paths: Collection[str], reason: str) -> tuple[Category, ...]:
        """Reset the counts that a change of these fields answers; return the categories that had any."""
        about = [one for one in get_args(Category) if _answers_category(one, paths, reason)]
        counted = self.entries()
        answered = tuple(one for one in about if counted.get(one, FeedbackEntry()).count)
        if answered:
            self._change(lambda entries: _reset_counts(entries, answered))
        return answered

    def reset(self, category: Category | None = None) -> None:
        """Delete one category or all of them, with what was said."""
        if is_folder(self._folder):
            self._change(lambda entries: {key: entry for key, entry in entries.items() if category not in (None, key)})

    def _change(self, change: Callable[[Entries], Entries]) -> Entries:
        folder = self._folder if is_folder(self._folder) else private_folder(self._folder)
        with store_lock(folder, _NAME.name), closing(Root(folder)) as root:
            root.sweep_temporary()
            before = self._read(root)
            after = change(before)
            if after != before:
                root.write_file(_NAME, _encode(after), mode=0o600)
            return after

    def _read(self, root: Root) -> Entries:
        try:
            data = root.read_bytes(_NAME, limit_bytes=MAX_TRACKER_BYTES)
        except FileMissing:
            return {}
        try:
            return _ENTRIES.validate_python(parse_json(data, limit_bytes=MAX_TRACKER_BYTES), strict=True)
        except JsonRefused as error:
            raise self._refusal(FEEDBACK_NOT_JSON, error.message) from None
        except ValidationError as error:
            fault = to_fault(error.errors(include_url=False)[0])
            raise self._refusal(FEEDBACK_INVALID, fault) from None

    def _refusal(self, template: Template, problem: str) -> JsonRefused:
        return JsonRefused(template(path=quote_path(str(self.path)), problem=problem))


class VerbatimFeedbackStore(FeedbackStore):
    """A feedback store that keeps the words the person used: what a model makes of them is only a guess."""

    def __init__(self, data: Path, last_words: Callable[[], str]) -> None:
        super().__init__(data)
        self._last_words = last_words

    def track(self, category: Category, raw: str, *, now: datetime) -> FeedbackCount:
        """Count one more with what the person said last; `raw` is used only where they have said nothing."""
        return super().track(category, self._last_words() or raw, now=now)


def _encode(entries: Entries) -> bytes:
    return _ENTRIES.dump_json(entries, indent=2) + b"\n"


def _shorten(raw: str) -> str:
    raw = replace_surrogates(raw)
    return raw if len(raw) <= MAX_RAW_CHARACTERS else raw[: MAX_RAW_CHARACTERS - 1] + "…"


def _answers_category(category: Category, paths: Collection[str], reason: str) -> bool:
    """Return whether a change of these fields answers a category: it is about one of them, or the reason names it."""
    field = MEANINGS[category].field
    wanted = re.compile(re.escape(field).replace(r"\*", r"\w+"))
    return any(map(wanted.fullmatch, paths)) or re.search(rf"\b{category}\b", reason) is not None


def _reset_counts(entries: Entries, categories: Iterable[str]) -> Entries:
    return entries | {key: entries[key].model_copy(update={"count": 0}) for key in categories if key in entries}
