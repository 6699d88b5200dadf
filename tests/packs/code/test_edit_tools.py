"""Changing files: proposed, seen, approved, written, and told truly; or refused with nothing changed."""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.code.conftest import BY_NAME, FORMAT, MAIN, Coder, coding, files_of

from toolroll.agent.approvals import preview_call
from toolroll.errors import FileSystemRefused
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject, content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.packs.code.edit_tools import EditFile, edit_file
from toolroll.packs.code.keys import HISTORY, INDEX, WORKSPACE
from toolroll.packs.code.seen_files import SeenFiles, merge_spans
from toolroll.testing import make_run
from toolroll.workspace.changes.undo import plan_redo, plan_undo, undo
from toolroll.workspace.symbols.index import Index


async def read(coder: Coder, **files: str | bytes) -> None:
    """Make files, and have the model read them."""
    for name, content in files.items():
        (coder.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        await coder.ok("read_file", path=name)


# --- edit_file and create_file -------------------------------------------------------------------------


async def test_C16_C30_the_whole_content_is_shown_as_a_diff_and_written_after_a_yes(coder: Coder) -> None:
    await read(coder, f="one\ntwo\nthree\n")
    told = await coder.ok("edit_file", path="f", content="one\n2\nthree\n", description="Use digits.")
    assert coder.text("f") == "one\n2\nthree\n"
    [request] = coder.asked
    assert (request.tool, request.effect, request.why, request.paths) == ("edit_file", "writes", "Use digits.", ("f",))
    assert request.preview.text == "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    assert (request.preview.added, request.preview.removed) == (1, 1)
    assert request.preview.base == content_hash("one\ntwo\nthree\n")
    assert told.startswith("Written: f (+1 -1).")


async def test_C16_C19_what_was_not_read_is_not_edited(coder: Coder) -> None:
    (coder.folder / "f").write_text("one\n")
    for name, more in (
        ("edit_file", {"content": "two\n", "description": "d"}),
        ("edit", {"old_string": "one", "new_string": "two"}),
        ("apply_changes", {"changes": [{"path": "f", "content": "two\n"}], "description": "d"}),
    ):
        arguments = more if name == "apply_changes" else {"path": "f", **more}
        code, message = await coder.refused(name, **arguments)
        assert (code, message) == (
            "stale_edit",
            "You have not read 'f' in this run. Read it first, then propose the change.",
        )
    assert (coder.text("f"), coder.asked) == ("one\n", [])


async def test_C16_what_was_read_in_part_is_not_replaced_whole(coder: Coder) -> None:
    (coder.folder / "f").write_text("1\n2\n3\n4\n")
    await coder.ok("read_file", path="f", limit=2)
    code, message = await coder.refused("edit_file", path="f", content="new\n", description="d")
    assert code == "stale_edit"
    assert message.startswith("You have seen 2 of the 4 lines of 'f', and edit_file replaces all of them.")
    detour = [{"path": "f", "old_string": "1", "new_string": "one"}, {"path": "f", "content": "new\n"}]
    assert (await coder.refused("apply_changes", changes=detour, description="d"))[0] == "stale_edit"
    assert coder.text("f") == "1\n2\n3\n4\n"
    await coder.ok("edit", path="f", old_string="2\n", new_string="two\n")
    assert (await coder.refused("edit_file", path="f", content="new\n", description="d"))[0] == "stale_edit"
    await coder.ok("read_file", path="f", limit=2)
    await coder.ok("read_file", path="f", offset=3)
    await coder.ok("edit_file", path="f", content="new\n", description="d")
    assert coder.text("f") == "new\n"


async def test_C16_a_line_that_was_shown_in_part_is_not_seen(coder: Coder) -> None:
    await read(coder, f="short\n" + "x" * 5_000 + "\n")
    code, message = await coder.refused("edit_file", path="f", content="short\n", description="d")
    assert code == "stale_edit"
    assert "1 of the 2 lines" in message
    for column in (2_000, 4_000):
        await coder.ok("read_file", path="f", offset=2, limit=1, column=column)
    assert (await coder.refused("edit_file", path="f", content="short\n", description="d"))[0] == "stale_edit"
    await coder.ok("edit", path="f", old_string="short", new_string="long")


async def test_C19_XE1_staleness_goes_by_content_never_by_time(coder: Coder) -> None:
    await read(coder, f="one\n")
    os.utime(coder.folder / "f", (0, 0))
    await coder.ok("edit", path="f", old_string="one", new_string="two")
    stamp = (coder.folder / "f").stat()
    (coder.folder / "f").write_text("TWO\n\n")
    os.utime(coder.folder / "f", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    for name, more in (
        ("edit", {"old_string": "TWO", "new_string": "x"}),
        ("edit_file", {"content": "x\n", "description": "d"}),
    ):
        code, message = await coder.refused(name, path="f", **more)
        assert code == "stale_edit"
        assert "'f' has changed since you read it: it had 1 line, and has 2 now" in message
        assert content_hash("TWO\n\n") in message
        assert "Read it again" in message
    assert coder.text("f") == "TWO\n\n"


async def test_C19_what_was_seen_is_kept_with_the_run(coder: Coder) -> None:
    """As plain data, from which a run that is resumed begins."""
    await read(coder, f="one\n")
    kept = json.loads(json.dumps(dict(coder.run.state)))
    async with coding(coder.folder) as resumed:
        assert (await resumed.refused("edit", path="f", old_string="one", new_string="two"))[0] == "stale_edit"
        for name, value in kept.items():
            resumed.run.set_state(name, value)
        await resumed.ok("edit", path="f", old_string="one", new_string="two")
    assert coder.text("f") == "two\n"


async def test_C19_the_model_knows_what_it_wrote_itself(coder: Coder) -> None:
    await coder.ok("create_file", path="a/b/f", content="1\n2\n", description="d")
    await coder.ok("edit_file", path="a/b/f", content="1\n2\n3\n", description="d")
    await coder.ok("edit", path="a/b/f", old_string="3", new_string="4\n5")
    await coder.ok("edit_file", path="a/b/f", content="done\n", description="d")
    assert coder.text("a/b/f") == "done\n"


async def test_C19_a_persons_own_call_needs_no_earlier_read(folder: Path) -> None:
    (folder / "f").write_text("one\ntwo\n")
    async with coding(folder, by_person=True) as person:
        await person.ok("edit", path="f", old_string="one", new_string="1")
        await person.ok("edit_file", path="f", content="all new\n", description="")
        [first, second] = person.asked
        assert "-one\n+1\n" in first.preview.text
        assert second.why == "Writes 'f' anew."
        assert "Use it" not in second.why
    assert (folder / "f").read_text() == "all new\n"


@pytest.mark.parametrize(
    ("there", "new", "noted"),
    [
        ("Readme.md", "README.md", "The new name 'README.md' looks like 'Readme.md', which is there already."),
        ("caf\u00e9.md", "cafe\u0301.md", "'cafe‹U+0301›.md' looks like 'caf‹U+00E9›.md'"),
        ("cool.py", "c\u043e\u043el.py", "'c‹U+043E›‹U+043E›l.py' looks like 'cool.py'"),
        ("src2/a.py", "SRC2/b.py", "'SRC2' looks like 'src2'"),
        ("other.md", "README.md", None),
    ],
)
async def test_XE13_a_new_name_that_looks_like_another_is_noted(
    coder: Coder, there: str, new: str, noted: str | None
) -> None:
    (coder.folder / there).parent.mkdir(exist_ok=True)
    (coder.folder / there).write_text("x\n")
    if (coder.folder / new).exists() or ("/" in new and (coder.folder / new).parent.exists()):
        pytest.skip("on this file system the two are one")
    await coder.ok("create_file", path=new, content="y\n", description="d")
    notes = " ".join(coder.asked[0].preview.notes)
    assert ("looks like" in notes) == (noted is not None)
    assert (noted or "") in notes


async def test_C17_a_file_is_made_with_its_folders_and_never_over_another(coder: Coder) -> None:
    told = await coder.ok("create_file", path="src/deep/new.py", content="x = 1\n", description="A new one.")
    assert told.startswith("Written: src/deep/new.py (new, +1 -0).")
    assert coder.text("src/deep/new.py") == "x = 1\n"
    assert "This is a new file." in coder.asked[0].preview.notes
    os.mkfifo(coder.folder / "pipe")
    (coder.folder / "link").symlink_to("src")
    for path, advice in (
        ("src/deep/new.py", ". Read it, and change it with edit or edit_file."),
        ("src", ", and is a folder. Name a file in it; list_files shows what there is."),
        ("link", ", and is a folder. Name a file in it; list_files shows what there is."),
        ("pipe", ", and is neither a file nor a folder. Choose another name; list_files shows what there is."),
    ):
        refused = ("file_exists", f"'{path}' exists already{advice}")
        assert await coder.refused("create_file", path=path, content="y", description="d") == refused
        new = [{"path": path, "content": "y", "create": True}]
        assert await coder.refused("apply_changes", changes=new, description="d") == refused
    assert coder.text("src/deep/new.py") == "x = 1\n"


async def test_C17_XA1_a_file_that_came_while_a_person_looked_is_not_overwritten(folder: Path) -> None:
    def decide(request: ApprovalRequest) -> Decision:
        (folder / "f").write_text("theirs")
        return Approve()

    async with coding(folder, decide) as coder:
        code, message = await coder.refused("create_file", path="f", content="mine", description="d")
    assert (code, (folder / "f").read_text()) == ("file_exists", "theirs")
    assert "Read it" in message


async def test_C16_C42_a_file_that_is_missing_leads_to_create_file(coder: Coder) -> None:
    (coder.folder / "main.py").touch()
    for name, more in (
        ("edit_file", {"content": "x", "description": "d"}),
        ("edit", {"old_string": "a", "new_string": "b"}),
    ):
        code, message = await coder.refused(name, path="mian.py", **more)
        assert code == "file_not_found"
        assert message == "There is no 'mian.py'. Did you mean 'main.py'? A new file is made with create_file."


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("data", [b"one\0\n", b"\xff\x01\x02\x03\n"])
async def test_C16_C18_what_is_no_text_to_read_file_is_none_to_change(
    data: bytes, by_person: bool, folder: Path
) -> None:
    (folder / "f").write_bytes(data)
    async with coding(folder, by_person=by_person) as coder:
        assert (await coder.refused("read_file", path="f"))[0] == "not_text"
        for name, arguments in (
            ("edit_file", {"path": "f", "content": "two\n", "description": "d"}),
            ("edit", {"path": "f", "old_string": "\n", "new_string": "two"}),
            ("apply_changes", {"changes": [{"path": "f", "content": "two\n"}], "description": "d"}),
        ):
            code, message = await coder.refused(name, **arguments)
            assert (code, "'f' is binary" in message) == ("not_text", True)
        assert (coder.asked, (folder / "f").read_bytes()) == ([], data)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("one\n# ... rest of the file unchanged ...\n", "stand for text that was left out"),
        ("", "is empty, and the file is not"),
        ("one\ntwo\nthree\n", "is what the file holds already"),
    ],
)
async def test_C16_XE8_cut_emptied_or_same_content_is_refused(content: str, why: str, coder: Coder) -> None:
    await read(coder, f="one\ntwo\nthree\n")
    code, message = await coder.refused("edit_file", path="f", content=content, description="d")
    assert (code, why in message, coder.asked) == ("edit_refused", True, [])
    assert coder.text("f") == "one\ntwo\nthree\n"


async def test_XE8_a_large_shrink_is_pointed_out(coder: Coder) -> None:
    await read(coder, f="".join(f"{number}\n" for number in range(100)))
    await coder.ok("edit_file", path="f", content="0\n1\n", description="d")
    assert "The file shrinks from 100 lines to 2 (empty ones not counted). Is all of it there?" in (
        coder.asked[0].preview.notes
    )


# --- edit ----------------------------------------------------------------------------------------------


async def test_C18_a_passage_is_replaced_literally(coder: Coder) -> None:
    await read(coder, f="a\nold $1\nb\n")
    new = "$& \\1 \\n $$ {x}"
    await coder.ok("edit", path="f", old_string="old $1", new_string=new)
    assert coder.text("f") == f"a\n{new}\nb\n"
    assert coder.asked[0].why.startswith("Replaces 'old $1' with ")


@pytest.mark.parametrize(
    ("data", "after"),
    [
        (b"a\r\nold\r\nb\r\n", b"a\r\nnew\r\nmore\r\nb\r\n"),
        (b"a\nold\nb\r\nc\r", b"a\nnew\nmore\nb\r\nc\r"),
        (b"\xef\xbb\xbfold\n\tb", b"\xef\xbb\xbfnew\nmore\n\tb"),
        (b"caf\xe9\nold\nb  ", b"caf\xe9\nnew\nmore\nb  "),
    ],
)
async def test_C18_XE3_XE4_everything_outside_of_the_passage_stays(data: bytes, after: bytes, coder: Coder) -> None:
    await read(coder, f=data)
    await coder.ok("edit", path="f", old_string="old", new_string="new\nmore")
    assert (coder.folder / "f").read_bytes() == after


async def test_C18_XE2_several_places_need_a_word_more(coder: Coder) -> None:
    await read(coder, f="x\ny\nx\n")
    code, message = await coder.refused("edit", path="f", old_string="x", new_string="z")
    assert code == "edit_refused"
    assert "2 times, at lines 1, 3" in message
    assert "set replace_all" in message
    code, message = await coder.refused("edit", path="f", old_string="q", new_string="z")
    assert "0 times" in message
    code, message = await coder.refused("edit", path="f", old_string="x", new_string="z", expected_replacements=3)
    assert "expects old_string 3 times, but it is there 2 times" in message
    assert coder.text("f") == "x\ny\nx\n"
    await coder.ok("edit", path="f", old_string="x", new_string="z", expected_replacements=2)
    await coder.ok("edit", path="f", old_string="z", new_string="w", replace_all=True)
    assert coder.text("f") == "w\ny\nw\n"


async def test_C18_XE5_look_alikes_are_offered_and_harmless_differences_are_reported(coder: Coder) -> None:
    await read(coder, f="say \u201chello\u201d\n", g="if x:\n        y = 1  \n", h="cafe\u0301 au lait\n")
    code, message = await coder.refused("edit", path="h", old_string="caf\u00e9 au lait", new_string="tea")
    assert code == "edit_refused"
    assert "is not taken for it" in message
    assert coder.text("h") == "cafe\u0301 au lait\n"
    await coder.ok("edit", path="g", old_string="if x:\n        y = 1\n", new_string="if x:\n        y = 2\n")
    assert any("not found exactly" in note for note in coder.asked[-1].preview.notes)


@pytest.mark.parametrize(
    ("data", "after", "how"),
    [
        ("if x:\n\ty = 1\n", "if x:\n\ty = 2\n", "tabs and spaces; new_string was indented as the file is."),
        ("  if x:\n      y = 1\n", "  if x:\n      y = 2\n", "indentation; new_string was indented as the file is."),
        (
            "if x: \n    y = 1\n",
            "if x: \n    y = 2\n",
            "trailing blanks; lines that stay keep the file's own, changed ones have those of new_string.",
        ),
        ("if x:\r\n    y = 1\r\n", "if x:\r\n    y = 2\r\n", "line endings; what was put there has the file's own."),
    ],
)
async def test_C18_a_match_that_is_not_exact_is_told_to_the_model(
    data: str, after: str, how: str, coder: Coder
) -> None:
    await read(coder, f=data)
    arguments = {"path": "f", "old_string": "if x:\n    y = 1\n", "new_string": "if x:\n    y = 2\n"}
    told = f"f: old_string was not found exactly, but with different {how}"
    tried = await coder.ok("edit", **arguments, dry_run=True)
    assert tried.startswith(f"Nothing was changed. {told} This is what would be:\n--- a/f\n")
    assert (await coder.ok("edit", **arguments)).splitlines()[1:] == [told]
    assert (coder.folder / "f").read_bytes() == after.encode()


async def test_C18_an_exact_match_has_nothing_to_tell(coder: Coder) -> None:
    await read(coder, f="if x:\n\ty = 1\n")
    told = await coder.ok("edit", path="f", old_string="if x:\n\ty = 1\n", new_string="if x:\n\ty = 2\n")
    assert len(told.splitlines()) == 1


async def test_C18_C32_of_several_files_each_that_was_taken_is_told(folder: Path) -> None:
    def decide(request: ApprovalRequest) -> Decision:
        first, second = request.preview.text.split("--- a/g\n")
        return Approve(edited=first) if "+++ b/g" in second else Approve()

    async with coding(folder, decide) as coder:
        await read(coder, f="\tone\n\ttwo\n", g="\tthree\n")
        changes = [
            {"path": path, "old_string": f"    {word}\n", "new_string": f"    {word.upper()}\n"}
            for path, word in (("f", "one"), ("f", "two"), ("g", "three"))
        ]
        told = await coder.ok("apply_changes", changes=changes, description="d")
    [line] = (line for line in told.splitlines() if "not found exactly" in line)
    assert line.startswith("f: old_string was not found exactly, but with different tabs and spaces; ")
    assert (coder.text("f"), coder.text("g")) == ("\tONE\n\tTWO\n", "\tthree\n")


async def test_C18_the_expected_hash_binds_the_content(coder: Coder) -> None:
    await read(coder, f="one\n")
    code, _ = await coder.refused("edit", path="f", old_string="one", new_string="two", expected_hash="0" * 64)
    assert code == "stale_edit"
    hash_ = content_hash("one\n")
    await coder.ok("edit", path="f", old_string="one", new_string="two", expected_hash=hash_)


async def test_C18_a_dry_run_asks_nobody_and_changes_nothing(folder: Path) -> None:
    async with coding(folder, Reject()) as coder:
        await read(coder, f="one\n")
        told = await coder.ok("edit", path="f", old_string="one", new_string="two", dry_run=True)
        assert told == ("Nothing was changed. This is what would be:\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n")
        assert (coder.text("f"), coder.asked) == ("one\n", [])
        code, _ = await coder.refused("edit", path="f", old_string="x", new_string="two", dry_run=True)
        assert code == "edit_refused"


# --- apply_changes -------------------------------------------------------------------------------------

SEVERAL: list[dict[str, object]] = [
    {"path": "a", "old_string": "one", "new_string": "1"},
    {"path": "a", "old_string": "three", "new_string": "3"},
    {"path": "b", "content": "all new\n"},
    {"path": "new/c", "content": "made\n", "create": True},
    {"path": "new/c", "old_string": "made", "new_string": "made up"},
]


async def test_C18_C32_several_edits_and_files_are_one_change(coder: Coder) -> None:
    await read(coder, a="one\ntwo\nthree\n", b="b\n")
    told = await coder.ok("apply_changes", changes=SEVERAL, description="Digits.")
    assert told.startswith("Written: a (+2 -2), b (+1 -1), new/c (new, +1 -0).")
    assert files_of(coder.folder) == {"a": b"1\ntwo\n3\n", "b": b"all new\n", "new/c": b"made up\n"}
    [request] = coder.asked
    assert (request.why, request.paths) == ("Digits.", ("a", "b", "new/c"))
    assert request.preview.text.count("+++ b/") == 3
    workspace, history = await coder.run.context().resolve(WORKSPACE), await coder.run.context().resolve(HISTORY)
    undo(workspace, history, plan_undo(workspace, history), run_id="person")
    assert files_of(coder.folder) == {"a": b"one\ntwo\nthree\n", "b": b"b\n"}


async def test_C32_one_fault_and_nothing_happens(coder: Coder) -> None:
    await read(coder, a="one\n", b="b\n")
    before = files_of(coder.folder)
    good: dict[str, object] = {"path": "a", "old_string": "one", "new_string": "1"}
    for bad, code in (
        ({"path": "b", "old_string": "nowhere", "new_string": "x"}, "edit_refused"),
        ({"path": "../b", "content": "x"}, "path_validation"),
        ({"path": "a", "content": "x", "create": True}, "file_exists"),
        ({"path": "missing", "content": "x"}, "file_not_found"),
        ({"path": "b", "old_string": "b"}, "invalid_arguments"),
        ({"path": "b", "old_string": "b", "new_string": "c", "content": "d"}, "invalid_arguments"),
        ({"path": "b"}, "invalid_arguments"),
        ({"path": "a", "old_string": "1", "new_string": "one"}, "edit_refused"),
    ):
        assert (await coder.refused("apply_changes", changes=[good, bad], description="d"))[0] == code
        assert (files_of(coder.folder), coder.asked) == (before, [])


@pytest.mark.parametrize(
    "first",
    [
        {"path": "a", "content": "first\n"},
        {"path": "link", "content": "first\n"},
        {"path": "a", "old_string": "one", "new_string": "1"},
        {"path": "new", "content": "first\n", "create": True},
    ],
)
async def test_C32_C42_a_whole_content_does_not_hide_an_earlier_change(first: dict[str, object], coder: Coder) -> None:
    await read(coder, a="one\n")
    (coder.folder / "link").symlink_to("a")
    path = "new" if first["path"] == "new" else "a"
    changes = [first, {"path": path, "content": "second\n"}]
    code, message = await coder.refused("apply_changes", changes=changes, description="d")
    assert code == "edit_refused"
    assert message.startswith(f"The whole content of '{path}' would take the place of what an earlier change")
    assert (coder.text("a"), coder.asked) == ("one\n", [])


async def test_C32_a_passage_may_follow_a_whole_content(coder: Coder) -> None:
    await read(coder, a="one\n")
    changes = [{"path": "a", "content": "first\n"}, {"path": "a", "old_string": "first", "new_string": "1st"}]
    await coder.ok("apply_changes", changes=changes, description="d")
    assert coder.text("a") == "1st\n"


@pytest.mark.parametrize("more", [{"content": "x"}, {"old_string": "a", "new_string": "b"}])
async def test_C32_C42_a_missing_file_of_several_leads_to_create(more: dict[str, object], coder: Coder) -> None:
    (coder.folder / "main.py").touch()
    code, message = await coder.refused("apply_changes", changes=[{"path": "mian.py", **more}], description="d")
    assert code == "file_not_found"
    assert (
        message
        == """There is no 'mian.py'. Did you mean 'main.py'? A new file is made by its content and "create": true."""
    )


async def test_C30_C32_a_file_is_changed_and_shown_by_its_own_name(coder: Coder) -> None:
    """Whatever links lead to it: two names of one file are one file, and what was read by one is known by the other."""
    (coder.folder / "link").symlink_to("a")
    (coder.folder / "a").write_text("one\ntwo\n")
    await coder.ok("read_file", path="link")
    changes = [
        {"path": "a", "old_string": "one", "new_string": "1"},
        {"path": "link", "old_string": "two", "new_string": "2"},
    ]
    told = await coder.ok("apply_changes", changes=changes, description="d")
    assert told.startswith("Written: a (+2 -2).")
    assert (coder.text("a"), (coder.folder / "link").is_symlink()) == ("1\n2\n", True)
    assert coder.asked[0].preview.text.startswith("--- a/a\n")


# --- What a person decides -----------------------------------------------------------------------------


async def test_C42_every_failure_of_the_pack_is_an_object_with_a_message(folder: Path) -> None:
    async with coding(folder) as coder:
        invalid, unknown = await coder.step(("read_file", {"paht": "f"}), ("reed_file", {"path": "f"}))
    for result, code, word in ((invalid, "invalid_arguments", "path"), (unknown, "unknown_tool", "read_file")):
        given = json.loads(result.text)
        assert (result.code, set(given), given["error"]) == (code, {"error", "message"}, True)
        assert word in given["message"]


async def test_C30_an_edit_without_a_description_says_what_it_changes(folder: Path) -> None:
    async with coding(folder) as coder:
        await read(coder, f="one\nmore\n")
        await coder.ok("edit", path="f", old_string="one\nmore", new_string="two")
        await coder.ok("edit", path="f", old_string="two", new_string="three", description="Count on.")
        assert [one.why for one in coder.asked] == ["Replaces 'one' and 1 more lines with 'two'.", "Count on."]


async def test_C30_C42_a_rejection_reads_as_one(folder: Path) -> None:
    async with coding(folder, [Reject("Use tabs."), Reject()]) as coder:
        await read(coder, f="one\n")
        for text in ("User rejected changes: Use tabs.", "User rejected changes"):
            result = await coder("edit", path="f", old_string="one", new_string="two")
            assert (result.is_error, result.code) == (True, "rejected")
            assert json.loads(result.text) == {"error": True, "message": text}
        assert coder.text("f") == "one\n"


async def test_C30_nobody_to_ask_is_a_no(folder: Path) -> None:
    async with make_run(deps={"root": folder}, approver=None) as run:
        raw = '{"path": "f", "content": "x", "description": "d"}'
        result = await edit_file.execute_raw(raw, run.context())
        assert result.code == "file_not_found"
        (folder / "f").write_text("y")
        SeenFiles(run).add("f", content_hash("y"), 1, [(0, 1)])
        result = await edit_file.execute_raw(raw, run.context())
    assert (result.code, (folder / "f").read_text()) == ("needs_approval", "y")


async def test_C30_a_call_around_the_approval_writes_nothing(folder: Path) -> None:
    (folder / "f").write_text("one\n")
    async with make_run(deps={"root": folder}) as run:
        from toolroll.errors import ToolFailure

        with pytest.raises(ToolFailure, match="Nobody has approved this"):
            await edit_file(EditFile(path="f", content="two\n", description="d"), ToolContext(run=run))
    assert (folder / "f").read_text() == "one\n"


async def test_C30_what_a_person_writes_instead_is_what_is_written_and_told(folder: Path) -> None:
    async with coding(folder, [Approve(edited="one\n2 (two)\nthree\n"), Approve()]) as coder:
        await read(coder, f="one\r\ntwo\r\nthree\r\n")
        told = await coder.ok("edit", path="f", old_string="two", new_string="2")
        assert (folder / "f").read_bytes() == b"one\r\n2 (two)\r\nthree\r\n"
        assert "The person did not take all of it as proposed. This is what was changed:\n--- a/f\n+++ b/f\n" in told
        assert "+2 (two)" in told
        await coder.ok("edit_file", path="f", content="one\n", description="d")  # all of it is still known


async def test_C30_hunks_and_files_can_be_taken_and_left(folder: Path) -> None:
    long = "".join(f"line {number}\n" for number in range(1, 31))

    def decide(request: ApprovalRequest) -> Decision:
        assert request.preview.editable == request.preview.text
        first, _, rest = request.preview.text.partition("@@ -27")
        return Approve(edited=first + "--- " + rest.split("\n--- ", 1)[1])

    async with coding(folder, decide) as coder:
        await read(coder, a=long, b="b\n", c="c\n")
        changes = [
            {"path": "a", "old_string": "line 1\n", "new_string": "LINE 1\n"},
            {"path": "a", "old_string": "line 30\n", "new_string": "LINE 30\n"},
            {"path": "b", "content": "B\n"},
        ]
        told = await coder.ok("apply_changes", changes=changes, description="d")
        assert coder.text("a") == long.replace("line 1\n", "LINE 1\n", 1)
        assert coder.text("b") == "B\n"
        assert "The person did not take all of it as proposed." in told
        assert "+LINE 1" in told
        assert "LINE 30" not in told


@pytest.mark.parametrize("taken", ["a", "b", "new"])
async def test_C30_C32_one_file_of_several_can_be_taken(taken: str, folder: Path) -> None:
    def decide(request: ApprovalRequest) -> Decision:
        parts = [f"--- {part}" for part in request.preview.text.split("--- ")[1:]]
        return Approve(edited=next(part for part in parts if f"+++ b/{taken}\n" in part))

    async with coding(folder, decide) as coder:
        await read(coder, a="a\n", b="b\n")
        changes = [
            {"path": "a", "content": "A\n"},
            {"path": "b", "content": "B\n"},
            {"path": "new", "content": "N\n", "create": True},
        ]
        told = await coder.ok("apply_changes", changes=changes, description="d")
        assert f"Written: {taken} (" in told
        expected = {"a": b"a\n", "b": b"b\n", taken: taken[0].upper().encode() + b"\n"}
        assert files_of(folder) == expected


async def test_C30_XA1_a_file_that_was_left_out_must_not_have_moved_either(folder: Path) -> None:
    def decide(request: ApprovalRequest) -> Decision:
        (folder / "b").write_text("theirs\n")
        return Approve(edited=request.preview.text.partition("--- a/b")[0])

    async with coding(folder, decide, by_person=True) as coder:
        await read(coder, a="a\n", b="b\n")
        changes = [{"path": "a", "content": "A\n"}, {"path": "b", "content": "B\n"}]
        result = await coder("apply_changes", changes=changes, description="d")
        assert (result.code, files_of(folder)) == ("stale_approval", {"a": b"a\n", "b": b"theirs\n"})


async def test_C30_C32_only_what_was_proposed_can_be_taken(folder: Path) -> None:
    def decide(request: ApprovalRequest) -> Decision:
        return Approve(edited=request.preview.text.replace("+A", "+evil"))

    async with coding(folder, decide) as coder:
        await read(coder, a="a\n", b="b\n")
        changes = [{"path": "a", "content": "A\n"}, {"path": "b", "content": "B\n"}]
        code, message = await coder.refused("apply_changes", changes=changes, description="d")
        assert code == "usage"
        assert "not part of what was proposed" in message
        assert files_of(folder) == {"a": b"a\n", "b": b"b\n"}


async def test_C30_XE1_XA1_a_file_that_changes_while_a_person_looks_is_left_alone(folder: Path) -> None:
    def decide(request: ApprovalRequest) -> Decision:
        (folder / "f").write_text("theirs\n")
        return Approve()

    async with coding(folder, decide) as coder:
        await read(coder, f="one\n")
        result = await coder("edit", path="f", old_string="one", new_string="two")
        assert result.is_error
        assert result.code in {"stale_edit", "stale_approval"}
    assert (folder / "f").read_text() == "theirs\n"


async def test_C17_for_a_new_file_nothing_is_walked_through(coder: Coder, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a project of 15,000 files each walk takes a tenth of a second, and there were 26 of them."""

    def walk(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a walk")

    monkeypatch.setattr("toolroll.workspace.search.tree.survey", walk)
    await coder.ok("create_file", path="new/folder/f", content="x\n", description="d")
    await coder.ok("apply_changes", changes=[{"path": "g/h", "content": "x", "create": True}], description="d")


async def test_XA3_two_yeses_to_one_change_make_it_once(coder: Coder) -> None:
    await read(coder, f="one\n")
    proposed: dict[str, object] = {"path": "f", "old_string": "one", "new_string": "one one"}
    first, second = await coder.step(("edit", proposed), ("edit", proposed))
    assert (first.is_error, second.is_error) == (False, True)
    assert coder.text("f") == "one one\n"
    assert len(coder.asked) == 2


async def test_C30_all_changes_of_a_turn_are_one_question(coder: Coder) -> None:
    await read(coder, a="a\n", b="b\n")
    results = await coder.step(
        ("edit", {"path": "a", "old_string": "a", "new_string": "A"}),
        ("edit", {"path": "b", "old_string": "b", "new_string": "B"}),
    )
    assert not any(result.is_error for result in results)
    assert files_of(coder.folder) == {"a": b"A\n", "b": b"B\n"}


async def test_C33_what_cannot_be_seen_is_named(coder: Coder) -> None:
    await read(coder, f="access = 'user'\r\n")
    await coder.ok("edit", path="f", old_string="'user'", new_string="'user\u202e \u2066# admin'")
    assert any("U+202E" in note for note in coder.asked[-1].preview.notes), coder.asked[-1].preview.notes
    await coder.ok("create_file", path="g", content="a\u200bb\n", description="d")
    assert any("U+200B" in note for note in coder.asked[-1].preview.notes), coder.asked[-1].preview.notes


async def test_a_rule_that_allows_writes_what_a_person_would_have_been_shown(folder: Path) -> None:
    (folder / "f").write_text("one\n")
    policy = Policy((Rule(action="allow", tool="edit"), Rule(action="deny", path="secret/**")))
    async with make_run(deps={"root": folder}, approver=None, policy=policy) as run:
        SeenFiles(run).add("f", content_hash("one\n"), 1, [(0, 1)])
        from tests.packs.code.conftest import BY_NAME

        raw = '{"path": "f", "old_string": "one", "new_string": "two"}'
        assert not (await BY_NAME["edit"].execute_raw(raw, run.context())).is_error
        raw = '{"path": "secret/f", "old_string": "one", "new_string": "two"}'
        assert (await BY_NAME["edit"].execute_raw(raw, run.context())).code == "denied"
    assert (folder / "f").read_text() == "two\n"


# --- What depends on it, and what follows ---------------------------------------------------------------


async def test_C23_a_person_is_told_how_many_files_import_what_changes(coder: Coder, project: Path) -> None:
    await coder.ok("find_importers", modulePath=FORMAT)
    await coder.ok("read_file", path=FORMAT)
    await coder.ok("edit", path=FORMAT, old_string='"cups"', new_string='"mugs"')
    assert coder.asked[-1].preview.hints == (f"{FORMAT} is imported by 3 files.",)
    await coder.ok("read_file", path="src/components/App.jsx")
    await coder.ok("edit", path="src/components/App.jsx", old_string="owes", new_string="is due")
    assert coder.asked[-1].preview.hints == ("src/components/App.jsx is imported by 1 file.",)
    await coder.ok("read_file", path="README.md")
    await coder.ok("edit_file", path="README.md", content="# Tea\n", description="d")
    assert not coder.asked[-1].preview.hints


async def test_C22_C23_without_an_index_a_person_is_told_that_importers_are_not_known(
    coder: Coder, project: Path
) -> None:
    await coder.ok("read_file", path=FORMAT)
    await coder.ok("edit", path=FORMAT, old_string='"cups"', new_string='"mugs"')
    [hint] = coder.asked[-1].preview.hints
    assert hint == "Who imports it is not known yet: the project is not indexed."
    await coder.ok("create_file", path="new.js", content="let x = 1;\n", description="d")  # nothing imports it yet
    await coder.ok("read_file", path="README.md")  # nor ever
    await coder.ok("edit_file", path="README.md", content="# Tea\n", description="d")
    assert [one.preview.hints for one in coder.asked[1:]] == [(), ()]


async def test_C23_an_answer_still_fits_when_the_number_of_importers_is_another(coder: Coder, project: Path) -> None:
    """Asked while nothing is indexed, asked when it is, and with one more importer: one question."""
    await coder.ok("read_file", path=FORMAT)
    tool = BY_NAME["edit"]
    arguments = dump_json({"path": FORMAT, "old_string": '"cups"', "new_string": '"mugs"'})
    call = ToolCall(id="c1", name="edit", arguments=arguments)
    asked = [await preview_call(tool, call, coder.run)]
    await coder.ok("find_importers", modulePath=FORMAT)
    asked.append(await preview_call(tool, call, coder.run))
    (project / "src/more.js").write_text('import { formatCups } from "./services/format.js";\n')
    await coder.ok("find_importers", modulePath=FORMAT)
    asked.append(await preview_call(tool, call, coder.run))
    assert all(isinstance(one, ApprovalRequest) for one in asked)
    requests = [one for one in asked if isinstance(one, ApprovalRequest)]
    assert len({one.preview.hints for one in requests}) == 3
    assert len({one.digest for one in requests}) == 1


async def test_C21_C31_the_index_is_right_after_a_change_and_after_an_undo(coder: Coder, project: Path) -> None:
    assert "3 imports" in await coder.ok("find_importers", modulePath=FORMAT)
    await coder.ok("create_file", path="src/brew.js", content="export function brew() {}\n", description="d")
    assert "src/brew.js:1  function brew" in await coder.ok("find_definition", symbol="brew")
    await coder.ok("edit", path="src/brew.js", old_string="brew()", new_string="steep()")
    assert "src/brew.js:1  function steep" in await coder.ok("find_definition", symbol="steep")
    assert (await coder.ok("find_definition", symbol="brew")).startswith("No definition of 'brew' was found.")
    await coder.ok("read_file", path=MAIN)
    await coder.ok("edit", path=MAIN, old_string="import { App", new_string='import "./brew.js";\nimport { App')
    assert f"{MAIN}:1" in await coder.ok("find_importers", modulePath="src/brew.js")
    workspace, history = await coder.run.context().resolve(WORKSPACE), await coder.run.context().resolve(HISTORY)
    undo(workspace, history, plan_undo(workspace, history, run_id=coder.run.run_id), run_id="person")
    assert not (project / "src/brew.js").exists()
    assert (await coder.ok("search_files", pattern="steep|brew")).startswith("No line matches")
    assert (await coder.ok("find_definition", symbol="steep")).startswith("No definition")
    code, _ = await coder.refused("edit", path=MAIN, old_string="brew", new_string="x")
    assert code == "stale_edit"
    undo(workspace, history, plan_redo(workspace, history), run_id="person")
    assert "src/brew.js" in await coder.ok("search_files", pattern="steep|brew")


async def test_C21_an_index_that_fails_does_not_make_a_change_fail(
    coder: Coder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refresh(*_: object) -> None:
        raise FileSystemRefused("The disk is full.", path="x", errno_name="ENOSPC")

    await coder.run.context().resolve(INDEX)
    monkeypatch.setattr(Index, "is_ready", True)
    monkeypatch.setattr(Index, "refresh", refresh)
    await coder.ok("create_file", path="f", content="x\n", description="d")
    assert "the index could not be brought up to date: The disk is full." in caplog.text


async def test_XP6_other_names_of_a_file_keep_what_they_have_and_it_is_said(coder: Coder, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("one\n")
    (coder.folder / "f").hardlink_to(tmp_path / "outside")
    await coder.ok("read_file", path="f")
    told = await coder.ok("edit", path="f", old_string="one", new_string="two")
    assert (coder.text("f"), (tmp_path / "outside").read_text()) == ("two\n", "one\n")
    assert "'f' had other names (hard links)" in told


# --- What was seen -------------------------------------------------------------------------------------

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


@given(SPANS)
def test_C16_spans_are_joined_without_loss(spans: list[tuple[int, int]]) -> None:
    lines = {line for start, end in spans for line in range(start, end)}
    found = merge_spans(spans)
    assert {line for start, end in found for line in range(start, end)} == lines
    assert all(first[1] < second[0] for first, second in pairwise(found))


def test_C19_another_content_begins_anew() -> None:
    run = make_run()
    seen = SeenFiles(run)
    seen.add("f", "h1", 4, [(0, 2)])
    seen.add("f", "h1", 4, [(2, 4)])
    assert seen.get("f").is_whole  # type: ignore[union-attr]
    count = len(run.events)
    seen.add("f", "h1", 4, [(1, 3)])
    assert len(run.events) == count, "nothing new is nothing to write down"
    seen.add("f", "h2", 4, [(0, 1)])
    assert seen.get("f").spans == [(0, 1)]  # type: ignore[union-attr]
    assert seen.get("g") is None
