"""Calls in words."""

import json

import pytest

from toolroll import ToolCall, ToolResult
from toolroll.agent.events import CallFinished
from toolroll.cli.render.calls import describe_call
from toolroll.cli.render.live.lines import format_finished
from toolroll.cli.render.plain import format_call

CHANGED = {"added": 2, "removed": 1, "change": "0e54aabbccdd", "files": 1, "is_edited": False}
FILES = [{"path": "a.py"}, {"path": "b.py"}, {"path": "a.py"}]


def told(name: str, arguments: object, facts: dict[str, object] | None, took_ms: float = 3.0) -> str:
    """The line of a call, which is the same live and in plain words."""
    call = ToolCall(id="c", name=name, arguments=json.dumps(arguments))
    event = CallFinished(call=call, result=ToolResult.of_text("text", facts), duration_ms=took_ms)
    live, plain = format_finished(event, 200).plain.rstrip(), format_call(event)
    assert live == plain
    return plain


@pytest.mark.parametrize(
    ("name", "arguments", "facts", "words"),
    [
        ("read_file", {"path": "a.py"}, {"first": 1, "last": 9, "lines": 9}, "· Read a.py (9 lines)"),
        ("read_file", {"path": "a"}, {"first": 100, "last": 299, "lines": 1000}, "· Read a:100-299 (of 1,000 lines)"),
        ("read_file", {"path": "a.py"}, {"first": 0, "last": 0, "lines": 0}, "· Read a.py (0 lines)"),
        ("read_file", {"path": "a.py", "offset": 5, "limit": 3}, None, "· Read a.py:5-7"),
        ("list_files", {"path": ".", "recursive": True}, {"entries": 1}, "· List . and all below (1 entry)"),
        ("search_files", {"pattern": "TODO", "path": "src"}, {"matches": 12}, '· Search "TODO" in src (12 matches)'),
        ("search_files", {"pattern": "x", "filePattern": "*.py"}, {"matches": 1}, '· Search "x", *.py (1 match)'),
        ("find_files", {"pattern": "x", "path": "."}, {"files": 0}, '· Find "x" (0 files)'),
        ("find_definition", {"symbol": "Tea"}, {"found": 1}, "· Find the definition of Tea (1 definition)"),
        ("outline", {"path": "a.py"}, {"symbols": 3}, "· Outline a.py (3 symbols)"),
        ("edit", {"path": "a.py"}, CHANGED, "· Edit a.py +2 -1 (undo 0e54aabb)"),
        ("edit", {"path": "a.py"}, CHANGED | {"is_edited": True}, "· Edit a.py +2 -1 (undo 0e54aabb, with your edits)"),
        ("edit", {"path": "a.py", "dry_run": True}, None, "· Edit a.py (only shown)"),
        ("apply_changes", {"changes": FILES}, CHANGED, "· Change 2 files: a.py, b.py +2 -1 (undo 0e54aabb)"),
        ("tool_output_cache", {"ref_id": "abc"}, None, "· Read output abc"),
        ("kettle", {"warm": 1}, None, '· kettle {"warm": 1}  3 ms, 4 bytes'),
    ],
)  # fmt: skip
def test_S11_a_call_is_told_in_words(name: str, arguments: object, facts: dict[str, object] | None, words: str) -> None:
    assert told(name, arguments, facts) == words


def test_S11_a_check_is_told_with_its_outcome_and_its_time() -> None:
    assert told("run_check", {}, {"passed": True, "exit_code": 0}, 3_400.0) == "· Check passed in 3.4 s"
    assert told("run_check", {}, {"passed": False, "exit_code": 2}) == "✗ Check failed with exit code 2"


def test_S11_a_short_error_is_told_whole() -> None:
    message = "There is no 'a.py'. Those there are:\nb.py\nc.py"
    failure = ToolResult.failure({"error": True, "message": message}, code="not_found")
    event = CallFinished(
        call=ToolCall(id="c", name="read_file", arguments='{"path":"a.py"}'), result=failure, duration_ms=1.0
    )
    assert format_call(event) == "✗ Read a.py: There is no 'a.py'. Those there are: b.py c.py"
    assert format_finished(event, 80).plain == format_call(event)
    long = ToolResult.failure("First line.\n" + "x" * 500, code="failed")
    assert format_call(CallFinished(call=event.call, result=long, duration_ms=1.0)).endswith(": First line.")


def test_S11_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    words = describe_call(ToolCall(id="c", name="read_file", arguments='{"path": '))
    assert (words.verb, words.about, words.is_known) == ("read_file", '{"path": ', False)
    assert (
        format_call(
            CallFinished(
                call=ToolCall(id="c", name="edit", arguments="{}"), result=ToolResult.of_text(""), duration_ms=1.0
            ),
            is_verbose=True,
        )
        == "· edit {}  1 ms, 0 bytes"
    )
