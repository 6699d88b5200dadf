"""Every tool against nasty files and nasty arguments: a clear answer, no traceback, nothing changed that must not."""

import os
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.packs.code.conftest import BY_NAME, Coder, coding, files_of
from tests.safe.programs.test_ripgrep import seconds_of_programs
from tests.workspace.nasty import BINARY, LINKS, MISSING_OR_OUTSIDE, ODD_NAMES, TEXTS, write_nasty

from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.serialize import dump_json
from toolroll.outputs.cut import CONTEXT_BYTES
from toolroll.packs.code.seen_files import SeenFiles

MAX_SECONDS: Final = 5
WITH_PATH: Final[dict[str, dict[str, object]]] = {
    "read_file": {},
    "list_files": {"recursive": True},
    "search_files": {"pattern": "needle"},
    "find_files": {"pattern": "*"},
    "outline": {},
    "edit_file": {"content": "all new\n", "description": "d"},
    "create_file": {"content": "made\n", "description": "d"},
    "edit": {"old_string": "needle", "new_string": "pin"},
}
ASKED: Final = {"find_definition": "symbol", "find_importers": "modulePath", "find_references": "symbol"}
CODECS: Final = {"utf16le.txt": "utf-16-le", "utf16be.txt": "utf-16-be", "utf32le.txt": "utf-32-le"}
REFUSED_NAMES: Final = (
    "..",
    "../outside.txt",
    "a/../../outside.txt",
    "/etc/passwd",
    "~/.ssh/id_rsa",
    "",
    "a//b",
    "a/",
    "a\0b",
    "a\nb",
    "a\x1b[2Jb",
    "a\x85b",
    "back\\slash",
    "\u202etxt.exe",
    "zero\u200bwidth",
    "tag\U000e0041",
    ".git/config",
    ".GIT/config",
    ".git\u200d/config",
    "git~1/config",
    ".git::$INDEX_ALLOCATION/config",
    ".env",
    ".Env",
    "x" * 5_000,
)


async def tried(coder: Coder, name: str, **arguments: object) -> ToolResult:
    """A call of which the least is asked: it ends soon, and as an answer or a failure that says what it is."""
    before = time.process_time() + seconds_of_programs()
    result = await coder(name, **arguments)
    assert time.process_time() + seconds_of_programs() - before < MAX_SECONDS
    assert result.code != "tool_error", (name, arguments, result.text)
    assert "Traceback" not in result.text
    assert len(result.text.encode()) < CONTEXT_BYTES
    if result.is_error and result.code not in {"invalid_arguments", "invalid_json", "rejected"}:
        assert isinstance(result.value, dict), result.text
        assert result.value["error"] is True
        assert len(result.value["message"].split()) > 4, "what happened, and what to try"
    return result


def snapshot(folder: Path) -> tuple[dict[str, bytes], dict[str, str], bytes]:
    links = {str(one): os.readlink(one) for one in sorted(folder.rglob("*")) if one.is_symlink()}
    return files_of(folder), links, (folder.parent / "outside.txt").read_bytes()


@pytest.fixture
def nasty(folder: Path) -> Path:
    return write_nasty(folder)


@pytest.mark.parametrize("name", [*WITH_PATH])
async def test_XP3_XF1_the_nasty_files_through_every_tool_with_a_path(name: str, nasty: Path) -> None:
    """Whoever is asked says no: nothing may change, whatever was proposed."""
    before = snapshot(nasty)
    async with coding(nasty, Reject()) as coder:
        for path in (*TEXTS, *BINARY, *LINKS, "pipe", "socket", "deep", "hard-twin.txt", "lf.txt/below", "."):
            await coder("read_file", path=path)
            result = await tried(coder, name, path=path, **WITH_PATH[name])
            if path in MISSING_OR_OUTSIDE:
                assert result.code == "outside_root", (path, result.text)
            assert "a secret from outside" not in result.text
    assert snapshot(nasty) == before


@pytest.mark.parametrize("name", ASKED)
async def test_XP3_the_nasty_files_through_every_tool_that_follows_symbols(name: str, nasty: Path) -> None:
    before = snapshot(nasty)
    async with coding(nasty, Reject()) as coder:
        for asked in (
            "needle",
            "price",
            "name",
            "access",
            "shift-jis.py",
            "declared",
            "link-outside",
            "../outside",
            "-e",
        ):
            assert "a secret" not in (await tried(coder, name, **{ASKED[name]: asked})).text
        await tried(coder, "repo_map")
    assert snapshot(nasty) == before


async def test_XE3_XE4_an_edit_of_every_nasty_text_changes_the_passage_and_nothing_else(nasty: Path) -> None:
    """The needle becomes something literal; undoing it is tested with the history."""
    new = "$& \\1 $$ pin"
    edited = 0
    async with coding(nasty) as coder:
        for path, data in TEXTS.items():
            if (await coder("read_file", path=path)).is_error:
                continue
            result = await tried(coder, "edit", path=path, old_string="needle", new_string=new)
            if not result.is_error:
                edited += 1
                codec = CODECS.get(path, "ascii")
                assert (nasty / path).read_bytes() == data.replace("needle".encode(codec), new.encode(codec)), path
            else:
                assert (nasty / path).read_bytes() == data, path
    assert edited >= 20


async def test_XP10_odd_names_are_listed_escaped(nasty: Path) -> None:
    async with coding(nasty) as coder:
        for recursive in (False, True):
            pages = [await coder.ok("list_files", path=".", recursive=recursive)]
            text = "\n".join(pages)
            assert "\x1b" not in text
            assert "new\nline" not in text
            assert "[31mred.txt" in text
        found = await coder.ok("find_files", pattern="*red*")
        assert "\x1b" not in found
        assert "[31mred.txt" in found
        searched = await coder.ok("search_files", pattern="needle", filePattern="*red*")
        assert searched.count("[31mred.txt") == 1
        assert "\x1b" not in searched
    assert len(ODD_NAMES) == 5


@pytest.mark.parametrize("path", REFUSED_NAMES)
async def test_XP1_XP2_XP7_XP8_XP10_names_that_are_refused_by_every_tool(path: str, folder: Path) -> None:
    (folder.parent / "outside.txt").write_text("a secret from outside")
    (folder / "a").mkdir()
    async with coding(folder) as coder:
        for name, more in WITH_PATH.items():
            if path in {"", "a/"} and name in {"list_files", "search_files", "find_files"}:
                continue  # the root, as '.' is; and a folder as lists show it
            result = await tried(coder, name, path=path, **more)
            # What is invisible is refused in new names; a file that has such a name can still be spoken of.
            is_sought = name != "create_file" and path in {"\u202etxt.exe", "zero\u200bwidth", "tag\U000e0041"}
            assert result.code == ("file_not_found" if is_sought else "path_validation"), (name, result.text)
        changes: list[dict[str, object]] = [{"path": path, "content": "x", "create": True}]
        assert (await tried(coder, "apply_changes", changes=changes, description="d")).code == "path_validation"
        assert coder.asked == []
    assert (list(folder.iterdir()), list((folder / "a").iterdir())) == ([folder / "a"], [])


async def test_XP2_a_sibling_with_a_longer_name_is_outside(folder: Path) -> None:
    evil = folder.parent / f"{folder.name}-evil"
    evil.mkdir()
    (evil / "f").write_text("secret")
    async with coding(folder) as coder:
        for path in (f"../{evil.name}/f", str(evil / "f")):
            assert (await coder.refused("read_file", path=path))[0] == "path_validation"


async def test_XP1_an_absolute_path_inside_is_told_what_it_is_called_here(folder: Path) -> None:
    async with coding(folder) as coder:
        _, message = await coder.refused("read_file", path=str(folder / "src/main.py"))
    assert message.endswith("Here that is 'src/main.py'.")


async def test_XP4_nothing_is_created_below_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "out").symlink_to(tmp_path / "elsewhere")
    (folder / "in").symlink_to("real")
    (folder / "real").mkdir()
    async with coding(folder) as coder:
        for path in ("out/f", "out/a/b/f"):
            code, _ = await coder.refused("create_file", path=path, content="x", description="d")
            assert code == "outside_root"
        code, message = await coder.refused("create_file", path="in/a/f", content="x", description="d")
        assert (code, message) == ("outside_root", "'in/a/f' goes through a link. Name the folder itself: 'real'.")
        assert coder.asked == []
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_XP4_a_parent_that_becomes_a_link_meanwhile_leads_nowhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "sub").mkdir()

    def decide(_: ApprovalRequest) -> Decision:
        (folder / "sub").rmdir()
        (folder / "sub").symlink_to(tmp_path / "elsewhere")
        return Approve()

    async with coding(folder, decide) as coder:
        result = await tried(coder, "create_file", path="sub/f", content="x", description="d")
    assert result.is_error
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_XA9_what_would_run_code_is_not_proposed_at_all(folder: Path) -> None:
    (folder / "link").symlink_to(".vscode/settings.json")
    (folder / ".vscode").mkdir()
    (folder / ".vscode/settings.json").write_text("{}")
    async with coding(folder, by_person=True) as coder:
        for path in (".vscode/settings.json", ".vscode/tasks.json", ".bashrc", ".toolroll/tools/x.py", "link"):
            for name in ("edit_file", "create_file"):
                result = await tried(coder, name, path=path, content="x", description="d")
                assert result.is_error, (name, path)
                assert result.code in {"path_validation", "file_exists"}
        assert coder.asked == []
    assert (folder / ".vscode/settings.json").read_text() == "{}"


async def test_XP10_twins_in_two_normal_forms_are_two_files(folder: Path) -> None:
    one, two = (unicodedata.normalize(form, "é.txt") for form in ("NFC", "NFD"))
    (folder / one).write_text("composed\n")
    (folder / two).write_text("decomposed\n")
    async with coding(folder) as coder:
        await coder.ok("read_file", path=one)
        assert (await coder.refused("edit", path=two, old_string="omposed", new_string="x"))[0] == "stale_edit"
        await coder.ok("edit", path=one, old_string="composed", new_string="x")
    assert ((folder / one).read_text(), (folder / two).read_text()) == ("x\n", "decomposed\n")


# --- The list of bad input -----------------------------------------------------------------------------


@contextmanager
def without_rights() -> Iterator[None]:
    """As somebody whom permissions bind; nothing changes for those whom they bind already."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


async def test_C42_every_kind_of_bad_input_is_a_clear_failure(folder: Path) -> None:
    """What happened, the value, what to try next; and nothing changed, nobody asked."""
    (folder / "dir").mkdir()
    (folder / "main.py").write_text("x = 1\nx = 1\n")
    (folder / "pic.png").write_bytes(b"\x89PNG\0\0")
    (folder / "big").write_bytes(b"x" * 2_000_000)
    (folder / "loop").symlink_to("loop")
    (folder / "stale.py").write_text("old\n")
    whole: dict[str, object] = {"content": "x\n", "description": "d"}
    same: dict[str, object] = {"content": "x = 1\nx = 1\n", "description": "d"}
    passage: dict[str, object] = {"old_string": "x", "new_string": "y"}
    async with coding(folder) as coder:
        await coder.ok("read_file", path="main.py")
        await coder.ok("read_file", path="stale.py")
        (folder / "stale.py").write_text("newer\n")
        before = files_of(folder)
        cases: list[tuple[str, dict[str, object], str, str]] = [
            ("search_files", {"pattern": "("}, "invalid_arguments", "put a backslash"),
            ("search_files", {"pattern": ""}, "invalid_arguments", "Give a regular expression"),
            ("search_files", {"pattern": "x", "path": "nowhere"}, "file_not_found", "The project holds"),
            ("find_files", {"pattern": " "}, "invalid_arguments", "Give a name"),
            ("read_file", {"path": "man.py"}, "file_not_found", "Did you mean 'main.py'?"),
            ("read_file", {"path": "main.py", "offset": 9}, "invalid_arguments", "Begin with 1"),
            ("read_file", {"path": "dir"}, "not_a_file", "list_files"),
            ("edit_file", {"path": "dir", **whole}, "not_a_file", "list_files"),
            ("outline", {"path": "dir"}, "not_a_file", "list_files"),
            ("list_files", {"path": "main.py"}, "not_a_file", "Name the folder that it is in"),
            ("read_file", {"path": "pic.png"}, "not_text", "List its folder"),
            ("read_file", {"path": "big"}, "file_too_large", "search_files"),
            ("edit", {"path": "big", **passage}, "file_too_large", "search_files"),
            ("edit", {"path": "stale.py", **passage}, "stale_edit", "Read it again"),
            ("edit", {"path": "main.py", **passage}, "edit_refused", "set replace_all"),
            ("edit", {"path": "main.py", "old_string": "", "new_string": "y"}, "edit_refused", "use edit_file"),
            ("edit", {"path": "main.py", "old_string": "x", "new_string": "x"}, "edit_refused", "Leave it out"),
            ("edit", {"path": "main.py", **passage, "expected_replacements": 3}, "edit_refused", "Expect that"),
            ("edit_file", {"path": "main.py", **same}, "edit_refused", "Leave the change out"),
            ("read_file", {"path": "../x"}, "path_validation", "without going up"),
            ("create_file", {"path": "/x", **whole}, "path_validation", "from the root folder"),
            ("read_file", {"path": "loop"}, "outside_root", "Name the file itself"),
            ("create_file", {"path": "loop", **whole}, "outside_root", "Name the file itself"),
            ("create_file", {"path": "main.py/x", **whole}, "not_a_file", "list_files"),
        ]
        for name, arguments, code, advice in cases:
            found, message = await coder.refused(name, **arguments)
            assert found == code, (name, arguments, message)
            assert advice in message, (name, arguments, message)
        assert (files_of(folder), coder.asked) == (before, [])


async def test_C42_a_file_that_may_not_be_read(folder: Path) -> None:
    for place in (folder, *list(folder.parents)[:2]):
        place.chmod(0o755)
    (folder / "secret").write_text("x")
    (folder / "secret").chmod(0)
    async with coding(folder) as coder:
        await coder.ok("list_files", path=".")
        with without_rights():
            code, message = await coder.refused("read_file", path="secret")
    assert code == "file_system"
    assert "Permission denied (EACCES). Check the permissions" in message


async def test_C42_an_argument_longer_than_a_command_line(folder: Path) -> None:
    (folder / "f").write_text("x")
    long = "x" * 300_000
    async with coding(folder) as coder:
        assert (await tried(coder, "search_files", pattern=long)).is_error
        for name, arguments in {
            "search_files": {"pattern": "x", "filePattern": long},
            "find_files": {"pattern": long},
            "find_definition": {"symbol": long},
            "find_references": {"symbol": long},
            "find_importers": {"modulePath": long},
        }.items():
            await tried(coder, name, **arguments)


# --- Whatever a model may write ------------------------------------------------------------------------

PIECES: Final = [*"a./*?[]{}\\\0\n-($é\u202e", "lf.txt", "..", "**"]
TEXT: Final = st.one_of(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.text(max_size=8))
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "read_file": ("path",),
    "list_files": ("path",),
    "search_files": ("pattern", "path", "filePattern"),
    "find_files": ("pattern", "path"),
    "find_definition": ("symbol",),
    "find_importers": ("modulePath",),
    "outline": ("path",),
    "find_references": ("symbol",),
    "edit_file": ("path", "content", "description"),
    "create_file": ("path", "content", "description"),
    "edit": ("path", "old_string", "new_string", "expected_hash"),
}


@pytest.mark.parametrize("name", FIELDS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
async def test_C42_whatever_is_asked_is_answered(name: str, tmp_path: Path, data: st.DataObject) -> None:
    """Through the JSON of a call, with a person who says no to every change."""
    folder = tmp_path / "fuzzed"
    if not folder.exists():
        (folder / "a").mkdir(parents=True)
        (folder / "lf.txt").write_text("a\nneedle\n")
        (folder / "a/code.py").write_text("def a(): pass\n")
    before = files_of(folder)
    async with coding(folder, Reject(), by_person=True) as coder:
        given_ = {field: data.draw(TEXT) for field in FIELDS[name]}
        await tried(coder, name, **given_)
    assert files_of(folder) == before


async def test_C42_a_lone_surrogate_reaches_no_tool(folder: Path) -> None:
    async with coding(folder) as coder:
        for name in ("create_file", "read_file"):
            raw = dump_json({"path": "f"} | ({"content": "X", "description": "d"} if name == "create_file" else {}))
            result = await BY_NAME[name].execute_raw(raw.replace("f", "\\ud800", 1), coder.run.context())
            assert (result.is_error, result.code) == (True, "invalid_json")
        assert SeenFiles(coder.run).get("f") is None
