"""Statistics about writing (W35): how many drafts their author accepts, and what texts are like.

Each draft that was saved or left is a line in `drafts.jsonl`. A damaged line is skipped.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Final

from toolroll.packs.writing.posts.platforms import find_emoji
from toolroll.packs.writing.posts.stems import split_words
from toolroll.packs.writing.storage import is_folder
from toolroll.safe.locks import file_lock
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.paths.os_errors import os_errors

FILE: Final = "drafts.jsonl"
TOP: Final = 3
"""Categories of feedback in the statistics."""

_LOCK: Final = ".drafts.lock"
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_SENTENCE: Final = re.compile(r"[.!?…]+(?=\s|$)|\n+")
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_HASHTAG: Final = re.compile(r"(?<!\w)#\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRecord:
    """A draft that ended: after how many rounds (the first counts), and whether it was accepted."""

    at: str
    platform: str
    profile: str
    rounds: int
    is_accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftStats:
    """How many drafts were accepted; the mean is of those."""

    drafts: int
    accepted: int
    accepted_first_time: int
    mean_rounds: float
    top_feedback: tuple[tuple[str, int], ...]

    @property
    def first_time_share(self) -> float:
        """Return the share of the accepted ones that needed one round."""
        return self.accepted_first_time / self.accepted if self.accepted else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMeasures:
    """What texts are like on average."""

    texts: int
    characters: float
    words_a_sentence: float
    sentences_a_paragraph: float
    emoji: float
    hashtags: float


class DraftLog:
    """The drafts of a data folder. Processes may share it."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def add(self, record: DraftRecord) -> None:
        """Append a draft."""
        folder = self._data if is_folder(self._data) else private_folder(self._data)
        line = json.dumps(asdict(record), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        path = folder / FILE
        with file_lock(folder / _LOCK), os_errors(str(path)):
            fd = os.open(path, _APPEND, PRIVATE_FILE_MODE)
            try:
                # A line that was cut off by a kill ends here, so that it costs only itself.
                os.write(fd, line if _ends_clean(path) else b"\n" + line)
            finally:
                os.close(fd)

    def read(self) -> tuple[DraftRecord, ...]:
        """Return all drafts in their order."""
        path = self._data / FILE
        with os_errors(str(path)):
            lines = path.read_bytes().splitlines() if path.is_file() else []
        return tuple(record for line in lines if (record := _parse_record(line)) is not None)


def compute_stats(records: Sequence[DraftRecord], feedback: Mapping[str, int]) -> DraftStats:
    """Return the statistics of drafts, and the most frequent feedback."""
    accepted = [record.rounds for record in records if record.is_accepted]
    counts = sorted(((name, times) for name, times in feedback.items() if times > 0), key=lambda one: (-one[1], one[0]))
    return DraftStats(
        drafts=len(records),
        accepted=len(accepted),
        accepted_first_time=accepted.count(1),
        mean_rounds=mean(accepted) if accepted else 0.0,
        top_feedback=tuple(counts[:TOP]),
    )


def measure(texts: Iterable[str]) -> TextMeasures:
    """Measure these texts; those without words are left out."""
    kept = [text for text in texts if split_words(text)]
    paragraphs = [part for text in kept for part in _PARAGRAPH.split(text) if split_words(part)]
    sentences = [[one for one in _SENTENCE.split(part) if split_words(one)] for part in paragraphs]
    return TextMeasures(
        texts=len(kept),
        characters=_mean(len(text) for text in kept),
        words_a_sentence=_mean(len(split_words(one)) for part in sentences for one in part),
        sentences_a_paragraph=_mean(len(part) for part in sentences),
        emoji=_mean(len(find_emoji(text)) for text in kept),
        hashtags=_mean(len(_HASHTAG.findall(text)) for text in kept),
    )


def _mean(values: Iterable[int]) -> float:
    found = list(values)
    return mean(found) if found else 0.0


def _ends_clean(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _parse_record(line: bytes) -> DraftRecord | None:
    try:
        fields = json.loads(line)
        record = DraftRecord(**fields)
    except (TypeError, ValueError):
        return None
    is_sound = type(fields["rounds"]) is int and type(fields["is_accepted"]) is bool and record.rounds > 0
    return record if is_sound else None
