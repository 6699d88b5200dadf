"""Rules judge files, not names: whatever a link is called and however often it is swapped (XP11-XP15)."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count, takewhile
from pathlib import Path
from typing import Final

import pytest
from tests.packs.code.conftest import BY_NAME, Coder

from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject, Target
from toolroll.kernel.call.result import ToolResult
from toolroll.packs.code.keys import HISTORY
from toolroll.testing import RecordingApprover, make_run
from toolroll.testing.run import Answers

ROUNDS: Final = int(os.environ.get("TOOLROLL_ROUNDS", "120"))
MAKEFILE: Final = "all:\n\techo word\n"
CANARY: Final = "CANARY"
ANSWERS: Final = 1 + ROUNDS // 400
"""Of each call in a race that were no refusals, at least: a call that is always refused proves nothing."""

LINKS: Final = {
    "notes/link.md": "../Makefile",
    "notes/chain.md": "link.md",
    "notes/folder": "../build",
    "notes/round": "../build/back",
}
"""Each leads to the Makefile, or to the one in `build`."""

READS: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("read_file", {}),
    ("search_files", {"pattern": "word"}),
    ("outline", {}),
    ("find_importers", {}),
)
WRITES: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("edit", {"old_string": "word", "new_string": "other"}),
    ("edit_file", {"content": "all:\n", "description": "d"}),
)


@pytest.fixture
def linked(folder: Path) -> Path:
    """A project with links inside of it."""
    for name in ("notes", "build"):
        (folder / name).mkdir()
    (folder / "notes/plain.md").write_text("a word\n")
    for name in ("Makefile", "build/Makefile"):
        (folder / name).write_text(MAKEFILE)
    (folder / "build/back").symlink_to("..")
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    return folder


@contextmanager
def judged(folder: Path, *rules: Rule, decisions: Answers | None = None) -> Iterator[Coder]:
    """Somebody at work under these rules; a person's call, so that nothing has to be read before it is changed."""
    approver = RecordingApprover(Reject() if decisions is None else decisions)
    run = make_run(deps={"root": folder, "by_person": True}, policy=Policy(rules), approver=approver)
    yield Coder(folder, run, approver)


def arguments_of(tool: str, path: str, more: dict[str, object]) -> dict[str, object]:
    return {"modulePath" if tool == "find_importers" else "path": path, **more}


@pytest.mark.parametrize("path", ["notes/link.md", "notes/chain.md", "notes/folder/Makefile", "notes/round/Makefile"])
async def test_XP11_an_allow_rule_is_for_files_and_not_for_links_to_others(linked: Path, path: str) -> None:
    with judged(linked, Rule(action="allow", path="notes/**")) as coder:
        async with coder.run:
            for tool, more in WRITES:
                result = await coder(tool, path=path, **more)
                assert result.code == "rejected", (tool, result.text)
            change = {"path": path, "old_string": "word", "new_string": "other"}
            plain = {"path": "notes/plain.md", "old_string": "word", "new_string": "other"}
            assert (await coder("apply_changes", changes=[plain, change], description="d")).code == "rejected"
            assert len(coder.asked) == 3
            await coder.ok("edit", path="notes/plain.md", old_string="word", new_string="other")
            assert len(coder.asked) == 3
    assert [coder.text(name) for name in ("Makefile", "build/Makefile")] == [MAKEFILE, MAKEFILE]


async def test_XP11_a_rule_for_both_names_allows_the_call(linked: Path) -> None:
    with judged(linked, Rule(action="allow", tool="edit")) as coder:
        async with coder.run:
            answer = await coder.ok("edit", path="notes/link.md", old_string="word", new_string="other")
    assert "Written: Makefile (+1 -1)." in answer
    assert coder.asked == []


@pytest.mark.parametrize("path", ["Makefile", "notes/link.md", "notes/chain.md", "notes/round/Makefile"])
async def test_XP12_a_deny_rule_on_a_file_holds_for_every_link_to_it(linked: Path, path: str) -> None:
    change = {"path": path, "old_string": "word", "new_string": "other"}
    with judged(linked, Rule(action="deny", path="Makefile"), decisions=Approve()) as coder:
        async with coder.run:
            for tool, more in (*READS, *WRITES):
                result = await coder(tool, **arguments_of(tool, path, more))
                assert result.code == "denied", (tool, result.text)
            assert (await coder("apply_changes", changes=[change], description="d")).code == "denied"
            assert (await coder.step(("read_file", {"path": path})))[0].code == "denied"
    assert (coder.asked, coder.text("Makefile")) == ([], MAKEFILE)


@pytest.mark.parametrize("tool", ["list_files", "find_files", "search_files", "create_file"])
async def test_XP12_a_deny_rule_on_a_folder_holds_for_links_to_it(linked: Path, tool: str) -> None:
    named: dict[str, object] = {"path": "notes/folder/"}
    if tool == "create_file":
        named = {"path": "notes/folder/new", "content": "x", "description": "d"}
    elif tool != "list_files":
        named["pattern"] = "word"
    with judged(linked, Rule(action="deny", path="build/**"), decisions=Approve()) as coder:
        async with coder.run:
            assert (await coder(tool, **named)).code == "denied"


async def test_XP12_an_ask_rule_asks_about_links_too(linked: Path) -> None:
    with judged(linked, Rule(action="ask", tool="read_file", path="Makefile"), decisions=Approve()) as coder:
        async with coder.run:
            assert "echo word" in await coder.ok("read_file", path="notes/link.md")
    assert [request.links for request in coder.asked] == [(Target(name="notes/link.md", resolved="Makefile"),)]


async def test_XP13_a_person_is_shown_where_a_path_leads_and_the_answer_is_bound_to_it(linked: Path) -> None:
    with judged(linked) as coder:
        async with coder.run:
            await coder("edit", path="notes/chain.md", old_string="word", new_string="other")
            (linked / "notes/chain.md").unlink()
            (linked / "notes/chain.md").symlink_to("../build/Makefile")
            await coder("edit", path="notes/chain.md", old_string="word", new_string="other")
    first, second = coder.asked
    assert [str(link) for link in first.links] == ["notes/chain.md leads to Makefile"]
    assert (first.paths, first.files, first.judged_paths) == (
        ("notes/chain.md",),
        ("Makefile",),
        ("notes/chain.md", "Makefile"),
    )
    assert "--- a/Makefile" in first.preview.text
    assert "--- a/build/Makefile" in second.preview.text
    assert first.digest != second.digest


@pytest.mark.parametrize("target", ["../build/Makefile", "plain.md", "../..", "nothing", None])
async def test_XP13_a_link_that_is_swapped_before_the_answer_counts_changes_nothing(
    linked: Path, target: str | None
) -> None:
    def swap(_request: ApprovalRequest) -> Decision:
        (linked / "notes/link.md").unlink()
        if target is None:
            (linked / "notes/link.md").write_text(MAKEFILE)
        else:
            (linked / "notes/link.md").symlink_to(target)
        return Approve()

    with judged(linked, decisions=swap) as coder:
        async with coder.run:
            result = await coder("edit", path="notes/link.md", old_string="word", new_string="other")
    assert result.code == "stale_approval", result.text
    assert [coder.text(name) for name in ("Makefile", "build/Makefile")] == [MAKEFILE, MAKEFILE]
    assert coder.text("notes/plain.md") == "a word\n"


async def test_XP14_the_record_and_what_undoes_it_name_the_file_itself(linked: Path) -> None:
    with judged(linked, decisions=Approve()) as coder:
        async with coder.run:
            await coder.ok("edit", path="notes/link.md", old_string="word", new_string="other")
            [record] = (await coder.run.context().resolve(HISTORY)).changes()
    assert [entry.path for entry in record.entries] == ["Makefile"]
    assert (linked / "notes/link.md").is_symlink()


async def test_XP14_what_has_become_a_link_is_not_written_through(linked: Path) -> None:
    """Not even to a file with the same content, which a hash alone would let pass."""

    class Swap:
        async def intent(self, _call: object, /) -> None:
            (linked / "Makefile").unlink()
            (linked / "Makefile").symlink_to("build/Makefile")

        async def outcome(self, _call: object, _result: ToolResult, /) -> None:
            return

    with judged(linked, Rule(action="allow", tool="edit")) as coder:
        coder.run.ledger = Swap()
        async with coder.run:
            result = await coder("edit", path="Makefile", old_string="word", new_string="other")
    assert result.code == "stale_edit", result.text
    assert coder.text("build/Makefile") == MAKEFILE


# Two names change places as fast as the system can do it, with short rests at random moments: calls that are answered
# come with those, and prove more than refusals.
SWAP: Final = """
import ctypes, os, random, sys, time
names = [os.fsencode(name) for name in sys.argv[1:]]
at_once = ctypes.CDLL(None).renameat2
print("swapping", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(random.randrange(400)):
        for one, other in zip(names[::2], names[1::2]):
            at_once(-100, one, -100, other, 2)
    time.sleep(random.random() / 50)
"""


@contextmanager
def swapping(*names: Path) -> Iterator[None]:
    with ExitStack() as stack:
        process = stack.enter_context(
            subprocess.Popen([sys.executable, "-c", SWAP, *names], stdout=subprocess.PIPE, text=True)
        )
        stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == "swapping\n"
        yield


def secrets_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.glob("secret*/**/*")) if path.is_file()}


def racing_calls(path: str, folder: str) -> Sequence[tuple[str, dict[str, object]]]:
    """One call of every tool, with a path where it takes one, and of some without."""
    change = {"path": path, "old_string": "line", "new_string": "line"}
    calls: list[tuple[str, dict[str, object]]] = [
        ("read_file", {"path": path}),
        ("outline", {"path": path}),
        ("find_importers", {"modulePath": path}),
        ("edit", {"path": path, "old_string": "line", "new_string": "line line", "replace_all": True}),
        ("edit_file", {"path": path, "content": "x = 1  # line\n", "description": "d"}),
        ("apply_changes", {"changes": [{**change, "new_string": "line  "}], "description": "d"}),
    ]
    calls += [
        ("list_files", {"path": folder}),
        ("list_files", {"path": folder, "recursive": True}),
        ("find_files", {"pattern": "*", "path": folder}),
        ("search_files", {"pattern": "line", "path": folder}),
        ("search_files", {"pattern": "line", "path": path}),
        ("search_files", {"pattern": "line"}),
        ("find_files", {"pattern": "*.py"}),
        ("find_definition", {"symbol": "x"}),
        ("find_references", {"symbol": "x"}),
        ("repo_map", {}),
        ("create_file", {"path": f"{folder}/new.py", "content": "x\n", "description": "d"}),
    ]
    return calls


def is_short(rounds: int, codes: Mapping[str, Counter[str]]) -> bool:
    """Whether the race must go on: until every tool had its answers, however the system shares out its time."""
    # Nothing is made through a link: `create_file` is refused whatever the folder is at that moment.
    is_met = all(codes[tool]["None"] >= ANSWERS for tool in codes.keys() - {"create_file"})
    return rounds < ROUNDS // len(RACES) or not is_met or not any(found["denied"] for found in codes.values())


RACES: Final = {
    "file": ("notes/link.py", "notes/link.py", "notes/folder"),
    "folder": ("notes/folder", "notes/folder/a.py", "notes/folder"),
    "file itself": ("open/a.py", "open/a.py", "open"),
    "folder itself": ("open", "open/a.py", "open"),
}
"""What is swapped with `<name>~`, and the file and folder that the calls name."""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(sys.platform != "linux", reason="two names change places in one step on Linux only")
@pytest.mark.parametrize("race", RACES)
async def test_XP15_rules_previews_and_writes_speak_of_one_file(
    folder: Path, race: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the race is about names, not about disks
    for name in ("notes", "open", "secret"):
        (folder / name).mkdir()
    (folder / "open/a.py").write_text("x = 1  # line\n")
    (folder / "secret/a.py").write_text(f"{CANARY} = 1  # line\n")
    (folder / f"secret/{CANARY}.py").write_text("x = 1  # line\n")
    for name, target in {"link.py": "../open/a.py", "link.py~": "../secret/a.py"}.items():
        (folder / "notes" / name).symlink_to(target)
    for name, target in {"folder": "../open", "folder~": "../secret"}.items():
        (folder / "notes" / name).symlink_to(target)
    (folder / "open/a.py~").symlink_to("../secret/a.py")
    (folder / "open~").symlink_to("secret")
    swapped, path, below = RACES[race]
    before, calls = secrets_of(folder), racing_calls(path, below)
    codes = {tool: Counter[str]() for tool, _ in calls}
    with judged(folder, Rule(action="deny", path="secret/**"), decisions=Approve()) as coder:
        async with coder.run:
            with swapping(folder / swapped, folder / f"{swapped}~"):
                for number in takewhile(lambda number: is_short(number, codes), count()):
                    tool, arguments = calls[number % len(calls)]
                    result = await coder(tool, **arguments)
                    codes[tool][str(result.code)] += 1
                    assert CANARY not in result.text, (tool, result.text)
    assert secrets_of(folder) == before
    for request in coder.asked:
        assert CANARY not in request.preview.text
        assert all(file.startswith("open/") for file in request.files), request.files
        assert "secret" not in request.preview.text
    assert set(BY_NAME) >= {tool for tool, _ in calls}
