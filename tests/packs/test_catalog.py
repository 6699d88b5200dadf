"""Tools from files and modules that a person names."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolroll.errors import DefinitionError, FileMissing, ToolFailure, ToolrollError, UsageError
from toolroll.packs.catalog import load_content, load_tools, read_catalog, source_place

GOOD = """
from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING
from toolroll import tool, ToolContext

@dataclass
class Spot:
    x: int

@tool
def first(spot: Spot, ctx: ToolContext) -> str:
    "One."
    return str(spot.x)

@tool
def second() -> str:
    "Two."
    return "2"

again = second
_hidden = tool("Three.", name="third")(lambda: None)
"""


@pytest.fixture(autouse=True)
def same_modules_afterwards() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder: Path, text: str, name: str = "mine.py") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


async def test_S3_a_file_gives_its_tools_in_order_once_each(tmp_path: Path) -> None:
    tools = load_tools(write(tmp_path, GOOD))
    assert [tool.name for tool in tools] == ["first", "second"]
    assert (await tools[0].execute_raw('{"spot": {"x": 4}}')).text == "4"
    assert [file.name for file in tmp_path.iterdir()] == ["mine.py"], "no bytecode is left beside it"


def test_S3_a_file_may_use_what_lies_beside_it_but_never_shadows_the_library(tmp_path: Path) -> None:
    write(tmp_path, "raise RuntimeError('this is not json')", "json.py")
    write(tmp_path, "ANSWER = 42", "beside_it.py")
    [found] = load_tools(
        write(
            tmp_path, "import json, beside_it\nfrom toolroll import tool\n@tool\ndef a() -> str:\n  'A.'\n  return ''"
        )
    )
    assert found.name == "a"
    import json

    assert json.dumps(1) == "1"


def test_S3_a_module_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, "tools_of_mine.py")
    monkeypatch.chdir(tmp_path)
    assert [tool.name for tool in load_tools("tools_of_mine")] == ["first", "second"]
    assert [tool.name for tool in load_tools("toolroll.packs.standard")] == ["done", "write_todos", "read_todos"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ny = undefined_name\n", r"mine\.py', line 2 could not be loaded\. NameError: name 'undefined_name'"),
        ("def broken(:\n", r"line 1 could not be loaded\. SyntaxError"),
        ("import sys\nsys.exit(3)\n", r"line 2 could not be loaded\. SystemExit: 3"),
        ("raise KeyError", r"line 1 could not be loaded\. KeyError"),
        (
            "from toolroll import tool\n@tool\ndef x(*args) -> str:\n  'X.'\n",
            r"line [23] could not be loaded\. Definition",
        ),
        ("import no_such_module_at_all\n", r"line 1 could not be loaded\. ModuleNotFoundError"),
    ],
)
def test_S6_a_fault_in_the_file_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(DefinitionError, match=told) as refused:
        load_tools(write(tmp_path, text))
    assert refused.value.__cause__ is not None, "--debug shows where it came from"


def test_S6_a_fault_behind_the_file_has_the_line_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "\n\n\nraise ValueError('deep')", "deeper.py")
    with pytest.raises(DefinitionError, match=r"mine\.py', line 2 could not be loaded\. ValueError: deep"):
        load_tools(write(tmp_path, "\nimport deeper\n"))


def test_a_module_that_fails_is_told_without_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "import no_such_thing_here\n", "failing_module.py")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        DefinitionError, match=r"in 'failing_module' could not be loaded\. ModuleNotFoundError: No module"
    ):
        load_tools("failing_module")


@pytest.mark.parametrize(
    ("source", "kind", "told"),
    [
        ("nowhere.py", FileMissing, "There is no 'nowhere.py'"),
        ("no/where", FileMissing, "There is no 'no/where'"),
        ("no_such_module_anywhere", UsageError, "There is no module 'no_such_module_anywhere'"),
        ("toolroll.nothing.here", UsageError, "There is no module 'toolroll.nothing.here'"),
        ("textwrap", UsageError, "'textwrap' has no tools. Put @tool above a function in it."),
    ],
)
def test_S6_what_is_not_there_is_told(source: str, kind: type[ToolrollError], told: str) -> None:
    with pytest.raises(kind) as refused:
        load_tools(source)
    assert told in refused.value.message


def test_S3_a_catalog_says_where_each_tool_is_from(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    both = read_catalog(["standard"], [source])
    assert [(entry.tool.name, entry.origin) for entry in both.entries][2:4] == [
        ("read_todos", "standard"),
        ("first", source),
    ]
    assert both.find("first").origin == source
    assert [entry.origin for entry in read_catalog([], [source]).entries] == [source, source]


def test_S3_only_the_pack_that_holds_the_tool_is_loaded() -> None:
    assert read_catalog(wanted="done").find("done").origin == "standard"
    assert len(read_catalog(wanted="no_such_tool").entries) == len(read_catalog().entries)


def test_K33_an_unknown_tool_is_answered_with_the_nearest() -> None:
    with pytest.raises(ToolFailure, match="Did you mean write_todos") as refused:
        read_catalog().find("write_todo")
    assert refused.value.failure_code == "unknown_tool"


def test_K4_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    sources = [write(tmp_path, GOOD), write(tmp_path, GOOD, "other.py")]
    with pytest.raises(DefinitionError, match="Two tools are named 'first'"):
        _ = read_catalog([], sources).tools


def test_K43_the_place_of_a_source_is_one_path_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "placed_tools.py").write_text(
        "from toolroll import tool\n@tool\ndef a() -> str:\n  'A.'\n  return ''\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "link.py").symlink_to("placed_tools.py")
    load_tools("placed_tools")
    for source in ("placed_tools", "placed_tools.py", "./placed_tools.py", "link.py"):
        assert source_place(source) == str((tmp_path / "placed_tools.py").resolve())
    assert source_place("sys") == "module sys", "it has no file"


def test_C43_content_is_loaded_as_it_was_looked_at(tmp_path: Path) -> None:
    """The file is another one by now, and is not read again; nothing is left beside it."""
    file = tmp_path / "mine.py"
    file.write_text("raise RuntimeError('another content')")
    assert [tool.name for tool in load_content(GOOD.encode(), str(file))] == ["first", "second"]
    assert load_content(b"x = 1\n", str(file)) == ()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_C43_content_finds_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "raise SystemExit('this ran')", "never_looked_at.py")
    for importing, told in (("import", "ModuleNotFoundError: No mod"), ("from . import", "ImportError: attempted rel")):
        with pytest.raises(DefinitionError, match=rf"line 1 could not be loaded\. {told}"):
            load_content(f"{importing} never_looked_at".encode(), str(tmp_path / "mine.py"))


@pytest.mark.parametrize(
    "content",
    [
        b"# coding: utf-7\n# a comment +AAo-ran.append(1)\n",
        b"# -*- coding: utf-7 -*-\n# +AAo-import sys +ADs- sys.exit(1)\n",
        b"# coding: no-such-coding\nx = 1\n",
        "# coding: latin-1\nx = 'é'\n".encode(),
    ],
)
def test_C43_a_coding_comment_makes_nothing_else_of_the_content(content: bytes) -> None:
    """Bytes would be read by it: as UTF-7 the first two have a statement where a person saw a comment."""
    assert load_content(content, "/nowhere/mine.py") == ()


def test_C43_content_that_is_no_utf_8_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"'/nowhere/mine\.py' could not be loaded\. It is not UTF-8\."):
        load_content(b"# coding: latin-1\nx = '\xe9'\n", "/nowhere/mine.py")
