"""The tool of the demo, on its own."""

from pathlib import Path

from toolroll.cli.sample import put_item, read_list
from toolroll.kernel.context import Run
from toolroll.kernel.policy import Policy, Rule
from toolroll.safe.root import Root


def test_a_list_that_was_never_written_is_empty(tmp_path: Path) -> None:
    with Root(tmp_path) as root:
        assert read_list(root) == ""


async def test_K43_a_rule_that_allows_it_writes_what_a_person_would_have_seen(tmp_path: Path) -> None:
    run = Run(deps={"folder": tmp_path}, policy=Policy((Rule(action="allow", tool="put_item"),)))
    result = await put_item.execute_raw('{"item": "tea", "amount": 1}', run.context())
    assert (result.is_error, result.text) == (False, "1 x tea is on the list.")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["1 x tea\n"]
