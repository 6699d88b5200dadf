"""What the tools for writing cost at 1,000 profiles and 100,000 posts, against the targets that they were given.

    python benchmarks/writing.py [--rounds 21] [--posts 100000] [--profiles 1000] [--save]

Wall time of the stores, files in the page cache; every write is synced to the disk, as it is in use. A search is
measured in a folder that nobody touched since the last one, right after a save of our own, which is taken in by its
name, and right after a file of another program's, for which all names are compared; where the process has not searched
before, the names of the index have to be read for that, too. Building the index is what the very
first search costs, once; so is the first list ever, after which what it says is kept for the next process.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate, count
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, table, where

from toolroll.packs.writing.posts.platforms import PLATFORMS
from toolroll.packs.writing.posts.post_file import Draft, file_stem, file_text
from toolroll.packs.writing.posts.store import PostStore
from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.store import ProfileStore

NOW = datetime(2026, 2, 9, 10, tzinfo=UTC)
WORDS_A_POST = 120
COMMON = ("про", "це", "ми", "не", "робота", "команда", "люди", "the", "of", "work")
KNOWN = {300: "leader", 1_500: "дизайном", 3_000: "вигоранням"}
SYLLABLES = (
    "ба",
    "ви",
    "го",
    "ра",
    "ня",
    "ді",
    "ло",
    "ме",
    "на",
    "ро",
    "сту",
    "ку",
    "пе",
    "ти",
    "зо",
    "лі",
    "фа",
    "же",
)
ENDINGS = ("", "а", "у", "ом", "ами")
VOCABULARY = 20_000

Took = tuple[float, float]
"""Seconds that passed, and those of them that this process was at work: on a busy machine they are far apart."""
Row = tuple[str, float, list[Took]]
"""What was measured, its target in ms, and how long it took each time."""

HEADINGS = ["", "ms", "95 % ms", "of it at work", "target ms", "× better"]


def vocabulary(chosen: random.Random) -> list[str]:
    """Words in the order of how often they are used; some are known, to be asked for."""
    made = ["".join(chosen.choices(SYLLABLES, k=chosen.randint(2, 4))) for _ in range(VOCABULARY)]
    words = [*COMMON, *(word + chosen.choice(ENDINGS) for word in made)]
    for rank, word in KNOWN.items():
        words[rank] = word
    return words


def drafts(number: int) -> Iterator[Draft]:
    chosen = random.Random(1)
    words = vocabulary(chosen)
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))  # as unevenly as words are used
    for at in range(number):
        text = chosen.choices(words, cum_weights=weights, k=WORDS_A_POST)
        topic = " ".join(chosen.choices(words[len(COMMON) :], k=2))
        yield Draft(content=" ".join(text), platform=PLATFORMS[at % 3], topic=f"{topic} {at}")


def make_posts(store: PostStore, number: int) -> None:
    """As `save` would write them, without a sync for each; dated so that nothing about them is fresh."""
    store.folder.mkdir(parents=True)
    for at, draft in enumerate(drafts(number)):
        moment = NOW - timedelta(minutes=at)
        path = store.folder / f"{file_stem(draft, moment)}.md"
        path.write_text(file_text(draft, moment), encoding="utf-8")
        os.utime(path, (moment.timestamp(), moment.timestamp()))
    settle(store)


def settle(store: PostStore) -> None:
    """Let the folder look as if nobody had touched it for a while."""
    os.utime(store.folder, (NOW.timestamp(), NOW.timestamp() + next(MOMENTS)))


MOMENTS = count()


def timed(work: Callable[[], object]) -> Took:
    began, worked = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - worked


def repeated(work: Callable[[], object], rounds: int, before: Callable[[], object] = lambda: None) -> list[Took]:
    found = []
    for turn in range(rounds + 1):
        before()
        took = timed(work)
        if turn:  # the first one warms up
            found.append(took)
    return found


def post_rows(folder: Path, posts: int, rounds: int) -> tuple[list[Row], str]:
    with PostStore(folder) as store:
        make_posts(store, posts)
        built = timed(lambda: build(store))
        draft = Draft(content="Текст " * WORDS_A_POST, platform="linkedin", topic="вигорання на роботі")
        searches = {
            "a word": ["дизайн"],
            "three words": ["вигорання", "burnout", "leader"],
            "a common one": ["робота"],
        }
        rows: list[Row] = []
        for name, keywords in searches.items():
            found = store.search(keywords).total
            took = repeated(partial(store.search, keywords), rounds)
            rows.append((f"read_past_posts, {name} ({found:,} posts)", 200, took))
        filtered = repeated(lambda: store.search(["вигорання"], platform="x"), rounds)
        rows.append(("read_past_posts, one platform", 200, filtered))
        rows.append(("save_to_file", 50, repeated(lambda: store.save(draft, now=NOW), rounds)))
        after = repeated(lambda: store.search(["вигорання"]), rounds, before=lambda: store.save(draft, now=NOW))
        rows.append(("read_past_posts, right after a save", 200, after))
        foreign = repeated(lambda: store.search(["вигорання"]), rounds, before=lambda: put_foreign(store))
        rows.append(("read_past_posts, right after a file of somebody else's", 200, foreign))
        settle(store)
        store.search(["вигорання"])
    rows.append(("read_past_posts, first in a process", 200, repeated(lambda: first_search(folder), rounds)))
    both = repeated(lambda: first_search(folder), rounds, before=lambda: put_foreign(PostStore(folder)))
    rows.append(("read_past_posts, first in a process after somebody else's file", 200, both))
    return rows, f"Building the index of {posts:,} posts took {built[0]:.1f} s, {built[1]:.1f} s of them at work."


def build(store: PostStore) -> None:
    """Search until all posts are in the index: one search takes a minute of it at most."""
    while not store.search(["вигорання"]).is_whole:
        pass


def put_foreign(store: PostStore) -> None:
    (store.folder / f"2026-02-09-foreign-{next(MOMENTS)}-x.md").write_text("Чужий текст", encoding="utf-8")


def first_search(folder: Path) -> None:
    with PostStore(folder) as store:
        store.search(["вигорання"])


def profile_fields(number: int) -> dict[str, object]:
    voice = dict.fromkeys(("tone", "formality", "personality"), "дружній, трохи іронічний")
    voice |= dict.fromkeys(("sentence_style", "paragraph_style", "emoji_usage"), "короткі речення")
    phrases = {name: ["ось у чому штука"] for name in ("hooks", "closings", "signature_phrases", "avoid")}
    platform = {"max_length": 1_300, "structure": "hook, історія", "formatting": "абзаци", "tone_override": None}
    example = {"id": "1", "platform": "linkedin", "text": "Текст " * 200, "why_good": "голос", "added_at": "2026-02-09"}
    return {
        "profile_name": "default" if number == 0 else f"competitor-{number}",
        "profile_type": "personal" if number == 0 else "reference",
        "source": "posts",
        "language": "uk",
        "voice": {**voice, **phrases},
        "platforms": {"linkedin": platform},
        "examples": [example],
    }


def profile_rows(folder: Path, profiles: int, rounds: int) -> list[Row]:
    store, feedback = ProfileStore(folder), FeedbackStore(folder)
    for number in range(profiles):
        store.create(profile_fields(number), now=NOW)
    for path in (folder / "profiles").glob("*.json"):
        os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    turn = count()
    update = repeated(
        lambda: store.update("default", {"voice.tone": f"тон {next(turn)}"}, reason="фідбек", now=NOW), rounds
    )
    return [
        ("read_style_profile", 50, repeated(lambda: store.read("default"), rounds)),
        ("update_style_profile", 100, update),
        ("list_profiles", 200, repeated(store.listing, rounds)),
        ("track_feedback", 50, repeated(lambda: feedback.track("too_formal", "занадто формально", now=NOW), rounds)),
    ]


def cells(row: Row) -> list[str]:
    name, target, took = row
    passed = [wall for wall, _ in took]
    middle, high = median(passed) * 1e3, quantiles(passed, n=20)[-1] * 1e3
    worked = median(cpu for _, cpu in took) * 1e3
    return [name, f"{middle:.1f}", f"{high:.1f}", f"{worked:.1f}", f"{target:.0f}", f"{target / middle:.0f}"]


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=21, help="how often each is measured (at least 2)")
    options.add_argument("--posts", type=int, default=100_000)
    options.add_argument("--profiles", type=int, default=1_000)
    options.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    chosen = options.parse_args()
    rounds = max(chosen.rounds, 2)
    with tempfile.TemporaryDirectory() as folder:
        rows = profile_rows(Path(folder), chosen.profiles, rounds)
        more, built = post_rows(Path(folder), chosen.posts, rounds)
        text = (
            f"{where()}; {chosen.profiles:,} profiles, {chosen.posts:,} posts, {rounds} rounds.\n\n"
            f"{table(HEADINGS, [cells(row) for row in [*rows, *more]])}\n"
            f"{built} The load average of the machine was {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores.\n"
        )
        print(text, flush=True)
        if chosen.save:
            save("writing", text)


if __name__ == "__main__":
    main()
