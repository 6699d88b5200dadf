"""Posts as files, and the index that finds them: in step with the files, made anew from them, never in the way."""

import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import FileExists, FileSystemRefused, OutsideRoot
from toolroll.packs.writing.posts import index as post_index
from toolroll.packs.writing.posts import store as posts
from toolroll.packs.writing.posts import sync as post_step
from toolroll.packs.writing.posts.front_matter import split_front_matter
from toolroll.packs.writing.posts.index import PostMatches, build_query
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.posts.post_file import Draft, parse_post
from toolroll.packs.writing.posts.store import INDEX, PostStore
from toolroll.packs.writing.posts.sync import POST_INDEX
from toolroll.safe.sqlite import DatabaseDamaged, transaction

NOW = datetime(2026, 2, 8, 14, 30, tzinfo=UTC)
OLD = NOW.timestamp()
ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "25"))


def draft(content: str = "Text", platform: Platform = "linkedin", topic: str = "burnout") -> Draft:
    return Draft(content=content, platform=platform, topic=topic, style_profile_version=3)


def settle(store: PostStore) -> None:
    """Make all look as if nobody had touched it for long."""
    for path in [*store.folder.iterdir(), store.folder]:
        os.utime(path, (OLD, OLD), follow_symlinks=False)


def found(store: PostStore, *keywords: str, platform: Platform | None = None, limit: int = 5) -> list[str]:
    return [post.file for post in store.search(list(keywords), platform=platform, limit=limit).posts]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostStore]:
    with PostStore(tmp_path / "data") as store:
        yield store


# --- Saving ------------------------------------------------------------------------------------------------


def test_W15_a_post_is_saved_with_its_front_matter(store: PostStore) -> None:
    saved = store.save(draft("Перший рядок\n\nДругий"), now=NOW)
    assert saved.file == "2026-02-08-burnout-linkedin.md"
    assert saved.path == store.folder / saved.file
    assert saved.path.read_text() == (
        "---\nplatform: linkedin\ntopic: burnout\ncreated: 2026-02-08T14:30:00Z\nprofile_used: default\n"
        "style_profile_version: 3\n---\n\nПерший рядок\n\nДругий\n"
    )


def test_W15_dates_are_in_utc(store: PostStore) -> None:
    late = datetime(2026, 2, 9, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    assert store.save(draft(), now=late).file == "2026-02-08-burnout-linkedin.md"


def test_W15_a_name_that_is_taken_gets_a_number(store: PostStore) -> None:
    names = [store.save(draft(f"Text {number}"), now=NOW).file for number in range(3)]
    stem = "2026-02-08-burnout-linkedin"
    assert names == [f"{stem}.md", f"{stem}-2.md", f"{stem}-3.md"]
    assert [(store.folder / name).read_text()[-7:] for name in names] == ["Text 0\n", "Text 1\n", "Text 2\n"]


def test_XJ8_a_link_in_the_place_of_a_name_is_left_alone(store: PostStore, tmp_path: Path) -> None:
    store.folder.mkdir(parents=True)
    (store.folder / "2026-02-08-burnout-linkedin.md").symlink_to(tmp_path / "elsewhere")
    assert store.save(draft(), now=NOW).file == "2026-02-08-burnout-linkedin-2.md"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("linked", ["output", "output/generated"])
def test_XJ11_no_post_is_saved_or_found_behind_a_link(tmp_path: Path, linked: str) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    (data / linked).parent.mkdir(parents=True)
    (elsewhere / "generated").mkdir(parents=True)
    (elsewhere / "secret.md").write_text("burnout")
    (data / linked).symlink_to(elsewhere)
    with PostStore(data) as store:
        with pytest.raises(OutsideRoot):
            store.save(draft(), now=NOW)
        with pytest.raises(OutsideRoot):
            store.search(["burnout"])
    assert {one.name for one in elsewhere.rglob("*")} == {"generated", "secret.md"}


def test_XJ11_the_index_is_not_made_behind_a_link(store: PostStore, tmp_path: Path) -> None:
    store.save(draft(), now=NOW)
    (tmp_path / "elsewhere").mkdir()
    (store.folder.parents[1] / ".index").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideRoot):
        store.search(["burnout"])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_XJ8_names_do_not_go_on_for_ever(store: PostStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posts, "MAX_SAME_NAME", 2)
    store.save(draft(), now=NOW)
    store.save(draft(), now=NOW)
    assert store.next_path(draft(), now=NOW).name == "2026-02-08-burnout-linkedin.md"
    with pytest.raises(FileExists):
        store.save(draft(), now=NOW)


SAVER = """
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.posts.store import PostStore
store = PostStore(Path(sys.argv[1]))
sys.stdin.read(1)
for number in range(int(sys.argv[3])):
    draft = Draft(content=f"{sys.argv[2]}-{number}", platform="x", topic="вигорання")
    store.save(draft, now=datetime(2026, 2, 8, tzinfo=UTC))
"""


@pytest.mark.slow
def test_XJ8_processes_that_save_the_same_topic_lose_nothing(tmp_path: Path) -> None:
    each = ROUNDS
    children = [
        subprocess.Popen([sys.executable, "-c", SAVER, str(tmp_path), str(number), str(each)], stdin=subprocess.PIPE)
        for number in range(3)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.close()
    assert [child.wait() for child in children] == [0] * 3
    files = list((tmp_path / "output" / "generated").iterdir())
    bodies = {split_front_matter(path.read_text())[1].strip() for path in files}
    assert bodies == {f"{child}-{number}" for child in range(3) for number in range(each)}
    assert len(files) == 3 * each


def test_XF9_posts_and_index_are_private_under_any_umask(store: PostStore, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store.save(draft(), now=NOW)
        store.search(["burnout"])
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").rglob("*")}
    assert modes
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())


def test_XE6_what_a_killed_writer_left_is_swept_and_never_a_post(store: PostStore) -> None:
    store.save(draft(), now=NOW)
    left = store.folder / f".toolroll-{'0' * 32}.tmp"
    left.write_text("---\ntopic: burnout\n---\nhalf")
    assert found(store, "burnout", "half") == ["2026-02-08-burnout-linkedin.md"]
    assert not left.exists()


# A child for each call to the system that a save makes, killed before it; and one that is killed amid a write.
KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.posts.store import PostStore

NAMES = ("open", "close", "write", "fsync", "fchmod", "link", "unlink", "replace", "mkdir", "stat", "fstat")

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def arm(nth, half):
    made = [0]
    def wrapped(name, real):
        def call(*given, **more):
            made[0] += 1
            if made[0] == nth:
                if half and name == "write":
                    real(given[0], given[1][: len(given[1]) // 2])
                if not half or name == "write":
                    die()
            return real(*given, **more)
        return call
    for name in NAMES:
        setattr(os, name, wrapped(name, getattr(os, name)))

def save(folder):
    draft = Draft(content="whole " * 1000, platform="x", topic="topic")
    PostStore(folder).save(draft, now=datetime(2026, 2, 8, tzinfo=UTC))

save(Path(sys.argv[1], "warm-up"))
def run(nth, half):
    child = os.fork()
    if child == 0:
        arm(nth, half)
        save(Path(sys.argv[1], f"{nth}-{half}"))
        os._exit(0)
    return os.waitpid(child, 0)[1]

calls = next(nth for nth in range(1, 200) if run(nth, False) == 0)
print(calls, sum(run(nth, True) != 0 for nth in range(1, calls)))
"""


def test_XE6_a_kill_at_any_moment_of_a_save_leaves_all_of_the_post_or_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=True)
    calls, amid_writes = map(int, done.stdout.split())
    assert (calls > 10, amid_writes) == (True, 1)
    whole = (tmp_path / "warm-up" / posts.FOLDER / "2026-02-08-topic-x.md").read_bytes()
    left = set()
    for data in tmp_path.iterdir():
        with PostStore(data) as store:
            files = list(store.folder.iterdir()) if store.folder.is_dir() else []
            left |= {path.suffix for path in files}
            assert all(path.read_bytes() == whole for path in files if path.suffix == ".md")
            store.search(["whole"])
            assert {path.suffix for path in store.folder.glob("*")} <= {".md"}
    assert left == {".md", ".tmp"}


# --- Searching ---------------------------------------------------------------------------------------------


def test_W14_without_posts_nothing_is_found_and_nothing_is_made(store: PostStore, tmp_path: Path) -> None:
    assert store.search(["burnout"]) == post_index.PostMatches()
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "keyword",
    ["ВИГОРАННЯ", "вигоранням", "вигор", "роботі", "Робота", "burn", "BURNOUT", "комп'ютер", "компʼютер", "Ґанок"],
)
def test_W14_case_forms_and_apostrophes_do_not_matter_in_either_script(store: PostStore, keyword: str) -> None:
    store.save(draft("Про вигорання на роботу. Burnout. Комп’ютер, ґанок.", topic="a"), now=NOW)
    store.save(draft("Зовсім інше", topic="b"), now=NOW)
    assert found(store, keyword) == ["2026-02-08-a-linkedin.md"]


def test_W14_topic_text_and_file_name_are_searched_and_the_topic_counts_most(store: PostStore) -> None:
    store.save(draft("nothing about it, but one word: focus " + "and more " * 50, topic="one"), now=NOW)
    store.save(draft("nothing", topic="focus"), now=NOW)
    (store.folder / "focus-notes.md").write_text("---\ntopic: other\n---\nnothing")
    assert found(store, "focus") == ["2026-02-08-focus-linkedin.md", "focus-notes.md", "2026-02-08-one-linkedin.md"]


def test_W14_any_keyword_is_enough_and_more_of_them_are_better(store: PostStore) -> None:
    store.save(draft("alpha", topic="one"), now=NOW)
    store.save(draft("alpha beta", topic="two"), now=NOW)
    store.save(draft("gamma", topic="three"), now=NOW)
    assert found(store, "alpha", "beta") == ["2026-02-08-two-linkedin.md", "2026-02-08-one-linkedin.md"]


def test_W14_platform_and_limit(store: PostStore) -> None:
    for platform in ("x", "linkedin", "x"):
        store.save(draft("alpha", platform=platform), now=NOW)
    assert found(store, "alpha", platform="x") == ["2026-02-08-burnout-x.md", "2026-02-08-burnout-x-2.md"]
    answer = store.search(["alpha"], limit=1)
    assert (len(answer.posts), answer.total) == (1, 3)


def test_W14_a_post_without_front_matter_is_told_by_its_name(store: PostStore) -> None:
    store.folder.mkdir(parents=True)
    (store.folder / "2026-01-02-some-topic-instagram-3.md").write_text("Привіт " * 100)
    (store.folder / "заметка.md").write_text("Привіт")
    named = {post.file: post for post in store.search(["привіт"]).posts}
    first, second = named["2026-01-02-some-topic-instagram-3.md"], named["заметка.md"]
    assert (first.created, first.topic, first.platform) == ("2026-01-02", "some-topic", "instagram")
    assert (second.created, second.topic, second.platform) == ("", "заметка", "")
    assert first.preview == ("Привіт " * 100)[:200]


@pytest.mark.parametrize("keyword", ["", " ", "!!!", '"', "🔥", "\0"])
def test_W14_keywords_without_words_find_nothing(store: PostStore, keyword: str) -> None:
    store.save(draft(), now=NOW)
    assert store.search([keyword]) == post_index.PostMatches()


@given(st.lists(st.text(alphabet=st.one_of(st.characters(), st.sampled_from('"*():^-+{}ANDORNEAR \0')), max_size=20)))
def test_W14_no_keyword_is_syntax(keywords: list[str]) -> None:
    query = build_query(keywords, "x")
    db = POST_INDEX.open_in_memory()
    if query is not None:
        assert db.execute("select count(*) from words where words match ?", (query,)).fetchone() == (0,)
    db.close()


@given(st.binary(max_size=80))
def test_W14_any_bytes_are_a_post(data: bytes) -> None:
    post = parse_post("a.md", data, size=len(data), mtime_ns=0)
    assert "\0" not in post.body
    assert post.body.encode().decode() == post.body


# --- In step with the files --------------------------------------------------------------------------------


def test_W14_files_that_come_change_and_go_are_seen(store: PostStore) -> None:
    store.save(draft("alpha"), now=NOW)
    store.save(draft("alpha", topic="other"), now=NOW)
    settle(store)
    assert len(found(store, "alpha")) == 2
    path = store.folder / "2026-02-08-burnout-linkedin.md"
    path.write_text("beta, in place")
    assert found(store, "alpha") == ["2026-02-08-other-linkedin.md"]
    assert found(store, "beta") == [path.name]
    path.unlink()
    assert found(store, "beta") == []


def test_W14_a_folder_that_nobody_touched_is_not_listed(store: PostStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(draft("alpha"), now=NOW)
    settle(store)
    assert len(found(store, "alpha")) == 1
    monkeypatch.setattr(post_step, "_compare_names", None)
    assert len(found(store, "alpha")) == 1


def test_W14_W40_what_was_just_saved_is_found_without_listing_the_folder(
    store: PostStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 1
    monkeypatch.setattr(post_step, "_compare_names", None)
    store.save(draft("alpha beta"), now=NOW)
    store.save(draft("alpha gamma"), now=NOW)
    assert len(found(store, "gamma")) == 1
    store.save(draft("alpha delta"), now=NOW)
    monkeypatch.setattr(post_step, "TICK_NS", -1)
    assert len(found(store, "alpha")) == 4
    assert len(found(store, "alpha")) == 4


def test_W14_what_others_do_meanwhile_is_seen_at_once(store: PostStore) -> None:
    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 1
    store.save(draft("alpha"), now=NOW)
    (store.folder / "mine.md").write_text("alpha")
    assert len(found(store, "alpha")) == 3
    (store.folder / "mine.md").unlink()
    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 3


def test_W14_W40_names_are_read_from_the_index_once(store: PostStore) -> None:
    asked: list[str] = []

    def put_mine(number: int) -> None:
        (store.folder / f"mine-{number}.md").write_text("alpha")

    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 1
    db = store._index._db
    assert db is not None
    db.set_trace_callback(asked.append)
    for number in range(3):
        put_mine(number)
        assert len(found(store, "alpha")) == 2 + number
    assert not [one for one in asked if "group_concat" in one]
    (store.folder / "mine-1.md").unlink()
    assert len(found(store, "alpha")) == 3
    put_mine(1)
    assert len(found(store, "alpha")) == 4
    assert not [one for one in asked if "group_concat" in one]


def test_W14_W40_a_name_that_another_process_forgot_is_not_taken_for_known(store: PostStore, tmp_path: Path) -> None:
    store.save(draft("alpha"), now=NOW)
    path = store.folder / "mine.md"
    path.write_text("alpha")
    assert len(found(store, "alpha")) == 2
    with PostStore(tmp_path / "data") as other:
        path.unlink()
        assert len(found(other, "alpha")) == 1
        path.write_text("alpha once more")
        assert len(found(store, "alpha")) == 2
        (store.folder / "theirs.md").write_text("alpha")
        assert len(found(other, "alpha")) == len(found(store, "alpha")) == 3


def test_W14_what_no_stamp_tells_is_seen_once_the_folder_is_quiet(store: PostStore) -> None:
    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 1
    store.save(draft("alpha"), now=NOW)
    status = store.folder.stat()
    (store.folder / "mine.md").write_text("alpha")
    os.utime(store.folder, ns=(status.st_atime_ns, status.st_mtime_ns))  # as if in the same tick of the clock
    assert len(found(store, "alpha")) == 2
    settle(store)
    assert len(found(store, "alpha")) == 3


def test_W14_of_very_many_saves_without_a_search_the_folder_is_listed(
    store: PostStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store._index._step = post_step.SyncState(saves=deque(maxlen=2))
    assert found(store, "alpha") == []
    for _ in range(4):
        store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 4
    monkeypatch.setattr(posts, "_stamp", lambda _folder: 0)
    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 5


def test_W14_a_folder_that_tells_no_stamp_is_no_error(tmp_path: Path) -> None:
    assert posts._stamp(tmp_path / "none") == 0


def test_W14_the_newest_are_taken_in_first_and_the_next_search_goes_on(
    store: PostStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(5):
        store.save(draft("alpha"), now=NOW + timedelta(days=day))
    settle(store)
    monkeypatch.setattr(post_step, "BATCH", 2)
    monkeypatch.setattr(post_step, "PROGRESS_AFTER_S", -1.0)
    told: list[tuple[int, int]] = []
    with monkeypatch.context() as patch:
        patch.setattr(post_step, "MAX_BUILD_S", -1.0)
        assert store.search(["alpha"], progress=lambda *at: told.append(at)) == PostMatches(is_whole=False)
    clock = iter([0.0, 0.0, 1e9])
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: next(clock))
        first = store.search(["alpha"], progress=lambda *at: told.append(at))
    assert ([post.file[:10] for post in first.posts], first.is_whole) == (["2026-02-12", "2026-02-11"], False)
    whole = store.search(["alpha"], progress=lambda *at: told.append(at))
    assert (whole.total, whole.is_whole) == (5, True)
    assert told == [(0, 5), (0, 3), (2, 3)]
    rows = sqlite3.connect(store._index.path).execute("select file from posts order by id").fetchall()
    assert [file[:10] for (file,) in rows] == [
        "2026-02-08", "2026-02-09", "2026-02-10", "2026-02-11", "2026-02-12",
    ]  # fmt: skip


def test_W14_posts_that_go_take_their_words_with_them(store: PostStore) -> None:
    saved = [store.save(draft(f"alpha beta{number}"), now=NOW) for number in range(10)]
    assert store.search(["alpha"]).total == 10
    for one in saved[1:]:
        one.path.unlink()
    assert store.search(["alpha"]).total == 1
    with sqlite3.connect(store._index.path) as db:
        db.execute("insert into words (words) values ('integrity-check')")  # raises where words and posts differ


def test_W14_in_a_large_folder_files_are_looked_at_in_turn(store: PostStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_step, "CHECKED_PER_SEARCH", 2)
    monkeypatch.setattr(post_step, "BATCH", 2)
    for number in range(5):
        store.save(draft("alpha", topic=f"topic {number}"), now=NOW)
    settle(store)
    assert store.search(["alpha"]).total == 5
    for path in store.folder.iterdir():
        path.write_text("beta")
        os.utime(path, (OLD + 1, OLD + 1))
    os.utime(store.folder, (OLD, OLD))
    totals = [store.search(["beta"], limit=0).total for _ in range(5)]
    assert totals[-1] == 5
    assert totals == sorted(totals)
    assert totals[0] < 5


def test_W14_what_is_shown_is_looked_at_first(store: PostStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(draft("alpha"), now=NOW)
    store.save(draft("alpha", topic="other"), now=NOW)
    settle(store)
    assert store.search(["alpha"]).total == 2
    monkeypatch.setattr(post_step, "_check_some", lambda *_: None)
    (store.folder / "2026-02-08-other-linkedin.md").write_text("beta")
    assert found(store, "alpha") == ["2026-02-08-burnout-linkedin.md"]


def test_W14_of_a_word_in_very_many_posts_the_newest_are_ranked(
    store: PostStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_index, "RANKED", 2)
    for number in range(4):
        store.save(draft("alpha", topic=f"t{number}"), now=NOW)
    answer = store.search(["alpha"])
    assert {post.topic for post in answer.posts} == {"t2", "t3"}
    assert answer.total == 4


def test_W14_what_is_no_readable_file_is_no_post(
    store: PostStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(draft("alpha"), now=NOW)
    (tmp_path / "secret.md").write_text("alpha")
    (store.folder / "link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(store.folder / "pipe.md")
    (store.folder / "folder.md").mkdir()
    (store.folder / "notes.txt").write_text("alpha")
    assert found(store, "alpha") == ["2026-02-08-burnout-linkedin.md"]
    store.close()
    (tmp_path / "data" / INDEX).unlink()

    def fails(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", fails)
    assert found(store, "alpha") == []


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\0" + b"x" * 5_000])
def test_W14_a_damaged_index_is_made_anew(store: PostStore, tmp_path: Path, content: bytes) -> None:
    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 1
    store.close()
    (tmp_path / "data" / INDEX).write_bytes(content)
    assert found(store, "alpha") == ["2026-02-08-burnout-linkedin.md"]


def test_W14_damage_while_it_is_used_is_mended_too(store: PostStore, tmp_path: Path) -> None:
    store.save(draft("alpha"), now=NOW)
    assert len(found(store, "alpha")) == 1
    other = sqlite3.connect(tmp_path / "data" / INDEX)
    other.execute("drop table facts")
    other.commit()
    other.close()
    assert len(found(store, "alpha")) == 1


def test_W14_an_index_of_another_version_is_made_anew(store: PostStore, tmp_path: Path) -> None:
    store.save(draft("alpha"), now=NOW)
    path = tmp_path / "data" / INDEX
    POST_INDEX.open(path).execute("pragma user_version = 99").connection.close()
    with pytest.raises(DatabaseDamaged):
        POST_INDEX.open(path)
    assert len(found(store, "alpha")) == 1


def test_W14_where_no_index_can_be_kept_posts_are_found_all_the_same(store: PostStore, tmp_path: Path) -> None:
    store.save(draft("alpha"), now=NOW)
    (tmp_path / "data" / INDEX.parent).write_text("a file in the place of the folder")
    assert len(found(store, "alpha")) == 1


def test_W14_two_that_open_an_index_at_once_make_it_once(
    store: PostStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index.sqlite3"
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("pragma journal_mode = wal")
    seen: list[str] = []

    def trace(statement: str) -> None:
        seen.append(statement)
        if len(seen) == 4:  # the version was looked at, and the tables are about to be made
            first.execute(f"pragma user_version = {POST_INDEX.version}")

    real = sqlite3.connect

    def opened(*given: object, **more: object) -> sqlite3.Connection:
        db = real(*given, **more)  # type: ignore[call-overload]
        db.set_trace_callback(trace)
        return db  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", opened)
    db = POST_INDEX.open(path)
    first.close()
    assert not any("create table" in statement for statement in seen)
    db.close()


@pytest.mark.parametrize("statement", ["insert into facts values ('a', 1)", "rollback"])
def test_W14_a_transaction_that_fails_leaves_nothing(statement: str) -> None:
    db = POST_INDEX.open_in_memory()

    def failing() -> None:
        with transaction(db):
            db.execute(statement)
            raise ValueError(statement)

    with pytest.raises(ValueError, match=r"insert|rollback"):
        failing()
    assert db.execute("select count(*) from facts").fetchone() == (0,)
    db.close()


def test_W14_an_index_that_is_there_is_used_again(store: PostStore, tmp_path: Path) -> None:
    store.save(draft("alpha"), now=NOW)
    settle(store)
    assert len(found(store, "alpha")) == 1
    store.close()
    with PostStore(tmp_path / "data") as other:
        inode = (tmp_path / "data" / INDEX).stat().st_ino
        assert len(found(other, "alpha")) == 1
        assert (tmp_path / "data" / INDEX).stat().st_ino == inode


def test_W14_a_file_that_is_gone_is_not_shown_whatever_its_folder_says(store: PostStore) -> None:
    store.save(draft("alpha"), now=NOW)
    settle(store)
    assert len(found(store, "alpha")) == 1
    (store.folder / "2026-02-08-burnout-linkedin.md").unlink()
    os.utime(store.folder, (OLD, OLD))
    assert store.search(["alpha"]) == post_index.PostMatches()


def test_W14_a_folder_that_cannot_be_opened_is_an_error(store: PostStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(draft(), now=NOW)

    def fails(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(FileSystemRefused):
        store.search(["burnout"])
