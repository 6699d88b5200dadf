"""The words of a compaction, taken apart and put together."""

from hypothesis import given
from hypothesis import strategies as st

from toolroll.agent.context.summary import (
    MAX_DECISIONS,
    OPENING,
    Facts,
    ParsedSummary,
    parse_summary,
    render_summary,
)
from toolroll.agent.labels import labels_of_message, private_texts
from toolroll.kernel.data.messages import UserMessage
from toolroll.kernel.define.tool import Toolset

LINES = st.lists(st.text("abc def", min_size=1, max_size=20).map(str.strip).filter(bool), max_size=6, unique=True)


def test_A21_the_sections_are_read() -> None:
    found = parse_summary("Here:\n## Decisions\n- one\n* two\nno line\n- \n\n## Summary\nAll is well.\n")
    assert ParsedSummary(decisions=("one", "two"), summary="All is well.") == found


def test_A21_a_text_without_sections_is_a_summary() -> None:
    assert ParsedSummary(decisions=("old",), summary="Just words.") == parse_summary(" Just words. ", ["old"])


def test_A21_decisions_without_a_summary_are_decisions() -> None:
    assert ParsedSummary(decisions=("one",), summary="") == parse_summary("## Decisions\n- one")


def test_A21_of_too_many_decisions_the_newest_stay() -> None:
    earlier = [f"decision {number}" for number in range(MAX_DECISIONS)]
    found = parse_summary("## Decisions\n- the last", earlier).decisions
    assert (len(found), found[0], found[-1]) == (MAX_DECISIONS, "decision 1", "the last")


@given(LINES, LINES, LINES)
def test_A21_decisions_survive_any_number_of_compactions(first: list[str], second: list[str], third: list[str]) -> None:
    """What the model forgets to repeat is there all the same; what it repeats stands once."""
    decisions: tuple[str, ...] = ()
    for lines in (first, second, third):
        listed = "".join(f"- {line}\n" for line in lines)
        decisions = parse_summary(f"## Decisions\n{listed}## Summary\nx", decisions).decisions
    assert tuple(dict.fromkeys([*first, *second, *third])) == decisions


@given(st.text(max_size=300))
def test_A21_any_text_can_be_read(text: str) -> None:
    found = parse_summary(text)
    assert found.summary in text
    assert all("\n" not in line and line for line in found.decisions)


def test_A21_only_what_is_there_gets_a_heading() -> None:
    assert render_summary(ParsedSummary(decisions=(), summary=""), Facts()) == OPENING
    text = render_summary(
        ParsedSummary(decisions=("d",), summary="s"), Facts(references=("r: read",), paths=("a.py",), todos="[]")
    )
    assert [line for line in text.splitlines() if line.startswith("##")] == [
        "## Decisions",
        "## Outputs (read them with tool_output_cache)",
        "## Paths",
        "## Todos",
        "## Summary",
    ]
    assert [line for line in text.splitlines() if line.startswith("- ")] == ["- d", "- r: read", "- a.py"]


def test_A21_a_summary_that_another_run_goes_on_from_may_hold_anything() -> None:
    """Otherwise compacting would wash off what strangers wrote."""
    summary = UserMessage.of("s", is_summary=True)
    assert {"private", "untrusted"} == labels_of_message(summary, Toolset([]))
    assert list(private_texts(summary, Toolset([]))) == ["s"]
    assert frozenset() == labels_of_message(UserMessage.of("hello"), Toolset([]))
