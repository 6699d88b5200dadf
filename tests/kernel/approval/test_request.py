"""Previews, requests and their digests, decisions (K41, K42, XA1)."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.approval.request import (
    REJECTED,
    ApprovalRequest,
    Approve,
    Preview,
    Reject,
    Target,
    content_hash,
    rejection_text,
)

PREVIEW = Preview(kind="diff", text="-a\n+b\n", added=1, removed=1, base="hash", editable="b\n")
REQUEST = ApprovalRequest(
    run_id="run",
    call_id="call",
    tool="write",
    effect="writes",
    arguments={"path": "a", "options": {"x": 1, "y": [1, 2]}},
    why="because",
    preview=PREVIEW,
    paths=("a",),
    fingerprint="print",
)


def test_K41_a_change_is_shown_as_a_diff_with_counts() -> None:
    preview = Preview.of_change("a\nb\nc\n", "a\nx\ny\nc\n", path="f.txt", base="h")
    assert (preview.kind, preview.added, preview.removed) == ("diff", 2, 1)
    assert (preview.base, preview.editable) == ("h", "a\nx\ny\nc\n")
    assert "-b\n+x\n+y\n" in preview.text


@given(before=st.text(st.sampled_from("a+-@\n")), after=st.text(st.sampled_from("a+-@\n")))
def test_K41_the_counts_are_those_of_the_diff(before: str, after: str) -> None:
    preview = Preview.of_change(before, after, path="p")
    balance = len(after.split("\n")) - len(before.split("\n")) + (before.endswith("\n") or not before)
    assert preview.added - preview.removed == balance - (after.endswith("\n") or not after)
    assert (preview.added + preview.removed == 0) == (before == after)


def test_K41_words_can_be_a_preview_too() -> None:
    assert Preview.of_text("send mail", editable="hello") == Preview(kind="text", text="send mail", editable="hello")
    assert Preview.of_text("send mail").editable is None


CHANGES: dict[str, list[object]] = {
    "run_id": ["other"],
    "call_id": ["other"],
    "tool": ["other"],
    "effect": ["external", "reads"],
    "arguments": [{"path": "b"}, {}, {"path": "a", "options": {"x": 1, "y": [2, 1]}}, None],
    "why": ["other"],
    "preview": [
        replace(PREVIEW, kind="text"),
        replace(PREVIEW, text="-a\n+c\n"),
        replace(PREVIEW, added=2),
        replace(PREVIEW, removed=0),
        replace(PREVIEW, base="other"),
        replace(PREVIEW, base=None),
        replace(PREVIEW, editable="c\n"),
        replace(PREVIEW, editable=None),
        replace(PREVIEW, editable=""),
        replace(PREVIEW, target="other"),
        replace(PREVIEW, notes=("imported by 3 files",)),
        replace(PREVIEW, notes=("imported by", "3 files")),
    ],
    "paths": [(), ("a", "b"), ("b",)],
    "fingerprint": ["other"],
    "is_exposed": [True],
    "targets": [
        (Target(name="a", resolved="b"),),
        (Target(name="a", resolved="c"),),
        (Target(name="b", resolved="a"),),
        (Target(name="a", resolved="b"), Target(name="b", resolved="c")),
    ],
    "is_repeat": [True],
    "is_question": [True],
}


def test_XA1_whatever_is_part_of_a_request_is_part_of_its_digest() -> None:
    assert CHANGES.keys() == {field.name for field in fields(ApprovalRequest)}
    changed = [replace(REQUEST, **{name: value}) for name, values in CHANGES.items() for value in values]  # type: ignore[arg-type]
    digests = {REQUEST.digest, *(request.digest for request in changed)}
    assert len(digests) == 1 + len(changed)


def test_XA20_a_path_that_is_no_link_leaves_the_digest_as_it_was() -> None:
    """A question that was asked before tools said where paths lead can still be answered."""
    plain = replace(REQUEST, targets=(Target(name="a", resolved="a"),))
    assert (plain.digest, plain.links, plain.files) == (REQUEST.digest, (), ("a",))


def test_XA1_C23_hints_are_shown_and_not_bound() -> None:
    hinted = replace(PREVIEW, notes=("new file",), hints=("imported by 3 files",))
    assert hinted.remarks == ("new file", "imported by 3 files")
    digests = {replace(REQUEST, preview=replace(hinted, hints=hints)).digest for hints in ((), ("x",), ("x", "y"))}
    assert len(digests) == 1
    assert REQUEST.digest not in digests


def test_XA1_the_digest_does_not_depend_on_the_order_of_arguments_or_on_the_payload() -> None:
    turned = replace(REQUEST, arguments={"options": {"y": [1, 2], "x": 1}, "path": "a"})
    assert turned.digest == REQUEST.digest
    assert replace(REQUEST, preview=replace(PREVIEW, payload=object())).digest == REQUEST.digest


def test_XA2_requests_and_decisions_cannot_be_changed() -> None:
    for one, name in ((REQUEST, "tool"), (PREVIEW, "text"), (Approve(), "edited"), (Reject(), "reason")):
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, "other")


def test_K42_the_model_reads_the_rejection_and_its_reason() -> None:
    assert rejection_text(Reject()) == REJECTED == "User rejected changes"
    assert rejection_text(Reject("too long")) == "User rejected changes: too long"
    assert rejection_text(Reject("")) == rejection_text(Reject(" \n")) == "User rejected changes"


def test_K42_an_empty_edit_is_not_no_edit() -> None:
    assert Approve("") != Approve()
    assert Approve().edited is None


def test_content_hashes_are_those_of_the_bytes() -> None:
    assert content_hash("é") == content_hash("é".encode())
    assert content_hash("\ud800") != content_hash("?")
    assert content_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_XP13_a_target_says_where_it_leads_only_if_that_is_elsewhere() -> None:
    assert str(Target(name="notes/link.md", resolved="Makefile")) == "notes/link.md leads to Makefile"
    assert str(Target(name="Makefile", resolved="Makefile")) == "Makefile"
    links = (Target(name="link", resolved="file"),)
    assert replace(REQUEST, paths=("link",), targets=links).judged_paths == ("link", "file")
