"""What a person is told of a model's calls: the rows of the matrix, and nothing between the machines."""

import json

import pytest

from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall
from toolroll.packs.writing.profiles.feedback import category_name
from toolroll.packs.writing.session.call_texts import describe_call, describe_feedback_count


def told(name: str, result: ToolResult, arguments: str = "{}") -> str | None:
    return describe_call(ToolCall(id="1", name=name, arguments=arguments), result, "en")


def failed(code: str, **content: object) -> ToolResult:
    return ToolResult.failure({"success": False, "error": code, **content}, code=code)


def done(**content: object) -> ToolResult:
    return ToolResult.of_json({"success": True, **content})


@pytest.mark.parametrize(
    ("name", "result", "words"),
    [
        ("update_style_profile", done(version=4), "Profile 'default' is now at version 4."),
        ("save_to_file", done(file_path="a.md"), "Saved: a.md"),
        ("write_to_notion", done(notion_url="https://n"), "Saved to Notion as a draft: https://n"),
        ("read_notion_page", done(title="Tea"), "Read the Notion page 'Tea'."),
        ("read_past_posts", done(total_found=2), "Found 2 past posts."),
        ("read_style_profile", done(profile={}), None),
        ("track_feedback", done(count=1), None),
        ("search_web", done(results=[]), None),
    ],
)
def test_W34_what_went_well(name: str, result: ToolResult, words: str | None) -> None:
    assert told(name, result) == words


@pytest.mark.parametrize(
    ("name", "result", "words"),
    [
        ("read_style_profile", failed("profile_not_found", message="Profile 'a' not found."), "Profile 'a' not found."),
        ("search_web", failed("search_failed", message="no"), "Search is not available"),
        (
            "search_web",
            ToolResult.failure("nobody", code="needs_approval"),
            "Not searched, because nobody was there to allow it.",
        ),
        ("read_notion_page", failed("page_not_found", message="Gone."), "Gone."),
        ("save_to_file", failed("disk_error", message="Full.", content="Tea."), "Full.\n\nTea."),
        (
            "write_to_notion",
            failed("notion_error", message="Notion failed.", save_to_file={"success": True, "file_path": "a.md"}),
            "Notion failed.\nSaved: a.md",
        ),
        (
            "write_to_notion",
            failed("notion_error", message="Notion failed.", save_to_file={"message": "Full.", "content": "Tea."}),
            "Notion failed.\nFull.\n\nTea.",
        ),
        ("list_profiles", ToolResult.failure("[1]", code="tool_failed"), "[1]"),
    ],
)
def test_W34_what_went_wrong(name: str, result: ToolResult, words: str) -> None:
    assert words in str(told(name, result))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("track_feedback", "disk_error"),
        ("search_web", "invalid_arguments"),
        ("save_to_file", "not_confirmed"),
        ("update_style_profile", "rejected"),
        ("write_to_notion", "asked_already"),
    ],
)
def test_W34_what_is_not_for_the_person(name: str, code: str) -> None:
    assert told(name, failed(code, message="hm")) is None


def test_W34_the_profile_is_the_one_that_was_named() -> None:
    arguments = json.dumps({"profile_name": "alex"})
    assert "'alex'" in str(told("update_style_profile", done(version=2), arguments))
    assert "'default'" in str(told("update_style_profile", done(version=2), "{"))


def test_W34_feedback_that_was_counted_is_told_in_words() -> None:
    once = done(category="too_formal", count=1, threshold_reached=False, suggestion=None)
    assert describe_feedback_count(once, "en") == "Noted: too formal (1 of 3)."
    assert describe_feedback_count(once, "uk") == "Занотовано: занадто формально (1 з 3)."
    assert describe_feedback_count(done(category="hook_weak", count=4), "en") == "Noted: weak hook (4 times so far)."
    for result in (failed("disk_full", message="No."), done(category="odd", count=1), done(), ToolResult.of_text("x")):
        assert describe_feedback_count(result, "en") is None


def test_W34_a_category_that_nobody_knows_is_its_own_name() -> None:
    assert category_name("odd", "uk") == "odd"
