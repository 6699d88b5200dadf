"""What a rule denies is in no answer of the code tools, also where a call does not name it (XP17, XP18)."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import pytest
from tests.packs.code.conftest import BY_NAME
from tests.packs.code.test_links import judged

from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Approve
from toolroll.kernel.define.wrappers import RenamedTool
from toolroll.testing import make_run

SECRET_ANYWHERE: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("search_files", {"pattern": "word|hidden"}),
    ("search_files", {"pattern": "word|hidden", "path": "."}),
    ("search_files", {"pattern": "word|hidden", "path": "deep"}),
    ("find_files", {"pattern": "*"}),
    ("find_files", {"pattern": "hidden", "path": "deep"}),
    ("list_files", {"path": ".", "recursive": True}),
    ("list_files", {"path": "deep", "recursive": True}),
    ("find_definition", {"symbol": "hidden_word"}),
    ("find_references", {"symbol": "hidden_word"}),
    ("find_importers", {"modulePath": "plain"}),
    ("repo_map", {}),
    ("read_file", {"path": "hidden_word.py"}),
    ("edit", {"path": "hidden_word.py", "old_string": "a", "new_string": "b"}),
)
"""Calls whose own paths no rule is about, and which look at what is below or near them."""


@pytest.fixture
def guarded(folder: Path) -> Path:
    """A project with files that a rule denies, beside others that use them."""
    (folder / "deep/secret").mkdir(parents=True)
    (folder / "plain.py").write_text("word = 1\n")
    (folder / "deep/plain.py").write_text("def plain_word():\n    return 1\n")
    (folder / "deep/secret/hidden_word.py").write_text("import plain\n\n\ndef hidden_word():\n    return hidden_word\n")
    return folder


@pytest.mark.parametrize(("tool", "arguments"), SECRET_ANYWHERE)
async def test_XP17_what_a_deny_rule_is_about_is_in_no_answer(
    guarded: Path, tool: str, arguments: dict[str, object]
) -> None:
    with judged(guarded, Rule(action="deny", path="deep/secret/**"), decisions=Approve()) as coder:
        async with coder.run:
            result = await coder(tool, **arguments)
    assert "def hidden_word" not in result.text
    assert "secret" not in result.text


async def test_XP17_without_the_rule_the_same_calls_show_it(guarded: Path) -> None:
    with judged(guarded, decisions=Approve()) as coder:
        async with coder.run:
            shown = [(await coder(tool, **arguments)).text for tool, arguments in SECRET_ANYWHERE]
    assert all("secret" in text for text in shown), [text for text in shown if "secret" not in text]


@pytest.mark.parametrize("named", ["search_files", "SEARCH_*", "find_*"])
async def test_XP18_a_deny_rule_for_some_tools_hides_files_from_these_alone(guarded: Path, named: str) -> None:
    with judged(guarded, Rule(action="deny", tool=named, path="deep/secret/**")) as coder:
        async with coder.run:
            shown = {tool: "secret" in (await coder(tool, **arguments)).text for tool, arguments in SECRET_ANYWHERE}
            assert "hidden_word" in await coder.ok("read_file", path="deep/secret/hidden_word.py")
    hidden = {tool for tool, is_shown in shown.items() if not is_shown}
    assert hidden == {tool for tool in shown if fnmatchcase(tool, named.lower())}


async def test_XP18_a_rule_holds_for_a_tool_that_has_another_name(guarded: Path) -> None:
    run = make_run(deps={"root": guarded}, policy=Policy((Rule(action="deny", tool="grep", path="deep/secret/**"),)))
    async with run:
        for tool in (RenamedTool(BY_NAME["search_files"], "grep"), BY_NAME["search_files"]):
            result = await tool.execute_raw('{"pattern": "hidden"}', run.context())
            assert ("secret" in result.text) is (tool.name != "grep")


NOTED: Final = frozenset(
    {"search_files", "find_files", "list_files", "find_definition", "find_references", "find_importers", "repo_map"}
)


@pytest.mark.parametrize(("tool", "arguments"), SECRET_ANYWHERE)
async def test_XP19_what_an_ask_rule_is_about_is_in_no_answer_of_a_call_that_does_not_name_it(
    guarded: Path, tool: str, arguments: dict[str, object]
) -> None:
    with judged(guarded, Rule(action="ask", path="deep/secret/**"), decisions=Approve()) as coder:
        async with coder.run:
            result = await coder(tool, **arguments)
    text, _, note = result.text.rpartition("\n[left out: ")
    assert "secret" not in (text if tool in NOTED else result.text)
    assert ("'deep/secret/**'" in note) == (tool in NOTED)


async def test_XP19_a_call_that_names_it_is_asked_about_and_sees_it_after_a_yes(guarded: Path) -> None:
    with judged(guarded, Rule(action="ask", path="deep/secret/**"), decisions=Approve()) as coder:
        async with coder.run:
            found = await coder.ok("search_files", pattern="hidden_word", path="deep/secret")
            assert "def hidden_word" in found
            assert "def hidden_word" in await coder.ok("read_file", path="deep/secret/hidden_word.py")
            assert "left out" not in found
    assert [request.tool for request in coder.asked] == ["search_files", "read_file"]


@pytest.mark.parametrize(("allowed", "is_seen"), [(None, True), ("deep", False)])
async def test_XP19_only_a_rule_that_allows_a_tool_everything_lets_it_look_there_unasked(
    guarded: Path, allowed: str | None, is_seen: bool
) -> None:
    rules = Rule(action="ask", path="deep/secret/**"), Rule(action="allow", tool="search_files", path=allowed)
    with judged(guarded, *rules) as coder:
        async with coder.run:
            found = await coder.ok("search_files", pattern="def ", path="deep")
    assert (("def hidden_word" in found), coder.asked) == (is_seen, [])
