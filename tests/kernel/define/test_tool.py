"""Sets of tools (K4, K33, XL7): one tool a name, found by that name alone."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import DefinitionError
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.kernel.define.wrappers import prefixed, renamed


@tool
def read_file(path: str) -> str:
    """Read."""
    return path


@tool(name="ListFolder")
def list_folder(path: str) -> str:
    """List."""
    return path


def test_tools_keep_their_order() -> None:
    tools = Toolset([read_file, list_folder])
    assert list(tools) == [read_file, list_folder]
    assert len(tools) == 2
    assert tools.definitions == (read_file.definition, list_folder.definition)


def test_K4_two_tools_of_one_name_are_refused_when_put_together() -> None:
    with pytest.raises(DefinitionError, match=r"Two tools are named 'read_file'\. Rename one") as error:
        Toolset([read_file, list_folder, renamed(list_folder, "read_file")])
    assert error.value.tool == "read_file"
    assert len(Toolset([read_file, *prefixed([read_file], "x_")])) == 2


LIKE_IT = [
    "Read_File",
    "READ_FILE",
    "read_file ",
    " read_file",
    "read-file",
    "rеad_file",
    "read_file\u200b",
    "read_file\0",
]
OTHERS = ["__init__", "__class__", "_tools", "get", "", "toolroll.kernel", "../read_file", "deleted_tool"]


@pytest.mark.parametrize("name", [*LIKE_IT, *OTHERS])
def test_XL7_a_name_is_found_to_the_letter_or_not_at_all(name: str) -> None:
    tools = Toolset([read_file, list_folder])
    assert tools.get("read_file") is read_file
    assert tools.get(name) is None
    answer = tools.unknown(name)
    assert (answer.is_error, answer.code) == (True, "unknown_tool")
    assert answer.text.startswith(f"Unknown tool {name!r}.")
    assert answer.text.endswith("Known tools: read_file, ListFolder.")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("read_files", "read_file"),
        ("READ_FILE", "read_file"),
        ("rеad_file", "read_file"),
        ("readFile", "read_file"),
        ("listfolder", "ListFolder"),
        ("LIST_FOLDER", "ListFolder"),
        ("list_folders", "ListFolder"),
    ],
)
def test_K33_the_nearest_name_is_offered(name: str, near: str) -> None:
    assert f" Did you mean {near}? Known tools" in Toolset([read_file, list_folder]).unknown(name).text


def test_K33_nothing_near_is_no_hint() -> None:
    assert Toolset([read_file]).unknown("xyz").text == "Unknown tool 'xyz'. Known tools: read_file."
    assert Toolset([]).unknown("x").text == "Unknown tool 'x'. Known tools: none."


def test_XL7_a_hostile_name_is_shown_short_and_escaped() -> None:
    began = time.process_time()
    text = Toolset([read_file]).unknown("\x1b[2Jr\ud800" + "a" * 5_000_000).text
    assert time.process_time() - began < 1
    assert text.startswith("Unknown tool '\\x1b[2Jr\\ud800aaa")
    assert len(text) < 200


NAMES = st.text(st.sampled_from("abcDEF_-19"), min_size=1, max_size=12)


@given(st.lists(NAMES, unique=True, max_size=8), st.text(max_size=12))
def test_XL7_only_what_is_there_is_found(names: list[str], asked: str) -> None:
    made: list[Tool] = [renamed(read_file, name) for name in names]
    tools = Toolset(made)
    found = tools.get(asked)
    assert (found is None) == (asked not in names)
    text = tools.unknown(asked).text
    assert all(name in text for name in names)
    text.encode()
