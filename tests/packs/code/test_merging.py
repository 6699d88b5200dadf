"""A file that changed since the model read it: it is told what changed, and may keep that beside its own change."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.packs.code.conftest import Coder, coding, files_of

from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, content_hash
from toolroll.packs.code.keys import CONTENTS
from toolroll.packs.code.seen_files import SeenFiles
from toolroll.testing import make_run

BASE = "one\ntwo\nthree\nfour\nfive\n"
THEIRS = "one\ntwo\nthree\nfour\nFIVE\n"
EDIT: dict[str, object] = {"path": "f", "old_string": "one", "new_string": "1"}
WHOLE: dict[str, object] = {"path": "f", "content": BASE.replace("one", "1"), "description": "d"}


async def read(coder: Coder, text: str = BASE) -> None:
    (coder.folder / "f").write_text(text)
    await coder.ok("read_file", path="f")


async def test_C19_XE1_the_refusal_says_what_changed(coder: Coder) -> None:
    await read(coder)
    (coder.folder / "f").write_text(THEIRS)
    code, message = await coder.refused("edit", **EDIT)
    assert code == "stale_edit"
    assert "it had 5 lines, and has 5 now" in message
    assert content_hash(THEIRS) in message
    assert message.endswith("What changed:\n--- a/f\n+++ b/f\n@@ -2,4 +2,4 @@\n two\n three\n four\n-five\n+FIVE")
    assert (coder.text("f"), coder.asked) == (THEIRS, [])


async def test_C19_the_same_change_again_is_put_together_and_shown(coder: Coder) -> None:
    for name, arguments in (
        ("edit", EDIT),
        ("edit_file", WHOLE),
        ("apply_changes", {"changes": [EDIT, {**EDIT, "old_string": "two", "new_string": "2"}], "description": "d"}),
    ):
        await read(coder)
        (coder.folder / "f").write_text(THEIRS)
        assert (await coder.refused(name, **arguments))[0] == "stale_edit"
        told = await coder.ok(name, **arguments)
        shown = coder.asked[-1].preview
        assert shown.base == content_hash(THEIRS)
        assert "-one" in shown.text
        assert "FIVE" not in shown.text.replace(" FIVE", ""), "what changed is no part of the change"
        assert "f has changed since the model read it. What changed there is kept." in shown.notes
        assert "What had changed in f since you read it is kept." in told
        assert coder.text("f").startswith("1\n")
        assert coder.text("f").endswith("\nFIVE\n")


async def test_C16_C19_after_a_merge_the_file_is_not_known_whole(coder: Coder) -> None:
    await read(coder)
    (coder.folder / "f").write_text(THEIRS)
    await coder.refused("edit", **EDIT)
    await coder.ok("edit", **EDIT)
    code, message = await coder.refused("edit_file", **WHOLE)
    assert (code, "You have seen 0 of the 5 lines" in message) == ("stale_edit", True)
    await coder.ok("edit", path="f", old_string="two", new_string="2")


async def test_C19_changes_that_touch_are_refused(coder: Coder) -> None:
    await read(coder)
    (coder.folder / "f").write_text("ONE\ntwo\nthree\nfour\nfive\n")
    await coder.refused("edit", **EDIT)
    code, message = await coder.refused("edit", **EDIT)
    assert (code, "Your change touches what changed." in message) == ("stale_edit", True)
    assert "+ONE" in message
    assert (coder.text("f"), coder.asked) == ("ONE\ntwo\nthree\nfour\nfive\n", [])


async def test_C19_an_edit_of_what_is_new_needs_another_read(coder: Coder) -> None:
    await read(coder)
    (coder.folder / "f").write_text(THEIRS)
    await coder.refused("edit", **EDIT)
    code, message = await coder.refused("edit", path="f", old_string="FIVE", new_string="5")
    assert (code, "Read it again" in message) == ("stale_edit", True)
    await coder.ok("read_file", path="f")
    await coder.ok("edit", path="f", old_string="FIVE", new_string="5")


async def test_C19_a_hash_that_is_expected_is_not_merged(coder: Coder) -> None:
    await read(coder)
    (coder.folder / "f").write_text(THEIRS)
    for _ in range(2):
        code, message = await coder.refused("edit", **EDIT, expected_hash=content_hash(BASE))
        assert (code, "+FIVE" in message, "propose exactly the same" in message) == ("stale_edit", True, False)
    assert coder.text("f") == THEIRS


LONG = "".join(f"{word}\n" for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
FIRST: dict[str, object] = {"path": "f", "old_string": "one", "new_string": "1"}
LAST: dict[str, object] = {"path": "f", "old_string": "nine", "new_string": "9"}
ALL: dict[str, object] = {"path": "f", "content": LONG.replace("two", "2"), "description": "d"}


@pytest.mark.parametrize(
    "calls",
    [
        [("edit", FIRST), ("edit", LAST)],
        [("edit", FIRST), ("edit", FIRST)],
        [("edit_file", ALL), ("edit", LAST)],
        [("edit", LAST), ("edit_file", ALL)],
        [("apply_changes", {"changes": [FIRST, LAST], "description": "d"}), ("edit", FIRST)],
    ],
    ids=["apart", "the same", "whole first", "whole last", "several first"],
)
async def test_C19_C30_XE1_two_calls_of_one_turn_on_a_file_that_changed(
    coder: Coder, calls: list[tuple[str, dict[str, object]]]
) -> None:
    """Neither could know of the change, so both are told; then what is written is what the question about it showed."""
    theirs = LONG.replace("five", "FIVE")
    await read(coder, LONG)
    (coder.folder / "f").write_text(theirs)
    refused = await coder.step(*calls)
    assert [(result.code, "+FIVE" in result.text) for result in refused] == [("stale_edit", True)] * 2
    assert (coder.text("f"), coder.asked) == (theirs, [])

    first, second = await coder.step(*calls)
    one, other = (request.preview for request in coder.asked)
    assert (first.is_error, second.is_error) == (False, True)
    assert second.code in {"stale_approval", "stale_edit", "edit_refused"}, second.text
    assert one.base == other.base == content_hash(theirs)
    assert content_hash(coder.text("f")) == one.target
    assert "FIVE" in coder.text("f")


async def test_C19_what_changes_once_more_is_told_once_more(coder: Coder) -> None:
    await read(coder)
    for theirs in (THEIRS, THEIRS.replace("four", "FOUR")):
        (coder.folder / "f").write_text(theirs)
        assert (await coder.refused("edit", **EDIT))[0] == "stale_edit"
    await coder.ok("edit", **EDIT)
    assert coder.text("f") == "1\ntwo\nthree\nFOUR\nFIVE\n"


async def test_C30_XA1_an_approval_does_not_hold_for_what_changed_meanwhile(folder: Path) -> None:
    """Not of the first proposal, and not of one that was put together."""
    later = iter([THEIRS, THEIRS.replace("four", "FOUR")])

    def decide(_: ApprovalRequest) -> Decision:
        if (text := next(later, None)) is not None:
            (folder / "f").write_text(text)
        return Approve()

    async with coding(folder, decide) as coder:
        await read(coder)
        for change in ("+FIVE", "+FOUR"):
            code, message = await coder.refused("edit", **EDIT)
            assert (code, change in message) == ("stale_edit", True)
        await coder.ok("edit", **EDIT)
        assert len({request.digest for request in coder.asked}) == 3
    assert (folder / "f").read_text() == "1\ntwo\nthree\nFOUR\nFIVE\n"


async def test_C19_a_run_that_is_resumed_knows_what_changed(coder: Coder) -> None:
    await read(coder)
    kept = json.loads(json.dumps(dict(coder.run.state)))
    (coder.folder / "f").write_text(THEIRS)
    async with coding(coder.folder) as resumed:
        for name, value in kept.items():
            resumed.run.set_state(name, value)
        assert "+FIVE" in (await resumed.refused("edit", **EDIT))[1]
        await resumed.ok("edit", **EDIT)


async def test_C19_without_the_old_content_it_must_be_read_again(coder: Coder) -> None:
    await read(coder)
    contents = await coder.run.context().resolve(CONTENTS)
    (coder.folder / "f").write_text(THEIRS)
    for path in (coder.folder.parent / "home").rglob("contents/*/*"):
        path.unlink()
    assert contents.get(content_hash(BASE)) is None
    for _ in range(2):
        code, message = await coder.refused("edit", **EDIT)
        assert (code, "it had 5 lines" in message, "What changed" in message) == ("stale_edit", True, False)
    assert coder.text("f") == THEIRS


async def test_C19_D6_a_secret_that_came_is_not_told(coder: Coder) -> None:
    await read(coder)
    key = "ghp_" + "a1B2" * 9
    (coder.folder / "f").write_text(f"{BASE}token = '{key}'\n")
    _, message = await coder.refused("edit", **EDIT)
    assert key not in message
    assert "[redacted:" in message


async def test_C19_a_file_of_several_that_changed_stops_all(coder: Coder) -> None:
    await read(coder)
    (coder.folder / "g").write_text(BASE)
    await coder.ok("read_file", path="g")
    (coder.folder / "f").write_text(THEIRS)
    before = files_of(coder.folder)
    both = [{**EDIT, "path": "g"}, EDIT]
    assert (await coder.refused("apply_changes", changes=both, description="d"))[0] == "stale_edit"
    assert files_of(coder.folder) == before
    await coder.ok("apply_changes", changes=both, description="d")
    assert (coder.text("f"), coder.text("g")) == (THEIRS.replace("one", "1"), BASE.replace("one", "1"))


def test_C19_of_a_file_that_was_not_seen_nothing_is_told() -> None:
    run = make_run()
    SeenFiles(run).tell("f", "hash")
    assert SeenFiles(run).get("f") is None


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=8)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=LINES, theirs=LINES, ours=LINES)
async def test_C19_foreign_lines_are_never_lost(
    tmp_path_factory: pytest.TempPathFactory, base: list[str], theirs: list[str], ours: list[str]
) -> None:
    """Whatever both sides do, a change that is written has every line that the other side brought."""
    folder = tmp_path_factory.mktemp("app")
    numbered = [f"{line}{number}\n" for number, line in enumerate(base)]
    added = [f"theirs {line}{number}\n" for number, line in enumerate(theirs)]
    async with coding(folder) as coder:
        await read(coder, "".join(numbered))
        (folder / "f").write_text("".join([*numbered, *added]))
        whole = {"path": "f", "content": "".join([f"ours {line}\n" for line in ours] + numbered), "description": "d"}
        await coder.refused("edit_file", **whole)
        result = await coder("edit_file", **whole)
        text = (folder / "f").read_text()
        assert text.endswith("".join(added))
        assert result.is_error or text.startswith(f"ours {ours[0]}\n")
