"""C41: five everyday tasks from end to end, on a copy of the sample project.

`toolroll code` runs as its own process at a pseudo-terminal, and talks over HTTP to a model server that says what its
script tells it and refuses what the provider would refuse. Tools, index, approval, writing and undo are the real ones.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.model_script import Turn, Use
from tests.support.model_server import KEY, ModelServer
from tests.support.project import Project
from tests.support.terminal import Pseudo

from toolroll.models.model import Wire

# What the eight tools must take, and must not: names, kinds, and which of them are required.
SCHEMAS: Mapping[str, tuple[Mapping[str, str], set[str]]] = {
    "read_file": ({"path": "string"}, {"path"}),
    "list_files": ({"path": "string", "recursive": "boolean"}, {"path"}),
    "search_files": ({"pattern": "string", "path": "string", "filePattern": "string"}, {"pattern"}),
    "find_files": ({"pattern": "string", "path": "string"}, {"pattern"}),
    "find_definition": ({"symbol": "string", "type": "string"}, {"symbol"}),
    "find_importers": ({"modulePath": "string"}, {"modulePath"}),
    "edit_file": (
        {"path": "string", "content": "string", "description": "string"},
        {"path", "content", "description"},
    ),
    "create_file": (
        {"path": "string", "content": "string", "description": "string"},
        {"path", "content", "description"},
    ),
}
COMMENT = "// Prints the tea board: who owes whom how many cups.\n"


class Play:
    """One task: the command at a terminal, and the server it talks to."""

    def __init__(self, project: Project, server: ModelServer, wire: Wire) -> None:
        self.project, self.server, self.wire = project, server, wire

    def code(self, prompt: str, *more: str) -> Pseudo:
        return self.project.terminal("code", prompt, "--model", self._model, *more, env=self._environment)

    @property
    def _model(self) -> str:
        if self.wire == "chat":
            return f"openai-compatible:some-model@{self.server.base_url('chat')}"
        return "sonnet" if self.wire == "anthropic" else "openai:gpt-5.6-terra"

    @property
    def _environment(self) -> dict[str, str]:
        if self.wire == "chat":
            return {"OPENAI_COMPATIBLE_API_KEY": KEY}
        name = self.wire.upper()
        return {f"{name}_API_KEY": KEY, f"{name}_BASE_URL": self.server.base_url(self.wire)}

    def body(self, number: int) -> dict[str, Any]:
        """What the server was sent as the request of that number, from 0."""
        return self.server.requests[number].body

    def results(self, number: int) -> list[tuple[str, bool]]:
        """The tool results at the end of an Anthropic request: text, and whether it is an error."""
        last = self.body(number)["messages"][-1]
        assert last["role"] == "user"
        return [(_text(block["content"]), block.get("is_error", False)) for block in last["content"]]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _forms(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return list(schema.get("anyOf", [schema]))


def _may_be_null(schema: dict[str, Any]) -> bool:
    return any("null" in form["type"] for form in _forms(schema))


def _kind(schema: dict[str, Any]) -> str:
    """The one type that a parameter has, beside null."""
    listed = [form["type"] for form in _forms(schema)]
    flat = [one for kind in listed for one in ([kind] if isinstance(kind, str) else kind) if one != "null"]
    [kind] = flat
    return str(kind)


@contextmanager
def play(folder: Path, *turns: Turn | str, wire: Wire = "anthropic") -> Iterator[Play]:
    with ModelServer(turns) as server:
        yield Play(Project(folder), server, wire)
        assert {request.wire for request in server.requests} == {wire}
        assert len(server.requests) == len(turns)


@pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
def test_C41_1_the_manifest_is_read_and_the_project_named(tmp_path: Path, wire: Wire) -> None:
    turns = (Turn(["I read it.", Use("read_file", {"path": "package.json"})]), "The project is called tea-board.")
    with play(tmp_path, *turns, wire=wire) as task:
        with task.code("Read package.json and tell me the project name") as terminal:
            assert terminal.end() == (0, "I read it.\nThe project is called tea-board.\n")
            assert "· Read package.json (" in terminal.text
        sent = task.server.requests[1].raw.decode()
    assert '\\"name\\": \\"tea-board\\"' in sent
    assert "Read package.json and tell me the project name" in sent


def test_C40_C43_what_the_model_is_told_and_offered(tmp_path: Path) -> None:
    with play(tmp_path, "Hello.") as task:
        with task.code("Hello?") as terminal:
            assert terminal.end()[0] == 0
        body = task.body(0)
    system = _text(body["system"])
    order = ["list_files", "find_definition", "read_file", "search_files", "Read the file first", "find_importers"]
    places = [system.index(word, system.index("When you explore")) for word in order[:4]]
    assert places == sorted(places)
    assert all(word in system[system.index("When you change") :] for word in order[4:])
    assert "Project instructions (AGENTS.md):" in system
    assert "Amounts are whole cups: never use fractions." in system
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert "AGENTS.md" not in str(body["messages"])
    offered = {tool["name"]: tool["input_schema"] for tool in body["tools"]}
    for name, (parameters, required) in SCHEMAS.items():
        schema = offered[name]
        assert schema["type"] == "object"
        # In the strict form every parameter is named as required, and one that may be left out may be null.
        assert {key for key in schema["required"] if not _may_be_null(schema["properties"][key])} == required
        assert {key: _kind(schema["properties"][key]) for key in parameters} == dict(parameters)
        assert all(schema["properties"][key]["description"] for key in parameters)
    assert '["function", "class", "variable", "import"' in json.dumps(offered["find_definition"]["properties"]["type"])
    assert {"edit", "apply_changes", "outline", "find_references", "repo_map", "done"} <= set(offered)


def test_C41_2_a_definition_is_found(tmp_path: Path) -> None:
    turns = (
        Turn(Use("find_definition", {"symbol": "DatabaseService"})),
        Turn(Use("read_file", {"path": "src/services/DatabaseService.js"})),
        "It is in src/services/DatabaseService.js, line 4.",
    )
    with play(tmp_path, *turns) as task:
        with task.code("Find where DatabaseService is defined") as terminal:
            assert terminal.end() == (0, "It is in src/services/DatabaseService.js, line 4.\n")
        [(found, is_error)] = task.results(1)
        [(read, _)] = task.results(2)
    assert not is_error
    assert "src/services/DatabaseService.js:4" in found
    assert "class DatabaseService" in found
    assert " 4\texport class DatabaseService {" in read


def test_C41_3_a_comment_is_added_with_approval_and_undone(tmp_path: Path) -> None:
    before = Project(tmp_path / "as-it-was").text("src/main.js")
    edited = {"path": "src/main.js", "content": COMMENT + before, "description": "Say what main.js does."}
    turns = (
        Turn(Use("read_file", {"path": "src/main.js"})),
        Turn(["I add it.", Use("edit_file", edited)]),
        "The comment is there.",
    )
    with play(tmp_path, *turns) as task:
        with task.code("Add a comment to the top of main.js explaining what it does") as terminal:
            terminal.wait_for("Allow this?")
            assert "Rewrite src/main.js?" in terminal.text
            assert "why" in terminal.text
            assert "Say what main.js does." in terminal.text
            assert "src/main.js  +1 -0" in terminal.text
            assert f"1 + {COMMENT.strip()}" in terminal.text
            assert task.project.text("src/main.js") == before
            terminal.press("y")
            assert terminal.end() == (0, "I add it.\nThe comment is there.\n")
        assert task.project.text("src/main.js") == COMMENT + before
        [(told, is_error)] = task.results(2)
        assert (told.startswith("Written: src/main.js (+1 -0)."), is_error) == (True, False)
        assert "Say what main.js does." in task.project.call("changes").stdout
        with task.project.terminal("undo") as terminal:
            terminal.wait_for("Do this? [y/n]")
            assert f"- {COMMENT.strip()}" in terminal.text
            terminal.press("y")
            assert terminal.end() == (0, "Undo: src/main.js.\n")
        assert task.project.text("src/main.js") == before


def test_C41_C42_a_rejection_reaches_the_model_with_its_reason(tmp_path: Path) -> None:
    new = {"path": "src/b.js", "content": "1\n", "description": "Add b."}
    turns = (Turn([Use("create_file", new, "one"), Use("read_file", {"path": "none.js"}, "two")]), "Then not.")
    with play(tmp_path, *turns) as task:
        with task.code("Add b.js") as terminal:
            terminal.wait_for("Allow this?")
            terminal.press("n", "Why not?")
            terminal.press("we have one")
            assert terminal.end() == (0, "Then not.\n")
        rejected, missing = task.results(1)
        assert not (task.project.root / "src/b.js").exists()
    assert rejected == ('{"error":true,"message":"User rejected changes: we have one"}', True)
    assert (missing[0].startswith('{"error":true,"message":"There is no \'none.js\''), missing[1]) == (True, True)


def test_C41_4_all_todos_are_found(tmp_path: Path) -> None:
    turns = (Turn(Use("search_files", {"pattern": "TODO"})), "There are four.")
    with play(tmp_path, *turns) as task:
        with task.code("Find all TODO comments in the project", "--read-only") as terminal:
            assert terminal.end() == (0, "There are four.\n")
        [(found, is_error)] = task.results(1)
        offered = {tool["name"] for tool in task.body(0)["tools"]}
    assert not is_error
    for file, line in (
        ("scripts/teaboard/report.py", "TODO: leave out what was settled"),
        ("src/main.js", "TODO: read the name of the board from the command line"),
        ("src/services/DatabaseService.js", "TODO: write to a temporary file first"),
        ("src/services/ReminderService.js", "TODO: remind nobody twice on one day"),
    ):
        assert file in found
        assert line in found
    assert not offered & {"edit_file", "create_file", "edit", "apply_changes"}


def test_C41_5_who_uses_a_service_is_found(tmp_path: Path) -> None:
    turns = (
        Turn(
            [
                Use("find_importers", {"modulePath": "../services/DatabaseService"}, "one"),
                Use("find_importers", {"modulePath": "src/services/ReportService.js"}, "two"),
            ]
        ),
        Turn(Use("read_file", {"path": "src/main.js"})),
        "main.js uses both.",
    )
    with play(tmp_path, *turns) as task:
        with task.code("What files use DatabaseService and ReportService?") as terminal:
            assert terminal.end() == (0, "main.js uses both.\n")
        database, report = task.results(1)
    for file in ("src/main.js:2", "src/services/ReminderService.js:1", "src/services/ReportService.js:1"):
        assert file in database[0]
    assert 'import { ReportService } from "./services/ReportService.js"' in report[0]
    assert (database[1], report[1], "ReminderService" in report[0]) == (False, False, False)
