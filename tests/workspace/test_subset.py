"""Taking some of a proposal for several files: only what was shown, to the last byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import UsageError
from toolroll.kernel.hunks import parse_diffs
from toolroll.safe.names import parse_path
from toolroll.workspace.proposal import Change, Proposal
from toolroll.workspace.subset import taking

LONG = "".join(f"line {number}\n" for number in range(30))
TWICE = LONG.replace("line 3\n", "line three\n").replace("line 25\n", "line twenty-five\n")


def change(path: str, before: str | bytes | None, after: str | bytes | None) -> Change:
    old, new = (one.encode() if isinstance(one, str) else one for one in (before, after))
    return Change(path=parse_path(path), before=old, after=new)


PROPOSAL = Proposal(
    changes=(change("a.txt", LONG, TWICE), change("b.txt", None, "new\n"), change("c.txt", "x\n", "y\n"))
)


def files(proposal: Proposal) -> dict[str, bytes | None]:
    return {str(one.path): one.after for one in proposal.changes}


def test_C32_all_of_it_is_the_proposal_itself() -> None:
    assert files(taking(PROPOSAL, PROPOSAL.diff)) == files(PROPOSAL)


def test_C32_a_file_can_be_left_out() -> None:
    diffs = parse_diffs(PROPOSAL.diff)
    assert diffs is not None
    taken = taking(PROPOSAL, diffs[0].text + diffs[2].text)
    assert files(taken) == {"a.txt": TWICE.encode(), "c.txt": b"y\n"}
    assert taken.edited == diffs[0].text + diffs[2].text


def test_C30_single_hunks_can_be_left_out() -> None:
    diffs = parse_diffs(PROPOSAL.diff)
    assert diffs is not None
    first = "".join([*(f"{heading}\n" for heading in diffs[0].headings), diffs[0].hunks[0].text])
    assert files(taking(PROPOSAL, first)) == {"a.txt": LONG.replace("line 3\n", "line three\n").encode()}


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
        taking(PROPOSAL, patch)


@given(st.text(max_size=60))
def test_XA1_no_text_writes_anything_that_was_not_proposed(patch: str) -> None:
    with pytest.raises(UsageError):
        taking(PROPOSAL, patch)


def test_C32_a_new_file_comes_whole() -> None:
    heading = "--- a/b.txt\n+++ b/b.txt\n"
    with pytest.raises(UsageError, match="as a whole"):
        taking(PROPOSAL, heading)


def test_C3_parts_of_a_change_of_encoding_are_refused() -> None:
    mixed = Proposal(changes=(change("a.txt", LONG, TWICE.encode("utf-16")), change("c.txt", "x\n", "y\n")))
    diffs = parse_diffs(mixed.diff)
    assert diffs is not None
    first = "".join([*(f"{heading}\n" for heading in diffs[0].headings), *(hunk.text for hunk in diffs[0].hunks[:1])])
    with pytest.raises(UsageError, match="encoding"):
        taking(mixed, first)
