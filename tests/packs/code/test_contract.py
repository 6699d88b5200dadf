"""The eight tools are those that the specification fixes: names, parameters, what is required, types."""

import json
from typing import Any, Final, cast

import pytest
from tests.packs.code.conftest import BY_NAME

from toolroll.packs.code.tools import CHANGING, READING, TOOLS
from toolroll.testing import check_tool

STRING: Final[dict[str, object]] = {"type": "string"}
KINDS: Final = ["function", "class", "variable", "import"]

FIXED: Final[dict[str, tuple[dict[str, dict[str, object]], list[str]]]] = {
    "read_file": ({"path": STRING}, ["path"]),
    "list_files": ({"path": STRING, "recursive": {"type": "boolean"}}, ["path"]),
    "search_files": ({"pattern": STRING, "path": STRING, "filePattern": STRING}, ["pattern"]),
    "find_files": ({"pattern": STRING, "path": STRING}, ["pattern"]),
    "find_definition": ({"symbol": STRING, "type": {"type": "string", "enum": KINDS}}, ["symbol"]),
    "find_importers": ({"modulePath": STRING}, ["modulePath"]),
    "edit_file": ({"path": STRING, "content": STRING, "description": STRING}, ["path", "content", "description"]),
    "create_file": ({"path": STRING, "content": STRING, "description": STRING}, ["path", "content", "description"]),
}
ADDED: Final = {
    "read_file": {"offset", "limit", "column"},
    "list_files": {"offset"},
    "search_files": set[str](),
    "find_files": set[str](),
    "find_definition": set[str](),
    "find_importers": set[str](),
    "edit_file": set[str](),
    "create_file": set[str](),
}
OURS: Final = {
    "edit": (
        {"path", "old_string", "new_string", "replace_all", "expected_replacements", "expected_hash", "dry_run"}
        | {"description"},
        ["path", "old_string", "new_string"],
    ),
    "apply_changes": ({"changes", "description"}, ["changes", "description"]),
    "outline": ({"path"}, ["path"]),
    "find_references": ({"symbol"}, ["symbol"]),
    "repo_map": ({"budget"}, []),
}


def schema_of(name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", BY_NAME[name].parameters)


def without_null(node: dict[str, Any]) -> dict[str, Any]:
    """The type of a parameter that may also be left out."""
    branches = [one for one in node.get("anyOf", [node]) if one.get("type") != "null"]
    assert len(branches) == 1
    return cast("dict[str, Any]", branches[0])


@pytest.mark.parametrize("name", FIXED)
def test_C10_C17_names_parameters_and_required_lists_are_fixed(name: str) -> None:
    parameters, required = FIXED[name]
    schema = schema_of(name)
    assert schema["type"] == "object"
    assert schema.get("required", []) == required
    assert set(schema["properties"]) == set(parameters) | ADDED[name]
    for parameter, wanted in parameters.items():
        node = without_null(schema["properties"][parameter])
        assert {key: node[key] for key in wanted} == wanted, parameter


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("strict", [False, True])
def test_C10_C17_a_call_with_the_fixed_parameters_alone_is_taken(name: str, strict: bool) -> None:
    """Also as strict modes write it: with null for what is left out."""
    parameters, required = FIXED[name]
    given: dict[str, object] = {
        one: "function" if one == "type" else True if one == "recursive" else "x" for one in parameters
    }
    for one in set(parameters) - set(required):
        if strict:
            given[one] = None
            BY_NAME[name].validate(json.dumps(given))
        del given[one]
    BY_NAME[name].validate(json.dumps(given))


@pytest.mark.parametrize("name", OURS)
def test_C18_C23_the_tools_beyond_them(name: str) -> None:
    parameters, required = OURS[name]
    schema = schema_of(name)
    assert (set(schema["properties"]), schema.get("required", [])) == (parameters, required)


def test_there_are_thirteen_and_four_of_them_change_something() -> None:
    assert [tool.name for tool in TOOLS] == [tool.name for tool in (*READING, *CHANGING)]
    assert set(BY_NAME) == set(FIXED) | set(OURS)
    assert {tool.name for tool in TOOLS if tool.effect != "reads"} == {
        "edit_file",
        "create_file",
        "edit",
        "apply_changes",
    }
    assert all(tool.labels == {"private", "untrusted"} for tool in TOOLS)


@pytest.mark.parametrize("name", ["read_file", "find_definition", "edit", "apply_changes"])
def test_tools_of_every_shape_pass_the_checks_for_tools(name: str) -> None:
    assert check_tool(BY_NAME[name], examples=5).tool == name


def test_rules_about_paths_see_every_path() -> None:
    changes = [{"path": "a", "content": "x"}, {"path": "b", "old_string": "x", "new_string": "y"}]
    given = json.dumps({"changes": changes, "description": "d"})
    tool = BY_NAME["apply_changes"]
    assert tool.paths(tool.validate(given)) == ("a", "b")
    search = BY_NAME["search_files"]
    assert search.paths(search.validate('{"pattern": "x"}')) == (".",)
