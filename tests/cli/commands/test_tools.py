"""`toolroll tools`: the list, what a tool takes, its schema."""

import json
from pathlib import Path

import jsonschema
import pytest
from tests.support.programs import environment, toolroll
from tests.support.terminal import TOOLS, Pseudo

from toolroll.cli.actions.tools import Parameter, list_parameters
from toolroll.cli.main import run
from toolroll.cli.session import Session
from toolroll.packs.registry import PACKS
from toolroll.packs.standard import TOOLS as STANDARD


def out(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments), Session()) == code
    shown = capsys.readouterr()
    assert (shown.err == "") == (code == 0)
    return shown.out


def test_S3_the_list_has_every_tool_with_its_effect(capsys: pytest.CaptureFixture[str]) -> None:
    listed = out(capsys, "tools", "list")
    assert all(f"  {line.name} " in listed for pack in PACKS for line in pack.tools)
    assert out(capsys, "tools", "list", "--pack", "standard") == (
        "standard: Ending a run, and keeping a list of what is to be done.\n"
        "  done         reads  End the run with a final message for the user.\n"
        "  write_todos  reads  Write down the whole list of todos for this run.\n"
        "  read_todos   reads  Read the list of todos with their ids and statuses.\n"
    )


def test_S2_S3_the_list_as_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(out(capsys, "tools", "list", "--pack", "standard", "--json"))
    assert [line["name"] for line in listed["tools"]] == [tool.name for tool in STANDARD]
    assert listed["tools"][0] == {
        "name": "done",
        "effect": "reads",
        "summary": "End the run with a final message for the user.",
        "from": "standard",
    }


def test_S3_the_list_of_a_file_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(out(capsys, "tools", "list", "--from", str(TOOLS), "--json"))["tools"]
    assert {"save": "writes", "send": "external", "look": "reads"}.items() <= {
        line["name"]: line["effect"] for line in listed
    }.items()
    assert {line["from"] for line in listed} == {str(TOOLS)}
    assert "Save a text in a file." in [line["summary"] for line in listed]
    assert "  save         writes    Save a text in a file.\n" in out(capsys, "tools", "list", "--from", str(TOOLS))


def test_S3_a_tool_is_shown_with_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        out(capsys, "tools", "show", "look", "--from", str(TOOLS))
        == (
            "look\n\n"
            "  Look at a file.\n\n"
            "effect  reads: runs without being asked about\n"
            f"from    {TOOLS}\n\n"
            "Parameters:\n"
            "  path   string (required)\n"
            "         Which file.\n"
            "  lines  integer, at least 1 (optional)\n"
        )
        or len(str(TOOLS)) > 60
    )
    shown = out(capsys, "tools", "show", "write_todos")
    assert '  todos[].status   "pending" | "in_progress" | "completed" (optional)\n' in shown
    assert "  none\n" in out(capsys, "tools", "show", "read_todos")
    assert "writes: needs an approval" in out(capsys, "tools", "show", "save", "--from", str(TOOLS))


def test_S3_a_tool_that_asks_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(
        "from toolroll import tool\nfrom toolroll.kernel.define.wrappers import with_approval\n"
        "@tool\ndef _a() -> str:\n  'A.'\n  return ''\nb = with_approval(_a)\n"
    )
    source = str(tmp_path / "mine.py")
    assert "(this one asks all the same)" in out(capsys, "tools", "show", "_a", "--from", source)
    assert json.loads(out(capsys, "tools", "show", "_a", "--from", source, "--json"))["asks"] is True


def test_S2_S3_show_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(out(capsys, "tools", "show", "done", "--json"))
    assert shown | {"fingerprint": ""} == {
        "name": "done",
        "description": STANDARD[0].description,
        "effect": "reads",
        "asks": False,
        "from": "standard",
        "parameters": STANDARD[0].parameters,
        "fingerprint": "",
    }
    assert shown["fingerprint"] == STANDARD[0].definition.fingerprint


@pytest.mark.parametrize("name", [tool.name for tool in STANDARD])
def test_S3_the_schema_is_draft_07(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain = json.loads(out(capsys, "tools", "schema", name))
    jsonschema.Draft7Validator.check_schema(plain)
    assert plain == json.loads(out(capsys, "tools", "schema", name, "--json"))
    assert plain["additionalProperties"] is False


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_S3_K11_the_strict_form_is_the_providers(provider: str, capsys: pytest.CaptureFixture[str]) -> None:
    strict = json.loads(out(capsys, "tools", "schema", "write_todos", "--strict", "--provider", provider, "--json"))
    assert strict["required"] == ["todos"]
    assert strict["additionalProperties"] is False
    if provider == "openai":
        assert strict == json.loads(out(capsys, "tools", "schema", "write_todos", "--strict"))


def test_S3_K11_a_tool_without_a_strict_form_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", "schema", "loose", "--strict", "--from", str(TOOLS)], Session()) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Error: loose has no strict form for openai: ")
    assert run(["tools", "schema", "loose", "--strict", "--from", str(TOOLS), "--json"], Session(json=True)) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "not_strict"


@pytest.mark.parametrize("command", ["show", "schema"])
def test_S2_an_unknown_tool_is_told_with_the_nearest(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", command, "read_todo"], Session()) == 1
    assert "Did you mean read_todos?" in capsys.readouterr().err
    assert run(["tools", command, "Done\x1b[2J", "--json"], Session(json=True)) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "unknown_tool"


def test_XA6_a_hostile_description_cannot_draw_on_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from toolroll import tool\n@tool('evil \\x1b[2J\\u202e')\ndef a(b: str) -> str:\n  return ''\n"
    )
    command = toolroll("tools", "show", "a", "--from", "mine.py")
    with Pseudo(command, env=environment(tmp_path), cwd=tmp_path, stdout_on_terminal=True) as terminal:
        terminal.end()
        assert b"\x1b[2J" not in terminal.raw
        assert "evil ‹U+001B›[2J‹U+202E›" in terminal.text


def test_long_names_get_a_line_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "x" * 60
    (tmp_path / "mine.py").write_text(f"from toolroll import tool\n@tool\ndef a({name}: int, c: int) -> str:\n  'A.'\n")
    shown = out(capsys, "tools", "show", "a", "--from", str(tmp_path / "mine.py"))
    assert f"  {name}\n" in shown


SCHEMA = {
    "type": "object",
    "properties": {
        "plain": {"type": "string", "description": "A text."},
        "few": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
        "one_of": {"enum": ["a", 1, None]},
        "fixed": {"const": "x"},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}, {"$ref": "#/definitions/Spot"}]},
        "spot": {"$ref": "#/definitions/Spot"},
        "spots": {"type": "array", "items": {"$ref": "#/definitions/Spot"}},
        "several": {"type": ["string", "null"]},
        "anything": {},
        "lost": {"$ref": "#/definitions/Nothing"},
    },
    "required": ["plain"],
    "definitions": {
        "Spot": {
            "type": "object",
            "description": "A place.",
            "properties": {"x": {"type": "integer", "minimum": 0}, "next": {"$ref": "#/definitions/Spot"}},
        }
    },
}


def test_S3_parameters_are_listed_down_into_objects() -> None:
    found = {one.name: one for one in list_parameters(SCHEMA)}
    assert found["plain"] == Parameter(name="plain", type="string", is_required=True, description="A text.")
    types = {name: one.type for name, one in found.items()}
    assert types["few"] == "list of integers, at least 1 item, at most 3 items"
    assert types["one_of"] == '"a" | 1 | null'
    assert types["fixed"] == '"x"'
    assert types["either"] == "string or null or object"
    assert types["several"] == "string or null"
    assert types["anything"] == types["lost"] == "any value"
    assert types["spots"] == "list of objects"
    assert found["spot"].description == "A place."
    assert {"spot.x", "spots[].x", "either.x", "spot.next.next.next.x"} <= set(found)
    assert max(name.count("next") for name in found) == 4, "a schema that contains itself comes to an end"
