"""A proposal shows what it would write, and writes what it showed."""

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import EditRefused, UsageError
from toolroll.kernel.approval.permit import make_seal
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.diff.hunks import EDITED, apply_hunks, parse_diff, parse_diffs, restore_original
from toolroll.kernel.diff.unified import unified_diff
from toolroll.safe.paths.names import parse_path
from toolroll.workspace.changes.proposal import ABSENT, Change, Proposal, Span, select_changes

TEXT = st.text(alphabet="ab\n\r\u202e ", max_size=20)


def change(before: bytes | None, after: bytes | None, path: str = "a.py", mode: int | None = None) -> Change:
    return Change(path=parse_path(path), before=before, after=after, mode=mode)


def propose(before: bytes | None, after: bytes | None) -> Proposal:
    return Proposal(changes=(change(before, after),), description="why")


def test_C30_a_preview_is_bound_to_all_there_is() -> None:
    proposal = propose(b"a\nb\n", b"a\nc\n")
    preview = proposal.preview()
    assert preview.kind == "diff"
    assert preview.text == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    assert (preview.added, preview.removed) == (1, 1)
    assert (preview.base, preview.target) == (content_hash(b"a\nb\n"), content_hash(b"a\nc\n"))
    assert preview.editable == "a\nc\n"
    assert preview.payload is proposal
    assert preview.notes == ()
    assert proposal.diff == preview.text
    assert proposal.changes[0].spans == (Span(start=1, end=2, new_start=1, new_end=2),)
    with pytest.raises(FrozenInstanceError):
        proposal.description = "other"  # type: ignore[misc]


def test_XA1_a_proposal_that_is_exchanged_is_noticed() -> None:
    assert make_seal(propose(b"a", b"b")) == make_seal(propose(b"a", b"b"))
    assert make_seal(propose(b"a", b"b")) != make_seal(propose(b"a", b"c"))
    assert propose(b"a", b"b").base != propose(b"b", b"b").base
    assert propose(None, b"b").base == ABSENT != propose(b"", b"b").base


@given(TEXT, TEXT, st.lists(st.booleans(), min_size=30, max_size=30))
def test_C30_hunks_can_be_taken_one_by_one(before: str, after: str, choice: list[bool]) -> None:
    proposal = propose(before.encode(), after.encode())
    preview = proposal.preview()
    diff = parse_diff(preview.text)
    assert diff is not None
    assert preview.editable is not None
    assert restore_original(preview.editable, diff) == before
    text = apply_hunks(preview.editable, diff, choice[: len(diff.hunks)])
    assert text is not None
    assert proposal.with_edited(text).preview().editable == text
    if not any(choice[: len(diff.hunks)]):
        assert text == before


def test_C30_a_person_can_edit_the_text() -> None:
    edited = propose(b"\xef\xbb\xbfa\r\nb\r\n", b"\xef\xbb\xbfa\r\nc\r\n").with_edited("a\nmine\n")
    preview = edited.preview()
    assert edited.changes[0].after == b"\xef\xbb\xbfa\r\nmine\r\n"
    assert preview.editable == "a\nmine\n"
    assert "+mine\r\n" in preview.text
    assert preview.base == content_hash(b"\xef\xbb\xbfa\r\nb\r\n")
    with pytest.raises(EditRefused):
        propose(b"\xe9", b"\xe9a").with_edited("ü")


def test_C30_what_is_no_single_text_cannot_be_edited() -> None:
    both = Proposal(changes=(change(b"a", b"b"), change(b"a", b"b", "b.py")))
    for proposal in (both, propose(b"a", None)):
        assert proposal.editable is None
        assert proposal.preview().editable is None
        with pytest.raises(UsageError, match="single file"):
            proposal.with_edited("x")


def test_C32_many_files_are_one_review() -> None:
    changes = (change(b"a\n", b"b\n"), change(None, b"new\n", "b/c.py"), change(b"old\n", None, "d.py", mode=None))
    proposal = Proposal(changes=changes, remarks=("remark",))
    preview = proposal.preview()
    assert preview.text == "".join("".join(one.diff) for one in changes)
    assert (preview.added, preview.removed) == (2, 2)
    assert preview.notes == ("remark", "b/c.py: This is a new file.", "d.py: The file is removed.")
    assert proposal.paths == ("a.py", "b/c.py", "d.py")
    assert [part.paths for part in proposal.parts] == [("a.py",), ("b/c.py",), ("d.py",)]
    assert proposal.only(["d.py", "a.py"]).changes == (changes[0], changes[2])
    others = Proposal(changes=(change(b"x\n", b"b\n"), *changes[1:]))
    assert others.base != proposal.base
    assert others.target == proposal.target


def test_C32_a_proposal_needs_changes_of_different_files() -> None:
    with pytest.raises(UsageError, match="at least one"):
        Proposal(changes=())
    with pytest.raises(UsageError, match="only once"):
        Proposal(changes=(change(b"a", b"b"), change(b"b", b"c")))


def test_C33_changes_without_lines_are_told() -> None:
    assert propose(None, b"").preview().text == "--- a/a.py\n+++ b/a.py\n"
    assert propose(None, b"").notes == ("This is a new file.",)
    assert propose(b"", None).notes == ("The file is removed.",)
    assert change(b"a", b"a", mode=0o755).notes == ("Its mode becomes 755.",)
    assert change(b"a", b"a").does_nothing
    assert not change(b"a", b"a", mode=0o755).does_nothing


def test_C33_a_change_of_encoding_shows_the_mark() -> None:
    preview = propose(b"\xef\xbb\xbfa\n", b"a\n").preview()
    assert "-\ufeffa\n+a\n" in preview.text
    assert preview.notes == ("The encoding changes from UTF-8 with a byte-order mark to UTF-8.",)
    assert "-a\n+\ufeffa\n" in propose(b"a\n", b"\xef\xbb\xbfa\n").preview().text


LONG = "".join(f"line {number}\n" for number in range(30))
TWICE = LONG.replace("line 3\n", "line three\n").replace("line 25\n", "line twenty-five\n")


def edited_file(path: str, before: str | bytes | None, after: str | bytes | None) -> Change:
    old, new = (one.encode() if isinstance(one, str) else one for one in (before, after))
    return Change(path=parse_path(path), before=old, after=new)


PROPOSAL = Proposal(
    changes=(edited_file("a.txt", LONG, TWICE), edited_file("b.txt", None, "new\n"), edited_file("c.txt", "x\n", "y\n"))
)


def files(proposal: Proposal) -> dict[str, bytes | None]:
    return {str(one.path): one.after for one in proposal.changes}


def test_C32_all_of_it_is_the_proposal_itself() -> None:
    assert files(select_changes(PROPOSAL, PROPOSAL.diff)) == files(PROPOSAL)


def test_C32_a_file_can_be_left_out() -> None:
    diffs = parse_diffs(PROPOSAL.diff)
    assert diffs is not None
    taken = select_changes(PROPOSAL, diffs[0].text + diffs[2].text)
    assert files(taken) == {"a.txt": TWICE.encode(), "c.txt": b"y\n"}
    assert taken.edited == diffs[0].text + diffs[2].text


def test_C30_single_hunks_can_be_left_out() -> None:
    diffs = parse_diffs(PROPOSAL.diff)
    assert diffs is not None
    first = "".join([*(f"{heading}\n" for heading in diffs[0].headings), diffs[0].hunks[0].text])
    assert files(select_changes(PROPOSAL, first)) == {"a.txt": LONG.replace("line 3\n", "line three\n").encode()}


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "nonsense",
        PROPOSAL.diff.replace("+new", "+other"),
        PROPOSAL.diff.replace("b.txt", "../b.txt"),
        PROPOSAL.diff + PROPOSAL.diff,
        PROPOSAL.diff.replace("@@ -1 +1 @@", "@@ -2 +2 @@"),
    ],
)
def test_XA1_what_was_not_shown_is_not_taken(patch: str) -> None:
    with pytest.raises(UsageError, match="not part of what was proposed"):
        select_changes(PROPOSAL, patch)


@given(st.text(max_size=60))
def test_XA1_no_text_writes_anything_that_was_not_proposed(patch: str) -> None:
    with pytest.raises(UsageError):
        select_changes(PROPOSAL, patch)


def test_C32_a_new_file_comes_whole() -> None:
    heading = "--- a/b.txt\n+++ b/b.txt\n"
    with pytest.raises(UsageError, match="as a whole"):
        select_changes(PROPOSAL, heading)


def test_C3_parts_of_a_change_of_encoding_are_refused() -> None:
    mixed = Proposal(changes=(edited_file("a.txt", LONG, TWICE.encode("utf-16")), edited_file("c.txt", "x\n", "y\n")))
    diffs = parse_diffs(mixed.diff)
    assert diffs is not None
    first = "".join([*(f"{heading}\n" for heading in diffs[0].headings), *(hunk.text for hunk in diffs[0].hunks[:1])])
    with pytest.raises(UsageError, match="encoding"):
        select_changes(mixed, first)


@given(st.text(max_size=40).filter(lambda text: "\r" not in text and "\0" not in text))
def test_S12_a_person_can_write_one_of_several_files(text: str) -> None:
    first, second = PROPOSAL.changes[:2]
    own = "".join([f"{EDITED}{first.path}\n", *unified_diff(first.texts[0], text, path=str(first.path))[1:]])
    taken = select_changes(PROPOSAL, own + "".join(second.diff))
    assert taken.changes[0].texts[1] == text
    assert taken.changes[1] == second


def test_S12_a_persons_diff_must_fit_what_is_there() -> None:
    first = PROPOSAL.changes[0]
    own = "".join([f"{EDITED}{first.path}\n", *unified_diff("something else\n", "x\n", path=str(first.path))[1:]])
    with pytest.raises(UsageError, match="not part of what was proposed"):
        select_changes(PROPOSAL, own)
