"""The store of profiles: what is read, listed, written, kept, and refused."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.packs.writing.profiles.samples import NOW, STAMP, draft, fields, put, state_of
from tests.packs.writing.profiles.test_schema import BROKEN, old_fields

from toolroll.errors import (
    ChangeRefused,
    FileExists,
    FileProblem,
    OutsideRoot,
    PathRefused,
    ProfileFixed,
    ProfileInvalid,
    ProfileMissing,
    ProfileNewer,
    StaleFile,
    ToolrollError,
    UsageError,
)
from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    encode_profile,
    parse_foreign_profile,
)
from toolroll.packs.writing.profiles.schema import FORMAT
from toolroll.packs.writing.profiles.store import MAX_NAMES_SHOWN, ProfileStore

Use: TypeAlias = Callable[[str], object]
"""Something that is done to the profile of that name."""

CHANGE: dict[str, object] = {"voice.tone": "спокійний"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def store(data: Path) -> ProfileStore:
    return ProfileStore(data)


def update(store: ProfileStore, name: str = "default", **changes: object) -> int:
    """The version after an update."""
    return int(store.update(name, changes or CHANGE, reason="r", now=NOW).entry["version"])


def test_W20_a_new_profile_is_written_whole_and_private(store: ProfileStore, data: Path) -> None:
    made = store.create(draft(), now=NOW)
    assert made.fields == fields()
    path = data / "profiles" / "default.json"
    assert json.loads(path.read_text()) == fields()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (data, path.parent)} == {0o700}
    assert store.read("default").fields == fields()


def test_W20_a_folder_that_is_there_is_used_as_it_is(store: ProfileStore, data: Path) -> None:
    (data / "profiles").mkdir(parents=True)
    (data / "profiles").chmod(0o775)
    store.create(draft(), now=NOW)
    assert store.read("default").profile.version == 1


def test_W20_a_profile_is_never_overwritten_silently(store: ProfileStore, data: Path) -> None:
    store.create(draft(), now=NOW)
    before = state_of(data)
    with pytest.raises(FileExists, match="The profile 'default' exists already"):
        store.create(draft(source="other"), now=NOW)
    assert before == state_of(data)


def test_W20_one_that_is_replaced_is_kept(store: ProfileStore, data: Path) -> None:
    old = put(data, "{damaged").read_bytes()
    for _ in range(2):
        store.create(draft(source="new"), now=NOW, replace=True)
    assert store.read("default").profile.source == "new"
    kept = [path.read_bytes() for path in (data / "profiles" / "backups").iterdir()]
    assert len(kept) == 2, "the damaged one, and the one that was replaced by itself"
    assert old in kept
    assert store.listing().names == ("default",)


def test_W20_replacing_needs_nothing_to_replace(store: ProfileStore) -> None:
    store.create(draft(), now=NOW, replace=True)
    assert store.read("default").profile.version == 1


@pytest.mark.parametrize("broken", [{"voice": {}}, {"profile_name": "../x"}, {"profile_name": "CON"}, {"more": 1}])
def test_W20_XJ7_nothing_is_made_of_a_draft_that_breaks_rules(
    store: ProfileStore, data: Path, broken: dict[str, object]
) -> None:
    with pytest.raises((ChangeRefused, PathRefused)):
        store.create(draft(**broken), now=NOW)
    assert not data.exists()


def test_W20_a_profile_that_could_not_be_read_back_is_not_written(store: ProfileStore, data: Path) -> None:
    with pytest.raises(ChangeRefused, match="larger than"):
        store.create(draft(source="x" * MAX_PROFILE_BYTES), now=NOW)
    assert not data.exists()
    store.create(draft(), now=NOW)
    before = state_of(data)
    with pytest.raises(ChangeRefused, match="larger than"):
        update(store, **{"voice.tone": "x" * MAX_PROFILE_BYTES})
    assert before == state_of(data)


def test_W10_without_profiles_the_hint_is_to_run_init(store: ProfileStore, data: Path) -> None:
    uses: list[tuple[Use, str]] = [
        (use, name) for use in (store.read, update_in(store)) for name in ("default", "alex")
    ]
    for use, name in [*uses, (store.delete, "alex")]:
        with pytest.raises(ProfileMissing) as refused:
            use(name)
        assert refused.value.message == f"Profile '{name}' not found. Run `ghostpen init` to create your own."
        assert refused.value.available == ()
    assert not data.exists(), "reading makes nothing"


def update_in(store: ProfileStore) -> Use:
    return lambda name: update(store, name)


def test_W10_a_missing_profile_is_told_with_those_that_there_are(store: ProfileStore) -> None:
    store.create(draft(), now=NOW)
    store.create(draft(profile_name="competitor-maria", profile_type="reference"), now=NOW)
    for use in (store.read, update_in(store), store.delete):
        with pytest.raises(ProfileMissing) as refused:
            use("competitor-alex")
        expected = "Profile 'competitor-alex' not found. Available profiles: default, competitor-maria"
        assert expected == refused.value.message
        assert refused.value.available == ("default", "competitor-maria")


def test_W10_many_names_make_no_long_message(store: ProfileStore, data: Path) -> None:
    for number in range(MAX_NAMES_SHOWN + 5):
        put(data, fields(profile_name=f"p{number}"))
    with pytest.raises(ProfileMissing, match=r"Run `ghostpen init`.*Available profiles: .* and 5 more") as refused:
        store.read("default")
    assert len(refused.value.available) == MAX_NAMES_SHOWN + 5


@pytest.mark.parametrize("name", ["../default", "CON", "x" * 300, "-a", "e\u0301", "default.json", ""], ids=ascii)
def test_W3_XJ7_a_hostile_name_reaches_no_file(store: ProfileStore, data: Path, name: str) -> None:
    store.create(draft(), now=NOW)
    (data / "default.json").write_text("outside of the folder")
    before = state_of(data)
    for use in (store.read, update_in(store), store.delete, lambda one: store.propose(one, CHANGE)):
        with pytest.raises(PathRefused):
            use(name)
    assert before == state_of(data)


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN.keys())
def test_XJ3_XJ5_a_damaged_profile_is_reported_and_left_alone(
    store: ProfileStore, data: Path, text: str, told: str
) -> None:
    before = put(data, text).read_bytes()
    for use in (store.read, update_in(store), lambda name: store.propose(name, CHANGE)):
        with pytest.raises((ProfileInvalid, FileProblem)) as refused:
            use("default")
        assert told in refused.value.message or "larger" in told
    with pytest.raises(FileExists):
        store.create(draft(), now=NOW)
    assert {"profiles/default.json": before} == state_of(data)
    [unreadable] = store.listing().unreadable
    assert unreadable.file == "default.json"


def test_W12_an_update_makes_the_next_version(store: ProfileStore, data: Path) -> None:
    store.create(draft(), now=NOW)
    updated = store.update("default", CHANGE, reason="r", now=NOW.replace(hour=12))
    assert (updated.entry["version"], updated.paths) == (2, ("voice.tone",))
    stored = store.read("default")
    assert stored.fields == updated.fields
    assert (stored.profile.updated_at, stored.profile.created_at) == ("2026-02-09T12:00:00Z", STAMP)
    assert stored.profile.changelog[-1].fields_changed == ["voice.tone"]
    assert update(store, **{"voice.tone": "x"}) == 3
    assert set(state_of(data)) == {"profiles/default.json"}


def test_W12_XJ6_an_update_that_breaks_a_rule_changes_nothing(store: ProfileStore, data: Path) -> None:
    store.create(draft(), now=NOW)
    before = state_of(data)
    for changes in ({"voice.tone": "x", "voice.hooks": [""]}, {"voice.tone": "x", "version": 9}, {"__class__": "x"}):
        with pytest.raises(ChangeRefused):
            store.update("default", changes, reason="r", now=NOW)
        with pytest.raises(ChangeRefused):
            store.propose("default", changes)
    assert before == state_of(data)


def test_W12_a_reference_profile_is_not_updated(store: ProfileStore, data: Path) -> None:
    store.create(draft(profile_name="alex", profile_type="reference"), now=NOW)
    before = state_of(data)
    for use in (update_in(store), lambda name: store.propose(name, CHANGE)):
        with pytest.raises(ProfileFixed, match="is a reference profile") as refused:
            use("alex")
        assert refused.value.code == "reference_profile"
    assert before == state_of(data)
    made = store.update("alex", CHANGE, reason="by hand", now=NOW, by_person=True)
    assert (made.entry["version"], store.read("alex").profile.profile_type) == (2, "reference")


def test_W12_an_update_of_what_has_changed_since_is_refused(store: ProfileStore, data: Path) -> None:
    store.create(draft(), now=NOW)
    proposed = store.propose("default", CHANGE)
    assert (proposed.version, [one.path for one in proposed.differences]) == (2, ["voice.tone"])
    update(store, **{"voice.tone": "somebody else's"})
    before = state_of(data)
    with pytest.raises(StaleFile, match="has changed in the meantime"):
        store.update("default", CHANGE, reason="r", now=NOW, base=proposed.base)
    assert before == state_of(data)
    assert store.update("default", CHANGE, reason="r", now=NOW, base=store.read("default").hash).entry["version"] == 3


def test_XJ10_an_older_file_is_brought_up_to_date_with_a_backup(store: ProfileStore, data: Path) -> None:
    old = encode_profile(old_fields())
    put(data, old)
    assert store.read("default").profile.profile_type == "personal"
    assert state_of(data) == {"profiles/default.json": old}, "reading writes nothing"
    assert update(store) == 2
    files = state_of(data)
    [backup] = [name for name in files if name != "profiles/default.json"]
    assert backup.startswith("profiles/backups/default-")
    assert files[backup] == old
    assert "schema_version" not in json.loads(files["profiles/default.json"])
    assert store.listing().names == ("default",)


def test_XJ10_a_newer_file_is_read_and_not_written(store: ProfileStore, data: Path) -> None:
    put(data, fields(schema_version=FORMAT + 1, more="new"))
    before = state_of(data)
    assert store.read("default").fields["more"] == "new"
    assert store.listing().names == ("default",)
    for use in (update_in(store), lambda name: store.propose(name, CHANGE)):
        with pytest.raises(ProfileNewer, match="newer version of this program"):
            use("default")
    assert before == state_of(data)


def test_W13_personal_profiles_come_first_and_the_newest_of_each(store: ProfileStore, data: Path) -> None:
    assert store.listing().profiles == ()
    for name, kind, day in [
        ("ref-old", "reference", 1),
        ("ref-new", "reference", 3),
        ("mine-old", "personal", 2),
        ("default", "personal", 4),
    ]:
        put(data, fields(profile_name=name, profile_type=kind, updated_at=f"2026-02-0{day}T00:00:00Z"))
    listing = store.listing()
    assert listing.names == ("default", "mine-old", "ref-new", "ref-old")
    assert listing.unreadable == ()
    first = listing.profiles[0]
    assert (first.type, first.language, first.version, first.updated_at, first.tone_summary) == (
        "personal",
        "uk",
        1,
        "2026-02-04T00:00:00Z",
        "дружній, трохи іронічний",
    )


def test_W13_W40_a_list_says_what_the_files_say_whatever_their_stamps(store: ProfileStore, data: Path) -> None:
    path = put(data, fields(version=1))
    status = path.stat()
    assert store.listing().profiles[0].version == 1
    put(data, fields(version=2))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert store.listing().profiles[0].version == 2
    path.write_bytes(b"x" * path.stat().st_size)
    assert [one.file for one in store.listing().unreadable] == ["default.json"]


def test_W13_the_cache_of_an_earlier_version_is_ignored(store: ProfileStore, data: Path) -> None:
    put(data, fields())
    (data / ".index").mkdir()
    (data / ".index" / "profiles.json").write_text('{"default.json": [[1, 2], {"name": "mallory"}]}')
    assert store.listing().names == ("default",)


def test_W20_a_whole_profile_is_put_with_its_history(store: ProfileStore, data: Path) -> None:
    whole = parse_foreign_profile(encode_profile(fields(version=5)))
    assert not store.has("default")
    assert store.put(whole).profile.version == 5
    assert store.has("default")
    assert store.raw("default") == encode_profile(fields(version=5))
    with pytest.raises(FileExists):
        store.put(parse_foreign_profile(encode_profile(fields(version=6))))
    store.put(parse_foreign_profile(encode_profile(fields(version=6))), replace=True)
    [backup] = (data / "profiles" / "backups").iterdir()
    assert backup.read_bytes() == encode_profile(fields(version=5))


def test_W20_XJ10_a_newer_profile_is_not_put(store: ProfileStore, data: Path) -> None:
    with pytest.raises(ProfileNewer):
        store.put(parse_foreign_profile(encode_profile({**fields(), "schema_version": FORMAT + 1})))
    assert state_of(data) == {}


def test_W3_XJ7_a_whole_profile_has_a_name_that_can_be_one() -> None:
    assert parse_foreign_profile(encode_profile(fields()), name="other").profile.profile_name == "other"
    for name in ("../x", "CON", "a" * 65):
        with pytest.raises(PathRefused):
            parse_foreign_profile(encode_profile(fields(profile_name=name)))
        with pytest.raises(PathRefused):
            parse_foreign_profile(encode_profile(fields()), name=name)
    with pytest.raises(ProfileInvalid, match="profile_name: is missing\n- language: is missing"):
        parse_foreign_profile(b"{}")
    with pytest.raises(ProfileInvalid, match="- profile_name: must be text\n"):
        parse_foreign_profile(encode_profile({**fields(), "profile_name": 3}))
    with pytest.raises(ProfileInvalid, match="version: must be a number up to"):
        parse_foreign_profile(encode_profile(fields(version=10**9 + 1)))


def test_W12_what_a_person_changes_themselves_is_kept_as_a_backup(store: ProfileStore, data: Path) -> None:
    store.create(draft(profile_type="reference"), now=NOW)
    before = store.raw("default")
    store.update("default", CHANGE, reason="r", now=NOW, by_person=True)
    [backup] = (data / "profiles" / "backups").iterdir()
    assert backup.read_bytes() == before


def test_W13_XJ7_what_is_no_profile_is_reported_and_not_offered(store: ProfileStore, data: Path) -> None:
    store.create(draft(), now=NOW)
    folder = data / "profiles"
    (folder / "secret.json").symlink_to(put(data.parent / "elsewhere", fields(profile_name="secret")))
    (folder / "twin.json").symlink_to("default.json")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    for name in ("Upper", "e\u0301", "CON", "a b", "x" * 100, "bad\u202e"):
        put(data, fields(), name=name)
    put(data, "{}", name="empty")
    (folder / "notes.txt").write_text("not looked at")
    listing = store.listing()
    assert listing.names == ("default",)
    problems = {one.file: one.error.message for one in listing.unreadable}
    assert len(problems) == 11
    assert problems["secret.json"] == problems["twin.json"] == "it is not a file, but a link"
    assert problems["folder.json"] == "it is not a file, but a folder"
    assert problems["pipe.json"] == "it is not a file, but a pipe"
    assert "is not that of a profile" in problems["CON.json"]
    assert "profile_name: is missing" in problems["empty.json"]
    assert not any("\u202e" in file for file in problems)
    for name in ("secret", "twin", "folder", "pipe"):
        for use in (
            store.read,
            update_in(store),
            store.delete,
            lambda one: store.create(draft(profile_name=one), now=NOW),
        ):
            with pytest.raises(FileProblem):
                use(name)
        with pytest.raises(FileProblem):
            store.create(draft(profile_name=name), now=NOW, replace=True)
    assert (folder / "twin.json").is_symlink()


def test_W20_deleting_keeps_a_backup_and_the_default_one_stays(store: ProfileStore, data: Path) -> None:
    for name in ("default", "alex"):
        store.create(draft(profile_name=name), now=NOW)
    store.delete("alex")
    assert store.listing().names == ("default",)
    assert len(list((data / "profiles" / "backups").iterdir())) == 1
    with pytest.raises(UsageError, match="cannot be deleted"):
        store.delete("default")
    assert store.listing().names == ("default",)


def test_W20_a_folder_that_cannot_be_written_is_a_typed_error(data: Path) -> None:
    data.mkdir()
    (data / "profiles").write_text("a file in its place")
    store = ProfileStore(data)
    with pytest.raises(ProfileMissing):
        store.read("default")
    with pytest.raises(ToolrollError):
        store.create(draft(), now=NOW)


def test_XJ11_no_profile_is_read_or_kept_behind_a_link(data: Path) -> None:
    data.mkdir()
    elsewhere = data.parent / "elsewhere"
    put(elsewhere, fields(profile_name="default"))
    before = {one.name for one in elsewhere.rglob("*")}
    (data / "profiles").symlink_to(elsewhere)
    store = ProfileStore(data)
    for use in (
        lambda: store.create(draft(profile_name="alex"), now=NOW),
        lambda: store.read("default"),
        lambda: store.delete("alex"),
        store.listing,
    ):
        with pytest.raises(OutsideRoot):
            use()
    assert {one.name for one in elsewhere.rglob("*")} == before


def test_XE6_what_a_killed_writer_left_is_swept(store: ProfileStore, data: Path) -> None:
    store.create(draft(), now=NOW)
    left = data / "profiles" / f".toolroll-{'0' * 32}.tmp"
    left.write_text("half")
    update(store)
    assert not left.exists()


def test_W1_a_profile_written_by_hand_needs_few_fields_and_keeps_unknown_ones(store: ProfileStore, data: Path) -> None:
    by_hand = {
        "profile_name": "default",
        "language": "uk",
        "mood": "calm",
        "voice": {"tone": "теплий", "avoid": [], "humour": "сухий"},
        "platforms": {"x": {}},
    }
    put(data, by_hand)
    stored = store.read("default")
    assert (stored.profile.profile_type, stored.profile.platforms["x"].max_length, stored.profile.version) == (
        *("personal", 280),
        1,
    )
    store.update("default", {"voice.tone": "тихий"}, reason="r", now=NOW)
    kept = store.read("default").fields
    assert (kept["mood"], kept["voice"]["humour"], kept["voice"]["tone"]) == ("calm", "сухий", "тихий")
    assert store.listing().names == ("default",)
